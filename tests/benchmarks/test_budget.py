"""The budget's tables say what was kept and what was not; what was measured is not measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.budget.parts import Record
from benchmarks.budget.table import tables, write_page

FOUND: dict[str, dict[str, Any]] = {
    "busy": {
        "features, as it is, nothing": {"seconds": 2.0, "quiet": True},
        "features, as it is, one": {"seconds": 5.0, "quiet": True},
        "network, as it is, nothing": {"seconds": 2.0, "quiet": True},
        "network, as it is, two": {"seconds": None, "quiet": False},
    },
    "features": {
        "one thread": {
            "threads": 1,
            "seconds": {"square": 0.5, "alone": 2.5, "validated": 4.0},
            "processor": {"square": 0.5, "alone": 2.5, "validated": 4.0},
        },
        "50000 samples": {"samples": 50_000, "processor": 1.0},
        "100000 samples": {"samples": 100_000, "processor": 2.0},
    },
    "photos": {
        "case 0": {
            "what": "photos",
            "kept": "some weights",
            "epoch": {"seconds": 10.0, "processor": 20.0},
            "scores": {"seconds": 15.0, "processor": 50.0},
        }
    },
    "foretold": {
        "command 0": {
            "command": "digits.npz",
            "seconds": {"plan": 10.0, "real": 15.0},
            "bytes": {"plan": 10**8, "real": 10**9},
        }
    },
    "rescoring": {"case 0": {"what": "a network", "ours": 1.0, "anew": 5.0, "same": 0.99}},
}


@pytest.fixture
def page(tmp_path: Path) -> str:
    write_page(FOUND, tmp_path / "budget.md")
    return (tmp_path / "budget.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "line",
    [
        "| features | as it is | 2.0 (1.0 ×) | not measured | 5.0 (2.5 ×) | not measured | yes |",
        "| network | as it is | 2.0 (1.0 ×) | not measured | not measured | no answer | NO |",
        "| no validation, one thread (1) | 2.50 | 0.50 | 5.0 | 5.0 | yes |",
        "| 10,000 validation samples, one thread (1) | 4.00 | 0.50 | 8.0 | 8.0 | NO |",
        "| a network | 1.00 | 5.00 | 5.0 | 99.0% | NO |",
        "| photos | 10 | 15 | 1.50 | 2.50 | some weights | NO |",
        "| `digits.npz` | 10 | 15 | 100 MB | 1 GB | NO |",
        "grows as n to the 1.00",
        "Something else was at work in 1 of these.",
    ],
)
def test_the_page_says(line: str, page: str) -> None:
    assert line in page


def test_parts_that_were_not_measured_have_no_table() -> None:
    assert [table.title for table in tables({"rescoring": FOUND["rescoring"]})] == ["Scoring again after removals"]


def test_what_was_measured_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "budget.json"
    assert Record.open(path).once("busy", "work", lambda: {"seconds": 1.0}) == {"seconds": 1.0}
    again = Record.open(path).once("busy", "work", lambda: pytest.fail("measured again"))
    assert again == {"seconds": 1.0}
    assert Record.open(path, forget=["busy"]).found == {}
