"""The ways to score a network of many outputs, and what is measured of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import uniqueinfo as ui
from benchmarks.budget.parts import Record
from benchmarks.data import FOLDER, mnist_digits
from uniqueinfo.experiments.networks import paper_cnn
from uniqueinfo.scoring.agreement import MEASURES, correlations
from uniqueinfo.types import Floats

VALIDATION = 500
FEW = 100  # digits whose cross-entropy is followed exactly
CLASSES = (10, 100, 1000)
GROWN = 400  # made-up samples, the same for every number of classes
EXACT = "exact: every output has its rows"
DEFAULT = 'the default (effort="minutes")'
DIGITS: dict[str, dict[str, Any]] = {
    EXACT: {"projection": None, "effort": "exact"},
    DEFAULT: {},
    'effort="seconds"': {"effort": "seconds"},
    "outputs alike, OutputAverage(10)": {"projection": None, "outputs": ui.OutputAverage(10)},
    "outputs alike, OutputAverage(4)": {"projection": None, "outputs": ui.OutputAverage(4)},
    "outputs alike, OutputAverage(1)": {"projection": None, "outputs": ui.OutputAverage(1)},
    "OutputSketch(1)": {"projection": None, "outputs": ui.OutputSketch(1)},
    "OutputSketch(4)": {"projection": None, "outputs": ui.OutputSketch(4)},
    "KernelCoordinates(4000)": {"projection": ui.KernelCoordinates(4000)},
    "Factorized(500) of each layer": {"projection": ui.Factorized(500)},
}
ENTROPY: dict[str, ui.GradientFlow | None] = {
    "short: flow, lr .001, 300 steps": ui.GradientFlow(1e-3, 300.0, loss="cross-entropy"),
    "long: flow, lr .001, 5,000 steps": ui.GradientFlow(1e-3, 5000.0, loss="cross-entropy"),
    "stopped where the leave-one-out loss is least": None,
}
GROWTH: dict[str, Callable[[int], dict[str, Any]]] = {
    "outputs alike, all of them": lambda k: {"outputs": ui.OutputAverage(k), "training": ui.GradientFlow(0.01, 300.0)},
    "outputs alike, by 4 mixtures": lambda k: {
        "outputs": ui.OutputAverage(4),
        "training": ui.GradientFlow(0.01, 300.0),
    },
    "one margin, cross-entropy": lambda k: {
        "outputs": ui.class_margin,
        "training": ui.GradientFlow(0.01, 300.0, loss="logistic"),
    },
}

Data = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Asked:
    """How many digits, whether exact scores are wanted, and where they are kept."""

    samples: int
    out: Path
    exact: bool = True


def digits(record: Record, asked: Asked) -> None:
    """Ten digits, the paper's CNN pretrained on letters with a fresh last layer, squared error, stopped at its best."""
    network, train, val = digits_problem(asked.samples)
    for name, options in DIGITS.items():
        if name == EXACT and not asked.exact:
            continue
        kept = asked.out / "scores" / f"{asked.samples} {list(DIGITS).index(name)}.npz"

        def measured(options: dict[str, Any] = options, kept: Path = kept) -> dict[str, Any]:
            scores, seconds = timed(network, train, val, **options)
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept, **{name: getattr(scores, name) for name in MEASURES})
            told = {key: scores.settings[key] for key in ("projection_why", "agreement", "form_side")}
            return {"seconds": seconds, "steps": scores.settings["training"]["steps"], **told}

        record.once(f"digits {asked.samples}", name, measured)
    known = record.found[f"digits {asked.samples}"]
    if EXACT in known:
        exact = _kept(asked, EXACT)
        for name in (name for name in known if name != EXACT):
            record.once(f"agreement {asked.samples}", name, lambda: correlations(_kept(asked, name), exact))  # noqa: B023


def entropy(record: Record, asked: Asked) -> None:
    """Cross-entropy: all outputs against one margin for each sample."""
    network, train, val = digits_problem(FEW)
    for name, training in ENTROPY.items():

        def measured(training: ui.GradientFlow | None = training) -> dict[str, Any]:
            whole = ui.Auto(loss="cross-entropy") if training is None else training
            margin = "auto" if training is None else ui.GradientFlow(training.lr, training.time, loss="logistic")
            exact, seconds = timed(network, train, val, projection=None, training=whole)
            ours, less = timed(network, train, val, projection=None, training=margin, outputs=ui.class_margin)
            return {"exact seconds": seconds, "seconds": less, **correlations(ours, exact)}

        record.once("entropy", name, measured)


def growth(record: Record, asked: Asked) -> None:
    """The same made-up samples with 10, 100 and 1,000 classes."""
    for name, options in GROWTH.items():
        for classes in CLASSES:

            def measured(classes: int = classes, options: Callable[[int], dict[str, Any]] = options) -> dict[str, Any]:
                network, train, val = madeup(classes)
                return {"seconds": timed(network, train, val, projection=None, **options(classes))[1]}

            record.once("growth", f"{name}, {classes}", measured)


PARTS: dict[str, Callable[[Record, Asked], None]] = {"digits": digits, "entropy": entropy, "growth": growth}


def timed(network: nn.Module, train: Data, val: Data, **options: Any) -> tuple[ui.Scores, float]:
    """Scores, and the processor's seconds."""
    started = time.process_time()
    scores = ui.score(network, train, val, threads=1, progress=False, memory="14GB", **options)
    return scores, time.process_time() - started


def digits_problem(samples: int) -> tuple[nn.Module, Data, Data]:
    """The network, training and validation samples; digits are given as the letters were, transposed."""
    images, others, labels = mnist_digits()
    with np.load(FOLDER / "mnist_10c.npz") as arrays:
        wanted = torch.from_numpy(arrays["y_val"]).long()
    torch.manual_seed(0)
    network = ui.centred(paper_cnn(10, FOLDER / "emnist_letters_cnn_pretrained.npz").eval())
    train = images.mT.contiguous()[:samples], labels[:samples]
    return network, train, (others.mT.contiguous()[:VALIDATION], wanted[:VALIDATION])


def madeup(classes: int) -> tuple[nn.Module, Data, Data]:
    """Normal inputs, classes in turn, a network of one hidden layer."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(50, 256), nn.ReLU(), nn.Linear(256, classes)).eval()
    both = [(torch.randn(n, 50, generator=generator), torch.arange(n) % classes) for n in (GROWN, GROWN // 4)]
    return ui.centred(network), both[0], both[1]


@dataclass(frozen=True, eq=False)
class _Kept:
    """Measures that were computed before."""

    functional: Floats
    weight: Floats
    value: Floats


def _kept(asked: Asked, name: str) -> Any:
    with np.load(asked.out / "scores" / f"{asked.samples} {list(DIGITS).index(name)}.npz") as arrays:
        return _Kept(**{name: arrays[name] for name in MEASURES})
