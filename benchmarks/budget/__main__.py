"""What a score costs: ``make bench-budget``.

    python -m benchmarks.budget                           # everything, about a quarter of an hour; goes on if stopped
    python -m benchmarks.budget --only busy --again       # a part anew, though it was measured before
    python -m benchmarks.budget --only page               # the page, from what was measured

Every figure is a ratio of two times of this run, each taken in a process of its own. Nothing else should be at work on
the machine: the page says whether anything was. Results go to `budget.json` in `--out`, measurement by measurement.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from benchmarks.budget.parts import PARTS, Record
from benchmarks.budget.table import tables, write_page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "page"], default=[*PARTS, "page"])
    parser.add_argument("--again", action="store_true", help="measure also what was measured before")
    parser.add_argument("--out", type=Path, default=Path("results/budget"))
    parser.add_argument("--page", type=Path, default=Path("docs/budget.md"))
    asked = parser.parse_args()
    parts = [name for name in asked.only if name != "page"]
    record = Record.open(asked.out / "budget.json", forget=parts if asked.again else [])
    for name in parts:
        PARTS[name](record)
    console = Console(width=150)
    for table in tables(record.found):
        console.print(table.rich())
    if "page" in asked.only:
        write_page(record.found, asked.page)


if __name__ == "__main__":
    main()
