"""docs/labels.md from what the runs left behind: nothing in its tables is typed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.labels.mending import DECISIONS, ORDERS
from benchmarks.labels.methods import OWN
from benchmarks.labels.problems import PROBLEMS
from uniqueinfo.experiments import drawing
from uniqueinfo.experiments.markdown import quoted
from uniqueinfo.experiments.seeds import over_seeds

_OURS = OWN[0]
_ALLOWED = 0.002
_LARGEST_ERROR = 0.05
_COUNT_OFF = 0.15
_HEAD = """# Which labels are wrong: against other methods, on people's own mistakes and on planted ones

`make bench-labels` writes this page from what it ran; nothing in its tables is typed by hand. Every method of a draw
sees the same features and the same given labels, and no one sees a right label. Figures are means over the draws
that all methods have seen, with the 95 % interval of Student where there are several; the best of a column is bold.

**Data.** CIFAR-10N: people's labels for cats, deer and dogs (ten classes may be named, three are there), ResNet-18 at
96 pixels, 1,500 of 9,000 pictures in a draw. IMDB: 1,500 of the 2,310 test reviews in the data; wrong are those where
fewer than three of five people chose the label, and reviews that no one was asked about count as right; MiniLM on the
last 100 words. MNIST's test digits: the 15 that people rejected (cleanlab/label-errors), with 1,485 others drawn.
Planted: a tenth of the labels, drawn evenly, or look-alikes (among the third closest to another class for a logistic
regression on the right labels; they get that class): 1,500 digits (pixels), 1,000 cats and dogs or cassava leaves
(ResNet-18 at 128 pixels). Samples of classes with fewer than five labels in a draw are left out, as peers cross-
validate with five folds.

**Methods.** *uniqueinfo* is `ui.LabelErrors().fit(X, y)`; *mislabeled(scores)* is `ui.mislabeled` on the scores of a
linear head alone. Margin, information and training loss come from the same scores. cleanlab: its tutorials' logistic
regression, and one on features of deviation 1 with its decay tuned by cross-validation. Confident joint: of that
classifier. KNN-Shapley (5 neighbours) and Data-OOB (200 trees that look at √p features a split) are our own code of
the published methods, and judge each sample by the others' given labels.

**What was chosen when.** Kernels, widths and the likelihood were fixed on 800 letters of EMNIST with planted mistakes,
on which nothing here is judged. After the first draw of CIFAR-10N (majority, one person), cassava, cats and digits had
been seen, one thing was changed: wrong labels are taken to spread over all other classes alike, and no longer as common
as classes are among the labels, which left the labels of rare classes unsuspected. After two to four draws of all sets
had been seen, and with them that the order fell short on several, these were chosen anew, from some sixty variants and
on 39 other problems: the grid of decays, how neighbours vote, how far rates of pairs of classes are held to one rate
(it was the Bayesian information criterion that decided, and hardly ever for pairs), that one class against a label
counts for more than several, and how far the interval of the count reaches. The 39 are letters of EMNIST, house
numbers (SVHN), UCI's digits and wines, and IMDB's training reviews, with mistakes planted evenly, among look-alikes, by
class, or as another model of them or the film's stars would err, 5 to 45 % of them.
"""

_SHORT = """
**Where it falls short.** Probabilities hold where mistakes fall on easy and hard samples alike, as those drawn evenly
do, and counts where classes are easy to tell besides. People err on what is hard to see, and look-alikes are hard by
their making: given labels alone do not tell such mistakes from samples that are ambiguous by nature, and they are taken
for these. The count is then far too low, and with it every probability; the order suffers less, most where look-alikes
come first. The interval of the count says so: it reaches from redraws of the samples to what would be wrong if each
label had been guessed from no more than the models see.
"""


def write_page(out: Path, page: Path) -> None:
    """The page, and its figure beside it in a folder of the page's name."""
    table = read(out)
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    figure(table).savefig(folder / "labels.png", dpi=130)
    title, _, rest = _HEAD.partition("\n\n")
    parts = [
        f"{title}\n\n{quote(table)}\n\n{rest}",
        "## In short\n",
        *short(table),
        _SHORT,
        *mended_table(out),
        f"\n![AUROC of every method]({folder.name}/labels.png)\n",
    ]
    for name, problem in PROBLEMS.items():
        some = table[table["problem"] == name]
        if len(some):
            parts.append(_section(problem.title, some))
    page.write_text("\n".join(parts) + "\n", encoding="utf-8")


