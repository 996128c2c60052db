"""Calls of whole modules, recorded so that a module can be run again alone for its parameters' gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten
from torch.utils.hooks import RemovableHandle

from uniqueinfo.jacobian.gradients import Gradient
from uniqueinfo.jacobian.trial import results_of

Rerun = Callable[["ModuleCall"], Iterator[tuple[int, slice, str, Gradient]]]
"""Runs a recorded call again; gives (output, samples, parameter's name in the module, gradient)."""


@dataclass(frozen=True, eq=False)
class ModuleSite:
    """A module with parameters `names` (relative to it → in the model) that no layer rule covers.

    The axes are those of the batch in each leaf of its arguments and results; None: shared by all samples.
    """

    module: nn.Module
    model: nn.Module
    names: dict[str, str]
    argument_axes: tuple[int | None, ...]
    result_axes: tuple[int | None, ...]
    rerun: Rerun

    def record(self, calls: list[ModuleCall]) -> list[RemovableHandle]:
        """Hook the module: its calls are added to `calls` as they happen."""
        entered: list[tuple[list[Any], TreeSpec]] = []

        def before(module: nn.Module, args: Any, kwargs: Any) -> None:
            leaves, spec = tree_flatten((args, kwargs))
            # Copied: what the network or the module itself does in place must not reach the second run.
            copies = [leaf.detach().clone() if isinstance(leaf, Tensor) else leaf for leaf in leaves]
            entered.append((copies, spec))

        def after(module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
            results = results_of(module, result, self.model)
            used = [place for place, leaf in enumerate(results) if isinstance(leaf, Tensor) and leaf.requires_grad]
            edges = [get_gradient_edge(results[place]) for place in used]
            calls.append(ModuleCall(self, *entered.pop(), used, edges))

        return [
            self.module.register_forward_pre_hook(before, with_kwargs=True),
            self.module.register_forward_hook(after, with_kwargs=True),
        ]


@dataclass(frozen=True, eq=False)
class ModuleCall:
    """One call of a module: the leaves of its arguments, and which leaves of its results carry a gradient.

    `cotangents` has, for each output of the network, the gradients by those results.
    """

    site: ModuleSite
    leaves: list[Any]
    spec: TreeSpec
    used: list[int]
    edges: list[GradientEdge]
    cotangents: list[Sequence[Tensor | None]] = field(default_factory=list)

    def arguments(self, leaves: list[Any]) -> tuple[Any, Any]:
        """Positional and keyword arguments with these leaves."""
        args, kwargs = tree_unflatten(leaves, self.spec)
        return args, kwargs

    def reached(self) -> Iterator[tuple[int, int, Tensor]]:
        """Results that some output depends on: (place, batch axis, cotangents of all outputs (k, …))."""
        for number, place in enumerate(self.used):
            gradients = [by_result[number] for by_result in self.cotangents]
            some = next((gradient for gradient in gradients if gradient is not None), None)
            axis = self.site.result_axes[place]
            if some is not None and axis is not None:
                full = [torch.zeros_like(some) if gradient is None else gradient for gradient in gradients]
                yield place, axis, torch.stack(full)
