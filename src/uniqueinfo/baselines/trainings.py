"""Trainings with all samples and without some, each kept in a folder once it is finished."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.baselines.descent import Descent
from uniqueinfo.baselines.stabilized import Stride, Weights
from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.types import Floats

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Trainings:
    """Trainings of one network, and where they are kept."""

    descent: Descent
    look: Inputs | None
    """Validation inputs whose outputs are looked at."""
    watch: Sequence[int] = ()
    """Steps of the training with all samples after which they are looked at too."""
    folder: OwnedFolder | None = None
    """None: nothing is kept."""

    def with_all(self) -> tuple[Weights, Arrays]:
        """The weights after training with all samples; and `outputs`, `watched` and `seconds` of it.

        Trainings without some samples go at the same pace, so this one is to be called first.
        """
        found = self._once("all", self._train_with_all)
        pace = found["pace"].reshape(-1, 3).tolist()
        self.descent.pace = tuple(Stride(length, int(stages), int(ends)) for length, stages, ends in pace)
        start = self.descent.start
        return {name: torch.from_numpy(found[f"w.{name}"]).to(w.device) for name, w in start.items()}, found

    def without(self, groups: Sequence[Sequence[int]], full: Weights) -> Arrays:
        """`weight` (½‖w − w₋‖²), `outputs` and `seconds` of training without each group, all side by side."""
        name = hashlib.sha256(json.dumps(groups).encode()).hexdigest()[:16]
        return self._once(f"without-{name}", lambda: self._train_without(groups, full))

    def _once(self, name: str, train: Callable[[], Arrays]) -> Arrays:
        found = None if self.folder is None else self.folder.read_arrays(name)
        if found is None:
            found = train()
            if self.folder is not None:
                self.folder.write_arrays(name, found)
        return found

    def _train_with_all(self) -> Arrays:
        started = time.process_time()
        watched: dict[int, Floats] = {}

        def after(step: int, weights: Weights) -> None:
            if self.look is not None and step in self.watch:
                watched[step] = self._outputs(weights, self.look)[0]

        weights = self.descent.train([[]], after)
        found: Arrays = {f"w.{name}": w[0].cpu().numpy() for name, w in weights.items()}
        if self.look is not None:
            found["outputs"] = self._outputs(weights, self.look)[0]
        if watched:
            found["watched"] = np.stack([watched[step] for step in self.watch])
        found["pace"] = np.array(self.descent.pace, dtype=np.float64)
        return found | {"seconds": np.array([time.process_time() - started])}

    def _train_without(self, groups: Sequence[Sequence[int]], full: Weights) -> Arrays:
        started = time.process_time()
        weights = self.descent.train(groups)
        moved = [(w - full[name]).double().square().flatten(1).sum(dim=1) for name, w in weights.items()]
        found: Arrays = {"weight": _numpy(torch.stack(moved).sum(dim=0) / 2)}
        if self.look is not None:
            found["outputs"] = self._outputs(weights, self.look)
        return found | {"seconds": np.array([time.process_time() - started])}

    def _outputs(self, weights: Weights, look: Inputs) -> Floats:
        return _numpy(self.descent.outputs(weights, look))


def _numpy(values: Tensor) -> Floats:
    found: Floats = values.double().cpu().numpy()
    return found
