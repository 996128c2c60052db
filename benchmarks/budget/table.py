"""The tables of the budget, on the terminal and as a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from rich.table import Table as RichTable

from benchmarks.budget.parts import BESIDE, WAYS, WORKS
from uniqueinfo.memory import as_text
from uniqueinfo.store.files import replacing

_BUSY, _NARROW, _SLOPE, _RESCORED, _EPOCHS = 3.0, 6.0, 1.1, 20.0, 2.0  # what is wanted

Found = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class BudgetTable:
    """A title, a few words, a head and lines."""

    title: str
    words: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]

    def rich(self) -> RichTable:
        table = RichTable(*self.head, title=self.title, title_justify="left")
        for line in self.lines:
            table.add_row(*line)
        return table

    def markdown(self) -> str:
        rows = [f"| {' | '.join(line)} |" for line in (self.head, ["---"] * len(self.head), *self.lines)]
        return "\n".join([f"## {self.title}", "", self.words, "", *rows, ""])


def tables(found: Found) -> Iterator[BudgetTable]:
    """Of the parts that were measured, as far as they were."""
    if "busy" in found:
        yield _busy(found["busy"])
    if "features" in found:
        yield _features(found["features"])
    if "rescoring" in found:
        yield _rescoring(found["rescoring"])
    if "photos" in found:
        yield _photos(found["photos"])
    if "foretold" in found:
        yield _foretold(found["foretold"])


def write_page(found: Found, page: Path) -> None:
    """The page, and the figures in a folder beside it."""
    intro = (
        f"# What a score costs\n\n{_quoted(found)}\n\nEvery figure is a ratio of two times of one run. `make "
        "bench-budget` measures them and writes this page; the figures are in `budget/budget.json`.\n"
    )
    write_tables(page, found, intro, tables(found))


def write_tables(page: Path, found: Found, intro: str, made: Iterable[BudgetTable]) -> None:
    """A page of tables, and what they are made of, `found`, in a folder beside it, of the page's name."""
    beside = page.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    with replacing(beside / f"{page.stem}.json") as kept:
        kept.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    with replacing(page) as written:
        text = "\n".join([intro, *(table.markdown() for table in made)])
        written.write_text(text.rstrip() + "\n", encoding="utf-8")


def _quoted(found: Found) -> str:
    """Three sentences, of the figures."""
    busy = found.get("busy", {})
    over = {
        work: max(
            (
                _over(busy[f"{work}, {WAYS[0]}, {beside}"], busy[f"{work}, {WAYS[0]}, nothing"]["seconds"])
                for beside in BESIDE
                if f"{work}, {WAYS[0]}, {beside}" in busy
            ),
            default=float("nan"),
        )
        for work in WORKS
    }
    narrow = found.get("features", {}).get(WAYS[0], {}).get("seconds", {})
    ratio = narrow.get("alone", float("nan")) / narrow.get("square", float("nan"))
    again = [each["anew"] / each["ours"] for each in found.get("rescoring", {}).values()]
    return "\n".join(
        f"> {line}"
        for line in wrap(
            f"Beside two processes that never rest, on as many cores, features take {over['features']:.1f} times as "
            f"long as on an idle machine, a network {over['network']:.1f} and the demo {over['demo']:.1f} times. "
            f"200,000 samples of 256 features are scored in {ratio:.0f} times the time of one product XᵀX. After "
            f"removals, scoring what is left is {min(again, default=float('nan')):.0f} to "
            f"{max(again, default=float('nan')):.0f} times as fast as scoring it from the start.",
            118,
        )
    )


def _busy(found: Mapping[str, Any]) -> BudgetTable:
    lines = []
    for work in WORKS:
        idle = found.get(f"{work}, {WAYS[0]}, nothing", {}).get("seconds")
        for way in WAYS:
            taken = [found.get(f"{work}, {way}, {beside}") for beside in BESIDE]
            worst = max((_over(each, idle) for each in taken if each), default=0.0)
            held = "" if way == "one thread" else _kept(worst <= _BUSY)
            lines.append([work, way, *(_cell(each, idle) for each in taken), held])
    noisy = sum(not each["quiet"] for each in found.values())
    quiet = "The machine was idle otherwise." if noisy == 0 else f"Something else was at work in {noisy} of these."
    words = (
        "Seconds by the clock, and how many times the idle time of the first line of each work: beside no other "
        f"process, one of lower priority, one, and two that never rest. {quiet}"
    )
    return BudgetTable("Beside busy processes", words, ["work", "way", *BESIDE, f"≤ {_BUSY:g}"], lines)


