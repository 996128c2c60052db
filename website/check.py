"""Reads the built site: links lead somewhere, and no page asks anything of any other host.

Run by ``make docs`` as ``python -m website.check results/site``. Links to other sites are not followed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_FETCHED = {  # what a browser asks for by itself, where it stands
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
_NOT_FETCHED = {"canonical", "next", "prev", "alternate"}
_OUTSIDE = re.compile(r"(?:https?:)?//")
_IN_STYLES = re.compile(r"url\(\s*[\"']?\s*((?:https?:)?//[^)\"']+)|@import\s+[\"']?((?:https?:)?//[^\"';]+)")


@dataclass
class _Page(HTMLParser):
    """What one page points to, and what can be pointed to in it."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Of every element: its name, where it leads, what it loads."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        source = _FETCHED.get(tag)
        if source in given and not (tag == "link" and set(given.get("rel", "").split()) & _NOT_FETCHED):
            self.fetched.append(given[source])
        self.fetched += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        self.fetched += [found[1] or found[2] for found in _IN_STYLES.finditer(given.get("style", ""))]


def problems(site: Path) -> Iterator[str]:
    """What is wrong with the site, a sentence each."""
    pages = {path.resolve(): _read(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} holds no pages"
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        for link in (*page.links, *page.fetched):
            yield from (f"{here}: {sentence}" for sentence in _dead(link, path, pages))
        yield from (f"{here} asks for {source}" for source in page.fetched if _OUTSIDE.match(source))
    for path in sorted(site.rglob("*.css")):
        for found in _IN_STYLES.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} asks for {found[1] or found[2]}"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _dead(link: str, path: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or path.name == "404.html":  # a server shows that page under any address
        return
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target = target / "index.html"
    if not target.is_file():
        yield f"{link} leads nowhere"
    elif parts.fragment.startswith("__"):  # switches of the theme itself
        return
    elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        yield f"{link} leads to no such place of that page"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print(*found, sep="\n")
    print(f"{len(found)} problems")
    sys.exit(bool(found))
