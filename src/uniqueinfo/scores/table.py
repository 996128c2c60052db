"""The result: one row per training sample, held in memory or read from disk when asked for."""

from __future__ import annotations

import io
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import scipy
import torch
from numpy.typing import NDArray

from uniqueinfo._version import __version__
from uniqueinfo.errors import InputError
from uniqueinfo.information.effects import Effects
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.samples.border import PATH, Kind, takes
from uniqueinfo.samples.hugging_face import with_columns
from uniqueinfo.samples.taken import TAKEN
from uniqueinfo.scores.display import shown
from uniqueinfo.scores.saving import save_table
from uniqueinfo.scores.several import LabelPredictions, NumberPredictions, said_of
from uniqueinfo.training.algorithm import training_words
from uniqueinfo.types import Floats, Indices, Labels

MATRICES = ("loo_outputs", "outputs", "targets")
EFFECTS = {
    "validation": "effects_validation",
    "output": "effects_output",
    "change": "effects_change",
    "ids": "effects_id",
}
MEASURES = ("functional", "kl", "weight", "smoothed", "value")
ERRORS = {f"{name}_error": name for name in ("functional", "weight", "value", "loo_outputs")}
ROWS = "file_row"
RESERVED = frozenset({"id", "label", "place", ROWS, *MEASURES, "loo_loss", *MATRICES, *EFFECTS.values(), *ERRORS})
"""Names the user's own columns cannot have."""


