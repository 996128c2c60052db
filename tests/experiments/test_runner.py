from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from uniqueinfo.errors import InputError
from uniqueinfo.experiments import bound
from uniqueinfo.experiments.registry import EXPERIMENTS
from uniqueinfo.experiments.runner import Request, reproduce

TINY = {"points_tried": 1, "runs": 200, "replacements": 20, "runs_each": 20}


@pytest.fixture(scope="module")
def tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(bound._SIZES, "small", TINY)
        patch.setattr(bound, "_REMEMBERED", 20)
        yield


@pytest.fixture(scope="module")
def once(tiny: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one run left."""
    folder = tmp_path_factory.mktemp("once")
    reproduce("bound", Request(seed=3), folder)
    return folder


def test_a_run_leaves_figures_table_and_claims(once: Path) -> None:
    folder = once / "bound"
    assert sorted(path.name for path in folder.iterdir()) == ["bound.png", "bound.svg", "figures.json", "table.csv"]
    found = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert (found["experiment"], found["scale"], found["seed"]) == ("bound", "small", 3)
    assert found["settings"]["runs_each"] == 20
    assert found["seconds"] > 0
    assert {claim["paper"] for claim in found["claims"]} >= {1.3, 3.0}
    assert len(pd.read_csv(folder / "table.csv")) == 1
    assert found["figures"]["bound"].startswith("Above and left")


def test_what_was_trained_is_not_trained_again(once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound, "shuffled_sgd", lambda *_, **__: pytest.fail("trained again"))
    reproduce("bound", Request(seed=3, work=once / "work"), tmp_path)
    assert (tmp_path / "bound" / "table.csv").read_bytes() == (once / "bound" / "table.csv").read_bytes()


def test_the_same_seed_gives_the_same_table_and_figure(once: Path, tmp_path: Path) -> None:
    reproduce("bound", Request(seed=3), tmp_path)  # with a work folder of its own: all is computed again
    for file in ("table.csv", "bound.svg", "bound.png"):
        assert (tmp_path / "bound" / file).read_bytes() == (once / "bound" / file).read_bytes()


def test_an_unknown_experiment_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"there are: {', '.join(EXPERIMENTS)}"):
        reproduce("nonsense", Request(), tmp_path)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_module_that_says_what_it_is(name: str) -> None:
    experiment = import_module(f"uniqueinfo.experiments.{name}")
    assert experiment.__doc__
    assert callable(experiment.run)
