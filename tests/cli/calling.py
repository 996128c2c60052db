"""The command line as a user calls it, in this process: arguments in, exit code and output out."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from uniqueinfo.cli import main


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Caller:
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *arguments: Any) -> Answer:
        self.monkeypatch.setattr(sys, "argv", ["uniqueinfo", *map(str, arguments)])
        self.monkeypatch.setenv("COLUMNS", "200")
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        said = self.capsys.readouterr()
        return Answer(int(stop.value.code or 0), said.out, said.err)
