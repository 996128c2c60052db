"""Products with the curvature of the training loss, for many vectors at once and without the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.func import functional_call, grad, vjp
from torch.nn.attention import SDPBackend, sdpa_kernel

from uniqueinfo.jacobian.forward import outputs_of
from uniqueinfo.jacobian.peak import Peak
from uniqueinfo.samples.datasets import Inputs, map_leaves
from uniqueinfo.training import Reduction

Kind = Literal["hessian", "gauss-newton"]
_MOST_SAMPLES = 256
"""Samples in one pass at most; more bring no speed."""
_Weights = dict[str, Tensor]


class Curvature:
    """A = c Σᵢ ∇²½‖f(xᵢ) − yᵢ‖² + λI at the present weights, with c = 1/n for the mean loss and 1 for the sum.

    With "gauss-newton" the second derivatives of the network are left out: A = c JᵀJ + λI. Vectors are rows (s, D),
    parameter after parameter in the model's order. The model must be in evaluation mode.

    >>> model = nn.Linear(2, 1, bias=False)
    >>> X, y = torch.tensor([[1.0, 0.0], [0.0, 3.0]]), torch.zeros(2, 1)
    >>> Curvature(model, X, y, reduction="sum", weight_decay=0.5).product(torch.eye(2))
    tensor([[1.5000, 0.0000],
            [0.0000, 9.5000]])
    """

    def __init__(
        self,
        model: nn.Module,
        inputs: Inputs,
        targets: Tensor,
        *,
        reduction: Reduction = "mean",
        weight_decay: float = 0.0,
        kind: Kind = "hessian",
        memory: int = 1 << 30,
    ) -> None:
        self._model, self._inputs, self._decay = model, inputs, weight_decay
        self._weights = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
        first = next(iter(self._weights.values()))
        self.dtype, self.device = first.dtype, first.device
        self._targets = targets.to(first)
        self.samples = len(targets)
        self.width = sum(weight.numel() for weight in self._weights.values())
        self.unit = 1 / self.samples if reduction == "mean" else 1.0
        """c: what a sample counts in the loss."""
        self._pull = self._hessian if kind == "hessian" else self._gauss_newton
        self._batch = self._fit(memory)

    def product(self, vectors: Tensor, chosen: NDArray[np.intp] | None = None) -> Tensor:
        """A times each vector, (s, D); over the `chosen` samples alone it is an estimate of A, each counting n/b."""
        index = torch.arange(self.samples) if chosen is None else torch.from_numpy(chosen)
        total = self._decay * vectors
        for part in torch.split(index, self._batch):
            self._add(total, self.unit * self.samples / len(index), vectors, part)
        return total

    def _add(self, total: Tensor, factor: float, vectors: Tensor, part: Tensor) -> None:
        """Outputs and gradients are computed once for all vectors; vectorizing the rest as well is slower."""
        inputs: Inputs = map_leaves(self._inputs, lambda _, leaf: leaf[part.to(leaf.device)])
        targets = self._targets[part.to(self.device)]
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):  # fused attention has no derivative of its derivative
            pull = self._pull(inputs, targets)
            for vector, into in zip(vectors, total, strict=True):
                found = pull(self._split(vector))
                for name, place in self._split(into).items():
                    place.add_(found[name], alpha=factor)

    def _hessian(self, inputs: Inputs, targets: Tensor) -> Callable[[_Weights], _Weights]:
        """The gradient pulled back along a vector: the Hessian is its own transpose."""

        def loss(weights: _Weights) -> Tensor:
            return (self._outputs(weights, inputs) - targets).square().sum() / 2

        pull = vjp(grad(loss), self._weights)[1]
        return lambda vector: pull(vector)[0]

    def _gauss_newton(self, inputs: Inputs, targets: Tensor) -> Callable[[_Weights], _Weights]:
        """Jᵀ(J v); J v is the transpose of u ↦ Jᵀu, which is linear."""
        pull = vjp(lambda weights: self._outputs(weights, inputs), self._weights)[1]
        push = vjp(lambda u: pull(u)[0], torch.zeros_like(targets))[1]
        return lambda vector: pull(push(vector)[0])[0]

    def _outputs(self, weights: _Weights, inputs: Inputs) -> Tensor:
        args = () if isinstance(inputs, dict) else inputs if isinstance(inputs, tuple) else (inputs,)
        kwargs = inputs if isinstance(inputs, dict) else {}
        found = outputs_of(functional_call(self._model, weights, args, kwargs))
        return found.reshape(len(found), -1)

    def _split(self, vector: Tensor) -> _Weights:
        parts = torch.split(vector, [weight.numel() for weight in self._weights.values()])
        return {n: part.reshape(w.shape) for (n, w), part in zip(self._weights.items(), parts, strict=True)}

    def _fit(self, memory: int) -> int:
        """How many samples go through the network together, from what one and two take."""
        vector = torch.zeros(1, self.width, dtype=self.dtype, device=self.device)
        taken: list[int] = []
        for count in (1, 2):
            with Peak() as peak:
                self._add(vector, 0.0, vector, torch.arange(count) % self.samples)
            taken.append(peak.bytes)
        each = max(1, taken[1] - taken[0])
        return min(self.samples, _MOST_SAMPLES, max(1, (memory - taken[0]) // each))
