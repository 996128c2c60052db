from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.baselines.networks import trained
from tests.oracles import influence as oracle
from tests.oracles import retraining
from tests.oracles.compare import close
from tests.oracles.influence import Problem
from tests.oracles.jacobian import jacobian_rows
from uniqueinfo import Converged, InputError, score_features
from uniqueinfo.baselines.influence import ConjugateGradients, Exact, Influence, LiSSA, influence
from uniqueinfo.baselines.influence.curvature import Curvature
from uniqueinfo.training import Reduction
from uniqueinfo.types import Floats


@pytest.fixture(scope="module")
def given() -> Problem:
    return trained()


def agrees(found: Influence, delta: Tensor, given: Problem, rtol: float) -> None:
    truth = oracle.measures(given, delta)
    close(found.weight, truth.weight, rtol=rtol)
    close(found.output_changes, truth.output_changes, rtol=rtol, atol=rtol * float(truth.output_changes.abs().max()))
    close(found.functional, truth.functional, rtol=rtol)
    close(found.value, truth.value, rtol=rtol, atol=rtol * float(truth.value.abs().max()))


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_exact_is_the_definition(given: Problem, reduction: Reduction, decay: float) -> None:
    found = influence(
        given.model, given.train, given.val, reduction=reduction, weight_decay=decay, solver=Exact(damping=0.2)
    )
    unit = 1 / 14 if reduction == "mean" else 1.0
    hessian = oracle.hessian(given.model, *given.train)
    agrees(found, oracle.weight_changes(given, hessian, decay + 0.2, unit), given, rtol=1e-9)


def test_gauss_newton_is_the_product_of_jacobians(given: Problem) -> None:
    found = influence(given.model, given.train, given.val, solver=Exact(damping=0.2), curvature="gauss-newton")
    rows = jacobian_rows(given.model, given.train[0]).flatten(0, 1)
    agrees(found, oracle.weight_changes(given, rows.T @ rows, 0.2, 1 / 14), given, rtol=1e-9)


@pytest.mark.parametrize("kind", ["hessian", "gauss-newton"])
def test_conjugate_gradients_reach_the_dense_solution(given: Problem, kind: str) -> None:
    solver = ConjugateGradients(damping=0.2, tolerance=1e-10)
    found = influence(given.model, given.train, given.val, solver=solver, curvature=kind)  # type: ignore[arg-type]
    dense = influence(given.model, given.train, given.val, solver=Exact(damping=0.2), curvature=kind)  # type: ignore[arg-type]
    close(found.weight, dense.weight, rtol=1e-7)
    close(found.functional, dense.functional, rtol=1e-7)
    close(found.value, dense.value, rtol=1e-7, atol=1e-12)


def test_lissa_on_full_batches_tends_to_the_dense_solution_with_its_damping_times_the_scale(given: Problem) -> None:
    solver, some = LiSSA(recursions=500, scale=5.0, damping=0.03, batch_size=14), [0, 8]
    found = influence(given.model, given.train, given.val, weight_decay=0.1, solver=solver, samples=some)
    dense = influence(given.model, given.train, given.val, weight_decay=0.1, solver=Exact(damping=0.15), samples=some)
    close(found.weight, dense.weight, rtol=1e-8)  # what is left of the series: (1 − 0.25/5)^500
    close(found.functional, dense.functional, rtol=1e-8)


def test_lissa_is_its_recursion(given: Problem) -> None:
    found = influence(given.model, given.train, solver=LiSSA(recursions=7, scale=5.0, damping=0.03, batch_size=99))
    hessian = oracle.hessian(given.model, *given.train) / 14
    rows = jacobian_rows(given.model, given.train[0])
    v = torch.einsum("nkd,nk->nd", rows, (given.model(given.train[0]) - given.train[1]).detach())
    h = v
    for _ in range(7):
        h = v + (1 - 0.03) * h - h @ hessian / 5
    close(found.weight, (h / 5 / 14).square().sum(1) / 2, rtol=1e-10)


