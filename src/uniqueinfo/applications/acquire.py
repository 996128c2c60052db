"""What to label or get next: unlabelled samples by the information they are expected to add, together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from uniqueinfo.applications.answer import Answer
from uniqueinfo.applications.drawing import axes_or_new, legend_above
from uniqueinfo.applications.grouping import By, groups_of
from uniqueinfo.applications.question import Export, Option, Question
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.removal.additions import filter_with
from uniqueinfo.removal.choosing import Chosen, choose
from uniqueinfo.removal.joining import Drawn, Joining
from uniqueinfo.samples.border import SEED, WHOLE, takes
from uniqueinfo.scores.predictions import (
    Predictions,
    in_words,
    label_probabilities,
    on_simplex,
    one_per_class,
    targets_of,
)
from uniqueinfo.scores.several import LabelPredictions, present_words
from uniqueinfo.scores.table import SCORES, Scores
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.store.plain import records
from uniqueinfo.threads import sharing
from uniqueinfo.types import Floats, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_USUAL = 20  # samples that are chosen where no number is named
_DRAWS = 5  # random batches whose mean stands beside the answer
_MOST_SOURCES = 50
_NAMED = 3  # sources that the sentence names
_DOUBTFUL = 6  # times as many as are chosen: of classes, the candidates that are looked at, the least decided first

QUESTION = Question(
    "acquire",
    help="Which unlabelled samples to label or get next: those that are expected to tell the network most, together.",
    example="runs/mnist pool.csv --budget 50 --by source --export next.csv",
    new_data="Data like that of the run; labels are not needed, and not looked at.",
    unlabelled=True,
    options=(
        Option("budget", int, None, help="How many samples to choose (20).", least=1),
        Option("by", str, None, help="Column of sources: what the best of each would tell.", metavar="COLUMN"),
        Option("seed", int, 0, help="Of the random batches to compare with."),
    ),
    export=Export("chosen_frame", help="Write the chosen samples, in the order of their choice."),
)


@dataclass(frozen=True, eq=False, repr=False)
class Acquired(Answer):
    """The samples to get, the first one first."""

    name = "acquire"
    title = "What to label or get next?"

    chosen: Indices
    """Positions of the chosen samples among all candidates, in the order of their choice."""
    ids: NDArray[Any]
    """Their names."""
    information: Floats
    """What the first, the first two, …, all chosen samples are expected to add together."""
    alone: Floats
    """What each candidate is expected to add alone, in their order."""
    at_random: float
    """What as many samples picked at random are expected to add together, the mean of a few draws."""
    table: pd.DataFrame
    columns: pd.DataFrame | None
    """The user's own columns of the candidates."""
    sources: pd.DataFrame | None = None
    """One row per source, where asked for: what the best of this source alone would tell."""
    by_flow: bool = False
    """Whether gradient flow stood for descent, which could diverge with the samples."""

    @property
    def sentence(self) -> str:
        """What the chosen samples would tell, beside as many at random, and where they come from."""
        count, whole = len(self.chosen), self.information[-1]
        them = "sample" if count == 1 else f"{count:,} samples together"
        found = (
            f"Of {len(self.alone):,} candidates the chosen {them} would tell the network {whole:.3g}, expected over "
            f"the labels it predicts; {count:,} at random would tell {self.at_random:.3g}. Begin with {self.ids[0]}."
        )
        if self.sources is not None:
            named = self.sources.head(_NAMED).to_dict("records")
            each = [f"of {row['group']} {row['whole']:.3g} ({row['chosen']:,} chosen)" for row in named]
            more = f"; {len(self.sources) - _NAMED:,} more sources" if len(self.sources) > _NAMED else ""
            found += f" The best {count:,} of one source alone would tell: {', '.join(each)}{more}."
        if self.by_flow:
            found += " Measured by gradient flow, as descent at this rate could diverge with them."
        return found

    def frame(self, *, everyone: bool = False) -> pd.DataFrame:
        """The chosen samples in the order of their choice; with `everyone=True` all others after them, by information.

        Columns: id, the source where asked for, predicted (and its probability, of classes), functional (or weight,
        without validation samples): what the sample alone is expected to add, and gain: what it adds to those chosen
        before it.
        """
        return self.table if everyone else self.table.iloc[: len(self.chosen)]

    def chosen_frame(self) -> pd.DataFrame:
        """The chosen samples, with the user's own columns of them."""
        found = self.frame().reset_index(drop=True)
        if self.columns is None:
            return found
        own = self.columns.iloc[self.chosen].reset_index(drop=True)
        return pd.concat([found, own[[name for name in own if name not in found]]], axis=1)

    def as_json(self) -> dict[str, Any]:
        """With the sources."""
        found = super().as_json()
        return found if self.sources is None else found | {"sources": records(self.sources)}

    def plot(self, ax: Axes | None = None) -> Axes:
        """What the chosen samples tell together as they grow more, beside the sum of what each would tell alone."""
        from matplotlib import ticker

        axes = axes_or_new(ax)
        count = np.arange(1, len(self.chosen) + 1)
        axes.plot(count, self.alone[self.chosen].cumsum(), "--", color="tab:gray", label="sum of each alone")
        axes.plot(count, self.information, marker=".", color="tab:blue", label="together")
        axes.plot(count[-1], self.at_random, "D", color="tab:orange", label="as many at random, together")
        axes.set(xlabel="samples chosen", ylabel="expected information", ylim=(0, None))
        axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        legend_above(axes)
        return axes


