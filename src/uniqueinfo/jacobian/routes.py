"""Which way each parameter takes: a layer rule where one fits every use of it, else the generic path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.utils.hooks import RemovableHandle

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import blamed, repeat_to
from uniqueinfo.jacobian.generic import one_by_one
from uniqueinfo.jacobian.gradients import Gradient
from uniqueinfo.jacobian.modules import ModuleSite
from uniqueinfo.jacobian.recurrent import unrolled, unrolls
from uniqueinfo.jacobian.rules import Rule, find_rule, has_hooks, widen
from uniqueinfo.jacobian.trial import Call, Shape, Trial, run_trial
from uniqueinfo.samples.datasets import Inputs


@dataclass(frozen=True, eq=False)
class RuleSite:
    """A layer with a rule for its parameters `names` (of the layer → in the model)."""

    layer: nn.Module
    rule: Rule
    names: dict[str, str]
    axis: int  # of the batch, in the layer's input and output

    def record(self, calls: list[RuleCall]) -> list[RemovableHandle]:
        """Hook the layer: its calls are added to `calls` as they happen."""

        def after(layer: nn.Module, args: Any, kwargs: Any, result: Tensor) -> None:
            x = args[0] if args else kwargs["input"]
            # The edge stays that of the layer's own output, also when a later layer works on it in place.
            calls.append(RuleCall(self, x.detach(), [get_gradient_edge(result)]))

        return [self.layer.register_forward_hook(after, with_kwargs=True)]


@dataclass(frozen=True, eq=False)
class RuleCall:
    """One call of a layer with a rule."""

    site: RuleSite
    x: Tensor
    edges: list[GradientEdge]

    def gradient(self, g: Tensor, parameter: str) -> Gradient:
        """The gradient of one of the layer's parameters, from that of the layer's output."""
        axis = self.site.axis
        x, g = widen(self.x).movedim(axis, 0), widen(g).movedim(axis, 0)
        return self.site.rule.gradient(self.site.layer, x, g, parameter)


@dataclass(frozen=True)
class Routes:
    """The places to record, and for each trainable parameter its kind of path."""

    rules: list[RuleSite]
    modules: list[ModuleSite]
    paths: dict[str, str]


def find_routes(model: nn.Module, example: Inputs) -> Routes:
    """Choose by inspection and by what two trials, on two and on three samples, show."""
    _refuse_coupled(model)
    with blamed("two or three copies of a sample"):
        trials = run_trial(model, repeat_to(example, 2)), run_trial(model, repeat_to(example, 3))
    axes = {layer: axis for layer in trials[0].calls if (axis := _rule_axis(layer, trials)) is not None}
    rules: dict[nn.Module, dict[str, str]] = {}
    modules: dict[nn.Module, dict[str, str]] = {}
    paths: dict[str, str] = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        owners = _owners(model, parameter)
        if not trials[0].uses[id(parameter)]:
            paths[name] = "unused"
        elif all(_covered(parameter, [layer for layer, _ in owners if layer in axes], trial) for trial in trials):
            ruled = [(layer, local) for layer, local in owners if layer in axes]
            for layer, local in ruled:
                rules.setdefault(layer, {})[local] = name
            paths[name] = " + ".join(sorted({_rule(layer).kind for layer, _ in ruled}))
        else:
            module = next(_candidates(model, parameter, [layer for layer, _ in owners], trials))
            modules.setdefault(module, {})[_local_name(module, parameter)] = name
            paths[name] = "recurrent" if unrolls(module) else "generic"
    return Routes(
        [RuleSite(layer, _rule(layer), names, axes[layer]) for layer, names in rules.items()],
        [_module_site(module, model, names, trials) for module, names in modules.items()],
        paths,
    )


def _refuse_coupled(model: nn.Module) -> None:
    for name, module in model.named_modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and (module.training or module.running_mean is None):
            raise InputError(
                f"layer {name!r} normalizes by the statistics of the batch, so no sample has a Jacobian of "
                "its own: put the network in evaluation mode (`model.eval()`), with running statistics kept"
            )


def _rule(layer: nn.Module) -> Rule:
    rule = find_rule(layer)
    assert rule is not None
    return rule


def _owners(model: nn.Module, parameter: nn.Parameter) -> list[tuple[nn.Module, str]]:
    """The modules that hold this very parameter, with its name there; more than one for tied weights."""
    return [
        (module, local) for module in model.modules() for local, held in module._parameters.items() if held is parameter
    ]


def _local_name(module: nn.Module, parameter: nn.Parameter) -> str:
    return next(name for name, held in module.named_parameters() if held is parameter)


def _covered(parameter: nn.Parameter, modules: Sequence[nn.Module], trial: Trial) -> bool:
    """Whether every use of the parameter happens inside calls of these modules."""
    inside = sum(call.uses[id(parameter)] for module in modules for call in trial.calls.get(module, []))
    return inside == trial.uses[id(parameter)]


def _rule_axis(layer: nn.Module, trials: tuple[Trial, Trial]) -> int | None:
    """The batch axis of a layer with a rule, if the rule applies and all calls agree on it."""
    rule = find_rule(layer)
    if rule is None:
        return None
    axes = {
        axis
        for two, three in _paired_calls(layer, trials)
        for axis in (_axis(two.arguments[0], three.arguments[0]), _axis(two.results[0], three.results[0]))
    }
    axis = axes.pop() if len(axes) == 1 else None
    return None if axis is None or (rule.batch_first and axis != 0) else axis


def _paired_calls(module: nn.Module, trials: tuple[Trial, Trial]) -> list[tuple[Call, Call]]:
    two, three = (trial.calls.get(module, []) for trial in trials)
    return list(zip(two, three, strict=True)) if len(two) == len(three) else []


def _axis(two: Any, three: Any) -> int | None:
    """The axis on which a tensor of two samples and one of three differ, and by just that.

    >>> _axis(Shape((5, 2, 7)), Shape((5, 3, 7)))
    1
    >>> _axis(Shape((10, 7)), Shape((15, 7)))  # samples and places flattened together
    """
    if not (isinstance(two, Shape) and isinstance(three, Shape)) or len(two.sizes) != len(three.sizes):
        return None
    different = [axis for axis, sizes in enumerate(zip(two.sizes, three.sizes, strict=True)) if len(set(sizes)) > 1]
    if len(different) != 1:
        return None
    axis = different[0]
    return axis if (two.sizes[axis], three.sizes[axis]) == (2, 3) else None


def _candidates(
    model: nn.Module, parameter: nn.Parameter, owners: list[nn.Module], trials: tuple[Trial, Trial]
) -> Iterator[nn.Module]:
    """Modules that can be run again alone for this parameter, innermost first; the network is the last."""
    around = [module for module in model.modules() if set(owners) <= set(module.modules())]
    for module in sorted(around, key=lambda module: sum(1 for _ in module.modules())):
        if module is model or (
            not has_hooks(module)
            and all(_covered(parameter, [module], trial) for trial in trials)
            and _separable(module, trials)
        ):
            yield module


def _separable(module: nn.Module, trials: tuple[Trial, Trial]) -> bool:
    """Whether every call took and gave tensors with a batch axis, beside things all samples share."""
    pairs = _paired_calls(module, trials)
    arguments = {_axes(two.arguments, three.arguments) for two, three in pairs}
    results = {_axes(two.results, three.results) for two, three in pairs}
    if len(arguments) != 1 or len(results) != 1 or arguments == {None} or results == {None}:
        return False
    shared = [_axis(a, b) is None for two, three in pairs for a, b in _tensors(two.results, three.results)]
    return not any(shared)


def _tensors(two: Sequence[Any], three: Sequence[Any]) -> list[tuple[Any, Any]]:
    return [(a, b) for a, b in zip(two, three, strict=True) if isinstance(a, Shape)]


def _axes(two: Sequence[Any], three: Sequence[Any]) -> tuple[int | None, ...] | None:
    """The batch axis of each leaf, None for what all samples share; None at all if one is neither."""
    axes: list[int | None] = []
    for a, b in zip(two, three, strict=False):
        axis = _axis(a, b)
        if axis is None and not (isinstance(a, _PLAIN) and a == b):
            return None
        axes.append(axis)
    return tuple(axes) if len(two) == len(three) else None


# A stateful argument, such as a cache, cannot be handed to a second run.
_PLAIN = (Shape, bool, int, float, str, type(None))


def _module_site(module: nn.Module, model: nn.Module, names: dict[str, str], trials: tuple[Trial, Trial]) -> ModuleSite:
    two, three = _paired_calls(module, trials)[0]
    arguments = _axes(two.arguments, three.arguments)
    results = _axes(two.results, three.results)
    assert arguments is not None
    assert results is not None
    return ModuleSite(module, model, names, arguments, results, unrolled if unrolls(module) else one_by_one)
