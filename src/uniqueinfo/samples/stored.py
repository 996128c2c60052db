"""Arrays that lie in files: read when asked for, opened by whoever reads, never whole in memory.

A file is opened anew for each read: pages of an open map count as resident memory, and a path is what can be sent to
another process.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.sparse import issparse
from torch import Tensor

from uniqueinfo.errors import InputError, cause
from uniqueinfo.samples.checks import check_columns
from uniqueinfo.types import Index


@dataclass(frozen=True)
class NpyFile:
    """One array in a file, laid out as numpy does."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @classmethod
    def open(cls, path: Path) -> NpyFile:
        """An .npy file."""
        try:
            found = cls.of(np.load(path, mmap_mode="r", allow_pickle=False))
        except (ValueError, OSError, EOFError) as error:
            raise InputError(
                f"{path}: cannot be read as a plain array ({cause(error)}); save it with np.save"
            ) from error
        if found is None:
            raise InputError(f"{path}: is laid out column by column; save np.ascontiguousarray of it")
        return found

    @classmethod
    def of(cls, array: object) -> NpyFile | None:
        """The file behind a memory map; None for parts of one, and for anything else."""
        if not isinstance(array, np.memmap) or not isinstance(array.base, mmap.mmap) or array.filename is None:
            return None
        if not array.flags.c_contiguous:
            return None
        return cls(Path(array.filename).resolve(), array.dtype, array.shape, int(array.offset))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index) -> NDArray[Any]:
        mapped: NDArray[Any] = np.memmap(self.path, self.dtype, "r", self.offset, self.shape)
        return np.array(mapped[index])


@dataclass(frozen=True)
class ParquetGroup:
    """One row group of a Parquet file: numbers, a row for each sample; a list column is a row by itself."""

    path: Path
    group: int
    columns: tuple[str, ...]
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index) -> NDArray[Any]:
        table = pq.ParquetFile(self.path).read_row_group(self.group, columns=list(self.columns))
        if isinstance(index, slice):
            start, stop, _ = index.indices(len(self))
            return columns_as_array(table.slice(start, stop - start), self.columns)
        return columns_as_array(table.take(pa.array(index)), self.columns)


@dataclass(frozen=True)
class Concatenated:
    """Arrays one after the other, as one.

    >>> both = Concatenated((np.zeros((2, 3)), np.ones((2, 3))))
    >>> both.shape, both[1:3][:, 0].tolist(), both[np.array([3, 0])][:, 0].tolist()
    ((4, 3), [0.0, 1.0], [1.0, 0.0])
    """

    pieces: tuple[Any, ...]

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        return np.cumsum([0, *(len(piece) for piece in self.pieces)])

    @property
    def shape(self) -> tuple[int, ...]:
        """As of one array."""
        return int(self._starts[-1]), *self.pieces[0].shape[1:]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index) -> NDArray[Any]:
        if isinstance(index, slice):
            start, stop, _ = index.indices(len(self))
            first, last = (
                int(np.searchsorted(self._starts, at, side="right")) - 1 for at in (start, max(start, stop - 1))
            )
            parts = [
                self.pieces[number][max(0, start - begin) : stop - begin]
                for number, begin in enumerate(self._starts[first : last + 1].tolist(), start=first)
            ]
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        owner = np.searchsorted(self._starts, index, side="right") - 1
        found: NDArray[Any] | None = None
        for number in np.unique(owner):
            here = owner == number
            values = self.pieces[number][index[here] - self._starts[number]]
            if found is None:
                found = np.empty((len(index), *values.shape[1:]), values.dtype)
            found[here] = values
        assert found is not None
        return found


def as_array(name: str, given: Any) -> Any:
    """An array, or a reader of one: of an .npy or Parquet file, or of a folder of either, in the order of names."""
    if isinstance(given, str | Path):
        return _from_path(name, Path(given))
    if issparse(given):
        raise InputError(f"{name}: is sparse, and scores need all of its numbers; hand over {name}.toarray()")
    if isinstance(given, Tensor) or hasattr(given, "shape"):
        return given if (mapped := NpyFile.of(given)) is None else mapped
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(f"{name}: rows are of different lengths; give each sample as many numbers") from error


def portable(array: Any) -> Any:
    """The file behind a memory map in place of its contents, where there is one: for sending elsewhere."""
    for candidate in (array, getattr(array, "base", None)):
        found = NpyFile.of(candidate)
        if found is not None and found.shape == array.shape and found.dtype == array.dtype:
            return found
    return array


