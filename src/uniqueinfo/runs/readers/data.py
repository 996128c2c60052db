"""What a reader gives: one small value, whatever the files were."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.progress import progress

if TYPE_CHECKING:
    import pandas as pd
    from PIL.Image import Image

View: TypeAlias = "Image | str | dict[str, Any]"
"""How a sample is shown to a person: a picture, a text, or a row of a table."""

Task = Literal["auto", "classes", "regression", "generation"]
Fill = Literal["median", "mean", "drop"]


_OF_OTHERS = ("roles", "unlabelled")
"""Fields that say how to read data that is to be like other data: no part of what was asked."""
_NAMED = 5
"""Rows of one id that are named."""


@dataclass(frozen=True)
class Reading:
    """How to read: which columns mean what, and how large pictures become."""

    label: str | None = None
    """The label column of a table, or several with commas between; without it one named label, labels, y or target."""
    id: str | None = None
    """The column that names the samples; without it one named id, else they are numbered."""
    number: bool = False
    """Number the rows; a column that names them goes to the table."""
    text: str | None = None
    """The column of texts to train on; the others then only travel along."""
    embed: str | None = None
    """A model of the transformers library, or its folder, that turns texts into embeddings; else TF-IDF does."""
    extra: tuple[str, ...] = ()
    """Columns that travel along and are not trained on; validation data may lack them."""
    fill: Fill | None = None
    """What to do about empty cells: numbers become the median or the mean of the training rows, or rows go."""
    task: Task = "auto"
    """Whether labels name classes or are numbers to predict; auto: numbers with a decimal point are. generation: texts
    are to be written, whole ones or, where there is a label, that after each."""
    size: int = 64
    """Pictures become squares of so many pixels."""
    skip_broken: bool = False
    """Leave out pictures that cannot be read, and say so, in place of refusing them."""
    roles: Mapping[str, str] | None = None
    """What the columns of the training table were taken for: a table that is to be like it has the same."""
    unlabelled: bool = False
    """Leave labels aside, whether or not there are any."""

    def like(self, train: Data, *, unlabelled: bool = False) -> Reading:
        """How to read what is to be like these training samples."""
        return replace(self, roles=train.roles, unlabelled=unlabelled)

    def settings(self) -> dict[str, Any]:
        """What was asked, as plain values."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _OF_OTHERS}


@dataclass(frozen=True, eq=False)
class Data:
    """Samples in the order of their files."""

    inputs: Any
    """One sample at each index: an array, pictures read when asked for, or a table of columns to encode."""
    labels: NDArray[Any] | None
    ids: NDArray[Any]
    columns: pd.DataFrame | None
    show: Callable[[int], View]
    files: tuple[Path, ...]
    """Where all this was read from."""
    notes: tuple[str, ...] = ()
    """What a person should know about how it was read."""
    roles: Mapping[str, str] | None = None
    """By column of a table that is trained on, what it is: number, vector, category or text."""
    table: pd.DataFrame | None = None
    """The user's whole table as it stands in the file, where it is one: what is exported again."""
    rows: NDArray[np.intp] | None = None
    """Where the samples stand among all that were read, where these are some of them."""
    label_names: tuple[str, ...] | None = None
    """What the columns of the labels are called, where each sample has several labels or numbers."""

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, chosen: NDArray[np.intp]) -> Data:
        """Some of the samples."""
        import pandas as pd

        inputs = self.inputs
        return Data(
            inputs.iloc[chosen].reset_index(drop=True) if isinstance(inputs, pd.DataFrame) else inputs[chosen],
            None if self.labels is None else self.labels[chosen],
            self.ids[chosen],
            None if self.columns is None else self.columns.iloc[chosen].reset_index(drop=True),
            lambda index: self.show(int(chosen[index])),
            self.files,
            self.notes,
            self.roles,
            table=None if self.table is None else self.table.iloc[chosen].reset_index(drop=True),
            rows=chosen if self.rows is None else self.rows[chosen],
            label_names=self.label_names,
        )

    def without_labels(self) -> Data:
        """The same, with the labels as a column that travels along."""
        import pandas as pd

        if self.labels is None:
            return self
        own = pd.DataFrame({"label": list(self.labels)})
        columns = own if self.columns is None else pd.concat([own, self.columns], axis=1)
        return replace(self, labels=None, columns=columns)

    def fingerprint(self) -> str:
        """SHA-256 over the names and contents of the files."""
        return fingerprint(self.files)


def fingerprint(files: Iterable[Path]) -> str:
    """SHA-256 over names and contents, in this order; where the folder lies makes no difference."""
    sha, paths = hashlib.sha256(), list(files)
    with progress("Fingerprint", sum(path.stat().st_size for path in paths), unit="bytes") as advance:
        for path in paths:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                sha.update(f"{path.resolve().parent.name}/{path.name} {digest}\n".encode())
                advance(file.tell())
    return sha.hexdigest()


def unique_ids(where: Path, ids: NDArray[Any]) -> NDArray[Any]:
    """The ids, refused where two samples share one.

    >>> unique_ids(Path("t.csv"), np.array(["a", "b", "a"]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: t.csv: id a names 2 samples (rows 0, 2, counted from 0); make the ids differ, ...
    """
    found, counts = np.unique(ids, return_counts=True)
    if len(found) == len(ids):
        return ids
    twice = int(counts.argmax())
    rows = np.flatnonzero(ids == found[twice]).tolist()
    listed = f"rows {', '.join(map(str, rows[:_NAMED]))}{', …' if len(rows) > _NAMED else ''}, counted from 0"
    others = int((counts > 1).sum()) - 1
    more = "" if not others else f", and {others:,} other {'id names' if others == 1 else 'ids name'} several too"
    raise InputError(
        f"{where}: id {found[twice]} names {counts[twice]} samples ({listed}){more}; make the ids differ, name another "
        "column with --id, or say --number to number the rows (the ids then go to the table)"
    )
