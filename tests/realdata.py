"""Real data for tests, from the folder UNIQUEINFO_DATA names (or ../shared/data beside the repository)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

FOLDER = Path(os.environ.get("UNIQUEINFO_DATA", Path(__file__).parents[2] / "shared" / "data"))


def path(name: str) -> Path:
    """Where one file lies; the test is skipped where it is not there."""
    if not (FOLDER / name).is_file():
        pytest.skip(f"{FOLDER / name} is not there: name the folder of the data with UNIQUEINFO_DATA")
    return FOLDER / name


def arrays(name: str) -> dict[str, NDArray[Any]]:
    """All arrays of one file."""
    with np.load(path(name)) as file:
        return dict(file)
