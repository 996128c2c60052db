"""One method on one training: ``python -m benchmarks.real_training.peer_child MODULE:FUNCTION NAME SEED NETWORKS OUT``.

In a process and an environment of its own. The function takes a `Case` and gives the effect of each training sample's
leaving on each validation sample's loss, up to a positive factor, (n, m); or on their mean alone, (n, 1). It is called
once on a handful of samples before, so that what a library loads when first used is in no one's time.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.real_training.case import Case, case

Method = Callable[[Case], Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", help="module:function")
    parser.add_argument("name", help="of the task")
    parser.add_argument("seed", type=int)
    parser.add_argument("networks", type=Path, help="where trained networks are kept")
    parser.add_argument("others", type=int, help="how many trainings from other seeds it needs")
    parser.add_argument("matrix", type=int, help="1: keep all effects too")
    parser.add_argument("out", type=Path, help="where report.json and scores.npz go")
    parser.add_argument("--seconds", type=int, required=True, help="of the processor, before it is stopped")
    parser.add_argument("--memory", type=int, required=True, help="bytes it may have")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    given = case(arguments.name, arguments.seed, arguments.networks, others=arguments.others)
    resource.setrlimit(resource.RLIMIT_DATA, (arguments.memory, arguments.memory))
    try:
        seconds, effects = _measured(arguments.method, given, arguments.seconds)
        found = summary(effects, len(given.X))
        if arguments.matrix:
            found["effects"] = effects.float().numpy()
        np.savez(arguments.out / "scores.npz", allow_pickle=False, seconds=np.array(seconds), **found)
        report: dict[str, Any] = {"seconds": seconds}
    except Exception as error:  # whatever a package raises is its result
        traceback.print_exc()
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
        report = {"error": f"{type(error).__name__}: {lines[0]}"[:200]}
    (arguments.out / "report.json").write_text(json.dumps(report) + "\n", encoding="utf-8")


def summary(effects: Tensor, samples: int) -> dict[str, Any]:
    """`value`: the mean effect on the validation loss. `amount`: the mean square, where there is more than the mean.

    >>> found = summary(torch.tensor([[1.0, 2.0], [0.0, -2.0]]), 2)
    >>> found["value"].tolist(), found["amount"].tolist()
    ([1.5, -1.0], [2.5, 2.0])
    """
    if effects.ndim != 2 or len(effects) != samples or not effects.isfinite().all():
        raise ValueError(f"effects of shape {tuple(effects.shape)}, {int((~effects.isfinite()).sum())} not finite")
    found = {"value": effects.mean(dim=1).numpy()}
    return found | ({"amount": effects.square().mean(dim=1).numpy()} if effects.shape[1] > 1 else {})


def _measured(name: str, given: Case, limit: int) -> tuple[float, Tensor]:
    """Processor seconds, and effects."""
    module, function = name.split(":")
    method: Method = getattr(import_module(module), function)
    with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):  # few samples may be too few
        method(given.few())
    started = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(started) + limit + 1, resource.RLIM_INFINITY))
    effects = method(given)
    return time.process_time() - started, effects


if __name__ == "__main__":
    main()
