"""Weigh what several models say, and find how often labels are wrong, in one likelihood of the given labels.

With opinions S_m(x) (n, k) of models that have not seen the sample, the true class and the given label ỹ are taken to
follow

    p(y | x) = softmax(Σ_m β_m S_m(x) + b),   p(ỹ | x) = Σ_y p(y | x) T[y, ỹ],

and β ≥ 0, b and T are those under which the given labels are likeliest. Nothing else is known of the truth. Then

    p(label wrong | x, ỹ) = 1 − p(ỹ | x) T[ỹ, ỹ] / p(ỹ given | x).

Three kinds of errors T are tried: of one rate for all classes, of one rate for each class, and of a rate for each pair
of classes; that with the least Bayesian information criterion is taken. What T cannot tell from samples that are hard
by nature is taken for these: labels are taken to be as often wrong where a class is easy to see as where it is not.
People err more often on hard samples, so there may be more wrong labels, up to those that are contradicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from uniqueinfo.types import Floats, Indices

Kind = Literal["even", "by class", "by pair"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_STEPS, _FEW = 200, 40
_IMPOSSIBLE = 1e-6  # the least probability that one model may name: it can be wrong
_FIRST_RATE = 0.05
_REDRAWS, _REDRAW_STEPS = 12, 15
_STEEP = 1e-4  # of the mean squared weights: keeps them finite where the opinions are all right
_SHIFT = 0.05  # of squared shifts of the classes: a few samples do not tell how common classes are
_DOUBT = 1.0  # errors that are imagined before the labels are seen, spread over all classes


@dataclass(frozen=True, eq=False)
class Fitted:
    """Weights of opinions, and how labels go wrong."""

    kind: Kind
    classes: int
    parameters: Floats
    deviance: float
    """−2 log p(given labels)."""

    def criterion(self, samples: int) -> float:
        """BIC: what the deviance must gain for one more rate of T grows with log n."""
        return self.deviance + penalty(self.kind, self.classes, samples)


def penalty(kind: Kind, classes: int, samples: int) -> float:
    """What the rates of T cost in deviance: log n each."""
    rates = {"even": 1, "by class": classes, "by pair": classes * (classes - 1)}[kind]
    return rates * float(np.log(samples))


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is believed of each label."""

    wrong: Floats
    """The probability that it is wrong, (n,)."""
    truth: Floats
    """The probability of every class, given what the models and the label say, (n, classes)."""
    clean: Floats
    """The same by what the models say alone."""
    noise: Floats
    """T: of samples of each class (rows), how many are given which label."""
    weights: Floats
    """β of the models."""
    kind: Kind
    counts: Floats
    """How many labels are wrong, for redraws of the samples."""
    contradicted: int
    """Labels that are not what the models find likeliest."""


@dataclass(frozen=True, eq=False)
class Calibrated:
    """One model's outputs read as probabilities."""

    logs: Floats
    """log p(y | x), (n, classes)."""
    deviance: float


def calibrated(outputs: Floats, given: Indices) -> Calibrated:
    """Temperature and shifts under which outputs (n, classes), on any scale, make the given labels likeliest."""
    problem = _Likelihood.of([outputs], given, outputs.shape[1])
    fit = problem.fitted("even", steps=_FEW)
    clean = problem.verdict(fit)[2]
    return Calibrated(np.log(np.maximum(clean, _IMPOSSIBLE)), fit.deviance)


def judge(opinions: Sequence[Floats], given: Indices, classes: int, *, seed: int = 0) -> Verdict:
    """Opinions (n, classes) of models that did not see the sample, on the scale of logarithms of probabilities."""
    problem = _Likelihood.of(opinions, given, classes)
    best = problem.fitted("even")
    for kind in KINDS[1:] if classes > 2 else ("by class",):  # of two classes there is one pair
        if penalty(kind, classes, len(given)) < best.criterion(len(given)):  # else none can be better
            best = min(best, problem.fitted(kind), key=lambda fit: fit.criterion(len(given)))
    wrong, truth, clean, noise, weights = problem.verdict(best)
    rng = np.random.default_rng(seed)
    counts = np.empty(_REDRAWS)
    for draw in range(_REDRAWS):
        redrawn = torch.from_numpy(rng.multinomial(len(given), np.full(len(given), 1 / len(given))).astype(np.float64))
        other = problem.verdict(problem.fitted(best.kind, redrawn, best.parameters, steps=_REDRAW_STEPS))[0]
        counts[draw] = (rng.random(len(given)) < other).sum()
    contradicted = int((clean.argmax(axis=1) != given).sum())
    return Verdict(wrong, truth, clean, noise, weights, best.kind, counts, contradicted)


