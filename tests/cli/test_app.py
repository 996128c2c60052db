"""The command line itself: help, version, exit codes, cold start, Ctrl-C."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.calling import Caller
from tests.runs.readers import files
from uniqueinfo import __version__
from uniqueinfo.cli import main
from uniqueinfo.errors import InputError
from uniqueinfo.runs.job import Job
from uniqueinfo.scores.folder import load_table as load

COMMAND = [sys.executable, "-m", "uniqueinfo.cli"]
SLOW_NETWORK = """
import os, time
from torch import nn

class Slow(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.layer = nn.Linear(3, outputs)

    def forward(self, x):
        time.sleep(float(os.environ.get("DELAY", 0)))
        return self.layer(x)

def make(outputs):
    return Slow(outputs)
"""


def test_version(uniqueinfo: Caller) -> None:
    assert uniqueinfo("--version").out == f"uniqueinfo {__version__}\n"


def test_the_package_itself_runs_as_the_command() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "uniqueinfo", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    assert said.stdout == f"uniqueinfo {__version__}\n"


@pytest.mark.parametrize("command", ["score", "show", "report", "demo"])
def test_every_command_explains_itself_by_example(uniqueinfo: Caller, command: str) -> None:
    said = uniqueinfo(command, "--help").out
    assert re.search(rf"Examples?:\s+uniqueinfo {command}", said)


def test_completion_is_offered(uniqueinfo: Caller) -> None:
    assert "--install-completion" in uniqueinfo("--help").out


def test_help_starts_without_torch_in_half_a_second() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "score" in done.stdout
    # What the processor was busy with, for others may be using it too.
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 0.5


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, uniqueinfo.cli.app; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_fault_of_ours_has_exit_code_1_and_no_traceback(
    tmp_path: Path, uniqueinfo: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(job: Job) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("uniqueinfo.cli.commands.prepare", fail)
    answer = uniqueinfo("score", tmp_path, "--out", tmp_path / "run")
    assert answer.code == 1
    assert answer.err.startswith("error: RuntimeError: a bug\n")
    assert "Traceback" not in answer.err


def test_debug_lets_an_error_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["uniqueinfo", "score", str(tmp_path / "no.csv"), "--out", str(tmp_path / "run"), "--debug"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(InputError, match="no such file"):
        main()


def _heed_ctrl_c() -> None:
    """A shell that runs the tests in the background has them, and their children, ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_a_stopped_run_is_gone_on_with(tmp_path: Path, uniqueinfo: Caller) -> None:
    (tmp_path / "net.py").write_text(SLOW_NETWORK)
    data, run = files.npz(tmp_path / "a.npz"), tmp_path / "run"
    score = ["score", str(data), "--model", f"{tmp_path / 'net.py'}:make", "--out", str(run)]
    stopped = subprocess.Popen(
        [*COMMAND, *score],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DELAY": "0.5"},
        preexec_fn=_heed_ctrl_c,
    )
    deadline = time.monotonic() + 60
    while not (run / "work").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    stopped.send_signal(signal.SIGINT)
    _, said = stopped.communicate(timeout=60)
    assert stopped.returncode == 130
    assert "The same command goes on from here" in said
    assert not (run / "scores.parquet").exists()
    assert uniqueinfo(*score).code == 0
    assert len(load(run)) == 20
