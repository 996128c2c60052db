"""Other libraries on the same small network, where they define the same thing; skipped where they are not there."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.traker import Output
from tests.baselines.networks import trained
from tests.oracles.compare import close
from tests.oracles.influence import Problem
from uniqueinfo import Converged
from uniqueinfo.baselines.gradients import tracin
from uniqueinfo.baselines.influence import ConjugateGradients, Exact, influence
from uniqueinfo.baselines.trak import trak

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs
DAMPING = 0.2


@pytest.fixture(scope="module")
def given() -> Problem:
    return trained()


def half_squares(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets).square().sum(1) / 2


def on_losses(given: Problem, solver: Exact | ConjugateGradients) -> np.ndarray[Any, np.dtype[np.float64]]:
    """∇ℓ_val,j (H + damping)⁻¹ ∇ℓ_i, (m, n), from ours: Δw = −(1/n) H⁻¹ ∇ℓ_i, seen through the losses' gradients."""
    moved = influence(given.model, given.train, given.val, solver=solver).output_changes
    assert moved is not None
    with torch.no_grad():
        misfit = (given.model(given.val[0]) - given.val[1]).numpy()
    found: np.ndarray[Any, np.dtype[np.float64]] = -len(moved) * np.einsum("nmk,mk->mn", moved, misfit)
    return found


@pytest.mark.parametrize("solver", [Exact(DAMPING), ConjugateGradients(DAMPING, tolerance=1e-8)])
def test_influence_is_that_of_captum(given: Problem, solver: Exact | ConjugateGradients, tmp_path: Path) -> None:
    captum = pytest.importorskip("captum.influence")
    torch.save(given.model.state_dict(), tmp_path / "weights.pt")
    peer = captum.NaiveInfluenceFunction(
        given.model,
        TensorDataset(*given.train),
        str(tmp_path / "weights.pt"),
        loss_fn=lambda outputs, targets: half_squares(outputs, targets),
        batch_size=14,
        projection_dim=10_000,  # all of them
        hessian_reg=14 * DAMPING,  # captum sums where we take the mean
        hessian_inverse_tol=0.0,
    )
    theirs = 14 * peer.influence(given.val)
    ours = on_losses(given, solver)
    close(ours, theirs, rtol=1e-4, atol=1e-4 * np.abs(ours).max())


def test_influence_is_that_of_dattri(given: Problem) -> None:
    algorithms = pytest.importorskip("dattri.algorithm.influence_function")
    tasks = pytest.importorskip("dattri.task")

    def loss(parameters: Any, data: tuple[Tensor, Tensor]) -> Tensor:
        inputs, targets = data
        outputs = torch.func.functional_call(given.model, parameters, inputs)
        return half_squares(outputs.reshape(-1, 2), targets.reshape(-1, 2)).mean()

    task = tasks.AttributionTask(loss_func=loss, model=given.model, checkpoints=given.model.state_dict())
    peer = algorithms.IFAttributorExplicit(task=task, regularization=DAMPING)
    train = DataLoader(TensorDataset(*given.train), batch_size=14)
    peer.cache(train)
    theirs = peer.attribute(train, DataLoader(TensorDataset(*given.val), batch_size=9)).T.detach()
    ours = on_losses(given, Exact(DAMPING))
    close(ours, theirs, rtol=1e-4, atol=1e-4 * np.abs(ours).max())


def test_tracin_is_that_of_captum(given: Problem, tmp_path: Path) -> None:
    captum = pytest.importorskip("captum.influence")
    states = [copy.deepcopy(trained(steps=steps).model.state_dict()) for steps in (1, 50)]
    for number, state in enumerate(states):
        torch.save(state, tmp_path / f"{number}.pt")

    def load(model: nn.Module, path: str) -> float:
        model.load_state_dict(torch.load(path))
        return 0.5

    peer = captum.TracInCP(
        copy.deepcopy(given.model),
        TensorDataset(*given.train),
        [str(tmp_path / f"{number}.pt") for number in range(2)],
        checkpoints_load_func=load,
        loss_fn=lambda outputs, targets: half_squares(outputs, targets),
        batch_size=14,
    )
    found = tracin(given.model, states, given.train, given.val, rates=0.5)
    close(found.cross, peer.influence(given.val).T, rtol=1e-8, atol=1e-10)
    close(found.own, peer.self_influence(), rtol=1e-8)


def test_trak_is_that_of_traker_up_to_its_scale(tmp_path: Path) -> None:
    peer = pytest.importorskip("trak")
    projectors = pytest.importorskip("trak.projectors")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).eval()
    X, y, X_val = torch.randn(40, 2), torch.randn(40, 1), torch.randn(7, 2)
    width = sum(p.numel() for p in model.parameters())
    traker = peer.TRAKer(
        model,
        Output(),
        train_set_size=40,
        save_dir=str(tmp_path),
        device="cpu",
        projector=projectors.NoOpProjector(device="cpu"),
        proj_dim=width,
        lambda_reg=0.1,
        use_half_precision=False,
        logging_level=40,
    )
    traker.load_checkpoint(model.state_dict(), model_id=0)
    traker.featurize(batch=(X, y[:, 0]), num_samples=40)
    traker.finalize_features()
    traker.start_scoring_checkpoint("val", model.state_dict(), model_id=0, num_targets=7)
    traker.score(batch=(X_val, torch.zeros(7)), num_samples=7)
    theirs = np.asarray(traker.finalize_scores("val"), dtype=np.float64)
    found = trak(model, (X, y), X_val, projection=None, training=Converged(0.1 * width, reduction="sum"))[..., 0]
    scale = np.vdot(found, theirs) / np.vdot(
        found, found
    )  # traker divides gradients by √width, and its inverse by a mean
    close(scale * found, theirs, atol=1e-4 * np.abs(theirs).max())