class Scores:
    """How much each training sample matters, in the order of the training data; held in memory, or on disk."""

    settings: Mapping[str, Any]
    """How the scores were computed: training, smoothing, form, sizes, the error of the rational fit, versions."""
    source: Callable[[], Origin] | None
    """How to come back to what the scores were measured on; not saved."""
    weight: Floats
    """SI, ½‖w − w₋ᵢ‖²: what the weights lose when the sample leaves."""
    functional: Floats | None
    """F-SI, (1/2m) Σ_j ‖f_w(x_j) − f_w₋ᵢ(x_j)‖²: what the function loses; needs validation inputs."""
    value: Floats | None
    """What the validation loss gains when the sample leaves (positive: it helps); needs validation labels."""
    kl: Floats | None
    """(1/m) Σ_j KL of the predicted classes with and without the sample, in bits; of a classifier by cross-entropy."""
    smoothed: Floats | None
    """SI with the smoothing named in the settings, ½(w − w₋ᵢ)ᵀΣ⁻¹(w − w₋ᵢ)."""
    loo_outputs: Floats
    """Each sample's output after training without it, (n, outputs)."""
    outputs: Floats
    """Each sample's output after training with all, (n, outputs)."""
    targets: Floats
    """What the outputs were trained towards, (n, outputs)."""
    loo_losses: Floats | None
    """Of each sample after training without it, by another loss than squared error."""
    labels: Labels
    """The user's labels, if there are any."""
    ids: NDArray[Any] | None
    """The user's names of the samples; None where they are counted."""
    columns: pd.DataFrame | None
    """The user's own columns."""
    effects: Effects | None
    """The few validation samples each training sample moves most; where asked for."""
    errors: Mapping[str, Floats] | None
    """Estimated error of each measure of each sample, which covers 95 % of them; only where a sketch was used."""
    place: NDArray[Any] | None
    """Whether each sample was trained on or held out; None where all were trained on."""
    rows: Indices | None
    """Where each sample stands in the user's file; None where they stand in its order, one after the other."""
    held_out: Scores | None
    """Samples of the same file that were held out for validation, each measured as if it were added; see `everyone`."""

    def __len__(self) -> int:
        return len(self.weight)

    def __repr__(self) -> str:
        found = [name for name in MEASURES if getattr(self, name) is not None]
        return f"Scores of {len(self)} samples: {', '.join(found)}; training: {training_words(self.settings)}"

    def _repr_html_(self) -> str:
        return shown(repr(self), self.frame(), said=self.taken_as)

    @property
    def taken_as(self) -> Mapping[str, str]:
        """What each argument was taken for, in words, where the scores came from a call."""
        return dict(self.settings.get(TAKEN) or {})

    @property
    def information(self) -> Floats:
        """In the function; in the weights where there are no validation samples."""
        return self.weight if self.functional is None else self.functional

    @property
    def names(self) -> NDArray[Any]:
        """What to call the samples: their ids, or 0 … n − 1."""
        return np.arange(len(self)) if self.ids is None else self.ids

    @cached_property
    def loo_loss(self) -> Floats:
        """How wrong the network is about a sample it has not seen: ½‖f₋ᵢ(xᵢ) − yᵢ‖², or by the training's own loss."""
        if self.loo_losses is not None:
            return self.loo_losses
        found: Floats = np.square(self.loo_outputs - self.targets).sum(axis=1) / 2
        return found

    @cached_property
    def origin(self) -> Origin:
        """The trained linearization behind the scores: kept in memory by `score`, made again for a run folder."""
        if self.source is None:
            raise InputError(
                "this question goes on from the trained network, which saved scores no longer hold: ask it of what "
                "ui.score gives (called again with the same out=…, it finds the scores there and computes nothing), or "
                "of a folder that the command uniqueinfo score made"
            )
        return self.source()

    def loo_probabilities(self) -> Floats:
        """Class probabilities (n, classes) of each sample by the network trained without it.

        Where each sample has several labels, the probability that each is there, (n, labels).

        Every row is out of sample, as if by cross-validation with as many folds as samples: what tools such as
        cleanlab's `find_label_issues` take, classes in their sorted order.

        >>> scores = HeldScores(weight=np.ones(2), loo_outputs=np.array([[0.25], [1.5]]), outputs=np.zeros((2, 1)),
        ...                     targets=np.array([[0.0], [1.0]]), labels=np.array([0, 1]))
        >>> scores.loo_probabilities()
        array([[0.75, 0.25],
               [0.  , 1.  ]])
        """
        found = said_of(self)
        if found is None or isinstance(found, NumberPredictions):
            raise InputError(
                "only classes and labels have probabilities; these scores are of numbers to predict, of mixed outputs, "
                "or of outputs by a function"
            )
        return found.probability

    def frame(self) -> pd.DataFrame:
        """One row per sample: id, label, the measures there are, and the user's own columns.

        Of several labels the names of those that each sample has: wet + cold.
        """
        table: dict[str, Any] = {"id": self.names}
        if self.labels is not None:
            several = LabelPredictions.of(self)
            one = self.labels if self.labels.ndim == 1 else list(self.labels)
            table["label"] = one if several is None else several.given_words
        if self.place is not None:
            table["place"] = self.place
        table |= {name: getattr(self, name) for name in MEASURES if getattr(self, name) is not None}
        table["loo_loss"] = self.loo_loss
        if self.errors is not None:
            table |= {column: self.errors[name] for column, name in ERRORS.items() if name in self.errors}
        frame = pd.DataFrame(table)
        if self.columns is None:
            return frame
        return pd.concat([frame, self.columns.reset_index(drop=True)], axis=1)

    def to_dataset(self, dataset: Any = None, *, prefix: str = "") -> Any:
        """A data set of Hugging Face with the scores as columns: beside those of `dataset`, the one that was scored.

        Each measure there is becomes a column, with the loss and the outputs of the network trained without the sample;
        `prefix` goes before their names. Without a data set the table itself is made one.
        """
        try:
            from datasets import Dataset  # type: ignore[import-untyped]
        except ImportError as absent:
            raise InputError("to_dataset: needs Hugging Face's datasets; pip install datasets") from absent
        if dataset is None:
            return Dataset(self.table().replace_schema_metadata(None))
        columns = {name: getattr(self, name) for name in (*MEASURES, "loo_loss", "loo_outputs")}
        return with_columns(
            dataset, {name: one for name, one in columns.items() if one is not None}, self.labels, prefix
        )

    def replaced(self, **columns: Any) -> HeldScores:
        """The same in memory, with some of its parts replaced by `columns`, by their names."""
        return HeldScores(**{each.name: getattr(self, each.name) for each in fields(HeldScores)} | columns)

    @takes(folder=PATH)
    def save(self, folder: str | Path) -> Path:
        """Write the table (scores.parquet) and the settings (run.json) into a `folder`, over those saved there before.

        Whenever it is stopped, the folder holds the one or the other whole. `ui.load` brings the table back, and
        `ui.report` and ``uniqueinfo report`` take the folder; the network and its data are not saved, so that questions
        that go on from them (`attribute`, `redundancy`, `validate` without its arguments, …) are asked before.
        """
        held_out = None if self.held_out is None else self.held_out.content()
        return save_table(Path(folder), self.content(), self.settings, held_out)

    def content(self) -> bytes:
        """The table alone, as a Parquet file has it."""
        written = io.BytesIO()
        self.write(written)
        return written.getvalue()

    def write(self, where: Path | BinaryIO) -> None:
        """The table alone, as Parquet; `where`: a file, or its path.

        Only what repeats itself gets a dictionary: looking for one among scores takes most of the time of writing.
        """
        table = self.table()
        repeating = [column.name for column in table.schema if not _is_measured(column.type)]
        lists = [f"{name}.list.element" for name in ("targets", EFFECTS["ids"]) if name in table.column_names]
        pq.write_table(table, where, use_dictionary=[*repeating, *lists])

    def table(self) -> pa.Table:
        """All there is, with the settings: what is saved."""
        frame = self.frame()
        if self.labels is not None and self.labels.ndim > 1:
            frame["label"] = list(self.labels)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        matrices = {name: getattr(self, name) for name in MATRICES}
        if self.effects is not None:
            felt = {name: getattr(self.effects, part) for part, name in EFFECTS.items()}
            matrices |= {name: matrix for name, matrix in felt.items() if matrix is not None}
        for name, matrix in matrices.items():
            flat = pa.array(np.ascontiguousarray(matrix).ravel())
            table = table.append_column(name, pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1]))
        if self.rows is not None:
            table = table.append_column(ROWS, pa.array(self.rows))
        own = [] if self.columns is None else list(self.columns.columns)
        marks = {"uniqueinfo_columns": json.dumps(own)}
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **marks})


