"""Scores and views of digits, made once for the tests that only look at them."""

from __future__ import annotations

import pytest

import uniqueinfo as ui
from tests.pages import examples
from uniqueinfo.pages import SampleViews


@pytest.fixture(scope="session")
def scored_digits() -> tuple[ui.Scores, SampleViews]:
    return examples.digits()


@pytest.fixture(scope="session")
def digit_scores(scored_digits: tuple[ui.Scores, SampleViews]) -> ui.Scores:
    return scored_digits[0]


@pytest.fixture(scope="session")
def digit_views(scored_digits: tuple[ui.Scores, SampleViews]) -> SampleViews:
    return scored_digits[1]
