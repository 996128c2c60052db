"""Table 1's third method, beyond the paper: scores along a recording of the training.

The training with all samples is run once more, and its weights are kept on the way, geometrically in time. From these
checkpoints its steps are taken again without each sample, as `score(training=Recorded(...))` does: by the network's own
outputs, and gradients that move as they moved, in as many weights as memory has room for. Heavy-ball steps are taken as
they were, flow as plain steps so short that they follow it: as many as its time says, or more, at most one over the
largest curvature at both ends long.
"""

from __future__ import annotations

import math
import tempfile
import time
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.baselines.descent import Descent, Followed
from uniqueinfo.baselines.stabilized import LEAPS, Weights, reached
from uniqueinfo.experiments.kept import Arrays
from uniqueinfo.experiments.table1_problems import Problem
from uniqueinfo.removal.retracing import Between, Retraced
from uniqueinfo.scoring.retraced import Plan, followed
from uniqueinfo.training import GradientDescent, Recorded
from uniqueinfo.types import Floats

_HELD = 2**31
"""Bytes of all rows: as many weights stand for all as these have room for, all of them in small networks."""
_GRADIENTS = 9
"""Checkpoints at which gradients are taken; between them they are taken to move evenly."""


def recorded_scores(problem: Problem, training: Followed, samples: NDArray[np.intp], device: str) -> Arrays:
    """½‖w − w₋ᵢ‖² and (1/2m) Σ_j ‖f − f₋ᵢ‖² of some samples, and the processor `seconds` with the recorded training."""
    started = time.process_time()
    n, m = len(problem.train[1]), len(problem.val[1])
    with tempfile.TemporaryDirectory() as folder:
        recorded = _recorded(problem, training, folder, device)
        points = _spread([int(point["step"]) for point in recorded.points])
        weights = sum(parameter.numel() for parameter in problem.network.parameters())
        plan = Plan(min(weights, _HELD // (4 * (len(points) * n + m))), points, operations=0.0)
        retracing = followed(problem.network, problem.train, problem.val, recorded, plan)
        how, seen = retracing.steps(), retracing.validation_rows().flatten(0, 1).cpu()
        rows = [value.flatten(0, 1).mul_(how.weights.scale).cpu() for value in how.rows.values]
    kernel = torch.empty(len(points) * n, len(points) * n, dtype=torch.float64)
    for one in range(len(points)):
        for other in range(one, len(points)):
            at = slice(one * n, (one + 1) * n), slice(other * n, (other + 1) * n)
            kernel[at] = (rows[one] @ rows[other].T).double()
            kernel[at[::-1]] = kernel[at].T
    moved = _followed(how, _Kernels(kernel, np.array(how.rows.steps), how.rows.times), samples)
    weighed = ((moved @ kernel) * moved).sum(dim=1) / 2
    pushed = moved @ torch.cat([(one @ seen.T).double() for one in rows])
    return {
        "weights": weighed.numpy(),
        "predictions": (pushed.square().sum(dim=1) / (2 * m)).numpy(),
        "seconds": np.array([time.process_time() - started]),
    }


@dataclass(frozen=True, eq=False)
class _Kernels:
    """J_p J_qᵀ of all checkpoints p, q at which gradients were taken, one beside the other."""

    of: Tensor
    steps: NDArray[np.intp]
    """The step of each checkpoint."""
    times: Floats
    """Before every step."""

    @property
    def samples(self) -> int:
        return len(self.of) // len(self.steps)

    def around(self, step: int) -> tuple[slice, slice, float]:
        """The columns of the checkpoints before and after a step, and how far it is from the one to the other."""
        after = min(int(np.searchsorted(self.steps, step, side="right")), len(self.steps) - 1)
        before, here, then = self.times[[self.steps[after - 1], step, self.steps[after]]]
        at = [slice(number * self.samples, (number + 1) * self.samples) for number in (after - 1, after)]
        return at[0], at[1], float((here - before) / (then - before))


def _followed(how: Retraced, kernels: _Kernels, samples: NDArray[np.intp]) -> Tensor:
    """c of w − w₋ᵢ = Σ_p J_pᵀ c_p over all checkpoints p, (samples, checkpoints · n).

    The steps are those that `Retraced` takes, for squared error and full batches; by kernels, which are small where
    samples are few, so that many weights cost no more than few.
    """
    n, options, errors = kernels.samples, how.training.about["options"][0], _errors(how, kernels)
    momentum, decay = (float(options.get(name, 0.0)) for name in ("momentum", "weight_decay"))
    stays = torch.ones(len(samples), n, dtype=torch.float64)
    stays[torch.arange(len(samples)), torch.from_numpy(samples)] = 0
    found, speed = (torch.zeros(len(samples), len(kernels.of), dtype=torch.float64) for _ in range(2))
    for step, rate in enumerate(how.training.steps.rates[:, 0].tolist()):
        here, there, share = kernels.around(step)
        moved = (1 - share) * (found @ kernels.of[:, here]) + share * (found @ kernels.of[:, there])
        push = errors[step] / n - (errors[step] - moved) * stays / (n - 1)
        speed.mul_(momentum).add_(found, alpha=decay)
        speed[:, here] += (1 - share) * push
        speed[:, there] += share * push
        found -= rate * speed
    return found


def _errors(how: Retraced, kernels: _Kernels) -> Tensor:
    """f − y of the training with all samples before every step, (steps, n).

    Where checkpoints are farther apart than steps, outputs are moved by the gradients between them, and what that
    misses at checkpoints is added evenly. Leaps along flow quieten what is stiff later than flow does, so that the
    early ones are not looked at: by the middle one, in the logarithm of time, it is quiet.
    """
    rates, known = how.training.steps.rates[:, 0].tolist(), [value.double().cpu()[:, 0] for value in how.outputs.values]
    targets, n = how.targets.double().cpu()[:, 0], kernels.samples
    if len(known) == len(rates) + 1:
        return torch.stack(known[:-1]) - targets
    decay = float(how.training.about["options"][0].get("weight_decay", 0.0))
    found, way = [known[0] - targets], torch.zeros(len(kernels.of), dtype=torch.float64)
    for step, rate in enumerate(rates):
        here, there, share = kernels.around(step)
        slope = decay * way
        slope[here] += (1 - share) * found[-1] / n
        slope[there] += share * found[-1] / n
        way = way - rate * slope
        moved = (1 - share) * (kernels.of[here] @ slope) + share * (kernels.of[there] @ slope)
        found.append(found[-1] - rate * moved)
    looked_at = [at for at, step in enumerate(how.outputs.steps) if not 0 < step < len(rates) * reached(LEAPS // 2)]
    missed = tuple(known[at] - targets - found[how.outputs.steps[at]] for at in looked_at)
    between = Between(tuple(how.outputs.steps[at] for at in looked_at), missed, how.outputs.times)
    return torch.stack([error + between.at(step) for step, error in enumerate(found[:-1])])


def _recorded(problem: Problem, training: Followed, folder: str, device: str) -> Recorded:
    """The training itself, run and kept on the way."""
    X, y = problem.train
    descent = Descent(problem.network, X.to(device), y[:, None].float().to(device), training=training)
    kept: dict[int, dict[str, Tensor]] = {}

    def keep(at: int, weights: Weights) -> None:
        kept[at] = {name: w[0].cpu().clone() for name, w in weights.items()}

    end = descent.train([[]], keep)
    if isinstance(training, GradientDescent):
        options = {"momentum": training.momentum} if training.momentum else {}
        steps, times = {at: at for at in kept}, training.lr * np.array([0, *kept])
    else:
        sharpness, options = descent.sharpness(), {}
        start = {name: w[None] for name, w in descent.start.items()}
        whole = training.lr * training.time
        count = math.ceil(max(training.time, whole * max(sharpness(start), sharpness(end))))
        steps = _steps(count)
        times = whole * np.array([0, *map(reached, steps)])
    if training.weight_decay:
        options["weight_decay"] = training.weight_decay  # where it pulls to is the same with and without a sample
    states = [problem.network.state_dict(), *({**problem.network.state_dict(), **kept[at]} for at in steps)]
    at = [0, *steps.values()]
    rates = (np.diff(times) / np.diff(at)).tolist()
    return Recorded.from_checkpoints(states, at, folder=f"{folder}/recording", lr=rates, options=options, loss="mse")


def _steps(count: int) -> dict[int, int]:
    """After which of so many steps, even but for rounding, each leap along flow ends.

    >>> _steps(6)
    {19: 1, 21: 2, 22: 3, 23: 4, 24: 6}
    """
    found = {round(reached(leap) * count): leap for leap in range(1, LEAPS + 1)}
    return {leap: step for step, leap in found.items() if step}


def _spread(steps: list[int]) -> tuple[int, ...]:
    """Numbers of a few checkpoints, both ends among them, geometric in time.

    >>> _spread([*range(129)])
    (0, 1, 2, 4, 8, 16, 32, 64, 128)
    """
    wanted = [steps[-1] / 2.0**back for back in range(_GRADIENTS - 1)]
    return tuple(sorted({0, *(int(np.abs(np.array(steps) - each).argmin()) for each in wanted)}))
