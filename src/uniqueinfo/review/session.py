"""A review that goes on: whose turn a suspect is, what was decided, and the order that follows from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.applications.mislabeled import Mislabeled
from uniqueinfo.applications.suspicion.judged import Judged
from uniqueinfo.errors import InputError, known_names
from uniqueinfo.pages.suspects import chance_wrong, likeliest
from uniqueinfo.review.agreement import Agreement, Outcome, people
from uniqueinfo.review.decisions import KINDS, Decision, Kind, Ledger, Opinions, standing
from uniqueinfo.review.following import Following
from uniqueinfo.review.neighbours import Neighbours
from uniqueinfo.scores.predictions import Predictions
from uniqueinfo.scores.table import Scores
from uniqueinfo.types import Indices

_SIMILAR = 6
"""Similar samples shown of either label."""
Asking: TypeAlias = Callable[[Scores, Judged | None], Mislabeled]
"""The question about wrong labels, of scores and of what is believed of every label, where that is known."""


@dataclass(frozen=True, eq=False)
class Found:
    """Who is suspect by now, in their order, among the samples that nobody has decided on.

    A label that a person has looked at is no suspect any more, whatever the network says of it: it is not asked about,
    and does not count where the share of wrong labels is estimated.
    """

    following: Following
    open: Indices
    """Positions of the samples that nobody has decided on."""
    answer: Mislabeled | None
    """None where nobody is left to ask about."""

    @classmethod
    def of(cls, following: Following, open_: Indices, ask: Asking) -> Found:
        """Ask again."""
        answer = ask(following.scores_of(open_), following.judged(open_)) if len(open_) else None
        return cls(following, open_, answer)

    @cached_property
    def order(self) -> list[int]:
        """Positions of the suspects among all samples."""
        if self.answer is None:
            return []
        found: list[int] = self.open[self.answer.samples[: self.answer.count]].tolist()
        return found

    @cached_property
    def rows(self) -> dict[int, Mapping[str, Any]]:
        """What the answer says of each suspect."""
        if self.answer is None:
            return {}
        rows: list[Mapping[str, Any]] = self.answer.frame().to_dict("records")  # type: ignore[assignment]
        return dict(zip(self.order, rows, strict=True))

    @cached_property
    def predictions(self) -> Predictions:
        """What the network says of all samples."""
        found = Predictions.of(self.following.scores)
        assert found is not None
        return found


class Session:
    """One review of one run, by one person or several at once; every method may be called from any thread."""

    def __init__(self, scores: Scores, ledger: Ledger, ask: Asking, *, opinions: int = 1) -> None:
        """`ask` is the question about wrong labels; `opinions`: how many people are to decide on each suspect."""
        self._lock = threading.Lock()
        self._ledger, self._ask, self._wanted = ledger, ask, opinions
        self._neighbours = Neighbours.of(scores)
        following = Following.of(scores)
        self.ids = [str(name) for name in following.given.names]
        self.classes = following.names
        self.why_not = following.why_not
        """Why the network does not score the others anew after a decision; empty where it does."""
        self.panel = following.panel is not None
        """Whether other models judge labels too, and follow."""
        self._at = {name: at for at, name in enumerate(self.ids)}
        self._given = [self.classes[number] for number in following.start]
        check(ledger.decisions, dict(zip(self.ids, self._given, strict=True)), self.classes)
        self._standing = standing(ledger.decisions)
        self._history: dict[str, list[str]] = {}
        for decision in ledger.decisions:
            self._note(decision)
        wanted = {self._at[name]: self._class(name) for name in self._standing}
        self._found = self._asked(following.decided(wanted))
        self._shown: dict[str, int] = {}

    def card(self, by: str) -> dict[str, Any]:
        """The suspect that is next for a person, and how far the review is; `sample` is None where none is left."""
        with self._lock:
            return self._card(by)

    def decide(self, by: str, name: str, decision: str, label: str | None = None) -> dict[str, Any]:
        """Keep a decision on the disk, score the others anew, and go on with the next suspect."""
        with self._lock:
            if name not in self._at:
                raise InputError(f"sample {name!r} is not of this run")
            if decision not in KINDS or decision == "undo":
                raise InputError(f"decision {decision!r}: expected keep, relabel, drop or unsure")
            if label is not None and label not in self.classes:
                raise InputError(f"label {label!r}: there is no such class; {known_names(label, self.classes)}")
            given = self._given[self._at[name]]
            kind, label = ("keep", None) if label == given else (decision, label)
            self._append(Decision(name, cast(Kind, kind), given=given, by=by, label=label))
            self._shown.pop(by, None)
            return self._card(by)

    def undo(self, by: str) -> dict[str, Any]:
        """Take back a person's last decision, and show that sample again."""
        with self._lock:
            history = self._history.get(by, [])
            if not history:
                return self._card(by)
            name = history[-1]
            self._append(Decision(name, "undo", given=self._given[self._at[name]], by=by))
            self._shown[by] = self._at[name]
            return self._card(by)

    def progress(self, by: str) -> dict[str, Any]:
        """How far the review is."""
        with self._lock:
            return self._progress(by)

    def _append(self, decision: Decision) -> None:
        self._ledger.append(decision)
        self._note(decision)
        self._standing = standing(self._ledger.decisions)
        name = decision.sample
        following = self._found.following.decided({self._at[name]: self._class(name)})
        self._found = self._asked(following)

    def _note(self, decision: Decision) -> None:
        """What a person decided, in the order in which it would be taken back."""
        history = self._history.setdefault(decision.by, [])
        if decision.decision != "undo":
            history.append(decision.sample)
        elif decision.sample in history:
            del history[len(history) - 1 - history[::-1].index(decision.sample)]

    def _asked(self, following: Following) -> Found:
        decided = [self._at[name] for name in self._standing if Outcome.of(self._opinions(name)).decision != "unsure"]
        return Found.of(following, np.setdiff1d(np.arange(len(self.ids)), decided), self._ask)

    def _class(self, name: str) -> int | None:
        """The class that a sample has by what was decided; None where it is dropped."""
        outcome = Outcome.of(self._opinions(name))
        label = outcome.label or self._given[self._at[name]]
        return None if outcome.decision == "drop" else self.classes.index(label)

    def _opinions(self, name: str) -> Opinions:
        return self._standing.get(name, {})

    def _queue(self, by: str) -> list[int]:
        """What a person has not decided: samples that need another opinion, then suspects in their order."""

        def open_to(name: str) -> bool:
            found = self._opinions(name)
            return by not in found and sum(one.decision != "unsure" for one in found.values()) < self._wanted

        begun = [self._at[name] for name in self._standing if open_to(name)]
        others = (sample for sample in self._found.order if open_to(self.ids[sample]))
        return list(dict.fromkeys([*begun, *others])) if self._wanted > 1 else list(others)

    def _next(self, by: str) -> int | None:
        """What is shown already stays; then the first that nobody else has before them; then any."""
        queue = self._queue(by)
        before = self._shown.get(by)
        if before is not None and (before in queue or by not in self._opinions(self.ids[before])):
            return before
        taken = {sample for person, sample in self._shown.items() if person != by} if self._wanted == 1 else set()
        return next((sample for sample in queue if sample not in taken), queue[0] if queue else None)

    def _card(self, by: str) -> dict[str, Any]:
        sample = self._next(by)
        if sample is None:
            self._shown.pop(by, None)
        else:
            self._shown[by] = sample
        return {"sample": None if sample is None else self._sample(sample), "progress": self._progress(by)}

    def _sample(self, sample: int) -> dict[str, Any]:
        found, given = self._found, self._given[sample]
        says = likeliest(found.predictions, sample)
        row = found.rows.get(sample, {})  # one that is shown again may be no suspect any more
        suggested = str(row.get("suggested") or next(name for name, _ in says if name != given))
        place = found.following.given.place
        return {
            "at": sample,
            "id": self.ids[sample],
            "label": given,
            "suggested": suggested,
            "chance": chance_wrong(row),
            "says": says,
            "place": None if place is None else str(place[sample]),
            "similar": [
                {
                    "label": label,
                    "samples": [{"at": int(at), "id": self.ids[at]} for at in self._similar(sample, label)],
                }
                for label in dict.fromkeys((given, suggested))
            ],
        }

    def _similar(self, sample: int, label: str) -> Indices:
        if self._neighbours is None:
            return np.empty(0, np.intp)
        following = self._found.following
        of_label: NDArray[np.bool_] = (following.now == self.classes.index(label)) & ~following.dropped
        return self._neighbours.closest(sample, np.flatnonzero(of_label), _SIMILAR)

    def _progress(self, by: str) -> dict[str, Any]:
        decided, agreement = people(self._standing), Agreement.of(self._standing)
        return {
            "decided": len(self._standing),
            "yours": decided.get(by, 0),
            "left": len(self._queue(by)),
            "people": decided,
            "agreement": agreement.sentence,
            "can_undo": bool(self._history.get(by)),
        }


def check(decisions: list[Decision], given: Mapping[str, str], classes: tuple[str, ...]) -> None:
    """Refuse decisions on samples, labels or classes that are not those of the run."""
    for decision in decisions:
        if decision.sample not in given:
            raise InputError(
                f"the decisions name sample {decision.sample!r}, which this run does not have; take those of this run"
            )
        if decision.given != given[decision.sample]:
            raise InputError(
                f"sample {decision.sample!r} was decided on when its label was {decision.given!r}; here it is "
                f"{given[decision.sample]!r}. Take the decisions of this run"
            )
        if decision.label is not None and decision.label not in classes:
            raise InputError(
                f"sample {decision.sample!r} was given the label {decision.label!r}, which is none of the classes; "
                f"{known_names(decision.label, classes)}"
            )
