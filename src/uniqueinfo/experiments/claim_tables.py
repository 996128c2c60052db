"""What was found, as tables: the same lines about several things side by side, all others one below the other."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from uniqueinfo.experiments.markdown import folded, table

Found = Mapping[str, Any]
"""A claim as figures.json has it."""
Things = Mapping[str, Mapping[str, Found]]
"""For each thing the claims about it, by what they say of it."""

_SEVERAL = 3
"""Claims about one thing that give it a heading; lines that two things share that put them side by side."""
_WIDEST = 5
"""Columns of one table at most."""
_FEW = 6
"""Notes shown openly; if there are more, all are folded away."""
_HOLDS = {None: "", True: "✓", False: "**✗**"}


def claim_tables(claims: Sequence[Found]) -> str:
    """Tables of all claims, and their notes, numbered."""
    notes = list(dict.fromkeys(claim["note"] for claim in claims if claim["note"]))
    parts: list[str] = []
    left = list(claims)
    while (family := _family(left)) is not None:
        parts += _side_by_side(*family, notes)
        left = [claim for claim in left if not (_about(claim) in family[0] and _line(claim) in family[1])]
    if left:
        parts.append(table(("what", "the paper", "ours", "holds"), _rows(left, notes)))
    numbered = "".join(f"{number}. {note}\n" for number, note in enumerate(notes, start=1))
    if numbered:
        parts.append(folded(f"{len(notes)} notes", numbered) if len(notes) > _FEW else numbered)
    return "\n".join(parts)


def row(claim: Found, what: str) -> tuple[str, str, str, str]:
    """One line: what, the paper's figure, ours with its interval, whether it holds."""
    return what, _said(claim["paper"]), _ours(claim), _HOLDS[claim["holds"]]


def _figure(value: float) -> str:
    """To three digits.

    >>> _figure(0.98765), _figure(4079.8)
    ('0.988', '4,080')
    """
    return f"{value:.3g}" if abs(value) < 1000 else f"{round(value, 2 - int(math.log10(abs(value)))):,.0f}"


def _about(claim: Found) -> str:
    """What comes before the colon: the thing that a claim is about."""
    about: str = claim["what"].rpartition(": ")[0]
    return about


def _line(claim: Found) -> str:
    line: str = claim["what"].rpartition(": ")[2]
    return line


def _family(claims: Sequence[Found]) -> tuple[Things, list[str]] | None:
    """The first things of which several lines are told alike: their claims by line, and the lines of at least two."""
    things: dict[str, dict[str, Found]] = {}
    for claim in claims:
        if _about(claim):
            things.setdefault(_about(claim), {})[_line(claim)] = claim
    for lines in things.values():
        alike = {name: other for name, other in things.items() if len(lines.keys() & other.keys()) >= _SEVERAL}
        if len(alike) > 1:
            every = list(dict.fromkeys(line for own in alike.values() for line in own))
            return alike, [line for line in every if sum(line in own for own in alike.values()) > 1]
    return None


def _side_by_side(things: Things, lines: Sequence[str], notes: Sequence[str]) -> Iterator[str]:
    """A column for each thing, the paper's figure below ours; where they are many, a table for each last part of names.

    So Table 1 falls into its two halves, "λ = 0" and "λ = 10³".
    """
    if len(things) <= _WIDEST:
        yield _columns("", things, lines, notes)
        return
    for last in dict.fromkeys(name.rpartition(", ")[2] for name in things):
        own = {name.rpartition(", ")[0]: told for name, told in things.items() if name.rpartition(", ")[2] == last}
        yield _columns(last, own, lines, notes)


def _columns(corner: str, things: Things, lines: Sequence[str], notes: Sequence[str]) -> str:
    shown = []
    for line in lines:
        told = [own.get(line) for own in things.values()]
        if known := [claim for claim in told if claim is not None]:
            shared = {
                what for what in ("paper", "note") if len(known) > 1 and len({claim[what] for claim in known}) == 1
            }
            paper = _said(known[0]["paper"]) if "paper" in shared else ""
            name = line + (_mark(known[0], notes) if "note" in shared else "") + _below(paper)
            shown.append((name, *("" if claim is None else _cell(claim, notes, shared) for claim in told)))
    return table((corner, *things), shown)


def _cell(claim: Found, notes: Sequence[str], shared: Collection[str]) -> str:
    """Without what all cells of the line share, which stands at its beginning."""
    _, paper, ours, holds = row(claim, "")
    mark = "" if "note" in shared else _mark(claim, notes)
    return f"{holds} {ours}{mark}".strip() + _below("" if "paper" in shared else paper)


def _below(paper: str) -> str:
    return f"<br>paper: {paper}" if paper else ""


def _rows(claims: Iterable[Found], notes: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Claims about the same thing come below its name."""
    for about, group in groupby(claims, _about):
        several = list(group)
        together = bool(about) and len(several) >= _SEVERAL
        if together:
            yield f"**{about}**", "", "", ""
        for claim in several:
            yield row(claim, (_line(claim) if together else claim["what"]) + _mark(claim, notes))


def _mark(claim: Found, notes: Sequence[str]) -> str:
    """The number of its note."""
    return f"<sup>{notes.index(claim['note']) + 1}</sup>" if claim["note"] else ""


def _ours(claim: Found) -> str:
    ours = _said(claim["ours"])
    if claim["low"] is not None and claim["high"] is not None:
        ours += f" [{_figure(claim['low'])},\N{NO-BREAK SPACE}{_figure(claim['high'])}]"
    return ours


def _said(value: float | str | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _figure(value)