def test_lissa_on_small_batches_is_its_recursion_on_all_samples_on_average(given: Problem) -> None:
    def estimate(batch_size: int, seed: int) -> Floats:
        solver = LiSSA(recursions=20, scale=10.0, damping=0.02, batch_size=batch_size, seed=seed)
        found = influence(given.model, given.train, given.val, solver=solver, samples=[3]).output_changes
        assert found is not None
        first: Floats = found[0]
        return first

    many, whole = np.stack([estimate(5, seed) for seed in range(30)]), estimate(14, 0)
    error = (many.mean(0) - whole) / (many.std(0) / 30**0.5)
    assert np.sqrt(np.square(error).mean()) < 2  # standard errors: about 1 if unbiased
    assert many.std(0).max() > 1e-3 * np.abs(whole).max()


def test_lissa_repeats_bit_for_bit_however_the_samples_are_divided(given: Problem) -> None:
    solver = LiSSA(recursions=10, scale=20.0, damping=0.02, batch_size=5, seed=3)
    whole = influence(given.model, given.train, solver=solver)
    again = influence(given.model, given.train, solver=solver)
    single = influence(given.model, given.train, solver=solver, samples=[11])
    np.testing.assert_array_equal(whole.weight, again.weight)
    close(single.weight, whole.weight[[11]], rtol=1e-12)


def test_a_small_memory_budget_changes_nothing(given: Problem) -> None:
    solver = ConjugateGradients(damping=0.2, tolerance=1e-10)
    little = influence(given.model, given.train, given.val, solver=solver, memory="20kB")
    plenty = influence(given.model, given.train, given.val, solver=solver)
    close(little.weight, plenty.weight, rtol=1e-9)
    close(little.output_changes, plenty.output_changes, rtol=1e-7, atol=1e-12)


def test_a_minimum_moves_as_leaving_out_says_to_first_order() -> None:
    """For ridge regression the change of a removal is the influence over 1 − leverage, and both are known in full."""
    rng = np.random.default_rng(0)
    X, y, X_val, y_val = rng.normal(size=(30, 4)), rng.normal(size=30), rng.normal(size=(8, 4)), rng.normal(size=8)
    decay = 2.0
    model = nn.Linear(4, 1, bias=False).double()
    inverse = np.linalg.inv(X.T @ X + decay * np.eye(4))
    model.weight.data = torch.from_numpy(inverse @ X.T @ y)[None]
    found = influence(model, (X, y), (X_val, y_val), reduction="sum", weight_decay=decay, solver=Exact())
    scores = score_features(X, y, X_val, y_val, training=Converged(decay, reduction="sum"), head="paper")
    rest = 1 - np.einsum("ni,ij,nj->n", X, inverse, X)
    assert scores.functional is not None
    close(found.weight, scores.weight * rest**2, rtol=1e-8)
    close(found.functional, scores.functional * rest**2, rtol=1e-8)
    moved = retraining.changes(X[:, None], y[:, None], Converged(decay, reduction="sum"), [[i] for i in range(30)])
    close(found.weight / rest**2, np.square(moved).sum(1) / 2, rtol=1e-8)


def test_the_network_stays_as_it_was(given: Problem) -> None:
    model = trained(steps=3).model.train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    grads = [p.grad for p in model.parameters()]
    influence(model, given.train, given.val, solver=LiSSA(recursions=2))
    assert model.training
    assert all(p.grad is g for p, g in zip(model.parameters(), grads, strict=True))
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_chosen_samples_come_in_their_order(given: Problem) -> None:
    every = influence(given.model, given.train, given.val, solver=Exact(damping=0.2))
    some = influence(given.model, given.train, given.val, solver=Exact(damping=0.2), samples=[9, 2])
    assert some.frame()["id"].tolist() == [9, 2]
    assert list(some.frame()) == ["id", "functional", "weight", "value"]
    close(some.frame()["weight"], every.weight[[9, 2]], rtol=1e-12)


def test_without_validation_data_only_weights_are_measured(given: Problem) -> None:
    found = influence(given.model, given.train, solver=Exact(damping=0.2))
    assert list(found.frame()) == ["id", "weight"]


def test_validation_data_without_labels_has_no_value(given: Problem) -> None:
    found = influence(given.model, given.train, (given.val[0], None), solver=Exact(damping=0.2))
    assert list(found.frame()) == ["id", "functional", "weight"]


