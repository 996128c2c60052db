"""How many samples the engine is given at once: measured on two, halved where they do not fit."""

import logging
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.peak import Peak
from uniqueinfo.memory import as_text
from uniqueinfo.samples.datasets import Inputs, leaves, map_leaves
from uniqueinfo.samples.samples import Batch

logger = logging.getLogger(__name__)

_MARGIN = 1.25  # for the scratch space of kernels, which cannot be counted
_WORKING = 2 * 1024**3  # more brings no speed, and less of the plan hangs on what happens to be free
_BATCH = 256
_PIECE = 1024  # samples: at most so many are lost when a run is killed
_PIECE_BYTES = 16 * 1024**2


@dataclass(frozen=True)
class Cut:
    """Samples in a piece, whose rows are kept together, and in a batch, which the network is given at once."""

    piece: int
    batch: int


class RowFunction(Protocol):
    """Samples → their Jacobian rows (b, k, D) and outputs (b, k)."""

    def __call__(self, inputs: Inputs, /) -> tuple[Tensor, Tensor]:
        """Rows and outputs of a batch."""
        ...


def working_share(budget: int) -> int:
    """What a batch may take: half of the budget, the other half being for the rows that are kept."""
    return min(budget // 2, _WORKING)


def measure(engine: RowFunction, batch: Batch) -> tuple[NDArray[np.float32], int]:
    """The rows of a batch and the bytes it took to compute them."""
    with Peak() as peak:
        rows, _ = engine(batch.inputs)
    taken = peak.bytes + sum(leaf.nbytes for leaf in leaves(batch.inputs).values())
    return _float32(rows), int(_MARGIN * taken)


def plan_for(samples: int, row: int, *, one: int, two: int, budget: int) -> Cut:
    """Pieces and batches, from the bytes that a sample's rows take and that computing those of one and two took.

    The batch is the largest power of two with fixed + batch · slope within the working share.

    >>> plan_for(1000, 40, one=30, two=50, budget=700)
    Cut(piece=2, batch=2)
    >>> plan_for(10_000, 40, one=30, two=50, budget=10**6)
    Cut(piece=1024, batch=256)
    """
    share = working_share(budget)
    if one > share:
        logger.warning(
            "one sample takes %s where the memory budget leaves %s: going on sample by sample",
            as_text(one),
            as_text(share),
        )
    piece = min(samples, _PIECE, max(1, min(_PIECE_BYTES, budget // 8) // row))
    batch = batch_within(share, one=one, two=two, most=piece)
    return Cut(piece - piece % batch, batch)


def batch_within(share: int, *, one: int, two: int, most: int) -> int:
    """The largest batch, a power of two, that takes no more than a share, by what one and two samples took.

    >>> batch_within(700, one=30, two=50, most=1000)
    32
    """
    size = min(_BATCH, most, max(1, (share - one) // max(two - one, 1) + 1))
    return 1 << (size.bit_length() - 1)


class Limited:
    """The engine on at most `limit` samples at a time; `limit` halves when they do not fit.

    The first call is measured against `allowed` bytes; later ones are trusted until they run out of memory.
    """

    def __init__(self, engine: RowFunction, limit: int, allowed: int) -> None:
        self.limit = limit
        self._engine = engine
        self._allowed = allowed
        self._proven = False

    def trust(self, limit: int) -> None:
        """Go on with a limit that an earlier run has proven."""
        self.limit, self._proven = min(self.limit, limit), True

    def __call__(self, batch: Batch) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Rows and outputs of a batch, in pieces."""
        size = len(next(iter(leaves(batch.inputs).values())))
        rows: list[NDArray[np.float32]] = []
        outputs: list[NDArray[np.float64]] = []
        done = 0
        while done < size:
            part = map_leaves(batch.inputs, partial(_piece, piece=slice(done, done + self.limit)))
            found = self._try(part)
            if found is None:
                self.limit //= 2
                continue
            rows.append(_float32(found[0]))
            outputs.append(found[1].detach().to("cpu", torch.float64).numpy())
            done += len(rows[-1])
        return np.concatenate(rows), np.concatenate(outputs)

    def _try(self, inputs: Inputs) -> tuple[Tensor, Tensor] | None:
        """What the engine gives, or None if fewer samples are to be tried."""
        try:
            if self._proven:
                return self._engine(inputs)
            with Peak() as peak:
                found = self._engine(inputs)
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            if self.limit == 1:
                raise InputError(
                    f"one sample alone runs out of memory ({error}): project on fewer columns, choose fewer "
                    "outputs, or use a larger machine"
                ) from error
            return None
        if _MARGIN * peak.bytes > self._allowed and self.limit > 1:
            return None
        self._proven = True
        return found


def check_uncoupled(alone: NDArray[np.float32], together: NDArray[np.float32]) -> None:
    """Refuse a network whose rows for a sample hang on chance or on the other samples of its batch."""
    if not same_rows(alone[0], together[0]):
        raise InputError(
            "the first sample has other gradients when a second one is in its batch: the network couples "
            "samples (batch statistics, padding that is not masked) or is random, in eval mode too"
        )


def same_rows(left: NDArray[np.float32], right: NDArray[np.float32]) -> bool:
    """Whether rows agree but for rounding, that of bfloat16 included."""
    scale = max(float(np.linalg.norm(left)), float(np.linalg.norm(right)))
    return float(np.linalg.norm(left - right)) <= 0.1 * scale


def _piece(_: str, leaf: Tensor, *, piece: slice) -> Tensor:
    return leaf[piece]


def _float32(rows: Tensor) -> NDArray[np.float32]:
    return rows.detach().to("cpu", torch.float32).numpy()


def _out_of_memory(error: Exception) -> bool:
    told = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(words in str(error) for words in told)
