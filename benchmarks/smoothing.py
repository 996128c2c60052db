"""What smoothing by SGD's noise costs beside isotropic smoothing, in one run: ``python -m benchmarks.smoothing``.

n = 1000 samples, D = 8000 columns, one output: all samples' information, everything included from the Jacobian on.
"""

from __future__ import annotations

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from benchmarks.core import fastest
from uniqueinfo import SGD, GradientFlow, Isotropic, Langevin, Linearization
from uniqueinfo.smoothing import Smoothing

BOUND = 5.0


def main() -> None:
    console = Console(width=120)
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads; n = 1000, D = 8000, k = 1, flow")
    rng = np.random.default_rng(0)
    J, residual = rng.normal(size=(1000, 1, 8000)), rng.normal(size=(1000, 1))
    training = GradientFlow(lr=0.01, time=200.0, weight_decay=0.1)

    def score(smoothing: Smoothing) -> None:
        Linearization.from_jacobian(J, residual).train(training).leave_out().weight_information(smoothing)

    smoothings = [Isotropic(), Langevin(0.01, 10), SGD(0.01, 10, diagonal=True), SGD(0.01, 10)]
    seconds = [fastest(lambda s=s: score(s)) for s in smoothings]  # type: ignore[misc]
    table = Table("smoothing", "seconds", "times isotropic", "bound", "kept")
    for smoothing, taken in zip(smoothings, seconds, strict=True):
        ratio = taken / seconds[0]
        kept = "yes" if ratio <= BOUND else "NO"
        table.add_row(f"{smoothing}", f"{taken:.2f}", f"{ratio:.2f}", f"≤ {BOUND:g}", kept)
    console.print(table)


if __name__ == "__main__":
    main()
