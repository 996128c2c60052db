"""How few samples are enough: the accuracy of training on ever smaller parts of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.drawing import axes_or_new, legend_above
from uniqueinfo.applications.question import Export, Option, Question
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.selection import RESCORED, STRATEGIES, Selection, Strategy
from uniqueinfo.linearization.subsets import Subset
from uniqueinfo.progress import progress
from uniqueinfo.samples.border import FLAG, FUNCTION, NUMBER, SEED, one_of, takes
from uniqueinfo.scores.predictions import Predictions, class_numbers
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.spectrum.probe import PROBE, Probe
from uniqueinfo.threads import sharing
from uniqueinfo.types import Floats, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Retrain = Callable[[Indices], float]
SHARES = tuple(share / 10 for share in range(9, 0, -1))
"""Nine tenths of the samples kept, …, one tenth."""

_PICTURES = 16  # of those kept, and of those removed
_DRAWS = 5  # random picks whose mean stands beside the answer

QUESTION = Question(
    "summarize",
    help="Find the few samples that are enough.",
    example="runs/mnist --keep 0.3 --export kept.csv",
    options=(
        Option("keep", float, 0.3, help="Share of the samples to keep."),
        Option(
            "strategy",
            ("iterative", "greedy", "bottom", "top", "random"),
            "iterative",
            help="iterative: the least informative leave, the rest is scored anew; greedy: what has left counts too "
            "(slower, better); bottom: scored once; top and random, to compare.",
        ),
        Option("step", float, 0.05, help="Share that leaves at a time."),
        Option("balanced", bool, False, help="Take the same share of every class."),
        Option("exact", bool, False, help="Score the rest exactly after every batch, however long that takes."),
        Option("seed", int, 0, help="Of what is picked at random."),
    ),
    export=Export("kept_frame", help="Write the ids of the kept samples."),
)


@dataclass(frozen=True, eq=False, repr=False)
class Kept(Answer):
    """The samples to keep, and how well training on ever fewer of them went."""

    name = "summarize"
    title = "How few samples are enough?"

    strategy: Strategy
    samples: Indices
    """Positions of the kept samples in the training data."""
    ids: NDArray[Any]
    """Their names."""
    table: pd.DataFrame
    at_random: float
    """Accuracy (or loss) of as many samples picked at random, the mean of a few draws."""
    information: Floats
    """Of every training sample."""
    names: NDArray[Any]

    @property
    def sentence(self) -> str:
        """What the kept samples achieve, beside all and beside as many at random."""
        measure = _measure(self.table)
        of_all, of_kept = self.table[measure].iloc[0], self.table[measure].iloc[-1]
        return (
            f"{len(self.samples):,} of {len(self.information):,} samples ({self.table['share'].iloc[-1]:.0%}) give the "
            f"linearized network a validation {measure} of {of_kept:.3g}; all give {of_all:.3g}, and as many picked at "
            f"random {self.at_random:.3g}."
        )

    def frame(self) -> pd.DataFrame:
        """One row per share kept: share, samples, accuracy (of classes) and loss on the validation (or test) samples.

        Where a `retrain` was given, `retrained` is what it returned.
        """
        return self.table

    def kept_frame(self) -> pd.DataFrame:
        """The kept samples: id, and information with all samples there."""
        return pd.DataFrame({"id": self.ids, "information": self.information[self.samples]})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Accuracy against the share removed."""
        return _plot(self.table.assign(strategy=self.strategy), ax)

    def galleries(self) -> tuple[Gallery, ...]:
        """The most informative of those kept, the least informative of those removed."""
        gone = np.setdiff1d(np.arange(len(self.information)), self.samples)
        most = self.samples[np.argsort(-self.information[self.samples], kind="stable")]
        least = gone[np.argsort(self.information[gone], kind="stable")]
        return tuple(
            Gallery(title, tuple(Shown(int(at), str(self.names[at])) for at in chosen[:_PICTURES]))
            for title, chosen in (("Kept: the most informative", most), ("Removed: the least informative", least))
        )


