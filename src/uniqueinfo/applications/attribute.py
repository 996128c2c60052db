"""Which training samples made a prediction what it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.drawing import axes_or_new
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.errors import InputError, known_names
from uniqueinfo.samples.border import WHOLE, takes
from uniqueinfo.scores.predictions import Predictions, one_per_class, task_of
from uniqueinfo.scores.several import label_names
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.spectrum.probe import PROBE, Probe
from uniqueinfo.threads import sharing
from uniqueinfo.training.loss_names import LIKELIHOOD
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


QUESTION = Question(
    "attribute",
    help="Which training samples made the prediction of a validation sample what it is.",
    example="runs/mnist --val-index 7",
    options=(
        Option(
            "sample",
            int,
            called="val_index",
            help="Which validation sample, counted from 0.",
            least=0,
        ),
        Option("sample_id", str, called="val_id", help="Which validation sample, by its id.", metavar="ID"),
        Option("output", str, help="Class to look at (else the predicted one), or the number of an output."),
        Option("top", int, 20, help="How many training samples to name.", least=1),
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(Answer):
    """By how much each training sample moved one output for one validation (or new) sample."""

    name = "attribute"
    title = "Which training samples made this prediction?"

    sample: int
    """The position of the sample that is predicted."""
    called: str
    """What it is called: its id, or its position where it has none."""
    output: str
    """The class, or the number of the output, that is looked at."""
    prediction: float
    """This output after training on all samples."""
    change: Floats
    """f_w − f_w₋ᵢ of this output for every training sample i, in the order of the training data."""
    samples: NDArray[np.intp]
    """Positions in the training data, in the table's order."""
    table: pd.DataFrame
    top: int
    validation: bool
    """Whether the sample is one of the validation samples, or a new one."""

    @property
    def sentence(self) -> str:
        """What the output is, and who pushed it most in either direction."""
        what = f"Output {self.output} of {'validation' if self.validation else 'new'} sample {self.called}"
        said = [f"{what} is {self.prediction:.3g} after training on {len(self.change):,} samples."]
        for title, members in (("up", self._pushing(1)), ("down", self._pushing(-1))):
            if len(members):
                at = members[0]
                label = f" (labelled {self.table['label'][at]})" if "label" in self.table else ""
                moved = f"{abs(self.table['change'][at]):.3g}"
                said.append(f"Most of all {self.table['id'][at]}{label} pushes it {title}, by {moved}.")
        return " ".join(said)

    def galleries(self) -> tuple[Gallery, ...]:
        """The sample itself, and the samples that push it most, up and down."""
        found = [
            Gallery(title, tuple(Shown(int(at), self._caption(int(at))) for at in members))
            for title, members in (
                (f"Pushed {self.output} up", self._pushing(1)),
                (f"Pushed {self.output} down", self._pushing(-1)),
            )
            if len(members)
        ]
        if not self.validation:
            return tuple(found)
        itself = Shown(self.sample, f"{self.called}, {self.output}: {self.prediction:.3g}", "validation")
        return (Gallery("The sample that is predicted", (itself,)), *found)

    def frame(self, *, everyone: bool = False) -> pd.DataFrame:
        """The samples that move the output most, in either direction; with `everyone=True` all samples.

        Columns: id, label (where there are any), change (with its sign), functional (where known).
        """
        return self.table if everyone else self.table.iloc[: self.top]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The strongest changes as bars, the strongest on top."""
        axes = axes_or_new(ax)
        shown = self.frame()
        change = shown["change"].to_numpy()
        place = np.arange(len(shown))
        axes.barh(place, change, color=["tab:blue" if value >= 0 else "tab:orange" for value in change])
        labels = [f" ({label})" for label in shown["label"]] if "label" in shown else [""] * len(shown)
        axes.set_yticks(place, [f"{name}{label}" for name, label in zip(shown["id"], labels, strict=True)], fontsize=7)
        axes.invert_yaxis()
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set(xlabel=f"what its being there adds to output {self.output} of sample {self.called}")
        return axes

    def _pushing(self, sign: int) -> NDArray[np.intp]:
        """The samples that push most in one direction."""
        signed = sign * self.change[self.samples]
        return self.samples[signed > 0][: self.top]

    def _caption(self, at: int) -> str:
        change = f"{self.table['change'][at]:+.2g}"
        return f"{self.table['label'][at]}, {change}" if "label" in self.table else change


@takes(scores=SCORES, sample=WHOLE, probe=PROBE, top=WHOLE)
@sharing()
def attribute(
    scores: Scores,
    sample: int | None = None,
    *,
    sample_id: object = None,
    probe: Probe | None = None,
    output: object = None,
    top: int = 20,
) -> Attribution:
    """Which training samples pushed the prediction of a validation sample, and where: f_w − f_w₋ᵢ, with its sign.

    For every training sample i this is what the output is after training on all samples, minus what it is after
    training without i: exact for the linearized network, and positive where i pushes the output up.

    `scores`: as `ui.score` or `ui.load` gives them. `top`: how many training samples to name.
    `sample` is the position among the validation samples, or `sample_id` the id of one; to look at new samples, hand
    over a `probe` of them, made by `scores.origin.run.linearization.probe(…)`. `output` is the class to look at by its
    name (by default the one that is predicted), or the number of the output where there are no classes. Two classes
    that share one output f count as two: 1 − f and f.

    >>> from uniqueinfo.scoring.arrays import score_features
    >>> from uniqueinfo.training import Converged
    >>> X, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 2.0, 5.0])
    >>> scores = score_features(X, y, np.array([[1.0, 0.0]]), training=Converged(), head="paper")
    >>> attribute(scores, 0).frame()[["id", "change"]]    # the mean of 0 and 2 is 1; the third has no say
       id  change
    0   0    -1.0
    1   1     1.0
    2   2     0.0
    """
    looked_at = scores.origin.probe if probe is None else probe
    if looked_at is None:
        raise InputError("there are no validation samples to look at; score with some, or hand over a probe")
    at = _position(looked_at, sample, sample_id)
    if top < 1:
        raise InputError(f"top: expected at least 1, got {top}")
    run, one = scores.origin.run, _only(looked_at, at)
    column, sign, name, prediction = _chosen(scores, run.outputs(one)[0], output)
    change = sign * scores.origin.output_change(one, 0, column)
    order = np.argsort(-np.abs(change), kind="stable")
    frame = scores.frame()
    table = frame[[part for part in ("id", "label") if part in frame]].assign(change=change)
    if "functional" in frame:
        table["functional"] = frame["functional"]
    return Attribution(
        at,
        str(looked_at.names[at]),
        name,
        prediction,
        change=change,
        samples=order,
        table=table.iloc[order],
        top=top,
        validation=probe is None,
    )


def _position(probe: Probe, sample: int | None, sample_id: object) -> int:
    """Where the sample is that is asked for, by its position or by its id."""
    if (sample is None) == (sample_id is None):
        raise InputError(
            f"which sample: name one of {probe.samples:,}, by its position (sample=…, --val-index) or by its id "
            "(sample_id=…, --val-id)"
        )
    if sample_id is None:
        assert sample is not None
        if not 0 <= sample < probe.samples:
            raise InputError(f"sample: there are samples 0 … {probe.samples - 1} to look at, got {sample}")
        return sample
    names = [str(name) for name in probe.names]
    if str(sample_id) not in names:
        there = known_names(sample_id, names, most=5)
        raise InputError(f"which sample: none to look at is called {str(sample_id)!r}; {there}")
    return names.index(str(sample_id))


def _only(probe: Probe, sample: int) -> Probe:
    """One sample of a probe."""
    at = slice(sample, sample + 1)
    targets = None if probe.targets is None else probe.targets[at]
    rows = replace(probe.rows, source=probe.rows.source[at])
    return Probe(probe.system, rows, probe.initial[at], targets)


def _chosen(scores: Scores, outputs: Floats, output: object) -> tuple[int, float, str, float]:
    """The column looked at, the sign that turns its change into that of the named output, its name, and its value."""
    classes = Predictions.of(scores)
    if classes is None:
        names = label_names(scores.settings, len(outputs))
        if scores.settings["training"].get("loss") == LIKELIHOOD:  # log p̄ comes first; the others serve training
            names, outputs = names[:1], outputs[:1]
        if output is None and len(outputs) > 1 and task_of(scores) != "several":
            raise InputError(f"output: the network has {len(outputs)} outputs; say which: {', '.join(names)}")
        if output is not None and str(output) not in names:
            raise InputError(f"output: there is no output {output!r}; {known_names(output, names)}")
        column = int(outputs.argmax()) if output is None else names.index(str(output))  # the surest of several labels
        return column, 1.0, names[column], float(outputs[column])
    each = one_per_class(outputs[None], logits=classes.logits)[0]
    if output is not None and str(output) not in classes.names:
        raise InputError(f"output: there is no class {output!r}; there are {', '.join(classes.names)}")
    number = int(each.argmax()) if output is None else classes.names.index(str(output))
    name, value = classes.names[number], float(each[number])
    if len(outputs) == 1:
        return 0, 1.0 if number == 1 else -1.0, name, value
    return number, 1.0, name, value
