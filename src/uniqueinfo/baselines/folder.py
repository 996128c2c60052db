"""Where retrainings are kept, so that a stopped run is gone on with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.store.files import replacing

_SETTINGS = "retraining.json"


class Folder:
    """Finished copies on disk, each file whole or not there; refused to another run."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / _SETTINGS
        if path.is_file():
            before = json.loads(path.read_text(encoding="utf-8"))
            other = [name for name in settings if before.get(name) != settings[name]]
            if other:
                raise InputError(f"folder {folder}: holds retrainings with another {other[0]}; name another folder")
            return
        if any(folder.iterdir()):
            raise InputError(f"folder {folder}: holds other things and no retrainings; name a new or empty folder")
        with replacing(path) as beside:
            beside.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")

    def read(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Arrays written before, if they were."""
        path = self._folder / f"{name}.npz"
        if not path.is_file():
            return None
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)

    def write(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays under a name."""
        with replacing(self._folder / f"{name}.npz") as beside, beside.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
