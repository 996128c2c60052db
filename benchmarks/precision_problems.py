"""What `benchmarks.precision` looks at: each problem from a network in float64, and what float32 makes of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from benchmarks.data import FOLDER, mnist_4v9, mnist_digits
from benchmarks.stages import Problem
from uniqueinfo.experiments.networks import mlp, paper_cnn
from uniqueinfo.jacobian import Factorized, RowEngine, exact_kernels

_COLUMNS = 663  # of each of three parameters; with the ten biases of the last layer, 1,999 in all


@dataclass(frozen=True, eq=False)
class Pair:
    """A problem from a network in float64, and what a pass in float32, and rows kept in float32, make of it."""

    whole: Problem
    variants: dict[str, Problem]


def pairs(less: int) -> Iterator[Pair]:
    """Exact kernels (dual), projected rows of ten outputs (primal), and frozen features (a linear head)."""
    torch.manual_seed(0)
    train, val, labels = mnist_4v9()
    n, m = 1000 // less, 500 // less
    yield kernels(mlp().eval(), train[:n], val[:m], labels[:n, None])
    digits, others, numbers = mnist_digits()
    wanted = torch.eye(10, dtype=torch.float64)[numbers]
    yield projected(mlp(outputs=10).eval(), digits[: n // 3], others[: m // 5], wanted[: n // 3])
    network = paper_cnn(1, FOLDER / "emnist_letters_cnn_pretrained.npz").eval()
    yield features(nn.Sequential(*list(network)[:-1]), train.mT, val.mT[:m], labels[:, None])


def kernels(network: nn.Module, train: Tensor, val: Tensor, wanted: Tensor) -> Pair:
    found = {}
    for dtype in (torch.float64, torch.float32):
        made = exact_kernels(
            copy.deepcopy(network).to(dtype),
            torch.split(train.to(dtype), 200),
            torch.split(val.to(dtype), 200),
            memory=3 << 30,
        )
        residual = (wanted - made.outputs.double())[..., None]
        name = f"4 v 9, MLP, exact kernels, n = {len(train)}"
        found[dtype] = Problem(name, residual, kernel=made.train, kernel_val=made.val, validation=len(val))
    single = found[torch.float64]
    assert single.kernel is not None
    assert single.kernel_val is not None
    rounded = replace(single, kernel=single.kernel.float().double(), kernel_val=single.kernel_val.float().double())
    return Pair(single, {"Jacobian pass": found[torch.float32], "kernel kept": rounded})


def projected(network: nn.Module, train: Tensor, val: Tensor, wanted: Tensor) -> Pair:
    found = {}
    for dtype in (torch.float64, torch.float32):
        engine = RowEngine(copy.deepcopy(network).to(dtype), train[:2].to(dtype), Factorized(_COLUMNS))
        (J, start), (J_val, _) = (engine_rows(engine, images.to(dtype)) for images in (train, val))
        name = f"10 digits, MLP, projected, n = {len(train)}, D = {J.shape[2]}"
        residual = (wanted - start)[..., None]
        found[dtype] = Problem(name, residual, rows=J, rows_val=J_val, validation=len(val))
    return Pair(
        found[torch.float64],
        {"Jacobian pass, projection": found[torch.float32], "rows kept": kept(found[torch.float64])},
    )


def features(network: nn.Module, train: Tensor, val: Tensor, wanted: Tensor) -> Pair:
    found = {}
    for dtype in (torch.float64, torch.float32):
        body = copy.deepcopy(network).to(dtype)
        with torch.no_grad():
            X, X_val = (torch.cat([body(part) for part in torch.split(x.to(dtype), 100)]) for x in (train, val))
        X, X_val = (torch.cat([x, torch.ones_like(x[:, :1])], dim=1).double()[:, None] for x in (X, X_val))
        name = f"4 v 9, frozen features of a CNN, n = {len(train)}, p = {X.shape[2]}"
        found[dtype] = Problem(name, wanted.double()[:, None], rows=X, rows_val=X_val, validation=len(val))
    return Pair(found[torch.float64], {"features": found[torch.float32], "rows kept": kept(found[torch.float64])})


def kept(problem: Problem) -> Problem:
    """The rows as they lie on disk."""
    assert problem.rows is not None
    assert problem.rows_val is not None
    return replace(problem, rows=problem.rows.float().double(), rows_val=problem.rows_val.float().double())


def engine_rows(engine: RowEngine, images: Tensor) -> tuple[Tensor, Tensor]:
    found = [engine(batch) for batch in torch.split(images, 100)]
    return torch.cat([part[0] for part in found]).double(), torch.cat([part[1].detach() for part in found]).double()
