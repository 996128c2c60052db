"""What several people say of one sample, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from uniqueinfo.review.decisions import Opinions


@dataclass(frozen=True)
class Outcome:
    """What is done with a sample: what most people decided. Where as many decided otherwise, nothing is done."""

    decision: str
    """keep, relabel, drop, unsure, or disputed."""
    label: str | None = None
    """The new label, where it is relabelled."""

    @classmethod
    def of(cls, opinions: Opinions) -> Outcome:
        """Those who are unsure have no vote, unless all are.

        >>> from uniqueinfo.review.decisions import Decision
        >>> def said(by, kind, label=None):
        ...     return {by: Decision("a", kind, given="x", by=by, label=label, at="")}
        >>> Outcome.of(said("Ann", "drop") | said("Ben", "unsure"))
        Outcome(decision='drop', label=None)
        >>> Outcome.of(said("Ann", "relabel", "y") | said("Ben", "relabel", "z")).decision
        'disputed'
        """
        votes = Counter(one.outcome for one in opinions.values() if one.decision != "unsure").most_common(2)
        if not votes:
            return cls("unsure")
        if len(votes) == 2 and votes[0][1] == votes[1][1]:
            return cls("disputed")
        return cls(*votes[0][0])


@dataclass(frozen=True)
class Agreement:
    """Of the samples that two or more people decided, how many they decided alike."""

    shared: int
    alike: int
    disputed: tuple[str, ...]
    """Ids of those decided otherwise."""

    @classmethod
    def of(cls, standing: Mapping[str, Opinions]) -> Agreement:
        """Being unsure is a decision too."""
        shared = {sample: found for sample, found in standing.items() if len(found) > 1}
        disputed = [sample for sample, found in shared.items() if len({one.outcome for one in found.values()}) > 1]
        return cls(len(shared), len(shared) - len(disputed), tuple(disputed))

    @property
    def sentence(self) -> str:
        """For people.

        >>> Agreement(12, 11, ("a",)).sentence
        '12 samples were decided by more than one person; on 11 of them (92 %) they agree.'
        >>> Agreement(0, 0, ()).sentence
        ''
        """
        if not self.shared:
            return ""
        samples = "1 sample was" if self.shared == 1 else f"{self.shared:,} samples were"
        share = 100 * self.alike / self.shared
        return f"{samples} decided by more than one person; on {self.alike:,} of them ({share:.0f} %) they agree."


def people(standing: Mapping[str, Opinions]) -> dict[str, int]:
    """Who decided how many samples, the busiest first."""
    return dict(Counter(by for found in standing.values() for by in found).most_common())


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many samples there are of each outcome."""
    return dict(Counter(outcome.decision for outcome in outcomes))
