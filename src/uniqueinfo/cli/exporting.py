"""Tables a question leaves in a file of the user's choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from uniqueinfo.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def check_export(path: Path | None) -> None:
    """Refuse a place that cannot be written to before anything is computed."""
    if path is not None and ((path.exists() and not path.is_file()) or not path.parent.is_dir()):
        raise InputError(f"--export {path}: expected a file in a folder that is there; name one")


def export_table(run: Path | None, frame: pd.DataFrame, path: Path) -> list[str]:
    """Write a table of samples as CSV, with all columns of the run's own table if it is of these; what to say of it."""
    from uniqueinfo.runs.exporting import with_file, write_csv
    from uniqueinfo.runs.folder import Run

    whole, missing = (frame, "") if run is None else with_file(Run.find(run), frame)
    quoted = write_csv(whole, path)
    rows = "1 row" if len(whole) == 1 else f"{len(whole):,} rows"
    made = list(whole["decision"]) if "decision" in whole else []
    decided = ", ".join(f"{made.count(name):,} to {name}" for name in ("keep", "relabel", "check") if name in made)
    said = [f"Note: {missing}"] if missing else []
    if quoted:
        cells = "1 cell" if quoted == 1 else f"{quoted:,} cells"
        said.append(f"Note: {cells} that a spreadsheet would take for a formula are exported with ' before them")
    return [*said, f"Exported {rows} to {path}" + (f": {decided}." if decided else ".")]
