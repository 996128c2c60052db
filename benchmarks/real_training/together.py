"""Many samples that leave at once: removed as a group, against the sum of what each does alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import torch
from scipy.stats import linregress, spearmanr

import uniqueinfo as ui
from benchmarks.real_training.ours import Arrays
from benchmarks.real_training.task import Task
from uniqueinfo.types import Floats

SHARES = (0.01, 0.05, 0.5)
GROUPS = 30


def together(task: Task, seed: int, share: float, groups: int = GROUPS) -> Arrays:
    """What the validation loss gains when each of some random groups leaves: really, as a group, and as a sum."""
    size = max(1, round(share * len(task.X)))
    rng = np.random.default_rng(seed)
    drawn = [np.sort(rng.choice(len(task.X), size, replace=False)) for _ in range(groups)]
    data = ((task.X, task.y), (task.X_val, task.y_val))
    with tempfile.TemporaryDirectory() as folder:
        model, _ = task.train(seed, folder=Path(folder) / "recording")
        scores = ui.score(task.start, *data, training=ui.Recorded(Path(folder) / "recording"), progress=False)
        origin = scores.origin
        assert origin.probe is not None
        assert scores.value is not None
        at_once = origin.run.leave_out([group.tolist() for group in drawn]).value(origin.probe)
    before = _loss(task, model)
    truth = np.array([_loss(task, task.train(seed, frozenset(group.tolist()))[0]) - before for group in drawn])
    summed = np.array([scores.value[group].sum() for group in drawn])
    return {"truth": truth, "group": at_once, "sum": summed, "size": np.array(size)}


def agreement(said: Floats, truth: Floats) -> tuple[float, float]:
    """Spearman's correlation, and the slope of the truth on what was said: 1 where its size is right."""
    return float(spearmanr(said, truth)[0]), float(linregress(said, truth).slope)


def _loss(task: Task, model: torch.nn.Module) -> float:
    return float(task.each_loss(task.outputs(model), task.y_val).mean())
