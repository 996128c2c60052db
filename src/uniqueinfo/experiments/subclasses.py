"""Does a rare sub-class carry more information, and can it be found by it? Cats among the pets of Pets against Deer.

4000 deer against 4000 dogs and 200 cats, of which the labels say only that they are pets; CIFAR's own test pictures,
1000 of each animal, validate. As in the paper, the whole ResNet-18 is linearized, with some coordinates of each
parameter. Pictures are enlarged fivefold; the paper does not say how far it does so. At small scale they are enlarged
threefold, and the whole network sees some 3000 of them. Beside it stands its last layer alone, with an intercept, on
frozen features, with the paper's time and rate and with the automatic ones, for several draws of cats.

The number of directions that `subclasses` looks along and the share of samples it takes were chosen with the first 200
cats in sight: of shares .1, .15 and .25 and of 5, 10, 20 and 50 directions a cluster had five times the cats' share
for the first two shares with up to 20 directions, and never for the last. The other draws put 200 cats that
were not looked at in their place, and nothing else. How many clusters there are is chosen by their size since all draws
had been seen, where the silhouette had liked two large ones; 16 problems of digits and letters say the same
(``python -m benchmarks.subclasses``).
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
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.seeds import over_seeds
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.arrays import score_features, score_linearization
from uniqueinfo.statistics.bootstrap import ratio_of_means
from uniqueinfo.types import Floats

_LR, _STEPS = 0.0001, 10_000
_TRAINED = {"paper's": paper.training(_LR, _STEPS), "automatic": "auto"}
_WHOLE, _LAST = "ResNet-18", "last layer alone"
_BOOTSTRAP = "95 % bootstrap over the samples of both"
_WANTED = 5.0
"""How many times the cats' share of the pets a cluster should have."""
_SIZES: dict[str, dict[str, int]] = {
    "small": {"pictures": 3000, "validation": 400, "pixels": 96, "per_layer": 500, "draws": 5},
    "paper": {"pictures": 8200, "validation": 3000, "pixels": 160, "per_layer": 2000, "draws": 5},
}


@dataclass(frozen=True, eq=False)
class _Draw:
    """One choice of cats, scored by one network."""

    number: int
    network: str
    training: str
    scores: Scores
    animal: NDArray[np.str_]
    found: Subclasses

    @property
    def best(self) -> pd.Series[Any]:
        """The cluster with the largest share of cats, over their share of the pets."""
        table = self.found.score_against(self.animal)
        return table[table["hidden"] == "cat"].iloc[0]

    @property
    def title(self) -> str:
        return f"{self.network}, {self.training} time and rate"

    @property
    def unclustered(self) -> float:
        """The cats' share of all that was clustered, over their share of the pets."""
        taken = np.concatenate([cluster.members for cluster in self.found.clusters])
        return float((self.animal[taken] == "cat").mean() / self.best["share"])

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
        return {
            "draw": self.number,
            "network": self.network,
            "training": self.training,
            **means,
            "cats_over_dogs": ratio.value,
            "cats_over_dogs_low": ratio.low,
            "cats_over_dogs_high": ratio.high,
            "clusters": len(self.found.clusters),
            **measured,
            "enrichment_unclustered": self.unclustered,
        }


def run(request: Request) -> Result:
    """The whole network, and every draw of cats by its last layer, scored and clustered."""
    sizes = _SIZES[request.scale]
    data: Dataset[Any] = load("pets_vs_deer", request.data)
    train, test = data["train"].draw(sizes["pictures"]), data["test"].draw(sizes["validation"])
    whole = _whole(train, test, data, request)
    network, preparation = RESNET18.features(request, sizes["pixels"]), RESNET18.preparation(sizes["pixels"])
    seen = {name: _with_ones(features(network, part, preparation, request.work)) for name, part in data.parts.items()}
    drawn = [
        _last(number, training, data, seen, request.seed) for number in range(sizes["draws"]) for training in _TRAINED
    ]
    table = pd.DataFrame([draw.row() for draw in (whole, *drawn)])
    return Result(
        table=table,
        figures={"subclasses": _figure(whole, drawn, train)},
        claims=[*_carry(whole, "above 1"), _clustered(whole), *_last_claims(drawn)],
        settings={**sizes, "cats": int((whole.animal == "cat").sum()), "lr": _LR, "time": _STEPS, "reduction": "mean"},
        data={"pets_vs_deer": data.fingerprint},
        captions={
            "subclasses": "Information of deer, dogs and cats under the whole network; how many times the cats' share "
            "of the pets the cluster with most cats holds, by the last layer, for each draw of cats; and the most "
            "informative members of that cluster of the whole network, cats framed."
        },
    )


