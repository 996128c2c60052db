"""Partitions small enough that tiny problems have many."""

from __future__ import annotations

import pytest

from uniqueinfo.scoring import cut


@pytest.fixture(autouse=True)
def _small_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "_WHOLE", 32 * 1024)
