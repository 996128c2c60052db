"""All stories in one table."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.newcomers import hugging_face, own_loop, photos, reviews, sklearn_data, untrained, vendors
from benchmarks.newcomers.story import Failed, NotHere, Setting, Skipped, Story, Told

STORIES = tuple(each.STORY for each in (photos, untrained, sklearn_data, reviews, vendors, own_loop, hugging_face))


def tell(story: Story, setting: Setting) -> Iterator[Told | Skipped]:
    """A story in a folder of its own; one that cannot be told says why."""
    work = setting.work / story.name
    work.mkdir(parents=True)
    try:
        yield from story.tell(replace(setting, work=work))
    except NotHere as why:
        yield Skipped(story.name, str(why))
    except Failed as failed:
        yield Told(story.name, 0, 0.0, missed=(str(failed),))


def table_of(told: Sequence[Told | Skipped]) -> Table:
    """One row for each."""
    columns = ("story", "works", "commands", "seconds", "planted found", "right accused", "withheld", "figures")
    table = Table(*columns, title="What a newcomer gets", title_justify="left")
    for each in told:
        if isinstance(each, Skipped):
            table.add_row(each.story, "skipped", "", "", "", "", "", each.why)
            continue
        works = "yes" if not each.missed else f"NO: {'; '.join(each.missed)}"
        found = "" if each.planted is None else f"{each.found} of {each.planted}"
        accused = "" if each.accused is None else str(each.accused)
        withheld = "" if each.withheld is None else "yes" if each.withheld else "no"
        table.add_row(
            each.story, works, str(each.commands), f"{each.seconds:.1f}", found, accused, withheld, each.figures
        )
    return table


def main() -> None:
    """Print the table; the exit code says whether all targets were met."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.newcomers")
    options.add_argument("--data", type=Path, default=os.environ.get("UNIQUEINFO_DATA"), help="folder of the data sets")
    options.add_argument("--small", action="store_true", help="in a size for tests")
    options.add_argument("--only", choices=[story.name for story in STORIES], help="one story alone")
    given = options.parse_args()
    if given.data is not None:
        os.environ["UNIQUEINFO_DATA"] = str(given.data)  # where commands look for networks
    with tempfile.TemporaryDirectory(prefix="newcomers-") as work:
        setting = Setting(None if given.data is None else Path(given.data), Path(work), given.small)
        told = [one for story in STORIES if given.only in (None, story.name) for one in tell(story, setting)]
    Console(width=170).print(table_of(told))
    raise SystemExit(any(isinstance(one, Told) and one.missed for one in told))


if __name__ == "__main__":
    main()