SCORES = Kind("scores, as ui.score and ui.load give them", (Scores,))
"""As an argument."""


@dataclass(frozen=True, eq=False, repr=False)
class HeldScores(Scores):
    """Scores in memory.

    >>> scores = HeldScores(weight=np.array([0.5, 2.0]), loo_outputs=np.zeros((2, 1)), outputs=np.zeros((2, 1)),
    ...                     targets=np.ones((2, 1)), labels=np.array([0, 1]))
    >>> scores.frame()
       id  label  weight  loo_loss
    0   0      0     0.5       0.5
    1   1      1     2.0       0.5
    """

    weight: Floats
    loo_outputs: Floats
    outputs: Floats
    targets: Floats
    functional: Floats | None = None
    value: Floats | None = None
    kl: Floats | None = None
    smoothed: Floats | None = None
    loo_losses: Floats | None = None
    labels: Labels = None
    ids: NDArray[Any] | None = None
    columns: pd.DataFrame | None = None
    effects: Effects | None = None
    errors: Mapping[str, Floats] | None = None
    place: NDArray[Any] | None = None
    rows: Indices | None = None
    held_out: Scores | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Callable[[], Origin] | None = None


def versions() -> dict[str, str]:
    """What the scores depend on besides the data and the settings."""
    return {
        "uniqueinfo": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "torch": torch.__version__,
    }


def _is_measured(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_fixed_size_list(kind))
