"""Workers of a cluster that are killed at any moment: the scores are those of this process."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import numpy as np

import uniqueinfo as ui
from torture.calling import called
from torture.outcome import Outcome
from uniqueinfo.scoring import cut
from uniqueinfo.scoring.cluster import DaskEngine, local_client


def attack(seed: int, count: int) -> Iterator[Outcome]:
    """So many runs, in each of which one worker, or all, are killed after a while."""
    if not count:
        return
    cut._WHOLE = 16 * 1024
    data = np.random.default_rng(0)
    X, y = data.normal(size=(600, 10)), data.integers(0, 3, 600)
    wanted = ui.score_features(X, y, X[:30], training=ui.Converged(0.1), progress=False).weight
    for number in range(count):
        rng = np.random.default_rng([seed, number, 4])
        delay, everyone = float(rng.uniform(0, 0.5)), bool(rng.random() < 0.3)
        with local_client(2) as client:  # of its own: nothing of the last case is left
            client.wait_for_workers(2, timeout=120)
            victims = sorted(client.run(os.getpid).values())[: None if everyone else 1]
            killer = threading.Timer(delay, _kill, [victims])
            killer.start()
            engine = DaskEngine(client)
            yield called(
                f"workers {seed}/{number}: {'all' if everyone else 'one'} after {delay:.2f} s",
                partial(ui.score_features, X, y, X[:30], training=ui.Converged(0.1), progress=False, engine=engine),
                lambda found: "" if np.allclose(found.weight, wanted, rtol=1e-10) else "other scores",
            )
            killer.join()


def _kill(victims: list[int]) -> None:
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
