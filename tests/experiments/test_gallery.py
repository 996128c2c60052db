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
    figure = Figure(figsize=(4, 3))
    pixels = np.random.default_rng(0).random((noise, noise, 3))
    figure.subplots().imshow(pixels, interpolation="nearest")
    return Result(
        pd.DataFrame({"a": [1]}), {"shown": figure}, claims, {"lr": 0.001}, {"made_up": "f" * 64}, {"shown": "Dots."}
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two experiments' results, of which the second has a large picture; tests that change them take a copy."""
    claims = [
        Claim("p(w|S) of a point", 0.36412, 0.2981, 0.43, "0.3 ± 0.1", True, "by a test"),
        Claim("another", -1.0, paper=2.0, holds=False),
        Claim("a third", NOT_RUN, note="no data"),
        Claim("ours alone", 4.0, holds=False, note="at least 5"),
    ]
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound, "run", lambda request: result(claims))
        patch.setattr(steadystate, "run", lambda request: result([], noise=400))
        for name in ("bound", "steadystate"):
            reproduce(name, Request(seed=4), folder)
    return folder


@pytest.fixture(scope="module")
def page(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("docs") / "page.md"
    write_gallery(results, written)
    return written


@pytest.fixture
def without_large(results: Path, tmp_path: Path) -> Path:
    """The same results without the large picture."""
    shutil.copytree(results / "bound", tmp_path / "some" / "bound")
    return tmp_path / "some"


def test_the_page_shows_every_figure_claim_and_setting(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert "| p(w\\|S) of a point<sup>1</sup> | 0.3 ± 0.1 | 0.364 [0.298,\N{NO-BREAK SPACE}0.43] | ✓ |" in said
    assert "| another | 2 | -1 | **✗** |" in said
    assert f"| a third<sup>2</sup> |  | {NOT_RUN} |  |" in said
    assert "1. by a test\n2. no data\n3. at least 5\n" in said
    assert "uniqueinfo reproduce bound --scale small --seed 4" in said
    assert "Settings: lr 0.001." in said
    assert "made_up `ffffffffffff`" in said
    assert "![Dots.](page/bound-shown.png)" in said
    assert (page.parent / "page" / "bound-shown.png").is_file()


def test_every_claim_of_the_paper_stands_above_all_in_one_line(page: Path) -> None:
    above = page.read_text(encoding="utf-8").partition("## ")[0]
    ours = "0.364 [0.298,\N{NO-BREAK SPACE}0.43]"
    assert rf"| [bound](#bound) | p(w\|S) of a point | 0.3 ± 0.1 | {ours} | ✓ |" in above
    assert "| [bound](#bound) | another | 2 | -1 | **✗** |" in above
    assert "ours alone" not in above
    assert "> Of 2 claims of the paper that were tested on real data, 1 hold here; those that do not are in" in above


def test_what_we_expected_and_did_not_find_is_an_open_question(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    section, _, last = said.partition("## Open questions")
    assert "| ours alone<sup>3</sup> |  | 4 |  |" in section
    assert "1 expectations of ours are [open](#open-questions)." in section
    assert "| ours alone | 4 | at least 5 |" in last


def test_pictures_come_before_settings(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert said.rindex("![Dots.]") < said.index("## Settings") < said.index("Settings: lr 0.001.")


def test_what_the_paper_found_comes_before_what_does_not_hold_here(page: Path) -> None:
    said = page.read_text(encoding="utf-8").partition("## bound")[2]
    assert f"**The paper.** {EXPERIMENTS['bound'].paper}\n" in said
    assert "**Here.** 1 of 2 claims hold; not: another (-1, the paper: 2). One line was not run here. " in said


def test_experiments_without_results_are_named(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert "- `sentiment`: " in said.partition("## Not in these results")[2]


def test_what_was_found_lies_beside_the_page(results: Path, page: Path) -> None:
    assert (page.parent / "page" / "bound.json").read_bytes() == (results / "bound" / "figures.json").read_bytes()


def test_experiments_of_an_earlier_page_stay_on_it(page: Path, without_large: Path, tmp_path: Path) -> None:
    shutil.copytree(page.parent, tmp_path / "docs")
    write_gallery(without_large, tmp_path / "docs" / "page.md")
    assert (tmp_path / "docs" / "page.md").read_text(encoding="utf-8") == page.read_text(encoding="utf-8")


def test_large_pictures_are_made_small(results: Path, page: Path) -> None:
    assert (results / "steadystate" / "shown.png").stat().st_size > 200_000
    small = page.parent / "page" / "steadystate-shown.png"
    assert small.stat().st_size <= 200_000
    with Image.open(small) as image:
        assert image.width >= 300


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no results; make some with"):
        write_gallery(tmp_path, tmp_path / "page.md")


def test_a_missing_figure_is_named(without_large: Path, tmp_path: Path) -> None:
    (without_large / "bound" / "shown.png").unlink()
    with pytest.raises(InputError, match=r"shown\.png: this figure is missing"):
        write_gallery(without_large, tmp_path / "page.md")
