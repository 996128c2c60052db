"""Scores of three samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from uniqueinfo.scores.table import HeldScores


@pytest.fixture
def scores() -> HeldScores:
    """With all that can be saved."""
    return HeldScores(
        weight=np.array([0.5, 2.0, 1.0]),
        loo_outputs=np.array([[0.1], [0.8], [0.4]]),
        outputs=np.array([[0.2], [0.9], [0.3]]),
        targets=np.array([[0.0], [1.0], [0.0]]),
        functional=np.array([0.1, 0.2, 0.3]),
        labels=np.array(["no", "yes", "no"]),
        ids=np.array(["a", "b", "c"]),
        columns=pd.DataFrame({"source": ["web", "web", "book"]}),
        settings={"training": {"name": "Converged", "weight_decay": 0.1}},
    )
