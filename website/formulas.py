"""A hook of MkDocs: formulas become MathML when the site is built, which browsers draw without a script.

In a page a formula is written as forges read it too: ```` ```math ```` for one on its own, `` $`…`$ `` within a line.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

_BLOCK = re.compile(r"^```math\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"\$`([^`\n]+)`\$")
_MARK = re.compile(r"(?:<p>)?formula-mark-(\d+)-(block|inline)-(?:</p>)?")
_kept: list[str] = []


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Take formulas out, so that Markdown does not touch them."""

    def block(found: re.Match[str]) -> str:
        _kept.append(convert(" ".join(found[1].split("\n")), display="block"))
        return f"formula-mark-{len(_kept) - 1}-block-"

    def inline(found: re.Match[str]) -> str:
        _kept.append(convert(found[1]))
        return f"formula-mark-{len(_kept) - 1}-inline-"

    return _INLINE.sub(inline, _BLOCK.sub(block, markdown))


def on_page_content(html: str, **_: Any) -> str:
    """Put them back, as MathML."""

    def formula(found: re.Match[str]) -> str:
        drawn = _kept[int(found[1])]
        return f'<div class="formula">{drawn}</div>' if found[2] == "block" else drawn

    return _MARK.sub(formula, html)
