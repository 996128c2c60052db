"""Scores held in memory → a folder that reads like a finished run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uniqueinfo.store.folder import OwnedFolder

KIND, RECORD, TABLE, HELD_OUT = "run", "run.json", "scores.parquet", "held_out.parquet"
_BY_HAND = {"made": "by scores.save"}


def save_table(path: Path, content: bytes, settings: Mapping[str, Any], held_out: bytes | None = None) -> Path:
    """A table in Parquet with its settings, and one of samples that were held out, over others saved there before.

    Tables have names of their own, and run.json says which they are: whenever this stops, the old or the new is whole.
    """
    folder = OwnedFolder.open(path, KIND, _BY_HAND, record=RECORD)
    parts = _written(folder, TABLE, content)
    others = {} if held_out is None else _written(folder, HELD_OUT, held_out)
    folder.note({"settings": dict(settings), "parts": parts, "held_out": others})
    for other in (*(path / TABLE).glob("*.parquet"), *(path / HELD_OUT).glob("*.parquet")):
        if f"{other.parent.name}/{other.name}" not in (*parts, *others):
            other.unlink()
    return path


def _written(folder: OwnedFolder, home: str, content: bytes) -> dict[str, str]:
    """The name of the file, and its checksum."""
    digest = hashlib.sha256(content).hexdigest()
    name = f"{home}/saved-{digest[:16]}.parquet"
    folder.write_bytes(name, content)
    return {name: digest}
