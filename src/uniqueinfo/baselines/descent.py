"""Really training a network: copies that each lack other samples, by descent or along flow.

The loss, its conventions and the momentum are those of `uniqueinfo.training.GradientDescent`:

    v ← μv + ∇L(w),   w ← w − lr·v,   L(w) = Σᵢ cᵢ ℓ(f(xᵢ), yᵢ) + (λ/2)‖w − w0‖²

with ℓ the training's loss (½‖f − y‖² unless it names another), cᵢ = 1 ("sum") or 1/(samples left) ("mean"), and 0 for
a sample that is left out. A mini-batch of b of the n samples stands for all of them: under "sum" cᵢ = n/b whoever is
missing, under "mean" one over those present. Gradient flow, the limit of short steps, is followed by the leaps of
`stabilized`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vjp, vmap

from uniqueinfo.baselines.stabilized import LEAPS, Stride, Weights, begin, follow, reached
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import batch_size, outputs_of
from uniqueinfo.jacobian.peak import Peak
from uniqueinfo.samples.datasets import Inputs, map_leaves
from uniqueinfo.training import GradientDescent, GradientFlow

DecayTo = Literal["start", "zero"]
"""Where weight decay pulls the weights."""
Followed = GradientDescent | GradientFlow
"""Trainings that a real network can follow, step by step."""

_WORTH_SHARING = 2e8
"""Samples × weights of a step below which it is mostly overhead, which copies trained side by side share."""
_MOST_COPIES = 256
"""Networks trained side by side at most."""
_ITERATIONS = 10, 2
"""Steps of the power method: the first time, and later, when it starts where it ended."""
_TRIED = 4
"""Samples whose pass is measured, to know how many fit into memory."""
_NEAR = 2**24
"""Bytes of a pass that stay in a processor's caches: small convolutions take less time in such pieces."""
_FEWEST_AT_ONCE = 64
"""Samples that are not taken apart for it, as every pass reads all weights anew."""


