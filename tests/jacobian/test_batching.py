"""How many samples go through the network at once: as many as fit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.jacobian.networks import network, rows_of
from tests.oracles.compare import close
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.batching import Limited, RowFunction, check_uncoupled, same_rows
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.samples.samples import Batch

ALLOWED = 10**9


class Counting:
    """Differentiates; keeps how many samples it was given."""

    def __init__(self, most: int = 1000, hunger: int = 0) -> None:
        self.sizes: list[int] = []
        self._most, self._hunger = most, hunger
        self._engine = RowEngine(network(), torch.zeros(2, 5))

    def __call__(self, inputs: Inputs, /) -> tuple[Tensor, Tensor]:
        assert isinstance(inputs, Tensor)
        self.sizes.append(len(inputs))
        if len(inputs) > self._most:
            torch.empty(2**50)  # more than there can be
        _ = torch.empty(len(inputs), self._hunger, dtype=torch.uint8)
        return self._engine(inputs)


def batch(samples: int = 37) -> Batch:
    generator = torch.Generator().manual_seed(0)
    return Batch(torch.randn(samples, 5, generator=generator), None)


def check(limited: Limited) -> None:
    """What comes is what the engine gives for all at once."""
    rows, outputs = RowEngine(network(), torch.zeros(2, 5))(batch().inputs)
    found = limited(batch())
    close(found[0], rows.detach().numpy(), rtol=1e-5, atol=1e-6)
    close(found[1], outputs.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_a_batch_that_fits_goes_at_once() -> None:
    engine = Counting()
    check(Limited(engine, 64, ALLOWED))
    assert engine.sizes == [37]


def test_the_batch_is_halved_until_it_fits() -> None:
    engine = Counting(most=5)
    check(Limited(engine, 32, ALLOWED))
    assert engine.sizes == [32, 16, 8, 4, *[4] * 8, 1]


def test_the_batch_is_halved_while_it_takes_more_than_allowed() -> None:
    engine = Counting(hunger=10**6)
    check(Limited(engine, 32, 6 * 10**6))
    assert engine.sizes[:4] == [32, 16, 8, 4]  # 4 MB and a quarter for what cannot be counted, of 6 MB allowed


def test_what_was_proven_is_not_measured_again() -> None:
    engine = Counting(hunger=10**6)
    limited = Limited(engine, 32, 1)
    limited.trust(16)
    check(limited)
    assert engine.sizes == [16, 16, 5]


def test_one_sample_that_does_not_fit_is_said() -> None:
    with pytest.raises(InputError, match="one sample alone runs out of memory"):
        Limited(Counting(most=0), 4, ALLOWED)(batch())


def test_other_errors_of_the_engine_pass_through() -> None:
    engine: RowFunction = RowEngine(network(), torch.zeros(2, 5))
    with pytest.raises(InputError, match=r"the network fails on a batch of samples .*shapes cannot be multiplied"):
        Limited(engine, 4, ALLOWED)(Batch(torch.zeros(3, 2), None))


def test_a_budget_that_one_sample_exceeds_is_said(caplog: pytest.LogCaptureFixture) -> None:
    rows = rows_of(memory=1000)
    assert (rows.cut.piece, rows.cut.batch) == (1, 1)
    assert "one sample takes" in caplog.text


def test_rows_that_differ_by_rounding_are_the_same() -> None:
    rows = np.ones((3, 4), np.float32)
    assert same_rows(rows, rows * np.float32(1.004))  # bfloat16 keeps eight bits


def test_rows_that_change_with_the_company_are_refused() -> None:
    alone, together = np.ones((1, 3, 4), np.float32), np.zeros((2, 3, 4), np.float32)
    with pytest.raises(InputError, match="couples samples"):
        check_uncoupled(alone, together)
