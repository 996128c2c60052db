"""Which labels look wrong: every sample is judged by the network trained without it.

What that network says is read as probabilities, and how often labels are wrong is found from the given labels
(`suspicion.stack`), so that each label has a probability of being wrong, and all together a count with an interval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.above import ask
from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.drawing import axes_or_new, legend_above
from uniqueinfo.applications.question import Export, Option, Question
from uniqueinfo.applications.suspicion.judged import Judged, judged, kernel_points
from uniqueinfo.applications.suspicion.tasks import about, first_suspects
from uniqueinfo.errors import InputError
from uniqueinfo.samples.border import FLAG, NUMBER, one_of, takes
from uniqueinfo.scores.everyone import HELD, everyone, in_file_order
from uniqueinfo.scores.predictions import Health, loss_of
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.statistics.bins import bin_edges
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.threads import sharing
from uniqueinfo.training.loss_names import LOSSES, SQUARED
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Criterion = Literal["probability", "margin", "information"]
_CRITERIA = get_args(Criterion)
_PICTURES = 32  # of the first suspects

QUESTION = Question(
    "mislabeled",
    help="Find labels that look wrong.",
    example="runs/mnist --export cleaned.csv",
    network=False,
    options=(
        Option(
            "criterion",
            ("probability", "margin", "information"),
            "probability",
            help="probability: of being wrong; margin: the network trained without a sample contradicts its label; "
            "information: it learns much from it.",
        ),
        Option("noise_rate", float, help="Share of labels to suspect; estimated where not given.", least=0, most=1),
        Option(
            "precision",
            float,
            help="Name as many suspects as leave this share of them expected to be wrong; else those that are wrong "
            "rather than right.",
            least=0,
            most=1,
        ),
        Option(
            "neighbours",
            bool,
            False,
            help="Ask samples that are alike to the network too, which takes its kernel (slower, mostly better).",
        ),
    ),
    export=Export(
        "cleaned",
        help="Write all samples, and all columns of your table, with suspects relabelled: label, given (label), "
        "suggested, confidence, decision (keep, relabel or check).",
        options=(Option("drop", bool, False, help="Leave suspects out of the export."),),
    ),
)


@dataclass(frozen=True, eq=False, repr=False)
class Mislabeled(Answer):
    """Every sample, the most suspicious first, and how many of them look wrong.

    Samples that a run held out for validation are among them: the network was trained without these too.
    """

    name = "mislabeled"
    title = "Which labels look wrong?"

    criterion: Criterion
    noise_rate: float
    """The estimated (or given) share of wrong labels."""
    count: int
    """How many samples lie beyond the cut-off: the first ones of the table."""
    samples: NDArray[np.intp]
    """Positions in the training data, in the table's order; samples held out count on after those."""
    table: pd.DataFrame
    health: Health
    """Whether the network has learnt enough to be asked."""
    withheld: bool
    """Whether suspects are not named, because it has not."""
    columns: pd.DataFrame | None = None
    """The user's own columns, by position."""
    relabel: NDArray[np.bool_] | None = None
    """By position, whether the suggested label is likely enough to take; other suspects are to be checked."""
    trained_on: int | None = None
    """How many samples were trained on; those held out come after them."""
    order: NDArray[np.intp] | None = None
    """Positions in the order of the user's file."""
    expected: Interval = field(kw_only=True)
    """How many labels are wrong in all, if mistakes fall on easy and hard samples alike; up to its upper end, if on the
    hard ones."""
    contradicted: int = field(kw_only=True)
    """How many labels the network trained without the sample contradicts."""
    scores: Scores | None = None
    """What was asked about."""
    judged: Judged | None = None
    """What is believed of every label, in the order of the scores."""

    def review(self, decisions: str | Path | None = None, **options: Any) -> Path:
        """Decide on the suspects in the browser; gives back the file of decisions once it is stopped.

        `decisions`: the file; when not given, decisions.jsonl in the folder of the scores, or here where they are in
        memory. Options: `samples`, what the samples look like, as `ui.report` takes it; `port`; `show=False` does not
        open the browser; `noise_rate`.
        """
        if self.scores is None:
            raise InputError("review: this answer was put together by hand; ask ui.mislabeled(scores)")
        found: Path = ask("review", self.scores, decisions, **options)
        return found

    @property
    def sentence(self) -> str:
        """How many, and which first; or why none is named."""
        if self.withheld:
            return (
                f"{self.health.sentence} The network has learnt too little to say which labels are wrong: give it "
                "features or a network that fit the task, more samples, or another training (or name a noise rate to "
                "see its suspects all the same)."
            )
        if self.count == 0:
            asked, some = self.noise_rate > 0, self.expected.value >= 1
            return f"No label stands out as wrong. {self._about}" if asked and some else "No label looks wrong."
        first = self.table.iloc[0]
        labels = "1 label looks" if self.count == 1 else f"{self.count:,} labels look"
        return (
            f"{labels} wrong; first of all {first['id']}, labelled {first['label']}: the rest of the data says "
            f"{first['suggested']}. {self._about}"
        )

    @property
    def _about(self) -> str:
        return about(self.expected)

    def galleries(self) -> tuple[Gallery, ...]:
        """The first suspects, each with its label and the suggested one."""
        rows = self.table.iloc[: min(self.count, _PICTURES)]
        shown = (
            self._shown(int(at), f"{label} → {other}")
            for at, label, other in zip(self.samples, rows["label"], rows["suggested"], strict=False)
        )
        return (Gallery("The most suspicious", tuple(shown)),)

    def _shown(self, at: int, caption: str) -> Shown:
        """Samples that were held out are validation samples."""
        if self.trained_on is None or at < self.trained_on:
            return Shown(at, caption)
        return Shown(at - self.trained_on, f"{caption} ({HELD})", "validation")

    def frame(self, *, everyone: bool = False) -> pd.DataFrame:
        """The suspects; with `everyone=True` all samples.

        Columns: id, label, place (training or held out, where some were), wrong (the probability that the label is),
        suggested (label), confidence (its probability), margin, functional (where known), weight, and training_loss:
        what one would sort by without this method, under the loss of the training (squared error where that is a
        function of one's own).
        """
        return self.table if everyone else self.table.iloc[: self.count]

    @property
    def entries(self) -> pd.DataFrame:
        """Where each sample has several labels, every suspicious one on its own, the likeliest wrong first.

        Columns: id, label (its name), given and suggested (0 or 1), wrong, confidence, margin. With one label for each
        sample there are none.
        """
        found = None if self.judged is None else self.judged.entries
        if found is None:
            return pd.DataFrame()
        suspects = self.samples[: self.count]
        named = found[found["sample"].isin(suspects) & ((found["wrong"] > 0.5) | self._worst(found))]
        return named.drop(columns="sample").sort_values("wrong", ascending=False, kind="stable")

    @staticmethod
    def _worst(entries: pd.DataFrame) -> pd.Series[bool]:
        first = entries.groupby("sample")["wrong"].idxmax()
        return pd.Series(entries.index.isin(first), index=entries.index)

    def cleaned(self, *, drop: bool = False) -> pd.DataFrame:
        """All samples in the order of their file, with labels mended.

        Columns: id, label, given (label), suggested, confidence, decision, place (where some were held out), and the
        user's own. Decisions: keep; relabel, where the suggested label is at least twice as likely as the given one;
        check, for other suspects, whose label stays: numbers are never replaced. With `drop=True` suspects are left
        out. Where each sample has several labels, these have a column each, mended too.
        """
        suspect = np.zeros(len(self.table), dtype=bool)
        suspect[self.samples[: self.count]] = True
        sure = suspect if self.relabel is None else suspect & self.relabel
        whole = self.table.sort_index()
        columns = {
            "id": whole["id"],
            "label": whole["label"].where(~sure, whole["suggested"]),
            "given": whole["label"],
            "suggested": whole["suggested"],
            "confidence": whole["confidence"],
            "decision": np.select([sure, suspect], ["relabel", "check"], "keep"),
            **({"place": whole["place"]} if "place" in whole else {}),
        }
        if self.judged is not None and self.judged.mended is not None and self.scores is not None:
            mended, given = self.judged.mended, everyone(self.scores).targets.astype(np.int64)
            columns |= {str(name): mended[name].where(sure, given[:, at]) for at, name in enumerate(mended)}
        frame = pd.DataFrame(columns)
        if self.columns is not None:
            own = self.columns.rename(columns={name: f"{name} (given)" for name in columns})
            frame = pd.concat([frame, own.reset_index(drop=True)], axis=1)
        order = np.arange(len(frame)) if self.order is None else self.order
        return frame.iloc[order[~suspect[order]] if drop else order]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Leave-one-out margins of all samples, the suspects' set apart."""
        axes = axes_or_new(ax)
        margin = self.table["margin"].to_numpy()
        bins = bin_edges(margin, 50)
        kept, suspected = margin[self.count :], margin[: self.count]
        axes.hist([kept, suspected], bins=list(bins), stacked=True, label=["trusted", f"{self.count} suspected"])
        axes.set(xlabel="leave-one-out margin of the given label", ylabel="samples", yscale="symlog")
        legend_above(axes)
        return axes


