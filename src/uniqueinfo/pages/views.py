"""What a sample looks like: a picture, a text or a row of a table, small enough for a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from uniqueinfo.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

_SIDE = 112
"""Pixels of a thumbnail's longer side."""
_DRAWING = 40
"""Pixels up to which a picture counts as a drawing, and is kept without loss."""
_TEXT = 280
"""Characters shown of a text."""
_CELLS = 8
"""Cells shown of a row of a table."""


@dataclass(frozen=True, eq=False)
class View:
    """How to show one sample; what is None is not shown."""

    picture: Any = None
    """A PIL image, or an array of uint8: (height, width) or (height, width, 3 or 4)."""
    text: str | None = None
    row: Mapping[str, object] | None = None
    caption: str | None = None
    """A few words more, such as a validation sample's label."""

    @classmethod
    def of(cls, shown: Any) -> View:
        """From whatever is to be shown: a View, a text, a mapping of column to value, or a picture."""
        if isinstance(shown, View):
            return shown
        if isinstance(shown, str):
            return cls(text=shown)
        return cls(row=shown) if isinstance(shown, Mapping) else cls(picture=shown)


@dataclass(frozen=True, eq=False)
class SampleViews:
    """How to show the samples, by position: each function gives a View, a picture, a text or a mapping.

    >>> views = SampleViews(train=["first text", "second text"].__getitem__)
    >>> View.of(views.train(1)).text
    'second text'
    """

    train: Callable[[int], Any]
    validation: Callable[[int], Any] | None = None


Small = dict[str, Any]
"""A view as plain data: `picture` (a data: address), `text`, `row`, `caption`; only what there is."""


def collect(show: Callable[[int], Any], wanted: Iterable[int], picture_bytes: int, text_bytes: int) -> dict[int, Small]:
    """Views of the samples wanted, the first ones first, until either budget is used up."""
    found: dict[int, Small] = {}
    for sample in map(int, wanted):
        if sample in found:
            continue
        small = _small(View.of(show(sample)), sample)
        picture_bytes -= len(small.get("picture", ""))
        text_bytes -= sum(len(str(part).encode()) for name, part in small.items() if name != "picture")
        if picture_bytes < 0 or text_bytes < 0:
            break
        found[sample] = small
    return found


def thumbnail(picture: Any) -> str:
    """A small copy as a data: address.

    >>> thumbnail(np.zeros((8, 8), np.uint8))[:22]
    'data:image/png;base64,'
    """
    kind, content = scaled(picture, _SIDE)
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def scaled(picture: Any, side: int) -> tuple[str, bytes]:
    """A copy no larger than this on either side, with its type: drawings of few pixels as PNG, photographs as JPEG.

    >>> scaled(np.zeros((80, 60, 3), np.uint8), 40)[0]
    'image/jpeg'
    """
    from PIL import Image, ImageOps

    if isinstance(picture, np.ndarray):
        image = Image.fromarray(picture)
    else:
        try:
            image = ImageOps.exif_transpose(picture)
        except (SyntaxError, ValueError):  # damaged: which way is up is not known
            image = picture
    if image.mode == "P" or "A" in image.mode:
        image = _on_white(image)
    image = image if image.mode in ("L", "RGB") else image.convert("RGB")
    kind = "png" if max(image.size) <= _DRAWING else "jpeg"
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, kind, optimize=True)
    return f"image/{kind}", buffer.getvalue()


def _on_white(image: Image) -> Image:
    from PIL import Image

    layers = image.convert("RGBA")
    ground = Image.new("RGBA", layers.size, "white")
    ground.alpha_composite(layers)
    return ground.convert("RGB")


def _small(view: View, sample: int) -> Small:
    small: Small = {}
    if view.picture is not None:
        try:
            small["picture"] = thumbnail(view.picture)
        except (TypeError, ValueError, AttributeError, OSError) as wrong:
            raise InputError(
                f"the picture of sample {sample} cannot be shown ({wrong}): give a PIL image, or uint8 of shape "
                "(height, width) or (height, width, 3)"
            ) from wrong
    if view.text is not None:
        small["text"] = shorten(view.text, _TEXT)
    if view.row is not None:
        small["row"] = [[shorten(str(k), 40), shorten(str(v), 60)] for k, v in list(view.row.items())[:_CELLS]]
    if view.caption is not None:
        small["caption"] = shorten(view.caption, 80)
    return small


def shorten(text: str, most: int) -> str:
    """The beginning of a text that is too long.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"
