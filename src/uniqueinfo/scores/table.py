"""The result: one row per training sample, kept as Parquet and JSON."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.store.files import replacing
from uniqueinfo.types import Floats

_TABLE, _SETTINGS = "scores.parquet", "run.json"
MATRICES = ("loo_outputs", "outputs", "targets")
_EFFECTS = {"validation": "effects_validation", "output": "effects_output", "change": "effects_change"}
MEASURES = ("functional", "weight", "smoothed", "value")
_ERRORS = {f"{name}_error": name for name in ("functional", "weight", "value", "loo_outputs")}
RESERVED = frozenset({"id", "label", *MEASURES, "loo_loss", *MATRICES, *_EFFECTS.values(), *_ERRORS})
"""Names the user's own columns cannot have."""


@dataclass(frozen=True, eq=False)
class Scores:
    """How much each training sample matters, in the order of the training data.

    >>> scores = Scores(weight=np.array([0.5, 2.0]), functional=None, value=None, loo_outputs=np.zeros((2, 1)),
    ...                 outputs=np.zeros((2, 1)), targets=np.ones((2, 1)), labels=np.array([0, 1]))
    >>> scores.frame()
       id  label  weight  loo_loss
    0   0      0     0.5       0.5
    1   1      1     2.0       0.5
    """

    weight: Floats
    """SI, ½‖w − w₋ᵢ‖²: what the weights lose when the sample leaves."""
    functional: Floats | None
    """F-SI, (1/2m) Σ_j ‖f_w(x_j) − f_w₋ᵢ(x_j)‖²: what the function loses; needs validation inputs."""
    value: Floats | None
    """What the validation loss gains when the sample leaves (positive: it helps); needs validation labels."""
    loo_outputs: Floats
    """Each sample's output after training without it, (n, outputs)."""
    outputs: Floats
    """Each sample's output after training with all, (n, outputs)."""
    targets: Floats
    """What the outputs were trained towards, (n, outputs)."""
    smoothed: Floats | None = None
    """SI with the smoothing named in the settings, ½(w − w₋ᵢ)ᵀΣ⁻¹(w − w₋ᵢ)."""
    labels: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    """The user's names of the samples; 0 … n − 1 when not given."""
    columns: pd.DataFrame | None = None
    """The user's own columns."""
    effects: Effects | None = None
    """The few validation samples each training sample moves most; where asked for."""
    errors: Mapping[str, Floats] | None = None
    """Estimated error of each measure of each sample, which covers 95 % of them; only where a sketch was used."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How the scores were computed: training, smoothing, form, sizes, the error of the rational fit, versions."""

    source: Callable[[], Origin] | None = field(default=None, repr=False)
    """How to come back to what the scores were measured on; not saved."""

    def __len__(self) -> int:
        return len(self.weight)

    def __repr__(self) -> str:
        found = [name for name in MEASURES if getattr(self, name) is not None]
        return (
            f"Scores of {len(self)} samples: {', '.join(found)}; trained by {self.settings.get('training', 'unknown')}"
        )

    @cached_property
    def loo_loss(self) -> Floats:
        """½‖f₋ᵢ(xᵢ) − yᵢ‖²: how wrong the network is about a sample it has not seen."""
        found: Floats = np.square(self.loo_outputs - self.targets).sum(axis=1) / 2
        return found

    @cached_property
    def origin(self) -> Origin:
        """The trained linearization behind the scores: kept in memory by `score`, made again for a run folder."""
        if self.source is None:
            raise InputError(
                "this question goes on from the trained network, which saved scores no longer hold: ask it of what "
                "ui.score gives, or of a folder that the command uniqueinfo score made"
            )
        return self.source()

    def loo_probabilities(self) -> Floats:
        """Class probabilities (n, classes) of each sample by the network trained without it.

        Every row is out of sample, as if by cross-validation with as many folds as samples: what tools such as
        cleanlab's `find_label_issues` take, classes in their sorted order.

        >>> scores = Scores(weight=np.ones(2), functional=None, value=None, loo_outputs=np.array([[0.25], [1.5]]),
        ...                 outputs=np.zeros((2, 1)), targets=np.array([[0.0], [1.0]]), labels=np.array([0, 1]))
        >>> scores.loo_probabilities()
        array([[0.75, 0.25],
               [0.  , 1.  ]])
        """
        found = Predictions.of(self)
        if found is None:
            raise InputError("only classes have probabilities, and these scores are of numeric or mixed targets")
        return found.probability

    def frame(self) -> pd.DataFrame:
        """One row per sample: id, label, the measures there are, and the user's own columns."""
        table: dict[str, Any] = {"id": np.arange(len(self)) if self.ids is None else self.ids}
        if self.labels is not None:
            table["label"] = self.labels if self.labels.ndim == 1 else list(self.labels)
        table |= {name: getattr(self, name) for name in MEASURES if getattr(self, name) is not None}
        table["loo_loss"] = self.loo_loss
        if self.errors is not None:
            table |= {column: self.errors[name] for column, name in _ERRORS.items() if name in self.errors}
        frame = pd.DataFrame(table)
        if self.columns is None:
            return frame
        return pd.concat([frame, self.columns.reset_index(drop=True)], axis=1)

    def save(self, folder: str | Path) -> Path:
        """Write scores.parquet and run.json into a folder.

        The table carries the settings too, so that a run is never half there.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / _TABLE) as beside:
            self.write(beside)
        with replacing(folder / _SETTINGS) as beside:
            beside.write_text(_as_json(self.settings) + "\n", encoding="utf-8")
        return folder

    def write(self, where: Path | BinaryIO) -> None:
        """The table alone, as Parquet.

        Only what repeats itself gets a dictionary: looking for one among scores takes most of the time of writing.
        """
        table = self.table()
        repeating = [column.name for column in table.schema if not _is_measured(column.type)]
        pq.write_table(table, where, use_dictionary=[*repeating, "targets.list.element"])

    def table(self) -> pa.Table:
        """All there is, with the settings: what is saved."""
        table = pa.Table.from_pandas(self.frame(), preserve_index=False)
        matrices = {name: getattr(self, name) for name in MATRICES}
        if self.effects is not None:
            matrices |= {name: getattr(self.effects, part) for part, name in _EFFECTS.items()}
        for name, matrix in matrices.items():
            flat = np.ascontiguousarray(matrix).ravel()
            table = table.append_column(name, pa.FixedSizeListArray.from_arrays(flat, matrix.shape[1]))
        own = [] if self.columns is None else list(self.columns.columns)
        marks = {"uniqueinfo": _as_json(self.settings), "uniqueinfo_columns": json.dumps(own)}
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **marks})


def load(folder: str | Path) -> Scores:
    """Scores saved before."""
    path = Path(folder) / _TABLE
    if path.is_dir():
        from uniqueinfo.scores.stored import StoredScores

        return StoredScores.of(path)
    if not path.is_file():
        raise InputError(
            f"{folder}: there are no scores here ({_TABLE} is missing); save them with scores.save(folder)"
        )
    try:
        table = pq.read_table(path)
        marks = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
        settings, own = json.loads(marks["uniqueinfo"]), json.loads(marks["uniqueinfo_columns"])
    except (OSError, KeyError, AttributeError, ValueError) as broken:
        raise InputError(f"{path}: is not a table of scores, or is damaged ({broken})") from broken
    matrices: dict[str, Any] = {name: matrix_of(table, name) for name in MATRICES}
    kept = {part: name for part, name in _EFFECTS.items() if name in table.column_names}
    effects = Effects(**{part: matrix_of(table, name) for part, name in kept.items()}) if kept else None
    frame = table.drop_columns([*MATRICES, *kept.values()]).to_pandas()
    measures: dict[str, Any] = {name: frame[name].to_numpy() if name in frame else None for name in MEASURES}
    labels = labels_of(frame["label"]) if "label" in frame else None
    errors = {name: frame[column].to_numpy() for column, name in _ERRORS.items() if column in frame}
    return Scores(
        **measures,
        **matrices,
        labels=labels,
        ids=frame["id"].to_numpy(),
        columns=frame[own] if own else None,
        effects=effects,
        errors=errors or None,
        settings=settings,
    )


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


def _as_json(settings: Mapping[str, Any]) -> str:
    return json.dumps(dict(settings), indent=2, sort_keys=True)


def matrix_of(table: pa.Table, name: str) -> NDArray[Any]:
    """A column of lists of one length."""
    found: NDArray[Any] = table[name].combine_chunks().flatten().to_numpy().reshape(len(table), -1)
    return found


def labels_of(column: pd.Series[Any]) -> NDArray[Any]:
    """Labels, or rows of targets, as they were given."""
    first = column.iloc[0]
    return np.stack(column.to_list()) if isinstance(first, np.ndarray) else column.to_numpy()
