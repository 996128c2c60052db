"""A network at both ends of its training, for a Jacobian that stands for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import outputs_of


class BothEnds(nn.Module):
    """Outputs of the network before training, and gradients of before and after alike.

    Training moves the outputs by ∫ J dw, and J itself changes on the way. Where the trained network is at hand, the
    trapezoid rule takes J at both ends: rows (J₀, J_T)/√2 in place of J₀, the kernel ½(Θ₀ + Θ_T) in place of Θ₀.

    >>> import torch
    >>> from uniqueinfo.jacobian import RowEngine
    >>> class Square(nn.Module):  # f(x) = w² x
    ...     def __init__(self, w: float) -> None:
    ...         super().__init__()
    ...         self.w = nn.Parameter(torch.tensor([w]))
    ...     def forward(self, x: Tensor) -> Tensor:
    ...         return x * self.w.square()
    >>> rows, outputs = RowEngine(BothEnds(Square(1.0), Square(2.0)), torch.ones(2, 1))(torch.ones(1, 1))
    >>> rows.square().round(decimals=3), outputs  # 2² / 2, 4² / 2
    (tensor([[[2., 8.]]]), tensor([[1.]]))
    """

    def __init__(self, start: nn.Module, trained: nn.Module | Mapping[str, Tensor]) -> None:
        """`trained`: the network after training, or its state_dict."""
        super().__init__()
        self.start, self.end = start, deepcopy(start)
        try:
            self.end.load_state_dict(trained.state_dict() if isinstance(trained, nn.Module) else trained)
        except (RuntimeError, TypeError, AttributeError) as error:
            raise InputError(
                f"trained: does not fit the network ({' '.join(str(error).split())}); give the same network after "
                "training, or its state_dict()"
            ) from error

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Outputs before training."""
        start, end = (outputs_of(network(*args, **kwargs)) for network in (self.start, self.end))
        fixed = start.detach()
        outputs: Tensor = fixed + 0.5**0.5 * ((start - fixed) + (end - end.detach()))
        return outputs
