"""The generic path: any module at all, run again with each sample alone (vectorized where that works).

The gradient of a sample's own results is pulled back to the parameters: J_i = v_iᵀ ∂M(x_i)/∂w. This needs the
module's arguments and the gradients of its results, not the rest of the network.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call, vjp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from uniqueinfo.jacobian.gradients import Formed, Gradient
from uniqueinfo.jacobian.modules import ModuleCall, Rerun
from uniqueinfo.jacobian.rules import widen
from uniqueinfo.jacobian.trial import results_of

# Per-sample gradients are formed for as many samples at a time as fit in this.
_WORKSPACE = 256 << 20


def one_by_one(call: ModuleCall) -> Iterator[tuple[int, slice, str, Gradient]]:
    """Sample after sample by plain automatic differentiation: runs whatever the network itself runs."""
    reached = list(call.reached())
    parameters = {name: value.requires_grad_() for name, value in _parameters(call).items()}
    places = [place for place, _, _ in reached]
    for sample in range(_samples(call)):
        with torch.enable_grad():
            results = _run(call, _narrowed(call, sample, 1), places, parameters)
        for output in range(len(call.cotangents)):
            rows = torch.autograd.grad(
                results,
                list(parameters.values()),
                [cotangent[output].narrow(axis, sample, 1) for _, axis, cotangent in reached],
                retain_graph=output + 1 < len(call.cotangents),
                allow_unused=True,
                materialize_grads=True,
            )
            for name, row in zip(parameters, rows, strict=True):
                yield output, slice(sample, sample + 1), name, Formed(widen(row[None]))


def vectorized(call: ModuleCall) -> Iterator[tuple[int, slice, str, Gradient]]:
    """Many samples at once, by `torch.func`."""
    parameters = _parameters(call)
    size = sum(parameter.numel() for parameter in parameters.values())
    step = max(1, _WORKSPACE // (8 * size * max(1, len(call.cotangents))))
    reached = list(call.reached())
    places = [place for place, _, _ in reached]
    result_axes = tuple(1 + axis for _, axis, _ in reached)
    batched = [(place, axis) for place, axis in enumerate(call.site.argument_axes) if axis is not None]

    def pull_back(own: tuple[Tensor, ...], cotangents: tuple[Tensor, ...]) -> dict[str, Tensor]:
        leaves = list(call.leaves)
        for (place, axis), leaf in zip(batched, own, strict=True):
            leaves[place] = leaf.unsqueeze(axis)
        pull = vjp(partial(_run, call, leaves, places), parameters)[1]
        single = tuple(c.unsqueeze(axis) for c, axis in zip(cotangents, result_axes, strict=True))
        rows: dict[str, Tensor] = vmap(pull)(single)[0]
        return rows

    over_samples = vmap(pull_back, in_dims=(tuple(axis for _, axis in batched), result_axes))
    samples = _samples(call)
    for start in range(0, samples, step):
        count = min(step, samples - start)
        leaves = _narrowed(call, start, count)
        cotangents = tuple(cotangent.narrow(1 + axis, start, count) for _, axis, cotangent in reached)
        # Without no_grad the other parameters keep a graph; the fused kernels of attention do not vectorize.
        with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):
            rows = over_samples(tuple(leaves[place] for place, _ in batched), cotangents)
        for name, row in rows.items():
            for output in range(len(call.cotangents)):
                yield output, slice(start, start + count), name, Formed(widen(row[:, output]))


def vectorizes(call: ModuleCall) -> bool:
    """Whether `torch.func` runs this module, at its full speed, to the same result as sample by sample."""
    alone = _collect(one_by_one, call)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a missing batching rule is told by a warning
            together = _collect(vectorized, call)
    except Exception:  # torch.func tells what it cannot do by errors of any kind; the plain way remains
        return False
    return all(_close(together[key], gradient) for key, gradient in alone.items())


def _parameters(call: ModuleCall) -> dict[str, Tensor]:
    return {name: call.site.module.get_parameter(name).detach() for name in call.site.names}


def _samples(call: ModuleCall) -> int:
    """The batch size, or none if no output depends on this call."""
    return next((cotangent.shape[1 + axis] for _, axis, cotangent in call.reached()), 0)


def _narrowed(call: ModuleCall, start: int, count: int) -> list[Any]:
    return [
        leaf if axis is None else leaf.narrow(axis, start, count)
        for leaf, axis in zip(call.leaves, call.site.argument_axes, strict=True)
    ]


def _run(call: ModuleCall, leaves: list[Any], places: list[int], parameters: dict[str, Tensor]) -> tuple[Tensor, ...]:
    result = functional_call(call.site.module, parameters, *call.arguments(leaves))
    results = results_of(call.site.module, result, call.site.model)
    return tuple(results[place] for place in places)


def _collect(rerun: Rerun, call: ModuleCall) -> dict[tuple[int, str], Tensor]:
    parts: dict[tuple[int, str], list[Tensor]] = {}
    for output, _, name, gradient in rerun(call):
        parts.setdefault((output, name), []).append(gradient.source)
    return {key: torch.cat(gradients) for key, gradients in parts.items()}


def _close(a: Tensor, b: Tensor) -> bool:
    epsilon = torch.finfo(a.dtype).eps
    return float((a - b).norm()) <= math.sqrt(epsilon) * float(b.norm()) + epsilon