@dataclass(eq=False)
class Descent:
    """A network, its data and a training algorithm; the network must be in evaluation mode, and is never changed."""

    model: nn.Module
    inputs: Inputs
    targets: Tensor
    training: Followed
    batch: int | None = None
    """Samples in a mini-batch; None: all of them."""
    seed: int = 0
    decay_to: DecayTo = "start"
    memory: int = 2**31
    start: Weights = field(init=False)
    pace: tuple[Stride, ...] = ()
    """Strides along flow: found by the first training, and kept by the others to be like it."""
    stepped: Callable[[int], None] = lambda copies: None
    """Told after every gradient of how many copies it was."""

    def __post_init__(self) -> None:
        self.start = {name: p.detach().clone() for name, p in self.model.named_parameters() if p.requires_grad}
        if not self.start:
            raise InputError("the network has no trainable parameter (all have requires_grad=False); set it on some")
        each = self._bytes_per_sample()
        self._rows = max(1, int(self.memory // each))
        near = max(_FEWEST_AT_ONCE, int(_NEAR // each)) if self.targets.device.type == "cpu" else self._rows
        self._at_once = min(self._rows, near)

    def copies(self) -> int:
        """How many copies to train side by side: several where a step is too small to keep the processor busy."""
        if any(isinstance(module, nn.modules.conv._ConvNd) for module in self.model.modules()):
            return 1  # convolutions with other weights for each copy fall back to slow grouped ones
        weights = sum(w.numel() for w in self.start.values())
        worth = _WORTH_SHARING / ((self.batch or len(self.targets)) * weights)
        fitting = self._rows / min(self._rows, self.batch or len(self.targets))
        found = int(min(worth, fitting, _MOST_COPIES, self.memory / (16 * 4 * weights)))
        return found if found > 1 and self._vectorizes() else 1

    def train(
        self, without: Sequence[Sequence[int]], after: Callable[[int, Weights], None] = lambda step, weights: None
    ) -> Weights:
        """Weights (copies, …) after training one copy without each of these groups; `after` sees those of each step."""
        count, copies = len(self.targets), len(without)
        kept = torch.ones(copies, count, dtype=self.targets.dtype, device=self.targets.device)
        for copy, group in enumerate(without):
            kept[copy, list(group)] = 0
        weights = {name: w.expand(copies, *w.shape).clone() for name, w in self.start.items()}
        if isinstance(self.training, GradientFlow):
            weights = self._flow(weights, kept, after, self.training)
        else:
            self._descend(weights, kept, after, self.training)
        if not all(bool(w.isfinite().all()) for w in weights.values()):
            raise InputError(
                f"training the network itself with lr={self.training.lr:g} diverges, though its linearization may not: "
                "lower lr (and raise steps to train as long)"
            )
        return weights

    def _descend(
        self, weights: Weights, kept: Tensor, after: Callable[[int, Weights], None], training: GradientDescent
    ) -> None:
        speed = {name: torch.zeros_like(w) for name, w in weights.items()}
        for step, chosen in enumerate(self._schedule(training.steps), start=1):
            slope = self.slope(weights, kept, chosen)
            for name, w in weights.items():
                speed[name].mul_(training.momentum).add_(slope[name])
                w.sub_(speed[name], alpha=training.lr)
            after(step, weights)

    def _flow(
        self, weights: Weights, kept: Tensor, after: Callable[[int, Weights], None], training: GradientFlow
    ) -> Weights:
        everyone = torch.arange(len(self.targets))

        def down(w: Weights) -> Weights:
            return {name: slope.neg_() for name, slope in self.slope(w, kept, everyone).items()}

        if self.pace:
            return follow(weights, down, self.pace, after)
        weights, self.pace = begin(weights, down, training.lr * training.time, self.sharpness(), after)
        return weights

    def sharpness(self) -> Callable[[Weights], float]:
        """The curvature at the first copy's weights; each call begins with the direction the one before ended with."""
        along, iterations = self.start, _ITERATIONS[0]

        def sharpness(weights: Weights) -> float:
            nonlocal along, iterations
            value, found = self._curvature({name: w[0] for name, w in weights.items()}, along, iterations)
            if not math.isfinite(value):
                return math.inf
            along, iterations = found, _ITERATIONS[1]
            return value + self.training.weight_decay

        return sharpness

    def slope(self, weights: Weights, kept: Tensor, chosen: Tensor) -> Weights:
        """∇L of every copy."""
        pull = self.start if self.decay_to == "start" else None
        gradient = self._gradient(weights, kept, chosen)
        for name, w in weights.items():
            gradient[name].add_(w if pull is None else w - pull[name], alpha=self.training.weight_decay)
        self.stepped(len(kept))
        return gradient

    def _curvature(self, weights: Weights, along: Weights, iterations: int) -> tuple[float, Weights]:
        """The loss's largest curvature, Gauss–Newton's, and its direction: the power method from a direction on."""
        scale = 1 / len(self.targets) if self.training.reduction == "mean" else 1.0
        value, criterion = 0.0, self.training.criterion
        for _ in range(iterations):
            norm = torch.stack([d.square().sum() for d in along.values()]).sum().sqrt()
            direction = {name: d / norm for name, d in along.items()}
            along = {name: torch.zeros_like(w) for name, w in weights.items()}
            targets = torch.split(self.targets, self._at_once)
            for part, wanted in zip(self._parts(self.inputs), targets, strict=True):

                def call(w: Weights, part: Inputs = part) -> Tensor:
                    return self._call(w, part)

                outputs, pull = vjp(call, weights)[:2]
                # J is the transpose of pull, which is linear: pulling back twice, for jvp warns of its own insides
                moved = vjp(lambda u, pull=pull: pull(u)[0], outputs)[1](direction)[0]
                if not criterion.is_quadratic:
                    moved = (criterion.curvature(outputs.detach(), wanted) @ moved[..., None])[..., 0]
                for name, gained in pull(moved * scale)[0].items():
                    along[name] += gained
            value = float(torch.stack([d.square().sum() for d in along.values()]).sum().sqrt())
        return value, along

    def outputs(self, weights: Weights, inputs: Inputs) -> Tensor:
        """Outputs (copies, m, k) of copies on other samples."""
        with torch.no_grad():
            found = [torch.cat([self._call(w, part) for part in self._parts(inputs)]) for w in _apart(weights)]
        return torch.stack(found)

    def _schedule(self, steps: int) -> Iterator[Tensor]:
        """Which samples each step sees: every epoch in another order, drawn from the seed."""
        count = len(self.targets)
        generator = torch.Generator().manual_seed(self.seed)
        waiting: list[Tensor] = []
        for _ in range(steps):
            if self.batch is None or self.batch >= count:
                yield torch.arange(count)
                continue
            waiting = waiting or list(torch.split(torch.randperm(count, generator=generator), self.batch))
            yield waiting.pop(0)

    def _gradient(self, weights: Weights, kept: Tensor, chosen: Tensor) -> Weights:
        """Gradients of every copy, over pieces of the batch that fit in memory."""
        chosen = chosen.to(kept.device)
        counted = kept[:, chosen]
        if self.training.reduction == "mean":
            counted = counted / counted.sum(dim=1, keepdim=True).clamp(min=1)
        else:
            counted = counted * (kept.shape[1] / len(chosen))
        copies, criterion = len(counted), self.training.criterion
        found = {name: torch.zeros_like(w) for name, w in weights.items()}
        size = self._at_once if copies == 1 else max(1, self._rows // copies)
        for part in torch.split(torch.arange(len(chosen)), size):
            at, c = chosen[part], counted[:, part]
            inputs, targets = _take(self.inputs, at), self.targets[at]

            def loss(w: Weights, c: Tensor, inputs: Inputs = inputs, targets: Tensor = targets) -> Tensor:
                return (c * criterion.value(self._call(w, inputs), targets)).sum()

            if copies > 1:
                gained = vmap(grad(loss))(weights, c)
            else:
                one = grad(loss)({name: w[0] for name, w in weights.items()}, c[0])
                gained = {name: g[None] for name, g in one.items()}
            for name, slope in found.items():
                slope.add_(gained[name])
        return found

    def _call(self, weights: Weights, inputs: Inputs) -> Tensor:
        args = inputs if isinstance(inputs, tuple) else () if isinstance(inputs, dict) else (inputs,)
        kwargs = inputs if isinstance(inputs, dict) else {}
        return outputs_of(functional_call(self.model, weights, args, kwargs)).reshape(batch_size(inputs), -1)

    def _parts(self, inputs: Inputs) -> Iterator[Inputs]:
        for at in torch.split(torch.arange(batch_size(inputs)), self._at_once):
            yield _take(inputs, at)

    def _bytes_per_sample(self) -> float:
        """Tensors of one sample's forward and backward pass: what a pass over a few takes beyond one over one."""
        return max(1.0, (self._peak(_TRIED) - self._peak(1)) / (_TRIED - 1))

    def _peak(self, samples: int) -> int:
        inputs = _take(self.inputs, torch.arange(samples) % len(self.targets))
        with Peak() as peak:
            grad(lambda w: self._call(w, inputs).square().sum())(self.start)
        return int(peak.bytes)

    def _vectorizes(self) -> bool:
        """Whether the network runs as several copies at once, and gives what one gives."""
        some = _take(self.inputs, torch.arange(2) % len(self.targets))
        both = {name: torch.stack([w, w]) for name, w in self.start.items()}
        try:
            with torch.no_grad():
                found = vmap(lambda w: self._call(w, some))(both)[1]
        except (RuntimeError, ValueError):
            return False
        with torch.no_grad():
            return torch.allclose(found, self._call(self.start, some), rtol=1e-4, atol=1e-5)


def looks(training: Followed) -> int:
    """How often the weights can be looked at on the way: after every step of descent, after every leap along flow.

    >>> looks(GradientDescent(lr=0.1, steps=50)), looks(GradientFlow(lr=0.1, time=50.0))
    (50, 24)
    """
    return LEAPS if isinstance(training, GradientFlow) else int(training.steps)


def until(training: Followed, step: int) -> Followed:
    """The same training stopped after a step, or after a leap along flow.

    >>> until(GradientFlow(lr=0.1, time=50.0), 22).time  # of 24
    25.0
    """
    if isinstance(training, GradientDescent):
        return replace(training, steps=step)
    return replace(training, time=training.time * reached(step))


def _take(inputs: Inputs, at: Tensor) -> Inputs:
    taken: Inputs = map_leaves(inputs, lambda _, leaf: leaf[at.to(leaf.device)])
    return taken


def _apart(weights: Weights) -> Iterator[Weights]:
    for copy in range(len(next(iter(weights.values())))):
        yield {name: w[copy] for name, w in weights.items()}
