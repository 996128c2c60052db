"""For all tests, before torch is imported."""

import os

# torch 2.13 on processors with AMX: the backward pass of a convolution in bfloat16 ends the process with an illegal
# instruction, in plain torch too. Without AMX it does not, and nothing else here uses it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browsing import chromium
from tests.cli.calling import Caller


@pytest.fixture
def uniqueinfo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Caller:
    """The command line as a user calls it."""
    return Caller(capsys, monkeypatch)


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests of pages."""
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found
