"""Recurrent layers: run again unrolled, all samples at once, so that each step is a linear layer of known rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.jacobian.gradients import Formed, Gradient, Outer
from uniqueinfo.jacobian.modules import ModuleCall
from uniqueinfo.jacobian.positions import Tokens
from uniqueinfo.jacobian.rules import widen

State = tuple[Tensor, ...]
Step = Callable[[Tensor, Tensor, State], State]


@dataclass(frozen=True)
class _Product:
    """Steps that multiply with one weight (and bias): what went in (t, b, f), and what came out of each step."""

    weight: str
    bias: str
    x: Tensor
    steps: list[Tensor]


@dataclass(frozen=True)
class Unrolled:
    """A recurrent layer's results from explicit steps, and every product with its weights."""

    results: list[Tensor]
    products: list[_Product]

    def gradients(self, cotangents: dict[int, Tensor], keep: bool) -> Iterator[tuple[str, Gradient]]:
        """The gradient of each weight and bias, for gradients by results' place; `keep` the graph for more.

        With pre-activations a_t = W x_t + b, the gradient of W is Σ_t ∂a_t ⊗ x_t, that of b is Σ_t ∂a_t.
        """
        steps = [step for product in self.products for step in product.steps]
        found = torch.autograd.grad(
            [self.results[place] for place in cotangents],
            steps,
            list(cotangents.values()),
            retain_graph=keep,
            allow_unused=True,
            materialize_grads=True,
        )
        following = iter(found)
        for product in self.products:
            g = torch.stack([next(following) for _ in product.steps]).flatten(0, -3)
            g, x = widen(g.transpose(0, 1)), widen(product.x.transpose(0, 1))
            yield product.weight, Outer(Tokens(x), g.mT[:, None])
            yield product.bias, Formed(g.sum(1))


def unrolled(call: ModuleCall) -> Iterator[tuple[int, slice, str, Gradient]]:
    """The gradients of a recorded call of a recurrent layer."""
    reached = list(call.reached())
    if not reached:
        return
    args, kwargs = call.arguments(call.leaves)
    with torch.enable_grad():
        steps = unroll(call.site.module, *args, **kwargs)
    outputs = len(call.cotangents)
    for output in range(outputs):
        pulled = {place: cotangents[output] for place, _, cotangents in reached}
        for name, gradient in steps.gradients(pulled, keep=output + 1 < outputs):
            yield output, slice(0, len(gradient.source)), name, gradient


def unrolls(module: nn.Module) -> bool:
    """Whether this is a recurrent layer of a known kind."""
    return type(module).forward in _STEPS and not getattr(module, "proj_size", 0)


def unroll(layer: Any, input: Tensor, hx: Tensor | State | None = None) -> Unrolled:  # noqa: A002
    """The layer's results, step by step; arguments as the layer itself takes them."""
    step = _STEPS[type(layer).forward](layer)
    x = input.transpose(0, 1) if layer.batch_first else input
    directions = 2 if layer.bidirectional else 1
    parts = 2 if isinstance(layer, nn.LSTM) else 1
    if hx is None:
        hx = (x.new_zeros(layer.num_layers * directions, x.shape[1], layer.hidden_size),) * parts
    state = (hx,) if isinstance(hx, Tensor) else hx
    products: list[_Product] = []
    final: list[State] = []
    for number in range(layer.num_layers):
        outputs = []
        for direction in range(directions):
            start = tuple(part[len(final)] for part in state)
            suffix = f"_l{number}" + "_reverse" * direction
            output, end = _scan(layer, suffix, step, x.flip(0) if direction else x, start, products)
            outputs.append(output.flip(0) if direction else output)
            final.append(end)
        x = torch.cat(outputs, dim=-1)
    ends = [torch.stack(part) for part in zip(*final, strict=True)]
    return Unrolled([x.transpose(0, 1) if layer.batch_first else x, *ends], products)


def _scan(
    layer: nn.RNNBase, suffix: str, step: Step, x: Tensor, state: State, products: list[_Product]
) -> tuple[Tensor, State]:
    """One layer in one direction: outputs (t, b, hidden) and the last state."""

    def multiply(kind: str, values: Tensor) -> Tensor:
        bias = getattr(layer, f"bias_{kind}{suffix}") if layer.bias else None
        product = nn.functional.linear(values, getattr(layer, f"weight_{kind}{suffix}"), bias)
        return product if product.requires_grad else product.requires_grad_()

    from_input = multiply("ih", x)
    before, from_state = [], []
    for at_step in from_input:
        before.append(state[0])
        from_state.append(multiply("hh", state[0]))
        state = step(at_step, from_state[-1], state)
    outputs = torch.stack([*before[1:], state[0]])
    names = [(f"weight_{kind}{suffix}", f"bias_{kind}{suffix}") for kind in ("ih", "hh")]
    products.append(_Product(*names[0], x.detach(), [from_input]))
    products.append(_Product(*names[1], torch.stack(before).detach(), from_state))
    return outputs, state


def _lstm(layer: nn.RNNBase) -> Step:
    def step(x: Tensor, h: Tensor, state: State) -> State:
        i, f, g, o = (x + h).chunk(4, dim=-1)
        cell = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * cell.tanh(), cell

    return step


def _gru(layer: nn.RNNBase) -> Step:
    def step(x: Tensor, h: Tensor, state: State) -> State:
        (xr, xz, xn), (hr, hz, hn) = x.chunk(3, dim=-1), h.chunk(3, dim=-1)
        new = (xn + (xr + hr).sigmoid() * hn).tanh()
        kept = (xz + hz).sigmoid()
        return ((1 - kept) * new + kept * state[0],)

    return step


def _rnn(layer: nn.RNNBase) -> Step:
    activation = torch.relu if layer.mode == "RNN_RELU" else torch.tanh
    return lambda x, h, state: (activation(x + h),)


_STEPS: dict[Callable[..., object], Callable[[nn.RNNBase], Step]] = {
    nn.LSTM.forward: _lstm,
    nn.GRU.forward: _gru,
    nn.RNN.forward: _rnn,
}
