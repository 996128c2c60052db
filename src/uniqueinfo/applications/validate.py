"""How far to trust the scores of one's own network: train again without a handful of samples, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
import torch
from torch import Tensor, nn

from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.applications.own_loop import BY_FUNCTION, OwnLoop, TrainFunction, own_loop
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.applications.trust import Trust
from uniqueinfo.baselines.again import Again, Budget, TrainedAgain, chosen
from uniqueinfo.baselines.planning import Plan
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.ends import BothEnds
from uniqueinfo.jacobian.guard import check_network, fingerprint
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.linearization.network import LinearizedNetwork, linearize
from uniqueinfo.linearization.origin import Origin
from uniqueinfo.removal.course import Course, reached
from uniqueinfo.removal.trained import LocalSums
from uniqueinfo.samples.border import FUNCTION, SEED, Kind, takes
from uniqueinfo.samples.samples import as_samples
from uniqueinfo.scores.looked import Looked
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.scoring.network import score
from uniqueinfo.statistics.correlation import pearson, spearman
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.store.plain import plain
from uniqueinfo.threads import sharing
from uniqueinfo.training import Auto, Converged, GradientDescent, GradientFlow, Recorded, Training
from uniqueinfo.training.auto import as_training
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_CLOSER = "Scoring with the weights after training too (trained=… of score, --trained) would bring them closer."

QUESTION = Question(
    "validate",
    help="Train again without a few samples: how far are the scores to be trusted?",
    example="runs/mnist --samples 20",
    retrains=True,
    options=(
        Option("samples", int, 12, help="How many samples to train again without: 10 or more."),
        Option("seed", int, 0, help="Of which samples."),
        Option(
            "budget",
            str,
            metavar="TIME",
            help="End within this time, such as 10m: fewer samples first, then fewer steps; the answer says which.",
        ),
        Option(
            "train_function",
            str,
            called="with",
            metavar="FILE.PY:FUNCTION",
            help="Your own training in place of ours: function(positions, seed) returns the network trained on these "
            "samples. It is called for two seeds, whose agreement with each other is said too.",
        ),
    ),
)

_SAMPLES = Kind("how many, or their positions", (Integral, Iterable))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Validation(Trust):
    """Scores held against training the network again as the scores say it is trained."""

    pearson: Mapping[str, Interval]
    """Of the two, by measure."""
    times: Floats
    """Steps of training (of flow: time, in steps) after which the outputs were compared."""
    distance: Floats
    """‖f − f_lin‖ / ‖f_lin − f₀‖ after these: how far the network is from its linearization, for each step it moved."""
    training: GradientDescent | GradientFlow
    """By which it was trained again."""
    seconds: float = 0.0
    """How long all of that took."""
    at_both_ends: bool = False
    """Whether the scores took the gradients of the trained network too."""
    reduced: tuple[str, ...] = ()
    """What was left out to end within a budget."""

    @property
    def sentence(self) -> str:
        """What a reader should know, in one sentence.

        The word goes by Spearman's correlation of the functional information: closely from 0.9 on, roughly from 0.7 on.
        """
        rank, linear = self.spearman["functional"], self.pearson["functional"]
        word = agreement(rank.value)
        less = f" To end in time: {', '.join(self.reduced)}." if self.reduced else ""
        closer = "" if word == "closely" or self.at_both_ends else f" {_CLOSER}"
        return (
            f"Held against training the network again without {len(self.samples)} samples, the scores agree {word}: "
            f"functional information correlates {linear} (Pearson) and {rank} (Spearman) with the truth, and after "
            f"{self.times[-1]:,g} steps the network's outputs differ from the linearized ones by "
            f"{self.distance[-1]:.1%} of how far training moved them.{less}{closer}"
        )

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
            "pearson": {name: asdict(found) for name, found in self.pearson.items()},
            "times": plain(self.times),
            "distance": plain(self.distance),
            "training": asdict(self.training),
            "seconds": self.seconds,
            "reduced": list(self.reduced),
        }


def agreement(rank: float) -> str:
    """In a word, by Spearman's correlation.

    >>> agreement(0.95), agreement(0.8), agreement(0.2)
    ('closely', 'roughly', 'poorly')
    """
    return "closely" if rank >= 0.9 else "roughly" if rank >= 0.7 else "poorly"


class Retraining(TypedDict, total=False):
    """How to train again, by keyword; each may be left out."""

    batch_size: int | None
    """Retrain by mini-batches, which the scores leave out of account."""
    folder: str | Path | None
    """Where finished trainings are kept: a stopped run is gone on with."""
    memory: str | int | None
    device: torch.device | str | None
    progress: bool


@overload
def validate(
    model: Scores,
    train: None = None,
    val: Any = None,
    *,
    samples: int | Iterable[int] = 12,
    seed: int = 0,
    train_function: TrainFunction,
) -> OwnLoop: ...
@overload
def validate(
    model: nn.Module,
    train: Any,
    val: Any = None,
    training: Training | Literal["auto"] = "auto",
    *,
    samples: int | Iterable[int] = 12,
    seed: int = 0,
    budget: str | float | None = None,
    scores: Scores | None = None,
    **retraining: Unpack[Retraining],
) -> Validation: ...
@takes(samples=_SAMPLES, seed=SEED, scores=SCORES, train_function=FUNCTION)
@sharing()
def validate(
    model: nn.Module | Scores,
    train: Any = None,
    val: Any = None,
    training: Training | Literal["auto"] = "auto",
    *,
    samples: int | Iterable[int] = 12,
    seed: int = 0,
    budget: str | float | None = None,
    scores: Scores | None = None,
    train_function: TrainFunction | None = None,
    **retraining: Unpack[Retraining],
) -> Validation | OwnLoop:
    """Train the network again without a few samples, and hold their scores against that.

    Or `validate(scores, val=…, train_function=f)`: f(positions, seed) trains on these samples, by the user's own loop,
    and returns the network. It is called with all samples and without each of a few, for two seeds: how well these two
    agree with each other is said beside how well the scores agree with them, as no score can do better.

    `model`, `train`, `val`, `training`: as for `ui.score`. `seed`: of the samples that are drawn. `train_function`: f.
    `samples` are drawn one from each of as many equal parts of the samples in order of their scores, or are given by
    position. Without `val` the function is looked at on the training samples. `scores` (of this network, data and
    training) saves scoring again. Training to convergence has no number of steps, so it cannot be retrained.

    `budget`: how long it may take, such as "10m": then fewer samples leave (but 10 or more), and where that is not
    enough the network is trained for the same time in fewer, longer steps with momentum; `reduced` says which. Where
    time runs out what is done counts, if it is 10 trainings or more.

    `retraining`: `batch_size` retrains by mini-batches, which the scores leave out of account. In a `folder`, a stopped
    run is gone on with. `memory`, `device` and `progress` are as for `ui.score`.

    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(2, 256), nn.Tanh(), nn.Linear(256, 1))
    >>> X = torch.randn(40, 2)
    >>> found = validate(model, (X, (X[:, 0] > 0).long()), training=GradientDescent(lr=0.01, steps=50))
    >>> found.spearman["functional"].value > 0.9
    True
    """
    if isinstance(model, Scores) or train_function is not None:
        if not isinstance(model, Scores) or train_function is None or val is None:
            raise InputError("validate: your own training needs scores: validate(scores, val=…, train_function=f)")
        return own_loop(model, train_function, val, samples=samples, seed=seed)
    if scores is not None and "output_function" in scores.settings:
        raise InputError(BY_FUNCTION)
    allowed = Budget.of(budget)
    asked = [training] if scores is None else [training, _algorithm(scores)]
    for each in asked:
        if isinstance(each, Converged | Recorded):  # before anything is computed
            raise _refused(each)
    looked = train if val is None else val
    where: Any = {name: given for name, given in retraining.items() if name in ("memory", "device", "progress")}
    if scores is None:
        scores = score(model, train, looked, training=training, **where)
    else:
        _check_same(scores, model, train, looked, where.get("device"))
    origin = _origin(scores, training, lambda: linearize(model, train, looked, **where))
    run, probe = origin.run, origin.probe
    if probe is None:
        raise InputError("scores: they were made without validation samples; leave them out, or score with val")
    if not isinstance(as_training(training), Auto) and training != run.training:
        raise InputError(f"scores: they are of {run.training}, not of {training}; leave one of the two out")
    if not isinstance(run.linearization, LinearizedNetwork) or run.linearization.classes != run.linearization.outputs:
        raise InputError("scores: only those of a whole network with all of its outputs can be retrained for")
    known = {"functional": scores.functional, "weight": scores.weight, "value": scores.value}
    algorithm = run.training
    if not isinstance(algorithm, GradientDescent | GradientFlow):
        raise _refused(algorithm)
    assert scores.functional is not None
    start = model.start if isinstance(model, BothEnds) else model
    again = Again(start, train, looked, algorithm, allowed, retraining).run(scores.functional, samples, seed)
    positions, truth = again.samples, again.truth
    real = {"functional": truth.functional, "weight": truth.weight, "value": truth.value}
    both = [name for name, found in known.items() if found is not None and real[name] is not None]
    predicted = {name: np.asarray(known[name])[positions] for name in both}
    retrained = {name: np.asarray(real[name]) for name in both}
    return Validation(
        samples=positions,
        predicted=predicted,
        retrained=retrained,
        pearson={name: pearson(predicted[name], retrained[name], seed=seed) for name in predicted},
        spearman={name: spearman(predicted[name], retrained[name], seed=seed) for name in predicted},
        times=np.array([again.until(look).length for look in again.looks]),
        distance=_distance(origin, again),
        training=algorithm,
        ids=scores.ids,
        seconds=truth.seconds,
        at_both_ends=run.linearization.at_both_ends,
        reduced=again.reduced,
    )


def expected(
    model: nn.Module,
    train: Any,
    val: Any,
    *,
    scores: Scores,
    samples: int = 12,
    seed: int = 0,
    budget: str | float | None = None,
) -> Plan:
    """What `validate` would do with these scores, and about how long it would take: a few steps are timed."""
    allowed, training = Budget.of(budget), _algorithm(scores)
    if not isinstance(training, GradientDescent | GradientFlow):
        raise _refused(training)
    positions = chosen(samples, scores.information, seed)
    start = model.start if isinstance(model, BothEnds) else model
    return Again(start, train, val, training, allowed, {}).plan(len(positions))


def _refused(training: Training) -> InputError:
    if isinstance(training, Converged):
        return InputError(
            "training: to convergence has no number of steps to retrain with; use GradientDescent with many steps"
        )
    return InputError(
        f"training: {training.words()} is not trained again here; hand over your own loop: validate(scores, val=…, "
        "train_function=f)"
    )


def _distance(origin: Origin, again: TrainedAgain) -> Floats:
    """‖f − f_lin‖ / ‖f_lin − f₀‖ over all validation outputs, after each of these steps."""
    run, probe = origin.run, origin.probe
    assert probe is not None
    assert again.truth.watched is not None
    start = probe.initial.flatten(1).cpu().numpy()
    found = []
    for look, outputs in zip(again.looks, again.truth.watched, strict=True):
        linearized = probe.outputs(_coordinates(run, again, look)).flatten(1).cpu().numpy()
        moved = np.linalg.norm(linearized - start)
        found.append(np.linalg.norm(outputs - linearized) / moved if moved > 0 else 0.0)
    return np.array(found)


def _coordinates(run: Trained, again: TrainedAgain, look: int) -> Tensor:
    """Of the linearized network at one of the looks; of another loss by the share of its course that is behind."""
    until = again.until(look)
    if run.learnt is None:
        return run.coordinates_under(until.filter(run.samples))
    assert isinstance(run.learnt.how, Course)
    length = run.training.length * until.length / again.training.length
    return run.space.coordinates(reached(LocalSums(run), run.learnt.how, length)).T


def _check_same(scores: Scores, model: nn.Module, train: Any, val: Any, device: Any) -> None:
    """Refuse scores of another network, or of other samples: they would only seem to agree poorly."""
    check_network(model)
    parameter = next(model.parameters())
    place = device or parameter.device
    known = as_samples(train, device=place, dtype=parameter.dtype)
    others = as_samples(val, device=place, dtype=parameter.dtype, like=known)
    if len(known) != len(scores):
        raise InputError(f"scores: are of {len(scores)} samples, and train has {len(known)}; hand over what was scored")
    Looked(fingerprint(model), known.glance(), others.glance(labelled=False)).check(scores.settings)


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
