"""Scores that stay on disk: a column is read when it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.scores.table import MATRICES, MEASURES, Scores, labels_of, matrix_of


class StoredScores(Scores):
    """The scores of a run that streams; the same names as of `Scores`, each read on first use and then held.

    `batches` goes through all of them without holding more than a partition.
    """

    path: Path

    @classmethod
    def of(cls, path: Path) -> StoredScores:
        """The folder of Parquet files."""
        try:
            marks = {key.decode(): value.decode() for key, value in ds.dataset(path).schema.metadata.items()}
            settings, own = json.loads(marks["uniqueinfo"]), json.loads(marks["uniqueinfo_columns"])
        except (OSError, KeyError, AttributeError, ValueError) as broken:
            raise InputError(f"{path}: is not a table of scores, or is damaged ({broken})") from broken
        found = cls.__new__(cls)  # the fields come when they are asked for
        vars(found).update(path=path, settings=settings, _own=own)
        return found

    def __len__(self) -> int:
        return int(self.settings["samples"])

    def __getattr__(self, name: str) -> Any:
        if name not in (*MEASURES, *MATRICES):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self)[name] = self._matrix(name) if name in MATRICES else self._numbers(name)
        return vars(self)[name]

    @cached_property
    def labels(self) -> NDArray[Any] | None:
        """The labels, if there are any."""
        return labels_of(self._frame(["label"])["label"]) if "label" in self._names else None

    @cached_property
    def ids(self) -> NDArray[Any]:
        """The names of the samples."""
        return self._frame(["id"])["id"].to_numpy()

    @cached_property
    def columns(self) -> pd.DataFrame | None:
        """The user's own columns."""
        return self._frame(self._own) if self._own else None

    @cached_property
    def loo_loss(self) -> NDArray[np.float64]:
        """½‖f₋ᵢ(xᵢ) − yᵢ‖², as it was written."""
        found = self._numbers("loo_loss") if "path" in vars(self) else None  # `replace` leaves a copy in memory
        return super().loo_loss if found is None else found

    def batches(self) -> Iterator[pd.DataFrame]:
        """The table, partition after partition."""
        if "path" not in vars(self):
            yield self.frame()
            return
        names = [name for name in self._names if name not in MATRICES]
        for file in sorted(self.path.glob("*.parquet")):
            yield pq.read_table(file, columns=names).to_pandas()

    @cached_property
    def _names(self) -> list[str]:
        return list(ds.dataset(self.path).schema.names)

    def _numbers(self, name: str) -> NDArray[np.float64] | None:
        return self._frame([name])[name].to_numpy() if name in self._names else None

    def _matrix(self, name: str) -> NDArray[Any]:
        return matrix_of(pq.read_table(self.path, columns=[name]), name)

    def _frame(self, names: list[str]) -> pd.DataFrame:
        found: pd.DataFrame = pq.read_table(self.path, columns=names).to_pandas()
        return found
