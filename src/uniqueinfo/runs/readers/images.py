"""Folders of pictures: each folder is a class, each file in it, or below it, a sample."""

from __future__ import annotations

import struct
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from uniqueinfo.errors import InputError, cause
from uniqueinfo.progress import progress
from uniqueinfo.runs.readers.data import Data, Reading
from uniqueinfo.runs.readers.reader import Reader, Turn

MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)  # ImageNet's
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)
_THREADS = 4  # Pillow decodes outside Python's lock


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures decoded when asked for: (3, size, size), channels normalized as networks of photos expect."""

    paths: NDArray[np.object_]
    size: int

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int | NDArray[np.intp]) -> NDArray[np.float32] | Pictures:
        if isinstance(index, np.ndarray):
            return Pictures(self.paths[index], self.size)
        pixels = np.asarray(square(open_picture(self.paths[index]), self.size), dtype=np.float32) / 255
        return np.ascontiguousarray(((pixels - MEAN) / DEVIATION).transpose(2, 0, 1))

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array of all."""
        return len(self), 3, self.size, self.size


def read_images(folder: Path, reading: Reading, labelled: bool) -> Data:
    """Labels are the names of the class folders; a flat folder of pictures has no labels."""
    classes = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    flat = _pictures_in(folder, deep=False)
    if not classes and not flat:
        raise InputError(f"{folder}: there are no pictures here; name a folder of class folders of pictures")
    if classes and flat:
        raise InputError(
            f"{folder}: picture {flat[0].name} lies beside the class folders; move it into the folder of its class"
        )
    if flat:
        paths, labels = flat, None
    else:
        found = {path.name: _pictures_in(path, deep=True) for path in classes}
        empty = [name for name, files in found.items() if not files]
        if empty:
            raise InputError(f"{folder / empty[0]}: this class folder holds no pictures; fill it or remove it")
        paths = [path for files in found.values() for path in files]
        labels = np.array([name for name, files in found.items() for _ in files])
    broken = _broken(paths)
    notes = []
    if broken:
        first = next(iter(broken))
        told = f"{paths[first]}: {broken[first]}" + (f" ({len(broken)} such files)" if len(broken) > 1 else "")
        if not reading.skip_broken:
            raise InputError(f"{told}; mend or remove it, or leave such files out with --skip-broken")
        notes.append(f"left out {told}")
        kept = [index for index in range(len(paths)) if index not in broken]
        if not kept:
            raise InputError(f"{folder}: none of the {len(paths)} pictures can be read")
        paths, labels = [paths[index] for index in kept], None if labels is None else labels[kept]
    files = np.array(paths, dtype=object)
    return Data(
        Pictures(files, reading.size),
        labels,
        np.array([path.relative_to(folder).as_posix() for path in paths]),
        None,
        lambda index: open_picture(files[index]),
        tuple(paths),
        tuple(notes),
    )


def open_picture(path: Path) -> Image.Image:
    """The first frame, upright, in 8-bit RGB; what is transparent is shown on white."""
    with Image.open(path) as stored, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow's remarks on odd metadata
        try:
            image = ImageOps.exif_transpose(stored)
        except (SyntaxError, ValueError, struct.error) as error:  # Pillow's, of odd bytes where the orientation stands
            raise InputError(
                f"{path}: what it says of its orientation (EXIF) is damaged ({cause(error)}); save the picture again, "
                "or leave it out"
            ) from error
        if image.mode.startswith("I") or image.mode == "F":
            return Image.fromarray(_eight_bits(np.asarray(image))).convert("RGB")
        if image.has_transparency_data:
            image = image.convert("RGBA")
            return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
        return image.convert("RGB")


def square(image: Image.Image, size: int) -> Image.Image:
    """The middle of a picture, scaled to size × size."""
    return ImageOps.fit(image, (size, size), Image.Resampling.BICUBIC)


def _eight_bits(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """16-bit (and wider) gray levels: a fixed scale for integers, so that pictures stay comparable."""
    scale = 1 / 257 if values.dtype.kind in "iu" else 255.0
    scaled: NDArray[np.uint8] = np.clip(np.nan_to_num(values.astype(np.float64)) * scale, 0, 255).astype(np.uint8)
    return scaled


def _pictures_in(folder: Path, *, deep: bool) -> list[Path]:
    known = Image.registered_extensions()
    found = folder.rglob("*") if deep else folder.iterdir()
    return sorted(p for p in found if p.suffix.lower() in known and not p.name.startswith(".") and p.is_file())


def _broken(paths: list[Path]) -> dict[int, str]:
    """Files that are no pictures after all, with the reason; every file is decoded once."""
    with ThreadPoolExecutor(_THREADS) as pool, progress("Checking pictures", len(paths), unit="pictures") as advance:
        found = {}
        for index, reason in enumerate(pool.map(_reason, paths)):
            advance(1)
            if reason is not None:
                found[index] = reason
        return found


def _reason(path: Path) -> str | None:
    try:
        open_picture(path)
    except Exception as error:  # Pillow raises what the damaged bytes make it stumble over
        told = "not a picture" if isinstance(error, UnidentifiedImageError) else cause(error)
        return f"cannot be read ({told})"
    return None


READERS = (Reader("a folder of class folders of pictures", Path.is_dir, read_images, Turn.what_is_left),)
