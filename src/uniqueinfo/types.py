"""Array types that every floor speaks of."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Numbers in double precision."""
Indices: TypeAlias = NDArray[np.intp]
"""Positions of samples."""
Index: TypeAlias = slice | NDArray[np.intp]
"""Some samples: a run of them, or their positions."""
Labels: TypeAlias = NDArray[Any] | None
"""Labels as the user gave them, (n,) or (n, columns); None where there are none."""
