"""Partitions small enough that tiny problems have many, and one cluster for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from uniqueinfo.scoring import cut


@pytest.fixture(autouse=True)
def _small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "_WHOLE", 32 * 1024)


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Of two processes; importing torch in them takes longer than all tests together."""
    distributed: Any = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found
