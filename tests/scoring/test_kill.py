"""kill -9 at any moment: the same call goes on, and ends with the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["features", "rows", "kernels"])
def test_a_run_killed_at_any_file_ends_with_the_same_bytes(kind: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.scoring.killing", kind, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]).stdout
    same = json.loads(said)
    assert len(same) > 8  # record, sums or kernels, eigenvectors, parts, settings
    assert all(same)
