"""The README is short, and every figure of its table stands in the page it was taken from."""

from __future__ import annotations

import re

import pytest

from tests.docs.blocks import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SCORED = "## MNIST 4 against 9, MLP, 1024 hidden units, 1,000 samples"
WRONG = f"{SCORED}, a tenth of the labels wrong (look-alikes)"
LOOP = "## Pretrained CNN, ten digits, cross-entropy, SGD .002 with momentum .9"
ROWS = {  # of the README → of the pages
    "**uniqueinfo**": ("**uniqueinfo**", "**uniqueinfo, along the recording**"),
    "training loss": ("training loss", None),
    "cleanlab label quality": ("cleanlab label quality", None),
    "KNN-Shapley (pyDVL)": ("pyDVL KNN-Shapley", None),
    "influence functions, CG (dattri)": (
        "dattri influence, CG",
        "influence functions, conjugate gradients (dattri)",
    ),
    "TRAK, one network (traker; real loop: dattri)": ("traker TRAK-1", "TRAK, one network (dattri)"),
    "EK-FAC (kronfluence)": ("kronfluence EK-FAC, total", "EK-FAC (kronfluence)"),
}


def table(page: str, heading: str) -> dict[str, dict[str, str]]:
    """The first table under a heading: row → column → cell."""
    lines = page[page.index(f"{heading}\n") :].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


def first(cell: str) -> str:
    """The figure of a cell, without its interval or its unit; a dash where there is none."""
    found = re.match(r"(over )?-?[\d.]+", cell)
    return found[0] if found else "–"


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 120


@pytest.mark.parametrize("row", ROWS)
def test_its_figures_are_those_of_the_pages(row: str) -> None:
    ours = table(README, "## Beside the alternatives")[row]
    name, in_the_loop = ROWS[row]
    scored = table(page("benchmarks.md"), SCORED)[name]
    assert ours["seconds"] == first(scored["seconds"])
    assert (ours["amount"], ours["value"]) == (first(scored["amount, Spearman"]), first(scored["value, Spearman"]))
    assert ours["wrong labels"] == first(table(page("benchmarks.md"), WRONG)[name].get("AUROC", ""))
    if in_the_loop is not None:
        loop = table(page("real-training.md"), LOOP)[in_the_loop]
        assert ours["real loop: amount, value"].endswith(f"{first(loop['amount'])}, {first(loop['value'])}")


def test_what_happens_without_a_recording_is_said() -> None:
    nothing = table(page("real-training.md"), LOOP)["uniqueinfo, at the defaults (knows nothing of the training)"]
    said = f"told nothing of it {first(nothing['amount'])}, {first(nothing['value'])};"
    assert said in table(README, "## Beside the alternatives")["**uniqueinfo**"]["real loop: amount, value"]


def test_every_row_of_the_table_is_looked_at() -> None:
    assert list(table(README, "## Beside the alternatives")) == list(ROWS)


def test_a_network_from_scratch_is_said_not_to_be_followed() -> None:
    heading = "## CNN from scratch, ten digits, cross-entropy, SGD .02 with momentum .9"
    scratch = table(page("real-training.md"), heading)["**uniqueinfo, along the recording**"]
    assert f"({first(scratch['amount'])})" in README


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)", README))))
def test_its_links_lead_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
