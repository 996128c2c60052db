"""Several labels of each sample, and several numbers: asked about wrong labels as classes are, held against oracles."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score

import uniqueinfo as ui
from tests.cli.calling import Caller
from uniqueinfo.scores.predictions import label_probabilities
from uniqueinfo.types import Floats, Indices

NAMES = ("wet", "cold", "dark")
DECAY = 0.05


@dataclass(frozen=True, eq=False)
class Planted:
    """Features, labels of which some are wrong, and numbers of which some are."""

    X: Floats
    labels: pd.DataFrame
    numbers: pd.DataFrame
    wrong: Indices
    """Samples whose label of the second column was turned round, and whose number of it is far off."""


@pytest.fixture(scope="module")
def planted() -> Planted:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 5))
    Z = X @ rng.normal(size=(5, 3)) + 0.1 * rng.normal(size=(160, 3))
    wrong = np.sort(rng.choice(np.flatnonzero(np.abs(Z[:, 1]) > 0.7), 8, replace=False))
    labels = (Z > 0).astype(int)
    labels[wrong, 1] = 1 - labels[wrong, 1]
    Z[wrong, 1] += 6
    return Planted(X, pd.DataFrame(labels, columns=NAMES), pd.DataFrame(Z, columns=NAMES), wrong)


@pytest.fixture(scope="module")
def tagged(planted: Planted) -> ui.Scores:
    return ui.score_features(planted.X, planted.labels, planted.X, planted.labels)


@pytest.fixture(scope="module")
def numbered(planted: Planted) -> ui.Scores:
    return ui.score_features(planted.X, planted.numbers, planted.X, planted.numbers)


def test_labels_left_out_are_as_probable_as_after_logistic_regression_without_them(planted: Planted) -> None:
    training = ui.Converged(DECAY, loss="logistic")
    found = ui.score_features(planted.X, planted.labels, training=training, head="paper").loo_probabilities()
    others = np.arange(1, 160)
    for column, name in enumerate(NAMES):
        again = LogisticRegression(C=1 / (DECAY * len(others)), fit_intercept=False, tol=1e-10)
        again.fit(planted.X[others], planted.labels[name].to_numpy()[others])
        assert found[0, column] == pytest.approx(again.predict_proba(planted.X[:1])[0, 1], abs=1e-6)


@pytest.mark.parametrize("loss", ["mse", "logistic"])
def test_wrong_ones_among_several_labels_are_found_by_name(planted: Planted, loss: str) -> None:
    scores = ui.score_features(planted.X, planted.labels, training=ui.Converged(0.01, loss=loss))
    found = ui.mislabeled(scores)
    whole = found.frame(everyone=True).sort_values("id")
    assert roc_auc_score(np.isin(np.arange(160), planted.wrong), whole["wrong"]) > 0.97
    assert found.judged is not None
    assert found.judged.entries is not None
    by_label = found.judged.entries.groupby("label")["wrong"].sum()
    assert by_label.idxmax() == "cold"
    assert by_label["cold"] == pytest.approx(8, abs=3)
    first = found.entries.iloc[0]
    assert first["label"] == "cold"
    assert first["id"] in planted.wrong
    assert first["suggested"] == 1 - planted.labels["cold"][first["id"]]


def test_the_first_suspect_is_told_in_words(planted: Planted, tagged: ui.Scores) -> None:
    found = ui.mislabeled(tagged)
    given = [name for name in NAMES if planted.labels[name][found.frame()["id"].iloc[0]]]
    assert f"labelled {' + '.join(given) or 'none'}" in found.sentence
    assert found.health.task == "several"


def test_cleaned_labels_have_a_column_each(planted: Planted, tagged: ui.Scores) -> None:
    found = ui.mislabeled(tagged)
    clean = found.cleaned()
    taken = (clean["decision"] == "relabel").to_numpy()
    assert taken.any()
    np.testing.assert_array_equal(clean[list(NAMES)][~taken], planted.labels[~taken])
    assert (clean[list(NAMES)][taken] != planted.labels[taken]).any(axis=1).all()


def test_one_label_for_each_sample_has_no_entries(planted: Planted) -> None:
    assert ui.mislabeled(ui.score_features(planted.X, planted.labels["wet"])).entries.empty


@pytest.mark.parametrize("columns", [["cold"], list(NAMES)])
def test_numbers_that_are_far_off_are_found(planted: Planted, columns: list[str]) -> None:
    scores = ui.score_features(planted.X, planted.numbers[columns].to_numpy())
    found = ui.mislabeled(scores)
    assert set(found.frame()["id"][:8]) == set(planted.wrong.tolist())
    assert (found.cleaned()["decision"] != "relabel").all()


def test_a_suggested_number_is_what_ridge_regression_says_without_the_sample(planted: Planted) -> None:
    y = planted.numbers["cold"].to_numpy()
    found = ui.mislabeled(ui.score_features(planted.X, y, training=ui.Converged(2.0, reduction="sum"), head="paper"))
    again = Ridge(alpha=2.0, fit_intercept=False).fit(planted.X[1:], y[1:])
    suggested = found.frame(everyone=True).set_index("id").loc[0, "suggested"]
    assert suggested == pytest.approx(again.predict(planted.X[:1])[0])


def test_outliers_among_several_numbers_are_found_from_features(planted: Planted) -> None:
    found = ui.LabelErrors().fit(planted.X, planted.numbers)
    assert set(np.argsort(found.label_quality_)[:8]) == set(planted.wrong.tolist())
    assert len(found.issues_["predicted_label"].iloc[0]) == 3


def test_labels_are_compared_by_the_names_of_those_there(tagged: ui.Scores) -> None:
    groups = set(ui.compare(tagged, "label").frame()["group"])
    sets = chain.from_iterable(combinations(NAMES, count) for count in range(1, 4))
    assert groups <= {"none", *map(" + ".join, sets)}
    assert "wet + cold" in groups


def test_an_output_is_looked_at_by_its_name(tagged: ui.Scores, numbered: ui.Scores) -> None:
    assert "Output cold" in ui.attribute(tagged, 3, output="cold").sentence
    surest = NAMES[int(tagged.origin.run.outputs(tagged.origin.probe)[3].argmax())]
    assert f"Output {surest}" in ui.attribute(tagged, 3).sentence
    with pytest.raises(ui.InputError, match="say which: wet, cold, dark"):
        ui.attribute(numbered, 3)
    with pytest.raises(ui.InputError, match="did you mean 'cold'"):
        ui.attribute(numbered, 3, output="colt")


def test_candidates_are_drawn_as_labels_that_are_there_or_not(planted: Planted, tagged: ui.Scores) -> None:
    found = ui.acquire(tagged, planted.X[:20] + 0.5, budget=3).frame()
    assert {part for one in found["predicted"] for part in one.split(" + ")} <= {*NAMES, "none"}


def test_new_inputs_without_labels_are_taken_for_what_is_predicted(planted: Planted, tagged: ui.Scores) -> None:
    found = ui.adversarial(tagged, planted.X[:10] * 2).frame()
    assert (found["label"] == found["predicted"]).all()
    assert {part for one in found["label"] for part in one.split(" + ")} <= {*NAMES, "none"}


def test_probabilities_of_labels_stay_in_order_and_off_the_ends() -> None:
    outputs = np.linspace(-0.5, 1.5, 201)[:, None]
    found = label_probabilities(outputs)[:, 0]
    assert (np.diff(found) > 0).all()
    assert 0 < found[0] < found[-1] < 1
    np.testing.assert_allclose(found[60:141], outputs[60:141, 0], atol=1e-15)  # between 0.1 and 0.9 as they are
    np.testing.assert_allclose(found + found[::-1], 1)


@pytest.fixture
def table(planted: Planted, tmp_path: Path) -> Path:
    frame = pd.DataFrame(planted.X, columns=list("pqrst"))
    numbers = planted.numbers.add_prefix("how ")
    pd.concat([frame, planted.labels, numbers], axis=1).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Caller:
    return Caller(capsys, monkeypatch)


def test_several_label_columns_go_through_the_command_line(table: Path, call: Caller) -> None:
    run, extra = table.parent / "run", ["--extra", "how wet", "--extra", "how cold", "--extra", "how dark"]
    said = call("score", table, "--label", "wet,cold,dark", *extra, "--out", run)
    assert (said.code, "of all labels" in said.out) == (0, True), said.err
    assert "wet + " in (run / "report.html").read_text(encoding="utf-8")
    for question in (["mislabeled", "--export", table.parent / "c.csv"], ["compare", "--by", "label"], ["redundancy"]):
        said = call(question[0], run, *question[1:])
        assert said.code == 0, said.err
    clean = pd.read_csv(table.parent / "c.csv")
    assert {*NAMES, "suggested", "decision"} <= set(clean)
    assert ui.load(run).settings["label_names"] == list(NAMES)


def test_several_numbers_go_through_the_command_line_with_a_network(table: Path, call: Caller) -> None:
    run = table.parent / "run"
    kept = [part for name in NAMES for part in ("--extra", name)]
    said = call("score", table, "--label", "how wet, how cold, how dark", *kept, "--model", "mlp:4", "--out", run)
    assert (said.code, "of the variance" in said.out) == (0, True), said.err
    said = call("attribute", run, "--val-index", 0, "--output", "how cold")
    assert (said.code, "Output how cold" in said.out) == (0, True), said.err


@pytest.mark.parametrize(
    ("label", "told"), [("wet,could", "did you mean 'cold'"), ("wet,word", "column 'word' is of words")]
)
def test_label_columns_that_cannot_be_are_named(table: Path, call: Caller, label: str, told: str) -> None:
    pd.read_csv(table).assign(word=["a", "b"] * 80).to_csv(table, index=False)
    said = call("score", table, "--label", label, "--out", table.parent / "run")
    assert said.code == 2
    assert told in said.err + said.out
