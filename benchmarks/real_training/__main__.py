"""Trainings people really run: do scores follow training again, under the loss and the optimizer really used?

    python -m benchmarks.real_training --out results/real_training      # hours on one core; goes on if stopped
    python -m benchmarks.real_training --only sgd adamw --seeds 0 1 2 --do truth ours peers together
    python -m benchmarks.real_training --do page --page docs/real-training.md      # the page, from what was run

Each task is trained by an ordinary loop of mini-batches (recorded by `ui.Recording`), and trained again without each of
40 samples: the same batches, in which the sample weighs nothing. Settings were fixed before results; what was changed
after is said on the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from benchmarks.real_training.dattri_ours import features_of, ours_of, plain_of
from benchmarks.real_training.dattri_protocol import truths
from benchmarks.real_training.dattri_training import SETTINGS, digits
from benchmarks.real_training.ours import WAYS, kept, scored
from benchmarks.real_training.page import write_page
from benchmarks.real_training.peers import PEERS, attributed
from benchmarks.real_training.tasks import TASKS
from benchmarks.real_training.together import SHARES, together
from benchmarks.real_training.truth import LEFT_OUT, spread, truth

_TOGETHER = ("diabetes", "sgd")


def _truth(out: Path, name: str, seed: int, options: argparse.Namespace) -> None:
    task = TASKS[name]()
    truth(task, seed, spread(len(task.X), LEFT_OUT), out / "truth" / f"{name}-{seed}")


def _ours(out: Path, name: str, seed: int, options: argparse.Namespace) -> None:
    task = TASKS[name]()
    for way in options.ways:
        kept(out / "ours" / f"{name}-{seed}-{way}.npz", partial(scored, task, seed, way))


def _peers(out: Path, name: str, seed: int, options: argparse.Namespace) -> None:
    for peer in PEERS.values():
        attributed(peer, name, seed, out / "peers")


def _together(out: Path, name: str, seed: int, options: argparse.Namespace) -> None:
    if name in _TOGETHER:
        task = TASKS[name]()
        for share in SHARES:
            kept(out / "together" / f"{name}-{seed}-{share}.npz", partial(together, task, seed, share))


_DO: dict[str, Callable[[Path, str, int, argparse.Namespace], None]] = {
    "truth": _truth,
    "ours": _ours,
    "peers": _peers,
    "together": _together,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*TASKS, *SETTINGS], default=[*TASKS, *SETTINGS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--do", nargs="+", choices=[*_DO, "page"], default=[*_DO, "page"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--out", type=Path, default=Path("results/real_training"))
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.only:
        for what in options.do:
            if what == "page":
                continue
            if name in SETTINGS:
                _dattri(options.out, name, what)
                continue
            for seed in options.seeds:
                _DO[what](options.out, name, seed, options)
                print(f"{name} {seed} {what}", flush=True)
    if options.page is not None:
        write_page(options.out, options.page)


def _dattri(out: Path, name: str, what: str) -> None:
    """The benchmark of dattri has truths and seeds of its own."""
    if what == "truth":
        truths(SETTINGS[name], digits(), out / "dattri" / name)
    elif what == "ours":
        found = truths(SETTINGS[name], digits(), out / "dattri" / name)
        kept(out / "ours" / f"{name}.npz", partial(ours_of, SETTINGS[name], digits(), found))
        kept(out / "ours" / f"{name}-features.npz", partial(features_of, SETTINGS[name], digits(), found))
        kept(out / "ours" / f"{name}-plain.npz", partial(plain_of, digits(), found))
    elif what == "peers":
        for peer in PEERS.values():
            attributed(peer, name, 0, out / "peers")
    print(f"{name} {what}", flush=True)


if __name__ == "__main__":
    main()