@takes(scores=SCORES, budget=WHOLE, seed=SEED)
@sharing()
def acquire(scores: Scores, inputs: Any, *, budget: int | None = None, by: By | None = None, seed: int = 0) -> Acquired:
    """Choose the candidates whose labels would tell the network most, counting what they repeat of one another once.

    What a set of samples would tell is the unique information of all of them added at once, expected over the labels
    that the network predicts for each: classes with their probabilities, or numbers that spread around the prediction
    as leave-one-out errors do. For the linearized network that is exact. Samples are chosen one after the other, each
    the one with which those chosen so far tell most. Of classes, six times as many candidates as are chosen are looked
    at, those between whose first two classes the network is least decided: what is far from all decisions may tell much
    and change none. Information is functional where the scores have validation samples, else in the weights, as in the
    scores.

    `scores`: as `ui.score` or `ui.load` gives them.
    `inputs`: the candidates, data as the network takes them, or a probe made by
    `scores.origin.run.linearization.probe(…)`; labels are not looked at. `budget`: how many to choose. `by`: a column
    of the candidates, or a group for each, such as where they come from: `sources` then tells what the best of each
    source alone would add.
    `seed`: of the random batches that the choice is compared with.

    >>> from uniqueinfo.scoring.arrays import score_features
    >>> from uniqueinfo.training import Converged
    >>> X, y = np.array([[-1.0, 0.0], [1.0, 0.0], [1.1, 0.0]]), np.array([0.0, 2.0, 2.1])
    >>> scores = score_features(X, y, np.eye(2), training=Converged(0.01))
    >>> new = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.1]]     # one like those there are, two of another kind
    >>> acquire(scores, new, budget=2).frame(everyone=True)["id"].tolist()
    [1, 0, 2]
    """
    origin = scores.origin
    probe = inputs if isinstance(inputs, Probe) else origin.run.linearization.probe(inputs)
    count = _count(budget, probe.samples)
    name, groups = (None, None) if by is None else _sources(by, probe)
    filter_with(origin.run, count)  # refused before anything is computed
    joining = Joining.of(origin.run, origin.probe, probe)
    steady = origin.run.training.stable(joining.largest(count), origin.run.samples + 1)
    run = origin.trained(steady).run
    joining = joining.ending(run)
    labels, said, decided = _predicted(scores, run, probe)
    pool = _Pool(run, joining, labels, decided)
    found = pool.chosen(np.arange(probe.samples), count)
    alone = choose(run, joining, labels, 1).alone
    rest = np.setdiff1d(np.arange(probe.samples), found.order)
    order = np.concatenate([found.order, rest[np.argsort(-alone[rest], kind="stable")]])
    measure = "weight" if origin.probe is None else "functional"
    own: dict[str, Any] = {} if groups is None else {str(name): np.asarray(groups)}
    gain = np.full(probe.samples, np.nan)
    gain[found.order] = found.gain
    table = pd.DataFrame({"id": probe.names, **own, **said, measure: alone, "gain": gain})
    return Acquired(
        found.order,
        probe.names[found.order],
        found.information,
        alone,
        at_random=_at_random(run, joining, labels, count, seed),
        table=table.iloc[order],
        columns=probe.columns,
        sources=None if groups is None else _best_of_each(pool, alone, found, groups),
        by_flow=run is not origin.run,
    )


