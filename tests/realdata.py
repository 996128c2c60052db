"""Real data for tests, from the folder UNIQUEINFO_DATA names (or ../shared/data beside the repository)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

FOLDER = Path(os.environ.get("UNIQUEINFO_DATA", Path(__file__).parents[2] / "shared" / "data"))


def arrays(name: str) -> dict[str, NDArray[Any]]:
    """All arrays of one file; the test is skipped where the file is not there."""
    path = FOLDER / name
    if not path.is_file():
        pytest.skip(f"{path} is not there: name the folder of the data with UNIQUEINFO_DATA")
    with np.load(path) as file:
        return dict(file)
