"""Our own scores of a training: along its recording, at the defaults, and with the trained network's gradients."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import uniqueinfo as ui
from benchmarks.real_training.task import Task
from uniqueinfo.store.files import replacing

Arrays = Mapping[str, NDArray[Any]]

WAYS = {
    "recorded": "uniqueinfo, along the recording",
    "unordered": "uniqueinfo, along a recording without the order of the batches",
    "default": "uniqueinfo, at the defaults (knows nothing of the training)",
    "trained": "uniqueinfo, with the trained network (`trained=…`)",
}


def scored(task: Task, seed: int, way: str) -> Arrays:
    """Amount and value of every sample, the processor seconds they took, and those of recording it."""
    data = ((task.X, task.y), (task.X_val, task.y_val))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "recording"
        recorded = way in ("recorded", "unordered")
        end, training = task.train(seed, folder=place if recorded else None, told=way != "unordered")
        options: dict[str, Any] = {"training": ui.Recorded(place)} if recorded else {}
        options |= {"trained": end} if way == "trained" else {}
        started = time.process_time()
        scores = ui.score(task.start, *data, progress=False, **options)
        seconds = time.process_time() - started
        learnt = scores.settings.get("learnt") or {}
    assert scores.functional is not None
    assert scores.value is not None
    return {
        "amount": scores.functional,
        "value": scores.value,
        "seconds": np.array(seconds),
        "training": np.array(training),
        "error": np.array(float(learnt.get("error", np.nan))),
    }


def kept(place: Path, compute: Callable[[], Arrays]) -> dict[str, NDArray[Any]]:
    """What a file holds, or what it then does."""
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        found = compute()
        with replacing(place) as beside, beside.open("wb") as file:
            np.savez(file, allow_pickle=False, **found)
    with np.load(place, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
