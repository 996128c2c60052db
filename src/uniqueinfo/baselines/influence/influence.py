"""The influence of removing each sample, at the trained weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.baselines.influence.curvature import Curvature, Kind
from uniqueinfo.baselines.influence.solvers import LiSSA, Solver
from uniqueinfo.baselines.passes import Passes, passes
from uniqueinfo.errors import InputError
from uniqueinfo.memory import as_bytes
from uniqueinfo.progress import progress as bar
from uniqueinfo.training import Reduction
from uniqueinfo.types import Floats

_WORKING = 2 << 30
"""Bytes used at most; more bring no speed."""
_COPIES = 6
"""Copies of the vectors that solving holds at once."""


@dataclass(frozen=True, eq=False)
class Influence:
    """What removing each of some training samples does, to first order; the measures are those of `Scores`."""

    samples: NDArray[np.intp]
    """Positions of the samples in the training data."""
    ids: NDArray[Any]
    weight: Floats
    """½‖Δw‖²."""
    functional: Floats | None
    """(1/2m) Σ_j ‖J_j Δw‖² over the validation samples."""
    value: Floats | None
    """−∇L_val · Δw: what the mean validation loss gains when the sample leaves; needs validation labels."""
    output_changes: Floats | None
    """J_j Δw ≈ f_w − f_w₋ᵢ on every validation sample, (samples, m, outputs)."""

    def __len__(self) -> int:
        return len(self.weight)

    def frame(self) -> pd.DataFrame:
        """One row per sample: id and the measures there are."""
        measures = {name: getattr(self, name) for name in ("functional", "weight", "value")}
        return pd.DataFrame({"id": self.ids} | {name: found for name, found in measures.items() if found is not None})


def influence(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    weight_decay: float = 0.0,
    reduction: Reduction = "mean",
    solver: Solver | None = None,
    curvature: Kind = "hessian",
    samples: Iterable[int] | None = None,
    memory: str | int | None = None,
    progress: bool = True,
) -> Influence:
    """Influence functions (Koh & Liang 2017) at the model's present weights, which should be trained ones.

    Removing sample i from the loss L = c Σᵢ ½‖f(xᵢ) − yᵢ‖² + (λ/2)‖w − w0‖² moves its minimum to first order by

        w − w₋ᵢ ≈ Δw = −c (∇²L)⁻¹ ∇½‖f(xᵢ) − yᵢ‖²,    c = 1/n for the mean loss, 1 for the sum.

    `train`, `val`: what `linearize` takes; the training data is held in memory. `solver` inverts ∇²L (λ included;
    its damping comes on top) and is `LiSSA()` when not given. `samples` names those to remove, by position (all when
    not given). Everything is computed with the network's own precision.

    >>> from uniqueinfo.baselines.influence import Exact
    >>> model = nn.Linear(1, 1, bias=False)
    >>> model.weight.data.fill_(2.0)  # the mean of the targets: the minimum
    tensor([[2.]])
    >>> found = influence(model, (torch.ones(4, 1), torch.tensor([1.0, 1.0, 2.0, 4.0])), solver=Exact())
    >>> found.weight  # the mean moves by about (y − 2)/4
    array([0.03125, 0.03125, 0.     , 0.125  ])
    """
    solver = LiSSA() if solver is None else solver
    room = min(as_bytes(memory), _WORKING)
    with passes(model, train, *([] if val is None else [val]), memory=room // 8) as (given, *others):
        chosen = _chosen(samples, len(given.samples))
        matrix = Curvature(
            model,
            given.samples.inputs(range(len(given.samples))),
            torch.from_numpy(given.samples.targets(given.outputs.shape[1])),
            reduction=reduction,
            weight_decay=weight_decay,
            kind=curvature,
            memory=room // 2,
        )
        step = max(1, room // 2 // (_COPIES * matrix.width * matrix.dtype.itemsize))
        weight, moved = [], []
        with bar("Influence", solver.products(len(chosen), matrix.width), unit="products", show=progress) as advance:
            inverse = solver.inverse(matrix, advance)
            for start in range(0, len(chosen), step):
                gradients = torch.cat(list(given.gradients(chosen[start : start + step])))
                delta = -matrix.unit * inverse(gradients.to(matrix.dtype))
                weight.append(delta.square().sum(1, dtype=torch.float64) / 2)
                moved.append([_moved(each, delta) for each in others])
        labelled = [each for each in others if each.samples.labels is not None]
        misfit = labelled[0].misfit if labelled else None
    changes = torch.cat([part for (part,) in moved]).cpu().numpy() if others else None
    return Influence(
        samples=chosen,
        ids=given.samples.ids[chosen],
        weight=torch.cat(weight).cpu().numpy(),
        functional=None if changes is None else np.square(changes).sum(axis=(1, 2)) / (2 * changes.shape[1]),
        value=None if changes is None or misfit is None else -np.einsum("smk,mk->s", changes, misfit) / len(misfit),
        output_changes=changes,
    )


def _chosen(samples: Iterable[int] | None, count: int) -> NDArray[np.intp]:
    chosen = np.arange(count) if samples is None else np.asarray(list(samples))
    if chosen.size == 0 or chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= count:
        raise InputError(
            f"samples: expected positions between 0 and {count - 1}, got {chosen.tolist()}; name samples "
            "by their position in train"
        )
    return chosen.astype(np.intp)


def _moved(given: Passes, delta: Tensor) -> Tensor:
    """J_j Δw of all samples: (s, m, k) for s changes."""
    return torch.cat([torch.einsum("bkd,sd->sbk", rows, delta.to(rows)) for _, rows in given.rows()], dim=1).double()
