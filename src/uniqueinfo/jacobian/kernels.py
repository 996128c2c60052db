"""Exact kernels J Jᵀ without the Jacobian: a few parameters at a time, within a memory budget."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.counting import in_factors
from uniqueinfo.jacobian.forward import batch_size, repeat_to
from uniqueinfo.jacobian.gradients import Gradient, Outer
from uniqueinfo.jacobian.network import Network
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.pieces import WORKSPACE, Block, Factors, Piece, mirror
from uniqueinfo.progress import progress
from uniqueinfo.samples.datasets import Inputs


@dataclass(frozen=True)
class Kernels:
    """Kernels of n training and m validation samples; rows i·k … i·k + k − 1 are the k outputs of sample i.

    `train` (nk, nk) is Θ = J Jᵀ and `val` (mk, nk) is J_val Jᵀ, both float64; `outputs` are (n, k) and (m, k). Outputs
    that are alike share one row: (n, n) and (m, n).
    """

    train: Tensor
    val: Tensor
    outputs: Tensor
    outputs_val: Tensor


def exact_kernels(
    model: nn.Module,
    train: Iterable[Inputs],
    val: Iterable[Inputs] = (),
    *,
    memory: int,
    outputs: Outputs | None = None,
    counts: tuple[int, int] | None = None,
) -> Kernels:
    """Sum the kernel over parameters, Θ = Σ_w J_w J_wᵀ, with only as many of their columns as `memory` holds.

    A weight whose gradient is g ⊗ x needs no columns at all: (J_w J_wᵀ)_ab = (g_a · g_b)(x_a · x_b).
    `train` and `val` are batches of inputs; they are gone through once for each portion of the parameters, and once
    more to count the samples unless their `counts` are given, so they must be iterable again. `memory`, in bytes, is
    for kernels and columns; running a batch comes on top.
    Products are summed in float64. The model must be in evaluation mode.

    >>> model, x = torch.nn.Linear(2, 1), torch.tensor([[3.0, 4.0]])
    >>> exact_kernels(model, [x], memory=1 << 30).train  # 3² + 4² + 1
    tensor([[26.]], dtype=torch.float64)
    """
    n, m = counts or [sum(batch_size(batch) for batch in batches) for batches in (train, val)]
    example = next(iter(train), None)
    if example is None:
        reason = "can be gone through only once: give a list" if n else "are empty: give at least one"
        raise InputError(f"the batches of training samples {reason}")
    network = Network(model, example, outputs)
    k = 1 if network.alike else network.outputs
    kernel = torch.zeros((n + m) * k, n * k, dtype=torch.float64, device=network.device)
    given = network.classes if network.alike else k
    results = torch.zeros(n + m, given, dtype=network.dtype, device=network.device)
    room = memory - kernel.nbytes - 3 * 8 * WORKSPACE
    portions = list(_portions(_parts(network, example, n + m, room), room, memory))
    with progress("Kernels", len(portions) * (n + m)) as advance:
        for portion in portions:
            _add(portion, kernel, results, network, chain(train, val), advance)
    mirror(kernel[: n * k])
    return Kernels(kernel[: n * k], kernel[n * k :], results[:n], results[n:])


@dataclass(frozen=True)
class _Part:
    """Rows start … stop of a parameter; each takes `row_bytes` for all samples. Factors count as one row.

    Factors of a weight serve for the bias of its layer too.
    """

    name: str
    start: int
    stop: int
    row_bytes: int
    by_factors: bool = False
    with_bias: bool = False


def _parts(network: Network, example: Inputs, samples: int, room: int) -> Iterator[_Part]:
    """Every parameter whole, in the cheaper of the two forms."""
    seen: dict[str, list[Gradient]] = {}
    network.run(repeat_to(example, 1), lambda output, part, name, g: seen.setdefault(name, []).append(g))
    k = network.outputs
    number = samples * network.dtype.itemsize
    served: set[str] = set()
    for name, gradients in sorted(seen.items(), key=lambda item: item[0] not in network.biases):
        if name in served:
            continue
        first = gradients[0]
        if len(gradients) == k and isinstance(first, Outer) and first.x.groups == 1:
            count, height, columns = first.x.count, first.height, first.columns
            # As they come, side by side, and in float64.
            held = 4 * number * count * (columns + k * height)
            # One call with few positions: products of Gram matrices take less than those of the columns.
            if in_factors(count, columns, height, k, alike=network.alike) and held <= room:
                bias = network.biases.get(name, "")
                with_bias = len(seen.get(bias, ())) == k
                served |= {bias} if with_bias else set()
                yield _Part(name, 0, 1, held, by_factors=True, with_bias=with_bias)
                continue
        yield _Part(name, 0, first.height, number * k * first.columns)


def _portions(parts: Iterable[_Part], room: int, memory: int) -> Iterator[list[_Part]]:
    """Parts, split where they must be, as many together as there is room for."""
    portion: list[_Part] = []
    free = room
    queue = deque(parts)
    while queue:
        part = queue.popleft()
        height = min(part.stop - part.start, max(0, free) // part.row_bytes)
        if height:
            portion.append(replace(part, stop=part.start + height))
            free -= height * part.row_bytes
        elif portion:
            yield portion
            portion, free = [], room
        else:
            needed = memory - room + part.row_bytes
            raise InputError(
                f"exact kernels of these samples need {needed / 2**30:.2f} GiB, for the kernels and one row of "
                f"{part.name!r}, and {memory / 2**30:.2f} GiB were given: give more, or use a projection"
            )
        if part.start + height < part.stop:
            queue.appendleft(replace(part, start=part.start + height))
    if portion:
        yield portion


def _add(
    portion: list[_Part],
    kernel: Tensor,
    results: Tensor,
    network: Network,
    batches: Iterable[Inputs],
    advance: Callable[[int], None],
) -> None:
    """Go through the data once and add the portion's part of the kernel."""
    pieces: dict[str, list[Piece]] = {}
    for part in portion:
        pieces.setdefault(part.name, []).append(_piece(part, len(results), network))
    start = 0
    for batch in batches:
        stop = start + batch_size(batch)

        def keep(output: int, part: slice, name: str, gradient: Gradient, start: int = start) -> None:
            for piece in pieces[name]:
                piece.keep(slice(start + part.start, start + part.stop), output, gradient)

        results[start:stop] = network.run(batch, keep, only=pieces)
        advance(stop - start)
        start = stop
    for piece in chain.from_iterable(pieces.values()):
        piece.add_to(kernel)


def _piece(part: _Part, samples: int, network: Network) -> Piece:
    if part.by_factors:
        return Factors(part.name, network.outputs, with_bias=part.with_bias, alike=network.alike)
    columns = (part.stop - part.start) * math.prod(network.shapes[part.name][1:])
    storage = torch.zeros(samples, network.outputs, columns, dtype=network.dtype, device=network.device)
    return Block(part.name, part.start, part.stop, storage, alike=network.alike)
