"""`UniqueInformation` keeps scikit-learn's contract, and says what `score_features` and training again say."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import uniqueinfo as ui
from uniqueinfo.types import Floats

DECAYED = ui.Converged(1e-2)


@pytest.mark.parametrize(
    "estimator",
    [
        ui.UniqueInformation(),
        ui.UniqueInformation(DECAYED),
        ui.UniqueInformation(DECAYED, task="classes"),
        ui.UniqueInformation(DECAYED, task="numbers"),
        ui.UniqueInformation(ui.Converged(1e-2, loss="cross-entropy"), task="classes"),
    ],
    ids=["auto", "follows y", "classifier", "regressor", "cross-entropy"],
)
def test_scikit_learns_own_checks_pass(estimator: ui.UniqueInformation) -> None:
    found = check_estimator(estimator, on_skip=None)
    assert {each["check_name"] for each in found if each["status"] != "passed"} <= {"check_array_api_input"}
    assert len(found) > 40


def made(samples: int = 30, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, 4))
    return X, X @ rng.normal(size=(4, 3)) + 0.3 * rng.normal(size=(samples, 3))


@pytest.mark.parametrize("outputs", [1, 3])
def test_numbers_are_predicted_as_by_ridge_regression(outputs: int) -> None:
    X, y = made()
    y = y[:, 0] if outputs == 1 else y
    found = ui.UniqueInformation(ui.Converged(2.0, reduction="sum"), head="paper").fit(X, y)
    expected = Ridge(alpha=2.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(found.coef_.reshape(expected.coef_.shape), expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-9)
    assert found.score(X, y) == pytest.approx(expected.score(X, y))


def labelled(kind: str) -> tuple[Floats, Any]:
    X, y = made()
    return X, {
        "numbers": y,
        "two": (y[:, 0] > 0).astype(int),
        "three": np.array(["a", "b", "c"])[y.argmax(axis=1)],
        "several": (y > 0).astype(int),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "loss"),
    [("numbers", "mse"), *((kind, loss) for kind in ("two", "three", "several") for loss in ("mse", "logistic"))],
)
def test_what_is_said_of_a_sample_left_out_is_what_the_others_say(kind: str, loss: str) -> None:
    X, y = labelled(kind)
    whole = ui.UniqueInformation(ui.Converged(0.1, loss=loss), head="paper").fit(X, y)
    others = np.arange(1, len(X))
    without = ui.UniqueInformation(ui.Converged(0.1, loss=loss), head="paper").fit(X[others], y[others])
    if kind != "numbers":
        np.testing.assert_allclose(whole.loo_proba_[:1], without.predict_proba(X[:1]), atol=1e-6)
    else:
        np.testing.assert_allclose(whole.loo_prediction_[:1], without.predict(X[:1]), atol=1e-6)
    assert whole.loo_prediction_.shape == whole.predict(X).shape


@pytest.mark.parametrize("kind", ["two", "three"])
def test_probabilities_of_samples_left_out_are_those_of_the_scores(kind: str) -> None:
    found = ui.UniqueInformation().fit(*labelled(kind))
    np.testing.assert_allclose(found.loo_proba_, found.scores_.loo_probabilities(), atol=1e-15)
    np.testing.assert_allclose(found.loo_proba_.sum(axis=1), 1)
    assert (found.loo_prediction_ == found.classes_[found.loo_proba_.argmax(axis=1)]).all()


def test_scores_are_those_of_score_features() -> None:
    X, y = load_wine(return_X_y=True)
    found = ui.UniqueInformation(DECAYED).fit(X[::2], y[::2], X[1::2], y[1::2])
    expected = ui.score_features(X[::2], y[::2], X[1::2], y[1::2], training=DECAYED)
    assert found.scores_.functional is not None
    np.testing.assert_array_equal(found.scores_.functional, expected.functional)
    np.testing.assert_array_equal(found.scores_.value, expected.value)


def test_it_ends_a_pipeline_and_is_searched_over() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), ui.UniqueInformation(DECAYED, task="classes"))
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.93
    assert len(pipeline.fit(X, y)[-1].scores_) == len(X)
    search = GridSearchCV(pipeline, {"uniqueinformation__training": [ui.Converged(1e3), DECAYED]}, cv=2).fit(X, y)
    assert search.best_params_["uniqueinformation__training"] == DECAYED


@pytest.fixture
def polars() -> Any:
    return pytest.importorskip("polars", reason="polars is not installed")


def test_tables_of_pandas_and_polars_give_their_names(polars: Any) -> None:
    data = load_diabetes(as_frame=True)
    table, y = data.data, data.target
    array = ui.UniqueInformation(DECAYED).fit(table.to_numpy(), y)
    for X in (table, polars.from_pandas(table)):
        found = ui.UniqueInformation(DECAYED).fit(X, y)
        assert list(found.feature_names_in_) == list(table)
        np.testing.assert_array_equal(found.predict(X[:5]), array.predict(table.to_numpy()[:5]))
        with pytest.raises(ValueError, match="feature names should match"):
            found.predict(X[list(reversed(list(table)))])


def test_labels_of_polars_are_labels(polars: Any) -> None:
    X, y = labelled("three")
    found = ui.UniqueInformation().fit(polars.DataFrame(X), polars.Series(y.tolist()))
    assert list(found.classes_) == ["a", "b", "c"]


def test_the_index_of_a_table_names_its_samples() -> None:
    X, y = labelled("two")
    found = ui.UniqueInformation().fit(pd.DataFrame(X, index=[f"row {n}" for n in range(len(X))]), y)
    assert found.scores_.frame()["id"].iloc[3] == "row 3"


def test_scores_in_a_pickle_keep_all_but_the_network() -> None:
    X, y = labelled("three")
    found = ui.UniqueInformation().fit(X, y)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))
    pd.testing.assert_frame_equal(again.scores_.frame(), found.scores_.frame())
    with pytest.raises(ui.InputError, match="saved scores no longer hold"):
        _ = again.scores_.origin
    assert found.scores_.origin is not None


def test_numbers_have_no_probabilities() -> None:
    X, y = labelled("numbers")
    found = ui.UniqueInformation().fit(X, y)
    assert not hasattr(found, "predict_proba")
    assert not hasattr(found, "loo_proba_")
    assert not hasattr(ui.UniqueInformation(task="numbers"), "decision_function")


def test_fitted_anew_it_forgets_the_classes_of_before() -> None:
    found = ui.UniqueInformation().fit(*labelled("three")).fit(*labelled("numbers"))
    assert not hasattr(found, "classes_")
    assert found.predict(labelled("numbers")[0]).shape == (30, 3)


def test_counts_are_predicted_as_rates() -> None:
    X, _ = made()
    y = np.exp(X[:, 0]).round()
    found = ui.UniqueInformation(ui.Converged(1e-3, loss="poisson")).fit(X, y)
    assert (found.predict(X) > 0).all()
    assert np.corrcoef(found.predict(X), y)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"task": "ranks"}, "task: expected"),
        ({"y": None}, "requires y"),
        ({"y": [0] * 30}, "one class"),
        ({"y": [[2, 2]] * 30}, "0 and 1"),
    ],
)
def test_what_cannot_be_fitted_is_named(changed: dict[str, Any], told: str) -> None:
    X, y = labelled("two")
    given = {"task": "auto", "y": y} | changed
    with pytest.raises(ValueError, match=told):
        ui.UniqueInformation(task=given["task"]).fit(X, given["y"])
