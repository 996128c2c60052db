from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from uniqueinfo.errors import InputError
from uniqueinfo.experiments import bound, steadystate
from uniqueinfo.experiments.gallery import write_gallery
from uniqueinfo.experiments.registry import EXPERIMENTS
from uniqueinfo.experiments.runner import NOT_RUN, Claim, Request, Result, reproduce


def result(claims: list[Claim], noise: int = 8) -> Result:
    figure = Figure(figsize=(8, 6))
    pixels = np.random.default_rng(0).random((noise, noise, 3))
    figure.subplots().imshow(pixels, interpolation="nearest")
    return Result(
        pd.DataFrame({"a": [1]}), {"shown": figure}, claims, {"lr": 0.001}, {"made_up": "f" * 64}, {"shown": "Dots."}
    )


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    claims = [
        Claim("p(w|S) of a point", 0.36412, 0.2981, 0.43, "0.3 ± 0.1", True, "by a test"),
        Claim("another", -1.0, paper=2.0, holds=False),
        Claim("a third", NOT_RUN, note="no data"),
    ]
    monkeypatch.setattr(bound, "run", lambda request: result(claims))
    monkeypatch.setattr(steadystate, "run", lambda request: result([], noise=400))
    for name in ("bound", "steadystate"):
        reproduce(name, Request(seed=4), tmp_path / "results")
    return tmp_path / "results"


def test_the_page_shows_every_figure_claim_and_setting(results: Path, tmp_path: Path) -> None:
    page = tmp_path / "docs" / "results.md"
    write_gallery(results, page)
    said = page.read_text(encoding="utf-8")
    assert "| p(w\\|S) of a point<sup>1</sup> | 0.3 ± 0.1 | 0.364 [0.298,\N{NO-BREAK SPACE}0.43] | ✓ |" in said
    assert "| another | 2 | -1 | **✗** |" in said
    assert f"| a third<sup>2</sup> |  | {NOT_RUN} |  |" in said
    assert "1. by a test\n2. no data\n" in said
    assert "uniqueinfo reproduce bound --scale small --seed 4" in said
    assert "Settings: lr 0.001." in said
    assert "made_up `ffffffffffff`" in said
    assert "![Dots.](results/bound-shown.png)" in said
    assert (tmp_path / "docs" / "results" / "bound-shown.png").is_file()


def test_the_first_finding_of_each_stands_above_all(results: Path, tmp_path: Path) -> None:
    write_gallery(results, tmp_path / "page.md")
    said = (tmp_path / "page.md").read_text(encoding="utf-8")
    ours = "✓ 0.364 [0.298,\N{NO-BREAK SPACE}0.43]"
    first = rf"| [bound](#bound) | p(w\|S) of a point | 0.3 ± 0.1 | {ours} | 1 of 2 | small |"
    assert first in said.partition("## ")[0]


def test_what_the_paper_found_comes_before_what_does_not_hold_here(results: Path, tmp_path: Path) -> None:
    write_gallery(results, tmp_path / "page.md")
    said = (tmp_path / "page.md").read_text(encoding="utf-8").partition("## bound")[2]
    assert f"**The paper.** {EXPERIMENTS['bound'].paper}\n" in said
    assert "**Here.** 1 of 2 claims hold; not: another (-1, the paper: 2). Not run here: 1.\n" in said


def test_experiments_without_results_are_named(results: Path, tmp_path: Path) -> None:
    write_gallery(results, tmp_path / "page.md")
    said = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "- `sentiment`: " in said.partition("## Not in these results")[2]


def test_what_was_found_lies_beside_the_page(results: Path, tmp_path: Path) -> None:
    write_gallery(results, tmp_path / "page.md")
    assert (tmp_path / "page" / "bound.json").read_bytes() == (results / "bound" / "figures.json").read_bytes()


def test_experiments_of_an_earlier_page_stay_on_it(results: Path, tmp_path: Path) -> None:
    write_gallery(results, tmp_path / "page.md")
    before = (tmp_path / "page.md").read_text(encoding="utf-8")
    shutil.rmtree(results / "steadystate")
    write_gallery(results, tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == before


def test_large_pictures_are_made_small(results: Path, tmp_path: Path) -> None:
    write_gallery(results, tmp_path / "page.md")
    assert (results / "steadystate" / "shown.png").stat().st_size > 200_000
    small = tmp_path / "page" / "steadystate-shown.png"
    assert small.stat().st_size <= 200_000
    with Image.open(small) as image:
        assert image.width >= 300


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no results; make some with"):
        write_gallery(tmp_path, tmp_path / "page.md")


def test_a_missing_figure_is_named(results: Path, tmp_path: Path) -> None:
    (results / "bound" / "shown.png").unlink()
    with pytest.raises(InputError, match=r"shown\.png: this figure is missing"):
        write_gallery(results, tmp_path / "page.md")
