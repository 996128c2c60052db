"""A hook of MkDocs: files that lie elsewhere in the repository are pages of the site too, with their links mended."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {
    "contribute/index.md": "CONTRIBUTING.md",
    "contribute/jacobian.md": "src/uniqueinfo/jacobian/README.md",
    "contribute/removal.md": "src/uniqueinfo/removal/README.md",
    "contribute/scoring.md": "src/uniqueinfo/scoring/README.md",
    "contribute/pages.md": "src/uniqueinfo/pages/README.md",
    "contribute/changes.md": "CHANGELOG.md",
    "contribute/security.md": "SECURITY.md",
}
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The file in place of the page that stands for it."""
    here = page.file.src_uri
    if here not in PAGES:
        return markdown
    source = PAGES[here]

    def mended(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[1]))
        names = {each: name for name, each in PAGES.items()}
        name = names.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else target)
        return f"]({posixpath.relpath(name, posixpath.dirname(here))}{found[2] or ''})"

    return _LINK.sub(mended, (ROOT / source).read_text(encoding="utf-8"))
