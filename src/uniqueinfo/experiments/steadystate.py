"""The steady state of SGD, simulated, against the Lyapunov equation: HΣ + ΣHᵀ = (η/b) Λ.

A linear regression with ten weights under the mean loss, weight decay included. Many chains run side by side from the
minimum; every so often their covariance so far is compared with the solution:
- the continuous process dw = −η∇L dt + η √(Λ/b) dn with isotropic noise, Λ = σ²I, where Σ = (ησ²/2b) H⁻¹;
- the same with Λ the covariance of the samples' gradients at the minimum;
- SGD itself, batches drawn independently: the smaller the rate, the closer it comes to its continuous limit;
- SGD that passes over the samples in shuffled order, as most people run it, for which the equation does not hold.

Intervals draw whole chains again. A distance is never below 0 and redraws of it lie above it, so that not the redrawn
distances are taken: what is drawn again strays from what was found by less than q in 95 % of redraws, and then, by the
triangle inequality, the distance lies within q of the one found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from uniqueinfo.experiments.runner import Claim, Request, Result
from uniqueinfo.information.smoothing import SGD, Langevin, gradient_covariance
from uniqueinfo.linearization.linearization import Linearization, Trained
from uniqueinfo.statistics.bootstrap import redrawn
from uniqueinfo.training import Converged
from uniqueinfo.types import Floats, Indices

Step = Callable[[Floats], Floats]

_N, _D, _DECAY, _BATCH = 200, 10, 0.05, 10
_STEP = 0.01
"""The step of the Euler–Maruyama scheme × η × the largest curvature."""
_RATE, _TIMES = 0.02, (16, 4, 1)
"""The smallest rate of SGD × the largest curvature, and the multiples of it that are tried."""
_FINEST, _COARSEST = f"SGD, η·h = {_RATE:.2g}", f"SGD, η·h = {_TIMES[0] * _RATE:.2g}"
_SHUFFLED = f"SGD, shuffled epochs, η·h = {_RATE:.2g}"
_CLOSE = 0.05
_SIZES: dict[str, dict[str, int]] = {
    "small": {"chains": 1000, "snapshots": 30},
    "paper": {"chains": 4000, "snapshots": 200},
}


def run(request: Request) -> Result:
    """Every process, its relative error (Frobenius) against the number of weights drawn."""
    sizes = _SIZES[request.scale]
    X, y, trained = _problem(request.seed)
    w = trained.weights().ravel()
    H = X.T @ X / _N + _DECAY * np.eye(_D)
    noise = gradient_covariance(trained)
    sigma = float(np.sqrt(np.trace(noise) / _D))
    rate = float(_RATE / np.linalg.eigvalsh(H)[-1])
    isotropic = Langevin(rate, _BATCH, sigma).covariance(trained)
    rng = np.random.default_rng(request.seed + 1)

    lyapunov = SGD(rate, _BATCH).covariance(trained)  # proportional to the rate
    processes: dict[str, tuple[Step, float, Floats]] = {  # one step, the largest curvature times its length, and Σ
        "SDE, isotropic noise": (_diffusion(H, w, sigma**2 * np.eye(_D), rate, rng), _STEP, isotropic),
        "SDE, gradient noise": (_diffusion(H, w, noise, rate, rng), _STEP, lyapunov),
        **{
            f"SGD, η·h = {times * _RATE:.2g}": (_batches(X, y, times * rate, rng), times * _RATE, times * lyapunov)
            for times in _TIMES
        },
        _SHUFFLED: (_epochs(X, y, rate, rng), _RATE * _N / _BATCH, lyapunov),
    }
    table = pd.concat(
        [
            _errors(name, _chains(step, w, sizes["chains"], H, unit), w, expected, sizes["snapshots"])
            for name, (step, unit, expected) in processes.items()
        ],
        ignore_index=True,
    )
    settings = {"n": _N, "d": _D, "decay": _DECAY, "batch_size": _BATCH, "lr": rate, "sde_step": _STEP}
    caption = (
        "How far the covariance of simulated weights is from the Lyapunov equation's, against how many "
        "were drawn. Agreement falls along the dotted line; a level one stays away for good. Red: 5 %."
    )
    figures = {"steadystate": _figure(table)}
    return Result(table, figures, _claims(table), settings | sizes, captions={"steadystate": caption})


def _problem(seed: int) -> tuple[Floats, Floats, Trained]:
    """Correlated features and targets whose noise grows with one of them, so that Λ and H do not commute."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(_N, _D)) * np.geomspace(1.0, 0.4, _D) @ np.linalg.qr(rng.normal(size=(_D, _D)))[0]
    y = X @ rng.normal(size=_D) + rng.normal(size=_N) * (0.5 + np.abs(X[:, 0]))
    return X, y, Linearization.from_features(X, y[:, None], form="primal").train(Converged(_DECAY))


def _diffusion(H: Floats, w: Floats, noise: Floats, rate: float, rng: np.random.Generator) -> Step:
    """One Euler–Maruyama step of dw = −ηH(w − w*)dt + η √(Λ/b) dn."""
    dt = _STEP / (rate * np.linalg.eigvalsh(H)[-1])
    push = rate * np.sqrt(dt / _BATCH) * np.linalg.cholesky(noise).T
    pull = rate * dt * H
    return lambda at: at - (at - w) @ pull + rng.normal(size=at.shape) @ push


