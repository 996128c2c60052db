"""TRAK by its authors' package, traker (imported as `trak`), with one network, for the squared error.

It projects on the processor: its fast projection needs a GPU.
"""

from __future__ import annotations

import tempfile
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

_BATCH = 100
"""Samples that traker is given at a time."""


def is_here() -> bool:
    return find_spec("trak") is not None


class Output:
    """What traker attributes: the output for a sample's class, or the only one; and the slope of the loss in it."""

    @staticmethod
    def get_output(model: nn.Module, weights: Any, buffers: Any, image: Tensor, label: Tensor) -> Tensor:
        outputs: Tensor = torch.func.functional_call(model, (weights, buffers), image[None])[0]
        return outputs[0] if len(outputs) == 1 else outputs.gather(0, label[None])[0]

    @staticmethod
    def get_out_to_loss_grad(model: nn.Module, weights: Any, buffers: Any, batch: tuple[Tensor, Tensor]) -> Tensor:
        outputs: Tensor = torch.func.functional_call(model, (weights, buffers), batch[0])
        own = outputs[:, 0] if outputs.shape[1] == 1 else outputs.gather(1, batch[1][:, None])[:, 0]
        wanted = batch[1] if outputs.shape[1] == 1 else torch.ones_like(own)
        return (wanted - own)[:, None].detach()


def effects(
    model: nn.Module, train: tuple[Tensor, Tensor], val: tuple[Tensor, Tensor], columns: int
) -> NDArray[np.float64]:
    """Of each training sample on each validation sample's output, (n, m), up to a common factor.

    `train`, `val`: inputs and labels; among several outputs the label's is attributed.
    """
    peer, projectors = import_module("trak"), import_module("trak.projectors")
    projector = projectors.BasicProjector(
        grad_dim=sum(parameter.numel() for parameter in model.parameters()),
        proj_dim=columns,
        seed=0,
        proj_type="rademacher",
        device="cpu",
        block_size=columns // 2,  # a single block is not made again once traker has freed it
    )
    state = model.state_dict()
    with tempfile.TemporaryDirectory() as folder:
        traker = peer.TRAKer(
            model.eval(),
            Output(),
            train_set_size=len(train[0]),
            save_dir=folder,
            device="cpu",
            projector=projector,
            proj_dim=columns,
            use_half_precision=False,
            logging_level=40,
        )
        traker.load_checkpoint(state, model_id=0)
        for X, y in zip(*(torch.split(part, _BATCH) for part in train), strict=True):
            traker.featurize(batch=(X, y), num_samples=len(X))
        traker.finalize_features()
        traker.start_scoring_checkpoint("val", state, model_id=0, num_targets=len(val[0]))
        for X, y in zip(*(torch.split(part, _BATCH) for part in val), strict=True):
            traker.score(batch=(X, y), num_samples=len(X))
        return np.array(traker.finalize_scores("val"), dtype=np.float64)
