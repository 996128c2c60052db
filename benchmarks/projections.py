"""How far each projection is from the exact kernel, and what that does to the ranking of samples."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr
from torch import Tensor, nn

from benchmarks.data import FOLDER, mnist_4v9, mnist_digits
from uniqueinfo import GradientFlow, Linearization, stopping_curve
from uniqueinfo.experiments.networks import mlp, paper_cnn
from uniqueinfo.jacobian import (
    Factorized,
    OutputSketch,
    Projection,
    RandomCoordinates,
    RowEngine,
    VerySparse,
    exact_kernels,
)

PER_LAYER = (500, 1000, 2000, 4000, 8000)
SEEDS = 3
Kernel = tuple[Tensor, Tensor]  # of the training samples, and of the validation samples with them


def tables(console: Console) -> None:
    torch.manual_seed(0)
    weights = FOLDER / "emnist_letters_cnn_pretrained.npz"
    one_network(console, "MLP of 1024, random weights", mlp().eval(), transposed=False)
    one_network(console, "CNN pretrained on letters", paper_cnn(1, weights).eval(), transposed=True)
    many_outputs(console)


def one_network(console: Console, title: str, network: nn.Module, transposed: bool) -> None:
    """Relative error of the kernel (Frobenius norm) and rank correlation of F-SI, both with the exact one."""
    train, val, labels = mnist_4v9(transposed)
    exact = exact_kernels(network, torch.split(train, 200), torch.split(val, 200), memory=2 << 30)
    residual = (labels[:, None] - exact.outputs).numpy()
    best = stopping_curve(Linearization.from_kernel(exact.train, residual)).best
    training = GradientFlow(lr=best.lr, time=float(best.steps))  # stable whatever a projection does to λmax
    true = functional((exact.train, exact.val), residual, training)
    table = Table("per layer", "D", title=f"{title}, MNIST 4 v 9, n = m = 1000, {training}")
    for kind in ("RandomCoordinates", "Factorized", "VerySparse"):
        for column in (kind, "rank correlation", "seconds"):
            table.add_column(column, justify="right")
    for per_layer in PER_LAYER:
        width = RowEngine(network, train, RandomCoordinates(per_layer)).width
        kinds: list[Callable[[int], Projection]] = [
            lambda seed, size=per_layer: RandomCoordinates(size, seed),  # type: ignore[misc]
            lambda seed, size=per_layer: Factorized(size, seed),  # type: ignore[misc]
            lambda seed, size=width: VerySparse(size, seed),  # type: ignore[misc]
        ]
        cells = [f"{per_layer:,}", f"{width:,}"]
        for kind_of in kinds:
            errors, ranks, seconds = [], [], []
            for seed in range(SEEDS):
                start = time.perf_counter()
                engine = RowEngine(network, train, kind_of(seed))
                kernel = projected(engine, train, val)
                seconds.append(time.perf_counter() - start)
                errors.append(float((kernel[0] - exact.train).norm() / exact.train.norm()))
                ranks.append(spearmanr(functional(kernel, residual, training), true).statistic)
            cells += [f"{np.mean(errors):.4f}", f"{np.mean(ranks):.4f}", f"{np.min(seconds):.1f}"]
        table.add_row(*cells)
    console.print(table)


def projected(engine: RowEngine, train: Tensor, val: Tensor) -> Kernel:
    rows, rows_val = (
        torch.cat([engine(batch)[0] for batch in torch.split(images, 200)]).flatten(0, 1).double()
        for images in (train, val)
    )
    return rows @ rows.T, rows_val @ rows.T


def functional(kernel: Kernel, residual: NDArray[np.float64], training: GradientFlow) -> NDArray[np.float64]:
    linearization = Linearization.from_kernel(kernel[0], residual)
    probe = linearization.probe(kernel[1].view(-1, residual.shape[1], len(kernel[0])))
    found = linearization.train(training).leave_out().measures(probe).functional
    assert found is not None
    return found


def many_outputs(console: Console, samples: int = 200) -> None:
    """F-SI of ten outputs from fewer: random mixtures, or a random choice of outputs."""
    train, val, labels = mnist_digits()
    train, val, labels = train[:samples], val[:samples], labels[:samples]
    torch.manual_seed(0)
    exact = exact_kernels(mlp(outputs=10).eval(), [train], [val], memory=2 << 30)
    residual = torch.eye(10, dtype=torch.float64)[labels] - exact.outputs
    best = stopping_curve(Linearization.from_kernel(exact.train, residual.numpy())).best
    training = GradientFlow(lr=best.lr, time=float(best.steps))
    true = functional((exact.train, exact.val), residual.numpy(), training)
    table = Table("kept of 10", "stated error", title=f"F-SI from fewer outputs, MNIST digits, MLP, n = m = {samples}")
    for kind in ("OutputSketch", "random choice"):
        table.add_column(f"{kind}: error", justify="right")
        table.add_column("rank correlation", justify="right")
    for size in (1, 2, 5, 8):
        cells = [str(size), f"{(2 / size - 2 / 10) ** 0.5:.3f}"]
        sketches = [OutputSketch(size, seed) for seed in range(SEEDS)]
        choices = [np.random.default_rng(seed).choice(10, size, replace=False) for seed in range(SEEDS)]
        unit = torch.eye(10, dtype=torch.float64)
        for matrices in ([s.matrix(10) for s in sketches], [unit[:, choice] for choice in choices]):
            errors, ranks = [], []
            for S in matrices:
                kernel, kernel_val = (
                    torch.einsum("aobp,ok,pl->akbl", full.view(samples, 10, samples, 10), S, S).reshape(
                        samples * size, -1
                    )
                    for full in (exact.train, exact.val)
                )
                found = sketches[0].factor(10) * functional((kernel, kernel_val), (residual @ S).numpy(), training)
                errors.append(np.linalg.norm(found - true) / np.linalg.norm(true))
                ranks.append(spearmanr(found, true).statistic)
            cells += [f"{np.mean(errors):.3f}", f"{np.mean(ranks):.3f}"]
        table.add_row(*cells)
    console.print(table)
