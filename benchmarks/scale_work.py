"""What `benchmarks.scale` measures, each in a process of its own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

import uniqueinfo as ui
from benchmarks.data import FOLDER
from uniqueinfo.engine import DaskEngine, Engine, LocalEngine
from uniqueinfo.engine.cluster import local_cluster
from uniqueinfo.jacobian import Projection
from uniqueinfo.models import ModelChoice
from uniqueinfo.scores import Scores
from uniqueinfo.training import Training

Result = TypeVar("Result")

_PROJECTION = ui.Factorized(700)  # of 784 × 1024 + 1024 + 1024 × 10 + 10 parameters: 2110 columns
_LONG_TRAINING = ui.GradientFlow(lr=0.01, time=1000.0)
_HEAD_TRAINING = ui.Converged(weight_decay=1e-3)
_VALIDATION = 1_000


def mnist(folder: Path, *, samples: int, memory: str = "6GiB", keep: bool | None = None) -> dict[str, Any]:
    """Every sample of MNIST, or the first of them."""
    before = time.process_time()
    scores, seconds = _timed(lambda: _network(samples, out=folder, memory=memory, keep=keep))
    cpu = time.process_time() - before
    functional = scores.functional
    assert functional is not None
    return {
        "samples": samples,
        "outputs": 10,
        "columns": scores.settings["width"],
        "seconds": seconds,
        "cpu_seconds": cpu,
        "peak_bytes": _peak(),
        "memory": memory,
        "scores": len(functional),
        "all_finite": bool(np.isfinite(functional).all()),
    }


def features(folder: Path, *, X: str, y: str, memory: str = "4GiB") -> dict[str, Any]:
    """Features in a file."""
    before = time.process_time()
    scores, seconds = _timed(lambda: _head(X, y, out=folder, memory=memory))
    cpu, peak = time.process_time() - before, _peak()
    functional = scores.functional
    assert functional is not None
    return {
        "samples": len(scores),
        "features": scores.settings["width"],
        "outputs": scores.settings["outputs"],
        "seconds": seconds,
        "cpu_seconds": cpu,
        "peak_bytes": peak,
        "memory": memory,
        "scores": len(functional),
        "all_finite": bool(np.isfinite(functional).all()),
    }


def dask(folder: Path, *, X: str | None = None, y: str | None = None, samples: int = 0) -> dict[str, Any]:
    """The same by this process, by one worker, by two, and by two of which one is killed."""

    def run(engine: Engine) -> Scores:
        if X is None:
            # Fewer columns than above: eigenvectors are the driver's, and workers cannot shorten them.
            return _network(samples, engine=engine, keep=False, projection=ui.Factorized(200))
        return _head(X, y, engine=engine, training=_LONG_TRAINING)

    local, seconds = _timed(lambda: run(LocalEngine()))
    with _cluster(1) as client:
        one, seconds_one = _timed(lambda: run(DaskEngine(client)))
    with _cluster(2) as client:
        two, seconds_two = _timed(lambda: run(DaskEngine(client)))
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(seconds_two / 2, os.kill, (victim, signal.SIGKILL))
        timer.start()
        after, seconds_killed = _timed(lambda: run(DaskEngine(client)))
        timer.join()
        replaced = victim not in client.run(os.getpid).values()
    return {
        "samples": len(local),
        "seconds_local": seconds,
        "seconds_one_worker": seconds_one,
        "seconds_two_workers": seconds_two,
        "two_workers_over_one": seconds_one / seconds_two,
        "seconds_with_a_worker_killed": seconds_killed,
        "worker_was_killed": replaced,
        "difference_of_one": _difference(one, local),
        "difference_of_two": _difference(two, local),
        "difference_after_a_kill": _difference(after, local),
    }


def rates(folder: Path) -> dict[str, Any]:
    """Seconds of the parts: products of rows, eigenvectors, and rows of the network."""
    from uniqueinfo.engine.sums import gram
    from uniqueinfo.linearized.eigensystem import eigh

    found: dict[str, Any] = {"threads": torch.get_num_threads()}
    for width, rows in ((256, 65_536), (2_110, 5_000)):
        matrix = torch.randn(rows, width, dtype=torch.float64)
        square = matrix[:width]
        works: dict[str, Callable[[], object]] = {
            "gram": partial(gram, matrix),
            "product": partial(torch.matmul, matrix, square),
        }
        for name, work in works.items():
            seconds = min(_busy(work) for _ in range(3))
            found[f"{name}_flops_{width}"] = 2 * rows * width**2 / seconds
    for side in (256, 1_024, 2_110):
        matrix = torch.randn(side, side, dtype=torch.float64)
        found[f"eigh_seconds_{side}"] = _busy(partial(eigh, matrix + matrix.T))
    return found


def _network(samples: int, projection: Projection = _PROJECTION, **how: Any) -> Scores:
    with np.load(FOLDER / "mnist_full.npz") as arrays:
        train = _Images(arrays["x_train"], arrays["y_train"], samples)
        val = _Images(arrays["x_test"], arrays["y_test"], _VALIDATION)
    model = ModelChoice("mlp:1024").build((1, 28, 28), 10, 0)
    return ui.score(model, train, val, training=_LONG_TRAINING, projection=projection, **how)


@dataclass(frozen=True, eq=False)
class _Images:
    """The first so many pictures, as bytes until they are asked for."""

    pixels: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    samples: int

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.from_numpy(self.pixels[index]).float()[None] / 255, int(self.labels[index])


def _head(X: str, y: Any, training: Training = _HEAD_TRAINING, **how: Any) -> Scores:
    """Validated on the first rows again: only the cost matters here."""
    mapped = np.load(X, mmap_mode="r")
    labels = np.load(y, mmap_mode="r")
    few = 10 * _VALIDATION
    return ui.score_features(X, y, mapped[:few], labels[:few], training=training, **how)


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    distributed: Any = import_module("distributed")
    with (
        local_cluster(workers) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(_ready)  # importing torch is not what is timed
        yield client


def _ready() -> None:
    import uniqueinfo.engine.stream  # noqa: F401


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    started = time.perf_counter()
    found = work()
    return found, time.perf_counter() - started


def _busy(work: Callable[[], object]) -> float:
    """Seconds of the processor, which others on the machine do not lengthen much."""
    before = time.process_time()
    work()
    return time.process_time() - before


def _difference(found: Scores, wanted: Scores) -> float:
    """The largest, relative to each number; outputs relative to their largest."""
    worst = 0.0
    for name in ("functional", "weight"):
        ours, theirs = getattr(found, name), getattr(wanted, name)
        worst = max(worst, float(np.abs(ours / theirs - 1).max()))
    return max(worst, float(np.abs(found.loo_outputs - wanted.loo_outputs).max() / np.abs(wanted.loo_outputs).max()))


def _peak() -> int:
    """The most memory this process ever held."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    "mnist": mnist,
    "features": features,
    "dask": dask,
    "rates": rates,
}
