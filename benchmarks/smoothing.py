"""What smoothing costs and how exact it is: ``python -m benchmarks.smoothing``.

Cost: SGD's noise beside isotropic smoothing, in one run; n = 1000 samples, D = 8000 columns, one output, all samples'
information, everything included from the Jacobian on. Exactness: against dense formulas and other people's software.
"""

from __future__ import annotations

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_diabetes
from statsmodels.api import OLS

from benchmarks.core import fastest
from tests.oracles import retraining, steadystate
from tests.problems import problem
from uniqueinfo import SGD, Converged, GradientFlow, Isotropic, Langevin, Linearization
from uniqueinfo.information.smoothing import Smoothing

BOUND = 5.0


def main() -> None:
    console = Console(width=120)
    _print_cost(console)
    _print_errors(console)


def _print_errors(console: Console) -> None:
    table = Table("against", "error", "bound", "kept")
    for against, error, bound in (*_against_dense(), _against_cook()):
        table.add_row(against, f"{error:.1e}", f"≤ {bound:g}", "yes" if error <= bound else "NO")
    console.print(table)


def _against_dense() -> list[tuple[str, float, float]]:
    """The steady state and SGD's information at D = 400, solved over all weights by Bartels and Stewart."""
    given, training = problem(500, 1, 400), Converged(0.3)
    dense = steadystate.covariance(given.J, given.residual, training, training.weight_decay, 0.1 / 5)
    run = Linearization.from_jacobian(given.J, given.residual).train(training)
    found = SGD(0.1, 5, floor=1e-16).covariance(run)
    w = retraining.weights(given.J, given.residual, training)
    delta = np.stack([w - retraining.weights(given.J, given.residual, training, [i]) for i in range(20)])
    wanted = np.einsum("id,id->i", delta, np.linalg.solve(dense, delta.T).T) / 2
    information = run.leave_out([[i] for i in range(20)]).weight_information(SGD(0.1, 5))
    return [
        ("Lyapunov, scipy on 400 × 400", float(np.linalg.norm(found - dense) / np.linalg.norm(dense)), 1e-8),
        ("information, dense formula", float(np.abs(information / wanted - 1).max()), 1e-6),
    ]


def _against_cook() -> tuple[str, float, float]:
    """Langevin smoothing is proportional to Cook's distance."""
    X, y = load_diabetes(return_X_y=True)
    X = np.column_stack([X, np.ones(len(X))])
    cook = OLS(y, X).fit().get_influence().cooks_distance[0]
    found = Linearization.from_features(X, y[:, None]).train(Converged(reduction="sum")).leave_out()
    correlation = np.corrcoef(found.weight_information(Langevin(lr=0.1, batch_size=10)), cook)[0, 1]
    return "Cook's distance of statsmodels, 1 − correlation", abs(1 - float(correlation)), 1e-8


def _print_cost(console: Console) -> None:
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
