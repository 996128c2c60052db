"""traker: TRAK with one network, projected on the processor (its fast projection needs a GPU)."""

from __future__ import annotations

import contextlib
import io
import tempfile
from typing import Any

import torch
from torch import Tensor, nn
from trak import TRAKer
from trak.projectors import BasicProjector

from benchmarks.peers.child import Found
from benchmarks.peers.effects import of_outputs
from benchmarks.peers.problem import Problem, batches, network

_COLUMNS = 128  # well below the samples: its inverse has no damping


class _Output:
    """What is attributed: the output for a sample's class (of two classes the one there is); the loss's slope in it."""

    def get_output(self, model: nn.Module, weights: Any, buffers: Any, image: Tensor, label: Tensor) -> Tensor:
        outputs: Tensor = torch.func.functional_call(model, (weights, buffers), image[None])[0]
        return outputs[0] if len(outputs) == 1 else outputs.gather(0, label[None])[0]

    def get_out_to_loss_grad(self, model: nn.Module, weights: Any, buffers: Any, batch: Any) -> Tensor:
        outputs: Tensor = torch.func.functional_call(model, (weights, buffers), batch[0])
        own = outputs[:, 0] if outputs.shape[1] == 1 else outputs.gather(1, batch[1][:, None])[:, 0]
        wanted = batch[1] if outputs.shape[1] == 1 else torch.ones_like(own)
        return (wanted - own)[:, None].detach()


def trak(problem: Problem) -> Found:
    model = network(problem.trained)
    width = sum(parameter.numel() for parameter in model.parameters())
    projector = BasicProjector(
        grad_dim=width,
        proj_dim=_COLUMNS,
        seed=0,
        proj_type="rademacher",
        device="cpu",
        block_size=_COLUMNS // 2,  # a single block is not made again once traker has freed it
    )
    n, m, state = len(problem.X), len(problem.X_val), dict(problem.trained)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        traker = TRAKer(
            model,
            _Output(),
            train_set_size=n,
            save_dir=folder,
            device="cpu",
            projector=projector,
            proj_dim=_COLUMNS,
            use_half_precision=False,
            logging_level=40,
        )
        traker.load_checkpoint(state, model_id=0)
        for X, y in batches(problem.X, problem.y):
            traker.featurize(batch=(X, y), num_samples=len(X))
        traker.finalize_features()
        traker.start_scoring_checkpoint("val", state, model_id=0, num_targets=m)
        for X, y in batches(problem.X_val, problem.y_val):
            traker.score(batch=(X, y), num_samples=len(X))
        found = torch.as_tensor(traker.finalize_scores("val")).double()
    return of_outputs(problem, found)
