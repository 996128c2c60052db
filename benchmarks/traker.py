"""TRAK by its authors' package, traker (imported as `trak`), for the squared error of a network with one output."""

from __future__ import annotations

import tempfile
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


def is_here() -> bool:
    return find_spec("trak") is not None


class Output:
    """What traker attributes: the output itself; and the slope of half the squared error in it."""

    @staticmethod
    def get_output(model: nn.Module, weights: Any, buffers: Any, image: Tensor, label: Tensor) -> Tensor:
        found: Tensor = torch.func.functional_call(model, (weights, buffers), image[None])[0, 0]
        return found

    @staticmethod
    def get_out_to_loss_grad(model: nn.Module, weights: Any, buffers: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
        outputs: Tensor = torch.func.functional_call(model, (weights, buffers), batch[0])
        return (batch[1][:, None] - outputs).detach()


def effects(model: nn.Module, train: tuple[Tensor, Tensor], val: Tensor, columns: int) -> NDArray[np.float64]:
    """Of each training sample on each validation output, (n, m), up to a common factor."""
    peer, projectors = import_module("trak"), import_module("trak.projectors")
    width = sum(parameter.numel() for parameter in model.parameters())
    projector = projectors.BasicProjector(
        grad_dim=width,
        proj_dim=columns,
        seed=0,
        proj_type="rademacher",
        device="cpu",
        block_size=columns // 2,  # a single block is not made again once traker has freed it
    )
    n, m, state = len(train[0]), len(val), model.state_dict()
    with tempfile.TemporaryDirectory() as folder:
        traker = peer.TRAKer(
            model.eval(),
            Output(),
            train_set_size=n,
            save_dir=folder,
            device="cpu",
            projector=projector,
            proj_dim=columns,
            use_half_precision=False,
            logging_level=40,
        )
        traker.load_checkpoint(state, model_id=0)
        traker.featurize(batch=train, num_samples=n)
        traker.finalize_features()
        traker.start_scoring_checkpoint("val", state, model_id=0, num_targets=m)
        traker.score(batch=(val, torch.zeros(m)), num_samples=m)
        return np.array(traker.finalize_scores("val"), dtype=np.float64)
