"""The report's file."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import uniqueinfo as ui
from tests.pages.examples import SCRIPT, hostile, synthetic, written
from uniqueinfo.applications.mislabeled import mislabeled
from uniqueinfo.pages import SampleViews
from uniqueinfo.pages.views import thumbnail


class Tags(HTMLParser):
    """Collects tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_asks_for_nothing_from_elsewhere(
    digit_scores: ui.Scores, digit_views: SampleViews, tmp_path: Path
) -> None:
    page = written(digit_scores, tmp_path / "report.html", samples=digit_views).read_text(encoding="utf-8")
    for tag, attributes in Tags(page).found:
        for name in ("src", "href"):
            address = attributes.get(name) or "#"
            assert address.startswith(("data:", "#")), (tag, address)
    assert not re.search(r"https?://|@import|url\(", page)


def test_markup_of_the_user_stays_text(tmp_path: Path) -> None:
    scores, views = hostile()
    page = written(scores, tmp_path / "report.html", samples=views).read_text(encoding="utf-8")
    assert SCRIPT not in page
    assert [tag for tag, _ in Tags(page).found].count("script") == 2
    assert not [tag for tag, attributes in Tags(page).found if "onerror" in attributes]


@pytest.mark.parametrize("width", [1, 10])
def test_the_page_of_many_samples_stays_below_two_megabytes(tmp_path: Path, width: int) -> None:
    n = 8000
    columns = pd.DataFrame({f"c{i}": [f"{j} {'x' * 50}" for j in range(n)] for i in range(width)})
    ids = np.array([f"folder/of/pictures/{'y' * 80}{i}" for i in range(n)])
    scores = synthetic(n, columns=columns, ids=ids)
    views = SampleViews(lambda i: f"{i} " + "long text " * 100)
    path = written(scores, tmp_path / "report.html", samples=views)
    assert path.stat().st_size < 2_000_000
    assert "Of 8,000 samples this page holds" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "make",
    [
        lambda: synthetic(1),
        lambda: synthetic(3, 2),
        lambda: synthetic(40, functional=None, value=None),
        lambda: synthetic(40, functional=np.zeros(40)),
        lambda: synthetic(40, 1, labels=np.linspace(0, 1, 40), targets=np.linspace(0, 1, 40)[:, None]),
        lambda: synthetic(40, 2, labels=np.ones((40, 2)), targets=np.ones((40, 2))),
        lambda: synthetic(40, labels=None),
    ],
    ids=["one", "three", "no validation", "no information", "regression", "two targets", "no labels"],
)
def test_unusual_scores_make_a_page(tmp_path: Path, make: Callable[[], ui.Scores]) -> None:
    page = written(make(), tmp_path / "report.html").read_text(encoding="utf-8")
    assert "</html>" in page
    assert "nan" not in page.split("<script", 1)[0]


def test_saved_scores_make_the_same_page(digit_scores: ui.Scores, digit_views: SampleViews, tmp_path: Path) -> None:
    before = written(digit_scores, tmp_path / "one.html", samples=digit_views)
    after = written(ui.load(digit_scores.save(tmp_path / "run")), tmp_path / "two.html", samples=digit_views)
    assert before.read_bytes() == after.read_bytes()


def test_an_answer_is_a_section_with_its_figure_table_and_pictures(
    digit_scores: ui.Scores, digit_views: SampleViews, tmp_path: Path
) -> None:
    section = mislabeled(digit_scores).section()
    page = written(digit_scores, tmp_path / "report.html", samples=digit_views, answers=[section]).read_text(
        encoding="utf-8"
    )
    asked = page.split('<section id="answer-mislabeled"', 1)[1].split("</section>", 1)[0]
    tags = Tags(asked).found
    pictures = [attributes for tag, attributes in tags if tag == "img"]
    assert section["sentence"] in asked
    assert len(pictures) == 1 + len(section["galleries"][0]["samples"])
    assert sum(tag == "tr" for tag, _ in tags) == 1 + section["rows"]


def test_markup_in_an_answer_stays_text(tmp_path: Path) -> None:
    scores, views = hostile()
    page = written(scores, tmp_path / "report.html", samples=views, answers=[mislabeled(scores).section()])
    tags = Tags(page.read_text(encoding="utf-8")).found
    assert sum(tag == "script" for tag, _ in tags) == 2
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)


def test_a_place_that_cannot_be_written_is_named(digit_scores: ui.Scores, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ui.InputError, match=r"the report cannot be written to .*file/report\.html"):
        written(digit_scores, tmp_path / "file" / "report.html")


def test_settings_and_caveats_are_told(digit_scores: ui.Scores, tmp_path: Path) -> None:
    page = written(digit_scores, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "400 steps of gradient descent at rate 0.1" in page
    assert "linearization" in page
    assert f"{digit_scores.settings['fit_error']:.1g}" in page


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "LA", "I;16", "F"])
def test_pictures_of_every_mode_become_thumbnails(mode: str) -> None:
    kind, _, content = thumbnail(Image.new(mode, (300, 200))).partition(",")
    assert kind == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(content))) as small:
        assert small.width < 300
        assert small.width / small.height == pytest.approx(3 / 2, abs=0.02)


def test_suspects_are_shown_once_after_they_were_asked_for(
    digit_scores: ui.Scores, digit_views: SampleViews, tmp_path: Path
) -> None:
    answers = [mislabeled(digit_scores).section()]
    path = written(digit_scores, tmp_path / "report.html", samples=digit_views, answers=answers)
    page = path.read_text(encoding="utf-8")
    assert 'id="suspects"' not in page
    assert page.count('id="answer-mislabeled"') == 1
    assert '<a href="#answer-mislabeled">Suspects</a>' in page


def test_no_card_says_that_a_suspect_helps_or_is_sure(
    digit_scores: ui.Scores, digit_views: SampleViews, tmp_path: Path
) -> None:
    page = written(digit_scores, tmp_path / "report.html", samples=digit_views).read_text(encoding="utf-8")
    first = mislabeled(digit_scores).samples[0]
    cards = [part.split("</button>", 1)[0] for part in page.split(f'data-open="{first}">')[1:]]
    assert any("clearly contradicted" in card for card in cards)
    assert not any("helps" in card or "harms" in card or "sure" in card for card in cards)