@dataclass(frozen=True, eq=False)
class _Pool:
    """Candidates, and what is thought of their labels."""

    run: Trained
    joining: Joining
    labels: Drawn
    decided: Floats | None
    """By how much the likeliest class leads the second, (n,); None where labels are no classes."""

    def chosen(self, members: Indices, count: int) -> Chosen:
        """Some of these, numbered as in the pool; `alone` is of those that were looked at."""
        if self.decided is not None:
            members = np.sort(members[np.argsort(self.decided[members], kind="stable")[: _DOUBTFUL * count]])
        at = torch.from_numpy(members).to(self.labels.mean.device)
        labels = Drawn(self.labels.mean[at], self.labels.root[at])
        found = choose(self.run, self.joining.among(members), labels, count)
        return replace(found, order=members[found.order])


def _count(budget: int | None, candidates: int) -> int:
    if budget is None:
        return min(_USUAL, candidates)
    if not 1 <= budget <= candidates:
        raise InputError(f"budget: expected how many of the {candidates:,} candidates to choose, got {budget:,}")
    return budget


def _sources(by: By, probe: Probe) -> tuple[str, pd.Categorical[Any]]:
    name, groups = groups_of(by, pd.DataFrame() if probe.columns is None else probe.columns, probe.samples)
    if len(groups.categories) > _MOST_SOURCES:
        raise InputError(
            f"by: {name} has {len(groups.categories):,} different values; name a column of at most {_MOST_SOURCES} "
            "sources"
        )
    return name, groups


def _predicted(scores: Scores, run: Trained, probe: Probe) -> tuple[Drawn, dict[str, Any], Floats | None]:
    """What the network thinks of the candidates' labels: for the algebra, in words, and how decided it is."""
    decided: Floats | None = None
    outputs, classes, several = run.outputs(probe), Predictions.of(scores), LabelPredictions.of(scores)
    if several is not None:  # each label is there or not on its own
        mean = label_probabilities(outputs)
        covariance = (mean * (1 - mean))[:, :, None] * np.eye(mean.shape[1])
        said = {"predicted": present_words(mean > 0.5, several.names)}
    elif classes is None:
        mean, missed = outputs, scores.targets - scores.loo_outputs
        covariance = np.broadcast_to(missed.T @ missed / len(missed), (len(mean), *2 * mean.shape[1:]))
        said = {"predicted": in_words(outputs, None)}
    else:
        probability = on_simplex(one_per_class(outputs))
        each = targets_of(np.arange(probability.shape[1]), outputs.shape[1])
        mean = probability @ each
        covariance = np.einsum("ic,ck,cl->ikl", probability, each, each) - mean[:, :, None] * mean[:, None]
        named = np.array(classes.names, dtype=object)[probability.argmax(axis=1)]
        said = {"predicted": named, "probability": probability.max(axis=1)}
        second, first = np.sort(probability, axis=1)[:, -2:].T
        decided = first - second
    residual = torch.from_numpy(mean).to(probe.initial).reshape(probe.initial.shape) - probe.initial
    drawn = Drawn.of(residual, torch.tensor(covariance, dtype=torch.float64, device=residual.device))
    return drawn, said, decided


def _at_random(run: Trained, joining: Joining, labels: Drawn, count: int, seed: int) -> float:
    """The mean of a few random batches."""
    rng, filter = np.random.default_rng(seed), filter_with(run, count)
    picked = [np.sort(rng.choice(len(joining.Z), count, replace=False)) for _ in range(_DRAWS)]
    return float(np.mean([joining.joined(members, labels).information(filter) for members in picked]))


def _best_of_each(pool: _Pool, alone: Floats, found: Chosen, groups: pd.Categorical[Any]) -> pd.DataFrame:
    """The same budget spent on each source alone; the one that would tell most comes first."""
    rows = []
    for code, group in enumerate(groups.categories):
        members = np.flatnonzero(groups.codes == code)
        count = min(len(found.order), len(members))
        best = pool.chosen(members, count)
        rows.append(
            {
                "group": str(group),
                "candidates": len(members),
                "chosen": int((groups.codes[found.order] == code).sum()),
                "information": float(alone[members].mean()),
                "best": count,
                "whole": float(best.information[-1]),
                "per_sample": float(best.information[-1] / count),
            }
        )
    return pd.DataFrame(rows).sort_values("whole", ascending=False, kind="stable", ignore_index=True)
