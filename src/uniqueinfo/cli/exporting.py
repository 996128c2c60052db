"""Tables a question leaves in a file of the user's choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from uniqueinfo.errors import InputError
from uniqueinfo.store.files import replacing

if TYPE_CHECKING:
    import pandas as pd


def check_export(path: Path | None) -> None:
    """Refuse a place that cannot be written to before anything is computed."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise InputError(f"--export {path}: expected a file in a folder that is there")


def export_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV."""
    with replacing(path) as beside:
        frame.to_csv(beside, index=False)
