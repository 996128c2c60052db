"""The figure of Table 1: every left-out sample, and the correlations beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from uniqueinfo.experiments.table1_cells import Cell
from uniqueinfo.statistics.correlation import pearson

_OURS, _ENDS, _RECORDED, _INFLUENCE = "#2a6f97", "#8ab17d", "#6d597a", "#e07a5f"
_MEASURES = {"weights": "weights, ½‖w − w₋ᵢ‖²", "predictions": "predictions, (1/2m) Σ‖f − f₋ᵢ‖²"}
_METHODS = {"linearization": _OURS, "both ends": _ENDS, "recorded": _RECORDED, "influence": _INFLUENCE}


def figure(cells: Sequence[Cell], methods: Sequence[str]) -> Figure:
    """Above: scores against the truth, without decay if there are any. Below: correlations; crosses are the paper's."""
    shown = [cell for cell in cells if not cell.decay] or list(cells)
    drawn = Figure(figsize=(3.1 * max(len(shown), 3), 9.5), layout="constrained")
    above, below = np.ravel(np.asarray(drawn.subfigures(2, 1, height_ratios=[1.5, 1])))
    panels = above.subplots(2, len(shown), squeeze=False)
    for row, (measure, title) in enumerate(_MEASURES.items()):
        for place, cell in enumerate(shown):
            _scatter(panels[row, place], cell, measure, methods)
            panels[row, place].set_title(fill(cell.column.title, 24) if row == 0 else "", fontsize=10)
        panels[row, 0].set_ylabel(f"score of {title}", fontsize=9)
    panels[0, 0].legend(frameon=False, fontsize=8, loc="lower right")
    above.supxlabel("the same after really training again without the sample", fontsize=9)
    bars = below.subplots(1, 2, sharey=True)
    for ax, (measure, title) in zip(bars, _MEASURES.items(), strict=True):
        _bars(ax, cells, measure, methods)
        ax.set_title(title, fontsize=10)
    bars[0].set_ylabel("Pearson's correlation with the truth")
    below.legend(*bars[0].get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside upper center", ncols=4)
    return drawn


def _scatter(ax: Axes, cell: Cell, measure: str, methods: Sequence[str]) -> None:
    everything = []
    for method in methods:
        scores, truth = cell.pair(measure, method)
        ax.scatter(truth, scores, s=13, color=_METHODS[method], alpha=0.75, linewidths=0, label=method)
        everything.append(truth)
    known = np.concatenate(everything)
    ends = [known[known > 0].min(), known.max()]
    ax.plot(ends, ends, color="0.75", linewidth=1, zorder=0)
    ax.set(xscale="log", yscale="log")
    ax.xaxis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(0.7, 0.3)))  # more would overlap
    ax.tick_params(labelsize=7, which="both")
    ax.spines[["top", "right"]].set_visible(False)


def _bars(ax: Axes, cells: Sequence[Cell], measure: str, methods: Sequence[str]) -> None:
    for number, method in enumerate(methods):
        width, colour = 0.8 / len(methods), _METHODS[method]
        shift = width * (number - (len(methods) - 1) / 2)
        for place, cell in enumerate(cells):
            found = pearson(*cell.pair(measure, method))
            spread = [[found.value - found.low], [found.high - found.value]]
            label = method if place == 0 else None
            ax.bar(place + shift, found.value, 0.92 * width, color=colour, label=label, alpha=0.9)
            ax.errorbar(place + shift, found.value, yerr=np.maximum(spread, 0), color="0.2", linewidth=1, capsize=2)
            paper = cell.column.paper.get((measure, method, cell.decay))
            if paper is not None:
                ax.plot(place + shift, paper, marker="x", color="black", markersize=6, zorder=3)
    ax.plot([], [], marker="x", color="black", linestyle="", label="the paper's figure")
    ax.axhline(0, color="0.5", linewidth=0.8)
    names = [f"{fill(cell.column.title, 12)}\n{'λ = 10³' if cell.decay else 'λ = 0'}" for cell in cells]
    ax.set_xticks(range(len(cells)), names, fontsize=7)
    ax.set_ylim(min(-0.4, ax.dataLim.ymin - 0.05), 1.05)
    ax.spines[["top", "right"]].set_visible(False)
