"""What a job will take, before it is begun: sizes, form, memory, time."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from uniqueinfo.memory import as_text
from uniqueinfo.runs.prepared import Prepared
from uniqueinfo.spectrum.choice import Choice, choose

_POLES = 20  # of one filter, real and imaginary
_TIMES = 29  # stopping times that "auto" looks at
_TRIAL = 4  # samples whose Jacobian rows are timed


@dataclass(frozen=True)
class Plan:
    """Sizes and estimates; the time is of this machine as busy as it is now."""

    samples: int
    validation: int
    outputs: int
    width: int
    form: Literal["dual", "primal", "sketch"]
    side: int
    why: str
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
            "columns of the Jacobian (D)": f"{self.width:,}",
            "form": f"{self.form}: eigenvalues of a {self.side:,} × {self.side:,} matrix",
            "reason": self.why,
            "Jacobian rows": as_text(self.rows_bytes),
            "memory": f"about {as_text(self.memory_bytes)}",
            "time": f"about {_duration(self.seconds)}",
        }


def plan(prepared: Prepared) -> Plan:
    """Estimate from the shapes, from a few samples' rows, and from how fast a matrix product is here."""
    n, m, k = len(prepared.train), len(prepared.val), prepared.outputs
    if prepared.job.model.linear:
        width, each, per_sample = int(np.prod(prepared.train.inputs.shape[1:])) + 1, 0.0, 1
    else:
        (width, each), per_sample = _trial(prepared), k
    rows, others = n * per_sample, m * per_sample
    kernel = prepared.job.projection is None and not prepared.job.model.linear
    choice = choose(rows, None if kernel else width, sketch=prepared.job.sketch)
    side = choice.side
    rank = side + width if choice.form == "sketch" else side
    flops: float = 2 * rows * width * side + 10 * side**3 + 2 * (rows + others) * width * side + 2 * n * rank**2
    flops += _sketching(choice, rows, others, width)
    filters = _TIMES if prepared.job.training == "auto" else 1
    flops += 2 * filters * _POLES * rows * rank * (per_sample + k)
    return Plan(
        n,
        m,
        k,
        width,
        choice.form,
        side,
        choice.why,
        0 if prepared.job.model.linear else 4 * (n + m) * k * width,
        8 * (3 * side**2 + _held(choice, rows, others, width)) + 4 * (rows + others) * width,
        flops / _flops_per_second() + each * (n + m),
    )


def _sketching(choice: Choice, rows: int, others: int, width: int) -> float:
    """What a sketch takes besides: its blocks, the parts of all rows outside it, and the samples it follows."""
    return 2 * (4 * rows + others) * width * choice.side if choice.form == "sketch" else 0


def _held(choice: Choice, rows: int, others: int, width: int) -> int:
    """Numbers held beside the matrix: the rows in the eigenbasis; of a sketch its directions, twice, and the metric."""
    if choice.form != "sketch":
        return rows * choice.side
    rank = choice.side + width
    return 4 * width * choice.side + min(others, rank) * rank


def _trial(prepared: Prepared) -> tuple[int, float]:
    """Columns of the Jacobian, and seconds for the rows of one sample."""
    from uniqueinfo.jacobian import Factorized, RowEngine
    from uniqueinfo.jacobian.guard import prepared as in_eval_mode
    from uniqueinfo.samples.samples import as_samples

    network = prepared.network()
    size = prepared.job.projection
    samples = as_samples(prepared.samples()[0], device=prepared.job.device)
    with in_eval_mode(network, prepared.job.device):
        batch = samples.inputs(range(min(_TRIAL, len(samples))))
        engine = RowEngine(network, batch, Factorized(size or 1))
        engine(batch)
        started = time.perf_counter()
        engine(batch)
        each = (time.perf_counter() - started) / min(_TRIAL, len(samples))
    whole = sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
    return (whole if size is None else engine.width), each


def _flops_per_second() -> float:
    import torch

    side = 768
    matrix = torch.randn(side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    matrix @ matrix
    started = time.perf_counter()
    matrix @ matrix
    return 2 * side**3 / (time.perf_counter() - started)


def _duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> _duration(0.3), _duration(75), _duration(9000)
    ('1 s', '1 min 15 s', '2 h 30 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
