"""Answers as they look where they are printed."""

from __future__ import annotations

import pandas as pd
import pytest

import uniqueinfo as ui
from tests.pages.examples import digits
from uniqueinfo.applications.mislabeled import Mislabeled, mislabeled
from uniqueinfo.applications.printing import as_text


@pytest.fixture(scope="module")
def scored() -> ui.Scores:
    return digits(n=120, wrong=10)[0]


@pytest.fixture
def found(scored: ui.Scores, monkeypatch: pytest.MonkeyPatch) -> Mislabeled:
    monkeypatch.setenv("COLUMNS", "80")
    return mislabeled(scored, noise_rate=0.1)


def test_an_answer_is_its_sentence_and_five_rows(found: Mislabeled) -> None:
    sentence, empty, head, *rows = repr(found).splitlines()
    assert (sentence, empty, head.split()[0]) == (found.sentence, "", "id")
    assert [row.split()[0] for row in rows[:5]] == found.frame()["id"].head().tolist()
    assert rows[-1] == "… 7 more rows in .frame()"


def test_an_answer_without_rows_is_its_sentence(scored: ui.Scores) -> None:
    assert repr(mislabeled(scored, noise_rate=0.0)) == "No label looks wrong."


def test_no_row_is_wider_than_the_terminal(found: Mislabeled) -> None:
    assert max(map(len, repr(found).splitlines()[2:])) <= 80


def test_ids_are_whole_however_long_they_are() -> None:
    name = "a-very-long-name" * 8
    assert name in as_text(pd.DataFrame({"id": [name], "label": ["cat"]}), 80)