def _whole(train: Part[Any], test: Part[Any], data: Dataset[Any], request: Request) -> _Draw:
    sizes = _SIZES[request.scale]
    network, preparation = RESNET18.build(request, 1, sizes["pixels"]), RESNET18.preparation(sizes["pixels"])
    known = paper.linearized(network, train, test, preparation, sizes["per_layer"], request.work)
    scores = score_linearization(
        known,
        known.validation,
        paper.training(_LR, _STEPS),
        labels=train.labels,
        settings={"classes": list(data.classes)},
    )
    found = subclasses(scores, "pet", seed=request.seed)
    return _Draw(0, _WHOLE, "paper's", scores, animals(train), found)


def _with_ones(seen: NDArray[np.float32]) -> Floats:
    return np.column_stack([seen.astype(np.float64), np.ones(len(seen))])


def _last(number: int, training: str, data: Dataset[Any], seen: dict[str, Floats], seed: int) -> _Draw:
    """Draw 0 has the cats of the training data, the others 200 further cats each, as far as they last."""
    X, animal, labels = seen["train"], animals(data["train"]), data["train"].labels
    cats = np.flatnonzero(animal == "cat")
    if number:
        X = X.copy()
        X[cats] = seen["extra"][(number - 1) * len(cats) : number * len(cats)]
    names = np.array(data.classes)
    how: Any = _TRAINED[training]
    tested = names[data["test"].labels]
    scores = score_features(X, names[labels], seen["test"], tested, training=how, head="paper")
    return _Draw(number, _LAST, training, scores, animal, subclasses(scores, "pet", seed=seed))


def _last_claims(drawn: list[_Draw]) -> list[Claim]:
    claims = []
    for training in _TRAINED:
        own = [draw for draw in drawn if draw.training == training]
        found = [float(draw.best["enrichment"]) for draw in own]
        over = over_seeds(found)
        claims += [
            *_carry(own[0], None),
            _clustered(own[0]),
            Claim.of(
                f"{own[0].title}: the same, mean of this and {len(own) - 1} other draws of 200 cats each",
                over,
                holds=min(found) >= _WANTED,
                note=f"each: {', '.join(f'{value:.1f}' for value in found)}; holds if all are at least {_WANTED:g}",
            ),
        ]
    return claims


def _carry(draw: _Draw, expected: str | None) -> list[Claim]:
    """Cats against either other animal; the paper claims that they carry more than dogs, of the same label."""
    claims = []
    for other in ("dog", "deer"):
        found = ratio_of_means(draw.information("cat"), draw.information(other))
        what = f"{draw.title}: mean information of cats over that of {'dogs' if other == 'dog' else other}"
        holds = found.low > 1 if other == "dog" else None
        claims.append(Claim.of(what, found, paper=expected, holds=holds, note=_BOOTSTRAP))
    return claims


def _clustered(draw: _Draw) -> Claim:
    best = draw.best
    return Claim(
        f"{draw.title}: cats in the best cluster, times their share of the pets",
        float(best["enrichment"]),
        holds=bool(best["enrichment"] >= _WANTED),
        note=f"{best['count']} cats among {best['size']} pets: purity {best['purity']:.2f}, recall "
        f"{best['recall']:.2f}; without clustering, the most informative tenth has "
        f"{draw.unclustered:.1f} times their share; holds if at least {_WANTED:g}, a bound of ours",
    )


def _figure(whole: _Draw, drawn: list[_Draw], train: Part[Any]) -> Figure:
    figure = Figure(figsize=(10, 6.4), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=[3, 1.3])
    upper, lower = halves
    left, right = upper.subplots(1, 2)
    drawing.histogram(left, {name: whole.information(name) for name in ("deer", "dog", "cat")}, density=True)
    left.set_title(f"{_WHOLE}, all layers", loc="left", fontsize=11)
    right.set_title("Its last layer", loc="left", fontsize=11)
    for colour, training in zip(drawing.COLOURS, _TRAINED, strict=False):
        own = [draw for draw in drawn if draw.training == training]
        place = np.arange(len(own)) + 0.4 * list(_TRAINED).index(training)
        right.bar(place, [draw.best["enrichment"] for draw in own], 0.4, color=colour, label=f"{training} training")
    right.axhline(_WANTED, color="black", linestyle="--", linewidth=1)
    right.set(xlabel="draw of cats", ylabel="cats in the best cluster,\ntimes their share of the pets")
    right.set_xticks(np.arange(len(own)) + 0.2, [str(draw.number) for draw in own])
    right.legend(frameon=False, fontsize=8, loc="upper left")
    right.spines[["top", "right"]].set_visible(False)
    members = whole.found.clusters[int(whole.best["cluster"])].members[:12]
    is_cat = [bool(whole.animal[at] == "cat") for at in members]
    title = f"The cluster with most cats, all layers: {whole.best['count']} of {whole.best['size']} are"
    pictures = [train.inputs[int(at)] for at in members]
    drawing.row_of_pictures(lower, title, pictures, [str(whole.animal[at]) for at in members], is_cat)
    return figure
