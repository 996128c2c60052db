"""One cell of Table 1: scores by both methods, and the truth; each finished piece is kept and not done again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
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
from uniqueinfo.baselines.influence import ConjugateGradients, LiSSA, Solver, influence
from uniqueinfo.baselines.retraining import retrain
from uniqueinfo.errors import InputError
from uniqueinfo.experiments.runner import Request
from uniqueinfo.experiments.table1_problems import Column, Problem
from uniqueinfo.progress import progress as bar
from uniqueinfo.scoring.network import linearize
from uniqueinfo.store.files import replacing
from uniqueinfo.store.plain import plain
from uniqueinfo.types import Floats

_DAMPING = 0.01
"""LiSSA's, where there is no decay."""
_AT_ONCE = 10  # samples whose influence is computed together
_ASTRAY = 0.1  # of the way a training goes: no single sample changes its end by so much
_TIMED = 3  # samples conjugate gradients are timed on


@dataclass(frozen=True, eq=False)
class Cell:
    """One network with one weight decay: truth and scores of the left-out samples."""

    column: Column
    decay: bool
    samples: NDArray[np.intp]
    truth: dict[str, Floats]
    linearization: dict[str, Floats]
    ends: dict[str, Floats]
    """The same with gradients of the trained network too."""
    influence: dict[str, Floats]
    """Of the first of the samples only, where there are fewer."""
    seconds: dict[str, float]
    """Processor time for all n: retraining, linearization, ends, and from those done lissa and gradients."""
    facts: dict[str, Any]

    def pair(self, measure: str, method: str) -> tuple[Floats, Floats]:
        """Scores and truth of the samples that have both."""
        scores = {"linearization": self.linearization, "both ends": self.ends, "influence": self.influence}[method][
            measure
        ]
        return scores, self.truth[measure][: len(scores)]


def compute(column: Column, decay: bool, request: Request) -> Cell:
    """All of it, or what is not done yet."""
    kept = _Kept(None if request.work is None else request.work / "table1" / request.scale / f"{column.key}{decay:d}")
    effort, training = column.effort[request.scale], column.training(request.scale, decay)
    problem = column.make(request, effort.samples)
    n = len(problem.train[1])
    chosen = np.random.default_rng(request.seed).permutation(n)[: effort.left_out].astype(np.intp)
    asked = {"seed": request.seed, "data": problem.data, "training": asdict(training), "batch": effort.batch}

    def linear(trained: nn.Module | None = None) -> dict[str, Any]:
        started = time.process_time()
        lin = linearize(problem.network, problem.train, problem.val, trained=trained, projection=None, device=_device())
        found = lin.train(column.scored(request.scale, decay)).leave_out().measures(lin.validation)
        taken = time.process_time() - started
        return {"weights": found.weight, "predictions": found.functional, "seconds": taken} | {
            "largest": lin.system.largest / n
        }

    scores = kept.once("linearization", asked, linear)
    truth = retrain(
        problem.network,
        problem.train,
        problem.val,
        training=training,
        samples=chosen.tolist(),
        batch_size=effort.batch,
        seed=request.seed,
        folder=kept.place("retrained"),
        device=_device(),
    )
    trained = deepcopy(problem.network)
    trained.load_state_dict({name: torch.from_numpy(w) for name, w in truth.trained.items()}, strict=False)
    ends = kept.once("ends", asked, partial(linear, trained))
    lissa = LiSSA(column.recursions, effort.scale, 0.0 if decay else _DAMPING, effort.lissa_batch, request.seed)

    def influenced(part: NDArray[np.intp], solver: Solver, curvature: Any = "hessian") -> dict[str, Any]:
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
        return {
            "weights": found.weight,
            "predictions": found.functional,
            "seconds": time.process_time() - started,
        }

    parts = [chosen[: effort.influenced][at : at + _AT_ONCE] for at in range(0, effort.influenced, _AT_ONCE)]
    with bar(f"Influence, {column.title}", len(parts), unit="parts") as advance:
        pieces = []
        for number, part in enumerate(parts):
            solved = asked | {"solver": asdict(lissa), "samples": part.tolist()}
            pieces.append(kept.once(f"influence-{number}", solved, partial(influenced, part, lissa)))
            advance(1)
    gradients = ConjugateGradients(0.0 if decay else _DAMPING * effort.scale, tolerance=1e-3)
    timed = kept.once("gradients", asked, lambda: influenced(chosen[:_TIMED], gradients, "gauss-newton"))
    ours = kept.once("paper", asked, lambda: _from_paper(column, decay, request, problem, truth.outputs))
    measures = ("weights", "predictions")
    way = sum(float((w - start).double().square().sum()) for w, start in _moved(problem, truth.trained)) / 2
    return Cell(
        column,
        decay,
        chosen,
        {"weights": truth.weight, "predictions": np.asarray(truth.functional)},
        {name: np.asarray(scores[name])[chosen] for name in measures},
        {name: np.asarray(ends[name])[chosen] for name in measures},
        {name: np.concatenate([piece[name] for piece in pieces]) for name in measures},
        {
            "retraining": truth.seconds / (len(chosen) + 1) * n,
            "linearization": float(scores["seconds"]),
            "ends": float(ends["seconds"]),
            "lissa": sum(piece["seconds"] for piece in pieces) / effort.influenced * n,
            "gradients": float(timed["seconds"]) / _TIMED * n,
        },
        ours
        | asked
        | {"samples": n, "curvature": float(scores["largest"]), "astray": int((truth.weight > _ASTRAY * way).sum())},
    )


def _moved(problem: Problem, trained: Mapping[str, NDArray[Any]]) -> Iterator[tuple[Tensor, Tensor]]:
    """Every parameter after training, and before."""
    start = dict(problem.network.named_parameters())
    return ((torch.from_numpy(w), start[name].detach()) for name, w in trained.items())


def _from_paper(
    column: Column, decay: bool, request: Request, problem: Problem, reached: Floats | None
) -> dict[str, Any]:
    """How far the outputs end from those of the paper's own steps, of the way these go."""
    own = column.own(decay)
    if own == column.training(request.scale, decay):
        return {}
    X, y = problem.train
    descent = Descent(problem.network, X, y[:, None].float(), own)
    start = descent.outputs({name: w[None] for name, w in descent.start.items()}, problem.val[0])[0].numpy()
    try:
        with bar(f"The paper's steps, {column.title}", own.steps, unit="steps") as advance:
            weights = descent.train([[]], lambda step, weights: advance(1))
    except InputError:
        return {"from_paper": None}
    there = descent.outputs(weights, problem.val[0])[0].numpy()
    return {"from_paper": float(np.linalg.norm(reached - there) / np.linalg.norm(there - start))}


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


class _Kept:
    """Results of long work as JSON files in a folder, found again if they were made with the same settings."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def place(self, name: str) -> Path | None:
        """A folder in the folder."""
        return None if self._folder is None else self._folder / name

    def once(self, name: str, asked: dict[str, Any], work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What the work gives; from the file if it is there."""
        asked = json.loads(json.dumps(asked))
        path = None if self._folder is None else self._folder / f"{name}.json"
        if path is not None and path.is_file():
            held = json.loads(path.read_text(encoding="utf-8"))
            if held["asked"] == asked:
                return dict(held["found"])
        found = {key: plain(value) for key, value in work().items()}
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as beside:
                beside.write_text(json.dumps({"asked": asked, "found": found}) + "\n", encoding="utf-8")
        return found
