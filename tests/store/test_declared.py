"""What modules declare is found, and held to be what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.added import added
from uniqueinfo.jacobian.rules import Rule
from uniqueinfo.store.declared import declared

RULES = "uniqueinfo.jacobian.rules"


def test_modules_that_declare_nothing_are_passed_over(tmp_path: Path) -> None:
    before = declared(RULES, "RULES", Rule)
    with added(RULES, tmp_path, "NOTHING = 1"):
        assert declared(RULES, "RULES", Rule) == before


@pytest.mark.parametrize("value", ["[]", "(1,)"])
def test_what_is_declared_wrongly_is_named(tmp_path: Path, value: str) -> None:
    with added(RULES, tmp_path, f"RULES = {value}"), pytest.raises(TypeError, match=r"file: RULES is .* tuple"):
        declared(RULES, "RULES", Rule)
