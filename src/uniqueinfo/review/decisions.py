"""What people decided about samples: one line of JSON each, appended and never changed.

    {"sample": "cat-7", "decision": "relabel", "given": "cat", "by": "Ann", "label": "dog", "at": "2026-01-31T12:00Z",
     "check": "5b0c13e2"}

A decision is to keep the label, to relabel, to drop the sample, or to be unsure. `undo` takes back the last one that
the same person made about the sample. `check` tells a damaged line from a whole one; lines that people write themselves
need none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from uniqueinfo.errors import InputError

Kind = Literal["keep", "relabel", "drop", "unsure", "undo"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NAME = "decisions.jsonl"
"""The file of a run folder."""
_LONGEST_NAME = 80


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Decision:
    """What one person decided about one sample.

    >>> Decision("cat-7", "relabel", given="cat", by="Ann", label="dog", at="2026-01-31T12:00:00Z").outcome
    ('relabel', 'dog')
    """

    sample: str
    """Its id."""
    decision: Kind
    given: str
    """The label it came with."""
    by: str
    label: str | None = None
    """The label it gets, where it is relabelled."""
    at: str = field(default_factory=_now)

    def __post_init__(self) -> None:
        if self.decision not in KINDS:
            raise InputError(f"decision: expected one of {', '.join(KINDS)}, got {self.decision!r}")
        if (self.label is not None) != (self.decision == "relabel"):
            raise InputError(f"sample {self.sample}: a label belongs to the decision relabel, and only to it")
        if not self.by.strip() or len(self.by) > _LONGEST_NAME or not self.by.isprintable():
            raise InputError(f"by: expected a person's name of at most {_LONGEST_NAME} letters, got {self.by!r}")

    @property
    def outcome(self) -> tuple[str, str | None]:
        """What decisions of several people are compared by."""
        return self.decision, self.label

    def line(self) -> str:
        """As it stands in the file."""
        plain = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps({**plain, "check": self._check}, ensure_ascii=False, separators=(", ", ": ")) + "\n"

    @property
    def _check(self) -> str:
        """Of all that it says."""
        return hashlib.sha256("\0".join(map(str, asdict(self).values())).encode()).hexdigest()[:8]

    @classmethod
    def from_record(cls, found: Any) -> Decision:
        """From what a line holds; refused where something is missing or of another kind."""
        if not isinstance(found, Mapping):
            raise InputError("expected an object with sample, decision, given and by")
        texts = {name: found.get(name) for name in ("sample", "decision", "given", "by", "label", "at")}
        missing = [name for name in ("sample", "decision", "given", "by") if not isinstance(texts[name], str)]
        wrong = [name for name in ("label", "at") if not isinstance(texts[name], str | None)]
        if missing or wrong:
            raise InputError(f"{(missing + wrong)[0]} is missing or no text")
        decision = cls(**{name: value for name, value in texts.items() if value is not None})
        if found.get("check", decision._check) != decision._check:
            raise InputError("it is damaged: check belongs to something else")
        return decision


def read(path: Path) -> list[Decision]:
    """All decisions of a file, those taken back too. A last line that was torn by a crash was never acknowledged.

    One that lacks nothing but its end is whole: its end may have been damaged later.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"decisions {path}: cannot be read ({error.strerror}); check the path") from error
    found = []
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last line's end is empty, or torn
        if not line.strip():
            continue
        try:
            found.append(Decision.from_record(json.loads(line)))
        except ValueError as error:  # InputError and JSON's own among them
            raise InputError(f"{path}: line {number} is no decision ({error}); mend or remove it") from error
    return found + _unended(lines[-1])


def _unended(line: bytes) -> list[Decision]:
    """The decision of a line without its end, or with another end, where that is whole."""
    for content in (line, line[:-1]):
        try:
            record = json.loads(content)
            if isinstance(record, Mapping) and "check" in record:
                return [Decision.from_record(record)]
        except ValueError:
            continue
    return []


class Ledger:
    """The decisions of a run: each is on the disk before it counts; one process writes at a time."""

    def __init__(self, path: Path) -> None:
        """Open the file, or begin it; what a crash left of a last line goes."""
        self.path = path
        self.decisions: list[Decision] = []
        if path.exists():
            self.decisions = read(path)
            self._cut_torn()

    def append(self, *decisions: Decision) -> None:
        """Write, and come back when they are on the disk."""
        begun = not self.path.exists()
        with self.path.open("ab") as file:
            file.write("".join(decision.line() for decision in decisions).encode())
            file.flush()
            os.fsync(file.fileno())
        if begun:
            _sync_folder(self.path.parent)
        self.decisions.extend(decisions)

    def _cut_torn(self) -> None:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with self.path.open("rb+") as file:
                file.seek(whole)
                file.write("".join(decision.line() for decision in _unended(content[whole:])).encode())
                file.truncate()
                os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """So that a new file's name is on the disk too."""
    if os.name != "posix":
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


Opinions = dict[str, Decision]
"""By person, what stands of what they decided about one sample."""


def standing(decisions: Iterable[Decision]) -> dict[str, Opinions]:
    """By sample and person, the last decision that was not taken back.

    >>> one, two = (Decision("a", kind, given="x", by="Ann", at="") for kind in ("keep", "drop"))
    >>> back = Decision("a", "undo", given="x", by="Ann", at="")
    >>> [found["a"]["Ann"].decision for found in (standing([one, two]), standing([one, two, back]))]
    ['drop', 'keep']
    >>> standing([one, back])
    {}
    """
    stacks: dict[tuple[str, str], list[Decision]] = {}
    for decision in decisions:
        stack = stacks.setdefault((decision.sample, decision.by), [])
        if decision.decision != "undo":
            stack.append(decision)
        elif stack:
            stack.pop()
    found: dict[str, Opinions] = {}
    for (sample, by), stack in stacks.items():
        if stack:
            found.setdefault(sample, {})[by] = stack[-1]
    return found
