"""Runs that are only looked at, scored once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.review.runs_to_review import digit_folder, digit_table, scored


@pytest.fixture(scope="session")
def table_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("table")
    digit_table().to_csv(place / "digits.csv", index=False)
    return scored(place / "digits.csv", place / "run")


@pytest.fixture(scope="session")
def folder_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("folder")
    return scored(digit_folder(place / "digits"), place / "run")
