"""What makes a run another than others."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pandas as pd

from uniqueinfo.scoring.engine import Here, Session
from uniqueinfo.scoring.pieces import Piece, Sources, digest_of, shown, sizes
from uniqueinfo.scoring.problem import Problem
from uniqueinfo.spectrum.rows import slices

_SAID = ("notes", "run", "effort", "projection_why")  # about what was chosen, which is told elsewhere


def mark_of(problem: Problem, sources: Sources) -> str:
    """Tells the work of one problem from that of another left in the same folder."""
    return hashlib.sha256(json.dumps(identity_of(problem, Here(sources)), sort_keys=True).encode()).hexdigest()


def identity_of(problem: Problem, session: Session) -> dict[str, Any]:
    """What makes this run another than others: looks at every sample once."""
    found: dict[str, Any] = {
        "training": problem.training.settings(),
        "form": [problem.choice.form, problem.choice.side],
        "smoothing": None if problem.smoothing is None else problem.smoothing.settings(),
        "effects": problem.effects,
        "settings": {name: problem.settings[name] for name in problem.settings if name not in _SAID},
    }
    for name in problem.sources.names():
        source = problem.sources.named(name)
        each = 8 * source.per_sample * (source.width or source.samples)
        pieces = {number: Piece(name, part) for number, part in enumerate(slices(source.samples, each))}
        digests = dict(shown("Looking at every sample", session.map(digest_of, None, pieces), sizes(pieces)))
        sha = hashlib.sha256(" ".join(digests[number] for number in pieces).encode()).hexdigest()
        found[name] = {"samples": source.samples, "content": sha, **source.identity()}
    names = problem.names
    for own, table in (("ids", names.ids), ("columns", names.columns), ("validation_ids", names.validation)):
        if table is not None:
            values = pd.util.hash_pandas_object(pd.DataFrame(table), index=False).to_numpy()
            found[own] = hashlib.sha256(values.tobytes()).hexdigest()
    return found
