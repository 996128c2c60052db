"""Columns of a table → numbers: fitted on the training rows, applied to all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers.data import Fill
from uniqueinfo.runs.readers.missing import MISSING
from uniqueinfo.runs.readers.roles import role_of
from uniqueinfo.samples.checks import LARGEST

Floats = NDArray[np.float32]
_Encode = Callable[["pd.Series[Any]"], Floats]

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
    def fit(
        cls,
        frame: pd.DataFrame,
        *,
        roles: Mapping[str, str] | None = None,
        text: str | None = None,
        embed: str | None = None,
        fill: Fill | None = None,
    ) -> TableEncoding:
        """From the training rows. `text` is text whatever it looks like; `embed` names a model for texts.

        `roles` say what the columns are, where that is known; `fill` what stands for numbers that are not there.

        >>> ages = pd.DataFrame({"age": [1.0, np.nan, 2.0, 6.0]})
        >>> TableEncoding.fit(ages, fill="median")(Path("t.csv"), ages)[1] == TableEncoding.fit(
        ...     ages.fillna(2.0))(Path("t.csv"), ages.fillna(2.0))[1]
        array([ True])
        """
        known = {str(name): role_of(frame[name]) for name in frame} if roles is None else roles
        embedding = None if embed is None else _embedding(embed)
        fits: dict[str, Callable[[pd.Series[Any]], _Encode]] = {
            "number": partial(_standardized, matrix=_number, fill=fill),
            "vector": partial(_standardized, matrix=_vectors, fill=fill),
            "category": _categories,
            "text": _words if embedding is None else lambda _: embedding,
        }
        return cls({name: fits["text" if name == text else role](frame[name]) for name, role in known.items()})

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
        except InputError:  # it says what is wrong by itself, such as a model that cannot be loaded
            raise
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{where}: column {name!r} is of another kind than in the training data ({error}); make them alike"
            ) from error


def _number(column: pd.Series[Any]) -> NDArray[np.float64]:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)[:, None]


def _vectors(column: pd.Series[Any]) -> NDArray[np.float64]:
    """A row for each cell; an empty one is a row of NaN."""
    given = [np.asarray(cell, dtype=np.float64) for cell in column if isinstance(cell, list | np.ndarray)]
    blank = np.full_like(given[0], np.nan) if given else np.full(1, np.nan)
    filled = iter(given)
    return np.stack([next(filled) if isinstance(cell, list | np.ndarray) else blank for cell in column])


def _standardized(
    train: pd.Series[Any], *, matrix: Callable[[pd.Series[Any]], NDArray[np.float64]], fill: Fill | None
) -> _Encode:
    """Mean 0 and deviation 1 over the training rows, after what stands for an empty cell was put in."""
    values = matrix(train)
    if fill in ("median", "mean"):
        present = np.where(np.isfinite(values), values, np.nan)
        if np.isnan(present).all(axis=0).any():
            raise InputError(
                f"column {train.name!r} has no value in the training rows, so there is no {fill} to fill in; keep it "
                "out of training with --extra"
            )
        stand_in = np.nanmedian(present, axis=0) if fill == "median" else np.nanmean(present, axis=0)
    else:
        stand_in = np.full(values.shape[1], np.nan)

    def whole(column: pd.Series[Any]) -> NDArray[np.float64]:
        found = matrix(column)
        huge = np.flatnonzero((np.abs(found) > LARGEST).any(axis=1) & np.isfinite(found).all(axis=1))
        if len(huge):
            raise InputError(
                f"column {train.name!r}: row {huge[0]}, counted from 0, holds a number beyond ±{LARGEST:g}, which has "
                "no square; mend it, or keep the column out of training with --extra"
            )
        return np.where(np.isfinite(found), found, stand_in)

    values = whole(train)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    deviation[deviation == 0] = 1.0  # a constant column stays, as zeros

    def standardized(column: pd.Series[Any]) -> Floats:
        found = (whole(column) - mean) / deviation
        far = np.flatnonzero((np.abs(found) > np.finfo(np.float32).max).any(axis=1))
        if len(far):
            raise InputError(
                f"column {train.name!r}: row {far[0]}, counted from 0, is farther from the training rows than a number "
                "of single precision holds; mend it, or keep the column out of training with --extra"
            )
        single: Floats = found.astype(np.float32)
        return single

    return standardized


def _categories(train: pd.Series[Any]) -> _Encode:
    known = np.unique(_names(train))
    return lambda column: (_names(column)[:, None] == known).astype(np.float32)


def _names(column: pd.Series[Any]) -> NDArray[np.str_]:
    return np.array(filled_texts(column), dtype=str)


def filled_texts(column: pd.Series[Any]) -> list[str]:
    """The cells as texts, with a word that stands for an empty one."""
    return column.astype(object).where(column.notna(), MISSING).astype(str).tolist()


def _words(train: pd.Series[Any]) -> _Encode:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(max_features=_MOST_WORDS, sublinear_tf=True, dtype=np.float32)
    try:
        vectorizer.fit(filled_texts(train))
    except ValueError as error:
        empty = (
            f"{(train.isna() | (train.astype(str).str.strip() == '')).sum():,} of its {len(train):,} cells are empty"
        )
        raise InputError(
            f"column {train.name!r}: none of its texts has a word of two letters or more, and {empty}; name another "
            "column with --text, or keep this one out of training with --extra"
        ) from error
    return lambda column: vectorizer.transform(filled_texts(column)).toarray()


def _embedding(name: str) -> _Encode:
    from uniqueinfo.runs.readers.embedding import embed

    return lambda column: embed(name, filled_texts(column))
