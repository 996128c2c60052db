"""A network whose parameters count in another unit: gradients come out multiplied, outputs stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from torch import Tensor, nn
from torch.nn.utils import parametrize


class _Scaled(nn.Module):
    """w = w₀ + s ∘ (v − w₀), looked at where v = w₀."""

    base: Tensor
    scale: Tensor

    def __init__(self, base: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("base", base.detach().clone())
        self.register_buffer("scale", scale.to(base))

    def forward(self, v: Tensor) -> Tensor:
        """The parameter as the network uses it."""
        return self.base + self.scale * (v - self.base)


def scaled(network: nn.Module, scales: Mapping[str, Tensor]) -> nn.Module:
    """A copy whose Jacobian is J diag(s).

    An optimizer that multiplies gradients by P = s² trains the network as plain descent trains this one. Parameters
    that are not named are no longer differentiated.

    >>> import torch
    >>> from uniqueinfo.jacobian import RowEngine
    >>> network = nn.Linear(1, 1, bias=False)
    >>> twice = scaled(network, {"weight": torch.tensor([[2.0]])})
    >>> rows, _ = RowEngine(twice, torch.ones(2, 1))(torch.ones(1, 1))
    >>> rows
    tensor([[[2.]]])
    """
    copy = deepcopy(network)
    for name, parameter in list(copy.named_parameters()):
        if name not in scales:
            parameter.requires_grad_(False)
            continue
        owner, _, local = name.rpartition(".")
        parametrize.register_parametrization(
            copy.get_submodule(owner), local, _Scaled(parameter, scales[name]), unsafe=True
        )
    return copy