def test_frozen_parameters_do_not_move(given: Problem) -> None:
    model = trained().model
    head = next(module for module in reversed(list(model.modules())) if isinstance(module, nn.Linear))
    for parameter in model.parameters():
        parameter.requires_grad_(parameter is head.weight or parameter is head.bias)
    found = influence(model, given.train, solver=Exact(damping=0.2))
    rows = jacobian_rows(model, given.train[0])
    delta = oracle.weight_changes(
        Problem(model, given.train, given.val), rows.flatten(0, 1).T @ rows.flatten(0, 1), 0.2, 1 / 14
    )
    close(found.weight, delta.square().sum(1) / 2, rtol=1e-9)  # outputs are linear in the head


class _Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1, bias=False)
        self.norm, self.relu, self.head = nn.BatchNorm2d(3), nn.ReLU(inplace=True), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.first(x))
        y = self.norm(self.second(x))
        y += x
        found: Tensor = self.head(self.relu(y).mean((2, 3)))
        return found


def test_batch_norm_and_operations_in_place_are_no_hindrance() -> None:
    torch.manual_seed(0)
    model = _Residual().double().eval()
    X, y = torch.randn(5, 2, 6, 6, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)
    curvature = Curvature(model, X, y, reduction="sum")
    vectors = torch.randn(2, curvature.width, dtype=torch.float64)
    gradients = torch.autograd.grad((model(X) - y).square().sum() / 2, list(model.parameters()), create_graph=True)
    flat = torch.cat([g.reshape(-1) for g in gradients])
    for vector, found in zip(vectors, curvature.product(vectors), strict=True):
        wanted = torch.autograd.grad(flat @ vector, list(model.parameters()), retain_graph=True)
        close(found, torch.cat([w.reshape(-1) for w in wanted]), rtol=1e-9, atol=1e-9 * float(found.abs().max()))


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.attention(x, x, x, need_weights=False)[0].mean(1)
        return found


def test_attention_is_no_hindrance() -> None:
    torch.manual_seed(0)
    model = _Attention().double()
    X, y = torch.randn(6, 3, 4, dtype=torch.float64), torch.randn(6, 4, dtype=torch.float64)
    found = influence(model, (X, y), solver=ConjugateGradients(damping=5.0, tolerance=1e-10))
    dense = influence(model, (X, y), solver=Exact(damping=5.0))
    close(found.weight, dense.weight, rtol=1e-8)


def test_conjugate_gradients_refuse_negative_curvature() -> None:
    with pytest.raises(InputError, match=r"curvature -.*gauss-newton"):
        influence(trained(steps=1).model, trained().train, solver=ConjugateGradients(damping=0.0))


def test_conjugate_gradients_tell_when_they_have_not_arrived(given: Problem) -> None:
    with pytest.warns(UserWarning, match="after 3 iterations with a residual of"):
        influence(given.model, given.train, solver=ConjugateGradients(damping=0.2, tolerance=1e-9, iterations=3))


def test_lissa_tells_when_the_scale_is_too_small(given: Problem) -> None:
    with pytest.raises(InputError, match=r"scale=0\.001"):
        influence(given.model, given.train, solver=LiSSA(scale=0.001), samples=[0])


def test_exact_refuses_a_hessian_that_does_not_fit() -> None:
    with pytest.raises(InputError, match="take ConjugateGradients or LiSSA"):
        influence(nn.Linear(500_000, 1), (torch.zeros(2, 500_000), torch.zeros(2)), solver=Exact())


@pytest.mark.parametrize("samples", [[], [14], [-1], [0.5]])
def test_samples_must_be_there(given: Problem, samples: list[int]) -> None:
    with pytest.raises(InputError, match="positions between 0 and 13"):
        influence(given.model, given.train, solver=Exact(), samples=samples)


@pytest.mark.parametrize(
    ("solver", "setting"),
    [
        (lambda: LiSSA(recursions=0), "recursions"),
        (lambda: LiSSA(scale=0.0), "scale"),
        (lambda: LiSSA(batch_size=0), "batch_size"),
        (lambda: LiSSA(damping=-0.1), "damping"),
        (lambda: ConjugateGradients(iterations=0), "iterations"),
        (lambda: Exact(damping=float("nan")), "damping"),
    ],
)
def test_settings_that_make_no_sense_are_refused(solver: object, setting: str) -> None:
    with pytest.raises(InputError, match=setting):
        solver()  # type: ignore[operator]
