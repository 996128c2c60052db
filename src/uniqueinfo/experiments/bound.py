"""The unique information of a sample and its bound, on a toy problem in two dimensions.

Two classes of 40 points each, Gaussian; linear regression on ±1 without an intercept, by SGD for 200 epochs with
batches of 5 and a rate of 0.1. The paper does not give the Gaussians' means and widths. Here both are 0.8: of 0.5, 0.7,
0.8 and 1.0, which give the most informative point a bound of about 34, 6, 2.9 and 0.9, it is the one nearest to the
paper's 3.0. That our bound is near the paper's is therefore no evidence.

SGD forgets where it began: 40 epochs end where 200 with the same last 40 orders do, up to rounding. Only those 40 are
run.

Both sides of I(W; z_i | S₋ᵢ) ≤ KL(p(w|S) ‖ p(w|S₋ᵢ)) are averages over what the left-out sample could have been: mutual
information is one by definition, and the step that bounds it, KL(p ‖ r) = KL(p ‖ q) − KL(r ‖ q), holds on average only.
So it is estimated for every point tried. Term by term, for the very sample that was left out, there is no such
inequality: one that changes nothing has a KL of 0 and differs from the average all the same. How often it holds so is
told beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from uniqueinfo.experiments.kept import kept
from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.experiments.sgd import shuffled_sgd
from uniqueinfo.information.smoothing import SGD
from uniqueinfo.information.stochastic import ExpectedInformation, StochasticInformation, StochasticTraining
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.progress import progress
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.training import Converged
from uniqueinfo.types import Floats

_POINTS, _MEAN, _WIDTH = 80, 0.8, 0.8
_LR, _BATCH, _EPOCHS = 0.1, 5, 200
_REMEMBERED = 40
"""Epochs after which nothing is left of the weights before them."""
_SIZES: dict[str, dict[str, int]] = {
    "small": {"points_tried": 8, "runs": 2000, "replacements": 200, "runs_each": 50},
    "paper": {"points_tried": _POINTS, "runs": 4000, "replacements": 200, "runs_each": 100},
}


@dataclass(frozen=True)
class _Tried:
    """One left-out point."""

    index: int
    smoothed: float
    exact: float
    found: StochasticInformation
    expected: ExpectedInformation


def run(request: Request) -> Result:
    """Leave out points, those with the most and the least information among them."""
    sizes = _SIZES[request.scale]
    rng = np.random.default_rng(request.seed)
    X, y = _draw(_POINTS, rng)
    replacements = _draw(sizes["replacements"], rng)
    removal = Linearization.from_features(X, y[:, None]).train(Converged()).leave_out()
    smoothing = SGD(_LR, _BATCH)
    smoothed, exact = removal.weight_information(smoothing), removal.weight_information(smoothing, exact=True)
    training = StochasticTraining(
        partial(_trained, work=request.work), X, y, runs=sizes["runs"], stacked=True, seed=request.seed
    )
    with_all = training.weights()
    tried = []
    with progress("Left-out points", sizes["points_tried"], unit="points") as advance:
        for index in _spread(smoothed, sizes["points_tried"]):
            found = training.leave_out(index, replacements, runs_each=sizes["runs_each"], with_it=with_all)
            tried.append(_Tried(index, smoothed[index], exact[index], found, found.expected(request.seed)))
            advance(1)
    tried.sort(key=lambda one: -one.found.bound["gaussian"].value)
    return Result(
        table=pd.DataFrame([_row(one) for one in tried]),
        figures={"bound": _figure(X, y, tried)},
        claims=_claims(tried),
        settings={"lr": _LR, "batch_size": _BATCH, "epochs": _EPOCHS, "epochs_run": _REMEMBERED}
        | {"mean": _MEAN, "width": _WIDTH}
        | sizes,
        captions={
            "bound": "Above and left, the paper's four pictures: the points, with the most informative one ringed, and "
            "the trained weights with it, without it and with others in its place (+: the mean with it). Then "
            "information against its bound, of every sample tried as it is and averaged over replacements."
        },
    )


def _draw(count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    y = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    return _WIDTH * rng.normal(size=(count, 2)) + _MEAN * y[:, None], y


def _trained(X: Floats, y: Floats, rng: np.random.Generator, work: Path | None) -> Floats:
    """Weights of stacked trainings, kept in the work folder, so that a stopped run goes on."""
    told = f"{_LR} {_BATCH} {_REMEMBERED} {rng.bit_generator.state}".encode() + X.tobytes() + y.tobytes()
    train = partial(shuffled_sgd, X, y, rng, lr=_LR, batch_size=_BATCH, epochs=_REMEMBERED)
    return kept(work, "bound", told, train)


def _spread(scores: Floats, count: int) -> list[int]:
    """From the most to the least informative, more of the former."""
    ranks = np.unique(np.geomspace(1, len(scores), 4 * count).round().astype(int)) - 1
    ranks = np.arange(len(scores)) if count == len(scores) else ranks[np.linspace(0, len(ranks) - 1, count).astype(int)]
    return [int(i) for i in np.argsort(-scores)[ranks]]


def _claims(tried: Sequence[_Tried]) -> list[Claim]:
    top = tried[0].found
    assert top.information is not None
    kept = sum(one.expected.slack.value >= 0 for one in tried)
    surely = sum(one.expected.slack.low > 0 for one in tried)
    least = min((one.expected for one in tried), key=lambda found: found.slack.value)
    most = max((one.expected for one in tried), key=lambda found: found.information.value)
    own = [one.found.slack["gaussian"] for one in tried if one.found.slack is not None]
    return [
        Claim.of(
            "the least KL(p(w|S) ‖ p(w|S₋)) − I(W; z | S₋) of all left-out points",
            least.slack,
            paper="≥ 0",
            holds=kept == len(tried),
            note=f"it is 0 or more at {kept} of {len(tried)} points, and its interval lies above 0 at {surely}; where "
            f"it is least, I is {least.information} and KL {least.bound}",
        ),
        Claim.of("the largest I of them", most.information),
        _claim("of the most informative sample itself: KL(p(w|S) ‖ mixture), nats", top.information["gaussian"], 1.3),
        _claim("and KL(p(w|S) ‖ p(w|S₋)), nats", top.bound["gaussian"], 3.0),
        Claim.of(
            "and the second less the first",
            own[0],
            paper="3.0 − 1.3",
            holds=own[0].low > 0,
        ),
        Claim(
            "left-out samples themselves for which the first is not above the second (within the interval)",
            f"{sum(found.high >= 0 for found in own)} of {len(own)}",
            note="no theorem term by term: a sample that changes nothing has a KL of 0 and is unlike the average",
        ),
    ]


def _claim(what: str, found: Interval, paper: float) -> Claim:
    return Claim.of(what, found, paper=paper, note="other points than the paper's")


def _row(one: _Tried) -> dict[str, Any]:
    row: dict[str, Any] = {"index": one.index, "si_sgd": one.smoothed, "si_sgd_exact": one.exact}
    parts = ("bound", "information", "slack")
    named = {f"{part}_{way}": found for part in parts for way, found in getattr(one.found, part).items()}
    named |= {f"expected_{part}": getattr(one.expected, part) for part in parts}
    for name, found in named.items():
        row |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
    return row


def _figure(X: Floats, y: Floats, tried: Sequence[_Tried]) -> Figure:
    """The paper's four pictures for the most informative point, and all points tried."""
    figure = Figure(figsize=(12, 7.5), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    top = tried[0]
    assert top.found.replaced is not None
    _data(axes[0], X, y, top.index)
    clouds = {
        "p(w | S)": top.found.with_it,
        "p(w | S₋ᵢ)": top.found.without_it,
        "E p(w | S₋ᵢ, z')": top.found.replaced.reshape(-1, 2),
    }
    together = np.concatenate(list(clouds.values()))
    low, high = np.quantile(together, [0.001, 0.999], axis=0)
    for ax, (title, cloud) in zip(axes[[1, 2, 3]], clouds.items(), strict=True):
        ax.hist2d(*cloud.T, bins=50, range=np.stack([low, high], axis=1), cmap="Blues")
        ax.plot(*top.found.with_it.mean(axis=0), "+", color="crimson", markersize=12)
        ax.set(title=title, xlabel="$w_1$", ylabel="$w_2$")
    given = [(one.found.bound["gaussian"], one.found.information["gaussian"]) for one in tried if one.found.information]
    _against(axes[4], given, "each sample as it is")
    axes[4].set(xscale="log", yscale="log")
    _against(axes[5], [(one.expected.bound, one.expected.information) for one in tried], "mean over replacements")
    return figure


def _data(ax: Axes, X: Floats, y: Floats, chosen: int) -> None:
    for sign, colour in ((1, "tab:blue"), (-1, "tab:orange")):
        ax.scatter(X[y == sign, 0], X[y == sign, 1], s=18, color=colour, label=f"y = {sign:+d}")
    ax.scatter(
        X[chosen, 0], X[chosen, 1], s=120, facecolors="none", edgecolors="crimson", linewidths=1.5, label="$z_i$"
    )
    ax.set(title="data", xlabel="$x_1$", ylabel="$x_2$")
    ax.legend(frameon=False, loc="upper left")


def _against(ax: Axes, pairs: Sequence[tuple[Interval, Interval]], title: str) -> None:
    """Information over bound, with faint intervals, for they are many; above the line it would exceed its bound."""
    bound, information = (np.array([[f.value, f.low, f.high] for f in part]).T for part in zip(*pairs, strict=True))
    both = np.concatenate([bound, information], axis=1)
    start, reach = 0.9 * max(both[1].min(), 0.01), 1.1 * both[2].max()
    ax.fill_between([start, reach], [start, reach], reach, color="crimson", alpha=0.07, linewidth=0)
    ax.plot([start, reach], [start, reach], color="crimson", linewidth=1)
    spans = [np.abs(part[1:] - part[0]) for part in (bound, information)]
    drawn = ax.errorbar(bound[0], information[0], xerr=spans[0], yerr=spans[1], fmt="o", markersize=3, linewidth=0.6)
    for bars in drawn[2]:
        bars.set_alpha(0.25)
    ax.set(title=title, xlabel="bound, nats", ylabel="I, nats", xlim=(start, reach), ylim=(start, reach))