@dataclass(frozen=True)
class Columns:
    """The columns of a table that are trained on, in one order for all files, and where that was found."""

    names: tuple[str, ...]
    known: str

    @classmethod
    def of(cls, path: Path, label: str | None = None) -> Columns:
        """Of a Parquet file, or of the first of a folder of them: all but the label's, and a pandas index."""
        file = parquet_files(path)[0]
        held = [name for name in _opened(file).schema_arrow.names if name != label and not _is_index(name)]
        return cls(tuple(held), str(file))


def parquet_files(path: Path) -> list[Path]:
    """The file itself, or those of the folder, in the order of their names."""
    return [path] if path.is_file() else sorted(path.glob("*.parquet"))


def parquet(
    path: Path, *, label: str | None = None, only: str | None = None, like: Columns | None = None
) -> Concatenated:
    """The numbers of a Parquet file, or of a folder of them: one column (`only`), or all but the label's.

    Columns are known by their names: in every file they come in the order of the first, or in that of `like`.
    """
    columns = like or (Columns((only,), str(path)) if only else Columns.of(path, label))
    groups = [group for file in parquet_files(path) for group in _row_groups(file, label, columns, whole=not only)]
    if not groups:
        raise InputError(f"{path}: there are no rows in it")
    odd = next((group for group in groups if group.shape[1:] != groups[0].shape[1:]), None)
    if odd is not None:
        raise InputError(f"{odd.path}: has {odd.shape[1:]} columns and {groups[0].path} {groups[0].shape[1:]}")
    return Concatenated(tuple(groups))


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path}: cannot be read as Parquet ({cause(error)}); write it again") from error


def _is_index(name: str) -> bool:
    """Whether pandas wrote its index into this column: it names rows, and is nothing to train on."""
    return name.startswith("__index_level_")


def _row_groups(path: Path, label: str | None, columns: Columns, *, whole: bool) -> list[ParquetGroup]:
    """`whole`: the file must hold these columns and no others beside the label."""
    file = _opened(path)
    held, names = file.schema_arrow.names, columns.names
    missing = [name for name in (label, None if whole else names[0]) if name is not None and name not in held]
    if missing:
        raise InputError(f"{path}: there is no column {missing[0]!r}; it has {', '.join(held)}")
    if whole:
        check_columns(path, [name for name in held if name != label and not _is_index(name)], names, columns.known)
    counts = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
    if not sum(counts):
        return []
    head = pa.Table.from_batches([next(file.iter_batches(batch_size=1, columns=list(names)))])
    width = columns_as_array(head, names).shape[1:]
    return [ParquetGroup(path.resolve(), number, names, (rows, *width)) for number, rows in enumerate(counts)]


def is_parquet(given: Any) -> bool:
    """Whether this names a Parquet file, or a folder of them."""
    if not isinstance(given, str | Path):
        return False
    path = Path(given)
    return path.suffix == ".parquet" if path.is_file() else any(path.glob("*.parquet"))


def _from_path(name: str, path: Path) -> Any:
    if not path.exists():
        raise InputError(f"{name}: there is no file or folder {path}; check the path")
    if is_parquet(path):
        return parquet(path)
    if path.is_file():
        return NpyFile.open(path)
    files = sorted(path.glob("*.npy"))
    if not files:
        raise InputError(f"{name}: {path} holds no .npy and no .parquet files; name a folder that does")
    pieces = tuple(NpyFile.open(file) for file in files)
    odd = next((piece for piece in pieces if piece.shape[1:] != pieces[0].shape[1:]), None)
    if odd is not None:
        raise InputError(f"{name}: {odd.path} is of shape {odd.shape} and {pieces[0].path} of shape {pieces[0].shape}")
    return pieces[0] if len(pieces) == 1 else Concatenated(pieces)


def columns_as_array(table: pa.Table, names: Sequence[str]) -> NDArray[Any]:
    """Columns side by side; a single column stays flat unless it holds lists, which are rows."""
    columns = [table[name].combine_chunks() for name in names]
    if len(columns) == 1:
        (only,) = columns
        if pa.types.is_list(only.type) or pa.types.is_large_list(only.type) or pa.types.is_fixed_size_list(only.type):
            if len(only) and len(pc.unique(pc.list_value_length(only))) > 1:
                raise InputError(
                    f"column {names[0]!r}: rows are of different lengths; give each sample as many numbers"
                )
            return np.asarray(only.flatten().to_numpy(zero_copy_only=False).reshape(len(table), -1))
        return np.asarray(only.to_numpy(zero_copy_only=False))
    return np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
