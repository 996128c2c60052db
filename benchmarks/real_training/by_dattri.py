"""dattri: influence functions by conjugate gradients, and TRAK."""

from __future__ import annotations

from typing import Any

import torch
from dattri.algorithm import IFAttributorCG, TRAKAttributor
from dattri.task import AttributionTask
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.real_training.case import Case, Weights

_LARGE = 1_000_000
"""Weights from which the effect on the mean validation loss alone is computed: one system to solve, not hundreds."""
_QUERIES = 20
"""Systems that are solved together."""
_BATCH = 100
_COLUMNS = 512
"""dattri's default."""


def conjugate_gradients(case: Case) -> Tensor:
    """Effects (n, m) on validation losses, or (n, 1) on their mean; 10 iterations, dattri's default."""
    model = case.network()

    def loss(parameters: Any, data: tuple[Tensor, Tensor]) -> Tensor:
        inputs, targets = data
        inputs = inputs.reshape(-1, *case.X.shape[1:])
        outputs = torch.func.functional_call(model, parameters, inputs)
        return case.each_loss(outputs, targets.reshape(-1, *case.y.shape[1:])).mean()

    task = AttributionTask(loss_func=loss, model=model, checkpoints=model.state_dict())
    attributor = IFAttributorCG(task, regularization=case.damping)
    train, val = TensorDataset(case.X, case.y), TensorDataset(case.X_val, case.y_val)
    together = _QUERIES
    if sum(held.numel() for held in model.parameters()) > _LARGE:
        val, together = TensorDataset(case.X_val[None], case.y_val[None]), 1
    attributor.cache(DataLoader(train, batch_size=len(train)))
    with torch.no_grad():
        found: Tensor = attributor.attribute(
            DataLoader(train, batch_size=len(train)), DataLoader(val, batch_size=together)
        )
    return found.detach().double()


def trak_1(case: Case) -> Tensor:
    return _trak(case, case.ensemble[:1])


def trak_10(case: Case) -> Tensor:
    return _trak(case, case.ensemble)


def columns(samples: int) -> int:
    """dattri's default, but at most half as many as samples: its matrix has no inverse otherwise.

    >>> columns(120), columns(5000)
    (32, 512)
    """
    return int(min(_COLUMNS, 2 ** ((samples // 2).bit_length() - 1)))


def _trak(case: Case, ensemble: Any) -> Tensor:
    """Of log(p / (1 − p)), as its examples have it, or of the one output; then, to first order, of the loss."""
    model = case.network()

    def outputs_of(parameters: Any, inputs: Tensor) -> Tensor:
        found: Tensor = torch.func.functional_call(model, parameters, inputs[None])
        return found

    def margin(parameters: Any, data: tuple[Tensor, Tensor]) -> Tensor:
        outputs = outputs_of(parameters, data[0])
        if case.kind == "numbers":
            return outputs[0, 0]
        log_p = -case.each_loss(outputs, data[1][None])[0]
        return log_p - torch.log(1 - torch.exp(log_p))

    def fit(parameters: Any, data: tuple[Tensor, Tensor]) -> Tensor:
        """1 − what it gives is the slope of the loss in the margin."""
        outputs = outputs_of(parameters, data[0])
        if case.kind == "numbers":
            return 1 - (data[1] - outputs[0, 0])
        return torch.exp(-case.each_loss(outputs, data[1][None])[0])

    weights: list[Weights] = [dict(held) for held in ensemble]
    task = AttributionTask(loss_func=margin, model=model, checkpoints=weights)
    kinds = {"proj_dim": columns(len(case.X)), "device": "cpu"}
    attributor = TRAKAttributor(task, fit, projector_kwargs=kinds)
    with torch.no_grad():
        attributor.cache(DataLoader(TensorDataset(case.X, case.y), batch_size=_BATCH))
        found: Tensor = attributor.attribute(DataLoader(TensorDataset(case.X_val, case.y_val), batch_size=_BATCH))
    return found.detach().double() * _slopes(case)


def _slopes(case: Case) -> Tensor:
    """What each validation loss loses with its margin, (m,)."""
    with torch.no_grad():
        outputs = torch.cat([case.trained(part) for part in torch.split(case.X_val, _BATCH)]).double()
    if case.kind == "numbers":
        return case.y_val.double() - outputs[:, 0]
    return 1 - torch.exp(-case.each_loss(outputs, case.y_val))
