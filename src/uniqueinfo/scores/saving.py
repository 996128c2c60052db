"""Scores held in memory → a folder that reads like a finished run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uniqueinfo.store.folder import OwnedFolder

KIND, RECORD, TABLE = "run", "run.json", "scores.parquet"
_BY_HAND = {"made": "by scores.save"}


def save_table(path: Path, content: bytes, settings: Mapping[str, Any]) -> Path:
    """A table in Parquet with its settings, over others saved there before.

    The table has a name of its own, and run.json says which it is: whenever this stops, one of the two is whole.
    """
    folder = OwnedFolder.open(path, KIND, _BY_HAND, record=RECORD)
    digest = hashlib.sha256(content).hexdigest()
    name = f"{TABLE}/saved-{digest[:16]}.parquet"
    folder.write_bytes(name, content)
    folder.note({"settings": dict(settings), "parts": {name: digest}})
    for other in (path / TABLE).glob("*.parquet"):
        if other.name != Path(name).name:
            other.unlink()
    return path
