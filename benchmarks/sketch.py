"""A sketch against the whole: ``python -m benchmarks.sketch``.

For several numbers of directions: the error of every score, how many of the estimated errors cover it, the ranking, and
the time beside that of the exact form; on MNIST, an MLP of 1024, projected, trained for the time with the least
leave-one-out error (where the sketch can tell about it). Prints a table and writes it as JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr
from torch import Tensor, nn

from benchmarks.data import FOLDER, mnist_4v9, mnist_digits
from benchmarks.options import small_and_json
from uniqueinfo import GradientFlow, InputError, Linearization, stopping_curve
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.information.measures import Measures
from uniqueinfo.information.uncertainty import Uncertainty
from uniqueinfo.jacobian import Factorized, RowEngine
from uniqueinfo.spectrum.sketch import Sketched
from uniqueinfo.types import Floats

_NAMES = ("functional", "weight", "loo_outputs")


@dataclass(frozen=True)
class Case:
    """Rows and residuals, and validation rows."""

    name: str
    J: NDArray[np.float32]
    residual: Floats
    J_val: NDArray[np.float32]
    directions: tuple[int, ...]


@dataclass(frozen=True)
class Line:
    """One measure of one sketch."""

    case: str
    directions: int
    tail: float
    """How far training goes in the directions left out: φ(0)·μ."""
    measure: str
    median: float
    worst: float
    """Relative errors: of half of the samples, and of the 95 % best."""
    coverage: float
    """The share of samples whose error is no larger than estimated."""
    looseness: float
    """Estimated over true error, the median."""
    rank: float
    seconds: float
    """Processor time: what others do on the machine does not count."""
    exact_seconds: float


def main() -> None:
    given = small_and_json(__doc__, "a few hundred samples: a minute", "sketch.json")
    console = Console(width=170)
    lines: list[Line] = []
    table = Table(
        *(
            "case",
            "directions",
            "φ(0)·μ",
            "measure",
            "median error",
            "95 %",
            "covered",
            "est. / true",
            "rank",
            "s",
            "exact s",
        )
    )
    for case in cases(given.small):
        for line in compare(case):
            lines.append(line)
            table.add_row(
                line.case,
                f"{line.directions:,}",
                f"{line.tail:.2f}",
                line.measure,
                f"{line.median:.2%}",
                f"{line.worst:.2%}",
                f"{line.coverage:.1%}",
                f"{line.looseness:.1f}",
                f"{line.rank:.4f}",
                f"{line.seconds:.1f}",
                f"{line.exact_seconds:.1f}",
            )
            given.json.write_text(json.dumps([asdict(line) for line in lines], indent=1), encoding="utf-8")
    console.print(table)


def cases(small: bool) -> Iterator[Case]:
    torch.manual_seed(0)
    train, val, labels = mnist_4v9()
    n = 300 if small else 1000
    yield rows(
        "4 v 9", mlp().eval(), train[:n], val[: n // 2], labels[:n, None], 4000, (100, 200, 400)[: 2 if small else 3]
    )
    digits, others, numbers = mnist_digits()
    n = 60 if small else 200
    wanted = torch.eye(10, dtype=torch.float64)[numbers[:n]]
    yield rows(
        "10 digits", mlp(outputs=10).eval(), digits[:n], others[: n // 4], wanted, 2000, (200,) if small else (200, 600)
    )
    if not small:
        images, wanted = all_4v9()
        yield rows("4 v 9", mlp().eval(), images[:4000], images[-500:], wanted[:4000], 4000, (500, 1000))


def all_4v9() -> tuple[Tensor, Tensor]:
    """Every 4 and 9 of MNIST, in the order of the file."""
    with np.load(FOLDER / "mnist_full.npz") as arrays:
        chosen = np.isin(arrays["y_train"], (4, 9))
        images = torch.from_numpy(arrays["x_train"][chosen]).float()[:, None]
        labels = torch.from_numpy(arrays["y_train"][chosen] == 9).double()
    return (images / 255 - 0.456) / 0.224, labels[:, None]


def rows(
    name: str, network: nn.Module, train: Tensor, val: Tensor, wanted: Tensor, columns: int, directions: tuple[int, ...]
) -> Case:
    engine = RowEngine(network, train[:2], Factorized(columns))
    (J, start), (J_val, _) = (_rows(engine, images) for images in (train, val))
    title = f"{name}, n = {len(train)}, k = {J.shape[1]}, D = {J.shape[2]}, m = {len(val)}"
    return Case(title, J.numpy(), (wanted - start.double()).numpy(), J_val.numpy(), directions)


def _rows(engine: RowEngine, images: Tensor) -> tuple[Tensor, Tensor]:
    found = [engine(batch) for batch in torch.split(images, 100)]
    return torch.cat([part[0] for part in found]), torch.cat([part[1].detach() for part in found])


def compare(case: Case) -> Iterator[Line]:
    started = time.process_time()
    exact = Linearization.from_jacobian(case.J, case.residual)
    decomposed = exact.system.largest
    spent = time.process_time() - started
    best = stopping_curve(exact).best
    training = GradientFlow(best.lr, float(best.steps))
    started = time.process_time()
    wanted = exact.train(training).leave_out().measures(exact.probe(case.J_val))
    spent += time.process_time() - started
    assert decomposed > 0
    for directions in case.directions:
        yield from _one(case, directions, training, wanted, spent)


def _one(case: Case, directions: int, training: GradientFlow, wanted: Measures, spent: float) -> Iterator[Line]:
    started = time.process_time()
    sketch = Linearization.from_jacobian(case.J, case.residual, sketch=directions)
    tail = float(sketch.system.values[-1]) * training.filter(sketch.samples).horizon
    try:
        run, probe = sketch.train(training), sketch.probe(case.J_val)
    except InputError as refused:
        print(f"{case.name}, {directions} directions: {refused}")
        return
    found = run.leave_out().measures(probe)
    uncertainty = Uncertainty.of(run, probe)
    assert uncertainty is not None
    assert isinstance(run.system, Sketched)
    estimated = uncertainty.errors(found, run.system.outside)
    seconds = time.process_time() - started
    assert estimated is not None
    for name in _NAMES:
        ours, theirs = _of(found, name), _of(wanted, name)
        true = np.linalg.norm(ours - theirs, axis=1)
        size = np.linalg.norm(theirs, axis=1)
        yield Line(
            case.name,
            directions,
            tail,
            name,
            float(np.median(true / size)),
            float(np.quantile(true / size, 0.95)),
            float(np.mean(true <= estimated[name])),
            float(np.median(estimated[name] / true)),
            float(spearmanr(np.linalg.norm(ours, axis=1), size).statistic),
            seconds,
            spent,
        )


def _of(found: Measures, name: str) -> Any:
    """(n, values): a score, or how each sample's own outputs move."""
    return found.own[1][:, 0] if name == "loo_outputs" else getattr(found, name)[:, None]


if __name__ == "__main__":
    main()
