"""What takes long to compute, kept in the work folder so that a stopped run goes on.

All experiments share the work folder. What is kept there is known by a name and by all that it depends on; a damaged
file is as good as none, and is computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uniqueinfo.store.folder import OwnedFolder

Number = TypeVar("Number", bound=np.generic)
Arrays = dict[str, NDArray[Any]]

_KIND = "experiment work"


def kept(work: Path | None, name: str, told: bytes, compute: Callable[[], NDArray[Number]]) -> NDArray[Number]:
    """What `compute` gives, from the folder where it lies there; `told` is all that it depends on.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> kept(folder, "squares", b"3", lambda: np.arange(3) ** 2)
    array([0, 1, 4])
    >>> kept(folder, "squares", b"3", lambda: np.zeros(3))
    array([0, 1, 4])
    """
    return kept_arrays(work, name, told, lambda: {"array": compute()})["array"]


def kept_arrays(work: Path | None, name: str, told: bytes, compute: Callable[[], Arrays]) -> Arrays:
    """As `kept`, for several arrays at once; single numbers come back as arrays of one."""
    if work is None:
        return compute()
    folder, mark = work_folder(work), sha256(told).hexdigest()
    file = f"{name}-{mark[:16]}"
    found = folder.read_arrays(file, of=mark)
    if found is None:
        found = compute()
        folder.write_arrays(file, found, of=mark)
    return found


def kept_table(work: Path | None, name: str, told: bytes, compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """As `kept`, for a table of numbers and texts, without its index.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> made = kept_table(folder, "table", b"", lambda: pd.DataFrame({"name": ["a"], "size": [0.1]}))
    >>> kept_table(folder, "table", b"", pd.DataFrame).equals(made)
    True
    """
    text = kept(work, name, told, lambda: np.frombuffer(compute().to_csv(index=False).encode(), np.uint8))
    return pd.read_csv(StringIO(text.tobytes().decode()))


def place(work: Path | None, name: str) -> Path | None:
    """A folder in the work folder, for what keeps its own files; None where nothing is kept.

    >>> import tempfile
    >>> place(Path(tempfile.mkdtemp()), "rows").name
    'rows'
    """
    return None if work is None else work_folder(work).path / name


def work_folder(work: Path) -> OwnedFolder:
    """The work folder; opening it clears what others may be writing just now, so only a new one is opened."""
    known = OwnedFolder(work, _KIND)
    return known if known.owner() is not None else OwnedFolder.open(work, _KIND, {})
