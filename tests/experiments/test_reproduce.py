"""What the command `reproduce` prints and returns."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import typer

from uniqueinfo.cli.reproduce import list_experiments, reproduce
from uniqueinfo.errors import InputError
from uniqueinfo.experiments import bound, runner, steadystate
from uniqueinfo.experiments.registry import EXPERIMENTS
from uniqueinfo.experiments.runner import Claim, Request, Result


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two experiments, of which the second has no data."""

    def without_data(request: Request) -> Result:
        raise InputError("found nothing")

    names = {name: EXPERIMENTS[name] for name in ("bound", "steadystate")}
    monkeypatch.setattr("uniqueinfo.cli.reproduce.EXPERIMENTS", names)
    monkeypatch.setattr(runner, "EXPERIMENTS", names)
    found = Result(pd.DataFrame(), {}, [Claim("it", 0.5, 0.4, 0.6, 0.7, False)])
    monkeypatch.setattr(bound, "run", lambda request: found)
    monkeypatch.setattr(steadystate, "run", without_data)


def test_one_experiment_prints_ours_beside_the_papers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reproduce("bound", Request(), tmp_path, as_json=False)
    said = capsys.readouterr().out
    assert "0.5 [0.4, 0.6]" in said
    assert "NO" in said
    assert (tmp_path / "bound" / "figures.json").is_file()


def test_all_goes_on_where_one_cannot_run_and_ends_with_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as stop:
        reproduce("all", Request(), tmp_path, as_json=False)
    assert stop.value.exit_code == 1
    said = capsys.readouterr()
    assert "steadystate did not run: found nothing" in said.err
    assert "0.5 [0.4, 0.6]" in said.out


def test_what_is_skipped_is_not_run(tmp_path: Path) -> None:
    reproduce("all", Request(), tmp_path, as_json=False, skip=["steadystate"])
    assert (tmp_path / "bound" / "figures.json").is_file()


def test_a_name_to_skip_that_does_not_exist_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no experiment 'tabel1'"):
        reproduce("all", Request(), tmp_path, as_json=False, skip=["tabel1"])
    assert not (tmp_path / "bound").exists()


def test_one_that_cannot_run_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found nothing"):
        reproduce("steadystate", Request(), tmp_path, as_json=False)


def test_json_holds_the_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        reproduce("all", Request(), tmp_path, as_json=True)
    said = json.loads(capsys.readouterr().out)
    assert said["claims"]["bound"][0]["low"] == 0.4
    assert said["failed"] == {"steadystate": "found nothing"}


def test_the_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    list_experiments(as_json=False)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["bound", "steadystate"]


@pytest.mark.slow
def test_several_at_a_time_tell_of_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes of their own know the real experiments: two of them, told apart by their data being nowhere."""
    monkeypatch.setattr(
        "uniqueinfo.cli.reproduce.EXPERIMENTS", {name: EXPERIMENTS[name] for name in ("lengths", "sources")}
    )
    with pytest.raises(typer.Exit):
        reproduce("all", Request(data=tmp_path / "nowhere"), tmp_path, as_json=False, jobs=2)
    said = capsys.readouterr().err
    assert "lengths did not run: " in said
    assert "sources did not run: " in said
