"""What a job will take, before it is begun: sizes, form, memory, time."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from uniqueinfo.jacobian.guard import prepared as in_eval_mode
from uniqueinfo.jacobian.projections import Factorized
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.linearization.network_sources import KernelSource, NetworkSource
from uniqueinfo.linearization.source import Source
from uniqueinfo.memory import as_text, peak, resident
from uniqueinfo.progress import in_words
from uniqueinfo.runs.learning_cost import Cost, Sizes, learning_cost
from uniqueinfo.runs.photos.seeing import trial
from uniqueinfo.runs.prepared import Prepared
from uniqueinfo.samples.samples import as_samples
from uniqueinfo.scoring.problem import Problem
from uniqueinfo.scoring.recorded import RecordedSource
from uniqueinfo.spectrum.choice import Choice
from uniqueinfo.training import Auto, Recorded

_POLES = 20  # of one filter, real and imaginary
_TIMES = 29  # stopping times that "auto" looks at
_TRIAL = 4  # samples whose Jacobian rows are timed
_PASS = 256 * 2**20  # bytes of a batch on its way through the network, beside exact kernels
_AFTER = 1e11  # operations in whose time suspects are found and the page is written
_WITH_ROWS = 2.0  # what steps take with the rows they read, for one of their products


@dataclass(frozen=True)
class Plan:
    """Sizes and estimates, of the whole command; the time is of this machine as busy as it is now."""

    samples: int
    validation: int
    outputs: int
    width: int | None
    """None where exact kernels stand for the columns."""
    form: Literal["dual", "primal", "sketch", "steps"]
    side: int
    why: str
    projection: str
    """How the Jacobian is projected, and why."""
    rows_bytes: int
    memory_bytes: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)

    def lines(self) -> dict[str, str]:
        """For people."""
        return {
            "training samples (n)": f"{self.samples:,}",
            "validation samples (m)": f"{self.validation:,}",
            "outputs (k)": f"{self.outputs:,}",
            "columns of the Jacobian (D)": "all, through kernels" if self.width is None else f"{self.width:,}",
            "projection": self.projection,
            "form": self._form(),
            "reason": self.why,
            "Jacobian rows": as_text(self.rows_bytes),
            "memory": f"about {as_text(self.memory_bytes)}",
            "time": f"about {in_words(self.seconds)}",
        }

    def _form(self) -> str:
        if self.form == "steps":
            return f"steps: the training is followed in {self.side:,} weights"
        return f"{self.form}: eigenvalues of a {self.side:,} × {self.side:,} matrix"


def plan(prepared: Prepared, begun: float = 0.0) -> Plan:
    """Estimate from the shapes, from a few samples' rows, and from how fast a matrix product is here.

    `begun` are the seconds that the command has taken so far: it will take them again, to start and to read the data.
    """
    prepared, seeing = _unseen(prepared)
    problem = prepared.problem(prepared.execution(Path()))
    found = _of_scores(problem, prepared, seeing)
    after = begun + _AFTER / _flops_per_second()
    held = max(found.memory_bytes + resident(), peak())  # the peak is of the data, and of a frozen network at work
    return replace(found, seconds=found.seconds + after, memory_bytes=held)


def _of_scores(problem: Problem, prepared: Prepared, seeing: float) -> Plan:
    """What the scores alone take; `seeing`: the seconds a frozen network needs for one picture."""
    train, val, choice = problem.sources.train, problem.sources.val, problem.choice
    others = 0 if val is None else val.samples * val.per_sample
    rows, width, each = train.samples * train.per_sample, train.width, _seconds_of(train, prepared)
    if choice.form == "steps":
        return _of_steps(problem, each)
    side = choice.side
    beside = 0
    if isinstance(train, KernelSource):
        products, beside = _kernels(train, 0 if val is None else val.samples)
        flops, width = products + 2.0 * others * side**2, side
    else:
        assert width is not None
        flops = 2.0 * rows * width * side + 2.0 * (rows + others) * width * side
    rank = side + width if choice.form == "sketch" else side
    n, k = train.samples, train.per_sample * train.columns
    flops += 10.0 * side**3 + 2.0 * n * rank**2 + _sketching(choice, rows, others, width)
    flops += 0.0 if problem.trial is None else problem.trial.operations
    speed, learning = _flops_per_second(), Cost()
    if problem.training.in_closed_form or isinstance(problem.training, Recorded):
        filters = _TIMES if isinstance(problem.training, Auto) else 1
        flops += 2 * filters * _POLES * rows * rank * (train.per_sample + k)
    else:
        sizes = Sizes(n, 0 if val is None else val.samples, train.per_sample, train.columns, side)
        learning = learning_cost(sizes, problem.training, speed)
    kept = 0 if train.head else 4 * (rows + others) * (width if train.width else side)
    return Plan(
        samples=n,
        validation=0 if val is None else val.samples,
        outputs=k,
        width=train.width,
        form=choice.form,
        side=side,
        why=choice.why,
        projection=str(problem.settings.get("projection_why", "none: a linear head has few columns")),
        rows_bytes=kept,
        memory_bytes=max(8 * (3 * side**2 + _held(choice, rows, others, width)) + kept + learning.bytes, beside),
        seconds=learning.seconds + flops / speed + (each + seeing) * (n + (0 if val is None else val.samples)),
    )


def _of_steps(problem: Problem, each: float) -> Plan:
    """A recorded training that is followed step by step; `each`: the seconds of one sample's rows."""
    train, val, choice, told = problem.sources.train, problem.sources.val, problem.choice, problem.settings["steps"]
    n, k, m, width = train.samples, train.per_sample, 0 if val is None else val.samples, choice.side
    kept = 4 * (told["gradients"] * n + m) * k * width
    flops = _WITH_ROWS * told["operations"] / 2 + 4 * n * m * k * width  # steps are of float32, twice as quick
    return Plan(
        samples=n,
        validation=m,
        outputs=k,
        width=width,
        form=choice.form,
        side=width,
        why=choice.why,
        projection=str(problem.settings["projection_why"]),
        rows_bytes=kept,
        memory_bytes=2 * kept + 4 * n * width * (8 + 4 * k),
        seconds=flops / _flops_per_second() + each * (told["gradients"] * n + m),
    )


