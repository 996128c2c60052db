"""How far to trust the scores of one's own network: train again without a handful of samples, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.applications.answer import Answer
from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.baselines.descent import until
from uniqueinfo.baselines.retraining import Retrained, retrain
from uniqueinfo.baselines.stabilized import LEAPS
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.ends import BothEnds
from uniqueinfo.linearization.network import LinearizedNetwork, linearize
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.network import score
from uniqueinfo.statistics.correlation import pearson, spearman
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.store.plain import plain
from uniqueinfo.training import Converged, GradientDescent, GradientFlow, Training
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_FEWEST_SAMPLES = 10  # samples to retrain for: below, an interval says nothing
_MOST_LOOKS = 20  # times at which the network's outputs are compared with the linearized ones
_CLOSER = "Scoring with the weights after training too (trained=… of score, --trained) would bring them closer."

QUESTION = Question(
    "validate",
    help="Train again without a few samples: how far are the scores to be trusted?",
    example="runs/mnist --samples 20",
    retrains=True,
    options=(
        Option("samples", int, 12, help="How many samples to train again without: 10 or more."),
        Option("seed", int, 0, help="Of which samples."),
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Answer):
    """Scores of a few samples beside what training without them really does."""

    name = "validate"
    title = "How far to trust the scores?"

    samples: NDArray[np.intp]
    """Positions of the retrained samples in the training data."""
    predicted: Mapping[str, Floats]
    """Their scores: weight, functional and, with validation labels, value."""
    retrained: Mapping[str, Floats]
    """The same measures from the network really trained again."""
    pearson: Mapping[str, Interval]
    spearman: Mapping[str, Interval]
    times: Floats
    """Steps of training (of flow: time, in steps) after which the outputs were compared."""
    distance: Floats
    """‖f − f_lin‖ / ‖f_lin − f₀‖ after these: how far the network is from its linearization, for each step it moved."""
    training: GradientDescent | GradientFlow
    ids: NDArray[Any] | None = None
    seconds: float = 0.0
    at_both_ends: bool = False
    """Whether the scores took the gradients of the trained network too."""

    @property
    def sentence(self) -> str:
        """What a reader should know, in one sentence.

        The word goes by Spearman's correlation of the functional information: closely from 0.9 on, roughly from 0.7 on.
        """
        rank, linear = self.spearman["functional"], self.pearson["functional"]
        word = "closely" if rank.value >= 0.9 else "roughly" if rank.value >= 0.7 else "poorly"
        closer = "" if word == "closely" or self.at_both_ends else f" {_CLOSER}"
        return (
            f"Held against training the network again without {len(self.samples)} samples, the scores agree {word}: "
            f"functional information correlates {linear} (Pearson) and {rank} (Spearman) with the truth, and after "
            f"{self.times[-1]:,g} steps the network's outputs differ from the linearized ones by "
            f"{self.distance[-1]:.1%} of how far training moved them.{closer}"
        )

    def frame(self) -> pd.DataFrame:
        """One row per retrained sample: its id, each score, and the same after retraining."""
        table: dict[str, Any] = {"id": self.samples if self.ids is None else self.ids[self.samples]}
        for name, scores in self.predicted.items():
            table |= {name: scores, f"{name}_retrained": self.retrained[name]}
        return pd.DataFrame(table, index=self.samples)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Functional information: predicted against retrained, both logarithmic, with the line where they are equal."""
        axes = axes_or_new(ax)
        truth, scores = self.retrained["functional"], self.predicted["functional"]
        ends = [min(truth.min(), scores.min()), max(truth.max(), scores.max())]
        axes.plot(ends, ends, color="0.7", linewidth=1, zorder=0)
        axes.scatter(truth, scores, s=28)
        axes.set(xscale="log", yscale="log", xlabel="retrained", ylabel="predicted", title="functional information")
        return axes

    def plot_distance(self, ax: Axes | None = None) -> Axes:
        """How far the network's outputs leave the linearized ones over training."""
        axes = axes_or_new(ax)
        axes.plot(self.times, self.distance, marker="o", markersize=3)
        axes.set(xscale="log", ylim=(0, None), xlabel="steps", ylabel="distance / movement", title="linearization")
        return axes

    def as_json(self) -> dict[str, Any]:
        """Plain values: what a file or a report keeps."""
        return {
            **super().as_json(),
            "samples": self.samples.tolist(),
            "predicted": {name: plain(values) for name, values in self.predicted.items()},
            "retrained": {name: plain(values) for name, values in self.retrained.items()},
            "pearson": {name: asdict(found) for name, found in self.pearson.items()},
            "spearman": {name: asdict(found) for name, found in self.spearman.items()},
            "times": plain(self.times),
            "distance": plain(self.distance),
            "training": asdict(self.training),
            "seconds": self.seconds,
        }


