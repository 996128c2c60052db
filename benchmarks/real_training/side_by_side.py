"""Many trainings of one small network at once: layer by layer one batched product for all of them.

For multilayer perceptrons with ReLU and dropout, softmax cross-entropy and SGD with momentum. Random numbers are those
that a loop with PyTorch's `DataLoader` and `nn.Dropout` would draw, so it is the same training up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from benchmarks.real_training.dattri_training import Digits, Setting


class Stream:
    """What one training draws: initial weights, orders of samples, masks of dropout; all from its seed."""

    def __init__(self, network: nn.Module, state: Tensor) -> None:
        """`state`: of the generator once the network was made."""
        self.network = network
        self._generator = torch.Generator()
        self._generator.set_state(state)

    def order(self, samples: int, *, shuffled: bool) -> Tensor:
        """Of one epoch, (samples,)."""
        self._number()  # the loader's own, for workers that it has not
        if not shuffled:
            return torch.arange(samples)
        return torch.randperm(samples, generator=torch.Generator().manual_seed(self._number()))

    def mask(self, rows: int, width: int, rate: float) -> Tensor:
        """What dropout multiplies by."""
        return torch.empty(rows, width).bernoulli_(1 - rate, generator=self._generator).div_(1 - rate)

    def _number(self) -> int:
        return int(torch.empty((), dtype=torch.int64).random_(generator=self._generator))


class Perceptrons:
    """Networks of the same linear layers, with ReLU and dropout after all but the last, in stacked weights."""

    def __init__(self, networks: Sequence[nn.Module], optimizer: Optimizer) -> None:
        """The optimizer's rate and momentum are taken."""
        group = optimizer.param_groups[0]
        self._lr, self._momentum = float(group["lr"]), float(group["momentum"])
        self.layers = [_linear(network) for network in networks]
        self.widths = [layer.out_features for layer in self.layers[0]]
        dropouts = {module.p for module in networks[0].modules() if isinstance(module, nn.Dropout)}
        self.dropout = dropouts.pop() if dropouts else 0.0
        each = list(zip(*self.layers, strict=True))
        self._weights = [torch.stack([layer.weight.detach().T for layer in same]) for same in each]
        self._biases = [torch.stack([layer.bias.detach()[None] for layer in same]) for same in each]
        self._speeds = [torch.zeros_like(held) for held in (*self._weights, *self._biases)]

    def step(self, X: Tensor, y: Tensor, masks: Sequence[Tensor]) -> None:
        """One step of every network on its own batch: X (s, b, d), y (s, b), one mask after each hidden layer."""
        inputs, current = [X], X
        for number, mask in enumerate(masks):
            current = torch.baddbmm(self._biases[number], current, self._weights[number]).relu_().mul_(mask)
            inputs.append(current)
        outputs = torch.baddbmm(self._biases[-1], current, self._weights[-1])
        slope = outputs.softmax(dim=2)
        slope.scatter_add_(2, y[..., None], slope.new_full((*y.shape, 1), -1.0)).div_(y.shape[1])
        for number in reversed(range(len(self.widths))):
            steps = inputs[number].mT @ slope, slope.sum(dim=1, keepdim=True)
            if number:
                slope = (slope @ self._weights[number].mT).mul_(masks[number - 1]).mul_(inputs[number] > 0)
            self._move(self._weights[number], self._speeds[number], steps[0])
            self._move(self._biases[number], self._speeds[len(self.widths) + number], steps[1])

    def outputs(self, X: Tensor) -> Tensor:
        """Of every network for all rows, without dropout, (s, m, k)."""
        current = X.expand(len(self.layers), *X.shape)
        for weight, bias in zip(self._weights[:-1], self._biases[:-1], strict=True):
            current = torch.baddbmm(bias, current, weight).relu_()
        return torch.baddbmm(self._biases[-1], current, self._weights[-1])

    def _move(self, held: Tensor, speed: Tensor, gradient: Tensor) -> None:
        if self._momentum:
            gradient = speed.mul_(self._momentum).add_(gradient)
        held.sub_(gradient, alpha=self._lr)


def train_all(setting: Setting, data: Digits, seeds: Sequence[int], kept: Tensor, *, shuffled: bool) -> Perceptrons:
    """As `dattri_training.train` does, one network for each seed and row of `kept`, (s, samples)."""
    drawn = _streams(seeds, setting)
    networks = Perceptrons([drawn[seed].network for seed in seeds], setting.optimizer(drawn[seeds[0]].network))
    for _ in range(setting.epochs):
        orders = {seed: stream.order(kept.shape[1], shuffled=shuffled) for seed, stream in drawn.items()}
        positions = torch.stack([row[orders[seed]] for seed, row in zip(seeds, kept, strict=True)])
        for batch in torch.split(positions, setting.batch, dim=1):
            masks = []
            for width in networks.widths[:-1]:
                each = [stream.mask(batch.shape[1], width, networks.dropout) for stream in drawn.values()]
                masks.append(torch.stack(each))  # one for all where all have the same seed
            networks.step(data.X[batch], data.y[batch], masks)
    return networks


def _streams(seeds: Sequence[int], setting: Setting) -> dict[int, Stream]:
    """Of each seed; in the order of the seeds, which are all the same or all different."""
    if len(set(seeds)) not in (1, len(seeds)):
        raise ValueError("seeds: expected one for all, or another for each")
    found = {}
    with torch.random.fork_rng(devices=[]):
        for seed in dict.fromkeys(seeds):
            torch.manual_seed(seed)
            network = setting.network()
            found[seed] = Stream(network, torch.get_rng_state())
    return found


def _linear(network: nn.Module) -> list[nn.Linear]:
    return [module for module in network.modules() if isinstance(module, nn.Linear)]
