"""Scores that stay on disk: a column is read when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.information.effects import Effects
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.scores.table import EFFECTS, ERRORS, MATRICES, MEASURES, ROWS, Scores
from uniqueinfo.types import Floats, Labels


@dataclass(frozen=True, eq=False, repr=False)
class StoredScores(Scores):
    """The scores of a run folder; the same names as of any `Scores`, each read on first use and then held.

    `batches` goes through all of them without holding more than a partition.
    """

    parts: tuple[Path, ...]
    """Parquet files, in the order of the samples."""
    settings: Mapping[str, Any]
    source: Callable[[], Origin] | None = None
    held_out: Scores | None = None

    @property
    def folder(self) -> Path:
        """The run folder they lie in."""
        return self.parts[0].parent.parent

    @cached_property
    def _schema(self) -> pa.Schema:
        try:
            return pq.read_schema(self.parts[0])
        except (OSError, pa.ArrowInvalid) as broken:
            raise InputError(f"{self.parts[0]}: is not a table of scores, or is damaged ({broken})") from broken

    def __len__(self) -> int:
        return sum(int(pq.read_metadata(part).num_rows) for part in self.parts)

    def __getattr__(self, name: str) -> Any:
        """A part of the scores on its first use; from then on it is held."""
        read = _READ.get(name)
        if read is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = vars(self)[name] = read(self, name)
        return found

    def batches(self) -> Iterator[pd.DataFrame]:
        """The table, partition after partition."""
        names = [name for name in self._schema.names if name not in (*MATRICES, *EFFECTS.values(), ROWS)]
        for part in self.parts:
            yield pq.read_table(part, columns=names).to_pandas()

    def _column(self, name: str) -> Floats | None:
        """A column of numbers, if it is there."""
        return self._frame([name])[name].to_numpy() if name in self._schema.names else None

    def _matrix(self, name: str) -> NDArray[Any]:
        """A column of lists of one length."""
        column = self._read([name])[name].combine_chunks()
        found: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        return found

    def _labels(self, _: str) -> Labels:
        """Single labels, or rows of targets."""
        if "label" not in self._schema.names:
            return None
        column = self._frame(["label"])["label"]
        return np.stack(column.to_list()) if isinstance(column.iloc[0], np.ndarray) else column.to_numpy()

    def _loo_losses(self, _: str) -> Floats | None:
        """As they were stored."""
        return self._column("loo_loss")

    def _ids(self, _: str) -> NDArray[Any]:
        """Counted ones too."""
        return self._frame(["id"])["id"].to_numpy()

    def _own(self, _: str) -> pd.DataFrame | None:
        """The user's own columns."""
        own = json.loads((self._schema.metadata or {}).get(b"uniqueinfo_columns", b"[]"))
        return self._frame(own) if own else None

    def _rows(self, _: str) -> NDArray[Any] | None:
        return self._column(ROWS)

    def _effects(self, _: str) -> Effects | None:
        if EFFECTS["change"] not in self._schema.names:
            return None
        return Effects(**{part: self._matrix(name) for part, name in EFFECTS.items() if name in self._schema.names})

    def _errors(self, _: str) -> Mapping[str, Floats] | None:
        found = {name: self._column(column) for column, name in ERRORS.items() if column in self._schema.names}
        return {name: error for name, error in found.items() if error is not None} or None

    def _frame(self, names: list[str]) -> pd.DataFrame:
        found: pd.DataFrame = self._read(names).to_pandas()
        return found

    def _read(self, names: list[str]) -> pa.Table:
        return pa.concat_tables([pq.read_table(part, columns=names) for part in self.parts])


_READ: Mapping[str, Callable[[StoredScores, str], Any]] = {
    **dict.fromkeys((*MEASURES, "loo_loss", "place"), StoredScores._column),
    "rows": StoredScores._rows,
    **dict.fromkeys(MATRICES, StoredScores._matrix),
    "loo_losses": StoredScores._loo_losses,
    "labels": StoredScores._labels,
    "ids": StoredScores._ids,
    "columns": StoredScores._own,
    "effects": StoredScores._effects,
    "errors": StoredScores._errors,
}
"""How each part of the scores is read."""
