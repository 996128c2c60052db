"""Jacobian rows against the passes they cannot do without, and against other ways: ``make bench-jacobian``.

Ratios are of times taken in turn in this run; peak memory is what a process of its own needed on top of the
network and the images. Compare times on an idle machine, or with ``--threads 1``: two threads that other work
keeps interrupting wait for each other, and longer the smaller the operations are.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.func import functional_call, jacrev, vmap

from benchmarks import projections
from benchmarks.data import mnist_4v9
from benchmarks.memory import peak_of
from uniqueinfo.experiments.networks import mlp
from uniqueinfo.jacobian import Factorized, RandomCoordinates, RowEngine, exact_kernels
from uniqueinfo.runs.photos.resnet18 import ResNet18

IMAGES, SIDE = 64, 112
KERNEL = "exact kernel"
Way = Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"resnet": resnet, "outputs": outputs, "kernel": kernel, "projections": projections.tables}
    parser.add_argument("--only", choices=parts)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--peak", help=argparse.SUPPRESS)  # how `peak` calls this file again
    arguments = parser.parse_args()
    if arguments.peak:
        print(peak_of(exact_mlp_kernel if arguments.peak == KERNEL else ways(1)[arguments.peak]))
        return
    torch.set_num_threads(arguments.threads)
    console = Console(width=130)
    for name, part in parts.items():
        if arguments.only in (None, name):
            part(console)
            console.print(f"torch {torch.__version__}, threads: {arguments.threads}, load: {os.getloadavg()[0]:.1f}")


def setting(k: int) -> tuple[ResNet18, Tensor]:
    torch.manual_seed(0)
    return ResNet18(k).eval(), torch.randn(IMAGES, 3, SIDE, SIDE)


def ways(k: int) -> dict[str, Way]:
    """Every way to the rows; the first is what the others are held against."""
    network, images = setting(k)
    parameters = dict(network.named_parameters())

    def plain() -> None:
        found = network(images)
        for output in range(k):
            torch.autograd.grad(found[:, output].sum(), list(parameters.values()), retain_graph=output + 1 < k)

    def one_at_a_time() -> None:
        for image in images:
            found = network(image[None])[0]
            for output in range(k):
                torch.autograd.grad(found[output], list(parameters.values()), retain_graph=output + 1 < k)

    def vectorized() -> object:
        detached = {name: parameter.detach() for name, parameter in parameters.items()}

        def row(image: Tensor) -> object:
            return jacrev(lambda values: functional_call(network, values, (image[None],))[0])(detached)

        return vmap(row)(images)

    coordinates = RowEngine(network, images, RandomCoordinates(2000))
    factorized = RowEngine(network, images, Factorized(2000))
    return {
        "forward and backward of the batch": plain,
        "RandomCoordinates(2000)": lambda: coordinates(images),
        "Factorized(2000)": lambda: factorized(images),
        "batch size 1, one after another": one_at_a_time,
        "vmap(jacrev), all gradients": vectorized,
    }


def timed(way: Way) -> float:
    start = time.perf_counter()
    way()
    return time.perf_counter() - start


def in_turn(chosen: dict[str, Way], rounds: int) -> dict[str, float]:
    """The least seconds of each way over several rounds; every round runs all of them."""
    times: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(rounds):
        for name, way in chosen.items():
            times[name].append(timed(way))
    return {name: min(found) for name, found in times.items()}


def peak(name: str) -> int:
    """Bytes that one way needs on top of network and images, measured in a new process."""
    command = [sys.executable, "-m", "benchmarks.jacobian", "--peak", name]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def resnet(console: Console) -> None:
    """One output: rows at the price of a backward pass."""
    every = ways(1)
    slow = ("batch size 1, one after another", "vmap(jacrev), all gradients")
    times = in_turn({name: way for name, way in every.items() if name not in slow}, rounds=6)
    times |= in_turn({name: every[name] for name in slow}, rounds=2)
    base = next(iter(times.values()))
    table = Table("way", "seconds", "ratio", "bound", "peak memory", title=f"ResNet-18, {IMAGES} images of {SIDE}²")
    for name, seconds in times.items():
        bound = "≤ 1.5" if name.startswith("RandomCoordinates") else ""
        memory = f"{peak(name) / 2**20:,.0f} MiB"
        table.add_row(name, f"{seconds:.2f}", f"{seconds / base:.2f}", bound, memory)
    console.print(table)


def outputs(console: Console) -> None:
    """Ten outputs: one forward pass and ten backward passes."""
    every = ways(10)
    names = list(every)[:2]
    times = in_turn({name: every[name] for name in names}, rounds=2)
    base, ours = times.values()
    console.print(
        f"ResNet-18, ten outputs, {IMAGES} images of {SIDE}²: RandomCoordinates(2000) {ours:.1f} s, one forward and "
        f"ten backward passes {base:.1f} s: ratio {ours / base:.2f}, bound ≤ 1.3"
    )


def exact_mlp_kernel() -> object:
    train, val, _ = mnist_4v9()
    torch.manual_seed(0)
    network = mlp().eval()
    return exact_kernels(network, torch.split(train, 200), torch.split(val, 200), memory=2 << 30)


def kernel(console: Console) -> None:
    """Exact kernels where the Jacobian would not fit."""
    seconds = timed(exact_mlp_kernel)
    size = 4 * 2000 * sum(parameter.numel() for parameter in mlp().parameters())
    console.print(
        f"exact kernel, MNIST 4 v 9, MLP of 1024, n = m = 1000: {seconds:.2f} s (≤ 10), "
        f"{peak(KERNEL) / 2**20:,.0f} MiB more at the peak (≤ 2,048); the Jacobian would be {size / 1e9:.1f} GB"
    )


if __name__ == "__main__":
    main()
