"""Text from files on its way to a terminal: what would command the terminal is shown instead.

Ids, labels, file names and the errors that quote them are written by whoever made the data. A terminal obeys escape
sequences: they move the cursor over what was printed, set the clipboard, or turn lines around.
"""

from __future__ import annotations

import re

_OBEYED = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tabs and line ends, which messages are made of
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # turn the direction, so that a name reads as another
    r"\u2028\u2029\ud800-\udfff"  # line ends of other kinds, and bytes that are no text
)
OBEYED = re.compile(f"[{_OBEYED}]")
"""What a terminal would obey, or cannot write."""
_IN_A_LINE = re.compile(rf"[\t\n{_OBEYED}]")


def printable(text: str, *, lines: bool = True) -> str:
    r"""The same text with such characters as Python writes them; `lines`: whether it may have several lines.

    >>> printable("\x1b[2Jcat\u202egpj")
    '\\x1b[2Jcat\\u202egpj'
    >>> printable("häßlich: 猫\n"), printable("two\nlines", lines=False)
    ('häßlich: 猫\n', 'two\\nlines')
    """
    return (OBEYED if lines else _IN_A_LINE).sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    char = found[0]
    if "\udc80" <= char <= "\udcff":  # a byte of a file name that is not UTF-8
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape", "surrogatepass").decode()
