"""What gradients of the trained network say by themselves: their products, and TRAK."""

from __future__ import annotations

import time

import numpy as np
import torch

import uniqueinfo as ui
from benchmarks.real_training.ours import Arrays
from benchmarks.stories.network import Stories
from benchmarks.stories.task import Task

_COLUMNS = ui.VerySparse(32)
"""Of each of 46 parameters: TRAK needs fewer columns than passages."""


def by_gradients(task: Task, network: Stories, sentence: list[int]) -> Arrays:
    """What each passage did to the margin of what is asked about, (passages, asked), up to a factor.

    With φ the (projected) gradients of margins and 1 − p what each passage pulls by: products of gradients
    φ_jᵀφ_i(1 − p), as of TracIn with the last checkpoint alone, and TRAK of one network, φ_jᵀ(ΦᵀΦ)⁻¹φ_i(1 − p).
    """
    started = time.process_time()
    found = ui.linearize(
        network,
        (task.train, None),
        task.asked(sentence),
        outputs=ui.sequence_margin,
        projection=_COLUMNS,
        progress=False,
    )
    assert found.rows is not None
    assert found.validation.rows is not None
    own, asked = found.rows[:][:, 0], found.validation.rows[:][:, 0]
    pull = torch.sigmoid(-found.initial[:, 0])
    damped = own.T @ own + 1e-6 * own.square().sum() / len(own) * torch.eye(own.shape[1], dtype=own.dtype)
    return {
        "products": ((own * pull) @ asked.T).numpy(),
        "trak": ((own * pull) @ torch.linalg.solve(damped, asked.T)).numpy(),
        "seconds": np.array(time.process_time() - started),
    }