@dataclass(frozen=True, eq=False)
class Curves:
    """Several strategies over the same shares."""

    table: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """One row per strategy and share: what `Kept.frame` holds, with the strategy's name."""
        return self.table

    def plot(self, ax: Axes | None = None) -> Axes:
        """One line per strategy."""
        return _plot(self.table, ax)


@takes(
    scores=SCORES,
    keep=NUMBER,
    strategy=one_of(*STRATEGIES),
    step=NUMBER,
    balanced=FLAG,
    exact=FLAG,
    seed=SEED,
    test=PROBE,
    retrain=FUNCTION,
)
@sharing()
def summarize(
    scores: Scores,
    *,
    keep: float = 0.3,
    strategy: Strategy = "iterative",
    step: float = 0.05,
    balanced: bool = False,
    exact: bool = False,
    seed: int = 0,
    test: Probe | None = None,
    retrain: Retrain | None = None,
) -> Kept:
    """The samples to keep so that the network trained on them alone is as good as it can be.

    Samples leave in batches of the share `step` until the share `keep` is left; `Selection` says which. After every
    batch the linearized network is trained on the rest, from the same eigenproblem, and looked at on the validation
    samples, or on `test` (made by ``scores.origin.run.linearization.probe``). `balanced` takes the same share of every
    class. `retrain` gets the positions of the kept samples after every batch, trains the real network on them and
    returns its accuracy.

    `scores`: as `ui.score` or `ui.load` gives them.
    `strategy`: "iterative" lets the least informative leave and scores the rest anew after every batch; "bottom" goes
    by the first scores alone; "greedy" by what the function has lost since the beginning; "top" and "random" are there
    to be compared with. `exact`: of 500 rows of a kernel and more, "iterative" scores the rest along the leading
    directions of it (of MNIST's digits that keeps 97 of the 100 that exact scores keep); or exactly, which takes longer
    the more samples there are. `seed`: of what is drawn.
    """
    task = _Task.of(scores, step=step, balanced=balanced, exact=exact, test=test)
    counts = task.schedule([keep])
    rows, kept = [task.row(np.arange(len(scores)), retrain)], np.arange(0)
    with progress("Leaving out", len(counts), unit="batches") as advance:
        for kept in task.rounds(strategy, counts, seed):
            rows.append(task.row(kept, retrain))
            advance(1)
    table = pd.DataFrame(rows)
    draws = [task.quality(drawn) for drawn in task.draws(counts[-1], seed)]
    at_random = float(np.mean([draw[_measure(table)] for draw in draws]))
    names = scores.names
    return Kept(
        strategy,
        kept,
        names[kept],
        table=table,
        at_random=at_random,
        information=task.selection.information,
        names=names,
    )


def curve(
    scores: Scores,
    strategies: Sequence[Strategy] = STRATEGIES,
    shares: Sequence[float] = SHARES,
    *,
    step: float = 0.05,
    balanced: bool = False,
    exact: bool = False,
    seed: int = 0,
    test: Probe | None = None,
    retrain: Retrain | None = None,
) -> Curves:
    """How strategies compare over the shares kept; the other arguments are those of `summarize`."""
    task = _Task.of(scores, step=step, balanced=balanced, exact=exact, test=test)
    wanted, fine = task.counts(shares), task.schedule(shares)
    whole = task.row(np.arange(len(scores)), retrain)
    rows = []
    with progress("Comparing", len(strategies) * len(wanted), unit="trainings") as advance:
        for strategy in strategies:
            rows.append({"strategy": strategy, **whole})
            counts = fine if strategy in RESCORED else wanted
            for kept in task.rounds(strategy, counts, seed):
                if len(kept) in wanted:
                    rows.append({"strategy": strategy, **task.row(kept, retrain)})
                    advance(1)
    return Curves(pd.DataFrame(rows))


