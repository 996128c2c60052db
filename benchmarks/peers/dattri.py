"""dattri: influence functions by conjugate gradients, TRAK, and Shapley values of nearest neighbours."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import torch
from dattri.algorithm import IFAttributorCG, KNNShapleyAttributor, TRAKAttributor
from dattri.task import AttributionTask
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.peers.child import Found
from benchmarks.peers.effects import of_outputs
from benchmarks.peers.problem import Problem, half_squares, network

_BATCH = 250
_COLUMNS = 128
_NEIGHBOURS = 5


def conjugate_gradients(problem: Problem) -> Found:
    """Influence on the mean validation loss: all validation samples are one thing to attribute."""
    train = TensorDataset(problem.X, problem.targets)
    val = TensorDataset(problem.X_val[None], problem.val_targets[None])
    with contextlib.redirect_stderr(io.StringIO()):
        attributor = IFAttributorCG(_task(problem), regularization=problem.damping)
        attributor.cache(DataLoader(train, batch_size=len(train)))
        found = attributor.attribute(DataLoader(train, batch_size=_BATCH), DataLoader(val, batch_size=1))
    value = found[:, 0].detach().double().numpy()
    return {"value": value, "suspicion": -value}


def trak(problem: Problem) -> Found:
    """TRAK of the output for a sample's class. Random coordinates would be quicker, but some pixels are always dark."""
    model = network(problem.trained)

    def own(parameters: Any, data: tuple[Tensor, Tensor]) -> Tensor:
        outputs: Tensor = torch.func.functional_call(model, parameters, data[0][None])[0]
        return outputs[0] if len(outputs) == 1 else (outputs * data[1]).sum()

    def fit(parameters: Any, data: tuple[Tensor, Tensor]) -> Tensor:
        """1 − what it gives is the slope of the loss, as that of a probability is for its logit."""
        outputs: Tensor = torch.func.functional_call(model, parameters, data[0][None])[0]
        wanted = data[1][0] if len(outputs) == 1 else torch.ones(())
        held = outputs[0] if len(outputs) == 1 else (outputs * data[1]).sum()
        return 1 - (wanted - held)

    task = AttributionTask(loss_func=own, model=model, checkpoints=dict(problem.trained))
    columns = {"proj_dim": _COLUMNS, "device": "cpu"}
    with contextlib.redirect_stderr(io.StringIO()):
        attributor = TRAKAttributor(task, fit, projector_kwargs=columns)
        attributor.cache(DataLoader(TensorDataset(problem.X, problem.targets), batch_size=_BATCH))
        found = attributor.attribute(DataLoader(TensorDataset(problem.X_val, problem.val_targets), batch_size=_BATCH))
    return of_outputs(problem, found.detach().double())


def knn_shapley(problem: Problem) -> Found:
    train, val = TensorDataset(problem.X, problem.y), TensorDataset(problem.X_val, problem.y_val)
    with contextlib.redirect_stderr(io.StringIO()):
        attributor = KNNShapleyAttributor(k_neighbors=_NEIGHBOURS)
        found = attributor.attribute(DataLoader(train, batch_size=1000), DataLoader(val, batch_size=1000))
    value = found.double().mean(dim=0).numpy()  # (m, n), whatever its documentation says
    return {"value": value, "suspicion": -value}


def _task(problem: Problem) -> AttributionTask:
    model = network(problem.trained)

    def loss(parameters: Any, data: tuple[Tensor, Tensor]) -> Tensor:
        inputs, targets = data
        outputs = torch.func.functional_call(model, parameters, inputs.reshape(-1, problem.X.shape[1]))
        return half_squares(outputs, targets.reshape(-1, problem.outputs)).mean()

    return AttributionTask(loss_func=loss, model=model, checkpoints=dict(problem.trained))
