"""A quadratic form is the same whichever way it is held."""

from __future__ import annotations

import pytest
import torch

from uniqueinfo.spectrum.metric import Metric


@pytest.mark.parametrize("rank", [1, 2, 7])
def test_all_kinds_give_the_same_form(rank: int) -> None:
    generator = torch.Generator().manual_seed(0)
    factor, vectors = (torch.randn(5, rank, dtype=torch.float64, generator=generator) for _ in range(2))
    wanted = (vectors @ factor.T).square().sum(dim=1)
    torch.testing.assert_close(Metric(factor, factor=True).of(vectors), wanted)
    torch.testing.assert_close(Metric(factor.T @ factor, factor=False).of(vectors), wanted)
    skewed = factor.T @ factor + torch.triu(torch.ones(rank, rank, dtype=torch.float64), 1)
    skewed -= torch.tril(torch.ones(rank, rank, dtype=torch.float64), -1)  # as rounding may leave it: vᵀMv is the same
    torch.testing.assert_close(Metric(skewed, factor=False).of(vectors), wanted)
