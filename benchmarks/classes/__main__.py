"""What the number of classes costs, and what is lost by paying less: ``python -m benchmarks.classes``.

    python -m benchmarks.classes                                  # everything; goes on if stopped
    python -m benchmarks.classes --only digits --samples 1500     # with exact scores: forty processor-minutes, 9 GB
    python -m benchmarks.classes --only page                      # the page, from what was measured

Seconds are those of the processor, with one thread. Results go to `classes.json` in `--out`, one by one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from benchmarks.budget.parts import Record
from benchmarks.classes.page import tables, write_page
from benchmarks.classes.ways import PARTS, Asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "page"], default=[*PARTS, "page"])
    parser.add_argument("--samples", type=int, default=500, help="digits to train on; exact scores take their cube")
    parser.add_argument("--not-exact", action="store_true", help="measure times, not agreement with exact scores")
    parser.add_argument("--out", type=Path, default=Path("results/classes"))
    parser.add_argument("--page", type=Path, default=Path("docs/classes.md"))
    given = parser.parse_args()
    record = Record.open(given.out / "classes.json")
    for name in given.only:
        if name != "page":
            PARTS[name](record, Asked(given.samples, given.out, exact=not given.not_exact))
    console = Console(width=140)
    for table in tables(record.found):
        console.print(table.rich())
    if "page" in given.only:
        write_page(record.found, given.page)


if __name__ == "__main__":
    main()
