"""Fixtures of the command line's tests."""

from __future__ import annotations

import pytest

from tests.cli.calling import Caller


@pytest.fixture
def uniqueinfo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Caller:
    return Caller(capsys, monkeypatch)
