"""One cell of Table 1: scores by each method, and the truth; each finished piece is kept and not done again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.baselines.descent import Descent
from uniqueinfo.baselines.influence import ConjugateGradients, Kind, LiSSA, Solver, influence
from uniqueinfo.baselines.retraining import retrain
from uniqueinfo.errors import InputError
from uniqueinfo.experiments.kept import Arrays, kept_arrays, place
from uniqueinfo.experiments.runner import Request
from uniqueinfo.experiments.table1_problems import Column, Problem
from uniqueinfo.experiments.table1_recorded_scores import recorded_scores
from uniqueinfo.experiments.table1_rounding import apart_by_rounding
from uniqueinfo.linearization.network import linearize
from uniqueinfo.progress import progress as bar
from uniqueinfo.types import Floats

MEASURES = ("weights", "predictions")
METHODS = ("linearization", "both ends", "influence")
"""How samples are scored, unless other methods are asked for; there is "recorded" too."""
_DAMPING = 0.01
"""LiSSA's damping where there is no weight decay."""
_AT_ONCE = 10
"""Samples whose influence is computed, and kept, together."""
_ASTRAY, _FORETOLD = 0.1, 3.0
"""A training without a sample went wrong if it ends further off than this share of the way training goes (squared), and
than so many times what both ends foretell: of few samples one may well matter so much."""
_TIMED = 3
"""Samples on which conjugate gradients are timed."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One network with one weight decay: truth and scores of the left-out samples."""

    column: Column
    decay: bool
    samples: NDArray[np.intp]
    truth: dict[str, Floats]
    scores: Mapping[str, Mapping[str, Floats]]
    """By method and measure; influence functions may have those of the first samples alone."""
    seconds: dict[str, float]
    """Processor time for all n samples, by what was done; extrapolated where it was done for fewer."""
    facts: dict[str, Any]

    def pair(self, measure: str, method: str) -> tuple[Floats, Floats]:
        """Scores and truth of the samples that have both."""
        scores = self.scores[method][measure]
        return scores, self.truth[measure][: len(scores)]


def compute(
    column: Column,
    decay: bool,
    request: Request,
    methods: Sequence[str] = METHODS,
    *,
    asides: bool = True,
    rounding: bool = False,
) -> Cell:
    """All of it, or what is not done yet.

    `asides`: conjugate gradients are timed, and the paper's own steps taken. `rounding`: how far it alone moves the
    network is found out.
    """
    effort, training = column.effort[request.scale], column.training(request.scale, decay)
    problem = column.make(request, effort.samples)
    n = len(problem.train[1])
    chosen = np.random.default_rng(request.seed).permutation(n)[: effort.left_out].astype(np.intp)
    asked = {"seed": request.seed, "data": problem.data, "training": training.settings(), "batch": effort.batch}
    kept = _Kept(request.work, f"table1-{request.scale}-{column.key}{decay:d}", asked)

    def linear(trained: nn.Module | None = None) -> Arrays:
        started = time.process_time()
        lin = linearize(problem.network, problem.train, problem.val, trained=trained, projection=None, device=_device())
        found = lin.train(column.scored(request.scale, decay)).leave_out().measures(lin.validation)
        taken = time.process_time() - started
        return _found(found.weight, found.functional, taken) | {"largest": np.array([lin.system.largest / n])}

    scores = kept.once("linearization", linear)
    truth = retrain(
        problem.network,
        problem.train,
        problem.val,
        training=training,
        samples=chosen.tolist(),
        batch_size=effort.batch,
        seed=request.seed,
        folder=place(request.work, f"{kept.cell}-retrained-{request.seed}"),
        device=_device(),
    )
    trained = deepcopy(problem.network)
    trained.load_state_dict({name: torch.from_numpy(w) for name, w in truth.trained.items()}, strict=False)
    ends = kept.once("ends", partial(linear, trained))
    lissa = LiSSA(
        recursions=column.recursions,
        scale=effort.scale,
        damping=0.0 if decay else _DAMPING,
        batch_size=effort.lissa_batch,
        seed=request.seed,
    )

    def influenced(part: NDArray[np.intp], solver: Solver, curvature: Kind = "hessian") -> Arrays:
        started = time.process_time()
        found = influence(
            trained,
            problem.train,
            problem.val,
            weight_decay=training.weight_decay,
            solver=solver,
            curvature=curvature,
            samples=part.tolist(),
        )
        return _found(found.weight, found.functional, time.process_time() - started)

    found = {"linearization": _of(scores, chosen), "both ends": _of(ends, chosen)}
    seconds = {
        "retraining": truth.seconds / (len(chosen) + 1) * n,
        "linearization": scores["seconds"].item(),
        "ends": ends["seconds"].item(),
    }
    if "recorded" in methods:
        along = partial(recorded_scores, problem, training, chosen, _device())
        recorded = kept.once("recorded", along, samples=chosen.tolist())
        found["recorded"] = _of(recorded)
        seconds["recorded"] = recorded["seconds"].item() / len(chosen) * n
    if "influence" in methods:
        parts = [chosen[: effort.influenced][at : at + _AT_ONCE] for at in range(0, effort.influenced, _AT_ONCE)]
        with bar(f"Influence, {column.title}", len(parts), unit="parts") as advance:
            pieces = []
            for part in parts:
                solve = partial(influenced, part, lissa)
                pieces.append(kept.once("influence", solve, solver=asdict(lissa), samples=part.tolist()))
                advance(1)
        found["influence"] = _of({name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]})
        seconds["lissa"] = sum(piece["seconds"].item() for piece in pieces) / effort.influenced * n
    facts: dict[str, Any] = {}
    if asides:
        gradients = ConjugateGradients(0.0 if decay else _DAMPING * effort.scale, tolerance=1e-3)
        timed = kept.once("gradients", lambda: influenced(chosen[:_TIMED], gradients, "gauss-newton"))
        seconds["gradients"] = timed["seconds"].item() / _TIMED * n
        if column.own(decay) != training:
            took = kept.once("paper", lambda: {"away": _from_paper(column, decay, problem, truth.outputs)})
            facts["from_paper"] = None if np.isnan(took["away"].item()) else took["away"].item()
    if rounding:
        twice = partial(apart_by_rounding, problem, training, request.seed, _device())
        apart = kept.once("rounding", twice)
        facts["rounding"] = {measure: apart[measure].item() for measure in MEASURES}
    way = sum(float((w - start).double().square().sum()) for w, start in _moved(problem, truth.trained)) / 2
    far = np.maximum(_ASTRAY * way, _FORETOLD * found["both ends"]["weights"])
    return Cell(
        column=column,
        decay=decay,
        samples=chosen,
        truth={"weights": truth.weight, "predictions": np.asarray(truth.functional)},
        scores=found,
        seconds=seconds,
        facts=facts
        | asked
        | {"samples": n, "curvature": scores["largest"].item(), "astray": int((truth.weight > far).sum())},
    )


