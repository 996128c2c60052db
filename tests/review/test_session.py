"""The queue follows what is decided, for one person and for several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uniqueinfo as ui
from tests.review.runs_to_review import WRONG, digit_table, true_label
from uniqueinfo.errors import InputError
from uniqueinfo.review.decisions import Ledger, read
from uniqueinfo.review.following import Following
from uniqueinfo.review.session import Session
from uniqueinfo.review.suspects import to_look_at
from uniqueinfo.scores.everyone import everyone
from uniqueinfo.training import Converged


@pytest.fixture
def session(table_run: Path, tmp_path: Path) -> Session:
    return Session(ui.load(table_run), Ledger(tmp_path / "decisions.jsonl"), to_look_at)


def digits(**changed: Any) -> ui.Scores:
    """A head on digits, by the sum of losses: then dropping a sample changes nothing but the sum."""
    table = digit_table()
    X, y = table.filter(like="p").to_numpy() / 16, table["label"].to_numpy(dtype=str)
    keep = changed.get("keep", np.arange(len(y)))
    for row, label in changed.get("labels", {}).items():
        y[row] = label
    return ui.score_features(X[keep], y[keep], training=Converged(1.0, reduction="sum"), head="paper")


def test_scores_follow_labels_and_drops_as_if_scored_anew() -> None:
    following = Following.of(digits()).decided({0: 0, 5: None, 3: 2})
    kept = np.delete(np.arange(90), 5)
    names = following.names
    again = digits(keep=kept, labels={0: names[0], 3: names[2]})
    now = following.scores_of(kept)
    np.testing.assert_allclose(now.loo_outputs, again.loo_outputs, atol=1e-8)
    np.testing.assert_allclose(now.outputs, again.outputs, atol=1e-8)
    np.testing.assert_array_equal(now.targets, again.targets)
    back = following.decided({0: int(following.start[0]), 5: int(following.start[5]), 3: int(following.start[3])})
    np.testing.assert_allclose(back.scores.loo_outputs, digits().loo_outputs, atol=1e-8)


def test_the_first_suspect_is_that_of_the_question(session: Session, table_run: Path) -> None:
    first = ui.mislabeled(ui.load(table_run), neighbours=True, precision=0).frame().iloc[0]
    card = session.card("Ann")["sample"]
    assert (card["id"], card["label"], card["suggested"]) == (first["id"], first["label"], first["suggested"])
    assert {group["label"] for group in card["similar"]} == {card["label"], card["suggested"]}
    assert session.why_not == ""


def test_similar_samples_have_the_label_they_are_shown_for(session: Session, table_run: Path) -> None:
    whole = everyone(ui.load(table_run))
    for group in session.card("Ann")["sample"]["similar"]:
        assert {str(whole.labels[one["at"]]) for one in group["samples"]} == {group["label"]}  # type: ignore[index]


def test_a_decision_is_on_the_disk_and_the_order_is_that_of_the_mended_data(session: Session, tmp_path: Path) -> None:
    card = session.card("Ann")["sample"]
    following = session.decide("Ann", card["id"], "relabel", card["suggested"])
    (kept,) = read(tmp_path / "decisions.jsonl")
    assert (kept.sample, kept.decision, kept.label, kept.by) == (card["id"], "relabel", card["suggested"], "Ann")
    assert following["sample"]["id"] != card["id"]
    assert following["progress"]["decided"] == 1


def test_who_knows_the_truth_mends_most_wrong_labels(session: Session, tmp_path: Path) -> None:
    card = session.card("Ann")
    while card["sample"] is not None:
        name = card["sample"]["id"]
        card = session.decide("Ann", name, "relabel", true_label(int(name[1:])))
    mended = {one.sample for one in read(tmp_path / "decisions.jsonl") if one.decision == "relabel"}
    assert len(mended) >= WRONG // 2
    assert mended <= {f"d{row:02}" for row in range(WRONG)}
    assert card["progress"]["left"] == 0


def test_undo_shows_the_sample_again_with_its_label(session: Session) -> None:
    card = session.card("Ann")["sample"]
    session.decide("Ann", card["id"], "drop")
    again = session.undo("Ann")
    assert again["sample"]["id"] == card["id"]
    assert again["progress"]["decided"] == 0
    np.testing.assert_allclose([p for _, p in again["sample"]["says"]], [p for _, p in card["says"]], atol=2e-4)
    assert session.undo("Ann")["sample"]["id"] == card["id"]  # nothing is left to take back


def test_two_people_see_different_suspects_and_both_where_two_opinions_are_wanted(
    session: Session, table_run: Path, tmp_path: Path
) -> None:
    assert session.card("Ann")["sample"]["id"] != session.card("Ben")["sample"]["id"]
    both = Session(ui.load(table_run), Ledger(tmp_path / "both.jsonl"), to_look_at, opinions=2)
    name = both.card("Ann")["sample"]["id"]
    assert both.card("Ben")["sample"]["id"] == name
    both.decide("Ann", name, "keep")
    progress = both.decide("Ben", name, "drop")["progress"]
    assert progress["agreement"] == "1 sample was decided by more than one person; on 0 of them (0 %) they agree."
    assert progress["people"] == {"Ann": 1, "Ben": 1}


def test_a_review_goes_on_where_it_was(session: Session, table_run: Path, tmp_path: Path) -> None:
    for kind in ("keep", "drop", "unsure"):
        following = session.decide("Ann", session.card("Ann")["sample"]["id"], kind)
    again = Session(ui.load(table_run), Ledger(tmp_path / "decisions.jsonl"), to_look_at)
    assert again.card("Ann")["sample"]["id"] == following["sample"]["id"]
    assert again.progress("Ann")["decided"] == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("nobody", "keep"), "not of this run"),
        (("d00", "burn"), "expected keep"),
        (("d00", "relabel", "x"), "no such class"),
    ],
)
def test_what_makes_no_sense_is_refused_and_not_written(
    session: Session, tmp_path: Path, given: tuple[str, ...], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        session.decide("Ann", *given)
    assert not (tmp_path / "decisions.jsonl").exists()


def test_numbers_to_predict_are_not_reviewed(tmp_path: Path) -> None:
    scores = ui.score_features(np.eye(5), np.linspace(0, 1, 5))
    with pytest.raises(InputError, match="among classes"):
        Session(scores, Ledger(tmp_path / "decisions.jsonl"), to_look_at)
