"""Wrong labels, people's own and planted: `make bench-labels` writes docs/labels.md.

    python -m benchmarks.labels --data DIR --out results/labels --page docs/labels.md   # goes on where it was stopped
    python -m benchmarks.labels --data DIR --out results/labels --only imdb --draws 0

Every method of a draw sees the same features and the same given labels. Settings of the method were fixed on EMNIST's
letters with planted mistakes, on which nothing here is judged; the page says so.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import torch

from benchmarks.data import FOLDER
from benchmarks.labels.measures import measured
from benchmarks.labels.mending import mended
from benchmarks.labels.methods import METHODS
from benchmarks.labels.page import write_page
from benchmarks.labels.problems import PROBLEMS, Draw, Problem

DRAWS = 5
REVIEWS = "reviews"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--out", type=Path, default=Path("results/labels"))
    parser.add_argument("--only", nargs="+", choices=list(PROBLEMS), default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", choices=[*METHODS, REVIEWS], default=[*METHODS, REVIEWS])
    parser.add_argument("--draws", nargs="+", type=int, default=list(range(DRAWS)))
    parser.add_argument("--page", type=Path, help="Write the page from all that was run.")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for number in options.draws:
        for name in options.only:
            run(name, PROBLEMS[name], number, options)
            if REVIEWS in options.methods:
                review(name, PROBLEMS[name], number, options)
    if options.page is not None:
        write_page(options.out, options.page)


def run(name: str, problem: Problem, number: int, options: argparse.Namespace) -> None:
    """What has not been run of one draw."""
    draw: Draw | None = None
    for method in (one for one in options.methods if one != REVIEWS):
        file = options.out / "found" / f"{name}-{number}-{method.replace(' ', '-')}.json"
        if file.is_file():
            continue
        draw = draw or problem.draw(number, options.data, options.out / "work")
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of peers that stop before they converge, by their own defaults
            found = METHODS[method](draw, number)
        seconds = time.process_time() - started
        result = {key: measured(one, draw.wrong) | {"seconds": seconds} for key, one in found.items()}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result) + "\n", encoding="utf-8")
        print(f"{name} {number} {method}: {seconds:.0f} s", flush=True)


def review(name: str, problem: Problem, number: int, options: argparse.Namespace) -> None:
    """What reviews of one draw mended, where they have not been held."""
    file = options.out / "mended" / f"{name}-{number}.json"
    if file.is_file():
        return
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = mended(problem.draw(number, options.data, options.out / "work"), number)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(f"{name} {number} {REVIEWS}: {time.process_time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
