"""Arrays in files: .npz of X and y, .npy with its labels beside it, and IDX (MNIST's own format)."""

from __future__ import annotations

import gzip
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError, cause, known_names
from uniqueinfo.runs.readers.data import Data, Reading, View, unique_ids
from uniqueinfo.runs.readers.labels import as_task
from uniqueinfo.runs.readers.reader import Reader, Turn, suffixed
from uniqueinfo.samples.checks import check_finite

if TYPE_CHECKING:
    from PIL.Image import Image

_INPUTS, _LABELS, _IDS = ("X", "x", "inputs", "images"), ("y", "label", "labels", "target"), ("id", "ids")
_IDX_TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_CHANNELS = (1, 3)


def read_arrays(path: Path, reading: Reading, labelled: bool) -> Data:
    """Arrays as numpy saves them, several in a file or one."""
    return _read_npz(path, reading) if path.suffix == ".npz" else _read_npy(path, reading)


def _read_npz(path: Path, reading: Reading) -> Data:
    """X and y; an array `id` names the samples, other arrays of one number or name per sample travel along."""
    import pandas as pd

    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(
            f"{path}: cannot be read as an .npz of plain arrays ({cause(error)}); save it with np.savez"
        ) from error
    inputs = _first(arrays, _INPUTS)
    if inputs is None:
        held = ", ".join(arrays) or "nothing"
        raise InputError(f"{path}: holds {held} and no array X; save it with np.savez(file, X=…, y=…)")
    known = [name for name in _LABELS if name in arrays]
    if not reading.label and len(known) > 1:
        raise InputError(f"{path}: arrays {' and '.join(known)} could all be the label; name it with --label")
    labels = arrays.get(reading.label) if reading.label else arrays.get(_first(arrays, _LABELS) or "")
    if reading.label and labels is None:
        raise InputError(f"{path}: there is no array {reading.label!r}; {known_names(reading.label, arrays)}")
    samples = len(arrays[inputs]) if arrays[inputs].ndim else 0
    named = None if reading.number else _first(arrays, _IDS)
    ids = arrays.get(named or "", np.arange(samples))
    used = {inputs, reading.label or _first(arrays, _LABELS), named}
    own = {name: array for name, array in arrays.items() if name not in used and array.shape == (samples,)}
    return _data(path, arrays[inputs], labels, ids, pd.DataFrame(own) if own else None, (path,), reading)


def _read_npy(path: Path, reading: Reading) -> Data:
    """An array of inputs; labels come from the file beside it whose name has y for X, or labels for images."""
    inputs, beside = _npy(path), _labels_beside(path)
    labels = None if beside is None else _npy(beside)
    return _data(path, inputs, labels, None, None, (path,) if beside is None else (path, beside), reading)


def read_idx(path: Path, reading: Reading, labelled: bool) -> Data:
    """Pictures; labels come from the file beside it whose name has labels for images (and idx1 for idx3)."""
    inputs, beside = idx_array(path), _labels_beside(path)
    if inputs.ndim < 2:
        raise InputError(f"{path}: holds one number per sample, which are labels; name the file of the images")
    labels = None if beside is None else idx_array(beside)
    return _data(path, inputs, labels, None, None, (path,) if beside is None else (path, beside), reading)


def is_idx(path: Path) -> bool:
    """Whether a file says it is IDX: two zero bytes, a type, a number of dimensions."""
    if not path.is_file():
        return False
    try:
        with _opened(path) as file:
            head = file.read(4)
    except (gzip.BadGzipFile, EOFError):  # named .gz, and is not, or is cut off
        return False
    return len(head) == 4 and head[:2] == b"\0\0" and head[2] in _IDX_TYPES and 1 <= head[3] <= 4


