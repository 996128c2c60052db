"""Which samples are there twice: duplicates within the training data, and between it and the validation data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.points import Pairs, Points, closest_pairs
from uniqueinfo.samples.border import NUMBER, WHOLE, takes
from uniqueinfo.scores.predictions import Predictions, in_words
from uniqueinfo.scores.several import LabelPredictions, present_words
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.threads import sharing
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uniqueinfo.linearization.origin import Origin
    from uniqueinfo.spectrum.probe import Probe


EXACT = 1e-5
"""A distance below which samples are the same to the network: rounding of float32 networks stays below it, and one grey
level in one pixel of a digit makes about forty times as much."""
NEAR = 0.4
"""Share of the usual distance to a nearest neighbour below which samples are near-duplicates."""
_PICTURES = 24  # pairs shown of each kind

QUESTION = Question(
    "redundancy",
    help="Name duplicates: in the training data, between it and the validation data, and those with different labels.",
    example="runs/mnist",
    options=(
        Option(
            "near",
            float,
            0.4,
            help="Near-duplicates are closer than this share of the usual distance to a nearest neighbour.",
            least=0,
        ),
        Option("most", int, 1000, help="Look at no more than this many of the closest pairs.", least=1),
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class Redundancy(Answer):
    """Pairs of samples that lie suspiciously close to each other, closest first."""

    name = "redundancy"
    title = "Which samples are there twice?"

    table: pd.DataFrame
    places: NDArray[np.intp]
    """Positions of both samples of each row of the table, (pairs, 2)."""
    nearest: Floats
    """For each training sample, the distance of its nearest neighbour in the training data."""
    near: float
    """The distance up to which training samples count as near-duplicates."""
    near_across: float | None
    """The same between training and validation samples; None without validation samples."""
    full: bool
    """Whether there may be more pairs than were asked for."""

    @property
    def sentence(self) -> str:
        """How many pairs of each kind, and how many of them contradict each other."""
        counts = self.table.groupby(["where", "kind"]).size()
        said = []
        places = {"train": "in the training data", "validation": "of a training and a validation sample"}
        for where, words in places.items():
            kinds = [f"{counts[where, kind]:,} {kind}" for kind in ("exact", "near") if (where, kind) in counts]
            if kinds:
                pairs = "pair" if (self.table["where"] == where).sum() == 1 else "pairs"
                said.append(f"{' and '.join(kinds)} duplicate {pairs} {words}")
        if not said:
            return "No two samples are duplicates of each other."
        conflicts = int(self.table["conflict"].fillna(False).sum()) if "conflict" in self.table else 0
        more = f"; {conflicts:,} of them with different labels" if conflicts else ""
        return f"{'; '.join(said)}{more}.{' There may be more: only the closest were kept.' if self.full else ''}"

    def galleries(self) -> tuple[Gallery, ...]:
        """Both samples of each pair, one after the other."""
        kinds = (
            ("Training samples that are the same", "train", "exact"),
            ("Training samples that are nearly the same", "train", "near"),
            ("A training sample, and the same in the validation data", "validation", "exact"),
            ("A training sample, and nearly the same in the validation data", "validation", "near"),
        )
        rows = self.table.reset_index(drop=True)
        found = ((title, rows[(rows["where"] == where) & (rows["kind"] == kind)]) for title, where, kind in kinds)
        return tuple(Gallery(title, self._shown(part)) for title, part in found if len(part))

    def frame(self) -> pd.DataFrame:
        """One row per pair.

        Columns: where (train: both are training samples; validation: the other one is a validation sample), kind
        (exact or near), id and other, label and other_label and conflict (where there are labels), distance; for
        training pairs the information of each (functional, or weight where there is no validation data), that of both
        leaving together, and sum_minus_together, F-SI(i) + F-SI(j) − F-SI({i, j}): near zero for samples that have
        nothing to do with each other, far below zero where each stands in for the other.
        """
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """Distances to the nearest neighbour, and where near-duplicates begin."""
        axes = axes_or_new(ax)
        axes.hist(self.nearest, bins=50)
        axes.axvline(self.near, color="black", linestyle="--", label="near-duplicates are below")
        axes.set(
            xlabel="distance to the nearest other training sample", ylabel="samples", yscale="symlog", xlim=(0, None)
        )
        axes.legend(loc="upper left")
        return axes

    def _shown(self, rows: pd.DataFrame) -> tuple[Shown, ...]:
        shown: list[Shown] = []
        for number in rows.index[:_PICTURES]:
            row, (first, second) = rows.loc[number], self.places[number]
            labels = (row.get("label"), row.get("other_label"))
            said = ["" if np.ndim(label) == 0 and pd.isna(label) else f", {label}" for label in labels]
            shown.append(Shown(int(first), f"{row['id']}{said[0]}"))
            other = f"{row['other']}{said[1]}"
            shown.append(Shown(int(second), other, "train" if row["where"] == "train" else "validation"))
        return tuple(shown)


@takes(scores=SCORES, near=NUMBER, most=WHOLE)
@sharing()
def redundancy(scores: Scores, *, near: float = NEAR, most: int = 1000) -> Redundancy:
    """Duplicates, found where the network sees them: in its kernel space.

    Samples whose distance (see `space`) is no more than rounding are exact duplicates: the network cannot tell them
    apart. Those closer than `near` times the median distance of nearest neighbours are near-duplicates (0.4 was set on
    digits with noise planted; a lower share gives fewer and surer pairs). Of training pairs the information of both
    together is measured: F-SI(i) + F-SI(j) − F-SI({i, j}). No more than the `most` closest pairs are looked at.

    Validation samples are seen as far as training samples reach, so their distances have a median of their own.

    `scores`: as `ui.score` or `ui.load` gives them.

    >>> from uniqueinfo.scoring.arrays import score_features
    >>> from uniqueinfo.training import Converged
    >>> X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> scores = score_features(X, ["a", "b", "b", "a"], X[1:2], ["b"], training=Converged(0.1))
    >>> redundancy(scores).frame()[["where", "kind", "id", "other", "conflict"]]
            where   kind  id  other  conflict
    0       train  exact   0      2      True
    1  validation  exact   1      0     False
    """
    if near < 0:
        raise InputError(f"near: expected a share of at least 0, got {near}")
    if most < 1:
        raise InputError(f"most: expected at least 1 pair, got {most}")
    origin = scores.origin
    points = Points.of_training(origin)
    found = closest_pairs(points, most=most)
    within, near_within = duplicates(found, near)
    names = _Names(scores)
    tables = [_training_table(names, origin, within)]
    places = [np.column_stack([within.first, within.second])]
    near_across, full = None, len(within.first) == most
    if origin.probe is not None:
        across, near_across = duplicates(closest_pairs(Points.of_probe(origin.probe), points, most=most), near)
        tables.append(_across_table(names, origin.probe, across))
        places.append(np.column_stack([across.second, across.first]))
        full = full or len(across.first) == most
    table = pd.concat([part for part in tables if len(part)] or tables[:1], ignore_index=True)
    return Redundancy(
        table,
        np.concatenate(places),
        found.nearest,
        near=near_within,
        near_across=near_across,
        full=full,
    )


def duplicates(pairs: Pairs, near: float) -> tuple[Pairs, float]:
    """Those that are close enough, and how close that is."""
    finite = pairs.nearest[np.isfinite(pairs.nearest)]
    limit = max(near * float(np.median(finite)) if len(finite) else 0.0, EXACT)
    kept = pairs.distance <= limit
    return replace(pairs, first=pairs.first[kept], second=pairs.second[kept], distance=pairs.distance[kept]), limit


def _kinds(distance: Floats) -> list[str]:
    return ["exact" if value <= EXACT else "near" for value in distance]


@dataclass(frozen=True, eq=False)
class _Names:
    """What to call samples and their labels."""

    scores: Scores

    def ids(self, samples: NDArray[np.intp]) -> NDArray[np.generic]:
        return self.scores.names[samples]

    def labels(self, samples: NDArray[np.intp], others: NDArray[np.intp], probe: Probe | None) -> dict[str, object]:
        """Labels of both samples of each pair, and whether they differ; nothing where there are no labels."""
        targets = self.scores.targets
        known = targets if probe is None else None if probe.targets is None else _numpy(probe)
        if self.scores.labels is None or known is None:
            return {}
        differ = (targets[samples] != known[others]).any(axis=1)
        several = LabelPredictions.of(self.scores)
        if several is not None:
            own, other = (present_words(each, several.names) for each in (targets[samples], known[others]))
            return {"label": own, "other_label": other, "conflict": differ}
        classes, given = Predictions.of(self.scores), self.scores.labels[samples]
        label = (
            in_words(targets[samples], classes) if classes is not None else given if given.ndim == 1 else list(given)
        )
        return {"label": label, "other_label": in_words(known[others], classes), "conflict": differ}


def _numpy(probe: Probe) -> Floats:
    assert probe.targets is not None
    found: Floats = probe.targets.flatten(1).cpu().numpy()
    return found


def _training_table(names: _Names, origin: Origin, pairs: Pairs) -> pd.DataFrame:
    measure = "weight" if origin.probe is None else "functional"
    couples = np.column_stack([pairs.first, pairs.second])
    members, place = np.unique(couples, return_inverse=True)
    alone = _information(origin, members[:, None])[place.reshape(-1, 2)]
    together = _information(origin, couples)
    return pd.DataFrame(
        {
            "where": "train",
            "kind": _kinds(pairs.distance),
            "id": names.ids(pairs.first),
            "other": names.ids(pairs.second),
            **names.labels(pairs.first, pairs.second, None),
            "distance": pairs.distance,
            measure: alone[:, 0],
            f"other_{measure}": alone[:, 1],
            "together": together,
            "sum_minus_together": alone.sum(axis=1) - together,
        }
    )


def _information(origin: Origin, groups: NDArray[np.intp]) -> Floats:
    """Of each group leaving together: in the function, or in the weights where there are no validation samples."""
    if len(groups) == 0:
        return np.empty(0)
    found = origin.run.leave_out(groups=groups).measures(origin.probe, progress=True)
    return found.information


def _across_table(names: _Names, probe: Probe, pairs: Pairs) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "where": "validation",
            "kind": _kinds(pairs.distance),
            "id": names.ids(pairs.second),
            "other": probe.names[pairs.first],
            **names.labels(pairs.second, pairs.first, probe),
            "distance": pairs.distance,
        }
    )
