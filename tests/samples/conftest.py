"""Ten samples, for every test of this folder."""

from __future__ import annotations

import pytest
from torch.utils.data import TensorDataset

from tests.samples import made


@pytest.fixture(name="X")
def inputs() -> made.Inputs:
    return made.inputs()


@pytest.fixture(name="Y")
def labels() -> made.Labels:
    return made.labels()


@pytest.fixture
def pairs() -> TensorDataset:
    return made.pairs()
