"""When a problem is sketched."""

from __future__ import annotations

import pytest

import uniqueinfo as ui
from tests.problems import problem
from tests.spectrum.sketches import sketched, within_reach
from uniqueinfo import InputError
from uniqueinfo.spectrum import choice


def test_both_too_large_are_sketched_unasked_and_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "LARGEST", 50)
    monkeypatch.setattr(choice, "DIRECTIONS", 30)
    given = problem(80, 1, 60, decades=4)
    training = within_reach(sketched(given, 30)[1])
    scores = ui.score_jacobian(given.J, given.residual, given.J_val, training=training)
    assert (scores.settings["form"], scores.settings["form_side"]) == ("sketch", 30)
    assert "rows (nk = 80) and columns (D = 60) are both more than 50" in scores.settings["form_why"]
    few = ui.score_jacobian(given.J[:40], given.residual[:40], given.J_val, training=training)
    assert few.settings["form"] == "dual"


def test_a_kernel_alone_cannot_be_sketched() -> None:
    with pytest.raises(InputError, match="only the kernel is known"):
        choice.choose(100, None, sketch=10)
