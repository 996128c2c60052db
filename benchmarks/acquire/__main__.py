"""``python -m benchmarks.acquire --data DIR --out results/acquire --page docs/acquire.md`` buys labels and tells.

Seeds that were done lie in the folder `out`, and are not done again. ``--small`` takes UCI's digits and two seeds.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.acquire.buying import Plan, bought
from benchmarks.acquire.page import write_page
from benchmarks.acquire.tasks import Task, small_task, tasks
from uniqueinfo.progress import showing
from uniqueinfo.store.files import replacing

SMALL = Plan(seeds=2, pool=200, first=20, batch=10, rounds=2)


def measured(task: Task, plan: Plan, out: Path) -> list[dict[str, Any]]:
    """All seeds of a task."""
    found = []
    for seed in range(plan.seeds):
        file = out / f"{task.name.replace(' ', '-').replace(',', '')}-{seed}.json"
        asked = {"task": task.name, "seed": seed, **asdict(plan)}
        before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if before.get("asked") != asked:
            with showing(False):
                before = {"asked": asked, "accuracy": bought(task, plan, seed)}
            with replacing(file) as beside:
                beside.write_text(json.dumps(before) + "\n", encoding="utf-8")
        found.append(before["accuracy"])
        print(f"{task.name}, seed {seed}: done", flush=True)
    return found


def main() -> None:
    """Measure, and write the page."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.acquire")
    options.add_argument("--data", type=Path, default=os.environ.get("UNIQUEINFO_DATA"), help="folder of the data sets")
    options.add_argument("--out", type=Path, default=Path("results/acquire"), help="what was done lies here")
    options.add_argument("--page", type=Path, default=Path("docs/acquire.md"), help="the page to write")
    options.add_argument("--small", action="store_true", help="in a size for tests")
    given = options.parse_args()
    if given.data is None and not given.small:
        options.error("name the folder of the data sets with --data or UNIQUEINFO_DATA")
    given.out.mkdir(parents=True, exist_ok=True)
    plan = SMALL if given.small else Plan()
    pools = {"UCI digits": small_task()} if given.small else tasks(Path(given.data), given.out / "work")
    found = {name: measured(task, plan, given.out) for name, task in pools.items()}
    write_page({"plan": asdict(plan), "labels": plan.labels, "accuracy": found}, given.page)


if __name__ == "__main__":
    main()
