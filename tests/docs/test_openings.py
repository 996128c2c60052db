"""Pages that commands write open with three sentences that can be quoted, made of the figures that lie beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import attribution_page, scale_page
from benchmarks.acquire import page as acquire_page
from benchmarks.budget import table as budget_table
from benchmarks.classes import page as classes_page
from benchmarks.peers import page as peers_page
from benchmarks.peers.figures import Found
from tests.docs.blocks import ROOT
from uniqueinfo.experiments import gallery
from uniqueinfo.experiments.registry import EXPERIMENTS

WRITTEN = (
    "results",
    "benchmarks",
    "attribution",
    "real-training",
    "labels",
    "acquire",
    "language-models",
    "scale",
    "budget",
    "classes",
)
DOCS = ROOT / "docs"


def opening(name: str) -> str:
    """What follows the title."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8").split("\n\n")[1]


def held(name: str) -> Any:
    return json.loads((DOCS / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [*WRITTEN, "reliability"])
def test_a_page_opens_with_three_sentences(name: str) -> None:
    lines = opening(name).splitlines()
    assert all(line.startswith("> ") for line in lines)
    text = " ".join(line.removeprefix("> ") for line in lines)
    assert len(re.findall(r"\.(?= [A-Z\d]|$)", text)) == 3, text


def reproduced() -> str:
    files = {path.stem: held(f"results/{path.name}") for path in (DOCS / "results").glob("*.json")}
    return gallery._quoted({name: files[name] for name in EXPERIMENTS if name in files})


MADE: dict[str, Callable[[], str]] = {
    "attribution": lambda: attribution_page._quoted(held("attribution/attribution.json")["methods"]),
    "scale": lambda: scale_page._quoted(held("scale/scale.json"))[0],
    "acquire": lambda: acquire_page._quoted(held("acquire/acquire.json")),
    "classes": lambda: classes_page._quoted(held("classes/classes.json")),
    "budget": lambda: budget_table._quoted(held("budget/budget.json")),
    "benchmarks": lambda: peers_page._quoted(Found(held("benchmarks/results.json"))),
    "results": reproduced,
}


@pytest.mark.parametrize("name", MADE)
def test_its_figures_are_those_beside_it(name: str) -> None:
    assert opening(name) == MADE[name]()
