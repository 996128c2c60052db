"""Some of a network's weights that stand for all: chosen where its gradients are, each counting for those like it.

A weight j is kept with a probability π_j that grows with q_j, what it has to do with the outputs, and its column of the
Jacobian counts 1/√π_j times. The kernel then comes out right on average,

    E Σ_{kept j} J_aj J_bj / π_j = Σ_j J_aj J_bj,

and closely where q_j follows P_j Σ J_j², the share of the weight in the kernel, P what an optimizer multiplies its
gradient by.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError, check_seed
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.guard import prepared
from uniqueinfo.jacobian.projections import Columns, Shapes
from uniqueinfo.samples.border import WHOLE
from uniqueinfo.samples.samples import Samples

_LOOKED_AT = 32  # samples whose gradients say where the kernel is
_OF_ITS_LAYER, _OF_ALL = 0.3, 0.1  # how much weights count as those of their layer, and as any: few samples say little
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class ChosenCoordinates:
    """Weights by name of their parameter: which are kept, and by how much each counts."""

    kept: Mapping[str, Tensor]
    """Places in the flattened parameter."""
    scale: Mapping[str, Tensor]
    """1/√π of each."""
    told: str = ""
    """What says which these are, where that is not the draw itself."""

    def __repr__(self) -> str:
        if self.told:
            return self.told
        sha = hashlib.sha256()
        for name, places in self.kept.items():
            sha.update(f"{name} ".encode() + places.numpy().tobytes() + self.scale[name].numpy().tobytes())
        return f"ChosenCoordinates({self.width}, {sha.hexdigest()[:12]})"

    @property
    def width(self) -> int:
        """How many there are."""
        return sum(len(places) for places in self.kept.values())

    def sorted(self, groups: Mapping[str, int]) -> ChosenCoordinates:
        """The same, parameters of the first group first."""
        names = sorted(self.kept, key=groups.__getitem__)
        return ChosenCoordinates({name: self.kept[name] for name in names}, {name: self.scale[name] for name in names})

    def layout(self, shapes: Shapes, device: torch.device) -> dict[str, Columns]:
        """See `Projection`."""
        found, start = {}, 0
        for name, places in self.kept.items():
            stop = start + len(places)
            found[name] = self._columns(name, start, stop, device)
            start = stop
        return {name: found[name] for name in shapes}

    def _columns(self, name: str, start: int, stop: int, device: torch.device) -> Columns:
        places, scale = self.kept[name].to(device), self.scale[name].to(device)
        return Columns(start, stop, lambda gradient: gradient.at(places) * scale.to(gradient.source.dtype))


@dataclass(frozen=True)
class KernelCoordinates:
    """Keep about `total` weights of the whole network, drawn where the kernel is (see above).

    Which these are depends on the network and on a few samples, so they are drawn once, before rows are computed.
    """

    total: int = 4000
    seed: int = 0
    """Draws the weights."""

    def __post_init__(self) -> None:
        WHOLE.check("total", self.total)
        check_seed("seed", self.seed)
        if self.total < 1:
            raise InputError(f"total: expected how many weights to keep, 1 or more, got {self.total}")

    def drawn(
        self, network: nn.Module, samples: Samples, device: torch.device | str | None = None
    ) -> ChosenCoordinates:
        """The weights themselves."""
        found = choose_coordinates([network], samples, {}, self.total, device, self.seed)
        return replace(found, told=repr(self))

    def layout(self, shapes: Shapes, device: torch.device) -> dict[str, Columns]:
        """See `Projection`."""
        raise InputError("KernelCoordinates are drawn for a network and its samples: hand them to score or linearize")


def every_coordinate(network: nn.Module) -> ChosenCoordinates:
    """All that are trained, as they are."""
    sizes = {name: w.numel() for name, w in network.named_parameters() if w.requires_grad}
    return ChosenCoordinates(
        {name: torch.arange(size) for name, size in sizes.items()},
        {name: torch.ones(size, dtype=torch.float64) for name, size in sizes.items()},
    )


def choose_coordinates(
    networks: Iterable[nn.Module],
    samples: Samples,
    scales: Mapping[str, Tensor],
    count: int,
    device: torch.device | str | None = None,
    seed: int = 0,
) -> ChosenCoordinates:
    """About so many weights of a network, seen at some points of its training; `scales` are √P of its parameters."""
    shares: dict[str, Tensor] = {}
    for network in networks:
        for name, squares in _squares(network, samples, device, seed).items():
            shares[name] = shares.get(name, torch.zeros_like(squares)) + squares
    weighted = {
        name: squares * scales[name].flatten().to(squares).square() if name in scales else squares
        for name, squares in shares.items()
    }
    chance = _chances(weighted, count)
    generator = np.random.default_rng(seed)
    drawn = {name: torch.from_numpy(generator.random(len(each))) < each for name, each in chance.items()}
    kept = {name: torch.nonzero(each)[:, 0] for name, each in drawn.items()}
    return ChosenCoordinates(kept, {name: chance[name][places] ** -0.5 for name, places in kept.items()})


def _squares(network: nn.Module, samples: Samples, device: torch.device | str | None, seed: int) -> dict[str, Tensor]:
    """Σ J_j² over all outputs of a few samples, for every weight: by signs at random, E (Σ ±J)² = Σ J²."""
    looked_at = np.unique(np.linspace(0, len(samples) - 1, min(_LOOKED_AT, len(samples))).round().astype(int))
    signs = torch.Generator().manual_seed(seed)
    with prepared(network, device, quiet=True):
        trained = {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}
        total = {name: torch.zeros_like(parameter).flatten().float() for name, parameter in trained.items()}
        for sample in looked_at.tolist():
            outputs = outputs_of(call(network, samples.inputs([sample])))
            drawn = torch.randint(2, outputs.shape, generator=signs) * 2.0 - 1
            found = torch.autograd.grad((outputs * drawn.to(outputs)).sum(), list(trained.values()), allow_unused=True)
            for name, gradient in zip(trained, found, strict=True):
                if gradient is not None:
                    flat = gradient.detach().flatten().float()
                    total[name].addcmul_(flat, flat)  # in place: networks have millions
    return {name: squares.double().cpu() for name, squares in total.items()}


def _chances(shares: Mapping[str, Tensor], count: int) -> dict[str, Tensor]:
    """π of every weight: in proportion to its share, at most 1, `count` together."""
    whole, size = sum(float(each.sum()) for each in shares.values()), sum(len(each) for each in shares.values())
    if count >= size:
        return {name: torch.ones_like(each) for name, each in shares.items()}
    whole = whole or 1.0
    wanted = {
        name: each / whole + _OF_ITS_LAYER * float(each.mean()) / whole + _OF_ALL / size
        for name, each in shares.items()
    }
    low, high = 0.0, float(size) * size
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5 if low else high / 2**20
        if sum(float((middle * each).clamp(max=1).sum()) for each in wanted.values()) > count:
            high = middle
        else:
            low = middle
    return {name: (low * each).clamp(max=1) for name, each in wanted.items()}
