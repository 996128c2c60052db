"""From a network and its data to scores."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, Unpack

from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.information.smoothing import Smoothing
from uniqueinfo.jacobian.functions import Numbers, OutputFunction, as_outputs, told_of
from uniqueinfo.jacobian.guard import check_network, fingerprint
from uniqueinfo.jacobian.keeping import InMemory, KeepingPlan
from uniqueinfo.jacobian.network_rows import NetworkRows
from uniqueinfo.jacobian.outputs import OutputAverage, Outputs, OutputSketch
from uniqueinfo.jacobian.passes import Look, NetworkPasses
from uniqueinfo.jacobian.projections import Projection
from uniqueinfo.linearization.effort import Asked, Kept, Means, Size, choose_kept
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.network import (
    both_ends,
    kernel_folder,
    linearize_kernels,
    linearize_rows,
)
from uniqueinfo.linearization.network_sources import KernelSource, NetworkSource
from uniqueinfo.memory import as_bytes
from uniqueinfo.samples.checks import counted
from uniqueinfo.samples.samples import Samples
from uniqueinfo.samples.taken import TAKEN, samples_words
from uniqueinfo.samples.targets import say_unused
from uniqueinfo.scores.looked import Looked
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.agreement import Trial
from uniqueinfo.scoring.arrays import Columns, named
from uniqueinfo.scoring.driver import score_problem
from uniqueinfo.scoring.execution import Execution, Where
from uniqueinfo.scoring.pieces import Sources
from uniqueinfo.scoring.problem import Names, Place, Problem
from uniqueinfo.scoring.recorded import along, network_at, recorded_network
from uniqueinfo.scoring.retraced import Plan, Retracing
from uniqueinfo.spectrum.choice import Choice, choose
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.threads import sharing
from uniqueinfo.training import Auto, Recorded, Training, as_training
from uniqueinfo.training.loss_names import LOSSES
from uniqueinfo.training.optimizers import family

_WORTH_TELLING = 10.0  # seconds that rows take from which on it is said whether they are kept


def score(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    training: Training | Literal["auto"] = "auto",
    trained: nn.Module | Mapping[str, Tensor] | None = None,
    projection: Asked = "auto",
    outputs: Outputs | Numbers | None = None,
    smoothing: Smoothing | None = None,
    effects: int = 0,
    ids: Any = None,
    columns: Columns = None,
    **where: Unpack[Where],
) -> Scores:
    """How much each training sample matters to a network trained from its present weights.

    `model`: any nn.Module; it is left as it was.
    `train`, `val`: a torch Dataset of (x, y), a pair of arrays, a DataLoader or a Hugging Face dataset; scores come in
    the data set's order. Without labels `val` still gives functional information.
    `training`: a training algorithm, or "auto": a stable rate, stopped where the leave-one-out error is least.
    `trained`: the same network after its training, or its state_dict: gradients are then taken at both ends alike, and
    the scores follow the real network more closely.
    `projection`: None keeps every parameter; "auto" does while `effort` allows, and less otherwise. The choice hangs on
    sizes, effort (and `memory`, if you name it), not on where scores are computed or stored; its reason is kept.
    `outputs`: what counts as the network's outputs, where that is not what it returns: a function (model, inputs,
    targets) → numbers (batch, q), so that whatever has a loss can be scored (see `OutputFunction`; networks of Hugging
    Face that generate texts have `sequence_margin`); or an `OutputSketch`, which mixes many outputs down to a few.
    `smoothing` adds information with another smoothing than the identity.
    `effects` keeps, for each sample, this many of the validation samples it moves most.
    `ids`, `columns`: names and further columns of the samples, for the table.
    `where`: how it is computed, see `Execution`: effort, memory, device, engine, folder, out, keep, form, sketch,
    threads, progress. `effort`: "seconds", "minutes", "exact" or a time like "2min".

    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    >>> X, y = torch.tensor([[0.0, 0.0], [0.0, 0.1], [1.0, 1.0]]), torch.tensor([0, 0, 1])
    >>> int(score(model, (X, y), (X, y)).functional.argmax())  # the only sample of its class
    2
    """
    execution = Execution.of("score", where)
    check_network(model)
    counted_as = as_outputs(outputs, model)
    if isinstance(training, str) and training == "auto" and isinstance(counted_as, OutputFunction):
        training = Auto(loss=counted_as.loss)
    if isinstance(training, Recorded) and isinstance(counted_as, OutputFunction) and counted_as.loss not in LOSSES:
        training = replace(training, loss=counted_as.loss)  # a recording knows the loss of the network's own outputs
    network = Network(model, train, val, projection, counted_as, trained=trained)
    with sharing(execution.threads):
        problem, samples = network_problem(network, as_training(training), execution)
        names = named(samples.ids if ids is None else ids, columns, len(samples), problem.names.validation)
        scores = score_problem(replace(problem, smoothing=smoothing, effects=effects, names=names), execution)
    if counted_as is None:
        say_unused(scores.labels, scores.settings["outputs"])
    return scores


@dataclass(frozen=True, eq=False)
class Network:
    """A network with its data, and what of its gradients is wanted."""

    model: nn.Module
    train: Any
    val: Any = None
    projection: Asked = "auto"
    outputs: Outputs | None = None
    trained: nn.Module | Mapping[str, Tensor] | None = None

    def differentiated(self, training: Training) -> nn.Module:
        """The network whose gradients are taken."""
        self.check(training)
        if not isinstance(training, Recorded):
            return both_ends(self.model, self.trained, self.outputs)
        return recorded_network(self.model, training, self.outputs)

    def means(self, training: Training, execution: Execution) -> Means:
        """What there is to choose by; outputs may be taken to be alike where nobody said which count."""
        return Means(
            effort=execution.effort,
            memory=execution.memory,
            form=execution.form,
            sketch=execution.sketch,
            training=training,
            alike=self.outputs is None and training.in_closed_form and not isinstance(training, Recorded),
        )

    def check(self, training: Training) -> None:
        """Refuse what does not go together."""
        if isinstance(self.outputs, OutputSketch) and not training.in_closed_form:
            raise InputError("outputs: mixed outputs go with squared error alone; leave outputs out, or the loss")
        if isinstance(self.outputs, OutputAverage) and isinstance(training, Recorded):
            raise InputError("outputs: a recording is followed with every output as it is; leave outputs out")
        if isinstance(training, Recorded) and self.trained is not None:
            raise InputError("trained: a recording has the trained network; leave it out")


def network_problem(network: Network, training: Training, execution: Execution) -> tuple[Problem, Samples]:
    """The problem of a network, and its training samples; nothing is computed yet but a trial on a few of them."""
    problem, train, val = _problem(network, training, execution)
    told = Looked(fingerprint(network.model), train.glance(), None if val is None else val.glance(labelled=False))
    taken = _taken(network, problem, train, val)
    return replace(problem, settings={**problem.settings, "looked_at": asdict(told), TAKEN: taken}), train


def _taken(network: Network, problem: Problem, train: Samples, val: Samples | None) -> dict[str, str]:
    """What each argument was taken for."""
    outputs, asked = problem.sources.train.per_sample * problem.sources.train.columns, train.asked
    weights = sum(parameter.numel() for parameter in network.model.parameters())
    told = {
        "model": f"{type(network.model).__name__}: {weights:,} parameters, {outputs} "
        f"{'output' if outputs == 1 else 'outputs'}",
        "train": samples_words(network.train, train, outputs, asked=asked),
    }
    return told if val is None else told | {"val": samples_words(network.val, val, outputs, asked=asked)}


def _problem(network: Network, training: Training, execution: Execution) -> tuple[Problem, Samples, Samples | None]:
    if isinstance(training, Recorded) and (found := _retraced(network, training, execution)) is not None:
        return found
    passes = NetworkPasses(
        model=network.differentiated(training),
        projection=None,
        outputs=network.outputs,
        memory=as_bytes(execution.memory),
        device=execution.device,
        progress=execution.progress,
    )
    train = passes.samples(network.train)
    val = None if network.val is None else passes.samples(network.val, like=train)
    passes.check_labelled(train)
    passes.check_steady(train)
    look = passes.look(train)
    means, size = network.means(training, execution), Size.of(look, train, val)
    chosen = choose_kept(network.projection, size, means, network.outputs)
    if chosen.outputs != network.outputs:
        passes = passes.mixed(chosen.outputs)
        look = passes.look(train)
    ways = _Ways(passes.projected(chosen.projection, train), train, val, chosen, look, execution)
    problem = ways.by_kernels(training) if chosen.by_kernels else ways.by_rows(training)
    if chosen.less:
        scored = partial(_scored, network, execution)
        problem = replace(problem, trial=Trial(chosen, size, means, train, val, scored))
    problem = replace(problem, names=Names(validation=None if val is None else counted(val.ids)))
    if isinstance(training, Recorded):
        every = range(len(training.points))
        said = along(network.model, training, train, val, execution.device, network.outputs, numbers=every)
        problem = said.problem(problem, training)
    return problem, train, val


def _scored(
    network: Network,
    execution: Execution,
    training: Training,
    data: tuple[Any, Any],
    projection: Projection | None,
    outputs: Outputs | None,
) -> Scores:
    """Scores of some samples, with all or less of the network, in memory."""
    some = replace(network, train=data[0], val=data[1], projection=projection, outputs=outputs)
    here = Execution(memory=execution.memory, device=execution.device, threads=execution.threads, progress=False)
    return score_problem(_problem(some, training, here)[0], here)


def _retraced(
    network: Network, training: Recorded, execution: Execution
) -> tuple[Problem, Samples, Samples | None] | None:
    """A recorded training by its own steps; None where they are too many, or a projection is asked for."""
    network.check(training)
    if network.projection not in (None, "auto"):
        return None
    end = network_at(network.model, training, len(training.points) - 1, network.outputs)
    passes = NetworkPasses(end, None, network.outputs, as_bytes(execution.memory), execution.device, execution.progress)
    train = passes.samples(network.train)
    val = None if network.val is None else passes.samples(network.val, like=train)
    passes.check_labelled(train)
    passes.check_steady(train)
    look = passes.look(train)
    training.steps.check_told(look.outputs)
    plan = Plan.of(training, len(train), look, passes.memory, whole=network.projection is None)
    if plan is None:
        _say_stretches(training, len(train))
        return None
    said = along(network.model, training, train, val, execution.device, network.outputs, numbers=plan.unsaid(training))
    problem = Retracing(network.model, training, plan, train, val, look, said, execution, passes).problem()
    return replace(problem, names=Names(validation=None if val is None else counted(val.ids))), train, val


def _say_stretches(training: Recorded, samples: int) -> None:
    """Say that steps are too many to be taken again; refuse an optimizer that has no other way."""
    about, steps = training.about, f"{len(training.steps):,} steps"
    told = f"{steps} are too many to be taken again without each of {samples:,} samples"
    if family(about["optimizer"]) is None:
        raise InputError(f"training: {told}, and {about['optimizer']} is followed in no other way; score fewer samples")
    warnings.warn(
        f"{told}: the training is followed in stretches between its checkpoints instead. Clipping, decays that differ "
        "between groups and second moments that change are not followed there.",
        stacklevel=4,
    )


@dataclass(frozen=True, eq=False)
class _Ways:
    """The two ways to a network's problem: through exact kernels, or through Jacobian rows."""

    passes: NetworkPasses
    train: Samples
    val: Samples | None
    chosen: Kept
    look: Look
    execution: Execution

    def by_kernels(self, training: Training) -> Problem:
        """Kernels are computed once it is known where they can be kept."""
        train = KernelSource(self.passes, self.train, "train")
        val = None if self.val is None else KernelSource(self.passes, self.val, "val")
        return Problem(
            sources=Sources(train, val),
            choice=choose(self.look.outputs * len(self.train), None),
            training=training,
            face=self._kernel_face,
            settings=self._settings(),
            factor=self._factor(),
            ready=self._kernels,
        )

    def by_rows(self, training: Training) -> Problem:
        """Rows are computed when they are asked for, and kept where that is cheaper than computing them twice."""
        source = NetworkSource(self.passes.rows(self.train), self.passes)
        val = None if self.val is None else NetworkSource(source.jacobian.over(self.val), self.passes)
        return Problem(
            sources=Sources(source, val),
            choice=self._choice(source),
            training=training,
            face=self._row_face,
            settings=self._settings(),
            factor=self._factor(),
            ready=self._kept,
        )

    def _settings(self) -> dict[str, Any]:
        return {
            "projection": repr(self.chosen.projection),
            "projection_why": self.chosen.why,
            "effort": self.execution.effort,
            "output_average": repr(self.chosen.outputs) if isinstance(self.chosen.outputs, OutputAverage) else None,
            "notes": list(self.look.notes),
            **told_of(self.passes.outputs),
        }

    def _factor(self) -> float:
        return 1.0 if self.passes.outputs is None else self.passes.outputs.factor(self.look.classes)

    def _choice(self, source: NetworkSource) -> Choice:
        return choose(*source.jacobian.sides, self.execution.form, self.execution.sketch)

    def _kernels(self, sources: Sources, place: Place) -> Sources:
        found = self.passes.kernels(self.train, self.val, kernel_folder(place.work), trusted=place.owned)
        ready = [source.computed(found) for source in (sources.train, sources.val) if isinstance(source, KernelSource)]
        return Sources(*ready)

    def _kernel_face(self, sources: Sources, system: Eigensystem | None) -> Linearization:
        assert isinstance(sources.train, KernelSource)
        return linearize_kernels(sources.train, self.val, self.chosen, system)

    def _row_face(self, sources: Sources, system: Eigensystem | None) -> Linearization:
        assert isinstance(sources.train, NetworkSource)
        return linearize_rows(sources.train, self.val, self.chosen, self._choice(sources.train), system)

    def _kept(self, sources: Sources, place: Place) -> Sources:
        train, val = sources.train, sources.val
        assert isinstance(train, NetworkSource)
        found = replace(train, jacobian=self._keeping(train.jacobian, place, "train"))
        if val is None:
            return Sources(found)
        assert isinstance(val, NetworkSource)
        return Sources(found, replace(val, jacobian=self._keeping(val.jacobian, place, "val")))

    def _keeping(self, rows: NetworkRows, place: Place, name: str) -> NetworkRows:
        """Rows on disk where a folder is named and that is cheaper; else in memory where they fit."""
        keep = self.execution.keep
        if place.work is None and keep:
            raise InputError("keep: rows need a place; name a folder, or a run folder with out=…")
        if place.work is not None and keep is not False:
            asked = True if self.execution.out is None else keep  # a folder named for nothing but to keep them
            folder = (place.work / "rows" / name).resolve()
            plan = KeepingPlan.of(rows.bytes, rows.seconds * len(rows.data), folder, asked)
            if self.execution.progress and name == "train" and plan.computing > _WORTH_TELLING:
                print("\n".join(plan.lines()), file=sys.stderr)
            if plan.keep:
                return rows.kept_on_disk(folder, trusted=place.owned)
        fits = rows.bytes <= rows.network.memory // 2
        return rows.kept(InMemory()) if place.local and fits else rows
