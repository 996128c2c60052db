"""Groups inside a class that the labels do not tell: clusters of its most informative samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.points import Points
from uniqueinfo.samples.border import NUMBER, SEED, WHOLE, takes
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.scores.several import NumberPredictions, said_of
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.threads import sharing
from uniqueinfo.types import Floats, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_DIRECTIONS = 20  # of the points that are clustered: the directions in which they differ most
_EACH = 10  # samples of a cluster, about: a small group is told apart from others where clusters are small
_MOST_CLUSTERS = 20  # for people to look at
_MOST_SAMPLES = 3000  # samples of a class that are clustered: the eigendecomposition grows with their cube
_PICTURES = 24  # of each cluster
_SMALLEST_GROUP = 5  # samples; fewer are odd ones, no group

QUESTION = Question(
    "subclasses",
    help="Find under-sampled groups inside a class: clusters of its most informative samples.",
    example="runs/pets --label pet",
    options=(
        Option("label", str, help="Look inside this class alone."),
        Option(
            "share",
            float,
            0.1,
            help="Share of a class that is looked at: its most informative samples.",
            least=0,
            most=1,
        ),
        Option("clusters", int, help="How many groups; else one for every ten samples looked at, 20 at most."),
        Option("seed", int, 0, help="Of the clustering."),
    ),
)


@dataclass(frozen=True, eq=False)
class Cluster:
    """Samples of one class that lie together."""

    label: str
    number: int
    members: Indices
    """Positions in the training data, the most informative first."""
    information: float
    """Their mean."""


@dataclass(frozen=True, eq=False, repr=False)
class Subclasses(Answer):
    """Clusters of the most informative samples of each class, the most informative cluster first."""

    name = "subclasses"
    title = "Which groups inside a class are under-sampled?"

    clusters: tuple[Cluster, ...]
    usual: dict[str, float]
    """For each class, the mean information of all its samples."""
    classes: dict[str, Indices]
    """For each class, all its samples."""
    ids: NDArray[Any]

    @property
    def sentence(self) -> str:
        """Which cluster of more than a few samples tells most, compared with its class."""
        large = [cluster for cluster in self.clusters if len(cluster.members) >= _SMALLEST_GROUP] or self.clusters
        first = max(large, key=lambda cluster: cluster.information / self.usual[cluster.label])
        times = first.information / self.usual[first.label]
        return (
            f"{len(self.clusters)} clusters in {len(self.usual)} {'class' if len(self.usual) == 1 else 'classes'}; the "
            f"members of cluster {first.number} of {first.label} ({len(first.members)}) carry {times:.1f} times "
            "the information of an average sample of their class."
        )

    def galleries(self) -> tuple[Gallery, ...]:
        """The most informative samples of each cluster."""
        return tuple(
            Gallery(
                f"{cluster.label}, cluster {cluster.number}: {len(cluster.members)} samples",
                tuple(Shown(int(at), str(self.ids[at])) for at in cluster.members[:_PICTURES]),
            )
            for cluster in self.clusters
        )

    def frame(self) -> pd.DataFrame:
        """One row per cluster: label, cluster, size, mean information, times_usual (over the class's mean), members."""
        return pd.DataFrame(
            {
                "label": [cluster.label for cluster in self.clusters],
                "cluster": [cluster.number for cluster in self.clusters],
                "size": [len(cluster.members) for cluster in self.clusters],
                "information": [cluster.information for cluster in self.clusters],
                "times_usual": [cluster.information / self.usual[cluster.label] for cluster in self.clusters],
                "members": [", ".join(str(self.ids[at]) for at in cluster.members) for cluster in self.clusters],
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Size and mean information of every cluster, over the mean of its class."""
        axes = axes_or_new(ax)
        for label in self.usual:
            own = [cluster for cluster in self.clusters if cluster.label == label]
            times = [cluster.information / self.usual[label] for cluster in own]
            axes.scatter([len(cluster.members) for cluster in own], times, label=label)
        axes.set(xlabel="samples in the cluster", ylabel="mean information, times that of the class", ylim=(0, None))
        axes.legend(loc="upper right")
        return axes

    def score_against(self, hidden: Any) -> pd.DataFrame:
        """How clusters agree with labels that were not used: one for each training sample.

        For every cluster and hidden value in it: count; purity, the value's share of the cluster; recall, the cluster's
        share of the value (within the class); share, the value's share of the class; and enrichment, purity over
        share. The most enriched comes first.
        """
        values = np.asarray(hidden).astype(str)
        if values.shape != self.ids.shape:
            raise InputError(f"hidden: expected one label for each of the {len(self.ids)} samples, got {values.shape}")
        rows = []
        for cluster in self.clusters:
            everyone, inside = values[self.classes[cluster.label]], values[cluster.members]
            for value in np.unique(inside):
                count, total = int((inside == value).sum()), int((everyone == value).sum())
                purity, share = count / len(inside), total / len(everyone)
                named = {"label": cluster.label, "cluster": cluster.number, "size": len(inside), "hidden": value}
                found = {"purity": purity, "recall": count / total, "share": share, "enrichment": purity / share}
                rows.append({**named, "count": count, **found})
        return pd.DataFrame(rows).sort_values("enrichment", ascending=False, kind="stable", ignore_index=True)


@takes(scores=SCORES, share=NUMBER, clusters=WHOLE, seed=SEED)
@sharing()
def subclasses(
    scores: Scores, label: object = None, *, share: float = 0.1, clusters: int | None = None, seed: int = 0
) -> Subclasses:
    """Clusters among the most informative samples of a class (or of every class).

    A group of which there are few samples is not learnt from others, so its samples carry much information; but so do
    odd samples of any kind. Of the class's samples the `share` with the most information (in the function; in the
    weights where there is no validation data) is taken, each as a point of unit length in the network's kernel
    space, along the twenty directions in which they differ most, and k-means told apart.

    `scores`: as `ui.score` or `ui.load` gives them. `label`: the class; every one where none is named. `clusters`: how
    many; where not given one for every ten samples looked at, from 2 to 20. (As many as the silhouette likes best are
    fewer, and a rare group lies in a large one then: ``python -m benchmarks.subclasses`` tells.) `seed`: of k-means.

    >>> from uniqueinfo.scoring.arrays import score_features
    >>> from uniqueinfo.training import Converged
    >>> rng = np.random.default_rng(0)
    >>> centre = np.repeat([[9, 0, 0], [0, 9, 0], [0, 0, 9]], [100, 12, 100], axis=0)   # the second: few, and far
    >>> X, y = centre + rng.normal(size=(212, 3)), np.repeat(["pet", "pet", "deer"], [100, 12, 100])
    >>> scores = score_features(X, y, X, training=Converged(0.1), head="paper")
    >>> found = subclasses(scores, "pet", share=0.2)
    >>> hidden = np.repeat(["dog", "cat", "deer"], [100, 12, 100])
    >>> found.score_against(hidden)[["cluster", "size", "hidden", "purity", "recall"]].head(1)
       cluster  size hidden  purity    recall
    0        0    10    cat     1.0  0.833333
    """
    if not 0 < share <= 1:
        raise InputError(f"share: expected a share of the samples above 0 and up to 1, got {share}")
    if clusters is not None and clusters < 2:
        raise InputError(f"clusters: expected at least 2, got {clusters}")
    classes = said_of(scores)
    if classes is None or isinstance(classes, NumberPredictions):
        raise InputError(
            "sub-classes are looked for inside classes and labels; these scores are of numbers to predict, of mixed "
            "outputs, or of outputs by a function"
        )
    wanted = None if label is None else str(label)
    if wanted not in (None, *classes.names):
        raise InputError(f"label: there is no class {label!r}; there are {', '.join(classes.names)}")
    information = scores.information
    found: list[Cluster] = []
    usual, members = {}, {}
    for number, name in enumerate(classes.names):
        one = isinstance(classes, Predictions)
        own = np.flatnonzero(classes.given == number if one else classes.given[:, number])  # labels share samples
        if len(own) == 0 or wanted not in (None, name):
            continue
        order = own[np.argsort(-information[own], kind="stable")]
        chosen = order[: min(max(round(share * len(order)), 3), _MOST_SAMPLES)]
        if len(chosen) < 3:
            if wanted is not None:
                raise InputError(f"label: {name} has {len(own)} samples, too few to tell groups apart")
            continue
        assigned = _cluster(_coordinates(scores, chosen), clusters, seed)
        parts = [chosen[assigned == part] for part in np.unique(assigned)]
        parts.sort(key=lambda part: -information[part].mean())
        found += [Cluster(name, at, part, information=float(information[part].mean())) for at, part in enumerate(parts)]
        usual[name], members[name] = float(information[own].mean()), own
    if not found:
        raise InputError("every class has fewer than three samples, too few to tell groups apart")
    return Subclasses(tuple(found), usual, classes=members, ids=scores.names)


def _coordinates(scores: Scores, samples: Indices) -> Floats:
    """Points of unit length, centred, along the directions in which they differ most: (samples, dimensions)."""
    gram = Points.of_training(scores.origin, samples).gram()
    length = gram.diagonal().sqrt().clamp(min=torch.finfo(gram.dtype).tiny)
    cosine = gram / length / length[:, None]
    centred = cosine - cosine.mean(dim=0) - cosine.mean(dim=1, keepdim=True) + cosine.mean()
    values, vectors = torch.linalg.eigh(centred)
    largest = min(_DIRECTIONS, len(samples))
    found: Floats = (vectors[:, -largest:] * values[-largest:].clamp(min=0).sqrt()).cpu().numpy()
    return found


def _cluster(points: Floats, clusters: int | None, seed: int) -> NDArray[np.int64]:
    """The cluster of each point."""
    from sklearn.cluster import KMeans

    distinct = len(np.unique(points.round(6), axis=0))
    wanted = min(max(len(points) // _EACH, 2), _MOST_CLUSTERS) if clusters is None else clusters
    count = min(wanted, len(points) - 1, distinct)
    if count < 2:
        return np.zeros(len(points), dtype=np.int64)
    found: NDArray[np.int64] = KMeans(count, n_init=10, random_state=seed).fit(points).labels_.astype(np.int64)
    return found
