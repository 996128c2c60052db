"""A page of what was bought: tables with intervals, one figure, and all numbers beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.acquire.buying import JUDGES
from benchmarks.acquire.strategies import DECAYS, OURS, STRATEGIES
from uniqueinfo.experiments.drawing import COLOURS
from uniqueinfo.experiments.markdown import quoted, table
from uniqueinfo.experiments.seeds import over_seeds
from uniqueinfo.statistics.interval import Interval
from uniqueinfo.store.files import replacing
from uniqueinfo.types import Floats

_FIGURE = "accuracy.png"
_BETTER, _WORSE, _EVEN = "better than", "worse than", "not told apart from"
_CAPTION = (
    "Accuracy of logistic regression on test samples by the number of labels bought: means; each on its own scale."
)


def write_page(found: dict[str, Any], page: Path) -> None:
    """Write the page; the figure and the numbers go to a folder beside it, of the page's name."""
    beside = page.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    with replacing(beside / "acquire.json") as kept:
        kept.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    with replacing(beside / _FIGURE) as drawn:
        _figure(found).savefig(drawn, format="png", dpi=110)
    with replacing(page) as written:
        written.write_text(_text(found, beside.name), encoding="utf-8")


def _text(found: dict[str, Any], folder: str) -> str:
    plan, labels = found["plan"], found["labels"]
    parts = [_task(name, seeds, labels) for name, seeds in found["accuracy"].items()]
    return f"""# What to label next?

{_quoted(found)}

{_summary(found)}

## How it was measured

Labels are bought {plan["batch"]} at a time, from {labels[0]} to {labels[-1]}, out of a pool of {plan["pool"]:,}
unlabelled samples, by `ui.acquire` and by the ways that are most in use: samples whose predicted classes have the
highest *entropy*, or the least *margin* between the first two; *k-center*, each sample the farthest from all that were
taken; and at *random*. All begin with the same {labels[0]} labels, as many of every class. Every column of the features
has mean 0 and deviation 1 over the data that the pool is drawn from.

Entropy and margin go by logistic regression at scikit-learn's defaults, which is also the first judge: its accuracy on
test samples, trained on the labels bought. `ui.acquire` goes by a linear head under squared error (the second judge),
whose weight decay is the one of {", ".join(f"{decay:g}" for decay in DECAYS)} with the least leave-one-out error, and
looks at the pool itself in place of validation samples. *Together* counts what the {plan["batch"]} samples of a batch
repeat of one another once, as `ui.acquire` does; *each alone* takes those that would add most alone, to tell what that
is worth. These settings were tried on UCI's digits, and settled before anything here was measured. Once it had been,
and margin had done better on MNIST, one thing was changed, on UCI's digits and EMNIST's letters: `ui.acquire` looks at
the candidates that are least decided between two classes alone, six times as many as it chooses. With two classes
entropy and margin choose the same.

Figures are means over {plan["seeds"]} seeds (pool, beginning, random choices) with Student's 95 % interval.
*All rounds* is the mean accuracy after the {plan["rounds"]} rounds, and *ours less this* the difference to `ui.acquire`
seed by seed: above 0 ours is better.

![{_CAPTION}]({folder}/{_FIGURE})

*{_CAPTION}*

{chr(10).join(parts)}
Written by `make bench-acquire`; all accuracies are in `{folder}/acquire.json`.
"""


def _task(name: str, seeds: list[dict[str, Any]], labels: list[int]) -> str:
    said = [f"## {name[0].upper()}{name[1:]}\n"]
    for judge, title in JUDGES.items():
        rows = []
        for strategy in STRATEGIES:
            every, last = _rounds(seeds, strategy, judge), _curves(seeds, strategy, judge)[:, -1]
            less = over_seeds(_rounds(seeds, OURS, judge) - every)
            rows.append(
                [
                    strategy,
                    _shown(over_seeds(every)),
                    _shown(over_seeds(last)),
                    "" if strategy == OURS else _signed(less),
                ]
            )
        head = (f"judged by {title}", "all rounds", f"{labels[-1]} labels", "ours less this, all rounds")
        said += [table(head, rows), _verdict(seeds, judge)]
    return "\n".join(said)


def _verdict(seeds: list[dict[str, Any]], judge: str) -> str:
    """Ours beside the others, in words."""
    beside = {name: _beside(seeds, name, judge) for name in STRATEGIES if name != OURS}
    parts = [(words, [name for name in beside if beside[name] == words]) for words in (_BETTER, _WORSE, _EVEN)]
    said = "; ".join(f"{words} {', '.join(names)}" for words, names in parts if names)
    return f"`ui.acquire` is {said}.\n"


