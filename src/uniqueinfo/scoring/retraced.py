"""Scores along a training that happened, its steps taken again in some of its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.jacobian.coordinates import ChosenCoordinates, choose_coordinates, every_coordinate
from uniqueinfo.jacobian.functions import told_of, within
from uniqueinfo.jacobian.keeping import InMemory
from uniqueinfo.jacobian.network_rows import NetworkRows
from uniqueinfo.jacobian.outputs import Contrasts
from uniqueinfo.jacobian.passes import Look, NetworkPasses
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.network_sources import NetworkSource
from uniqueinfo.memory import as_bytes
from uniqueinfo.progress import progress, showing
from uniqueinfo.removal.blocks import Block, Some
from uniqueinfo.removal.learning import Learnt, looked_at, retraced
from uniqueinfo.removal.retracing import Between, Retraced, Weights
from uniqueinfo.removal.weighted import WeightedRows
from uniqueinfo.samples.samples import Samples
from uniqueinfo.scoring.execution import Execution
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Place, Problem
from uniqueinfo.scoring.recorded import Along, RecordedSource, along, network_at
from uniqueinfo.spectrum.choice import Choice
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.unrotated import Unrotated
from uniqueinfo.training import Recorded
from uniqueinfo.types import Indices

MOST_COLUMNS = {"SGD": 16_384, "others": 32_768}
"""Weights that stand for all: optimizers that divide by second moments spread the kernel over more of them."""
FEWEST_COLUMNS = 2_048
GRADIENTS, FEWEST_GRADIENTS = {"SGD": 3, "others": 5}, 3
"""Checkpoints at which gradients are taken: they change slowly. Fewer where they would cost more than the training."""
AFFORDABLE = 2e13
"""Operations of all steps: about five minutes of a processor."""
_SHARE = 0.5  # of the memory, for rows


@dataclass(frozen=True)
class Plan:
    """How a recorded training is followed step by step."""

    width: int
    """Weights."""
    points: tuple[int, ...]
    """Numbers of the checkpoints at which gradients are taken."""
    operations: float
    """Of all steps."""

    @classmethod
    def of(cls, training: Recorded, samples: int, look: Look, memory: int, *, whole: bool = False) -> Plan | None:
        """As many weights as are affordable; None where too few are."""
        steps = training.steps
        passed = len(steps) * samples if steps.sizes is None else int(steps.sizes.sum())
        per_sample = look.outputs - training.criterion.sees_differences(look.outputs)
        rows, optimizer = samples * per_sample, training.about["optimizer"]
        as_training = int(3 * passed / (samples + 2 * rows))  # a pass back costs about two forward
        gradients = min(GRADIENTS.get(optimizer, GRADIENTS["others"]), max(FEWEST_GRADIENTS, as_training))
        points = _spread(len(training.points), gradients)
        each = 4.0 * passed * rows  # operations of one weight
        bytes_each = 4.0 * len(points) * rows
        usual = MOST_COLUMNS.get(optimizer, MOST_COLUMNS["others"])
        most = look.parameters if whole else min(usual, look.parameters)
        width = most if whole else int(min(most, AFFORDABLE / each, _SHARE * memory / bytes_each))
        if width < min(FEWEST_COLUMNS, look.parameters):
            return None
        return cls(width, points, each * width)

    @staticmethod
    def unsaid(training: Recorded) -> Sequence[int]:
        """Checkpoints at which outputs are asked for: the last alone where the recording heard those of every step."""
        count = len(training.points)
        return range(count) if training.steps.outputs is None else [count - 1]


@dataclass(frozen=True, eq=False)
class Retracing:
    """A network along its recorded training."""

    model: nn.Module
    training: Recorded
    plan: Plan
    train: Samples
    val: Samples | None
    look: Look
    along: Along
    execution: Execution
    passes: NetworkPasses
    """Of the trained network."""
    held: dict[int, NetworkRows] = field(default_factory=dict)
    """Rows of the training samples, by the number of the checkpoint."""

    def problem(self) -> Problem:
        """The problem of the trained network, whose weights count from where they are."""
        end, val = self._rows(self.plan.points[-1]), None
        if self.val is not None and self.along.val is not None:
            val = RecordedSource(NetworkSource(end.over(self.val), self._passes), self.along.val)
        return Problem(
            sources=Sources(RecordedSource(NetworkSource(end, self._passes), self.along.train[-1]), val),
            choice=Choice("steps", end.width, f"{self.training.words()}: every step is taken again"),
            training=self.training,
            face=self._face,
            settings={
                "steps": {"operations": self.plan.operations, "gradients": len(self.plan.points)},
                "projection": repr(self.coordinates),
                "projection_why": self._why,
                "notes": list(self.look.notes),
                **told_of(self.passes.outputs),
                **self.along.told(self.training),
            },
            ready=self._ready,
            learn=lambda: self.learnt,
        )

    @cached_property
    def coordinates(self) -> ChosenCoordinates:
        """The weights that stand for all, those of a group of the optimizer next to each other."""
        end, groups = self._network(self.plan.points[-1]), self._groups
        if self.plan.width >= self.look.parameters:
            return every_coordinate(end).sorted(groups)
        networks, scales = [self._network(0), end], within(self.training.scales(), self.passes.outputs)
        found = choose_coordinates(networks, self.train, scales, self.plan.width, self.execution.device)
        return found.sorted(groups)

    @cached_property
    def learnt(self) -> Learnt:
        """The steps, ready to be taken again."""
        with showing(self.execution.progress):
            return retraced(how := self.steps(), alone(how, looked_at(len(self.train))))

    @property
    def _why(self) -> str:
        kept, of = self.coordinates.width, self.look.parameters
        return "exact: every weight is followed" if kept >= of else f"{kept:,} of {of:,} weights stand for all"

    @cached_property
    def _passes(self) -> NetworkPasses:
        return self.passes.projected(self.coordinates, self.train)

    def _network(self, number: int) -> nn.Module:
        """In eval mode: what that changes was said of the trained network."""
        return network_at(self.model, self.training, number, self.passes.outputs).eval()

    def _rows(self, number: int) -> NetworkRows:
        """Computed when they are asked for."""
        if number not in self.held:
            last = number == self.plan.points[-1]
            network = self._passes if last else self._passes.of(self._network(number)).mixed(self._seen)
            self.held[number] = network.rows(self.train)
        return self.held[number]

    @property
    def _seen(self) -> Contrasts | None:
        """What the loss sees of the outputs, where that is not all. Of the trained network all are wanted."""
        plain = self.passes.outputs is None and self.training.criterion.sees_differences(self.look.outputs)
        return Contrasts() if plain else None

    def _ready(self, sources: Sources, place: Place) -> Sources:
        """Keep rows: on disk where a folder is named, else in memory."""
        for number in self.plan.points:
            rows = self._rows(number)
            if place.work is not None and self.execution.keep is not False:
                folder = (place.work / "rows" / f"point-{number}").resolve()
                self.held[number] = rows.kept_on_disk(folder, trusted=place.owned)
            else:
                self.held[number] = rows.kept(InMemory())
        train, val = sources.train, sources.val
        assert isinstance(train, RecordedSource)
        end = self.held[self.plan.points[-1]]
        found = replace(train, inner=NetworkSource(end, self._passes))
        if val is None:
            return Sources(found)
        assert isinstance(val, RecordedSource)
        assert isinstance(val.inner, NetworkSource)
        inner = replace(val.inner, jacobian=val.inner.jacobian.kept(InMemory()))
        return Sources(found, replace(val, inner=inner))

    def _face(self, sources: Sources, system: Eigensystem | None) -> Linearization:
        train = sources.train
        chunk, rows = train.read(slice(0, train.samples), rows=False), train.rows()
        choice = Choice("steps", rows.width, "the training is followed step by step")
        return Linearization(
            rows,
            chunk.residual,
            chunk.initial,
            choice,
            known=system or Unrotated.of(rows),
            wanted=chunk.targets,
            learn=lambda: self.learnt,
            progress=self.execution.progress,
        )

    def validation_rows(self) -> Tensor:
        """Of the trained network, in float32, (m, k, width)."""
        assert self.val is not None
        held = self._rows(self.plan.points[-1]).over(self.val)
        return torch.cat([torch.from_numpy(np.array(held[part])) for part in held.pieces()])

    def steps(self) -> Retraced:
        """All that the steps need to be taken again: gradients are computed now."""
        training, steps = self.training, self.training.steps
        steps.check(len(self.train))
        times, points = steps.times(), training.points
        device = self.along.train.device
        weights, seen = self._weights(device), None if self._seen is None else self._seen.matrix(self.look.outputs)
        with progress("Gradients at checkpoints", len(self.plan.points) * len(self.train)) as advance:
            rows = []
            for number in self.plan.points:
                held = self._rows(number)
                found = torch.cat([torch.from_numpy(np.array(held[part])) for part in held.pieces()]).to(device)
                if seen is not None and held.per_sample == len(seen):
                    found = torch.einsum("nkw,kq->nqw", found, seen.to(found))
                rows.append(found.div_(weights.scale))
                advance(len(self.train))
        at = [int(point["step"]) for point in points]
        chunk = NetworkSource(self._rows(self.plan.points[-1]), self._passes).read(slice(None), rows=False)
        assert chunk.targets is not None
        return Retraced(
            training=training,
            loss=training.criterion,
            weights=weights,
            rows=Between(tuple(at[number] for number in self.plan.points), tuple(rows), times),
            outputs=Between(tuple(at[number] for number in self.plan.unsaid(training)), tuple(self.along.train), times),
            targets=chunk.targets.flatten(1).to(device),
            seen=None if seen is None else seen.to(device),
            moments=self._moments(at, device) if steps.sizes is None else None,
        )

    def _weights(self, device: torch.device) -> Weights:
        groups, chosen = self._groups, self.coordinates
        counts = [0] * len(self.training.about["options"])
        for name, places in chosen.kept.items():
            counts[groups[name]] += len(places)
        scale = torch.cat(list(chosen.scale.values()))
        start = within(self.training.state(0), self.passes.outputs)
        return Weights(self._picked(start).to(device), scale.float().to(device), tuple(counts))

    @property
    def _groups(self) -> Mapping[str, int]:
        """The number of its group of the optimizer, for every parameter."""
        groups: dict[str, int] = self.training.about["groups"]
        return within(groups, self.passes.outputs)

    def _moments(self, steps: Sequence[int], device: torch.device) -> Between | None:
        """Second moments where they were recorded; there are none before the first step."""
        known = [(0, torch.zeros(self.coordinates.width, device=device))]
        for number, step in enumerate(steps[1:], start=1):
            found = within(self.training.moments(number), self.passes.outputs)
            if set(self.coordinates.kept) <= set(found):
                known.append((step, self._picked(found).to(device)))
        if len(known) == 1:
            return None
        times = np.arange(steps[-1] + 1, dtype=np.float64)
        return Between(tuple(step for step, _ in known), tuple(value for _, value in known), times)

    def _picked(self, values: Any) -> Tensor:
        """Of the weights that stand for all, (width,)."""
        return torch.cat([values[name].flatten()[places].float() for name, places in self.coordinates.kept.items()])


def followed(model: nn.Module, train: Any, val: Any, training: Recorded, plan: Plan) -> Retracing:
    """A network along its recorded training by a plan of the caller's own."""
    execution = Execution.of("followed", {"progress": False})
    end = network_at(model, training, plan.points[-1])
    passes = NetworkPasses(end, None, None, as_bytes(execution.memory), execution.device, execution.progress)
    samples = passes.samples(train)
    others = passes.samples(val, like=samples)
    said = along(model, training, samples, others, execution.device, numbers=plan.unsaid(training))
    return Retracing(model, training, plan, samples, others, passes.look(samples), said, execution, passes)


def alone(how: Retraced, members: Indices) -> Block:
    """Samples that leave alone, of which nothing else is needed."""
    nothing = how.targets.new_zeros(len(members), 0, 0)
    return Block(members, Some(members[:, 0], WeightedRows(nothing, 1), how.targets[:0], how.targets[:0]))


def _spread(count: int, most: int) -> tuple[int, ...]:
    """Some numbers below `count`, both ends among them.

    >>> _spread(10, 5)
    (0, 2, 4, 7, 9)
    """
    return tuple(np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int)).tolist())