@takes(scores=SCORES, criterion=one_of(*_CRITERIA), noise_rate=NUMBER, precision=NUMBER, neighbours=FLAG)
@sharing()
def mislabeled(
    scores: Scores,
    *,
    criterion: Criterion = "probability",
    noise_rate: float | None = None,
    precision: float | None = None,
    neighbours: bool = False,
) -> Mislabeled:
    """Samples whose label the rest of the data contradicts.

    Scores of a run that held samples out for validation are of all samples of the file: those held out are judged by
    the network too, which was trained without them.

    `scores`: as `ui.score` or `ui.load` gives them.

    - `criterion="probability"`: the label that is most probably wrong first;
    - `criterion="margin"`: the lowest leave-one-out margin of the given label first;
    - `criterion="information"`: the most functional information first (weight information where there is no
      validation data): a wrong label is news to the network.

    Where each sample has several labels, each is judged on its own: a sample is as suspicious as its most suspicious
    label (`entries` has all of them). Numbers to predict are suspicious where the network trained without the sample
    errs more widely than it does elsewhere.

    Named are labels that are wrong rather than right; with `precision` as many as leave this share of them expected to
    be wrong; with `noise_rate` this share of all samples. Where the network is hardly better than chance, and none of
    the two is given, nobody is named. `neighbours=True` goes back to the network's kernel, and asks other models on it.

    >>> outputs = np.array([[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.1, 0.9, 0.0], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0],
    ...                     [1.0, 0.0, 0.1]])                 # the last is labelled 2, and looks like a 0
    >>> from uniqueinfo.scores.table import HeldScores
    >>> scores = HeldScores(weight=np.ones(6), loo_outputs=outputs, outputs=outputs,
    ...                     targets=np.eye(3)[[0, 0, 1, 1, 2, 2]], labels=np.array([0, 0, 1, 1, 2, 2]))
    >>> mislabeled(scores).frame()[["id", "label", "suggested", "margin"]]
       id label suggested  margin
    5   5     2         0    -0.9
    """
    for name, share in (("noise_rate", noise_rate), ("precision", precision)):
        if share is not None and not 0 <= share <= 1:
            raise InputError(f"{name}: expected a share between 0 and 1, got {share}")
    if noise_rate is not None and precision is not None:
        raise InputError("noise_rate, precision: both say how many suspects to name; give one of them")
    whole = everyone(scores)
    found = judged(whole, kernel_points(scores, len(whole)) if neighbours else None)
    return answered(scores, found, criterion=criterion, noise_rate=noise_rate, precision=precision)


