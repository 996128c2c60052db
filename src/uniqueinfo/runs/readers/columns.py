"""Columns of a table → numbers: fitted on the training rows, applied to all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.tables import role_of

Floats = NDArray[np.float32]
_Encode = Callable[["pd.Series[Any]"], Floats]

_MISSING = "(missing)"
_MOST_WORDS = 2000


@dataclass(frozen=True, eq=False)
class TableEncoding:
    """One encoding for each column, made by `fit`.

    Numbers and vectors are standardized, categories one-hot (one not seen in training is all zeros), texts TF-IDF
    weights of their words, or embeddings by a model.

    >>> encoding = TableEncoding.fit(pd.DataFrame({"size": [1.0, 3.0], "kind": ["a", "b"]}))
    >>> encoding(Path("val.csv"), pd.DataFrame({"kind": ["b", "c"], "size": [5.0, 2.0]})).tolist()
    [[3.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    encoders: dict[str, _Encode]

    @classmethod
    def fit(cls, frame: pd.DataFrame, *, text: str | None = None, embed: str | None = None) -> TableEncoding:
        """From the training rows. `text` is text whatever it looks like; `embed` names a model for texts."""
        roles = {str(name): "text" if name == text else role_of(frame[name]) for name in frame}
        embedding = None if embed is None else _embedding(embed)
        fits: dict[str, Callable[[pd.Series[Any]], _Encode]] = {
            "number": _numbers,
            "vector": _vectors,
            "category": _categories,
            "text": _words if embedding is None else lambda _: embedding,
        }
        return cls({name: fits[role](frame[name]) for name, role in roles.items()})

    def __call__(self, where: Path, frame: pd.DataFrame) -> Floats:
        """Features (rows, p) of any table with these columns."""
        missing = [name for name in self.encoders if name not in frame]
        if missing:
            raise InputError(
                f"{where}: column {missing[0]!r} is missing, which the training data has; add it, or keep it out of "
                "training with --extra"
            )
        return np.concatenate([self._one(where, name, frame[name]) for name in self.encoders], axis=1)

    def _one(self, where: Path, name: str, column: pd.Series[Any]) -> Floats:
        try:
            return self.encoders[name](column)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{where}: column {name!r} is of another kind than in the training data ({error}); make them alike"
            ) from error


def _numbers(train: pd.Series[Any]) -> _Encode:
    return _standardized(train, lambda column: column.to_numpy(dtype=np.float64)[:, None])


def _vectors(train: pd.Series[Any]) -> _Encode:
    return _standardized(train, lambda column: np.stack([np.asarray(cell, dtype=np.float64) for cell in column]))


def _standardized(train: pd.Series[Any], matrix: Callable[[pd.Series[Any]], NDArray[np.float64]]) -> _Encode:
    values = matrix(train)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    deviation[deviation == 0] = 1.0  # a constant column stays, as zeros
    return lambda column: ((matrix(column) - mean) / deviation).astype(np.float32)


def _categories(train: pd.Series[Any]) -> _Encode:
    known = np.unique(_names(train))
    return lambda column: (_names(column)[:, None] == known).astype(np.float32)


def _names(column: pd.Series[Any]) -> NDArray[np.str_]:
    return column.astype(object).where(column.notna(), _MISSING).astype(str).to_numpy(dtype=str)


def _words(train: pd.Series[Any]) -> _Encode:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(max_features=_MOST_WORDS, sublinear_tf=True, dtype=np.float32)
    try:
        vectorizer.fit(train.astype(str))
    except ValueError as error:
        raise InputError(f"column {train.name!r}: there are no words in its texts ({error})") from error
    return lambda column: vectorizer.transform(column.astype(str)).toarray()


def _embedding(name: str) -> _Encode:
    from uniqueinfo.runs.readers.embedding import embed

    return lambda column: embed(name, column.astype(str).tolist())