def _beside(seeds: list[dict[str, Any]], name: str, judge: str) -> str:
    """Ours beside another: told apart where the interval of their difference does not hold 0."""
    less = over_seeds(_rounds(seeds, OURS, judge) - _rounds(seeds, name, judge))
    return _BETTER if less.low > 0 else _WORSE if less.high < 0 else _EVEN


def _summary(found: dict[str, Any]) -> str:
    """Ours beside every other over all data sets and both judges."""
    sides = [(seeds, judge) for seeds in found["accuracy"].values() for judge in JUDGES]
    counted = []
    for name in STRATEGIES:
        each = [_beside(seeds, name, judge) for seeds, judge in sides]
        counted.append([name, *(each.count(words) for words in (_BETTER, _WORSE, _EVEN))])
    best = "\n".join(f"- {name}: {_best(seeds)}" for name, seeds in found["accuracy"].items())
    return f"""Mean accuracy of logistic regression over all rounds, the best two and ours:

{best}

`ui.acquire` (*information, together*) is held against each other way by {len(JUDGES)} judges on every data set. Of the
{len(sides)} times it was better, worse, or not told apart by the seeds:

{table(("beside", "ours better", "ours worse", "not told apart"), counted[1:]).rstrip()}"""


def _quoted(found: dict[str, Any]) -> str:
    sides = [(seeds, judge) for seeds in found["accuracy"].values() for judge in JUDGES]
    each = {name: [_beside(seeds, name, judge) for seeds, judge in sides] for name in STRATEGIES if name != OURS}
    better, worse = ([name for name in each if words in each[name]] for words in (_BETTER, _WORSE))

    def told(names: list[str], words: str) -> str:
        return ", ".join(f"{name} ({each[name].count(words)} of {len(sides)} times)" for name in names) or "no other"

    return quoted(
        "Labels bought by `ui.acquire`, by what they would tell the network together, are held here against the ways "
        f"most in use, on {len(found['accuracy'])} data sets and by {len(JUDGES)} judges.",
        f"Accuracy was higher than with {told(better, _BETTER)}.",
        f"It was lower than with {told(worse, _WORSE)}; all else the seeds do not tell apart.",
    )


def _best(seeds: list[dict[str, Any]]) -> str:
    """The two choices of the highest mean accuracy over all rounds, and ours, by logistic regression."""
    mean = {name: float(_rounds(seeds, name, "logistic").mean()) for name in STRATEGIES}
    order = sorted(mean, key=lambda name: -mean[name])
    shown = order[:2] if OURS in order[:2] else [*order[:2], OURS]
    return ", ".join(f"{name if name != OURS else '`ui.acquire`'} {mean[name]:.3f}" for name in shown)


def _curves(seeds: list[dict[str, Any]], strategy: str, judge: str) -> Floats:
    """(seeds, rounds + 1)."""
    return np.array([one[strategy][judge] for one in seeds])


def _rounds(seeds: list[dict[str, Any]], strategy: str, judge: str) -> Floats:
    """Mean accuracy after the rounds, of every seed."""
    found: Floats = _curves(seeds, strategy, judge)[:, 1:].mean(axis=1)
    return found


def _shown(one: Interval) -> str:
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _signed(one: Interval) -> str:
    return f"{one.value:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def _figure(found: dict[str, Any]) -> Figure:
    """One panel for each task."""
    drawn = Figure(figsize=(max(11.0, 4.6 * len(found["accuracy"])), 4.5), layout="constrained")
    axes = drawn.subplots(1, len(found["accuracy"]), squeeze=False)[0]
    for ax, (name, seeds) in zip(axes, found["accuracy"].items(), strict=True):
        for colour, strategy in zip(COLOURS, STRATEGIES, strict=False):
            mean = _curves(seeds, strategy, "logistic").mean(axis=0)
            ours = strategy == OURS
            style = "-" if ours else "--" if strategy.startswith("information") else "-"
            ax.plot(
                found["labels"], mean, style, marker="o" if ours else ".", color=colour, linewidth=2.4 if ours else 1.3,
                label=strategy, zorder=3 if ours else 2,
            )  # fmt: skip
        ax.set(title=name, xlabel="labels bought")
        ax.grid(color="0.92")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("accuracy on test samples")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(STRATEGIES), frameon=False)
    return drawn
