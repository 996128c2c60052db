"""Options of ``uniqueinfo score`` with values that are fine, odd, or too much."""

from __future__ import annotations

import numpy as np

from torture.files import ODD

_NUMBERS = ("0", "-1", "1e-9", "0.5", "1", "2", "10", "1e9", "nan", "inf", "-0.0", "1e400", "x", "", str(2**70))
VALUES: dict[str, tuple[str, ...]] = {
    "--lr": _NUMBERS,
    "--steps": _NUMBERS,
    "--momentum": (*_NUMBERS, "0.9", "0.999"),
    "--weight-decay": _NUMBERS,
    "--holdout": _NUMBERS,
    "--seed": _NUMBERS,
    "--sketch": _NUMBERS,
    "--effort": (*_NUMBERS, "seconds", "exact", "2min", "1e9h", "-5s"),
    "--projection": _NUMBERS,
    "--size": ("0", "-3", "8", "x"),
    "--validate": ("1", "3", "-2", "10", "1000"),
    "--memory": ("lots", "1", "-4GB", "0", "1e99GB", "4GB", ""),
    "--device": ("cuda", "gpu9", "meta", "cpu", "", "mps"),
    "--model": (
        "linear",
        "mlp:0",
        "mlp:-3",
        "mlp:x",
        "mlp:",
        "mlp:4",
        "mlp:4,4",
        "nowhere.py:make",
        "torchvision:no",
        "?",
    ),
    "--weights": ("nowhere.pth", "/dev/null", "/", "weights.txt"),
    "--label": ("label", "size", "colour", "nothing", *ODD[:8]),
    "--id": ("size", "colour", "label", "nothing"),
    "--text": ("size", "colour", "label", "nothing"),
    "--extra": ("size", "colour", "label", "nothing"),
    "--fill": ("median", "mean", "drop", "zero"),
    "--task": ("auto", "classes", "regression", "ranking"),
    "--training": ("auto", "descent", "flow", "converged", "sgd"),
    "--loss": ("mse", "cross-entropy", "huber", "poisson", "hinge"),
    "--engine": ("local", "spark"),
    "--scheduler": ("tcp://127.0.0.1:1",),
    "--recording": ("nowhere", "/dev/null"),
    "--val": ("nowhere.csv", "/dev/null", "/"),
}


def drawn(rng: np.random.Generator) -> list[str]:
    """A few options with their values."""
    chosen = rng.choice(list(VALUES), size=int(rng.integers(0, 4)), replace=False)
    return [part for name in chosen for part in (str(name), str(rng.choice(VALUES[str(name)])))]
