"""Outputs by a function of the network, its inputs and its targets: whatever has a loss can be scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import batch_size
from uniqueinfo.jacobian.language import generates, sequence_margin
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.samples.together import parted
from uniqueinfo.types import Floats, Labels

Numbers: TypeAlias = Callable[[nn.Module, Any, Any], Tensor]
"""(network, inputs, targets) of a batch → numbers of each sample, (batch,) or (batch, q); targets may be None."""
_Value = TypeVar("_Value")
_INNER = "network"


@dataclass(frozen=True, repr=False)
class OutputFunction(Outputs):
    """The numbers of a function count as outputs; the function has used the targets, so all are trained alike.

    Numbers are margins unless said otherwise: what is right is above 0, and training makes it larger, "towards" 1 with
    the loss Σ log(1 + e⁻ᵐ). Residuals go `towards=0` with `loss="mse"`. A sample's numbers must not depend on the
    other samples of its batch.
    """

    function: Numbers
    """(model, inputs, targets) → numbers (batch, q)."""
    towards: float = 1.0
    """The target of every number, in the sense of the loss: margins count as class 1, residuals go to 0."""
    loss: str | Callable[[Tensor, Tensor], Tensor] = "logistic"
    """By which they are trained where no training is named."""

    def __repr__(self) -> str:
        return f"OutputFunction({self.name}, towards={self.towards:g})"

    @property
    def name(self) -> str:
        """Of the function, or what it is where it has settings of its own."""
        return getattr(self.function, "__qualname__", None) or (
            repr(self.function) if is_dataclass(self.function) else type(self.function).__qualname__
        )

    def matrix(self, outputs: int) -> Tensor:
        """All of them, as they are."""
        return torch.eye(outputs, dtype=torch.float64)

    def factor(self, outputs: int) -> float:
        """They speak for themselves."""
        return 1.0

    def targets(self, labels: Labels, outputs: int, ids: Sequence[object]) -> Floats | None:
        """The same for all, with labels or without."""
        return np.full((len(ids), outputs), float(self.towards))


class ByFunction(nn.Module):
    """A network whose outputs are what a function gives of it; called with inputs and targets by name.

    >>> from uniqueinfo.samples.together import joined
    >>> off = ByFunction(nn.Identity(), lambda model, inputs, targets: model(inputs) - targets)
    >>> off(**joined(torch.tensor([[3.0]]), np.array([[1.0]])))
    tensor([[2.]], dtype=torch.float64)
    """

    def __init__(self, network: nn.Module, function: Numbers) -> None:
        super().__init__()
        self.network, self.function = network, function
        self.train(network.training)

    def forward(self, **named: Tensor) -> Tensor:
        """(batch, q)."""
        inputs, targets = parted(named)
        found = self.function(self.network, inputs, targets)
        size = batch_size(inputs)
        if not isinstance(found, Tensor) or found.ndim not in (1, 2) or len(found) != size:
            got = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else type(found).__name__
            raise InputError(
                f"outputs: expected a function that gives numbers of each sample, ({size},) or ({size}, q) for a batch "
                f"of {size}; got {got}"
            )
        return found.reshape(size, -1)

    def extra_repr(self) -> str:
        """The function is part of what the network is."""
        return repr(OutputFunction(self.function))


def as_outputs(given: Outputs | Numbers | None, model: nn.Module) -> Outputs | None:
    """What counts as outputs: as asked for; of a network that generates texts, its margin on each of them."""
    if given is None:
        return OutputFunction(sequence_margin) if generates(model) else None
    if isinstance(given, Outputs):
        return given
    if isinstance(given, nn.Module) or not callable(given):
        raise InputError(
            f"outputs: expected an OutputSketch, or a function (model, inputs, targets) → numbers (batch, q); got "
            f"{type(given).__name__}"
        )
    return OutputFunction(given)


def by_function(model: nn.Module, outputs: Outputs | None) -> nn.Module:
    """The network that gives the outputs that count."""
    return ByFunction(model, outputs.function) if isinstance(outputs, OutputFunction) else model


def told_of(outputs: Outputs | None) -> dict[str, str]:
    """For the settings of scores: whose numbers the outputs are, where a function gives them."""
    return {"output_function": outputs.name} if isinstance(outputs, OutputFunction) else {}


def within(values: Mapping[str, _Value], outputs: Outputs | None) -> Mapping[str, _Value]:
    """Values by the names of a network's parameters, by the names these have in the network that gives the outputs."""
    if not isinstance(outputs, OutputFunction):
        return values
    return {f"{_INNER}.{name}": value for name, value in values.items()}
