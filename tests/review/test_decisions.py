"""Decisions on the disk: appended, read back, torn lines, undo."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.review.agreement import Agreement, Outcome
from uniqueinfo.review.decisions import Decision, Ledger, read, standing

HOSTILE = 'line\nbreak "quote" \u2028 <script>'


def decision(sample: str = "a", kind: Any = "keep", by: str = "Ann", label: str | None = None) -> Decision:
    return Decision(sample, kind, given="cat", by=by, label=label)


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "decisions.jsonl")
    made = [decision(), decision(HOSTILE, "relabel", label=HOSTILE), decision("b", "undo")]
    for one in made:
        ledger.append(one)
    assert read(ledger.path) == made
    assert len(ledger.path.read_text(encoding="utf-8").split("\n")) == 4


def test_a_torn_last_line_is_left_out_and_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    Ledger(path).append(decision("a"), decision("b"))
    path.write_bytes(path.read_bytes()[:-9])
    ledger = Ledger(path)
    ledger.append(decision("c"))
    assert [one.sample for one in read(path)] == ["a", "c"]


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_is_noticed_or_harmless(tmp_path: Path, bit: int) -> None:
    made = [decision("a"), decision("b", "relabel", label="dog")]
    path = tmp_path / "decisions.jsonl"
    Ledger(path).append(*made)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
        with contextlib.suppress(InputError):
            assert read(path) == made


def test_a_last_line_that_lacks_its_end_alone_is_kept_by_what_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    Ledger(path).append(decision("a"), decision("b"))
    path.write_bytes(path.read_bytes()[:-1])
    Ledger(path).append(decision("c"))
    assert [one.sample for one in read(path)] == ["a", "b", "c"]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text('{"sample": "a"}\n' + decision().line())
    with pytest.raises(InputError, match="line 1 is no decision"):
        read(path)


@pytest.mark.parametrize(
    "given",
    [
        {"decision": "burn"},
        {"label": "dog"},
        {"decision": "relabel"},
        {"by": " "},
        {"by": "A\nB"},
        {"by": 3},
        {"at": 3},
    ],
)
def test_what_is_no_decision_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Decision.from_record({"sample": "a", "decision": "keep", "given": "cat", "by": "Ann", **given})


def test_undo_takes_back_the_persons_own_last_decision_alone() -> None:
    made = [decision(), decision(by="Ben", kind="drop"), decision(kind="drop"), decision(kind="undo")]
    assert {by: one.decision for by, one in standing(made)["a"].items()} == {"Ann": "keep", "Ben": "drop"}


def test_most_people_decide_and_a_tie_changes_nothing() -> None:
    two = standing([decision(by="Ann"), decision(by="Ben", kind="drop")])["a"]
    three = {**two, "Cem": decision(by="Cem", kind="drop")}
    assert Outcome.of(two).decision == "disputed"
    assert Outcome.of(three).decision == "drop"


def test_agreement_counts_samples_of_several_people() -> None:
    made = [decision("a"), decision("b"), decision("c"), decision("a", by="Ben"), decision("b", "drop", by="Ben")]
    found = Agreement.of(standing(made))
    assert (found.shared, found.alike, found.disputed) == (2, 1, ("b",))
