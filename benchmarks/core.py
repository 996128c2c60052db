"""The numerical core against the linear algebra it cannot do without: ``make bench-core``.

Each line is a ratio of two times taken in this run, with the bound it must keep. Sizes are given in the table.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.memory import peak_of
from uniqueinfo import Converged, GradientDescent, GradientFlow, Linearization, score_features, score_jacobian
from uniqueinfo.training import Training
from uniqueinfo.training.rational import fit


@dataclass(frozen=True)
class Line:
    """One measured claim."""

    what: str
    ours: float
    against: str
    other: float
    bound: float

    @property
    def ratio(self) -> float:
        return self.ours / self.other


def main() -> None:
    console = Console(width=150)
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, float64 inside")
    lines = [dual(), primal(), *in_a_process_of_its_own(head, console), retraining()]
    table = Table("what", "seconds", "against", "seconds", "ratio", "bound", "kept")
    for line in lines:
        table.add_row(
            line.what,
            f"{line.ours:.2f}",
            line.against,
            f"{line.other:.2f}",
            f"{line.ratio:.4g}",
            f"≤ {line.bound:.4g}",
            "yes" if line.ratio <= line.bound else "NO",
        )
    console.print(table)
    growth(console)


def dual() -> Line:
    """n = m = 2000, k = 1, D = 4096: all scores against the eigendecomposition and the kernel products."""
    rng = np.random.default_rng(0)
    J, J_val = rng.normal(size=(2000, 1, 4096)), rng.normal(size=(2000, 1, 4096))
    residual, residual_val = rng.normal(size=(2000, 1)), rng.normal(size=(2000, 1))
    training = GradientFlow(lr=0.01, time=2000.0)
    flat, flat_val = torch.from_numpy(J[:, 0]), torch.from_numpy(J_val[:, 0])
    kernel = flat @ flat.T
    other = fastest(lambda: (torch.linalg.eigh(kernel), flat @ flat.T, flat_val @ flat.T))
    ours = fastest(lambda: score_jacobian(J, residual, J_val, residual_val, training=training))
    return Line("dual, n = m = 2000, k = 1, D = 4096, flow", ours, "eigh + kernel products", other, 4)


def primal() -> Line:
    """n = 5000, k = 10, D = 2048: all scores against the Gram matrix, its eigendecomposition and one rotation."""
    rng = np.random.default_rng(0)
    J, J_val = rng.normal(size=(5000, 10, 2048)), rng.normal(size=(1000, 10, 2048))
    residual, residual_val = rng.normal(size=(5000, 10)), rng.normal(size=(1000, 10))
    training = GradientFlow(lr=0.01, time=2000.0)
    flat = torch.from_numpy(J.reshape(-1, 2048))
    gram = flat.T @ flat
    other = fastest(lambda: (flat.T @ flat, torch.linalg.eigh(gram), flat @ gram), times=2)
    ours = fastest(lambda: score_jacobian(J, residual, J_val, residual_val, training=training), times=2)
    return Line("primal, n = 5000, m = 1000, k = 10, D = 2048, flow", ours, "Gram + eigh + one rotation", other, 3)


def in_a_process_of_its_own(work: Callable[[], tuple[list[Line], str]], console: Console) -> list[Line]:
    """Where the peak memory is that of the work alone."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        lines, remark = pool.apply(work)
    console.print(remark)
    return lines