def _unseen(prepared: Prepared) -> tuple[Prepared, float]:
    """With zeros for what a frozen network would see, where there is one, and the seconds it takes for a picture."""
    network = prepared.job.model.frozen()
    if network is None:
        return prepared, 0.0
    width, seconds = trial(network, prepared.train.inputs, prepared.job.device)
    train, val = (replace(data, inputs=np.zeros((len(data), width))) for data in (prepared.train, prepared.val))
    return replace(prepared, train=train, val=val), seconds


def _sketching(choice: Choice, rows: int, others: int, width: int) -> float:
    """What a sketch takes besides: its blocks, the parts of all rows outside it, and the samples it follows."""
    return 2 * (4 * rows + others) * width * choice.side if choice.form == "sketch" else 0


def _held(choice: Choice, rows: int, others: int, width: int) -> int:
    """Numbers held beside the matrix: the rows in the eigenbasis; of a sketch its directions, twice, and the metric."""
    if choice.form != "sketch":
        return rows * choice.side
    rank = choice.side + width
    return 4 * width * choice.side + min(others, rank) * rank


def _kernels(train: KernelSource, others: int) -> tuple[float, int]:
    """Operations for all pairs of samples, and bytes held for them: those there is room for."""
    look, n, outputs = train.passes.look(train.data), train.samples, train.passes.outputs
    taken = look.outputs if outputs is None else outputs.matrix(look.classes).shape[1]
    alike = outputs is not None and outputs.alike
    operations = (n * n / 2 + n * others) * look.counted.kernel(taken, alike=alike)
    side = n * train.per_sample
    held = 8 * side * (side + others * train.per_sample) + (n + others) * look.counted.held(taken, alike=alike)
    return operations, min(train.passes.memory, held) + _PASS


def _seconds_of(train: Source, prepared: Prepared) -> float:
    """For the rows of one sample, or for its part of exact kernels."""
    if train.head:
        return 0.0
    network = prepared.network()
    train = train.inner if isinstance(train, RecordedSource) else train
    samples = as_samples(prepared.samples()[0], device=prepared.job.device)
    projection = train.jacobian.network.projection if isinstance(train, NetworkSource) else Factorized(1)
    outputs = train.passes.outputs if isinstance(train, NetworkSource | KernelSource) else None
    count = min(_TRIAL, len(samples))
    with in_eval_mode(network, prepared.job.device):
        batch = samples.inputs(range(count))
        engine = RowEngine(network, batch, projection, outputs=outputs if outputs is None or outputs.alike else None)
        engine(batch)
        started = time.perf_counter()
        engine(batch)
        return (time.perf_counter() - started) / count


def _flops_per_second() -> float:
    side = 768
    matrix = torch.randn(side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    matrix @ matrix
    started = time.perf_counter()
    matrix @ matrix
    return 2 * side**3 / (time.perf_counter() - started)
