"""What is timed, in a process of its own: ``python -m benchmarks.budget.works '{"work": …, "way": …}'``.

Torch is loaded by the library, unless the way says that it is loaded first, as by a program that uses it already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

_POLICY = "OMP_WAIT_POLICY"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def features() -> dict[str, Any]:
    """50,000 × 256 features of ten classes, run to the end."""
    import uniqueinfo as ui

    X, y = _narrow(50_000)
    training = ui.Converged()
    return {"seconds": _seconds(lambda: ui.score_features(X, y, X[:5000], y[:5000], training=training, progress=False))}


def network() -> dict[str, Any]:
    """A convolutional network on 1,000 of scikit-learn's digits, odd or even, with exact kernels."""
    import torch
    from sklearn.datasets import load_digits
    from torch import nn

    import uniqueinfo as ui

    digits = load_digits()
    images = torch.from_numpy(digits.images[:1500, None] / 16).float()
    labels = digits.target[:1500] % 2
    torch.manual_seed(0)
    end = (nn.Flatten(), nn.Linear(32 * 36, 64), nn.ReLU(), nn.Linear(64, 1))
    model = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), *end)
    training = ui.GradientFlow(lr=0.01, time=1000.0)
    train, val = (images[:1000], labels[:1000]), (images[1000:], labels[1000:])
    return {"seconds": _seconds(lambda: ui.score(model, train, val, training=training, progress=False))}


def demo(first: bool) -> dict[str, Any]:
    """The whole command, from its start; torch may be loaded first."""
    program = f"{'import torch; ' if first else ''}from uniqueinfo.cli import main; main()"
    environment = {name: value for name, value in os.environ.items() if name != _POLICY}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", program, "demo", "--out", folder]
        how: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "env": environment}
        return {"seconds": _seconds(lambda: subprocess.run(command, **how))}


def narrow() -> dict[str, Any]:
    """200,000 × 256 features of ten outputs, without and with 10,000 validation samples, and numpy's XᵀX."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    import uniqueinfo as ui
    from uniqueinfo.threads import sharing

    X, y = _narrow(200_000)
    exact = X.astype(np.float64)
    with sharing() as threads:
        pass

    def square() -> object:
        with threadpool_limits(threads, user_api="blas"):
            return exact.T @ exact

    works: dict[str, Callable[[], object]] = {
        "square": square,
        "alone": lambda: ui.score_features(X, y, training=ui.Converged(), progress=False),
        "validated": lambda: ui.score_features(X, y, X[:10_000], y[:10_000], training=ui.Converged(), progress=False),
    }
    clocks = {"seconds": time.perf_counter, "processor": time.process_time}
    least: dict[str, dict[str, float]] = {name: dict.fromkeys(works, float("inf")) for name in clocks}
    for _ in range(3):  # in turn: the machine is not always equally fast
        for name, work in works.items():
            before = {clock: read() for clock, read in clocks.items()}
            work()
            for clock, read in clocks.items():
                least[clock][name] = min(least[clock][name], read() - before[clock])
    return {"threads": threads, **least}


def sized(samples: int) -> dict[str, Any]:
    """Processor seconds of so many."""
    import uniqueinfo as ui

    X, y = _narrow(samples)

    def work() -> object:
        return ui.score_features(X, y, X[:10_000], y[:10_000], training=ui.Converged(), progress=False)

    return {"samples": samples, "processor": min(_seconds(work, time.process_time) for _ in range(3))}


def rescored(number: int) -> dict[str, Any]:
    """One case of `benchmarks.summarize`."""
    from benchmarks.summarize import cases, measured

    return measured(list(cases())[number])


def photos(number: int) -> dict[str, Any]:
    """One case of `benchmarks.budget.photos`."""
    from benchmarks.budget.photos import photos as measured

    return measured(number)


def foretold(number: int) -> dict[str, Any]:
    """One command of `benchmarks.budget.foretold`."""
    from benchmarks.budget.foretold import foretold as measured

    return measured(number)


def _narrow(samples: int) -> tuple[Any, Any]:
    """Ten Gaussian classes in 256 dimensions that overlap, as float32."""
    import numpy as np

    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(10, 256)) / 10, rng.integers(0, 10, samples)
    return (rng.standard_normal((samples, 256)) + centres[y]).astype(np.float32), y


def _seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    work()
    return clock() - started


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    "features": features,
    "network": network,
    "demo": demo,
    "narrow": narrow,
    "sized": sized,
    "rescored": rescored,
    "photos": photos,
    "foretold": foretold,
}

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    name, way = asked.pop("work"), asked.pop("way")
    for variable in (*_THREADS, _POLICY):  # as a user starts it: the parent has set some
        os.environ.pop(variable, None)
    if way == "one thread":
        os.environ.update(dict.fromkeys(_THREADS, "1"))
    if name == "demo":
        asked["first"] = way == "torch loaded first"
    elif way == "torch loaded first":
        import torch  # noqa: F401
    import uniqueinfo.scoring.driver  # noqa: F401  # importing is not what is timed

    print(json.dumps(WORK[name](**asked)))