def head() -> tuple[list[Line], str]:
    """A linear head on a million float32 rows of 512 features with 10 outputs."""
    rng = np.random.default_rng(0)
    X, X_val = rng.random((1_000_000, 512), dtype=np.float32), rng.random((10_000, 512), dtype=np.float32)
    X -= 0.5
    y, y_val = rng.integers(0, 10, 1_000_000), rng.integers(0, 10, 10_000)
    flow = GradientFlow(lr=1.0, time=1000.0)
    base = fastest(lambda: in_chunks(X), times=2)
    seconds: dict[Training, float] = {}

    def timed(training: Training) -> None:
        seconds[training] = fastest(
            lambda: score_features(X, y, X_val, y_val, training=training, head="paper"), times=1
        )

    ridge = Converged(weight_decay=1e-3)
    grown = max(peak_of(lambda: timed(ridge)), peak_of(lambda: timed(flow)))
    base = min(base, fastest(lambda: in_chunks(X), times=2))
    remark = f"linear head: peak memory above that of its input {grown / 2**30:.2f} GiB (bound 2 GiB)"
    largest = float(np.linalg.eigvalsh(X[:50_000].astype(np.float64).T @ X[:50_000])[-1]) * 20
    poles = len(fit(flow.filter(1_000_000), largest).poles)
    size = "linear head, n = 1,000,000, m = 10,000, p = 512, k = 10"
    lines = [
        Line(f"{size}, run to the end", seconds[ridge], "one XᵀX", base, 6),
        Line(f"{size}, flow ({poles} poles)", seconds[flow], "one XᵀX", base, 2 * (2 + min(10, 2 * poles))),
    ]
    return lines, remark


def in_chunks(X: NDArray[np.float32]) -> torch.Tensor:
    """XᵀX in float64, the dtype the algebra uses, from float32 rows."""
    total = torch.zeros(X.shape[1], X.shape[1], dtype=torch.float64)
    for start in range(0, len(X), 16_384):
        part = torch.from_numpy(X[start : start + 16_384]).double()
        total.addmm_(part.T, part)
    return total


def retraining() -> Line:
    """n = m = 1000, k = 1, t = 2000 against training n times by matrix powers (twenty timed)."""
    rng = np.random.default_rng(0)
    J, J_val, residual = rng.normal(size=(1000, 1, 2000)), rng.normal(size=(1000, 1, 2000)), rng.normal(size=(1000, 1))
    kernel = torch.from_numpy(J[:, 0] @ J[:, 0].T)
    training = GradientDescent(lr=0.9 * 1000 / float(torch.linalg.eigvalsh(kernel)[-1]), steps=2000)

    def train_without(i: int) -> torch.Tensor:
        kept = torch.arange(1000) != i
        rest = kernel[kept][:, kept]
        left = torch.linalg.matrix_power(torch.eye(999, dtype=torch.float64) - training.lr / 999 * rest, 2000)
        wanted = torch.from_numpy(residual)[kept]
        found: torch.Tensor = torch.linalg.solve(rest, wanted - left @ wanted)
        return found

    started = time.perf_counter()
    for i in range(20):
        train_without(i)
    all_of_them = (time.perf_counter() - started) / 20 * 1000
    ours = fastest(lambda: score_jacobian(J, residual, J_val, training=training))
    return Line(
        "dual, n = m = 1000, k = 1, D = 2000, t = 2000", ours, "1000 trainings (20 timed)", all_of_them, 1 / 500
    )


def growth(console: Console) -> None:
    """Primal time against n: four sizes, and the slope in log-log."""
    rng = np.random.default_rng(0)
    sizes = [20_000, 40_000, 80_000, 160_000]
    J, residual = rng.normal(size=(sizes[-1], 2, 128)), rng.normal(size=(sizes[-1], 2))
    training = GradientFlow(lr=0.1, time=1000.0)

    def all_of(n: int) -> None:
        linearization = Linearization.from_jacobian(J[:n], residual[:n])
        linearization.train(training).leave_out().measures(linearization.probe(J[:1000], residual[:1000]))

    seconds = [fastest(lambda n=n: all_of(n)) for n in sizes]  # type: ignore[misc]
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    shown = ", ".join(f"{n:,}: {s:.2f} s" for n, s in zip(sizes, seconds, strict=True))
    console.print(f"primal, k = 2, D = 128, time against n: {shown}; log-log slope {slope:.2f} (bound 1.1)")


def fastest(work: Callable[[], object], times: int = 3) -> float:
    """The least of a few times: what the machine can do when nobody disturbs it."""
    seconds = []
    for _ in range(times):
        gc.collect()
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


if __name__ == "__main__":
    main()
