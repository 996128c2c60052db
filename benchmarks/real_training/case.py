"""What a package is given: samples, the network that training ended with, weights on the way, and other seeds' ends.

Made in every package's own environment, by name and seed. Trained networks are kept in a folder, and found there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from benchmarks.data import FOLDER
from benchmarks.real_training.dattri_training import SETTINGS, Recorder, digits, train
from benchmarks.real_training.tasks import TASKS
from benchmarks.stories.task import Task, of_tokens, steps
from uniqueinfo.store.files import replacing

Weights = Mapping[str, Tensor]
Kind = Literal["classes", "numbers", "tokens"]
STORIES = "stories"
"""The story model of `benchmarks.stories`, by its name here."""

_BETWEEN = 5
_FEW = 16
_OTHERS = range(100, 200)
"""Seeds beside the one in question."""


@dataclass(frozen=True, eq=False)
class Case:
    """Classes with cross-entropy, numbers with ½(f − y)², or tokens with their mean cross-entropy."""

    X: Tensor
    y: Tensor
    X_val: Tensor
    y_val: Tensor
    kind: Kind
    damping: float
    """What dattri's examples add to the Hessian matrix for this kind of problem."""
    trained: nn.Module
    """At the end of training, without dropout."""
    between: Sequence[tuple[float, Weights]] = ()
    """Rate and weights in the middle of each fifth of the steps."""
    ensemble: Sequence[Weights] = ()
    """The end, and those of trainings from other seeds."""

    def each_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        if self.kind == "tokens":
            return of_tokens(outputs, targets)
        if self.kind == "classes":
            return nn.functional.cross_entropy(outputs, targets, reduction="none")
        return (outputs[:, 0] - targets.to(outputs)).square() / 2

    def network(self) -> nn.Module:
        """One of one's own."""
        return deepcopy(self.trained)

    def few(self) -> Case:
        """The same with a handful of samples."""
        count = slice(_FEW)
        return replace(self, X=self.X[count], y=self.y[count], X_val=self.X_val[count], y_val=self.y_val[count])


class Between:
    """Keeps rate and weights in the middle of each of equal parts of a training."""

    def __init__(self, model: nn.Module, optimizer: Optimizer, steps: int, parts: int = _BETWEEN) -> None:
        self.kept: list[tuple[float, Weights]] = []
        self._model, self._optimizer, self._steps = model, optimizer, 0
        self._wanted = middles(steps, parts)

    def step(self, batch: Tensor | None = None, outputs: Tensor | None = None) -> None:
        self._steps += 1
        if self._steps in self._wanted:
            weights = {name: held.clone() for name, held in self._model.state_dict().items()}
            self.kept.append((float(self._optimizer.param_groups[0]["lr"]), weights))


def middles(steps: int, parts: int) -> list[int]:
    """Numbers of the steps in the middle of each part, from 1.

    >>> middles(200, 5)
    [20, 60, 100, 140, 180]
    """
    return [max(1, round(steps * (2 * part + 1) / (2 * parts))) for part in range(parts)]


def case(name: str, seed: int, networks: Path, *, others: int = 0) -> Case:
    """Of a task or of one of dattri's settings; with the ends of so many trainings from other seeds beside."""
    make = _of_setting if name in SETTINGS else _of_stories if name == STORIES else _of_task
    found, trained_from = make(name)
    kept, *rest = (
        _kept(networks / f"{name}-{one}.pt", partial(trained_from, one)) for one in (seed, *_OTHERS[:others])
    )
    found.trained.load_state_dict(kept["end"])
    found.trained.eval()
    if "asked" in kept:
        found = replace(found, X_val=kept["asked"][0], y_val=kept["asked"][1])
    return replace(found, between=kept["between"], ensemble=[one["end"] for one in (kept, *rest)])


Training = Callable[[int], dict[str, Any]]
"""From a seed to the weights at its end and between; and to what is asked about, where the training decides that."""


def _of_task(name: str) -> tuple[Case, Training]:
    task = TASKS[name]()

    def trained_from(seed: int) -> dict[str, Any]:
        keepers: list[Between] = []

        def watched(model: nn.Module) -> tuple[Optimizer, Any]:
            optimizer, schedule = task.optimizer(model)
            keeper = Between(model, optimizer, task.steps)
            optimizer.register_step_post_hook(lambda *_: keeper.step())
            keepers.append(keeper)
            return optimizer, schedule

        model, _ = replace(task, optimizer=watched).train(seed)
        return {"end": model.state_dict(), "between": keepers[0].kept}

    classes = task.loss == "cross-entropy"
    y, y_val = (labels.long() if classes else labels.float() for labels in (task.y, task.y_val))
    kind: Kind = "classes" if classes else "numbers"
    return Case(task.X, y, task.X_val, y_val, kind, 0.01, deepcopy(task.start)), trained_from


def _of_setting(name: str) -> tuple[Case, Training]:
    setting, data = SETTINGS[name], digits()
    steps = setting.epochs * -(-len(data.X) // setting.batch)

    def trained_from(seed: int) -> dict[str, Any]:
        keepers: list[Between] = []

        def recording(model: nn.Module, optimizer: Optimizer) -> Recorder:
            keepers.append(Between(model, optimizer, steps))
            return keepers[0]

        model = train(setting, data, seed, recording=recording)
        return {"end": model.state_dict(), "between": keepers[0].kept}

    found = Case(data.X, data.y, data.X_query, data.y_query, "classes", 5e-3, setting.network())
    return found, trained_from


def _of_stories(name: str) -> tuple[Case, Training]:
    """Passages, and the sentence that the trained network writes with held-out passages; there is one training."""
    task = Task.of(FOLDER)

    def trained_from(seed: int) -> dict[str, Any]:
        keepers: list[Between] = []

        def watched(model: nn.Module, optimizer: Optimizer) -> None:
            keeper = Between(model, optimizer, steps(len(task.train)))
            optimizer.register_step_post_hook(lambda *_: keeper.step())
            keepers.append(keeper)

        model = task.trained(watched=watched)
        asked = task.asked(task.sentence(model))
        return {"end": model.state_dict(), "between": keepers[0].kept, "asked": asked}

    held_out = task.held_out
    return Case(task.train, task.train, held_out, held_out, "tokens", 0.01, deepcopy(task.start)), trained_from


def _kept(place: Path, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    if not place.is_file():
        found = compute()
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as beside:
            torch.save(found, beside)
    kept: dict[str, Any] = torch.load(place)
    return kept