@dataclass(frozen=True, eq=False)
class _Likelihood:
    opinions: Tensor
    given: Tensor
    classes: int

    @classmethod
    def of(cls, opinions: Sequence[Floats], given: Indices, classes: int) -> _Likelihood:
        labels = torch.from_numpy(np.asarray(given, dtype=np.int64))
        return cls(torch.from_numpy(np.stack(opinions)), labels, classes)

    def fitted(
        self, kind: Kind, drawn: Tensor | None = None, start: Floats | None = None, *, steps: int = _STEPS
    ) -> Fitted:
        """The likeliest parameters; `drawn`: how often each sample counts."""
        models, samples, classes = self.opinions.shape
        weight = torch.ones(samples, dtype=torch.float64) if drawn is None else drawn
        if start is None:
            rates = np.full(_rates(kind, classes), np.log(_FIRST_RATE / (1 - _FIRST_RATE)))
            spread = np.zeros(_free(kind, classes) - len(rates))
            start = np.concatenate([np.full(models, 1 / models), np.zeros(classes), rates, spread])

        def loss(point: Floats) -> tuple[float, Floats]:
            free = torch.from_numpy(point).requires_grad_()
            _, given, T = self._model(kind, free)
            # β and b stay finite; rates stay off 0 by a handful of imagined errors
            likelihood = (weight * given.log()).sum() + _DOUBT * (1 - T.diagonal()).log().mean()
            tame = (
                _STEEP * samples * free[:models].square().mean()
                + _SHIFT * free[models : models + classes].square().sum()
            )
            total = (tame - likelihood) / samples
            (slope,) = torch.autograd.grad(total, free)
            return float(total.detach()), slope.numpy()

        bounds = [(0.0, None)] * models + [(None, None)] * classes + [(-9.0, 2.0)] * _rates(kind, classes)
        bounds += [(-8.0, 8.0)] * (len(start) - len(bounds))
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps})
        with torch.no_grad():
            _, given, _ = self._model(kind, torch.from_numpy(found.x))
        return Fitted(kind, classes, found.x, float(-2 * (weight * given.log()).sum()))

    def verdict(self, fit: Fitted) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Whether labels are wrong, p(y | x, ỹ), p(y | x), T and β."""
        with torch.no_grad():
            clean, given, T = self._model(fit.kind, torch.from_numpy(fit.parameters))
            truth = clean * T.T[self.given] / given[:, None]
        own = torch.take_along_dim(truth, self.given[:, None], dim=1)[:, 0]
        return (
            (1 - own).clamp(0, 1).numpy(),
            truth.numpy(),
            clean.numpy(),
            T.numpy(),
            fit.parameters[: len(self.opinions)],
        )

    def _model(self, kind: Kind, free: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """p(y | x), p(ỹ | x) of the given labels, and T."""
        models, _, classes = self.opinions.shape
        raised = torch.tensordot(free[:models], self.opinions, dims=1) + free[models : models + classes]
        clean = torch.softmax(raised, dim=1)
        T = self._noise(kind, free[models + classes :])
        given = (clean * T.T[self.given]).sum(dim=1).clamp_min(1e-300)
        return clean, given, T

    def _noise(self, kind: Kind, free: Tensor) -> Tensor:
        """T, with the wrong labels of each class spread over the others."""
        classes = self.classes
        same = torch.eye(classes, dtype=torch.bool)
        rate = torch.sigmoid(free[: _rates(kind, classes)]).expand(classes)[:, None]
        towards = free.new_zeros(classes, classes)
        if kind == "by pair":
            towards = free[classes:].reshape(classes, classes)
        spread = torch.softmax(towards.masked_fill(same, -torch.inf), dim=1)
        return torch.where(same, 1 - rate, rate * spread)


def _rates(kind: Kind, classes: int) -> int:
    return 1 if kind == "even" else classes


def _free(kind: Kind, classes: int) -> int:
    return classes + classes**2 if kind == "by pair" else _rates(kind, classes)
