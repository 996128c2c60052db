"""Scores people know that need no inverse: losses, gradients, and how both went during training."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.baselines.passes import Passes, passes
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import exact_kernels
from uniqueinfo.memory import as_bytes
from uniqueinfo.progress import progress as bar
from uniqueinfo.types import Floats

Checkpoint = Mapping[str, Tensor]
"""What `model.state_dict()` gave at some time in training (a copy: the tensors it gives go on being trained)."""


def training_loss(model: nn.Module, train: Any) -> Floats:
    """½‖f(xᵢ) − yᵢ‖² of every sample.

    >>> model = nn.Linear(1, 1, bias=False)
    >>> model.weight.data.fill_(1.0)
    tensor([[1.]])
    >>> training_loss(model, (torch.tensor([[1.0], [3.0]]), torch.tensor([1.0, 1.0])))
    array([0., 2.])
    """
    with passes(model, train) as (given,):
        found: Floats = np.square(given.misfit).sum(axis=1) / 2
    return found


def el2n(model: nn.Module, train: Any, *, softmax: bool = False) -> Floats:
    """‖p(xᵢ) − yᵢ‖ (Paul, Ganguli & Dziugaite 2021), usually early in training and averaged over a few networks.

    p are the outputs, which the squared error trains towards yᵢ, or the softmax of several, for networks trained by
    cross entropy.
    """
    with passes(model, train) as (given,):
        if not softmax:
            return _norms(given.misfit)
        outputs = given.outputs
        if outputs.shape[1] == 1:
            raise InputError("el2n: the softmax of one output is always 1; leave softmax=False")
        power = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return _norms(power / power.sum(axis=1, keepdims=True) - given.samples.targets(outputs.shape[1]))


def gradient_norm(model: nn.Module, train: Any) -> Floats:
    """‖∇½‖f(xᵢ) − yᵢ‖²‖ of every sample, by all trainable parameters (GraNd, Paul, Ganguli & Dziugaite 2021)."""
    with passes(model, train) as (given,):
        found: Floats = np.sqrt(_squared_gradients(given))
    return found


def forgetting(model: nn.Module, checkpoints: Sequence[Checkpoint], train: Any) -> Floats:
    """How often each sample went from right to wrong between checkpoints (Toneva et al. 2019).

    Infinite for those that were never right. One output is right on its label's side of ½, several where the label's
    is the largest.
    """
    right = []
    for network, _ in _visited(model, checkpoints, "Forgetting", show=False):
        with passes(network, train) as (given,):
            targets = given.samples.targets(given.outputs.shape[1])
            if given.samples.labels is None or given.samples.labels.dtype.kind == "f":
                raise InputError("forgetting: labels must be integers, one for each class, not real numbers")
            single = targets.shape[1] == 1
            right.append(
                (given.outputs[:, 0] > 0.5) == (targets[:, 0] > 0.5)
                if single
                else given.outputs.argmax(axis=1) == targets.argmax(axis=1)
            )
    seen = np.stack(right)
    forgotten = (seen[:-1] & ~seen[1:]).sum(axis=0)
    found: Floats = np.where(seen.any(axis=0), forgotten, np.inf)
    return found


def random_scores(samples: int, seed: int = 0) -> Floats:
    """Uniform random numbers: what knows nothing.

    >>> random_scores(2).shape
    (2,)
    """
    return np.random.default_rng(seed).random(samples)


@dataclass(frozen=True, eq=False)
class TracIn:
    """What the steps taken on each sample did, as far as gradients at the checkpoints tell."""

    own: Floats
    """Σ_t η_t ‖∇ℓ_i(w_t)‖², (n,): by how much a sample lowered its own loss."""
    cross: Floats | None
    """Σ_t η_t ∇ℓ_i(w_t)·∇ℓ_j(w_t), (n, m): by how much it lowered that of each validation sample (with labels)."""
    output_changes: Floats | None
    """−Σ_t η_t J_j(w_t) ∇ℓ_i(w_t), (n, m, outputs): by how much it moved each validation output."""


def tracin(
    model: nn.Module,
    checkpoints: Sequence[Checkpoint],
    train: Any,
    val: Any = None,
    *,
    rates: float | Sequence[float] = 1.0,
    memory: str | int | None = None,
    progress: bool = True,
) -> TracIn:
    """TracInCP (Pruthi et al. 2020) of the loss ℓ = ½‖f(x) − y‖² by all trainable parameters.

    `rates` are η_t, one for all checkpoints or one for each. To count every step of descent on the mean loss, a
    checkpoint that stands for s steps has η_t = s·lr/n. Gradient products come from exact kernels, as
    ∇ℓ_i·∇ℓ_j = (f − y)_iᵀ J_i J_jᵀ (f − y)_j, so that no gradient of all parameters is kept.
    """
    steps = [float(rates)] * len(checkpoints) if isinstance(rates, int | float) else [float(rate) for rate in rates]
    if len(steps) != len(checkpoints):
        raise InputError(f"rates: {len(steps)} for {len(checkpoints)} checkpoints: give one for each, or one for all")
    own: list[Floats] = []
    cross: list[Floats] = []
    moved: list[Floats] = []
    for network, number in _visited(model, checkpoints, "TracIn", show=progress):
        with passes(network, train, *([] if val is None else [val])) as (given, *others):
            own.append(steps[number] * _squared_gradients(given))
            for other in others:
                change = -steps[number] * _pushed(given, other, as_bytes(memory))
                moved.append(change)
                if other.samples.labels is not None:
                    cross.append(-np.einsum("nmk,mk->nm", change, other.misfit))
    return TracIn(_total(own), _total(cross) if cross else None, _total(moved) if moved else None)


def _visited(
    model: nn.Module, checkpoints: Sequence[Checkpoint], title: str, show: bool
) -> Iterator[tuple[nn.Module, int]]:
    """A copy of the network at each checkpoint; the user's own stays where it is."""
    if not checkpoints:
        raise InputError("checkpoints: there are none; keep copies of model.state_dict() during training")
    network = copy.deepcopy(model)
    with bar(title, len(checkpoints), unit="checkpoints", show=show) as advance:
        for number, checkpoint in enumerate(checkpoints):
            network.load_state_dict(checkpoint)
            yield network, number
            advance(1)


def _pushed(train: Passes, val: Passes, memory: int) -> Floats:
    """J_j ∇ℓ_i = J_j J_iᵀ (f − y)_i, (n, m, k)."""
    kernel = exact_kernels(train.model, train.batches(), val.batches(), memory=memory).val
    misfit = torch.from_numpy(train.misfit).to(kernel.device)
    n, k = misfit.shape
    found: Floats = torch.einsum("mbna,na->nmb", kernel.reshape(-1, k, n, k), misfit).cpu().numpy()
    return found


def _squared_gradients(given: Passes) -> Floats:
    parts = [gradients.square().sum(1, dtype=torch.float64) for gradients in given.gradients()]
    found: Floats = torch.cat(parts).cpu().numpy()
    return found


def _total(parts: list[Floats]) -> Floats:
    found: Floats = np.sum(parts, axis=0)
    return found


def _norms(rows: Floats) -> Floats:
    found: Floats = np.linalg.norm(rows, axis=1)
    return found
