"""What really happens without a sample: the same training again, for dozens of samples and some orders of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from benchmarks.real_training.task import Task
from uniqueinfo.store.files import replacing
from uniqueinfo.types import Floats

LEFT_OUT = 40


@dataclass(frozen=True, eq=False)
class Truth:
    """Validation outputs of a training with all samples, and without each of some."""

    samples: tuple[int, ...]
    whole: Tensor
    """(m, k)."""
    without: Tensor
    """(samples, m, k)."""
    seconds: float
    """Of the processor, for one training."""

    def amounts(self) -> Floats:
        """½ E‖f − f₋ᵢ‖², (samples,)."""
        found: Floats = ((self.whole - self.without).square().sum(dim=2).mean(dim=1) / 2).numpy()
        return found

    def values(self, task: Task) -> Floats:
        """What the validation loss gains, (samples,)."""
        losses = [float(task.each_loss(outputs, task.y_val).mean()) for outputs in (self.whole, *self.without)]
        return np.array(losses[1:]) - losses[0]


def spread(samples: int, count: int) -> list[int]:
    """Evenly over all."""
    found: list[int] = np.unique(np.linspace(0, samples - 1, count).round().astype(int)).tolist()
    return found


def truth(task: Task, seed: int, samples: Sequence[int], folder: Path) -> Truth:
    """Trained again without each of these; every training is kept in the folder, and found there."""
    folder.mkdir(parents=True, exist_ok=True)
    whole, seconds = _trained(task, seed, None, folder)
    without = [_trained(task, seed, sample, folder)[0] for sample in samples]
    return Truth(tuple(samples), whole, torch.stack(without), seconds)


def found(folder: Path, samples: Sequence[int]) -> Truth | None:
    """As far as it was trained; None where that is not half of it."""
    have = [sample for sample in samples if (folder / f"{sample}.npz").is_file()]
    if not (folder / "all.npz").is_file() or len(have) < len(samples) / 2:
        return None
    whole, seconds = _read(folder / "all.npz")
    return Truth(tuple(have), whole, torch.stack([_read(folder / f"{sample}.npz")[0] for sample in have]), seconds)


def _trained(task: Task, seed: int, left: int | None, folder: Path) -> tuple[Tensor, float]:
    """Validation outputs, and processor seconds."""
    place = folder / f"{'all' if left is None else left}.npz"
    if not place.is_file():
        model, seconds = task.train(seed, frozenset() if left is None else frozenset({left}))
        with replacing(place) as beside, beside.open("wb") as file:
            np.savez(file, outputs=task.outputs(model).numpy(), seconds=seconds)
    return _read(place)


def _read(place: Path) -> tuple[Tensor, float]:
    with np.load(place) as kept:
        return torch.from_numpy(kept["outputs"]), float(kept["seconds"])
