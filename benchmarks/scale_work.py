"""What `benchmarks.scale` measures, each in a process of its own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

import uniqueinfo as ui
from benchmarks.data import FOLDER
from uniqueinfo.jacobian import Projection
from uniqueinfo.memory import peak
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.cluster import DaskEngine, local_client
from uniqueinfo.scoring.engine import Engine, LocalEngine
from uniqueinfo.training import Training

Result = TypeVar("Result")

_PROJECTION = ui.Factorized(700)  # of 784 × 1024 + 1024 + 1024 × 10 + 10 parameters: 2110 columns
_LONG_TRAINING = ui.GradientFlow(lr=0.01, time=1000.0)
_SHORT_TRAINING = ui.GradientFlow(lr=0.5, time=100.0)
_HEAD_TRAINING = ui.Converged(weight_decay=1e-3)
_VALIDATION = 1_000
_DIRECTIONS, _FEW = 1_000, 500  # kept of a sketch, and its validation samples
TURNS = 3


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
        "peak_bytes": peak(),
        "memory": memory,
        "scores": len(functional),
        "all_finite": bool(np.isfinite(functional).all()),
    }


def columns(folder: Path, *, samples: int, columns: int, memory: str = "6GiB") -> dict[str, Any]:
    """Digits by so many weights of the network, drawn where the kernel is."""
    before = time.process_time()
    how: dict[str, Any] = {"projection": ui.KernelCoordinates(columns), "out": folder, "memory": memory}
    scores, seconds = _timed(lambda: _network(samples, **how))
    told = _told(scores, seconds, before, memory)
    return told | {"columns": told["features"]}


def features(folder: Path, *, X: str, y: str, memory: str = "4GiB") -> dict[str, Any]:
    """Features in a file."""
    before = time.process_time()
    scores, seconds = _timed(lambda: _head(X, y, out=folder, memory=memory))
    return {**_told(scores, seconds, before, memory), "scores": len(scores)}


def sketch(folder: Path, *, X: str, y: str, memory: str = "6GiB") -> dict[str, Any]:
    """Wide features in a file, of which some directions are kept."""
    before = time.process_time()
    mapped, labels = np.load(X, mmap_mode="r"), np.load(y)
    few = slice(0, _FEW)
    validation = mapped[few], labels[few]  # the first rows again: only the cost matters here
    how: dict[str, Any] = {"training": _SHORT_TRAINING, "sketch": _DIRECTIONS, "out": folder, "memory": memory}
    scores, seconds = _timed(lambda: ui.score_features(X, y, *validation, head="paper", **how))
    told = _told(scores, seconds, before, memory)
    assert scores.functional is not None
    assert scores.errors is not None
    error = float(np.median(scores.errors["functional"] / scores.functional))
    return {**told, "directions": _DIRECTIONS, "error": error}


def _told(scores: Scores, seconds: float, before: float, memory: str) -> dict[str, Any]:
    """What a run took, since `before` in processor time."""
    assert scores.functional is not None
    return {
        "samples": len(scores),
        "features": scores.settings["width"],
        "outputs": scores.settings["outputs"],
        "seconds": seconds,
        "cpu_seconds": time.process_time() - before,
        "peak_bytes": peak(),
        "memory": memory,
        "all_finite": bool(np.isfinite(scores.functional).all()),
    }


def dask(folder: Path, *, X: str | None = None, y: str | None = None, samples: int = 0) -> dict[str, Any]:
    """The same by this process, by one worker, by two, and by two of which one is killed."""

    def run(name: str, engine: Engine) -> Scores:
        out = folder / name
        if X is None:
            # Fewer columns than above: eigenvectors are the driver's, and workers cannot shorten them.
            return _network(samples, engine=engine, out=out, keep=False, projection=ui.Factorized(200))
        return _head(X, y, engine=engine, out=out, training=_LONG_TRAINING)

    local, seconds = _timed(lambda: run("local", LocalEngine()))
    least: dict[int, float] = {}
    found: dict[int, Scores] = {}
    for turn in range(TURNS):  # one after the other, and again: the machine is not always equally fast
        for workers in (1, 2):
            with _cluster(workers) as client:
                name = f"{workers}-{turn}"
                found[workers], taken = _timed(lambda: run(name, DaskEngine(client)))  # noqa: B023
            least[workers] = min(taken, least.get(workers, taken))
    with _cluster(2) as client:
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(least[2] / 2, os.kill, (victim, signal.SIGKILL))
        timer.start()
        after, seconds_killed = _timed(lambda: run("killed", DaskEngine(client)))
        timer.join()
        replaced = victim not in client.run(os.getpid).values()
    return {
        "samples": len(local),
        "seconds_local": seconds,
        "seconds_one_worker": least[1],
        "seconds_two_workers": least[2],
        "two_workers_over_one": least[1] / least[2],
        "seconds_with_a_worker_killed": seconds_killed,
        "worker_was_killed": replaced,
        "difference_of_one": _difference(found[1], local),
        "difference_of_two": _difference(found[2], local),
        "difference_after_a_kill": _difference(after, local),
    }


def rates(folder: Path) -> dict[str, Any]:
    """Seconds of the parts: products of rows, eigenvectors, and rows of the network."""
    from uniqueinfo.spectrum.eigensystem import eigh
    from uniqueinfo.spectrum.sums import Sums

    found: dict[str, Any] = {"threads": torch.get_num_threads()}
    for width, rows in ((256, 65_536), (2_110, 5_000)):
        matrix = torch.randn(rows, width, dtype=torch.float64)
        square = matrix[:width]
        works: dict[str, Callable[[], object]] = {
            "gram": partial(Sums.of, matrix[:, None], None),
            "product": partial(torch.matmul, matrix, square),
        }
        for name, work in works.items():
            seconds = min(_busy(work) for _ in range(3))
            found[f"{name}_flops_{width}"] = 2 * rows * width**2 / seconds
    for side in (256, 1_024, 2_110):
        matrix = torch.randn(side, side, dtype=torch.float64)
        found[f"eigh_seconds_{side}"] = _busy(partial(eigh, matrix + matrix.T))
    return found


def _network(samples: int, projection: Projection | ui.KernelCoordinates = _PROJECTION, **how: Any) -> Scores:
    train, val = (
        _Images(*(array[:count] for array in _digits()[part]))
        for part, count in (("train", samples), ("test", _VALIDATION))
    )
    model = ModelChoice("mlp:1024").build((1, 28, 28), 10, 0)
    return ui.score(model, train, val, training=_LONG_TRAINING, projection=projection, **how)


@cache
def _digits() -> dict[str, tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """Unpacked once: every engine is then given the same arrays, and none waits for them."""
    with np.load(FOLDER / "mnist_full.npz") as arrays:
        return {part: (arrays[f"x_{part}"], arrays[f"y_{part}"]) for part in ("train", "test")}


@dataclass(frozen=True, eq=False)
class _Images:
    """Pictures, as bytes until they are asked for."""

    pixels: NDArray[np.uint8]
    labels: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.from_numpy(self.pixels[index]).float()[None] / 255, int(self.labels[index])


def _head(X: str, y: Any, training: Training = _HEAD_TRAINING, **how: Any) -> Scores:
    """Validated on the first rows again: only the cost matters here."""
    mapped = np.load(X, mmap_mode="r")
    labels = np.load(y, mmap_mode="r")
    few = 10 * _VALIDATION
    return ui.score_features(X, y, mapped[:few], labels[:few], training=training, head="paper", **how)


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    with local_client(workers) as client:
        client.run(_ready)  # importing torch is not what is timed
        yield client


def _ready() -> None:
    import uniqueinfo.scoring.driver  # noqa: F401


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


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    "mnist": mnist,
    "columns": columns,
    "features": features,
    "dask": dask,
    "rates": rates,
    "sketch": sketch,
}