@dataclass(frozen=True, eq=False)
class _Task:
    """Checked once: what samples are chosen from, and what the choice is judged by."""

    selection: Selection
    step: float
    classes: bool

    @classmethod
    def of(cls, scores: Scores, *, step: float, balanced: bool, exact: bool, test: Probe | None) -> _Task:
        origin, classes = scores.origin, Predictions.of(scores)
        judge = test or origin.probe
        if judge is None or judge.targets is None:
            raise InputError(
                "a part of the data is judged by samples with labels, and there are none: score with labelled "
                "validation data, or hand over test"
            )
        if not 0 < step < 1:
            raise InputError(f"step: expected the share of the samples that leaves at a time, got {step}")
        if balanced and classes is None:
            raise InputError(f"balanced: only classes can be balanced; {Predictions.WHY_NOT}")
        strata = classes.given if balanced and classes is not None else np.zeros(len(scores), dtype=np.intp)
        whole = Subset(origin.run, origin.probe, judge)
        return cls(Selection(whole, scores.information, strata, exact), step, classes is not None)

    def rounds(self, strategy: Strategy, counts: Sequence[int], seed: int) -> Iterator[Indices]:
        """Those of the selection, by a strategy that can work here."""
        if strategy not in STRATEGIES:
            raise InputError(f"strategy: expected one of {', '.join(STRATEGIES)}, got {strategy!r}")
        if strategy == "greedy" and self.selection.whole.probe is None:
            raise InputError("strategy greedy: looks at validation samples, and these scores have none; take iterative")
        return self.selection.rounds(strategy, counts, seed)

    def counts(self, shares: Sequence[float]) -> list[int]:
        """How many samples these shares are, falling."""
        samples = len(self.selection.information)
        found = sorted({round(share * samples) for share in shares if math.isfinite(share)}, reverse=True)
        if not found or found[-1] < 1 or found[0] >= samples:
            raise InputError(
                f"keep: of {samples} samples at least one must stay and one leave; got the shares {shares}, give others"
            )
        return found

    def schedule(self, shares: Sequence[float]) -> list[int]:
        """The same with the steps between them."""
        samples, stops = len(self.selection.information), self.counts(shares)
        steps = np.arange(1 - self.step, stops[-1] / samples, -self.step)
        return sorted({*stops, *(int(count) for count in np.round(steps * samples))}, reverse=True)

    def row(self, kept: Indices, retrain: Retrain | None) -> dict[str, float]:
        """One line of the table."""
        found = {"share": len(kept) / len(self.selection.information), "samples": len(kept), **self.quality(kept)}
        return found if retrain is None else found | {"retrained": float(retrain(kept))}

    def quality(self, kept: Indices) -> dict[str, float]:
        """Accuracy (of classes) and loss on the test samples, after training on these alone."""
        part = self.selection.part(kept)
        assert part.test is not None
        assert part.test.targets is not None
        outputs, targets = part.run.outputs(part.test), part.test.targets.flatten(1).cpu().numpy()
        criterion = part.run.training.criterion
        each = criterion.value(torch.from_numpy(outputs), torch.from_numpy(targets))
        loss = {"loss": float(each.mean())}
        if not self.classes:
            return loss
        predicted = class_numbers(outputs, logits=criterion.has_probabilities)
        return {"accuracy": float((predicted == class_numbers(targets)).mean()), **loss}

    def draws(self, count: int, seed: int) -> Iterator[Indices]:
        """Samples picked at random, a few times."""
        for draw in range(_DRAWS):
            yield from self.selection.rounds("random", [count], seed + draw)


def _measure(table: pd.DataFrame) -> str:
    """What a summary is judged by."""
    return "accuracy" if "accuracy" in table else "loss"


def _plot(table: pd.DataFrame, ax: Axes | None) -> Axes:
    axes = axes_or_new(ax)
    for strategy, line in table.groupby("strategy", sort=False):
        removed = 100 * (1 - line["share"])
        (drawn,) = axes.plot(removed, line[_measure(table)], marker=".", label=f"{strategy}")
        if "retrained" in line:
            axes.plot(removed, line["retrained"], "--", color=drawn.get_color(), label=f"{strategy}, retrained")
    axes.set(xlabel="samples removed, %", ylabel=f"validation {_measure(table)}")
    legend_above(axes)
    return axes
