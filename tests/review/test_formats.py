"""Decisions to other tools and back: nothing is lost on the way; the tools read it where they are installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uniqueinfo as ui
from tests.cli.calling import Caller
from uniqueinfo.applications.mislabeled import mislabeled
from uniqueinfo.review.decisions import NAME, Decision, Ledger, read, standing
from uniqueinfo.review.exchange import _records
from uniqueinfo.review.formats.label_studio import interface
from uniqueinfo.runs.folder import Run


@pytest.fixture
def decided(folder_run: Path, tmp_path: Path) -> Path:
    """A run in which two people decided on the first suspects, in every way."""
    run = Path(shutil.copytree(folder_run, tmp_path / "run"))
    rows = mislabeled(ui.load(run)).frame().head(4)
    kinds: list[tuple[Any, int]] = [("relabel", 0), ("keep", 1), ("drop", 2), ("unsure", 3)]
    label = rows["suggested"].iloc[0]
    made = [
        Decision(
            str(rows["id"].iloc[at]),
            kind,
            given=str(rows["label"].iloc[at]),
            by=by,
            label=label if kind == "relabel" else None,
        )
        for by in ("Ann", "Ben")
        for kind, at in kinds[: 4 if by == "Ann" else 2]
    ]
    Ledger(run / NAME).append(*made)
    return run


def outcomes(path: Path) -> set[tuple[str, str, str, str | None]]:
    found = standing(read(path))
    return {(one.sample, one.by, *one.outcome) for opinions in found.values() for one in opinions.values()}


@pytest.mark.parametrize("form", ["decisions", "label-studio", "argilla", "fiftyone"])
def test_what_goes_out_comes_back(uniqueinfo: Caller, decided: Path, tmp_path: Path, form: str) -> None:
    before, file = outcomes(decided / NAME), tmp_path / "file"
    assert uniqueinfo("decisions", decided, "--export", file, "--format", form).code == 0
    (decided / NAME).unlink()
    answer = uniqueinfo("decisions", decided, "--import", file, "--format", form)
    assert answer.code == 0
    assert "6 decisions" in answer.out
    assert outcomes(decided / NAME) == before
    assert "0 decisions" in uniqueinfo("decisions", decided, "--import", file, "--format", form).out


def test_cleanlabs_table_brings_back_the_labels(uniqueinfo: Caller, decided: Path, tmp_path: Path) -> None:
    mended = {(one[0], one[3]) for one in outcomes(decided / NAME) if one[2] == "relabel"}
    file = tmp_path / "issues.csv"
    assert uniqueinfo("decisions", decided, "--export", file, "--format", "cleanlab").code == 0
    (decided / NAME).unlink()
    assert uniqueinfo("decisions", decided, "--import", file, "--format", "cleanlab").code == 0
    assert mended <= {(one[0], one[3]) for one in outcomes(decided / NAME)}


def test_issues_that_cleanlab_finds_are_taken_over(uniqueinfo: Caller, decided: Path, tmp_path: Path) -> None:
    cleanlab = pytest.importorskip("cleanlab.filter")
    scores = ui.everyone(ui.load(decided))
    chances = scores.loo_probabilities()
    names = np.array(["one", "two", "zero"])
    given = np.searchsorted(names, np.asarray(scores.labels))
    issue = cleanlab.find_label_issues(given, chances)
    predicted = names[chances.argmax(axis=1)]
    table = {"id": scores.names, "is_label_issue": issue, "label_score": 0.5, "given_label": scores.labels}
    pd.DataFrame({**table, "predicted_label": predicted}).to_csv(tmp_path / "issues.csv", index=False)
    (decided / NAME).unlink()
    answer = uniqueinfo("decisions", decided, "--import", tmp_path / "issues.csv", "--format", "cleanlab")
    assert f"{issue.sum()} decisions" in answer.out
    assert {one[1] for one in outcomes(decided / NAME)} == {"cleanlab"}


def exported(uniqueinfo: Caller, run: Path, file: Path, form: str) -> Any:
    assert uniqueinfo("decisions", run, "--export", file, "--format", form).code == 0
    return json.loads(file.read_text(encoding="utf-8"))


def test_label_studio_takes_its_tasks(uniqueinfo: Caller, decided: Path, tmp_path: Path) -> None:
    sdk = pytest.importorskip("label_studio_sdk.label_interface")
    tasks = exported(uniqueinfo, decided, tmp_path / "tasks.json", "label-studio")
    config = sdk.LabelInterface(interface(list(_records(Run.find(decided))), ("one", "two", "zero")))
    config.validate()
    assert all(config.validate_prediction(made) for task in tasks for made in task["predictions"])
    assert all(
        config.validate_region(part) for task in tasks for made in task["annotations"] for part in made["result"]
    )


def test_argilla_takes_its_records(uniqueinfo: Caller, decided: Path, tmp_path: Path) -> None:
    argilla = pytest.importorskip("argilla")
    for found in exported(uniqueinfo, decided, tmp_path / "records.json", "argilla"):
        record = argilla.Record.from_dict(found)
        assert record.suggestions["label"].value == found["suggestions"]["label"]["value"]
        assert record.to_dict()["responses"] == found["responses"]


def test_fiftyone_takes_its_samples(uniqueinfo: Caller, decided: Path, tmp_path: Path) -> None:
    fiftyone = pytest.importorskip("fiftyone")
    for found in exported(uniqueinfo, decided, tmp_path / "samples.json", "fiftyone")["samples"]:
        sample = fiftyone.Sample.from_dict(found)
        assert sample["ground_truth"].label == found["ground_truth"]["label"]
        assert Path(sample.filepath).is_file()


def test_what_is_no_such_file_is_refused(uniqueinfo: Caller, decided: Path, tmp_path: Path) -> None:
    before = (decided / NAME).read_bytes()
    (tmp_path / "x.json").write_text('[{"data": {}, "annotations": [{"result": [{"type": "choices"}]}]}]')
    (tmp_path / "y.json").write_text('[{"id": "nobody", "responses": {"label": [{"value": "one"}]}}]')
    cases = {
        "is not tasks of Label Studio": ("x.json", "label-studio"),
        "names sample 'nobody'": ("y.json", "argilla"),
        "there is no such format": ("y.json", "argila"),
        "cannot be read": ("none.json", "argilla"),
    }
    for words, (file, form) in cases.items():
        answer = uniqueinfo("decisions", decided, "--import", tmp_path / file, "--format", form)
        assert answer.code == 2
        assert words in answer.err
    assert (decided / NAME).read_bytes() == before
