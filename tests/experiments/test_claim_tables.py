from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from uniqueinfo.experiments.claim_tables import claim_tables
from uniqueinfo.experiments.runner import Claim


def shown(claims: Iterable[Claim]) -> list[str]:
    return claim_tables([asdict(claim) for claim in claims]).splitlines()


def test_lines_about_several_things_stand_side_by_side() -> None:
    first = [Claim(f"one: {line}", value, paper=0.5, holds=True) for value, line in enumerate("abc")]
    second = [Claim(f"two: {line}", value, 1.0, 9.0, holds=False) for value, line in enumerate("abc", start=5)]
    assert shown(first + second) == [
        "|  | one | two |",
        "| --- | --- | --- |",
        "| a | ✓ 0<br>paper: 0.5 | **✗** 5 [1,\N{NO-BREAK SPACE}9] |",
        "| b | ✓ 1<br>paper: 0.5 | **✗** 6 [1,\N{NO-BREAK SPACE}9] |",
        "| c | ✓ 2<br>paper: 0.5 | **✗** 7 [1,\N{NO-BREAK SPACE}9] |",
    ]


def test_what_all_things_share_stands_at_the_beginning_of_the_line() -> None:
    claims = [Claim(f"{about}: {line}", 1.0, paper="more", note="why") for about in ("one", "two") for line in "abc"]
    assert "| a<sup>1</sup><br>paper: more | 1 | 1 |" in shown(claims)


def test_what_only_one_thing_has_comes_below_with_its_name() -> None:
    claims = [Claim(f"{about}: {line}", 1.0) for about in ("one", "two") for line in "abc"]
    claims.insert(1, Claim("one: alone", 2.0, note="why"))
    assert shown([*claims, Claim("of all", 3.0)])[-6:] == [
        "| what | the paper | ours | holds |",
        "| --- | --- | --- | --- |",
        "| one: alone<sup>1</sup> |  | 2 |  |",
        "| of all |  | 3 |  |",
        "",
        "1. why",
    ]


def test_a_thing_without_one_of_the_lines_has_an_empty_cell() -> None:
    claims = [Claim(f"one: {line}", 1.0) for line in "abcd"]
    claims += [Claim(f"two: {line}", 1.0) for line in "abcd"]
    claims += [Claim(f"three: {line}", 1.0) for line in "abc"]
    assert "| d | 1 | 1 |  |" in shown(claims)


def test_many_things_make_a_table_for_each_ending_of_their_names() -> None:
    names = [f"{name}, {ending}" for ending in ("now", "then") for name in ("one", "two", "three")]
    lines = shown(Claim(f"{name}: {line}", 1.0) for name in names for line in "abc")
    assert [line for line in lines if "one" in line] == ["| now | one | two | three |", "| then | one | two | three |"]


def test_several_lines_about_one_thing_come_below_its_name() -> None:
    lines = shown(Claim(f"one: {line}", 1.0) for line in "abc")
    assert lines[2:4] == ["| **one** |  |  |  |", "| a |  | 1 |  |"]


def test_many_notes_are_folded_away() -> None:
    lines = shown(Claim(str(number), 1.0, note=f"note {number}") for number in range(7))
    assert "<details><summary>7 notes</summary>" in lines
    assert "7. note 6" in lines
