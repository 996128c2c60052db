"""``python -m torture``: run the attacks, seed by seed; what is done is kept, and gone on with."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from torture import calls, commands, crashes, flips, inputs, numerics, workers
from torture.outcome import Ending, Outcome, Tally
from torture.page import written

ATTACKS: dict[str, tuple[Callable[[int, int], Iterator[Outcome]], int]] = {
    "crashes": (crashes.attack, 500),  # first: children are forked before anything has threads
    "inputs": (inputs.attack, 700),
    "commands": (commands.attack, 300),
    "calls": (calls.attack, 600),
    "flips": (flips.attack, 500),
    "numerics": (numerics.attack, 300),
    "workers": (workers.attack, 10),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the nightly size")
    parser.add_argument("--only", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first case")
    parser.add_argument("--to", dest="last", type=int, help="the last case; prints each and keeps nothing")
    parser.add_argument("--out", type=Path, default=Path("results/torture"), help="where counts are kept")
    parser.add_argument("--page", type=Path, help="the page to write from all that is kept")
    given = parser.parse_args()
    for seed in given.seeds:
        for name in given.only:
            attack, nightly = ATTACKS[name]
            if given.last is not None:
                for outcome in islice(attack(seed, given.last + 1), given.first, None):
                    print(f"{outcome.case}: {outcome.ending} {outcome.told}")
                continue
            _kept(given.out / f"{name}-{seed}.json", name, seed, attack, round(given.share * nightly))
    tallies = [Tally.from_json(json.loads(path.read_text())) for path in sorted(given.out.glob("*.json"))]
    if given.page is not None:
        given.page.write_text(written(tallies), encoding="utf-8")
    if given.last is None and any(tally.defects for tally in tallies):
        sys.exit(1)


def _kept(path: Path, name: str, seed: int, attack: Callable[[int, int], Iterator[Outcome]], count: int) -> None:
    """Run an attack unless that has been done with as many cases."""
    if path.is_file() and sum(json.loads(path.read_text())["counts"].values()) >= count:
        return
    started, outcomes = time.monotonic(), []
    for outcome in attack(seed, count):
        outcomes.append(outcome)
        if outcome.ending is Ending.defect:
            print(f"{outcome.case}: {outcome.told}", flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(Tally.of(name, seed, outcomes)), indent=2) + "\n", encoding="utf-8")
    print(f"{name}, seed {seed}: {len(outcomes):,} cases in {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
