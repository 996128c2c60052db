"""Does a rare sub-class carry more information, and can it be found by it? Cats among the pets of Pets against Deer.

4000 deer against 4000 dogs and 200 cats, of which the labels say only that they are pets. The paper trains a whole
ResNet-18; here a linear head with an intercept on its frozen features, with the paper's time and rate and with the
automatic ones, and validates on CIFAR's own test pictures, 1000 of each animal.

The number of directions that `subclasses` looks along and the share of samples it takes were chosen with the first 200
cats in sight: of shares .1, .15 and .25 and of 5, 10, 20 and 50 directions a cluster had five times the cats' share
for the first two shares with up to 20 directions, and never for the last. The other draws put 200 cats that
were not looked at in their place, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from uniqueinfo.applications.subclasses import Subclasses, subclasses
from uniqueinfo.experiments import drawing, paper
from uniqueinfo.experiments.data import Dataset, Part, animals, features, load
from uniqueinfo.experiments.intervals import ratio_of_means
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.seeds import over_seeds
from uniqueinfo.scores import Scores
from uniqueinfo.scoring import score_features

Floats = NDArray[np.float64]

_TRAINED = {"paper's": paper.training(0.0001, 10_000), "automatic": "auto"}
_WANTED = 5.0
"""How many times the cats' share of the pets a cluster should have."""
_SIZES: dict[str, dict[str, int]] = {"small": {"pixels": 96, "draws": 5}, "paper": {"pixels": 224, "draws": 5}}


@dataclass(frozen=True, eq=False)
class _Draw:
    """One choice of cats, scored."""

    number: int
    training: str
    scores: Scores
    animal: NDArray[np.str_]
    found: Subclasses

    @property
    def best(self) -> pd.Series[Any]:
        """The cluster with the largest share of cats, over their share of the pets."""
        table = self.found.score_against(self.animal)
        return table[table["hidden"] == "cat"].iloc[0]

    def information(self, animal: str) -> Floats:
        """F-SI of one animal."""
        assert self.scores.functional is not None
        found: Floats = self.scores.functional[self.animal == animal]
        return found

    def row(self) -> dict[str, Any]:
        """For the table."""
        best, ratio = self.best, ratio_of_means(self.information("cat"), self.information("dog"))
        means = {f"mean_{animal}": float(self.information(animal).mean()) for animal in ("deer", "dog", "cat")}
        measured = {name: best[name] for name in ("size", "count", "purity", "recall", "share", "enrichment")}
        taken = np.concatenate([cluster.members for cluster in self.found.clusters])
        return {
            "draw": self.number,
            "training": self.training,
            **means,
            "cats_over_dogs": ratio.value,
            "cats_over_dogs_low": ratio.low,
            "cats_over_dogs_high": ratio.high,
            "clusters": len(self.found.clusters),
            **measured,
            "enrichment_unclustered": float((self.animal[taken] == "cat").mean()) / best["share"],
        }


def run(request: Request) -> Result:
    """Every draw of cats, scored and clustered."""
    sizes = _SIZES[request.scale]
    data: Dataset[Any] = load("pets_vs_deer", request.data)
    network, preparation = RESNET18.features(request, sizes["pixels"]), RESNET18.preparation(sizes["pixels"])
    seen = {name: _with_ones(features(network, part, preparation, request.work)) for name, part in data.parts.items()}
    drawn = [
        _score(number, training, data, seen, request.seed) for number in range(sizes["draws"]) for training in _TRAINED
    ]
    table = pd.DataFrame([draw.row() for draw in drawn])
    return Result(
        table=table,
        figures={"subclasses": _figure(drawn, data["train"])},
        claims=_claims(drawn, table),
        settings={**sizes, "features": "ResNet-18, frozen", "deer": 4000, "dogs": 4000, "cats": 200, "lr": 0.0001}
        | {"time": 10_000},
        data={"pets_vs_deer": data.fingerprint},
        captions={
            "subclasses": "Information of deer, dogs and cats with the paper's time and rate; the most informative "
            "members of the cluster with the largest share of cats, cats framed; and how many times the cats' share of "
            "the pets it holds, for each draw of cats."
        },
    )


