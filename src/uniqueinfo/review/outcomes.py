"""What becomes of every sample of a run by what people decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from uniqueinfo.errors import InputError
from uniqueinfo.review.agreement import Agreement, Outcome, counts, people
from uniqueinfo.review.decisions import NAME, Decision, read, standing
from uniqueinfo.review.session import check
from uniqueinfo.runs.folder import Run
from uniqueinfo.scores.everyone import everyone
from uniqueinfo.scores.predictions import Predictions


@dataclass(frozen=True)
class Outcomes:
    """By id of the samples that were decided on; the others stay as they are."""

    by_sample: dict[str, Outcome]
    agreement: Agreement
    people: dict[str, int]

    @classmethod
    def of(cls, decisions: Iterable[Decision]) -> Outcomes:
        """Of what stands of these."""
        stands = standing(decisions)
        found = {sample: Outcome.of(opinions) for sample, opinions in stands.items()}
        return cls(found, Agreement.of(stands), people(stands))

    @property
    def dropped(self) -> set[str]:
        """Samples that are left out."""
        return {sample for sample, outcome in self.by_sample.items() if outcome.decision == "drop"}

    @property
    def labels(self) -> dict[str, str]:
        """Samples that get another label."""
        return {sample: found.label for sample, found in self.by_sample.items() if found.label is not None}

    @property
    def sentence(self) -> str:
        """For people.

        >>> Outcomes({"a": Outcome("keep"), "b": Outcome("relabel", "x")}, Agreement(0, 0, ()), {"Ann": 2}).sentence
        '2 samples were decided on: 1 keeps its label, 1 gets another, 0 are dropped.'
        """
        made = counts(self.by_sample.values())
        kept, others = made.get("keep", 0), made.get("relabel", 0)
        samples = "1 sample was" if len(self.by_sample) == 1 else f"{len(self.by_sample):,} samples were"
        keep, get = ("keeps its label" if kept == 1 else "keep their label"), ("gets" if others == 1 else "get")
        drop = made.get("drop", 0)
        said = f"{samples} decided on: {kept:,} {keep}, {others:,} {get} another, {drop:,} {_are(drop)} dropped"
        undecided = made.get("unsure", 0) + made.get("disputed", 0)
        return said + (f"; {undecided:,} {_are(undecided)} unsure or disputed and stay." if undecided else ".")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def given_labels(run: Run) -> tuple[dict[str, str], tuple[str, ...]]:
    """By id, the label every sample of a run came with; and the classes."""
    whole = everyone(run.scores())
    found = Predictions.of(whole)
    if found is None:
        raise InputError(f"labels are reviewed among classes; {Predictions.WHY_NOT}")
    return {str(name): found.names[at] for name, at in zip(whole.names, found.given, strict=True)}, found.names


def decisions_of(run: Run, files: Iterable[Path] = ()) -> list[Decision]:
    """Those of files, or of the run's own; refused where there are none, or where they are of other data."""
    own = run.path / NAME
    paths = list(files) or ([own] if own.exists() else [])
    found = [decision for path in paths for decision in read(path)]
    if not standing(found):
        raise InputError(
            f"{paths[0] if paths else run.path}: nothing was decided yet; start uniqueinfo review "
            f"{run.path}, or decide on the page report.html"
        )
    check(found, *given_labels(run))
    return found