def validate(
    model: nn.Module,
    train: Any,
    val: Any = None,
    training: Training | Literal["auto"] = "auto",
    *,
    samples: int | Iterable[int] = 12,
    seed: int = 0,
    scores: Scores | None = None,
    batch_size: int | None = None,
    folder: str | Path | None = None,
    memory: str | int | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> Validation:
    """Train the network again without a few samples, and hold their scores against that.

    `samples` are drawn one from each of as many equal parts of the samples in order of their scores, or are given by
    position. Without `val` the function is looked at on the training samples. `scores` (of this network, data and
    training) saves scoring again. `batch_size` retrains by mini-batches, which the scores leave out of account.
    Training to convergence has no number of steps, so it cannot be retrained. In a `folder`, a stopped run is gone on
    with.

    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(2, 256), nn.Tanh(), nn.Linear(256, 1))
    >>> X = torch.randn(40, 2)
    >>> found = validate(model, (X, (X[:, 0] > 0).long()), training=GradientDescent(lr=0.01, steps=50))
    >>> found.spearman["functional"].value > 0.9
    True
    """
    if isinstance(training, Converged) or (scores is not None and isinstance(_algorithm(scores), Converged)):
        raise InputError(
            "training to convergence has no number of steps to retrain with: validate GradientDescent with many steps"
        )
    looked = train if val is None else val
    if scores is None:
        scores = score(model, train, looked, training=training, memory=memory, device=device, progress=progress)
    origin = _origin(
        scores, training, lambda: linearize(model, train, looked, memory=memory, device=device, progress=progress)
    )
    run, probe = origin.run, origin.probe
    if probe is None:
        raise InputError("scores: they were made without validation samples; leave them out, or score with val")
    if training not in ("auto", run.training):
        raise InputError(f"scores: they are of {run.training}, not of {training}; leave one of the two out")
    if not isinstance(run.linearization, LinearizedNetwork) or run.linearization.classes != run.linearization.outputs:
        raise InputError("scores: only those of a whole network with all of its outputs can be retrained for")
    known = {"functional": scores.functional, "weight": scores.weight, "value": scores.value}
    chosen = _chosen(samples, known["functional"], seed)
    algorithm = run.training
    assert isinstance(algorithm, GradientDescent | GradientFlow)
    steps = algorithm.steps if isinstance(algorithm, GradientDescent) else LEAPS
    looks = np.unique(np.geomspace(1, steps, min(_MOST_LOOKS, steps)).round().astype(np.intp)).tolist()
    truth = retrain(
        model.start if isinstance(model, BothEnds) else model,
        train,
        looked,
        training=algorithm,
        samples=chosen.tolist(),
        batch_size=batch_size,
        seed=seed,
        watch=looks,
        folder=folder,
        memory=memory,
        device=device,
        progress=progress,
    )
    real = {"functional": truth.functional, "weight": truth.weight, "value": truth.value}
    predicted = {name: found[chosen] for name, found in known.items() if found is not None and real[name] is not None}
    retrained = {name: found for name, found in real.items() if found is not None and name in predicted}
    return Validation(
        samples=chosen,
        predicted=predicted,
        retrained=retrained,
        pearson={name: pearson(predicted[name], retrained[name], seed=seed) for name in predicted},
        spearman={name: spearman(predicted[name], retrained[name], seed=seed) for name in predicted},
        times=np.array([until(algorithm, look).length for look in looks]),
        distance=_distance(origin, algorithm, looks, truth=truth),
        training=algorithm,
        ids=scores.ids,
        seconds=truth.seconds,
        at_both_ends=run.linearization.at_both_ends,
    )


def _distance(
    origin: Origin, algorithm: GradientDescent | GradientFlow, looks: Sequence[int], truth: Retrained
) -> Floats:
    """‖f − f_lin‖ / ‖f_lin − f₀‖ over all validation outputs, after each of these steps."""
    run, probe = origin.run, origin.probe
    assert probe is not None
    assert truth.watched is not None
    start = probe.initial.flatten(1).cpu().numpy()
    found = []
    for look, outputs in zip(looks, truth.watched, strict=True):
        filter = until(algorithm, look).filter(run.samples)
        linearized = probe.outputs(run.coordinates_under(filter)).flatten(1).cpu().numpy()
        moved = np.linalg.norm(linearized - start)
        found.append(np.linalg.norm(outputs - linearized) / moved if moved > 0 else 0.0)
    return np.array(found)


def _chosen(samples: int | Iterable[int], functional: Floats | None, seed: int) -> NDArray[np.intp]:
    """One sample out of each of as many equal parts of the ordered scores, least first; or those asked for."""
    assert functional is not None
    count = len(functional)
    if not isinstance(samples, int | np.integer):
        given = np.array([int(i) for i in samples], dtype=np.intp)
        if len(given) < 3 or len(np.unique(given)) < len(given) or given.min() < 0 or given.max() >= count:
            raise InputError(f"samples: expected at least 3 different positions within 0…{count - 1}")
        return given
    if not _FEWEST_SAMPLES <= samples <= count:
        raise InputError(
            f"samples: {samples} is too few or too many; expected {_FEWEST_SAMPLES} to {count}, as a correlation of "
            "fewer says nothing (name positions to choose for yourself)"
        )
    rng = np.random.default_rng(seed)
    parts = np.array_split(np.argsort(functional, kind="stable"), samples)
    return np.array([rng.choice(part) for part in parts], dtype=np.intp)


def _algorithm(scores: Scores) -> Training:
    if "training" not in scores.settings:
        raise InputError("scores: they do not say by which training they were made; leave them out")
    return Training.from_settings(scores.settings["training"])


def _origin(
    scores: Scores, training: Training | Literal["auto"], linearized: Callable[[], LinearizedNetwork]
) -> Origin:
    """What the scores were measured on; saved scores no longer hold it, so that it is made again."""
    if scores.source is not None:
        return scores.origin
    again = linearized()
    return Origin(again.train(_algorithm(scores) if training == "auto" else training), again.validation)
