"""A run folder that someone sends runs none of its code unless the user vouches for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import uniqueinfo as ui
from tests.cli.calling import Caller
from uniqueinfo.applications.registry import questions

NETWORK = """
from pathlib import Path
from torch import nn
Path(__file__).with_name("ran").touch()
def make(outputs): return nn.Linear(3, outputs)
"""
QUESTIONS = (
    "adversarial",
    "attribute",
    "compare",
    "redundancy",
    "shapley",
    "subclasses",
    "summarize",
    "validate",
)
OPTIONS = {"attribute": ("--val-index", 0), "compare": ("--by", "label")}


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a network that tells when its code runs, and a run of both."""
    folder = tmp_path_factory.mktemp("sent")
    X = np.random.default_rng(0).normal(size=(24, 3)).astype(np.float32)
    np.savez(folder / "data.npz", X=X, y=(X[:, 0] > 0).astype(int))
    (folder / "net.py").write_text(NETWORK)
    from uniqueinfo.runs.folder import Run
    from uniqueinfo.runs.job import Job
    from uniqueinfo.runs.models import ModelChoice
    from uniqueinfo.runs.prepared import prepare

    prepared = prepare(Job(folder / "data.npz", ModelChoice(f"{folder / 'net.py'}:make"), projection=None))
    prepared.score(Run.open(folder / "run", prepared.record()))
    return folder


@pytest.fixture
def ran(sent: Path) -> Path:
    """A file that is there once the network's code has run."""
    (sent / "ran").unlink(missing_ok=True)
    return sent / "ran"


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_question_runs_the_code_of_a_folder(sent: Path, ran: Path, uniqueinfo: Caller, question: str) -> None:
    inputs = [sent / "data.npz"] if questions()[question].new_data else []
    answer = uniqueinfo(question, sent / "run", *inputs, *OPTIONS.get(question, ()))
    assert answer.code == 2
    assert "net.py, whose code this question would run; if you trust that file, say --trust" in answer.err
    assert not ran.exists()


@pytest.mark.parametrize("command", ["show", "report", "mislabeled"])
def test_what_needs_no_network_needs_no_trust(sent: Path, ran: Path, uniqueinfo: Caller, command: str) -> None:
    assert uniqueinfo(command, sent / "run").code == 0
    assert not ran.exists()


def test_python_runs_it_for_no_question_either(sent: Path, ran: Path) -> None:
    with pytest.raises(ui.InputError, match=r"trust=True"):
        ui.redundancy(ui.load(sent / "run"))
    assert not ran.exists()
    ui.redundancy(ui.load(sent / "run", trust=True))
    assert ran.exists()


@pytest.mark.parametrize("by_name", [False, True])
def test_the_user_vouches_for_it_or_names_it_again(sent: Path, ran: Path, uniqueinfo: Caller, by_name: bool) -> None:
    vouched = ("--model", f"{sent / 'net.py'}:make") if by_name else ("--trust",)
    assert uniqueinfo("compare", sent / "run", "--by", "label", *vouched).code == 0
    assert ran.exists()


def test_another_file_is_not_taken_for_it(sent: Path, ran: Path, uniqueinfo: Caller, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NETWORK.replace("Linear(3", "Linear(4"))
    answer = uniqueinfo("compare", sent / "run", "--by", "label", "--model", f"{tmp_path / 'net.py'}:make")
    assert answer.code == 2
    assert "its model files have changed" in answer.err
    assert not ran.exists()
