"""Where a network has learnt nothing, nobody is accused."""

from __future__ import annotations

import numpy as np
import pytest

import uniqueinfo as ui


@pytest.fixture
def by_chance() -> ui.Scores:
    """Labels that have nothing to do with the features."""
    rng = np.random.default_rng(0)
    return ui.score_features(rng.normal(size=(200, 5)), rng.integers(0, 2, 200))


def test_suspects_are_withheld_and_why_is_said(by_chance: ui.Scores) -> None:
    found = ui.mislabeled(by_chance)
    assert found.withheld
    assert found.count == 0
    assert "always naming the commonest class gives" in found.sentence
    assert (found.cleaned()["label"] == found.cleaned()["given"]).all()


def test_a_named_rate_shows_them_all_the_same(by_chance: ui.Scores) -> None:
    assert ui.mislabeled(by_chance, noise_rate=0.1).count == 20


def test_the_accuracy_is_that_of_leaving_each_sample_out(by_chance: ui.Scores) -> None:
    right = by_chance.loo_probabilities().argmax(axis=1) == by_chance.labels
    assert ui.mislabeled(by_chance).health.accuracy == right.mean()
