"""What a sample tells the weights of stochastic training: train many times, with and without it.

For training whose result is random (batches, initialization, dropout) information needs no smoothing. With p(w|S) the
distribution of the trained weights,

    the bound           KL(p(w|S) ‖ p(w|S₋ᵢ))
    the information     I(W; z_i | S₋ᵢ) = KL(p(w|S) ‖ r),    r(w) = E over z' of p(w | S₋ᵢ ∪ {z'}),

both estimated from trained weights: by Gaussians (one for each distribution; in r one for each replacement z'), or by
distances to nearest neighbours, which assume nothing about the shape. On average over z_i the information is at most
the bound, and the difference is KL(r ‖ p(w|S₋ᵢ)). For one given z_i this need not hold: a sample that changes nothing
has a bound of 0, and the weights still tell that no stranger stood in its place.

For small problems: a few weights, and training that can be run thousands of times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.information.stochastic.divergence import (
    gaussian_divergence,
    gaussian_divergences,
    intervals,
    knn_divergence,
    mixture_divergence,
    mixture_information,
)
from uniqueinfo.samples.border import FLAG, FUNCTION, SEED, SEVERAL, WHOLE, check_fields
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats

Train = Callable[[Any, Any, np.random.Generator], Any]
Method = Literal["gaussian", "knn"]

_STACK = 4096  # data sets handed to a stacked training at once


@dataclass(frozen=True, eq=False)
class StochasticInformation:
    """Trained weights with a sample, without it and with others in its place, and what they say, in nats."""

    bound: Mapping[Method, Interval]
    """KL(p(w|S) ‖ p(w|S₋ᵢ))."""
    information: Mapping[Method, Interval] | None
    """I(W; z_i | S₋ᵢ); None where no replacements were given."""
    slack: Mapping[Method, Interval] | None
    """Bound − information, estimated together, so that errors they share cancel."""
    with_it: Floats
    """Weights trained on all samples, (runs, d)."""
    without_it: Floats
    """Weights trained on the others, (runs, d)."""
    replaced: Floats | None
    """Weights trained with each replacement, (replacements, runs of each, d)."""

    def expected(self, seed: int = 0) -> ExpectedInformation:
        """Both averaged over the replacements, by Gaussians: of these the bound surely holds."""
        if self.replaced is None:
            raise InputError("the expected information needs replacements: hand some to leave_out")
        found = intervals(_averages, (self.without_it, self.replaced), np.random.default_rng(seed))
        return ExpectedInformation(*found)


@dataclass(frozen=True)
class ExpectedInformation:
    """I(W; Z_i | S₋ᵢ) with Z_i still to be drawn, its bound E KL(p(w|S₋ᵢ, z') ‖ p(w|S₋ᵢ)), and their difference."""

    bound: Interval
    information: Interval
    slack: Interval


@dataclass(frozen=True, eq=False)
class StochasticTraining:
    """A training function with its data, to be run many times.

    `train(X, y, rng)` trains on arrays of samples, with randomness from a numpy generator, and returns the weights.
    With `stacked=True` it is handed many data sets at once, (sets, n, …), and returns weights (sets, d): much faster
    where trainings can run side by side.

    >>> def noisy_mean(X, y, rng):
    ...     return y.mean() + 0.1 * rng.normal(size=1)
    >>> y = np.array([0.0, 0.0, 0.0, 1.0])
    >>> bound = StochasticTraining(noisy_mean, np.zeros((4, 1)), y, runs=2000).leave_out(3).bound["gaussian"]
    >>> bound.low < 3.125 < bound.high  # σ = 0.1 with and without it, and the mean moves by ¼: ½ (0.25/0.1)²
    True
    """

    train: Train
    """The training function."""
    X: Any
    """Inputs, one for each sample."""
    y: Any
    """Their labels."""
    runs: int = 1000
    """How often it is run for each distribution."""
    stacked: bool = False
    seed: int = 0
    """Of the runs' own generators."""

    def __post_init__(self) -> None:
        check_fields(self, train=FUNCTION, X=SEVERAL, y=SEVERAL, runs=WHOLE, stacked=FLAG, seed=SEED)
        if len(self.X) != len(self.y) or len(self.X) < 2:
            raise InputError(f"X, y: expected as many of each, and at least 2; got {len(self.X)} and {len(self.y)}")
        if self.runs < 20:
            raise InputError(f"runs: a distribution needs at least 20, got {self.runs}")

    def weights(self) -> Floats:
        """Trained on all samples, (runs, d)."""
        return self._trained([(np.asarray(self.X), np.asarray(self.y))] * self.runs, stream=0)

    def leave_out(
        self,
        index: int,
        replacements: tuple[Any, Any] | None = None,
        *,
        runs_each: int = 64,
        with_it: Floats | None = None,
    ) -> StochasticInformation:
        """Leave out the sample at `index`; `replacements` (X', y') are draws of what could have stood in its place.

        Each replacement is trained with `runs_each` times. `with_it` hands over what `weights` gave, so that training
        on all samples is not run again for every sample left out.
        """
        X, y = np.asarray(self.X), np.asarray(self.y)
        if not 0 <= index < len(X):
            raise InputError(f"index: there are samples 0 … {len(X) - 1}, got {index}")
        p = self.weights() if with_it is None else with_it
        rest = (np.delete(X, index, axis=0), np.delete(y, index, axis=0))
        q = self._trained([rest] * self.runs, stream=1 + index)
        rng = np.random.default_rng([self.seed, index])
        if replacements is None:
            found = {name: intervals(method, (p, q), rng) for name, method in _METHODS.items()}
            return StochasticInformation({name: bound for name, [bound] in found.items()}, None, None, p, q, None)
        sets = [_replaced(X, y, index, *new) for new in zip(*replacements, strict=True)]
        flat = self._trained([one for one in sets for _ in range(runs_each)], stream=1 + len(X) + index)
        r = flat.reshape(len(sets), runs_each, -1)
        found = {name: intervals(method, (p, q, r), rng) for name, method in _METHODS.items()}
        bound, information, slack = ({name: three[part] for name, three in found.items()} for part in range(3))
        return StochasticInformation(bound, information, slack, p, q, r)

    def _trained(self, sets: Sequence[tuple[Any, Any]], stream: int) -> Floats:
        """One training for each data set; every run has its own randomness, whatever else is run."""
        step = _STACK if self.stacked else 1
        found = []
        for start in range(0, len(sets), step):
            rng = np.random.default_rng([self.seed, stream, start])
            if self.stacked:
                X, y = (np.stack(part) for part in zip(*sets[start : start + step], strict=True))
                found.append(np.asarray(self.train(X, y, rng), dtype=np.float64))
            else:
                found.append(np.ravel(np.asarray(self.train(*sets[start], rng), dtype=np.float64))[None])
        weights = np.concatenate(found)
        if weights.ndim != 2 or len(weights) != len(sets):
            raise InputError(f"train: expected weights ({len(sets)}, d) of {len(sets)} runs, got {weights.shape}")
        if not np.isfinite(weights).all():
            raise InputError("train: a run ended with NaN or infinite weights; lower the learning rate")
        return weights


def _by_gaussians(p: Floats, q: Floats, r: Floats | None = None) -> list[float]:
    """The bound; and, given draws of the mixture's parts, the information and the difference."""
    bound = gaussian_divergence(p, q)
    return [bound] if r is None else [bound, (found := mixture_divergence(p, r)), bound - found]


def _by_neighbours(p: Floats, q: Floats, r: Floats | None = None) -> list[float]:
    """The same; the draws of all parts together are draws of the mixture."""
    bound = knn_divergence(p, q)
    return [bound] if r is None else [bound, (found := knn_divergence(p, r.reshape(-1, p.shape[1]))), bound - found]


def _averages(q: Floats, r: Floats) -> list[float]:
    """The expected bound, the expected information and the difference, KL(r ‖ q)."""
    bound = float(gaussian_divergences(r, q).mean())
    return [bound, (found := mixture_information(r)), bound - found]


_METHODS: dict[Method, Callable[..., list[float]]] = {"gaussian": _by_gaussians, "knn": _by_neighbours}


def _replaced(X: NDArray[Any], y: NDArray[Any], index: int, x_new: Any, y_new: Any) -> tuple[Any, Any]:
    X, y = X.copy(), y.copy()
    X[index], y[index] = x_new, y_new
    return X, y
