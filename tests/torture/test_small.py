"""A small part of the torture: every case ends with the right answer, a refusal that helps, or a resumed run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import uniqueinfo as ui
from torture import calls, commands, flips, inputs, numerics
from torture.faces import NOT_CALLED, every_face
from torture.outcome import Ending, Outcome, Tally
from torture.page import written

SEED = 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attack", "cases"),
    [
        (inputs.attack, 30),
        (commands.attack, 15),
        (calls.attack, 300),
        (flips.attack, 25),
        (numerics.attack, 20),
    ],
)
def test_no_case_is_a_defect(attack: Callable[[int, int], Iterator[Outcome]], cases: int) -> None:
    wrong = [outcome for outcome in attack(SEED, cases) if outcome.ending is Ending.defect]
    assert not wrong, "\n".join(f"{outcome.case}: {outcome.told}" for outcome in wrong)


@pytest.mark.slow
def test_killed_runs_are_gone_on_with() -> None:
    command = [sys.executable, "-m", "torture", "--seeds", str(SEED), "--only", "crashes", "--to", "3"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(said) == 4
    assert all(": resumed" in line or ": right answer" in line for line in said)


def test_every_public_name_is_attacked(tmp_path: Path) -> None:
    names = {name for name in ui.__all__ if not name.startswith("_")}  # type: ignore[attr-defined]
    assert names - NOT_CALLED <= set(every_face(tmp_path))


def test_calls_that_are_attacked_are_fine_as_they_are(tmp_path: Path) -> None:
    for function, given in every_face(tmp_path).values():
        function(**given)


def test_the_oracle_knows_a_mean() -> None:
    # Two samples of one constant, 0 and 2, no decay: without the one, the other is all there is.
    np.testing.assert_allclose(numerics.oracle(np.ones((2, 1)), np.array([0.0, 2.0]), 0.0), [0.5, 0.5], rtol=1e-15)


def test_the_page_counts_and_names_defects() -> None:
    outcomes = [Outcome("a", Ending.right), Outcome("b", Ending.defect, "off by one")]
    page = written([Tally.of("inputs", 1, outcomes)])
    assert "| odd files and options on the command line | 2 | 1 | 0 | 0 | 1 |" in page
    assert "- b: off by one" in page
