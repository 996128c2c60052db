"""How far to trust scores for a training that is the user's own: call it again without a few samples, and compare.

No agreement can be read without its ceiling: how well two runs of the user's own training, with different seeds, agree
with each other about the same samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.applications.trust import Trust
from uniqueinfo.baselines.again import chosen
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.guard import prepared
from uniqueinfo.progress import progress
from uniqueinfo.samples.samples import Samples, as_samples
from uniqueinfo.samples.targets import as_targets
from uniqueinfo.scores.looked import Looked
from uniqueinfo.scores.table import Scores
from uniqueinfo.statistics.correlation import pearson, spearman
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.training import Training
from uniqueinfo.types import Floats

TrainFunction = Callable[[NDArray[np.intp], int], nn.Module]
"""Positions of the training samples to train on, and a seed → the trained network."""

SEEDS = (0, 1)
"""Two: what the second says about the first is the ceiling of any score."""
BY_FUNCTION = (
    "scores: their outputs are those of a function, which a trained network does not return; train without some "
    "samples yourself, and hold the function's numbers against scores.loo_outputs"
)
"""Why such scores are not held against training again here."""
_BATCH = 256


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OwnLoop(Trust):
    """Scores held against the user's own training, the mean over its seeds; `outputs`: every change of an output."""

    ceiling: Mapping[str, Interval]
    """Of the truth of one seed and that of the other."""

    @property
    def sentence(self) -> str:
        """What a reader should know."""
        amount, most = self.spearman["functional"], self.ceiling["functional"]
        value = ""
        if "value" in self.spearman:
            value = f" For the value they agree {self.spearman['value']}, two runs {self.ceiling['value']}."
        return (
            f"Held against your own training without {len(self.samples)} samples, functional information agrees "
            f"{amount} (Spearman); two runs of your training that differ in their seed alone agree {most} with each "
            f"other, and a score near that is as good as can be told.{value}"
        )

    def as_json(self) -> dict[str, Any]:
        """With the ceiling."""
        return {**super().as_json(), "ceiling": {name: asdict(found) for name, found in self.ceiling.items()}}


def own_loop(
    scores: Scores,
    train_function: TrainFunction,
    val: Any,
    *,
    samples: int | Iterable[int] = 12,
    seed: int = 0,
    show: bool = True,
) -> OwnLoop:
    """Call the user's training with all samples and without each of a few, for two seeds, and compare.

    `val`: the validation samples the scores were made with, with labels or without.
    """
    if scores.functional is None:
        raise InputError("scores: they were made without validation samples; score with val first")
    if "output_function" in scores.settings:
        raise InputError(BY_FUNCTION)
    positions = chosen(samples if isinstance(samples, int) else list(samples), scores.functional, seed)
    runs = [_Seed.run(train_function, each, scores, positions, val, show=show) for each in SEEDS]
    loss = Training.from_settings(scores.settings["training"]).criterion
    truths = [run.measures(loss.value) for run in runs]
    known = {"functional": scores.functional, "value": scores.value}
    names = [name for name in truths[0] if known[name] is not None]
    predicted = {name: np.asarray(known[name])[positions] for name in names}
    retrained = {name: np.mean([truth[name] for truth in truths], axis=0) for name in names}
    agreed = {name: spearman(predicted[name], retrained[name], seed=seed) for name in names}
    if scores.source is not None:
        agreed["outputs"] = pearson(_changes(scores, positions), np.mean([run.changes for run in runs], axis=0).ravel())
    return OwnLoop(
        samples=positions,
        predicted=predicted,
        retrained=retrained,
        spearman=agreed,
        ceiling={name: spearman(truths[0][name], truths[1][name], seed=seed) for name in names},
        ids=scores.ids,
    )


def _changes(scores: Scores, positions: NDArray[np.intp]) -> Floats:
    """How the scores' own linearization moves every validation output, (samples · m · k,)."""
    origin = scores.origin
    assert origin.probe is not None
    found: dict[int, Floats] = {}
    for numbers, moved in origin.run.leave_out([[int(at)] for at in positions]).output_changes(origin.probe):
        found |= dict(zip(numbers.tolist(), moved, strict=True))
    return np.stack([found[number] for number in range(len(positions))]).ravel()


@dataclass(frozen=True, eq=False)
class _Seed:
    """All trainings of one seed: outputs on the validation samples."""

    full: Floats
    """(m, k)."""
    without: Floats
    """(samples, m, k)."""
    targets: Floats | None

    @classmethod
    def run(
        cls, train: TrainFunction, seed: int, scores: Scores, left: NDArray[np.intp], val: Any, *, show: bool
    ) -> _Seed:
        found, looked = [], None
        everyone = np.arange(len(scores))
        with progress(f"Your training, seed {seed}", len(left) + 1, unit="trainings", show=show) as advance:
            for leaving in (None, *left):
                network = train(everyone if leaving is None else np.delete(everyone, leaving), seed)
                if not isinstance(network, nn.Module):
                    raise InputError(
                        f"train_function: expected it to return the trained network, got {type(network).__name__}"
                    )
                if looked is None:
                    looked = _samples(network, val)
                    Looked(val=looked.glance(labelled=False)).check(scores.settings)
                found.append(_outputs(network, looked))
                if scores.source is not None and found[0].shape[1] != scores.outputs.shape[1]:
                    raise InputError(
                        f"train_function: its network gives {found[0].shape[1]} outputs, and the scores are of one "
                        f"with {scores.outputs.shape[1]}; score that network, by ui.score"
                    )
                advance(1)
        assert looked is not None
        targets = None if looked.labels is None else as_targets(looked.labels, found[0].shape[1])
        return cls(found[0], np.stack(found[1:]), targets)

    @property
    def changes(self) -> Floats:
        """f − f₋ᵢ, (samples, m, k)."""
        return self.full - self.without

    def measures(self, loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> dict[str, Floats]:
        """Of every sample that was left out."""
        found = {"functional": np.square(self.changes).sum(axis=2).mean(axis=1) / 2}
        if self.targets is not None:
            wanted = torch.from_numpy(self.targets)
            each = [float(loss(torch.from_numpy(outputs), wanted).mean()) for outputs in (self.full, *self.without)]
            found["value"] = np.array(each[1:]) - each[0]
        return found


def _samples(network: nn.Module, val: Any) -> Samples:
    parameter = next(network.parameters())
    return as_samples(val, device=parameter.device, dtype=parameter.dtype)


def _outputs(network: nn.Module, samples: Samples) -> Floats:
    parts = [range(start, min(start + _BATCH, len(samples))) for start in range(0, len(samples), _BATCH)]
    with prepared(network, None, quiet=True), torch.no_grad():
        found = torch.cat([outputs_of(call(network, samples.inputs(part))).double() for part in parts])
    outputs: Floats = found.reshape(len(samples), -1).cpu().numpy()
    return outputs
