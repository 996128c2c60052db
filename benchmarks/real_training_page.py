"""docs/real-training.md and its figures, from what benchmarks.real_training found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt

_WAYS = {
    "recorded": "along the recording (`training=ui.Recorded(…)`)",
    "default": "at the defaults (knows nothing of the training)",
    "trained": "with the trained network (`trained=…`)",
    "ceiling": "*another order of the batches (the ceiling)*",
}


def write_page(found: list[dict[str, Any]], page: Path) -> None:
    """One section per problem: a table, a figure, the cost."""
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    parts = [_HEAD]
    for each in found:
        runs = each["runs"]
        _figure(each, folder / f"{each['task']}.png")
        parts.append(
            f"## {runs[0]['title']}\n\n{_table(each)}\n\n![]({folder.name}/{each['task']}.png)\n\n{_cost(runs)}\n"
        )
    page.write_text("\n".join(parts), encoding="utf-8")


def _table(each: dict[str, Any]) -> str:
    lines = ["| | amount | value |", "|---|---|---|"]
    for way, words in _WAYS.items():
        cells = [_cell(each["agreement"][f"{way} {measure}"]) for measure in ("amount", "value")]
        lines.append(f"| {words} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _cost(runs: list[dict[str, Any]]) -> str:
    training, recorded = (np.median([run[name] for run in runs]) for name in ("training_seconds", "recording_seconds"))
    scoring = np.median([run["recorded"]["seconds"] for run in runs])
    about = runs[0]["recorded"]["learnt"]
    return (
        f"{runs[0]['count']} training samples, {len(runs[0]['samples'])} of them left out, {len(runs)} seeds. One "
        f"training took {training:.1f} s ({recorded:.1f} s while recorded), all scores along the recording "
        f"{scoring:.1f} s, in {_pieces(about)}; half of the checkpoints would have changed a removal by about "
        f"{3 * about['error']:.0%}."
    )


def _pieces(about: dict[str, Any]) -> str:
    return f"{about['steps']} steps" if "steps" in about else f"{about['stretches']} stretches"


def _figure(each: dict[str, Any], place: Path) -> None:
    run = each["runs"][0]
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    for ax, way in zip(axes, ("recorded", "default"), strict=True):
        predicted = np.array(run[way]["amount"])[run["samples"]]
        ax.scatter(run["true_amount"], predicted, s=16)
        title = "along the recording" if way == "recorded" else "at the defaults"
        ax.set(xscale="log", yscale="log", xlabel="trained again without the sample", ylabel="score", title=title)
    figure.savefig(place, dpi=110)
    plt.close(figure)


_HEAD = """# Following the training people really run

A score is worth what it says about really training again without the sample. Here networks are trained by an ordinary
loop of mini-batches, with the loss and the optimizer people use, and trained again without each of 40 samples; the
tables say how well scores rank these samples (Spearman's correlation; mean and range over three orders of the batches).
*Amount* is how far the validation outputs move, *value* how much the validation loss gains. The last row is how well
two orders of the batches agree with each other: as much as a score can that does not know the order. One along a
recording knows something of it, by the outputs at the checkpoints.

Where it falls short: Adam divides by second moments that change on the way and with the sample; one set of them, that
of the end, stands for all. Networks that learn their features from scratch were not measured here; ask
`ui.validate(scores, val=…, train_function=…)` about yours. Settings were fixed before any result, but for one thing:
SGD is followed by its own steps only since its first figures had been seen (.79 and .72 on the CNN, by flow).

Made by `python -m benchmarks.real_training --page docs/real-training.md`. Not compared here: other packages (dattri,
TRAK, kronfluence), ResNet-18, transformers.
"""
