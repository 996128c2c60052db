"""Which inputs do not belong: ranked by what they would tell a network trained on clean data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from uniqueinfo.applications.answer import Answer
from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.errors import InputError
from uniqueinfo.removal.additions import add_each, longest
from uniqueinfo.samples.border import NUMBER, takes
from uniqueinfo.scores.predictions import Predictions, class_numbers, in_words, label_probabilities, targets_of
from uniqueinfo.scores.several import LabelPredictions, present_words
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.statistics.bins import bin_edges
from uniqueinfo.threads import sharing
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUESTION = Question(
    "adversarial",
    help="Rank new inputs by what they would tell the network: which do not look like the training data?",
    example="runs/mnist new-images-idx3-ubyte",
    new_data="Data like that of the run; labels may be missing.",
    options=(Option("level", float, 0.05, help="Share of clean inputs that may be taken for others."),),
)


@dataclass(frozen=True, eq=False, repr=False)
class Adversarial(Answer):
    """Inputs against a clean reference, the most informative first."""

    name = "adversarial"
    title = "Which inputs do not look like the training data?"

    information: Floats
    """Of each input, in their order."""
    reference: Floats
    """Of each sample of the clean reference."""
    level: float
    table: pd.DataFrame
    by_flow: bool = False
    """Whether gradient flow stood for descent, which could diverge with one of the inputs."""

    @property
    def count(self) -> int:
        """How many inputs are more informative than all but the `level` share of the reference."""
        return int((self.table["above"] <= self.level).sum())

    @property
    def sentence(self) -> str:
        """How many stand out."""
        expected = self.level * len(self.table)
        flow = " Measured by gradient flow, as descent at this rate could diverge with one of them."
        return (
            f"{self.count:,} of {len(self.table):,} inputs carry more information than {1 - self.level:.0%} of the "
            f"clean samples do; of clean inputs about {expected:.0f} would. First of all input "
            f"{self.table['input'].iloc[0]}.{flow if self.by_flow else ''}"
        )

    def frame(self) -> pd.DataFrame:
        """One row per input, the most informative first.

        Columns: input (its id, or its position), label (given, or predicted where there is none), predicted,
        information, and above: the share of clean samples that carry at least as much (counting the input itself).
        """
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """Information of the inputs and of the clean samples."""
        axes = axes_or_new(ax)
        logs = [np.log10(np.maximum(part, np.finfo(float).tiny)) for part in (self.reference, self.information)]
        bins = bin_edges(np.concatenate(logs), 50)
        for part, name in zip(logs, ("clean samples", "inputs"), strict=True):
            axes.hist(part, bins=list(bins), density=True, alpha=0.6, label=name)
        axes.set(xlabel="information, log₁₀", ylabel="density")
        axes.legend(loc="upper left")
        return axes


@takes(scores=SCORES, level=NUMBER)
@sharing()
def adversarial(scores: Scores, inputs: Any, *, level: float = 0.05) -> Adversarial:
    """Rank inputs by the unique information each would add to the clean data that `scores` are of.

    For every input this is F-SI of the input within the reference and it (the information in the weights where the
    reference has no validation samples), exact for the linearized network. Adversarial examples, wrong labels and
    inputs of another kind tell the network much; `level` is the share of clean inputs that may be taken for such.

    Where descent at its rate could diverge with one of the inputs, gradient flow of the same length stands for it.

    `inputs` are data as the network takes them, with labels or without, or a probe made by
    `scores.origin.run.linearization.probe(…)`. Where there are no labels, the predicted class stands for them, and only
    what is unusual about the input itself is found.

    >>> from uniqueinfo.scoring.arrays import score_features
    >>> from uniqueinfo.training import Converged
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2))
    >>> scores = score_features(X, (X[:, 0] > 0).astype(int), X, training=Converged(0.1), head="paper")
    >>> probe = scores.origin.run.linearization.probe([[1.0, 0.2], [8.0, 9.0], [-1.0, 0.1]], [1.0, 1.0, 0.0])
    >>> adversarial(scores, probe).frame()[["input", "label"]]
       input label
    1      1     1
    0      0     1
    2      2     0
    """
    if not 0 < level < 1:
        raise InputError(f"level: expected a share between 0 and 1, got {level}")
    given = scores.origin
    probe = inputs if isinstance(inputs, Probe) else given.run.linearization.probe(inputs)
    run = given.run
    # With one more sample the largest eigenvalue may grow, and descent at this rate diverge.
    origin = given.trained(run.training.stable(run.system.largest + longest(probe), run.samples + 1))
    outputs = origin.run.outputs(probe)
    classes, several = Predictions.of(scores), LabelPredictions.of(scores)
    predicted = outputs if classes is None else targets_of(class_numbers(outputs), outputs.shape[1])
    if several is not None:
        predicted = (label_probabilities(outputs) > 0.5).astype(np.float64)
    if probe.targets is None and classes is None and several is None:
        raise InputError("inputs: there are no labels, and no classes to predict; hand over (inputs, labels)")
    wanted = predicted if probe.targets is None else probe.targets.flatten(1).cpu().numpy()
    targets = torch.from_numpy(wanted).to(probe.initial).reshape(probe.initial.shape)
    found = add_each(origin.run, origin.probe, probe, targets)
    information = found.weight if found.functional is None else found.functional
    # As the reference's own samples count: each left out of it, measured by the same removal.
    reference = origin.run.leave_out().measures(origin.probe)
    clean = reference.information
    above = (np.searchsorted(np.sort(-clean), -information, side="right") + 1) / (len(clean) + 1)
    table = pd.DataFrame(
        {
            "input": probe.names,
            "label": in_words(wanted, classes) if several is None else present_words(wanted, several.names),
            "predicted": in_words(predicted, classes) if several is None else present_words(predicted, several.names),
            "information": information,
            "above": above,
        }
    )
    table = table.sort_values("information", ascending=False, kind="stable")
    return Adversarial(information, clean, level, table=table, by_flow=origin is not given)
