"""Comparison of arrays that may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np


def close(found: Any, wanted: Any, *, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Both are there, and equal to the tolerance."""
    assert found is not None
    assert wanted is not None
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol)
