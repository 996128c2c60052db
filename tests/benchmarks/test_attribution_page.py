"""The page of the attribution benchmark says what was found."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.attribution_page import write_page

METHODS = [
    {
        "method": "linearization, leave-one-out",
        "lds": {"value": 0.9, "low": 0.85, "high": 0.95},
        "leave_one_out": {"value": 0.8, "low": 0.7, "high": 0.9},
        "seconds": 0.26,
    },
    {"method": "LiSSA", "lds": None, "leave_one_out": {"value": 0.6, "low": 0.5, "high": 0.7}, "seconds": 800.0},
]
TRUTH = {"samples": 300, "halves": 40, "singles": 30, "validation": 100, "seconds": 312.4}


def test_every_method_has_its_line_and_the_figures_lie_beside(tmp_path: Path) -> None:
    found = {"task": "MNIST.", "truth": TRUTH, "methods": METHODS}
    write_page(found, tmp_path / "attribution.md")
    said = (tmp_path / "attribution.md").read_text(encoding="utf-8")
    assert "| linearization, leave-one-out | 0.90 [0.85, 0.95] | 0.80 [0.70, 0.90] | 0.3 |" in said
    assert "| LiSSA | – | 0.60 [0.50, 0.70] | 800.0 |" in said
    assert "without 30 single samples" in said
    assert json.loads((tmp_path / "attribution" / "attribution.json").read_text()) == found
    assert (tmp_path / "attribution" / "attribution.png").stat().st_size > 5_000
