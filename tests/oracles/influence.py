"""Influence functions from the definition: the whole Hessian by automatic differentiation, solved densely."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call

from tests.oracles.jacobian import jacobian_rows


@dataclass(frozen=True)
class Problem:
    """A trained network with its data, all in float64."""

    model: nn.Module
    train: tuple[Tensor, Tensor]
    val: tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Truth:
    """Every measure, from the weight changes of the definition."""

    weight: Tensor
    output_changes: Tensor
    functional: Tensor
    value: Tensor


def hessian(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    """Of Σ ½‖f(xᵢ) − yᵢ‖² by the flat parameters."""
    parameters = dict(model.named_parameters())
    shapes = [p.shape for p in parameters.values()]

    def loss(flat: Tensor) -> Tensor:
        parts = torch.split(flat, [shape.numel() for shape in shapes])
        values = {name: part.reshape(shape) for name, part, shape in zip(parameters, parts, shapes, strict=True)}
        outputs: Tensor = functional_call(model, values, inputs)
        return (outputs - targets).square().sum() / 2

    flat = torch.cat([p.detach().reshape(-1) for p in parameters.values()])
    found: Tensor = torch.autograd.functional.hessian(loss, flat)  # type: ignore[no-untyped-call]
    return found


def weight_changes(given: Problem, curvature: Tensor, shift: float, unit: float) -> Tensor:
    """Δw of every sample, (n, D): −c (c·curvature + shift·I)⁻¹ J_iᵀ(f − y)."""
    inputs, targets = given.train
    with torch.no_grad():
        misfit = given.model(inputs) - targets
    gradients = torch.einsum("nkd,nk->nd", jacobian_rows(given.model, inputs), misfit)
    matrix = unit * curvature + shift * torch.eye(len(curvature), dtype=torch.float64)
    found: Tensor = torch.linalg.solve(matrix, -unit * gradients.T)
    return found.T


def measures(given: Problem, delta: Tensor) -> Truth:
    """What weight changes (n, D) do to the validation samples, to first order."""
    val, targets = given.val
    moved = torch.einsum("mkd,nd->nmk", jacobian_rows(given.model, val), delta)
    with torch.no_grad():
        misfit = given.model(val) - targets
    return Truth(
        weight=delta.square().sum(1) / 2,
        output_changes=moved,
        functional=moved.square().sum((1, 2)) / (2 * len(val)),
        value=-(moved * misfit).sum((1, 2)) / len(val),
    )