def _data(
    path: Path,
    inputs: NDArray[Any],
    labels: NDArray[Any] | None,
    ids: NDArray[Any] | None,
    columns: Any,
    files: tuple[Path, ...],
    reading: Reading,
) -> Data:
    if inputs.ndim < 2 or inputs.size == 0 or inputs.dtype.kind not in "buif":
        raise InputError(
            f"{path}: expected numbers with one sample in each row, got {inputs.dtype} of shape {inputs.shape}"
        )
    if labels is not None and (labels.ndim == 0 or len(labels) != len(inputs)):
        count = "a single label" if labels.ndim == 0 else f"{len(labels)} labels"
        raise InputError(f"{path}: {len(inputs)} samples and {count}; give one label for each sample")
    ids = np.arange(len(inputs)) if ids is None else ids
    if ids.shape != (len(inputs),):
        raise InputError(f"{path}: {len(inputs)} samples and ids of shape {ids.shape}; give one id for each sample")
    check_finite(str(path), inputs)
    with np.errstate(over="ignore"):
        numbers = _as_inputs(inputs)
    beyond = ~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if beyond.any():
        raise InputError(
            f"{path}: sample {int(beyond.argmax())} (counted from 0) holds a number beyond float32's "
            "3.4e38; divide all numbers by a common factor, or drop the sample"
        )
    return Data(
        numbers,
        None if labels is None else as_task(path, labels, reading.task),
        unique_ids(path, ids),
        columns,
        lambda index: _shown(inputs[index]),
        files,
    )


def _as_inputs(raw: NDArray[Any]) -> NDArray[np.float32]:
    """Bytes are pixels: scaled to 0…1, with channels first, one where there is none."""
    if raw.dtype != np.uint8 or raw.ndim == 2:
        return raw.astype(np.float32)
    pixels = raw.astype(np.float32)
    pixels /= 255
    if pixels.ndim == 3:
        return pixels[:, None]
    return np.ascontiguousarray(np.moveaxis(pixels, -1, 1)) if raw.shape[-1] in _CHANNELS else pixels


def _shown(raw: NDArray[Any]) -> View:
    image = _as_picture(raw)
    return {f"{i}": value for i, value in enumerate(raw.ravel()[:20].tolist())} if image is None else image


def _as_picture(raw: NDArray[Any]) -> Image | None:
    from PIL import Image

    if raw.ndim == 3 and raw.shape[0] in _CHANNELS and raw.shape[-1] not in _CHANNELS:
        raw = np.moveaxis(raw, 0, -1)
    if raw.ndim == 3 and raw.shape[-1] == 1:
        raw = raw[..., 0]
    if raw.ndim not in (2, 3) or (raw.ndim == 3 and raw.shape[-1] != 3):
        return None
    if raw.dtype != np.uint8:
        low, high = float(raw.min()), float(raw.max())
        raw = ((raw - low) / ((high - low) or 1) * 255).astype(np.uint8)
    return Image.fromarray(np.ascontiguousarray(raw))


def _labels_beside(path: Path) -> Path | None:
    """The file of labels that goes with a file of inputs.

    >>> [_renamed(name) for name in ("train-images-idx3-ubyte.gz", "X_val.npy", "features.npy")]
    ['train-labels-idx1-ubyte.gz', 'y_val.npy', 'features.npy']
    """
    named = path.with_name(_renamed(path.name))
    return named if named != path and named.is_file() else None


def _renamed(name: str) -> str:
    name = re.sub(r"idx\d", "idx1", name.replace("images", "labels")) if "images" in name else name
    return re.sub(r"(?<![A-Za-z0-9])[Xx](?![A-Za-z0-9])", "y", name)


def _npy(path: Path) -> NDArray[Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read as a plain array ({cause(error)}); save it with np.save") from error
    return np.asarray(array)


def idx_array(path: Path) -> NDArray[Any]:
    """The array of an IDX file, gzipped or not."""
    try:
        with _opened(path) as file:
            content = file.read()
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read ({cause(error)}); fetch it again") from error
    if len(content) < 4 or content[2] not in _IDX_TYPES:
        raise InputError(f"{path}: is not an IDX file; MNIST's are named like train-images-idx3-ubyte")
    dims = content[3]
    shape = tuple(np.frombuffer(content[4 : 4 + 4 * dims], ">u4").tolist())
    kind = np.dtype(_IDX_TYPES[content[2]])
    wanted = 4 + 4 * dims + kind.itemsize * int(np.prod(shape))
    if len(content) != wanted:
        raise InputError(f"{path}: {len(content)} bytes where its header says {wanted}; fetch it again")
    return np.frombuffer(content, kind, offset=4 + 4 * dims).reshape(shape).astype(kind.newbyteorder("="))


def _opened(path: Path) -> Any:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def _first(arrays: dict[str, NDArray[Any]], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in arrays), None)


READERS = (
    Reader("an .npz or .npy of arrays", suffixed(".npz", ".npy"), read_arrays),
    Reader("an IDX file", is_idx, read_idx, Turn.by_content),
)
