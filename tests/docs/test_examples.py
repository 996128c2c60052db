"""Every example runs and prints what its page shows."""

from __future__ import annotations

import re

import pytest

from website.examples import COMMANDS, KEPT, commands, missing, names, printed

_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
FIGURES = 0.02  # of a figure: other processors round otherwise, and what is printed has three digits


def agree(text: str, kept: str) -> bool:
    """The same words, and the same figures but for rounding.

    >>> agree("12 of 40, mean 0.0912", "12 of 40,  mean 0.0913"), agree("12 of 40", "13 of 40")
    (True, False)
    """
    figures = [[float(each.replace(",", "")) for each in _NUMBER.findall(one)] for one in (text, kept)]
    words = [_NUMBER.sub("#", one).split() for one in (text, kept)]
    return words[0] == words[1] and all(
        abs(one - other) <= FIGURES * abs(other) for one, other in zip(*figures, strict=True)
    )


@pytest.mark.filterwarnings("default")  # those of other packages, as people see them
@pytest.mark.parametrize("name", names())
def test_an_example_prints_what_its_page_shows(name: str) -> None:
    absent = missing(name)
    if absent:
        pytest.skip(f"examples/{name}.py uses {', '.join(absent)}")
    assert agree(printed(name), (KEPT / f"{name}.txt").read_text(encoding="utf-8"))


def test_the_page_of_commands_says_what_they_say() -> None:
    assert COMMANDS.read_text(encoding="utf-8") == commands()


@pytest.mark.parametrize(
    ("text", "same"), [("2 labels, 0.501", True), ("2 labels, 0.55", False), ("2 names, 0.5", False)]
)
def test_what_differs_is_seen(text: str, same: bool) -> None:
    assert agree(text, "2 labels, 0.5") is same
