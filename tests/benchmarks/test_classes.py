"""What classes cost: tables of what was measured, and a run on a few made-up samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.budget.parts import Record
from benchmarks.classes import page, ways
from benchmarks.classes.page import tables, write_page
from benchmarks.classes.ways import DIGITS, ENTROPY, EXACT, GROWTH, Asked, growth

AGREED = {"functional": 0.981, "weight": 0.97, "value": 1.0}
LINE = {"seconds": 12.3, "steps": 1000, "projection_why": "asked for", "agreement": None, "form_side": 500}
FOUND: dict[str, dict[str, Any]] = {
    "digits 1500": {"OutputSketch(1)": {**LINE, "agreement": {"samples": 218, **AGREED}}},
    "digits 500": {EXACT: LINE, "OutputSketch(4)": LINE},
    "agreement 500": {"OutputSketch(4)": AGREED},
    "entropy": {next(iter(ENTROPY)): {"exact seconds": 20.0, "seconds": 0.5, **AGREED}},
    "growth": {f"{name}, {k}": {"seconds": k / 10} for name in GROWTH for k in ways.CLASSES},
}


@pytest.mark.parametrize(
    "line",
    [
        "## 500 digits, ten classes, squared error",
        f"| {EXACT} | 500 | 12 | 1,000 | exact |  |",
        "| OutputSketch(4) | 500 | 12 | 1,000 | .981 / .970 / 1.000 |  |",
        "| OutputSketch(1) | 500 | 12 | 1,000 | – | .981 / .970 / 1.000 (on 218) |",
        f"| {next(iter(ENTROPY))} | 20 | 0.5 | .981 / .970 / 1.000 |",
        f"| {next(iter(GROWTH))} | 1.00 | 10.00 | 100.00 | 1.00 | 1.00 |",
    ],
)
def test_the_page_says_what_was_measured(line: str, tmp_path: Path) -> None:
    write_page(FOUND, tmp_path / "classes.md")
    assert line in (tmp_path / "classes.md").read_text(encoding="utf-8")


def test_what_was_not_measured_is_not_there() -> None:
    assert list(tables({})) == []
    (found,) = tables({"digits 500": {next(iter(DIGITS)): LINE}})
    assert len(found.lines) == 1


def test_made_up_classes_are_scored_every_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (ways, page):
        monkeypatch.setattr(module, "CLASSES", (2, 3))
    monkeypatch.setattr(ways, "GROWN", 20)
    record = Record.open(tmp_path / "classes.json")
    growth(record, Asked(20, tmp_path))
    assert len(record.found["growth"]) == 2 * len(GROWTH)
    (found,) = tables(record.found)
    assert len(found.lines) == len(GROWTH)
