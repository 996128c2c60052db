"""Tables and values as JSON knows them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def digest(content: Any) -> str:
    """SHA-256 of plain values, however they are laid out in a file.

    >>> digest({"a": 1, "b": [2.5]}) == digest({"b": [2.5], "a": 1})
    True
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain Python values; NaN becomes None, what JSON does not know becomes text."""
    return [{str(name): plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def plain(value: Any) -> Any:
    """A value as JSON knows it.

    >>> import pandas as pd
    >>> plain(np.float64("nan")), plain({"n": np.int64(3)}), plain(np.array([1, 2])), plain(pd.Timestamp("2020-01-01"))
    (None, {'n': 3}, [1, 2], '2020-01-01 00:00:00')
    """
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool | int | float | str):
        return None if isinstance(value, float) and not np.isfinite(value) else value
    if value is None:
        return None
    import pandas as pd  # late: --help needs none of it

    return None if value is pd.NA or value is pd.NaT else str(value)
