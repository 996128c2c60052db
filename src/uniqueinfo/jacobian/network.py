"""Per-sample gradients of every trainable parameter: one batched forward, one batched backward per output."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import batch_size, blamed, call, outputs_of, repeat_to
from uniqueinfo.jacobian.generic import one_by_one, vectorized, vectorizes
from uniqueinfo.jacobian.gradients import Gradient
from uniqueinfo.jacobian.modules import ModuleCall, ModuleSite
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.routes import RuleCall, RuleSite, find_routes
from uniqueinfo.jacobian.rules import widen
from uniqueinfo.jacobian.units import Weighted, scales_of
from uniqueinfo.samples.datasets import Inputs

Sink = Callable[[int, slice, str, Gradient], None]
"""Takes (output, samples of the batch, parameter, gradient); contributions to a parameter add up."""


class Network:
    """A model, prepared so that batches give per-sample gradients.

    The model must be in evaluation mode. It is never changed: hooks are there only while a batch runs.
    """

    def __init__(self, model: nn.Module, example: Inputs, outputs: Outputs | None = None) -> None:
        self.model = model
        routes = find_routes(model, example)
        if not routes.paths:
            raise InputError("the network has no trainable parameter (all have requires_grad=False): free some")
        self.paths: Mapping[str, str] = MappingProxyType(routes.paths)
        parameters = {name: p for name, p in model.named_parameters() if name in routes.paths}
        self.shapes: Mapping[str, tuple[int, ...]] = MappingProxyType(
            {name: tuple(parameter.shape) for name, parameter in parameters.items()}
        )
        self.dtype = _common_dtype(list(parameters.values()))
        self.device = next(iter(parameters.values())).device
        self._rules = routes.rules
        self._scales = scales_of(model)
        with torch.no_grad():
            found = outputs_of(call(model, repeat_to(example, 1)))
        size = 1 if found.ndim == 1 else found.shape[1]
        self.classes: int = size
        self._mixing = torch.eye(size) if outputs is None else outputs.matrix(size)
        self._mixing = self._mixing.to(device=self.device, dtype=self.dtype)
        self.outputs: int = self._mixing.shape[1]
        self.alike = outputs is not None and outputs.alike
        self._modules = self._vectorized_where_possible(routes.modules, repeat_to(example, 2))

    @property
    def biases(self) -> Mapping[str, str]:
        """The weights of layers with a rule, and the bias that is added to their products."""
        sites = [site.names for site in self._rules]
        return {names["weight"]: names["bias"] for names in sites if {"weight", "bias"} <= names.keys()}

    def run(self, inputs: Inputs, sink: Sink, only: Collection[str] | None = None) -> Tensor:
        """Hand per-sample gradients, of all parameters or `only` these, to `sink`; returns outputs (b, k).

        Outputs are the mixtures whose gradients these are, or, where they are alike, the network's own.
        """
        wanted = self.shapes if only is None else only
        scales = self._scales

        def give(output: int, part: slice, name: str, gradient: Gradient) -> None:
            sink(output, part, name, Weighted(gradient, scales[name]) if name in scales else gradient)

        rules = [site for site in self._rules if any(name in wanted for name in site.names.values())]
        modules = [site for site in self._modules if any(name in wanted for name in site.names.values())]

        def from_rule(output: int, call: RuleCall, g: Tensor) -> None:
            for local, name in call.site.names.items():
                if name in wanted:
                    give(output, slice(0, batch_size(inputs)), name, call.gradient(g, local))

        outputs, module_calls = self._backward(inputs, rules, modules, from_rule)
        for module_call in module_calls:
            for output, part, local, gradient in module_call.site.rerun(module_call):
                if module_call.site.names.get(local, "") in wanted:
                    give(output, part, module_call.site.names[local], gradient)
        return outputs

    def _backward(
        self,
        inputs: Inputs,
        rules: list[RuleSite],
        modules: list[ModuleSite],
        from_rule: Callable[[int, RuleCall, Tensor], None],
    ) -> tuple[Tensor, list[ModuleCall]]:
        rule_calls: list[RuleCall] = []
        module_calls: list[ModuleCall] = []
        handles = []
        try:
            for rule_site in rules:
                handles += rule_site.record(rule_calls)
            for module_site in modules:
                handles += module_site.record(module_calls)
            with torch.enable_grad(), blamed("a batch of samples"):
                outputs = outputs_of(call(self.model, inputs))
        finally:
            for handle in handles:
                handle.remove()
        edges = [edge for rule_call in rule_calls for edge in rule_call.edges]
        edges += [edge for module_call in module_calls for edge in module_call.edges]
        directions = self._mixing.to(outputs.dtype).T
        for output, direction in enumerate(directions if edges else ()):
            gradients: list[Tensor | None] = list(
                torch.autograd.grad(
                    outputs,
                    edges,
                    direction.expand(len(outputs), -1).reshape(outputs.shape),
                    retain_graph=output + 1 < self.outputs,
                    allow_unused=True,
                )
            )
            for place, rule_call in enumerate(rule_calls):
                g, gradients[place] = gradients[place], None  # freed as soon as it is used
                if g is not None:
                    from_rule(output, rule_call, g)
            left = iter(gradients[len(rule_calls) :])
            for module_call in module_calls:
                module_call.cotangents.append([next(left) for _ in module_call.edges])
        found = widen(outputs.detach()).reshape(len(outputs), -1)
        return found if self.alike else found @ self._mixing, module_calls

    def _vectorized_where_possible(self, sites: list[ModuleSite], pair: Inputs) -> list[ModuleSite]:
        generic = [site for site in sites if site.rerun is one_by_one]
        _, calls = self._backward(pair, [], generic, lambda output, call, g: None)
        fast = {call.site for call in calls} - {call.site for call in calls if not vectorizes(call)}
        return [replace(site, rerun=vectorized) if site in fast else site for site in sites]


def _common_dtype(parameters: list[nn.Parameter]) -> torch.dtype:
    dtype = torch.float32
    for parameter in parameters:
        dtype = torch.promote_types(dtype, parameter.dtype)
    return dtype
