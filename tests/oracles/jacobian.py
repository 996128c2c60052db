"""The slow, sure way to a Jacobian: `torch.func.jacrev`, one sample at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev

from uniqueinfo.types import Floats


def jacobian_rows(model: nn.Module, inputs: Any) -> Tensor:
    """Exact rows (b, k, D), parameter after parameter in the model's order; frozen ones are left out."""
    parameters = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    size = len(
        next(iter(inputs.values())) if isinstance(inputs, dict) else inputs[0] if isinstance(inputs, tuple) else inputs
    )
    return torch.stack([_row(model, parameters, _sample(inputs, i)) for i in range(size)])


def loss_gradients(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
    """∇½‖f − y‖² one sample at a time, (n, D), by autograd's own sum over outputs."""
    found = []
    for x, y in zip(inputs, targets, strict=True):
        loss = (model(x[None])[0] - y).square().sum() / 2
        found.append(torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, list(model.parameters()))]))
    return torch.stack(found)


def head_rows(X: Floats, outputs: int) -> Floats:
    """A linear head written out: J = X ⊗ I, (n, k, pk), for weights of features by outputs."""
    n, p = X.shape
    written: Floats = np.einsum("np,kj->nkpj", X, np.eye(outputs)).reshape(n, outputs, p * outputs)
    return written


def _row(model: nn.Module, parameters: dict[str, Tensor], sample: Any) -> Tensor:
    args = () if isinstance(sample, dict) else sample if isinstance(sample, tuple) else (sample,)
    kwargs = sample if isinstance(sample, dict) else {}

    def outputs(values: dict[str, Tensor]) -> Tensor:
        result = functional_call(model, values, args, kwargs)
        flat: Tensor = getattr(result, "logits", result).reshape(-1)
        return flat

    by_parameter = jacrev(outputs, chunk_size=1)(parameters)
    return torch.cat(
        [
            by_parameter[name].flatten(1) if parameters[name].ndim else by_parameter[name][:, None]
            for name in parameters
        ],
        dim=1,
    )


def _sample(inputs: Any, i: int) -> Any:
    if isinstance(inputs, dict):
        return {name: value[i : i + 1] for name, value in inputs.items()}
    if isinstance(inputs, tuple):
        return tuple(value[i : i + 1] for value in inputs)
    return inputs[i : i + 1]