def answered(
    asked: Scores,
    found: Judged,
    *,
    criterion: Criterion = "probability",
    noise_rate: float | None = None,
    precision: float | None = None,
) -> Mislabeled:
    """The answer of `mislabeled`, where it is known what is believed of every label."""
    scores = everyone(asked)
    sorted_by = {"probability": -found.wrong, "margin": found.margin, "information": -scores.information}[criterion]
    order = (
        np.lexsort((found.margin, sorted_by)) if criterion == "probability" else np.argsort(sorted_by, kind="stable")
    )
    withheld = noise_rate is None and precision is None and found.health.poor
    if noise_rate is not None:
        named = round(noise_rate * len(scores))
    else:
        named = int(first_suspects(found.wrong, precision).sum())
    table = pd.DataFrame(
        {
            "id": scores.names,
            "label": found.given,
            **({} if scores.place is None else {"place": scores.place}),
            "wrong": found.wrong,
            "suggested": found.suggested,
            "confidence": found.confidence,
            "margin": found.margin,
            **({} if scores.functional is None else {"functional": scores.functional}),
            "weight": scores.weight,
            "training_loss": _training_losses(scores),
        }
    )
    return Mislabeled(
        criterion,
        found.expected.value / len(scores) if noise_rate is None else noise_rate,
        0 if withheld else named,
        samples=order,
        table=table.iloc[order],
        health=found.health,
        withheld=withheld,
        columns=scores.columns,
        relabel=found.relabel,
        trained_on=len(asked),
        order=in_file_order(scores),
        expected=found.expected,
        contradicted=found.contradicted,
        scores=asked,
        judged=found,
    )


def _training_losses(scores: Scores) -> Floats:
    import torch  # late: a command line's help does without

    from uniqueinfo.training.losses import as_loss

    name = loss_of(scores.settings)
    loss = as_loss(name if name in LOSSES else SQUARED)
    found: Floats = loss.value(torch.tensor(scores.outputs), torch.tensor(scores.targets)).numpy()
    return found
