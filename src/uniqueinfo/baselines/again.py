"""Training again without a few samples, from those that matter least to those that matter most, within a budget."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.baselines.descent import Followed, looks, until
from uniqueinfo.baselines.meter import OutOfTimeError
from uniqueinfo.baselines.planning import Plan, plan
from uniqueinfo.baselines.retraining import Retrained, Retraining, opened
from uniqueinfo.errors import InputError, cause, check_seed
from uniqueinfo.progress import as_seconds, in_words
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.training import Training
from uniqueinfo.types import Floats

FEWEST = 10
"""Samples to retrain for: below, an interval says nothing."""
_MOST_LOOKS = 20
"""Times at which the network's outputs are looked at on the way."""
_WORTH_TELLING = 10.0
"""Seconds from which on it is said how long it will take."""

Positions = int | Iterable[int]
"""How many samples, or which."""


@dataclass(frozen=True)
class Budget:
    """How long it may take, from when it was named."""

    seconds: float | None
    begun: float

    @classmethod
    def of(cls, given: str | float | None) -> Budget:
        """Refuses what is no time."""
        return cls(None if given is None else as_seconds("budget", given), time.monotonic())

    @property
    def deadline(self) -> float | None:
        """When it ends, on the clock of `time.monotonic`."""
        return None if self.seconds is None else self.begun + self.seconds

    @property
    def left(self) -> float | None:
        """Seconds that are left of it."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())


@dataclass(frozen=True)
class TrainedAgain:
    """What was trained again, how, and at which steps it was looked at."""

    truth: Retrained
    training: Followed
    looks: tuple[int, ...]
    reduced: tuple[str, ...]
    """What was left out to end in time."""

    @property
    def samples(self) -> NDArray[np.intp]:
        """Positions of those that left, one by one."""
        return np.array([group[0] for group in self.truth.groups], dtype=np.intp)

    def until(self, look: int) -> Followed:
        """The training up to one of the looks."""
        return until(self.training, look)


@dataclass(frozen=True, eq=False)
class Again:
    """A network, its data, and the training to do again."""

    model: nn.Module
    train: Any
    looked: Any
    training: Followed
    budget: Budget
    options: Mapping[str, Any]
    """How to run it, as `retrain` takes them."""

    def plan(self, samples: int) -> Plan:
        """What would be done, and how long it would take; trains nothing."""
        with opened(self.model, self.train, self.looked, training=self.training, **self._without_folder) as retraining:
            return self._planned(retraining, samples, FEWEST)

    def run(self, functional: Floats, samples: Positions, seed: int) -> TrainedAgain:
        """Train with all samples and without some, which are chosen by their functional information."""
        if isinstance(samples, str | float):
            raise InputError(f"samples: expected how many, or a list of positions, got {samples!r}")
        try:
            given = samples if isinstance(samples, int | np.integer) else [int(i) for i in samples]
        except (TypeError, ValueError) as error:
            raise InputError(f"samples: expected how many, or a list of positions ({cause(error)})") from error
        wanted = chosen(given, functional, seed)
        least = None if isinstance(given, list) else FEWEST
        folder = self._folder(len(wanted), seed)
        options: dict[str, Any] = {**self.options, "seed": seed, "folder": None if folder is None else folder[0]}
        with opened(self.model, self.train, self.looked, training=self.training, **options) as retraining:
            found = self._kept(retraining, len(wanted), least, None if folder is None else folder[1])
            if self.options.get("progress", True) and found.seconds > _WORTH_TELLING:
                print(found.sentence, file=sys.stderr)
            some = wanted if found.trainings == len(wanted) else chosen(found.trainings, functional, seed)
            seen = _looks(found.training)
            order = (
                np.arange(len(some))
                if self.budget.seconds is None
                else np.random.default_rng(seed).permutation(len(some))
            )  # where time runs out, those done are of all ranks
            groups = tuple((int(some[at]),) for at in order)
            try:
                truth = retraining.run(
                    groups, training=found.training, watch=seen, steps=found.steps, deadline=self.budget.deadline
                )
            except OutOfTimeError:
                raise self._too_short(0, len(some)) from None
        if len(truth) < min(FEWEST, len(some)):
            raise self._too_short(len(truth), len(some))
        short = (f"{len(truth)} of {len(some)} trainings were finished",) if len(truth) < len(some) else ()
        return TrainedAgain(
            truth.ordered(np.argsort(order[: len(truth)])), found.training, seen, (*found.reduced, *short)
        )

    def _planned(self, retraining: Retraining, samples: int, least: int | None) -> Plan:
        left = self.budget.left
        return plan(retraining.speed(samples), self.training, samples, budget=left, least=least)

    def _kept(self, retraining: Retraining, samples: int, least: int | None, folder: OwnedFolder | None) -> Plan:
        """The plan, or that of a run which is gone on with: it was made from times, which are others now."""
        kept = None if folder is None else folder.read_json("plan.json")
        if kept is not None:
            training = Training.from_settings(kept["training"])
            assert isinstance(training, Followed)
            return Plan(training, kept["trainings"], kept["steps"], kept["seconds"], tuple(kept["reduced"]))
        found = self._planned(retraining, samples, least)
        if folder is not None:
            about = {
                "training": found.training.settings(),
                "trainings": found.trainings,
                "steps": found.steps,
                "seconds": found.seconds,
                "reduced": list(found.reduced),
            }
            folder.write_json("plan.json", about)
        return found

    def _folder(self, samples: int, seed: int) -> tuple[Path, OwnedFolder | None] | None:
        """Where trainings are kept; with a budget beside the plan, in a folder of their own."""
        if self.options.get("folder") is None:
            return None
        path = Path(self.options["folder"])
        if self.budget.seconds is None:
            return path, None
        beside = path.with_name(f"{path.name}-budget-{self.budget.seconds:g}")
        identity = {"samples": samples, "seed": seed, "training": self.training.settings()}
        return beside / "trainings", OwnedFolder.open(beside, "trainings within a budget", identity)

    @property
    def _without_folder(self) -> dict[str, Any]:
        return {name: given for name, given in self.options.items() if name != "folder"}

    def _too_short(self, done: int, wanted: int) -> InputError:
        assert self.budget.seconds is not None
        kept = " What is done is kept: asked again, it is gone on with." if self.options.get("folder") else ""
        return InputError(
            f"budget: after {in_words(self.budget.seconds)} only {done} of {wanted} trainings were finished, and "
            f"{min(FEWEST, wanted)} are the least that says something. Give a longer budget, or none.{kept}"
        )


def chosen(samples: int | list[int], functional: Floats, seed: int) -> NDArray[np.intp]:
    """One sample out of each of as many equal parts of the ordered scores, least first; or those asked for."""
    count = len(functional)
    check_seed("seed", seed)
    if isinstance(samples, list):
        given = np.array(samples, dtype=np.intp)
        if len(given) < 3 or len(np.unique(given)) < len(given) or given.min() < 0 or given.max() >= count:
            raise InputError(f"samples: expected at least 3 different positions within 0…{count - 1}")
        return given
    if not FEWEST <= samples <= count:
        raise InputError(
            f"samples: {samples} is too few or too many; expected {FEWEST} to {count}, as a correlation of fewer says "
            "nothing (name positions to choose for yourself)"
        )
    rng = np.random.default_rng(seed)
    parts = np.array_split(np.argsort(functional, kind="stable"), samples)
    return np.array([rng.choice(part) for part in parts], dtype=np.intp)


def _looks(training: Followed) -> tuple[int, ...]:
    """Steps, or leaps, at equal ratios of time."""
    last = looks(training)
    return tuple(np.unique(np.geomspace(1, last, min(_MOST_LOOKS, last)).round().astype(np.intp)).tolist())
