"""An extension of Griffe: docstrings as they are written here, as Markdown that reads well.

Doctests become code, a line that opens with `` `name`: `` becomes an entry of a list where a sentence ended before it,
and double backticks single ones.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ENTRY = re.compile(r"^`[\w*]+`(?:, `[\w*]+`)*:? ")


def markdown(text: str) -> str:
    r"""The docstring as Markdown.

    >>> markdown("Twice.\n\n`x`: a number,\nof any size.").split("\n")
    ['Twice.', '', '- `x`: a number,', '  of any size.']
    >>> markdown("It doubles.\n\n>>> twice(1)\n2").split("\n")
    ['It doubles.', '', '```pycon', '>>> twice(1)', '2', '```']
    """
    written: list[str] = []
    doctest = entry = code = False
    for line in text.replace("``", "`").split("\n"):
        if code and line and not line.startswith("    "):
            code = False
        if line.startswith("    ") and not entry and (code or not written or not written[-1]):
            code = True
        if line.startswith(">>>") and not doctest:
            written += ["```pycon"]
            doctest, entry = True, False
        elif doctest and not line:
            written += ["```"]
            doctest = False
        if not doctest and not code:
            if _ENTRY.match(line) and (not written or written[-1][-1:] in ("", ".", ":", ";")):
                if not entry and written and written[-1]:
                    written.append("")
                entry = True
                line = f"- {line}"
            elif not line:
                entry = False
            elif entry:
                line = f"  {line}"
        written.append(line)
    return "\n".join([*written, "```"] if doctest else written)


class Docstrings(Extension):
    """Rewrites every docstring of the package as it is read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Of a module, a class, a function or an attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
