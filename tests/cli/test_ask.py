"""Questions asked of a finished run: printed, kept, and shown in its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.calling import Caller

QUESTIONS = {
    "mislabeled": ["--noise-rate", "0.1"],
    "summarize": ["--keep", "0.5"],
    "compare": ["--by", "source"],
    "subclasses": ["--label", "yes", "--share", "0.5"],
    "attribute": ["--val-index", "3"],
    "redundancy": [],
    "shapley": ["--subsets", "5"],
    "validate": ["--samples", "10"],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["label"] = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, "yes", "no")
    table["source"] = np.where(np.arange(60) % 3 == 0, "clinic", "web")
    table.to_csv(folder / "train.csv", index=False)
    return folder / "train.csv"


@pytest.fixture
def run(uniqueinfo: Caller, data: Path, tmp_path: Path) -> Path:
    out = tmp_path / "run"
    options = ["--extra", "source", "--model", "mlp:16", "--lr", "0.05", "--steps", "20", "--out", out]
    assert uniqueinfo("score", data, *options).code == 0
    return out


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_printed_and_shown_in_the_page(uniqueinfo: Caller, run: Path, question: str) -> None:
    said = uniqueinfo(question, run, *QUESTIONS[question])
    assert said.code == 0, said.err
    kept = json.loads((run / "answers" / f"{question}.json").read_text(encoding="utf-8"))
    assert kept["sentence"] in said.out
    assert f'id="answer-{question}"' in (run / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_given_to_machines(uniqueinfo: Caller, run: Path, question: str) -> None:
    found = json.loads(uniqueinfo(question, run, *QUESTIONS[question], "--json").out)
    assert {"run", "report", "name", "title", "sentence", "table", "galleries"} <= found.keys()
    assert found["name"] == question


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_explains_itself_by_example(uniqueinfo: Caller, question: str) -> None:
    assert f"Example: uniqueinfo {question}" in uniqueinfo(question, "--help").out


def test_scoring_can_validate_at_once(uniqueinfo: Caller, data: Path, tmp_path: Path) -> None:
    options = ["--model", "mlp:16", "--lr", "0.05", "--steps", "20", "--out", tmp_path / "run", "--validate", "10"]
    assert uniqueinfo("score", data, *options).code == 0
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Held against training the network again without 10 samples" in page


def test_a_linear_model_needs_no_validation(uniqueinfo: Caller, data: Path, tmp_path: Path) -> None:
    assert uniqueinfo("score", data, "--out", tmp_path / "run").code == 0
    assert "it is its own linearization" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    said = uniqueinfo("validate", tmp_path / "run")
    assert (said.code, "its scores are exact already" in said.err) == (2, True)


@pytest.mark.parametrize("model", ["mlp:16", "linear"])
def test_new_inputs_are_ranked(uniqueinfo: Caller, data: Path, tmp_path: Path, model: str) -> None:
    options = ["--extra", "source", "--model", model, "--lr", "0.05", "--steps", "20", "--out", tmp_path / "run"]
    assert uniqueinfo("score", data, *options).code == 0
    table = pd.read_csv(data).head(8)
    table.loc[3, ["a", "b", "c"]] = 40.0  # nothing like the others
    table.drop(columns="label").to_csv(tmp_path / "new.csv", index=False)
    said = uniqueinfo("adversarial", tmp_path / "run", tmp_path / "new.csv", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["table"][0]["input"] == 3


def test_a_column_that_is_not_there_is_the_users_mistake(uniqueinfo: Caller, run: Path) -> None:
    said = uniqueinfo("compare", run, "--by", "sauce")
    assert said.code == 2
    assert "sauce" in said.err
    assert "source" in said.err


def test_what_was_exported_names_the_kept_samples(uniqueinfo: Caller, run: Path, tmp_path: Path) -> None:
    assert uniqueinfo("summarize", run, "--keep", "0.5", "--export", tmp_path / "kept.csv").code == 0
    samples = pd.read_parquet(run / "scores.parquet")["id"]
    kept = pd.read_csv(tmp_path / "kept.csv")["id"]
    assert len(kept) == round(len(samples) / 2)
    assert set(kept) <= set(samples)


def test_an_export_keeps_every_row_and_column_of_the_file(
    uniqueinfo: Caller, run: Path, data: Path, tmp_path: Path
) -> None:
    said = uniqueinfo("mislabeled", run, "--export", tmp_path / "clean.csv")
    given, found = pd.read_csv(data), pd.read_csv(tmp_path / "clean.csv")
    assert f"Exported 60 rows to {tmp_path / 'clean.csv'}" in said.out
    assert {"label", "given", "suggested", "confidence", "decision", "place"} <= {*found}
    pd.testing.assert_frame_equal(found[["a", "b", "c", "source"]], given[["a", "b", "c", "source"]])
    assert found["given"].tolist() == given["label"].tolist()


def test_an_export_says_which_columns_are_gone_with_their_file(
    uniqueinfo: Caller, run: Path, data: Path, tmp_path: Path
) -> None:
    kept = data.read_bytes()
    data.write_bytes(kept + b"0,0,0,yes,web\n")
    try:
        said = uniqueinfo("mislabeled", run, "--export", tmp_path / "clean.csv")
    finally:
        data.write_bytes(kept)
    assert "only columns that the run keeps are exported" in said.out
    found = pd.read_csv(tmp_path / "clean.csv")
    assert len(found) == 60
    assert "a" not in found


def test_the_table_shows_held_out_rows(uniqueinfo: Caller, run: Path) -> None:
    said = uniqueinfo("show", run, "--top", "60")
    assert "Most informative of 60 samples" in said.out
    assert "held out" in said.out


def test_the_page_shows_held_out_rows(uniqueinfo: Caller, run: Path) -> None:
    assert uniqueinfo("mislabeled", run, "--noise-rate", "1").code == 0
    assert "held out" in (run / "report.html").read_text(encoding="utf-8")


def test_held_out_rows_are_named_by_their_rows_in_the_file(uniqueinfo: Caller, run: Path) -> None:
    rows = set(range(60)) - set(pd.read_parquet(run / "scores.parquet")["id"])
    last = max(rows)
    said = uniqueinfo("attribute", run, "--val-id", last)
    assert f"validation sample {last} is" in said.out
    felt = pd.read_parquet(run / "scores.parquet")["effects_id"]
    assert {row for few in felt for row in few} <= rows


def test_the_page_names_validation_samples_by_their_ids(uniqueinfo: Caller, data: Path, tmp_path: Path) -> None:
    table = pd.read_csv(data)
    table.iloc[:40].to_csv(tmp_path / "train.csv", index=False)
    table.iloc[40:].assign(id=[f"case {i}" for i in range(20)]).to_csv(tmp_path / "val.csv", index=False)
    out = tmp_path / "run"
    assert uniqueinfo("score", tmp_path / "train.csv", "--val", tmp_path / "val.csv", "--out", out).code == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '"validation_names":{' in page
    assert ':"case 7"' in page


def test_new_inputs_are_named_by_their_ids(uniqueinfo: Caller, data: Path, run: Path, tmp_path: Path) -> None:
    pd.read_csv(data).head(3).assign(id=["x", "y", "z"]).to_csv(tmp_path / "new.csv", index=False)
    said = uniqueinfo("adversarial", run, tmp_path / "new.csv", "--json")
    assert {row["input"] for row in json.loads(said.out)["table"]} == {"x", "y", "z"}


def test_how_long_validation_takes_is_told_and_nothing_is_trained(uniqueinfo: Caller, run: Path) -> None:
    said = uniqueinfo("validate", run, "--dry-run")
    assert said.code == 0, said.err
    assert "12 times without one, 20 steps each: about 1 s." in said.out
    assert not (run / "retraining").exists()
    assert not (run / "answers").exists()
    assert json.loads(uniqueinfo("validate", run, "--dry-run", "--json").out)["plan"]["trainings"] == 12


def test_validation_takes_a_budget(uniqueinfo: Caller, run: Path) -> None:
    said = uniqueinfo("validate", run, "--budget", "10m")
    assert said.code == 0, said.err
    assert uniqueinfo("validate", run, "--budget", "soon").code == 2


@pytest.fixture
def pool(data: Path, tmp_path: Path) -> Path:
    """Candidates with ids, whose label column is empty."""
    table = pd.read_csv(data).head(12).assign(id=[f"p{row}" for row in range(12)], label=None)
    table.to_csv(tmp_path / "pool.csv", index=False)
    return tmp_path / "pool.csv"


@pytest.mark.parametrize("model", ["mlp:16", "linear"])
def test_what_to_label_next_is_chosen_and_exported(
    uniqueinfo: Caller, data: Path, pool: Path, tmp_path: Path, model: str
) -> None:
    out, where = tmp_path / "run", tmp_path / "next.csv"
    options = ["--extra", "source", "--model", model, "--lr", "0.05", "--steps", "20", "--out", out]
    assert uniqueinfo("score", data, *options).code == 0
    said = uniqueinfo("acquire", out, pool, "--budget", "4", "--by", "source", "--export", where, "--json")
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert sum(source["chosen"] for source in told["sources"]) == 4
    exported = pd.read_csv(where)
    assert exported["id"].tolist() == [row["id"] for row in told["table"]]
    given = pd.read_csv(pool).set_index("id")
    assert exported["source"].tolist() == given.loc[exported["id"], "source"].tolist()
    assert "What to label or get next?" in (out / "report.html").read_text(encoding="utf-8")
