"""The tables of what classes cost, on the terminal and as docs/classes.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from benchmarks.budget.table import BudgetTable, write_tables
from benchmarks.classes.ways import CLASSES, DEFAULT, DIGITS, ENTROPY, EXACT, FEW, GROWN, GROWTH, VALIDATION
from uniqueinfo.scoring.agreement import MEASURES

Found = Mapping[str, Mapping[str, Any]]
_INTRO = """\
Every output of a network has its own row of the Jacobian, so n samples of k classes have nk rows. Exact scores
decompose a matrix of nk × nk: for that step ten classes cost a thousand times what one output does. Two ways out:

- **Outputs alike** (`outputs=ui.OutputAverage(4)`), for any loss: training is taken to move all outputs alike, as it
  does those of a linear head, and nearly those of wide networks. One row for each sample, n × n. Under squared error
  `effort=` takes it by itself where exact scores would take too long.
- **One margin** (`outputs=ui.class_margin`), for cross-entropy: softmax cross-entropy is the logistic loss of one
  number, f_y − log Σ_{j≠y} exp f_j. Information is then in margins, not in outputs: scores of another kind, which are
  never taken unless asked for.

`OutputSketch` mixes k outputs down to a few, and what the targets have outside the mixtures is lost. The longer a
training, the more all of these lose: small eigenvalues of the kernel count then, which approximations change most. More
samples train for longer, so the same way agrees less with 1,500 digits than with 500.

`python -m benchmarks.classes` measures all this and writes this page; `--samples 1500` takes more digits. Seconds are
the processor's, with one thread, on a machine that did other things besides. Agreement is Spearman's rank correlation
with the exact scores.
"""


def tables(found: Found) -> Iterator[BudgetTable]:
    """Of the parts that were measured, as far as they were."""
    for part in sorted((name for name in found if name.startswith("digits ")), key=lambda name: int(name.split()[1])):
        yield _digits(int(part.split()[1]), found[part], found.get(f"agreement {part.split()[1]}", {}))
    if "entropy" in found:
        yield _entropy(found["entropy"])
    if "growth" in found:
        yield _growth(found["growth"])


def write_page(found: Found, page: Path) -> None:
    """The page, and the figures in a folder beside it."""
    write_tables(page, found, f"# Many classes\n\n{_quoted(found)}\n\n{_INTRO}", tables(found))


def _quoted(found: Found) -> str:
    """Three sentences, of the figures: the default beside exact scores, and the price of many classes."""
    told = []
    for samples in (500, 1500):
        known, ranks = found.get(f"digits {samples}", {}), found.get(f"agreement {samples}", {}).get(DEFAULT, {})
        if {DEFAULT, EXACT} <= known.keys() and ranks:
            faster = known[EXACT]["seconds"] / known[DEFAULT]["seconds"]
            told.append(
                f"Of {samples:,} digits of ten classes the default is {faster:.0f} times as fast as exact scores, "
                f"and ranks samples as they do by {ranks['functional']:.2f}."
            )
    growth = found.get("growth", {})
    first, last = (growth.get(f"one margin, cross-entropy, {k}", {}).get("seconds") for k in (CLASSES[0], CLASSES[-1]))
    if first and last:
        told.append(
            f"One margin for each sample takes {last / first:.1f} times as long for {CLASSES[-1]:,} classes as for "
            f"{CLASSES[0]}."
        )
    return "\n".join(f"> {line}" for line in wrap(" ".join(told), 118))


def _digits(samples: int, found: Mapping[str, Any], agreement: Mapping[str, Any]) -> BudgetTable:
    lines = []
    less = [f" The seconds of {name} are without {one['without']}." for name, one in found.items() if "without" in one]
    for name in DIGITS:
        if name in found:
            one, known = found[name], {} if name == EXACT else agreement.get(name, {})
            told = "exact" if name == EXACT else _ranks(known)
            trial = one["agreement"]
            said = "" if trial is None else f"{_ranks(trial)} (on {trial['samples']})"
            lines.append([name, f"{one['form_side']:,}", f"{one['seconds']:.0f}", f"{one['steps']:,}", told, said])
    return BudgetTable(
        f"{samples:,} digits, ten classes, squared error",
        f"The paper's CNN, pretrained on letters, with a fresh last layer, centred; {VALIDATION} validation samples; "
        "training stopped by each way where its own leave-one-out error is least (with outputs alike: at the shortest "
        "training within 2 % of that, a share chosen on 500 digits). The last column is what the scores say of "
        "themselves, by a trial on some of the samples, whose time is in the seconds." + "".join(less),
        ["way", "rows or columns", "seconds", "steps", _head(), "as the scores say"],
        lines,
    )


def _entropy(found: Mapping[str, Any]) -> BudgetTable:
    lines = [
        [name, f"{found[name]['exact seconds']:.0f}", f"{found[name]['seconds']:.1f}", _ranks(found[name])]
        for name in ENTROPY
        if name in found
    ]
    return BudgetTable(
        f"{FEW} digits, ten classes, cross-entropy",
        "The same network. One margin for each sample against all outputs, both with every weight.",
        ["training", "all outputs, seconds", "one margin, seconds", _head()],
        lines,
    )


def _growth(found: Mapping[str, Any]) -> BudgetTable:
    lines = []
    for name in GROWTH:
        seconds = [found[f"{name}, {k}"]["seconds"] for k in CLASSES if f"{name}, {k}" in found]
        if len(seconds) == len(CLASSES):
            slope = np.polyfit(np.log(CLASSES), np.log(seconds), 1)[0]
            last = np.log(seconds[-1] / seconds[-2]) / np.log(CLASSES[-1] / CLASSES[-2])
            lines.append([name, *(f"{each:.2f}" for each in seconds), f"{slope:.2f}", f"{last:.2f}"])
    return BudgetTable(
        f"{GROWN} made-up samples of 10, 100 and 1,000 classes",
        "A network 50 × 256 × k with every weight. The slope is of log seconds against log k: 1 is linear, 0 is free. "
        "The last layer has 256 weights for each class, which every pass goes through.",
        ["way", *(f"{k:,} classes, seconds" for k in CLASSES), "slope", "of the last two"],
        lines,
    )


def _ranks(known: Mapping[str, Any]) -> str:
    return " / ".join(f"{known[name]:.3f}".lstrip("0") for name in MEASURES if name in known) or "–"


def _head() -> str:
    return f"agreement: {' / '.join(MEASURES)}"