def _over(each: Mapping[str, Any], idle: float | None) -> float:
    return float("inf") if each["seconds"] is None else each["seconds"] / idle if idle else 0.0


def _cell(each: Mapping[str, Any] | None, idle: float | None) -> str:
    if each is None:
        return "not measured"
    if each["seconds"] is None:
        return "no answer"
    return f"{each['seconds']:.1f}" + (f" ({_over(each, idle):.1f} ×)" if idle else "")


def _features(found: Mapping[str, Any]) -> BudgetTable:
    lines = []
    for way, line in found.items():
        if "threads" not in line:
            continue
        for what, said in (("alone", "no validation"), ("validated", "10,000 validation samples")):
            ratio, busy = (line[clock][what] / line[clock]["square"] for clock in ("seconds", "processor"))
            seconds = [f"{line['seconds'][name]:.2f}" for name in (what, "square")]
            lines.append(
                [f"{said}, {way} ({line['threads']})", *seconds, f"{ratio:.1f}", f"{busy:.1f}", _kept(ratio <= _NARROW)]
            )
    sizes = [line for line in found.values() if "samples" in line]
    words = "200,000 × 256 float32, ten outputs, run to the end, against numpy's XᵀX of the same in float64."
    if len(sizes) > 1:
        x, y = (np.log([line[name] for line in sizes]) for name in ("samples", "processor"))
        slope = float(np.polyfit(x, y, 1)[0])
        words += (
            f" From {sizes[0]['samples']:,} to {sizes[-1]['samples']:,} samples, processor time grows as n to the "
            f"{slope:.2f} (wanted: at most {_SLOPE:g})."
        )
    head = ["what", "seconds", "XᵀX", "ratio", "of processor time", f"≤ {_NARROW:g}"]
    return BudgetTable("Narrow features", words, head, lines)


def _rescoring(found: Mapping[str, Any]) -> BudgetTable:
    lines = [
        [
            case["what"],
            f"{case['ours']:.2f}",
            f"{case['anew']:.2f}",
            f"{case['anew'] / case['ours']:.1f}",
            f"{case['same']:.1%}",
            _kept(case["anew"] >= _RESCORED * case["ours"]),
        ]
        for case in found.values()
    ]
    words = "What is left after every batch is scored from what is known, or from the start: processor seconds of all."
    head = ["case", "from what is known", "from the start", "ratio", "same samples kept", f"≥ {_RESCORED:g}"]
    return BudgetTable("Scoring again after removals", words, head, lines)


def _photos(found: Mapping[str, Any]) -> BudgetTable:
    lines = []
    for case in found.values():
        clock, busy = (case["scores"][name] / case["epoch"][name] for name in ("seconds", "processor"))
        seconds = [f"{case[name]['seconds']:.0f}" for name in ("epoch", "scores")]
        lines.append([case["what"], *seconds, f"{clock:.2f}", f"{busy:.2f}", case["kept"], _kept(busy <= _EPOCHS)])
    words = (
        "Scores at the defaults of a pretrained network whose every layer is trained, with a tenth as many validation "
        "photographs, against one epoch: forward and backward, photographs read, no step of an optimizer. Judged by "
        "processor time, which other work on the machine lengthens less."
    )
    head = ["what", "epoch, seconds", "scores, seconds", "ratio", "of processor time", "kept", f"≤ {_EPOCHS:g}"]
    return BudgetTable("Photographs", words, head, lines)


def _foretold(found: Mapping[str, Any]) -> BudgetTable:
    lines = []
    for case in found.values():
        seconds, held = case["seconds"], case["bytes"]
        off = max(abs(np.log2(each["real"] / each["plan"])) for each in (seconds, held))
        lines.append(
            [
                f"`{case['command']}`",
                f"{seconds['plan']:.0f}",
                f"{seconds['real']:.0f}",
                as_text(held["plan"]),
                as_text(held["real"]),
                _kept(bool(off <= 1)),
            ]
        )
    words = (
        "What `uniqueinfo score … --dry-run` says of commands of these pages, on real data: 1,500 digits, 300 "
        "photographs, 569 rows of a table, 1,000 reviews. Real is the whole command, Python's start and the page "
        "included, and the most memory it holds."
    )
    head = ["after `uniqueinfo score`", "seconds, said", "real", "memory, said", "real", "within a factor of 2"]
    return BudgetTable("What `--dry-run` says", words, head, lines)


def _kept(holds: bool) -> str:
    return "yes" if holds else "NO"