def _of(found: Arrays, samples: NDArray[np.intp] | slice = slice(None)) -> dict[str, Floats]:
    """Both measures, of some samples."""
    return {name: found[name][samples] for name in MEASURES}


def _found(weights: Floats, predictions: Floats | None, seconds: float) -> Arrays:
    """Both measures and the time they took, to be kept."""
    assert predictions is not None  # there are validation samples
    return {"weights": weights, "predictions": predictions, "seconds": np.array([seconds])}


def _moved(problem: Problem, trained: Mapping[str, NDArray[Any]]) -> Iterator[tuple[Tensor, Tensor]]:
    """Every parameter after training, and before."""
    start = dict(problem.network.named_parameters())
    return ((torch.from_numpy(w), start[name].detach()) for name, w in trained.items())


def _from_paper(column: Column, decay: bool, problem: Problem, reached: Floats | None) -> Floats:
    """How far outputs end from those of the paper's own steps, as a share of the way these go; NaN if they diverge."""
    own = column.own(decay)
    X, y = problem.train
    descent = Descent(problem.network, X, y[:, None].float(), training=own)
    start = descent.outputs({name: w[None] for name, w in descent.start.items()}, problem.val[0])[0].numpy()
    try:
        with bar(f"The paper's steps, {column.title}", own.steps, unit="steps") as advance:
            weights = descent.train([[]], lambda step, weights: advance(1))
    except InputError:
        return np.array([np.nan])
    there = descent.outputs(weights, problem.val[0])[0].numpy()
    return np.array([np.linalg.norm(reached - there) / np.linalg.norm(there - start)])


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


@dataclass(frozen=True)
class _Kept:
    """What is kept of one cell: by the cell's name, and by all that was asked."""

    work: Path | None
    cell: str
    asked: Mapping[str, Any]

    def once(self, name: str, compute: Callable[[], Arrays], **further: Any) -> Arrays:
        """What this gives; from the work folder if it is there."""
        told = json.dumps({**self.asked, **further}, sort_keys=True).encode()
        return kept_arrays(self.work, f"{self.cell}-{name}", told, compute)
