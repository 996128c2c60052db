"""Scores along a training that happened: the network's own outputs at every checkpoint, its gradients at both ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.functions import by_function, within
from uniqueinfo.jacobian.guard import prepared
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.units import InUnits
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.network import both_ends
from uniqueinfo.linearization.source import Chunk, Source
from uniqueinfo.progress import progress
from uniqueinfo.samples.checks import check_finite
from uniqueinfo.samples.samples import Samples
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Place, Problem
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.training import Recorded
from uniqueinfo.types import Index

_BATCH = 256


def recorded_network(model: nn.Module, training: Recorded, outputs: Outputs | None = None) -> nn.Module:
    """The network with its gradients at both ends of the training, in the units of its optimizer.

    What `trained=` takes is the case of which these two checkpoints are all that is known.
    """
    scales, last = within(training.scales(), outputs), len(training.points) - 1
    found = both_ends(_loaded(model, training, 0), training.state(last), outputs)
    if not scales:
        return found
    return InUnits(found, {f"{side}.{name}": scale for side in ("start", "end") for name, scale in scales.items()})


def network_at(model: nn.Module, training: Recorded, number: int, outputs: Outputs | None = None) -> nn.Module:
    """The network that gives the outputs, at a checkpoint; only what was trained is linearized."""
    return by_function(_loaded(model, training, number), outputs)


def _loaded(model: nn.Module, training: Recorded, number: int) -> nn.Module:
    copy = deepcopy(model)
    for name, parameter in copy.named_parameters():
        parameter.requires_grad_(name in training.trained and parameter.requires_grad)
    try:
        copy.load_state_dict(training.state(number))
    except RuntimeError as error:
        raise InputError(
            f"model: is not the network of the recording in {training.folder} ({' '.join(str(error).split())}); hand "
            "over the same network"
        ) from error
    return copy


def along(
    model: nn.Module,
    training: Recorded,
    train: Samples,
    val: Samples | None,
    device: Any,
    outputs: Outputs | None = None,
    *,
    numbers: Sequence[int],
) -> Along:
    """Outputs of the training samples at some checkpoints, the last among them, and of the validation samples there."""
    found = []
    with progress("Outputs at checkpoints", len(numbers)) as advance:
        for number in numbers:
            copy = network_at(model, training, number, outputs)
            found.append(_outputs(copy, train, device))
            advance(1)
    return Along(torch.stack(found), None if val is None else _outputs(copy, val, device))


def _outputs(model: nn.Module, samples: Samples, device: Any) -> Tensor:
    """(samples, k), in float64."""
    parts = [range(start, min(start + _BATCH, len(samples))) for start in range(0, len(samples), _BATCH)]
    with prepared(model, device, quiet=True), torch.no_grad():
        found = torch.cat([outputs_of(call(model, samples.inputs(part))).double() for part in parts])
    check_finite("the network's output", found, samples.ids)
    return found


@dataclass(frozen=True, eq=False)
class Along:
    """What the network said on its way."""

    train: Tensor
    """At some checkpoints, the last among them, (points, n, k)."""
    val: Tensor | None
    """After training, (m, k)."""

    def told(self, training: Recorded) -> dict[str, Any]:
        """What scores depend on: what the network said, and when."""
        sha = hashlib.sha256(np.ascontiguousarray(self.train.cpu().numpy()).tobytes())
        steps = training.steps
        for array in (steps.rates, steps.positions, steps.outputs):
            sha.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        return {"recording": {"digest": sha.hexdigest(), "points": json.loads(json.dumps(training.points))}}

    def problem(self, given: Problem, training: Recorded) -> Problem:
        """The problem of the network with these outputs."""
        return replace(
            given,
            sources=self._with(given.sources),
            ready=lambda sources, place: self._ready(given, sources, place),
            face=lambda sources, system: self._face(given, sources, system),
            settings={**given.settings, **self.told(training)},
        )

    def _with(self, sources: Sources) -> Sources:
        train = RecordedSource(sources.train, self.train[-1], self.train)
        if sources.val is None or self.val is None:
            return Sources(train)
        return Sources(train, RecordedSource(sources.val, self.val))

    def _ready(self, given: Problem, sources: Sources, place: Place) -> Sources:
        return self._with(given.ready(_inner(sources), place))

    def _face(self, given: Problem, sources: Sources, system: Eigensystem | None) -> Linearization:
        found = given.face(_inner(sources), system)
        chunk = sources.train.read(slice(0, sources.train.samples), rows=False)
        return replace(found, initial=chunk.initial, residual=chunk.residual, wanted=chunk.targets, along=chunk.along)


def _inner(sources: Sources) -> Sources:
    train, val = sources.train, sources.val
    assert isinstance(train, RecordedSource)
    return Sources(train.inner, val.inner if isinstance(val, RecordedSource) else None)


@dataclass(frozen=True, eq=False)
class RecordedSource(Source):
    """Samples of a network whose outputs after training are known: weights count from there."""

    inner: Source
    after: Tensor
    """Outputs after training, (samples, k)."""
    points: Tensor | None = None
    """Outputs at every checkpoint, (points, samples, k)."""

    @property
    def piece(self) -> int | None:  # type: ignore[override]
        """As of the network."""
        return self.inner.piece

    @property
    def samples(self) -> int:
        """How many there are."""
        return self.inner.samples

    @property
    def per_sample(self) -> int:
        """Outputs."""
        return self.inner.per_sample

    @property
    def width(self) -> int | None:
        """Columns of the Jacobian."""
        return self.inner.width

    @property
    def columns(self) -> int:
        """Each output has rows of its own."""
        return self.inner.columns

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """With outputs after training in the place of those before."""
        found = self.inner.read(index, rows=rows)
        after = self.after[index].to(found.initial)[..., None]
        points = None if self.points is None else self.points[:, index].to(found.initial)[..., None]
        return replace(found, initial=after, along=points, difference=None)

    def rows(self) -> Rows:
        """Those of the network."""
        return self.inner.rows()

    def digest(self, part: slice) -> str:
        """Of inputs and labels."""
        return self.inner.digest(part)

    def identity(self) -> dict[str, Any]:
        """The network."""
        return self.inner.identity()

    @property
    def device(self) -> torch.device:
        """Where the algebra runs."""
        return self.inner.device