def _with_ones(seen: NDArray[np.float32]) -> Floats:
    return np.column_stack([seen.astype(np.float64), np.ones(len(seen))])


def _score(number: int, training: str, data: Dataset[Any], seen: dict[str, Floats], seed: int) -> _Draw:
    """Draw 0 has the cats of the training data, the others 200 further cats each, as far as they last."""
    X, animal, labels = seen["train"], animals(data["train"]), data["train"].labels
    cats = np.flatnonzero(animal == "cat")
    if number:
        X = X.copy()
        X[cats] = seen["extra"][(number - 1) * len(cats) : number * len(cats)]
    names = np.array(data.classes)
    how: Any = _TRAINED[training]
    scores = score_features(X, names[labels], seen["test"], names[data["test"].labels], training=how)
    return _Draw(number, training, scores, animal, subclasses(scores, "pet", seed=seed))


def _claims(drawn: list[_Draw], table: pd.DataFrame) -> list[Claim]:
    claims = []
    for training in _TRAINED:
        first = next(draw for draw in drawn if draw.training == training)
        own = table[table["training"] == training]
        dogs, deer = (ratio_of_means(first.information("cat"), first.information(name)) for name in ("dog", "deer"))
        best, over = first.best, over_seeds(own["enrichment"])
        after = f", {training} time and rate"
        claims += [
            Claim(
                f"mean information of cats over that of dogs{after}",
                dogs.value,
                dogs.low,
                dogs.high,
                paper="above 1",
                holds=dogs.low > 1,
            ),
            Claim(f"mean information of cats over that of deer{after}", deer.value, deer.low, deer.high, "above 1"),
            Claim(
                f"cats in the best cluster, times their share of the pets{after}",
                float(best["enrichment"]),
                holds=bool(best["enrichment"] >= _WANTED),
                note=f"{best['count']} cats among {best['size']} pets: purity {best['purity']:.2f}, recall "
                f"{best['recall']:.2f}; without clustering, the most informative tenth has "
                f"{own.iloc[0]['enrichment_unclustered']:.1f} times their share",
            ),
            Claim(
                f"the same with {len(own) - 1} other draws of 200 cats each, and this one: mean{after}",
                over.value,
                over.low,
                over.high,
                holds=bool((own["enrichment"] >= _WANTED).all()),
                note=f"each: {', '.join(f'{value:.1f}' for value in own['enrichment'])}; holds if all are at least "
                f"{_WANTED:g}",
            ),
        ]
    return claims


def _figure(drawn: list[_Draw], train: Part[Any]) -> Figure:
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=[3, 1.3])
    upper, lower = halves
    left, right = upper.subplots(1, 2)
    first = drawn[0]
    drawing.histogram(left, {name: first.information(name) for name in ("deer", "dog", "cat")}, density=True)
    for colour, training in zip(drawing.COLOURS, _TRAINED, strict=False):
        own = [draw for draw in drawn if draw.training == training]
        place = np.arange(len(own)) + 0.4 * list(_TRAINED).index(training)
        right.bar(place, [draw.best["enrichment"] for draw in own], 0.4, color=colour, label=f"{training} training")
    right.axhline(_WANTED, color="black", linestyle="--", linewidth=1)
    right.set(xlabel="draw of cats", ylabel="cats in the best cluster,\ntimes their share of the pets")
    right.set_xticks(np.arange(len(own)) + 0.2, [str(draw.number) for draw in own])
    right.legend(frameon=False, fontsize=8)
    right.spines[["top", "right"]].set_visible(False)
    members = first.found.clusters[int(first.best["cluster"])].members[:12]
    is_cat = [bool(first.animal[at] == "cat") for at in members]
    title = f"The cluster with most cats: {first.best['count']} of {first.best['size']} are"
    pictures = [train.inputs[int(at)] for at in members]
    drawing.row_of_pictures(lower, title, pictures, [str(first.animal[at]) for at in members], is_cat)
    return figure
