"""TRAK as a special case: the linearization at the trained weights, trained once more to the end, term by term."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from uniqueinfo.jacobian import Projection, VerySparse
from uniqueinfo.linearization.linearization import Trained
from uniqueinfo.linearization.network import linearize
from uniqueinfo.spectrum.probe import Probe
from uniqueinfo.training import Converged, Training
from uniqueinfo.types import Floats


def trak(
    model: nn.Module,
    train: Any,
    val: Any,
    *,
    projection: Projection | None = VerySparse(512),  # noqa: B008 (a frozen value)
    training: Training = Converged(),  # noqa: B008
    memory: str | int | None = None,
    progress: bool = True,
) -> Floats:
    """How much each training sample pushes each validation output of the trained network, (n, m, outputs).

    TRAK (Park et al. 2023) for the squared error: with projected gradients Φ of the outputs at the trained weights,

        τ_ij = φ_jᵀ (ΦᵀΦ + λI)⁻¹ φ_i (y_i − f(x_i)).

    That is one Newton step of the linearized network, divided by samples; λ is the training's weight decay (times n
    for its mean loss). Leaving i out (`Trained.leave_out`) goes further: it also sees what the others would do in the
    place of i. TRAK averages this over several networks, trained alike from different random numbers.
    """
    linearization = linearize(model, train, val, projection=projection, memory=memory, progress=progress)
    return terms(linearization.train(training), linearization.validation)


def terms(run: Trained, probe: Probe) -> Floats:
    """What each sample adds to the outputs of a linearized training, J_val φ(H) J_iᵀ r_i, (n, m, outputs).

    Over all samples they add up to f_w − f_0.

    >>> import numpy as np
    >>> from uniqueinfo import Linearization
    >>> J, r = np.array([[[1.0, 0.0]], [[1.0, 1.0]]]), np.array([[1.0], [3.0]])
    >>> lin = Linearization.from_jacobian(J, r)
    >>> terms(lin.train(Converged()), lin.probe(np.array([[[0.0, 1.0]]]))).round(6).tolist()
    [[[-1.0]], [[3.0]]]
    """
    system = run.system
    rows = system.right(system.left(slice(0, run.samples)))
    filtered = system.apply(run.training.filter(run.samples))
    return probe.moved(filtered * torch.einsum("npr,npc->ncr", rows, run.residual))
