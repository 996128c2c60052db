"""kill -9 at any moment: the same call goes on, and ends with the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scoring.killing import KINDS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[bool]]:
    """Of every kind of run, whether it ended with the same bytes, for each file it was killed at."""
    command = [sys.executable, "-m", "tests.scoring.killing", str(tmp_path_factory.mktemp("killed"))]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]).stdout
    found: dict[str, list[bool]] = json.loads(said)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_at_any_file_ends_with_the_same_bytes(kind: str, same: dict[str, list[bool]]) -> None:
    assert len(same[kind]) > 8  # record, sums or kernels, eigenvectors, parts, settings
    assert all(same[kind])
