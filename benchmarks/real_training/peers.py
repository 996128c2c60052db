"""Other packages on the same trainings, untuned: each package's defaults, in its own environment and process.

``python -m benchmarks.real_training.peers FOLDER --names sgd adamw --seeds 0 1 2`` computes what is not there yet.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.environments import python_of
from benchmarks.peers.running import Limits, run_child
from benchmarks.real_training.case import STORIES
from benchmarks.real_training.dattri_training import SETTINGS
from benchmarks.real_training.tasks import TASKS
from uniqueinfo.types import Floats

LIMITS = Limits(seconds=600, memory=12 << 30)
_WHOLE = (*SETTINGS, STORIES)
"""Where the effect on each validation sample is kept."""


@dataclass(frozen=True)
class Peer:
    """A method of a package; `function` takes a `Case`, in the environment of its package."""

    key: str
    package: str
    function: str
    title: str
    note: str
    others: int = 0
    """Trainings from other seeds that it needs."""

    @property
    def target(self) -> str:
        return f"benchmarks.real_training.by_{self.package}:{self.function}"


PEERS = {
    peer.key: peer
    for peer in (
        Peer(
            "influence-cg",
            "dattri",
            "conjugate_gradients",
            "influence functions, conjugate gradients (dattri)",
            "10 iterations; .01 added to the Hessian matrix as in its examples (.005 in that of its own benchmark); "
            "from a million weights on the mean validation loss alone",
        ),
        Peer(
            "trak-1",
            "dattri",
            "trak_1",
            "TRAK, one network (dattri)",
            "512 columns, or half as many as samples if these are fewer; slope of the loss to first order",
        ),
        Peer(
            "trak-10",
            "dattri",
            "trak_10",
            "TRAK, ten networks (dattri)",
            "as with one; ten seeds, whose training is not in its time",
            others=9,
        ),
        Peer("tracin", "captum", "tracin", "TracIn (captum)", "five checkpoints with the rates they had, all layers"),
        Peer(
            "ekfac",
            "kronfluence",
            "ekfac",
            "EK-FAC (kronfluence)",
            "damping by its heuristic; linear and convolutional layers",
        ),
    )
}


@dataclass(frozen=True, eq=False)
class Attributed:
    """What a method says of every training sample; or why it says nothing."""

    value: Floats | None = None
    """The mean effect of its leaving on the validation losses, up to a positive factor: positive is helpful."""
    amount: Floats | None = None
    """The mean square of these effects."""
    effects: Floats | None = None
    """(n, m), where they are kept."""
    seconds: float | None = None
    """Of the processor, without training."""
    error: str = ""


def attributed(peer: Peer, name: str, seed: int, folder: Path, limits: Limits = LIMITS) -> Attributed:
    """Computed and kept in the folder, or found there; environments and trained networks are kept there as well."""
    folder = folder.absolute()
    out = folder / f"{name}-{seed}" / peer.key
    if not (out / "report.json").is_file():
        python = python_of(peer.package, folder / "environments")
        given = [name, str(seed), str(folder / "networks"), str(peer.others), str(int(name in _WHOLE))]
        run_child("benchmarks.real_training.peer_child", [peer.target, *given], python, out, limits)
    return kept(peer, name, seed, folder)


def kept(peer: Peer, name: str, seed: int, folder: Path) -> Attributed:
    """What was computed before."""
    out = folder / f"{name}-{seed}" / peer.key
    if not (out / "report.json").is_file():
        return Attributed(error="not run")
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    if "error" in report:
        return Attributed(error=report["error"])
    with np.load(out / "scores.npz") as file:
        arrays = {key: file[key] for key in file.files if key != "seconds"}
    return Attributed(**arrays, seconds=report["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", nargs="+", choices=[*TASKS, *_WHOLE], default=list(TASKS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--minutes", type=int, default=LIMITS.seconds // 60, help="of the processor, for each")
    arguments = parser.parse_args()
    limits = Limits(seconds=60 * arguments.minutes, memory=LIMITS.memory)
    for name in arguments.names:
        for seed in arguments.seeds:
            for key in arguments.peers:
                found = attributed(PEERS[key], name, seed, arguments.folder, limits)
                told = found.error or f"{found.seconds:.1f} s"
                print(f"{name} {seed} {key}: {told}", flush=True)


if __name__ == "__main__":
    main()
