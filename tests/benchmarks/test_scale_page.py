"""The page of the scale benchmark says what was measured, and what was not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scale_page import write_page


def written(found: dict[str, Any], folder: Path) -> str:
    """The page of what was measured."""
    (folder / "scale.json").write_text(json.dumps(found), encoding="utf-8")
    write_page(folder / "scale.json", folder / "docs" / "scale.md")
    return (folder / "docs" / "scale.md").read_text(encoding="utf-8")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    runs = [
        {"samples": n, "seconds": n / 50, "cpu_seconds": n / 100, "peak_bytes": 2**29, "outputs": 10, "columns": 2110}
        for n in (2_000, 6_000)
    ]
    slopes = ("slope", "slope_in_processor_time", "slope_of_the_last_two_in_processor_time")
    measured = {"runs": [run | {"memory": "6GiB"} for run in runs], "peak_spread": 0.0} | dict.fromkeys(slopes, 1.0)
    written({"mnist": measured}, tmp_path)
    return tmp_path / "docs" / "scale.md"


def test_what_was_measured_is_told_and_drawn(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert "| 6,000 | 120 | 60 | 537 MB |" in said
    assert "(scale/mnist.png)" in said
    assert (page.parent / "scale" / "mnist.png").stat().st_size > 5_000
    kept = page.parent / "scale" / "scale.json"
    assert json.loads(kept.read_text()) == json.loads((page.parents[1] / "scale.json").read_text())


def test_what_was_not_measured_says_so(page: Path) -> None:
    assert "## Dask\n\nNot measured." in page.read_text(encoding="utf-8")


def test_a_sketch_is_told_with_its_memory_and_its_error(tmp_path: Path) -> None:
    line = {"features": 20_000, "outputs": 10, "directions": 1_000, "memory": "6GiB", "error": 0.02}
    runs = [line | {"samples": n, "seconds": n, "cpu_seconds": n / 10, "peak_bytes": 2**31} for n in (1_000, 2_000)]
    found = {"sketch": {"runs": runs, "slope_in_processor_time": 1.0}}
    said = written(found, tmp_path)
    assert "off by less than 0.02 of themselves" in said
    assert "| 2,000 | 2000 | 200 | 2.15 GB |" in said


def test_more_columns_are_told_with_how_ranks_agree(tmp_path: Path) -> None:
    runs = [
        {"samples": 60_000, "columns": columns, "seconds": 100, "cpu_seconds": 150, "peak_bytes": 2**30}
        for columns in (2_000, 4_000)
    ]
    found = {"columns": {"runs": runs, "agreement": {"functional": 0.98}, "cores": 2}}
    said = written(found, tmp_path)
    assert "Ranks with 2,000 columns agree with those by 4,000: functional 0.980 (Spearman)" in said
    assert "| 4,000 | 100 | 150 | 1.07 GB |" in said


def test_a_thousand_classes_are_told_like_other_features(tmp_path: Path) -> None:
    line = {"samples": 10**6, "features": 512, "outputs": 1000, "memory": "4GiB", "seconds": 300, "cpu_seconds": 299}
    said = written({"classes": line | {"peak_bytes": 2**31}}, tmp_path)
    assert "1,000,000 × 512 float32 in one .npy file, 1,000 outputs, budget 4GiB, one thread: 300 s" in said
