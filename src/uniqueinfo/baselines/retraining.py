"""The truth the scores are held against: train the network with all samples and again without some, and look.

    ½‖w − w₋‖²,   (1/2m) Σ_j ‖f(x_j) − f₋(x_j)‖²,   L_val(w₋) − L_val(w)

Both trainings start from the network's present weights and see the same batches in the same order.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.baselines.descent import DecayTo, Descent
from uniqueinfo.baselines.folder import Folder
from uniqueinfo.baselines.stabilized import LEAPS, Stride, Weights
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.guard import fingerprint, prepared
from uniqueinfo.memory import as_bytes
from uniqueinfo.progress import progress as bar
from uniqueinfo.samples.samples import as_samples
from uniqueinfo.training import GradientDescent, GradientFlow
from uniqueinfo.types import Floats


@dataclass(frozen=True, eq=False)
class Retrained:
    """What really happened without each group of samples; every array in the order of the groups."""

    groups: tuple[tuple[int, ...], ...]
    weight: Floats
    """½‖w − w₋‖²."""
    functional: Floats | None
    """(1/2m) Σ_j ‖f(x_j) − f₋(x_j)‖² over the validation samples."""
    value: Floats | None
    """What the mean validation loss ½‖f − y‖² gains when the group leaves."""
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
    training: GradientDescent | GradientFlow,
    samples: Iterable[int] | None = None,
    groups: Iterable[Iterable[int]] | None = None,
    batch_size: int | None = None,
    decay_to: DecayTo = "start",
    seed: int = 0,
    watch: Sequence[int] = (),
    copies: int | None = None,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> Retrained:
    """Really train a network, from its present weights, with all samples and without each one (or each group).

    `train` and `val` are what `ui.score` takes; without `samples` or `groups` every sample leaves once. `batch_size`
    descends by mini-batches drawn from `seed`; a sample that has left is missing from its batch. Weight decay pulls
    towards the start, or towards zero. `watch` keeps the validation outputs after these steps (of flow: leaps) too.
    Copies are trained side by side where that is quicker. In a `folder`, finished copies are kept: a stopped run is
    gone on with, and further samples can be added to it.

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.zeros_(model.weight)
    >>> data = (torch.tensor([[1.0], [1.0]]), torch.tensor([0.0, 2.0]))  # one weight, drawn to 0 and to 2
    >>> found = retrain(model, data, data, training=GradientDescent(lr=0.5, steps=60))
    >>> found.weight.round(6)  # without the one, the other is all there is: w is 1 with both, 2 and 0 without
    array([0.5, 0.5])
    """
    parameter = next(model.parameters(), None)
    if parameter is None:
        raise InputError(f"model: {type(model).__name__} has no parameters, so there is nothing to train")
    if not isinstance(training, GradientDescent | GradientFlow):
        raise InputError(f"training: expected GradientDescent or GradientFlow, which can be followed, got {training!r}")
    steps = training.steps if isinstance(training, GradientDescent) else LEAPS
    place = torch.device(device or parameter.device)
    known = as_samples(train, device=place, dtype=parameter.dtype)
    others = None if val is None else as_samples(val, device=place, dtype=parameter.dtype)
    left = _groups(samples, groups, len(known))
    if any(not 1 <= step <= steps for step in watch):
        raise InputError(f"watch: expected steps between 1 and {steps}, got {list(watch)}")
    if batch_size is not None and batch_size < 1:
        raise InputError(f"batch_size: expected at least 1, got {batch_size}")
    if batch_size is not None and isinstance(training, GradientFlow):
        raise InputError("batch_size: gradient flow follows all samples at once; give GradientDescent for mini-batches")
    with prepared(model, device):
        inputs = known.inputs(range(len(known)))
        outputs = _size(model, known.inputs([0]))
        wanted = torch.from_numpy(known.targets(outputs)).to(place, parameter.dtype)
        descent = Descent(model, inputs, wanted, training, batch_size, seed, decay_to, as_bytes(memory) // 2)
        side = copies or descent.copies()
        look = None if others is None else others.inputs(range(len(others)))
        settings = {
            "model": fingerprint(model),
            "train": known.fingerprint(),
            "val": None if others is None else others.fingerprint(),
            "training": asdict(training),
            "batch_size": batch_size,
            "decay_to": decay_to,
            "seed": seed,
            "watch": list(watch),
            "copies": side,
        }
        kept = None if folder is None else Folder(Path(folder), settings)
        found = _all(descent, left, look, list(watch), side, kept, progress)
    targets = None if others is None or others.labels is None else others.targets(outputs)
    return _measures(left, found, targets)


def _all(
    descent: Descent,
    groups: Sequence[Sequence[int]],
    look: Any,
    watch: Sequence[int],
    side: int,
    kept: Folder | None,
    show: bool,
) -> dict[str, Any]:
    """Train with all samples, then without each group, `side` copies at once."""
    with bar("Retraining", len(groups) + 1, unit="trainings", show=show) as advance:
        full, seen = _with_all(descent, look, watch, kept)
        advance(1)
        parts = []
        for start in range(0, len(groups), side):
            chunk = groups[start : start + side]
            name = f"without-{hashlib.sha256(json.dumps(chunk).encode()).hexdigest()[:16]}"
            part = None if kept is None else kept.read(name)
            if part is None:
                part = _without(descent, chunk, look, full)
                if kept is not None:
                    kept.write(name, part)
            parts.append(part)
            advance(len(chunk))
    found: dict[str, Any] = {"weight": np.concatenate([part["weight"] for part in parts])}
    found |= {name: seen.get(name) for name in ("outputs", "watched")}
    found["trained"] = {name: w.cpu().numpy() for name, w in full.items()}
    found["outputs_without"] = None if look is None else np.concatenate([part["outputs"] for part in parts])
    found["seconds"] = sum(float(part["seconds"]) for part in [seen, *parts])
    return found


def _with_all(
    descent: Descent, look: Any, watch: Sequence[int], kept: Folder | None
) -> tuple[Weights, dict[str, NDArray[Any]]]:
    """The weights after training with all samples, and what was seen of it."""
    saved = None if kept is None else kept.read("all")
    if saved is None:
        started = time.process_time()
        watched: dict[int, Floats] = {}

        def after(step: int, weights: Weights) -> None:
            if look is not None and step in watch:
                watched[step] = _numpy(descent.outputs(weights, look))[0]

        weights = descent.train([[]], after)
        saved = {f"w.{name}": w[0].cpu().numpy() for name, w in weights.items()}
        if look is not None:
            saved["outputs"] = _numpy(descent.outputs(weights, look))[0]
        if watched:
            saved["watched"] = np.stack([watched[step] for step in watch])
        saved["pace"] = np.array(descent.pace)
        saved["seconds"] = np.array(time.process_time() - started)
        if kept is not None:
            kept.write("all", saved)
    descent.pace = tuple(Stride(length, int(stages), int(ends)) for length, stages, ends in saved["pace"].tolist())
    full = {name: torch.from_numpy(saved[f"w.{name}"]).to(w.device) for name, w in descent.start.items()}
    return full, saved


def _without(descent: Descent, groups: Sequence[Sequence[int]], look: Any, full: Weights) -> dict[str, NDArray[Any]]:
    started = time.process_time()
    weights = descent.train(groups)
    moved = sum((w - full[name]).double().square().flatten(1).sum(dim=1) for name, w in weights.items())
    assert isinstance(moved, Tensor)
    part = {"weight": _numpy(moved / 2)}
    if look is not None:
        part["outputs"] = _numpy(descent.outputs(weights, look))
    return part | {"seconds": np.array(time.process_time() - started)}


def _measures(groups: tuple[tuple[int, ...], ...], found: Mapping[str, Any], targets: Floats | None) -> Retrained:
    after, without = found["outputs"], found["outputs_without"]
    functional = value = None
    if after is not None:
        functional = np.square(without - after).sum(axis=(1, 2)) / (2 * len(after))
        if targets is not None:
            lost = np.square(without - targets).sum(axis=(1, 2)) - np.square(after - targets).sum()
            value = lost / (2 * len(after))
    return Retrained(
        groups, found["weight"], functional, value, after, without, found["trained"], found["seconds"], found["watched"]
    )


def _groups(samples: Any, groups: Any, count: int) -> tuple[tuple[int, ...], ...]:
    if samples is not None and groups is not None:
        raise InputError("give samples, which leave one by one, or groups, which leave together; not both")
    chosen = range(count) if samples is None else samples
    found = [(int(i),) for i in chosen] if groups is None else [tuple(sorted({int(i) for i in g})) for g in groups]
    outside = [i for group in found for i in group if not 0 <= i < count]
    if outside:
        raise InputError(f"sample {outside[0]} is outside 0…{count - 1}")
    if not found or any(len(group) in (0, count) for group in found):
        raise InputError("every group must hold at least one sample and leave at least one to train on")
    return tuple(found)


def _size(model: nn.Module, inputs: Any) -> int:
    with torch.no_grad():
        found = outputs_of(call(model, inputs))
    return 1 if found.ndim == 1 else found.shape[1]


def _numpy(values: Tensor) -> Floats:
    found: Floats = values.double().cpu().numpy()
    return found
