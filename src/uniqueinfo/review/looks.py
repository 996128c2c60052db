"""How samples look on the page: pictures as files of their own, texts and rows as they are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from uniqueinfo.pages.views import View, scaled, shorten

_LARGE, _SMALL = 1000, 160
"""Pixels of a picture's longer side."""
_TEXT, _TEXT_SMALL = 20_000, 160
_CELLS, _CELLS_SMALL = 200, 4


@dataclass(frozen=True, eq=False)
class Looks:
    """How to show every sample, by position; nothing where that is not known."""

    show: Callable[[int], Any] | None
    samples: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def view(self, sample: int, *, small: bool = False) -> dict[str, Any]:
        """As plain data; a picture by the address where `picture` gives it.

        >>> Looks(["a text", "another"].__getitem__, 2).view(1)
        {'text': 'another'}
        """
        shown = self._shown(sample)
        found: dict[str, Any] = {}
        if shown.picture is not None:
            found["picture"] = f"{'thumbnail' if small else 'picture'}/{sample}"
        if shown.text is not None:
            found["text"] = shorten(shown.text, _TEXT_SMALL if small else _TEXT)
        if shown.row is not None:
            cells = list(shown.row.items())[: _CELLS_SMALL if small else _CELLS]
            found["row"] = [
                [shorten(str(name), 80), shorten(str(value), 60 if small else 2000)] for name, value in cells
            ]
        return found

    def picture(self, sample: int, *, small: bool = False) -> tuple[str, bytes] | None:
        """A picture's type and content; None where there is none."""
        if sample >= self.samples:
            return None
        shown = self._shown(sample).picture
        return None if shown is None else scaled(shown, _SMALL if small else _LARGE)

    def _shown(self, sample: int) -> View:
        if self.show is None:
            return View()
        with self._lock:  # readers need not expect several threads
            return View.of(self.show(sample))