def _batches(X: Floats, y: Floats, lr: float, rng: np.random.Generator) -> Step:
    """One step of SGD, every chain with a batch of its own, drawn with replacement."""

    def step(at: Floats) -> Floats:
        chosen = rng.integers(0, _N, size=(len(at), _BATCH))
        return _descend(at, X[chosen], y[chosen], lr)

    return step


def _epochs(X: Floats, y: Floats, lr: float, rng: np.random.Generator) -> Step:
    """One pass over all samples, every chain in an order of its own."""

    def step(at: Floats) -> Floats:
        order = rng.permuted(np.tile(np.arange(_N), (len(at), 1)), axis=1)
        for start in range(0, _N, _BATCH):
            chosen = order[:, start : start + _BATCH]
            at = _descend(at, X[chosen], y[chosen], lr)
        return at

    return step


def _descend(at: Floats, x: Floats, y: Floats, lr: float) -> Floats:
    misfit = np.einsum("cbd,cd->cb", x, at) - y
    moved: Floats = at - lr * (np.einsum("cb,cbd->cd", misfit, x) / _BATCH + _DECAY * at)
    return moved


def _chains(step: Step, w: Floats, chains: int, H: Floats, unit: float) -> Iterator[Floats]:
    """Chains after three, and then after every further, relaxation time of the slowest direction.

    `unit` is the largest curvature times the length of a step: a relaxation takes condition number / unit steps.
    """
    values = np.linalg.eigvalsh(H)
    relaxation = max(1, round(float(values[-1] / values[0]) / unit))
    at = np.tile(w, (chains, 1))
    for _ in range(3 * relaxation):
        at = step(at)
    while True:
        yield at
        for _ in range(relaxation):
            at = step(at)


def _errors(name: str, draws: Iterator[Floats], w: Floats, expected: Floats, snapshots: int) -> pd.DataFrame:
    """‖Σ_drawn − Σ‖ / ‖Σ‖ with more and more weights drawn, and its interval with all of them."""
    size, chains, rows = np.linalg.norm(expected), np.zeros((1, *expected.shape)), []
    for number, at in enumerate(islice(draws, snapshots), start=1):
        own = (at - w)[:, :, None] * (at - w)[:, None, :]
        chains = chains + (own - chains) / number
        found = chains.mean(axis=0)
        error = np.linalg.norm(found - expected) / size
        ratio = np.trace(found) / np.trace(expected)
        rows.append({"process": name, "draws": number * len(at), "error": error, "trace_ratio": ratio})
    return pd.DataFrame(rows).assign(strays=_strays(chains) / size)


def _strays(chains: Floats) -> float:
    """How far the mean over chains (chains, d, d) drawn again lies from it, in 95 % of redraws at most.

    >>> _strays(np.ones((5, 2, 2)))
    0.0
    """
    flat = chains.reshape(len(chains), -1)

    def apart(drawn: Indices) -> Floats:
        found: Floats = np.linalg.norm(flat[drawn].mean(axis=1) - flat.mean(axis=0), axis=1)
        return found

    again = redrawn(len(flat), apart, np.random.default_rng(0), rows=flat.shape[1])
    return float(np.quantile(again, 0.95))


def _claims(table: pd.DataFrame) -> list[Claim]:
    last = table.groupby("process", sort=False).last()
    found = []
    for name, row in last.iterrows():
        bounded = str(name).startswith("SDE") or name == _FINEST
        note = f"the equation does not apply: the variance is {row.trace_ratio:.3f} of it" if name == _SHUFFLED else ""
        found.append(
            Claim(
                f"{name}: relative error of the covariance, {int(row.draws):,} draws",
                float(row.error),
                low=max(0.0, float(row.error - row.strays)),
                high=float(row.error + row.strays),
                paper="they agree" if bounded else None,
                holds=bool(row.error <= _CLOSE) if bounded else None,
                note=note,
            )
        )
    coarse, fine = float(last.error[_COARSEST]), float(last.error[_FINEST])
    found.append(Claim("the error of SGD falls with its rate", f"{coarse:.3g} → {fine:.3g}", holds=fine < coarse))
    return found


def _figure(table: pd.DataFrame) -> Figure:
    figure = Figure(figsize=(8, 5), layout="constrained")
    ax = figure.subplots()
    for name, rows in table.groupby("process", sort=False):
        ax.plot(rows.draws, rows.error, label=name, linestyle="--" if "SDE" in str(name) else "-", linewidth=1.3)
    reach = np.array([table.draws.min(), table.draws.max()])
    ax.plot(reach, np.sqrt((_D + 1) / reach), color="0.6", linestyle=":", label="√((d + 1)/draws): chance alone")
    ax.axhline(_CLOSE, color="crimson", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="weights drawn", ylabel="relative error of the covariance (Frobenius)")
    ax.legend(frameon=False, fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 0.93))
    return figure
