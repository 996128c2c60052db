"""Are duplicates found? Fours and nines of MNIST with copies of some planted among them.

Copies of three kinds: exact, with slight noise (a deviation of .05 of the grey scale in every pixel), and shifted by
one pixel up, down, left or right; as many again are planted in the validation data, as leaks. `redundancy` looks for
them in the kernel space of two networks, each at its start: the paper's MLP and its CNN pretrained on letters. Beside
it, the same rule for the plain cosine distance of pixels. Precision and recall are at the rule's cut-off, average
precision at all of them, among all pairs but those of the other kinds.

The share that the rule takes, 0.4, was chosen on digits of all ten classes with copies planted in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.applications.redundancy import Redundancy, redundancy
from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import MNIST, Dataset, Part, Preparation, Prepared, emnist_cnn, load
from uniqueinfo.experiments.data.pictures import Pixels
from uniqueinfo.experiments.networks import mlp, paper_cnn
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.linearization.network import linearize
from uniqueinfo.linearization.points import Points, closest_pairs
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.arrays import score_features, score_linearization
from uniqueinfo.training import Converged

Bytes = NDArray[np.uint8]

KINDS = ("exact", "noise", "shift")
_NOISE = 0.05
_SHIFTS = ((0, 1), (0, -1), (1, 0), (-1, 0))
_SIZES: dict[str, dict[str, int]] = {
    "small": {"samples": 500, "each": 30, "seed": 1},
    "paper": {"samples": 1000, "each": 100, "seed": 1},
}


@dataclass(frozen=True, eq=False)
class Planted:
    """Training and validation digits with copies at the end of each."""

    train: Part[Pixels]
    val: Part[Pixels]
    sources: NDArray[np.intp]
    """Which training sample each planted one is a copy of, first those in the training, then those in the validation
    data; of each as many exact as noisy as shifted ones."""
    originals: tuple[int, int]
    """How many samples of the training and of the validation data are none of ours."""

    @property
    def each(self) -> int:
        """Copies of one kind in one part."""
        return len(self.sources) // (2 * len(KINDS))

    def pairs(self, kind: str, where: str) -> set[tuple[int, int]]:
        """(training sample, its copy in the training or validation data)."""
        part = 0 if where == "train" else 1
        at = part * len(KINDS) * self.each + KINDS.index(kind) * self.each + np.arange(self.each)
        copies = self.originals[part] + at - part * len(KINDS) * self.each
        return {(int(source), int(copy)) for source, copy in zip(self.sources[at], copies, strict=True)}


def plant(train: Part[Pixels], val: Part[Pixels], each: int, seed: int) -> Planted:
    """Copy training digits, each at most once, to the ends of both parts."""
    rng = np.random.default_rng(seed)
    sources = rng.permutation(len(train))[: 2 * len(KINDS) * each]
    pictures = train.inputs.array[sources]
    kinds = np.tile(np.repeat(KINDS, each), 2)
    copies = np.stack([_copy(picture, kind, rng) for picture, kind in zip(pictures, kinds, strict=True)])
    half = len(KINDS) * each
    parts = [
        Part(
            Pixels(np.concatenate([part.inputs.array, copies[at]])),
            np.concatenate([part.labels, train.labels[sources[at]]]),
            np.concatenate([part.names, np.char.add("copy of ", train.names[sources[at]])]),
        )
        for part, at in ((train, slice(0, half)), (val, slice(half, 2 * half)))
    ]
    return Planted(parts[0], parts[1], sources, (len(train), len(val)))


def run(request: Request) -> Result:
    """Both networks, and pixels."""
    sizes = _SIZES[request.scale]
    data: Dataset[Any] = load("mnist_4v9", request.data)
    train, val = paper.halves(data, sizes["samples"])
    given = plant(train, val, sizes["each"], request.seed + sizes["seed"])
    torch.manual_seed(request.seed)
    letters = Preparation(MNIST.mean, MNIST.deviation, transposed=True)
    scored = {
        "MLP": _network(mlp(), given, MNIST),
        "CNN pretrained on letters": _network(paper_cnn(weights=emnist_cnn(request.data)), given, letters),
        "pixels": _pixels(given),
    }
    found = {name: redundancy(scores, most=5000) for name, scores in scored.items()}
    rows = [
        _row(name, answer, scored[name], given, kind, where)
        for name, answer in found.items()
        for where in ("train", "validation")
        for kind in KINDS
    ]
    table = pd.DataFrame(rows)
    return Result(
        table=table,
        figures={"duplicates": _figure(found, scored, given)},
        claims=_claims(table),
        settings={"samples": sizes["samples"], "copies of each kind": sizes["each"], "noise": _NOISE, "near": 0.4},
        data={"mnist_4v9": data.fingerprint},
        captions={
            "duplicates": "Distances of copies from their originals, and of other training digits from their nearest "
            "neighbour; near-duplicates are left of the dashed line."
        },
    )


def _copy(picture: Bytes, kind: str, rng: np.random.Generator) -> Bytes:
    if kind == "shift":
        shifted: Bytes = np.roll(picture, _SHIFTS[rng.integers(len(_SHIFTS))], axis=(0, 1))
        return shifted
    noise = rng.normal(scale=255 * _NOISE, size=picture.shape) if kind == "noise" else 0.0
    found: Bytes = np.clip(np.round(picture + noise), 0, 255).astype(np.uint8)
    return found


def _network(network: nn.Module, given: Planted, preparation: Preparation) -> Scores:
    parts = [Prepared(part, preparation) for part in (given.train, given.val)]
    linearization = linearize(network, *parts)
    return score_linearization(linearization, linearization.validation, "auto", labels=linearization.labels)


def _pixels(given: Planted) -> Scores:
    flat = (part.inputs.array.reshape(len(part), -1).astype(np.float64) for part in (given.train, given.val))
    X, X_val = (pixels / np.linalg.norm(pixels, axis=1, keepdims=True) for pixels in flat)
    return score_features(X, given.train.labels, X_val, given.val.labels, training=Converged(0.01), head="paper")


def _row(name: str, answer: Redundancy, scores: Scores, given: Planted, kind: str, where: str) -> dict[str, Any]:
    """How well the copies of one kind are found; copies of other kinds count neither as right nor as wrong."""
    true = given.pairs(kind, where)
    other = {pair for one in KINDS if one != kind for pair in given.pairs(one, where)}
    rows = (answer.frame()["where"] == where).to_numpy()
    exact = (answer.frame()["kind"] == "exact").to_numpy()
    named = {(int(a), int(b)) for a, b in answer.places[rows & exact if kind == "exact" else rows]} - other
    return {
        "seen by": name,
        "where": where,
        "kind": kind,
        "planted": len(true),
        "named": len(named),
        "found": len(named & true),
        "precision": len(named & true) / max(len(named), 1),
        "recall": len(named & true) / len(true),
        "average_precision": _average_precision(scores, true, other, where),
    }


def _average_precision(scores: Scores, true: set[tuple[int, int]], other: set[tuple[int, int]], where: str) -> float:
    """Over all pairs, closest first."""
    from sklearn.metrics import average_precision_score

    points, probe = Points.of_training(scores.origin), scores.origin.probe
    assert probe is not None
    if where == "train":
        found = closest_pairs(points, most=points.count**2)
        first, second = found.first, found.second
    else:
        found = closest_pairs(Points.of_probe(probe), points, most=points.count * probe.samples)
        first, second = found.second, found.first
    is_true, is_other = (_within(pairs, first, second) for pairs in (true, other))
    return float(average_precision_score(is_true[~is_other], -found.distance[~is_other]))


def _within(pairs: set[tuple[int, int]], first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
    base = int(second.max()) + 1
    return np.isin(first * base + second, [a * base + b for a, b in pairs])


def _claims(table: pd.DataFrame) -> list[Claim]:
    claims: list[Claim] = []
    for (name, where), rows in table.groupby(["seen by", "where"], sort=False):
        exact = rows[rows["kind"] == "exact"].iloc[0]
        place = "in the training data" if where == "train" else "between training and validation data"
        claims.append(
            Claim(
                f"{name}: exact pairs found {place}, of {exact['planted']}",
                f"{exact['found']}, and {exact['named'] - exact['found']} false",
                holds=bool(exact["found"] == exact["planted"] == exact["named"]),
            )
        )
        claims += [
            Claim(
                f"{name}: copies with {row['kind']} found {place}, average precision",
                row["average_precision"],
                note=f"{name}, {row['kind']}, {where}: {row['named']} pairs are named at the cut-off, of which "
                f"{row['found']} are copies (precision {row['precision']:.2f}, recall {row['recall']:.2f})",
            )
            for row in rows[rows["kind"] != "exact"].to_dict("records")
        ]
    return claims


def _figure(found: dict[str, Redundancy], scored: dict[str, Scores], given: Planted) -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for ax, (name, answer) in zip(figure.subplots(1, 3), found.items(), strict=True):
        bins = np.linspace(0, 1.2, 49).tolist()
        points = Points.of_training(scored[name].origin)
        pairs = closest_pairs(points, most=points.count**2)
        for colour, kind in zip(drawing.COLOURS[1:], KINDS, strict=False):
            copies = _within(given.pairs(kind, "train"), pairs.first, pairs.second)
            ax.hist(pairs.distance[copies], bins=bins, color=colour, alpha=0.7, label=kind)
        others = np.delete(answer.nearest[: given.originals[0]], given.sources)
        ax.hist(others, bins=bins, color="grey", alpha=0.4, label="other digits", zorder=0)
        ax.axvline(answer.near, color="black", linestyle="--", linewidth=1)
        ax.set(title=name, xlabel="distance", ylabel="samples", yscale="symlog")
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure
