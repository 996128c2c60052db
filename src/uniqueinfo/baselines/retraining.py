"""The truth the scores are held against: train the network with all samples and again without some, and look.

    ½‖w − w₋‖²,   (1/2m) Σ_j ‖f(x_j) − f₋(x_j)‖²,   L_val(w₋) − L_val(w)

Both trainings start from the network's present weights and see the same batches in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.baselines.descent import Descent, Followed
from uniqueinfo.baselines.meter import Meter, OutOfTimeError
from uniqueinfo.baselines.planning import Speed
from uniqueinfo.baselines.running import Options, Running
from uniqueinfo.baselines.stabilized import Weights
from uniqueinfo.baselines.trainings import Arrays, Trainings
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.guard import fingerprint, prepared
from uniqueinfo.memory import as_bytes
from uniqueinfo.progress import progress as bar
from uniqueinfo.samples.samples import Samples, as_samples
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.training.losses import Loss
from uniqueinfo.types import Floats, Indices

Groups = tuple[tuple[int, ...], ...]
"""Positions of samples that leave together, for each training."""


@dataclass(frozen=True, eq=False)
class Retrained:
    """What really happened without each group of samples; every array in the order of the groups."""

    groups: Groups
    weight: Floats
    """½‖w − w₋‖²."""
    functional: Floats | None
    """(1/2m) Σ_j ‖f(x_j) − f₋(x_j)‖² over the validation samples."""
    value: Floats | None
    """What the mean validation loss gains when the group leaves: ½‖f − y‖², or the loss trained by."""
    outputs: Floats | None
    """Validation outputs after training with all samples, (m, k)."""
    outputs_without: Floats | None
    """Validation outputs after training without each group, (groups, m, k)."""
    trained: Mapping[str, NDArray[Any]]
    """The trained parameters after training with all samples, by name."""
    seconds: float
    """Processor time of training all copies and the one with all samples."""
    watched: Floats | None = None
    """Validation outputs of the training with all samples after each of the steps asked for, (steps, m, k)."""

    def __len__(self) -> int:
        return len(self.groups)

    def ordered(self, order: Indices) -> Retrained:
        """The same groups in another order."""
        parts = {"weight": self.weight, "functional": self.functional, "value": self.value}
        parts |= {"outputs_without": self.outputs_without}
        arranged: dict[str, Any] = {name: None if found is None else found[order] for name, found in parts.items()}
        return replace(self, groups=tuple(self.groups[at] for at in order), **arranged)

    def frame(self) -> pd.DataFrame:
        """One row per group: its samples and the measures there are."""
        table: dict[str, Any] = {"samples": [g[0] if len(g) == 1 else list(g) for g in self.groups]}
        measures = {"weight": self.weight, "functional": self.functional, "value": self.value}
        return pd.DataFrame(table | {name: found for name, found in measures.items() if found is not None})


def retrain(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    training: Followed,
    samples: Iterable[int] | None = None,
    groups: Iterable[Iterable[int]] | None = None,
    **running: Unpack[Running],
) -> Retrained:
    """Really train a network, from its present weights, with all samples and without each one (or each group).

    `train` and `val` are what `ui.score` takes. `samples` leave one by one, `groups` together; when neither is given
    every sample leaves once. How it is run, each with a default:

    - `batch_size`: descend by mini-batches; a sample that has left is missing from its batch.
    - `decay_to`: whether weight decay pulls to the "start" or to "zero".
    - `seed`: of the order of mini-batches.
    - `watch`: steps (of flow: leaps) after which the validation outputs are kept too.
    - `copies`: how many networks are trained side by side; chosen when not given.
    - `memory`, `device`, `progress`: as for `ui.score`.
    - `folder`: finished trainings are kept there; a stopped run goes on, and further samples can be added.

    Gradient flow is followed in few long leaps. Networks that bend much may end elsewhere after rounding alone, as far
    away as one sample's leaving moves them (docs/results.md, table1_cnn): for small changes give `GradientDescent`.

    >>> from uniqueinfo import GradientDescent
    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.zeros_(model.weight)
    >>> data = (torch.tensor([[1.0], [1.0]]), torch.tensor([0.0, 2.0]))  # one weight, drawn to 0 and to 2
    >>> found = retrain(model, data, data, training=GradientDescent(lr=0.5, steps=60))
    >>> found.weight.round(6)  # w is 1 with both samples, and 2 or 0 without one of them
    array([0.5, 0.5])
    """
    with opened(model, train, val, training=training, **running) as retraining:
        left = retraining.groups(samples, groups)
        return retraining.run(left, watch=retraining.options.watch)


@contextmanager
def opened(
    model: nn.Module, train: Any, val: Any = None, *, training: Followed, **running: Unpack[Running]
) -> Iterator[Retraining]:
    """A network and its data in hand, to plan with and to retrain; the arguments are those of `retrain`."""
    options = Options(**running)
    parameter = next(model.parameters(), None)
    if parameter is None:
        raise InputError(f"model: {type(model).__name__} has no parameters, so there is nothing to train; give another")
    if not isinstance(training, Followed):
        raise InputError(
            f"training: expected GradientDescent or GradientFlow, got {training!r}; for training run to the end give "
            "GradientDescent with many steps"
        )
    options.check(training)
    place = torch.device(options.device or parameter.device)
    known = as_samples(train, device=place, dtype=parameter.dtype)
    others = None if val is None else as_samples(val, device=place, dtype=parameter.dtype, like=known)
    with prepared(model, options.device):
        targets = torch.from_numpy(known.targets(_size(model, known.inputs([0]))))
        training.criterion.check(targets)
        descent = Descent(
            model,
            known.inputs(range(len(known))),
            targets.to(place, parameter.dtype),
            training=training,
            batch=options.batch_size,
            seed=options.seed,
            decay_to=options.decay_to,
            memory=as_bytes(options.memory) // 2,
        )
        yield Retraining(descent, known, others, options)


@dataclass(frozen=True, eq=False)
class Retraining:
    """A network that is trained again, as often as wanted; made by `opened`."""

    descent: Descent
    train: Samples
    val: Samples | None
    options: Options

    @cached_property
    def copies(self) -> int:
        """How many networks are trained side by side."""
        return self.options.copies or self.descent.copies()

    def groups(self, samples: Iterable[int] | None, groups: Iterable[Iterable[int]] | None) -> Groups:
        """Who leaves together, each time; refuses samples that are not there."""
        return _groups(samples, groups, len(self.train))

    def speed(self, trainings: int) -> Speed:
        """How long steps take, from a few of them."""
        return Speed.of(self.descent, min(self.copies, trainings))

    def run(
        self,
        groups: Groups,
        *,
        training: Followed | None = None,
        watch: Sequence[int] = (),
        steps: int | None = None,
        deadline: float | None = None,
    ) -> Retrained:
        """Train with all samples, then without each group, some copies at once.

        `training` is another than that which was named, where one is given. `steps` are the gradients that a training
        should take, where that was found out. Past the `deadline`, on the clock of `time.monotonic`, what is not
        finished is left: there may then be fewer groups, or `OutOfTimeError` is raised where not even the training with
        all samples is finished.
        """
        descent, val = replace(self.descent, training=training or self.descent.training, pace=()), self.val
        steps = Speed.of(descent, 1).steps(descent.training) if steps is None else steps
        look = None if val is None else val.inputs(range(len(val)))
        with bar("Training again", steps * (len(groups) + 1), unit="steps", show=self.options.progress) as advance:
            meter = Meter(advance, steps, deadline)
            descent.stepped = meter.step
            trainings = Trainings(descent, look, watch, self._folder(descent, watch))
            with meter.trainings(1):
                full, whole = trainings.with_all()
            parts, done = [], 0
            for start in range(0, len(groups), self.copies):
                together = groups[start : start + self.copies]
                try:
                    with meter.trainings(len(together)):
                        parts.append(trainings.without(together, full))
                except OutOfTimeError:
                    break
                done += len(together)
        known = val is not None and val.labels is not None
        targets = val.targets(descent.targets.shape[1]) if val is not None and known else None
        judged = None if targets is None else partial(_mean_loss, descent.training.criterion, torch.from_numpy(targets))
        return _measured(groups[:done], full, whole, parts, judged)

    def _folder(self, descent: Descent, watch: Sequence[int]) -> OwnedFolder | None:
        """The folder of retrainings; it belongs to all that they depend on, but not to the samples that leave."""
        if self.options.folder is None:
            return None
        identity = {
            "model": fingerprint(descent.model),
            "train": self.train.fingerprint(),
            "val": None if self.val is None else self.val.fingerprint(),
            "training": descent.training.settings(),
            "batch_size": self.options.batch_size,
            "decay_to": self.options.decay_to,
            "seed": self.options.seed,
            "watch": list(watch),
            "copies": self.copies,
        }
        return OwnedFolder.open(Path(self.options.folder), "retrainings", identity)


def _measured(
    groups: Groups, full: Weights, whole: Arrays, parts: Sequence[Arrays], judged: Callable[[Floats], float] | None
) -> Retrained:
    after = whole.get("outputs")
    without = functional = value = None
    if after is not None:
        without = np.concatenate([np.empty((0, *after.shape)), *(part["outputs"] for part in parts)])
        functional = np.square(without - after).sum(axis=(1, 2)) / (2 * len(after))
        if judged is not None:
            value = np.array([judged(each) for each in without]) - judged(after)
    return Retrained(
        groups=groups,
        weight=np.concatenate([np.empty(0), *(part["weight"] for part in parts)]),
        functional=functional,
        value=value,
        outputs=after,
        outputs_without=without,
        trained={name: w.cpu().numpy() for name, w in full.items()},
        seconds=sum(part["seconds"].item() for part in [whole, *parts]),
        watched=whole.get("watched"),
    )


def _mean_loss(loss: Loss, targets: Tensor, outputs: Floats) -> float:
    return float(loss.value(torch.from_numpy(outputs).to(targets), targets).mean())


def _groups(samples: Iterable[int] | None, groups: Iterable[Iterable[int]] | None, count: int) -> Groups:
    """Who leaves together, each time."""
    if samples is not None and groups is not None:
        raise InputError("samples leave one by one and groups together: both were given; leave one of them out")
    chosen = range(count) if samples is None else samples
    found = [(int(i),) for i in chosen] if groups is None else [tuple(sorted({int(i) for i in g})) for g in groups]
    outside = [i for group in found for i in group if not 0 <= i < count]
    if outside:
        raise InputError(f"sample {outside[0]} is outside 0…{count - 1}: name samples by their position in train")
    if not found or any(len(group) in (0, count) for group in found):
        raise InputError(
            f"groups: each must hold at least one of the {count} samples and leave at least one to train on; leave out "
            "the others"
        )
    return tuple(found)


def _size(model: nn.Module, inputs: Any) -> int:
    with torch.no_grad():
        found = outputs_of(call(model, inputs))
    return 1 if found.ndim == 1 else found.shape[1]
