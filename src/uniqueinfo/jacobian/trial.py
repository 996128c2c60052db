"""A trial run: which modules ran, on what shapes, and how often each parameter was used in each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.utils._pytree import tree_leaves

from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.samples.datasets import Inputs


@dataclass(frozen=True)
class Shape:
    """Stands for a tensor among the arguments or results of a call."""

    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """One call of a module: arguments and results (tensors by shape), and uses by id of the parameter."""

    arguments: list[Any]
    results: list[Any]
    uses: Counter[int]


@dataclass(frozen=True)
class Trial:
    """All calls of each module in one forward pass, in order, and the uses over the whole network."""

    calls: dict[nn.Module, list[Call]]
    uses: Counter[int]


def run_trial(model: nn.Module, inputs: Inputs) -> Trial:
    """Run the model once and note every call of every module that holds trainable parameters."""
    calls: dict[nn.Module, list[Call]] = {}
    entered: list[tuple[list[Any], set[Node]]] = []
    handles = []

    def before(module: nn.Module, args: Any, kwargs: Any) -> None:
        # Taken before the call: a module that works in place gives its own input another history.
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        entered.append((describe((args, kwargs)), {t.grad_fn for t in tensors if t.grad_fn is not None}))

    def after(module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        arguments, boundary = entered.pop()
        results = results_of(module, result, model)
        calls.setdefault(module, []).append(Call(arguments, describe(results), count_uses(results, boundary)))

    try:
        for module in model.modules():
            if any(parameter.requires_grad for parameter in module.parameters()):
                handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
                handles.append(module.register_forward_hook(after, with_kwargs=True))
        with torch.enable_grad():
            outputs = outputs_of(call(model, inputs))
    finally:
        for handle in handles:
            handle.remove()
    return Trial(calls, count_uses([outputs], set()))


def results_of(module: nn.Module, result: Any, model: nn.Module) -> list[Any]:
    """What a call handed on, as a list; of the whole model only its outputs count."""
    return [outputs_of(result)] if module is model else tree_leaves(result)


def describe(tree: Any) -> list[Any]:
    """The leaves of nested arguments, tensors by their shape."""
    return [Shape(tuple(leaf.shape)) if isinstance(leaf, Tensor) else leaf for leaf in tree_leaves(tree)]


def count_uses(results: Iterable[Any], boundary: set[Node]) -> Counter[int]:
    """How many operations between the boundary and the results read each parameter directly."""
    uses: Counter[int] = Counter()
    tensors = [result for result in results if isinstance(result, Tensor)]
    uses.update(id(tensor) for tensor in tensors if tensor.is_leaf and tensor.requires_grad)
    stack = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    seen = set(boundary)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for following, _ in node.next_functions:
            if following is None:
                continue
            if hasattr(following, "variable"):
                uses[id(following.variable)] += 1
            else:
                stack.append(following)
    return uses
