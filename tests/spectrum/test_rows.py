"""Rows as users hand them over."""

from __future__ import annotations

import numpy as np
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.spectrum.rows import Rows


def test_a_pair_in_place_of_an_array_is_named() -> None:
    pair = (np.zeros((4, 3)), np.zeros(4))
    with pytest.raises(InputError, match=r"validation rows: expected an array .* without labels"):
        Rows.given("validation rows", pair, ("samples", "features"), None)
