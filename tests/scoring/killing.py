"""Runs that are killed: `python -m tests.scoring.killing FOLDER`.

At every file that a run writes it is killed once, as it is about to take its place or as soon as it has; then the same
call is made again. Prints, for each kind and file, whether it ended with the bytes of a run that was let alone. Forked
before anything has threads, so that torch is imported once.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import torch

import uniqueinfo as ui
from tests.scoring.problems import contents, features, images, network
from uniqueinfo.removal import stopping
from uniqueinfo.scoring import cut

IMPORTED = (
    "pyarrow.pandas_compat",
    "scipy.stats",
    "sympy",
    "uniqueinfo.jacobian.rules",
    "uniqueinfo.scores.stored",
    "uniqueinfo.scoring.arrays",
    "uniqueinfo.scoring.driver",
    "uniqueinfo.scoring.underway",
    "uniqueinfo.scoring.network",
)
KINDS = ("features", "rows", "kernels")


def run(kind: str, out: Path) -> None:
    cut._WHOLE = 32 * 1024
    stopping._STEPS = stopping._STEPS[::4]  # the automatic time need not be fine
    torch.set_num_threads(1)
    if kind == "features":
        (X, y), (X_val, y_val) = features(), features(40, seed=1)
        ui.score_features(X, y, X_val, y_val, training=ui.Converged(0.1), out=out)
        return
    train, val = images(40), images(20, seed=1)
    if kind == "rows":
        everything = ui.RandomCoordinates(10_000)
        ui.score(network(), train, val, training=ui.Converged(0.1), projection=everything, out=out, keep=True)
    else:  # more parameters than rows: exact kernels stand for them
        ui.score(network(hidden=40), train, val, out=out)


def in_a_child(kind: str, out: Path, moment: int = 0) -> bool:
    """Whether the run came to its end; at the given moment it is killed."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 (the child ends here)
    written, replace = count(1), Path.replace

    def counted(self: Path, target: Any) -> Path:
        now = next(written) == moment
        if now and moment % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        found = replace(self, target)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    Path.replace = counted  # type: ignore[method-assign, assignment]
    code = 1
    try:
        run(kind, out)
        code = 0
    finally:
        os._exit(code)


def same(kind: str, folder: Path) -> list[bool]:
    """For each file, whether the run that was killed at it ended with the bytes of one that was let alone."""
    assert in_a_child(kind, folder / "whole")
    wanted, found = contents(folder / "whole"), []
    for moment in count(1):
        out = folder / "killed"
        if in_a_child(kind, out, moment):
            break  # there are no more files than this
        found.append(in_a_child(kind, out) and contents(out) == wanted)
        shutil.rmtree(out)
    return found


def main(folder: Path) -> None:
    for name in IMPORTED:  # here, so that no child has to
        import_module(name)
    print(json.dumps({kind: same(kind, folder / kind) for kind in KINDS}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
