"""How long a decision of a review takes: every other sample is scored anew, and the queue ordered. Processor seconds.

python -m benchmarks.review
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import uniqueinfo as ui
from uniqueinfo.review.decisions import Ledger
from uniqueinfo.review.session import Session
from uniqueinfo.review.suspects import to_look_at

SAMPLES, FEATURES, CLASSES, WRONG, EACH = 10_000, 512, 10, 900, 10


def main() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, CLASSES, SAMPLES)
    X = 0.12 * rng.normal(size=(CLASSES, FEATURES))[truth] + rng.normal(size=(SAMPLES, FEATURES))
    labels = truth.copy()
    labels[:WRONG] = rng.integers(0, CLASSES, WRONG)
    scores = ui.score_features(X, labels)
    with tempfile.TemporaryDirectory() as place:
        started = time.process_time()
        session = Session(scores, Ledger(Path(place) / "decisions.jsonl"), to_look_at)
        print(f"{SAMPLES:,} samples, {FEATURES} features, {CLASSES} classes: opened in {_since(started):.2f} s")
        for kind in ("relabel", "drop", "keep", "undo"):
            print(f"{kind:>8}: {max(_once(session, kind) for _ in range(EACH)):.3f} s at most, of {EACH}")


def _once(session: Session, kind: str) -> float:
    sample = session.card("bench")["sample"]
    started = time.process_time()
    if kind == "undo":
        session.undo("bench")
    else:
        session.decide("bench", sample["id"], kind, sample["suggested"] if kind == "relabel" else None)
    return _since(started)


def _since(started: float) -> float:
    return time.process_time() - started


if __name__ == "__main__":
    main()
