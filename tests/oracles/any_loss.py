"""Brute force for any loss: integrate, descend or minimize with and without the samples, by torch's own losses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from torch import Tensor
from torch.nn import functional as F

from uniqueinfo.training import Converged, GradientDescent, Training
from uniqueinfo.types import Floats


def torch_loss(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    """The loss of each sample, (n,), of outputs and targets (n, k)."""

    def found(outputs: Tensor, targets: Tensor) -> Tensor:
        if name == "mse":
            return F.mse_loss(outputs, targets, reduction="none").sum(dim=1) / 2
        if name == "huber":
            return F.huber_loss(outputs, targets, reduction="none").sum(dim=1)
        if name == "poisson":
            return F.poisson_nll_loss(outputs, targets, reduction="none").sum(dim=1)
        if name == "logistic":
            return F.binary_cross_entropy_with_logits(outputs, targets, reduction="none").sum(dim=1)
        if name == "likelihood":
            return outputs[:, 1:].square().sum(dim=1) / 2 - outputs[:, 0]
        if outputs.shape[1] == 1:
            return F.binary_cross_entropy_with_logits(outputs, targets, reduction="none")[:, 0]
        return F.cross_entropy(outputs, targets, reduction="none")

    return found


def weights(J: Floats, targets: Floats, initial: Floats, training: Training, without: Iterable[int] = ()) -> Floats:
    """w − w0 after training f = initial + J w on all samples but these; J is (n, k, D), the others (n, k)."""
    kept = np.setdiff1d(np.arange(len(J)), list(without))
    rows, wanted, start = (torch.from_numpy(array[kept]) for array in (J, targets, initial))
    share = 1 / len(kept) if training.reduction == "mean" else 1.0
    decay: float = training.weight_decay  # type: ignore[attr-defined]
    assert isinstance(training.loss, str)
    loss = torch_loss(training.loss)

    def value(w: Floats) -> tuple[float, Floats]:
        at = torch.from_numpy(w).requires_grad_()
        total = share * loss(start + rows @ at, wanted).sum() + decay / 2 * at.square().sum()
        (gradient,) = torch.autograd.grad(total, at)
        return float(total.detach()), gradient.numpy()

    zero = np.zeros(J.shape[2])
    if isinstance(training, Converged):
        found: Floats = minimize(value, zero, jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 9999}).x
        return _polished(value, found)
    rate: float = training.lr  # type: ignore[attr-defined]
    if isinstance(training, GradientDescent):
        w = zero
        for _ in range(training.steps):
            w = w - rate * value(w)[1]
        return w
    run = solve_ivp(
        lambda _, w: -rate * value(w)[1], (0, training.length), zero, rtol=1e-12, atol=1e-14, method="DOP853"
    )
    end: Floats = run.y[:, -1]
    return end


def _polished(value: Callable[[Floats], tuple[float, Floats]], w: Floats) -> Floats:
    """A few Newton steps with differences for the Hessian: BFGS stops at half of the digits."""
    step = 1e-5
    for _ in range(4):
        columns = [(value(w + step * e)[1] - value(w - step * e)[1]) / (2 * step) for e in np.eye(len(w))]
        w = w - np.linalg.solve(np.stack(columns), value(w)[1])
    return w


def changes(J: Floats, targets: Floats, initial: Floats, training: Training, groups: Sequence[Iterable[int]]) -> Floats:
    """w − w₋ of every group, (groups, D)."""
    full = weights(J, targets, initial, training)
    return np.stack([full - weights(J, targets, initial, training, group) for group in groups])
