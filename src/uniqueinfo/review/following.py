"""Scores that follow decisions: a label that is mended and a sample that is dropped change what is said of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.applications.suspicion.judged import Judged, kernel_points, of_classes
from uniqueinfo.applications.suspicion.panel import Panel
from uniqueinfo.errors import InputError
from uniqueinfo.linearization.points import Points
from uniqueinfo.removal.mending import Mended, why_not_mended
from uniqueinfo.scores.everyone import everyone
from uniqueinfo.scores.predictions import Predictions, one_per_class, targets_of
from uniqueinfo.scores.table import HeldScores, Scores
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.types import Floats, Indices

_FEWEST = 10
"""Samples, below which a network alone judges labels."""
_SAME = 1e-4
"""Of what was learnt: by how much outputs that are followed may differ from those of the run."""


@dataclass(frozen=True, eq=False)
class Following:
    """All samples of a run with the labels they have by now; made by `of`."""

    given: Scores
    """As they were scored, those that were held out among them."""
    names: tuple[str, ...]
    """Of the classes."""
    start: Indices
    """The class each sample came with, as a number into `names`."""
    now: Indices
    """The class it has by now."""
    dropped: NDArray[np.bool_]
    mended: Mended | None
    """None where outputs cannot follow."""
    why_not: str = ""
    """Why they cannot."""
    first: tuple[Floats, Floats] | None = None
    """Outputs without each sample, and with all, as `mended` gave them before any decision."""
    panel: Panel | None = None
    """Other models, which judge labels too; None where there are too many samples for them."""

    @classmethod
    def of(cls, scores: Scores) -> Following:
        """Before any decision; scores that lead back to their network are followed."""
        whole = everyone(scores)
        found = Predictions.of(whole)
        if found is None:
            raise InputError(f"labels are reviewed among classes; {Predictions.WHY_NOT}")
        mended, why_not = _mended(scores, whole)
        first = None if mended is None else (mended.left_out(), mended.outputs())
        none = np.zeros(len(whole), dtype=bool)
        return cls(whole, found.names, found.given, found.given, none, mended, why_not, first, _panel(scores, whole))

    def decided(self, wanted: Mapping[int, int | None]) -> Following:
        """With samples of these classes, or, for None, without them."""
        found = self
        for sample, number in wanted.items():
            if found.dropped[sample] != (number is None):
                found = found._moved(sample, dropped=number is None)
        labels = {at: number for at, number in wanted.items() if number is not None and found.now[at] != number}
        return found._relabelled(np.array(list(labels)), np.array(list(labels.values()))) if labels else found

    @cached_property
    def scores(self) -> HeldScores:
        """As they are by now: outputs and labels follow, information is what it was."""
        left_out, outputs = self.given.loo_outputs, self.given.outputs
        if self.mended is not None and self.first is not None:
            left_out = left_out + (self.mended.left_out() - self.first[0])
            outputs = outputs + (self.mended.outputs() - self.first[1])
        whole = self.given.replaced(
            loo_outputs=left_out,
            outputs=outputs,
            targets=targets_of(self.now, self.given.targets.shape[1]),
            labels=self._labels,
            loo_losses=None,
            effects=None,
            errors=None,
        )
        return whole

    def scores_of(self, samples: Indices) -> HeldScores:
        """Of some of the samples, in this order."""
        return _taken(self.scores, samples)

    def judged(self, samples: Indices) -> Judged | None:
        """What the network and the panel believe of the labels of some samples by now; None where there is no panel."""
        if self.panel is None:
            return None
        found = Predictions.of(self.scores_of(samples))
        assert found is not None
        outputs = one_per_class(self.scores.loo_outputs[samples], logits=found.logits)
        wrong, contradicted = self.panel.wrong(outputs, found.given, samples)
        total = float(wrong.sum())
        return of_classes(found, wrong, Interval(total, total, total), contradicted)

    @property
    def _labels(self) -> Any:
        """As the user gives them, where the classes are known by these."""
        labels, classes = self.given.labels, self.given.settings.get("classes")
        assert labels is not None
        if classes is None or len(classes) != len(self.names):
            return labels
        known = np.array(classes)
        return np.where(self.now == self.start, labels, known[self.now])

    def _relabelled(self, samples: Indices, numbers: Indices) -> Following:
        now = self.now.copy()
        now[samples] = numbers
        wanted = targets_of(numbers, self.given.targets.shape[1])
        mended = None if self.mended is None else self.mended.relabelled(samples, wanted)
        panel = self.panel
        if panel is not None:
            for sample in samples.tolist():
                panel = panel.taught(sample, int(now[sample]))
        return replace(self, now=now, mended=mended, panel=panel)

    def _moved(self, sample: int, *, dropped: bool) -> Following:
        gone = self.dropped.copy()
        gone[sample] = dropped
        mended = self.mended
        if mended is not None and sample < self._trained_on:
            mended = mended.without(sample) if dropped else mended.with_(sample)
        panel = None if self.panel is None else self.panel.taught(sample, None if dropped else int(self.now[sample]))
        return replace(self, dropped=gone, mended=mended, panel=panel)

    @property
    def _trained_on(self) -> int:
        place = self.given.place
        return len(self.given) if place is None else int((place == place[0]).sum())


def _mended(scores: Scores, whole: Scores) -> tuple[Mended | None, str]:
    if scores.source is None:
        return None, "these scores do not lead back to their network"
    origin = scores.origin
    why_not = why_not_mended(origin.run)
    if why_not is not None:
        return None, why_not
    held = None if scores.held_out is None else origin.probe
    others = 0 if held is None else held.samples
    if origin.run.samples + others != len(whole) or origin.run.residual[0].numel() != whole.outputs.shape[1]:
        return None, "what was scored stands for other samples or outputs than those of the table"
    if not Mended.affordable(origin.run, others):
        return None, "following all samples would take more than two gigabytes"
    found = Mended.of(origin.run, held)
    trained_on = len(scores)  # what is said of the others comes from a training on one sample more
    apart = float(np.abs(found.left_out()[:trained_on] - scores.loo_outputs).max())
    if apart > _SAME * max(1.0, float(np.abs(scores.loo_outputs).max())):
        return None, "the outputs of the run are known only in part"
    return found, ""


def _panel(scores: Scores, whole: Scores) -> Panel | None:
    if scores.source is None or len(whole) < _FEWEST:
        return None
    origin, held = scores.origin, scores.held_out
    width = Points.of_training(origin).width
    known = held is None or (origin.probe is not None and origin.probe.samples == len(held))
    if origin.run.samples != len(scores) or not known or not Panel.affordable(len(whole), width):
        return None
    found = Predictions.of(whole)
    assert found is not None
    outputs = one_per_class(whole.loo_outputs, logits=found.logits)
    return Panel.of(kernel_points(scores, len(whole)), outputs, found.given)


def _taken(scores: Scores, kept: Indices) -> HeldScores:
    """Some of the samples."""
    arrays = ("weight", "functional", "value", "kl", "smoothed", "loo_outputs", "outputs", "targets", "labels")
    found = {name: getattr(scores, name) for name in (*arrays, "place", "rows")}
    taken = {name: None if part is None else part[kept] for name, part in found.items()}
    columns = None if scores.columns is None else scores.columns.iloc[kept].reset_index(drop=True)
    return scores.replaced(**taken | {"ids": scores.names[kept]}, columns=columns)
