"""A network whose parameters count in other units: its gradients come out multiplied, its outputs stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Gradient


class InUnits(nn.Module):
    """A network with the Jacobian J diag(s).

    An optimizer that multiplies gradients by P = s² trains the network as plain descent trains this one. Parameters
    that are not named keep their gradients.

    >>> import torch
    >>> from uniqueinfo.jacobian import RowEngine
    >>> from uniqueinfo.jacobian.units import InUnits
    >>> twice = InUnits(nn.Linear(1, 1, bias=False), {"weight": torch.tensor([[2.0]])})
    >>> rows, _ = RowEngine(twice, torch.ones(2, 1))(torch.ones(1, 1))
    >>> rows
    tensor([[[2.]]])
    """

    def __init__(self, network: nn.Module, scales: Mapping[str, Tensor]) -> None:
        """`scales`: s of each parameter by its name in the network."""
        super().__init__()
        self.network = network
        self._places: dict[str, str] = {}
        for number, (name, parameter) in enumerate(network.named_parameters()):
            if name in scales:
                self._places[f"network.{name}"] = f"scale_{number}"  # a buffer, so that a fingerprint sees it
                self.register_buffer(f"scale_{number}", scales[name].detach().to(parameter))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """As the network's."""
        return self.network(*args, **kwargs)

    @property
    def scales(self) -> dict[str, Tensor]:
        """s of each parameter by its name in this module."""
        return {name: self.get_buffer(place) for name, place in self._places.items()}


class Weighted(Gradient):
    """A gradient, each of its coordinates multiplied by a number of its own."""

    def __init__(self, gradient: Gradient, scale: Tensor) -> None:
        super().__init__(gradient.source, gradient.height, gradient.columns)
        self._gradient, self._scale = gradient, scale.reshape(gradient.height, gradient.columns)

    def block(self, part: slice, start: int, stop: int) -> Tensor:
        """See `Gradient`."""
        return self._gradient.block(part, start, stop) * self._scale[start:stop]

    def at(self, index: Tensor) -> Tensor:
        """See `Gradient`."""
        return self._gradient.at(index) * self._scale.flatten()[index]


def scales_of(model: nn.Module) -> Mapping[str, Tensor]:
    """What gradients are multiplied by; nothing for a network as it is."""
    return model.scales if isinstance(model, InUnits) else {}