def read(out: Path) -> pd.DataFrame:
    """One row for each problem, draw and method."""
    rows: list[dict[str, Any]] = []
    for name in PROBLEMS:
        for file in sorted((out / "found").glob(f"{name}-[0-9]-*.json")):
            number = int(file.name[len(name) + 1])
            found = json.loads(file.read_text(encoding="utf-8"))
            rows += [{"problem": name, "draw": number, "method": method, **one} for method, one in found.items()]
    table = pd.DataFrame(rows)
    methods = table.groupby(["problem", "draw"])["method"].transform("nunique")
    return table[methods == table["method"].nunique()]  # draws that every method has seen


def short(table: pd.DataFrame) -> list[str]:
    """For each problem: ours, the best peer, and whether what is wanted holds."""
    lines = [
        "| wrong labels | AUROC | best peer | AP | best peer | calibration error ≤ .05 | count (truth) within 15 % | "
        "truth in its interval, draws |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, problem in PROBLEMS.items():
        some = table[table["problem"] == name]
        ours = some[some["method"] == _OURS]
        if not len(ours):
            continue
        cells = [problem.title]
        for measure in ("auroc", "average_precision"):
            means = some[~some["method"].isin(OWN)].groupby("method")[measure].mean()
            own, best = float(ours[measure].mean()), float(means.max())
            mark = "above" if own > best else "within .002" if own >= best - _ALLOWED else "**below**"
            cells += [f"{own:.3f}, {mark}", f"{best:.3f} {means.idxmax()}"]
        error, count, truth = (float(ours[each].mean()) for each in ("calibration", "count", "wrong"))
        cells.append(f"{error:.3f}, {'yes' if error <= _LARGEST_ERROR else '**no**'}")
        near = abs(count - truth) <= _COUNT_OFF * truth
        cells.append(f"{count:.0f} ({truth:.0f}), {'yes' if near else '**no**'}")
        held = [low <= wrong <= high for (low, high), wrong in zip(ours["interval"], ours["wrong"], strict=True)]
        cells.append(f"{sum(held)} of {len(held)}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def mended_table(out: Path) -> list[str]:
    """Errors mended by the reviews of every problem."""
    rows: dict[str, list[float]] = {}
    draws = 0
    for name, problem in PROBLEMS.items():
        found = [
            json.loads(file.read_text(encoding="utf-8")) for file in sorted((out / "mended").glob(f"{name}-?.json"))
        ]
        draws = max(draws, len(found))
        if found:
            rows[problem.title] = [float(np.mean([one[order] for one in found])) for order in ORDERS]
    if not rows:
        return []
    lines = [
        f"\n## Errors mended by {DECISIONS} decisions\n",
        "Somebody who knows the right labels decides on what comes first: in the queue of `uniqueinfo review`, which "
        "scores all others anew after each decision and orders them; in the list it began with, which is that of "
        "`ui.mislabeled(scores, neighbours=True)`; and in the lists of `ui.LabelErrors` and of cleanlab. Means over "
        f"{draws} draw{'s' if draws > 1 else ''} of {len(rows)} of {len(PROBLEMS)} kinds; where fewer labels are "
        "wrong, no more can be mended.\n",
        f"| wrong labels | {' | '.join(ORDERS)} |",
        f"|---|{'---|' * len(ORDERS)}",
    ]
    rows["mean of these"] = np.mean(list(rows.values()), axis=0).tolist()
    for title, means in rows.items():
        shown = (f"**{mean:.1f}**" if mean >= max(means) else f"{mean:.1f}" for mean in means)
        lines.append(f"| {title} | {' | '.join(shown)} |")
    return lines


def quote(table: pd.DataFrame) -> str:
    """What visitors can quote, counted from the table of `short`."""
    rows = [line.split(" | ") for line in short(table)[2:]]
    shares = [sum("**below**" not in row[column] for row in rows) for column in (1, 3)]
    near = [row[0] for row in rows if "yes" in row[6]]
    return quoted(
        f"On {len(rows)} kinds of wrong labels, people's own and planted, `ui.LabelErrors` orders labels as well as "
        f"the best of {table['method'].nunique() - len(OWN)} other methods, or better, on {shares[0]} (AUROC) and "
        f"{shares[1]} (average precision).",
        f"How many labels are wrong it tells within 15 % on {len(near)}"
        + (", where mistakes were drawn evenly." if near and all("evenly" in name for name in near) else "."),
        f"By AUROC another method orders them better on {len(rows) - shares[0]}.",
    )


def _section(title: str, some: pd.DataFrame) -> str:
    draws = some["draw"].nunique()
    wrong, samples = some["wrong"].mean(), some["samples"].mean()
    lines = [
        f"## {title}\n",
        f"{wrong:.0f} of {samples:.0f} labels are wrong, on average over {draws} draw{'s' if draws > 1 else ''}.\n",
        "| method | AUROC | AP | precision at 100 | at 300 | calibration error | count | named, of these wrong | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    best = {
        measure: some.groupby("method")[measure].mean().max()
        for measure in ("auroc", "average_precision", "precision_100", "precision_300")
    }
    methods = [_OURS, *sorted(set(some["method"]) - {_OURS}, key=lambda one: (one not in OWN, one))]
    for method in methods:
        rows = some[some["method"] == method]
        if len(rows):
            lines.append(_line(method, rows, best))
    return "\n".join(lines) + "\n"


def _line(method: str, rows: pd.DataFrame, best: dict[str, float]) -> str:
    cells = [method]
    for measure, most in best.items():
        found = over_seeds(rows[measure]) if len(rows) > 1 else None
        mean = float(rows[measure].mean())
        shown = f"{mean:.3f}" + (f" ± {found.high - found.value:.3f}" if found is not None else "")
        cells.append(f"**{shown}**" if mean >= most else shown)
    for measure, digits in (("calibration", 3), ("count", 0)):
        known = measure in rows and rows[measure].notna().any()
        cells.append(f"{rows[measure].mean():.{digits}f}" if known else "")
    if "named" in rows and rows["named"].notna().any():
        cells.append(f"{rows['named'].mean():.0f}, {rows['named_wrong'].mean():.0f}")
    else:
        cells.append("")
    cells.append(f"{rows['seconds'].mean():.1f}")
    return f"| {' | '.join(cells)} |"


def figure(table: pd.DataFrame) -> Figure:
    """AUROC of ours and of every peer, one row for each problem."""
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    names = [name for name in PROBLEMS if name in set(table["problem"])]
    methods = [_OURS, *sorted(set(table["method"]) - set(OWN))]
    for colour, method in zip([*drawing.COLOURS] * 3, methods, strict=False):
        means = [table[(table["problem"] == name) & (table["method"] == method)]["auroc"].mean() for name in names]
        ours = method == _OURS
        axes.plot(
            means,
            np.arange(len(names)),
            "D" if ours else "o",
            color="black" if ours else colour,
            markersize=9 if ours else 6,
            markerfacecolor="none" if ours else colour,
            markeredgewidth=1.8 if ours else 0,
            zorder=3 if ours else 2,
            label=method,
        )
    axes.set_yticks(np.arange(len(names)), [PROBLEMS[name].title for name in names])
    axes.invert_yaxis()
    axes.grid(axis="y", color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set(xlabel="AUROC of wrong labels")
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
    return figure
