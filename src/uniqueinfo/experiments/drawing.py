"""Parts that figures share: colours, rows of pictures, tables of correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from PIL import Image

from uniqueinfo.types import Floats

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442", "#999999", "#882255")
"""Told apart by everyone (Okabe and Ito, and three more)."""
UNIT = "functional information, (1/2m) Σ ‖change of output‖²"
_SIDE = 96
"""Pixels of a side of a picture in a row."""


def histogram(ax: Axes, groups: dict[str, Floats], *, density: bool = False) -> None:
    """Information of several groups on a logarithmic axis, where it spreads over orders of magnitude."""
    whole = np.concatenate(list(groups.values()))
    low = max(whole.min(), whole.max() * 1e-6)
    bins = np.geomspace(low, whole.max(), 31).tolist()
    for colour, (name, values) in zip(COLOURS, groups.items(), strict=False):
        weights = np.full(len(values), 1 / len(values)) if density else None
        label = f"{name} ({len(values)}), mean {values.mean():.2g}"
        ax.hist(values.clip(low), bins=bins, weights=weights, color=colour, alpha=0.25, histtype="stepfilled")
        ax.hist(values.clip(low), bins=bins, weights=weights, color=colour, histtype="step", linewidth=1.4, label=label)
        ax.axvline(values.mean(), color=colour, linestyle=":", linewidth=1.2)
    ax.set(xscale="log", xlabel=UNIT, ylabel="share of its group" if density else "samples")
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)


def strips(ax: Axes, groups: dict[str, Floats]) -> None:
    """The same for many groups: one line of dots each, with its mean; the most informative group on top."""
    for height, values in enumerate(reversed(groups.values())):
        spread = height + np.random.default_rng(height).uniform(-0.28, 0.28, len(values))
        ax.scatter(values, spread, s=9, alpha=0.5, color=COLOURS[0], linewidths=0)
        ax.plot([values.mean()] * 2, [height - 0.4, height + 0.4], color=COLOURS[1], linewidth=2)
    names = [f"{name} ({len(values)})" for name, values in reversed(groups.items())]
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set(xscale="log", xlabel=f"{UNIT}; bars: means")
    ax.spines[["top", "right"]].set_visible(False)


def row_of_pictures(
    figure: Figure | SubFigure,
    title: str,
    pictures: Sequence[Image.Image],
    captions: Sequence[str],
    framed: Sequence[bool] = (),
) -> None:
    """Pictures side by side, each with a line below, some in a frame."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=10)
    axes: Any = figure.subplots(1, len(pictures), squeeze=False)[0]
    frames = framed or [False] * len(pictures)
    for ax, picture, caption, frame in zip(axes, pictures, captions, frames, strict=True):
        shown = picture.copy()
        shown.thumbnail((_SIDE, _SIDE))
        ax.imshow(np.asarray(shown), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        ax.set(xticks=[], yticks=[])
        ax.set_xlabel(caption, fontsize=7, labelpad=2)
        ax.spines[:].set(visible=frame, color=COLOURS[1], linewidth=2.5)


def correlations(ax: Axes, matrix: Floats, names: Sequence[str], label: str) -> None:
    """A table of correlations with its numbers written in."""
    ax.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
    ticks = range(len(names))
    ax.set_xticks(ticks, names, rotation=30, ha="right", fontsize=8)
    ax.set_yticks(ticks, names, fontsize=8)
    for (row, column), value in np.ndenumerate(matrix):
        ax.text(
            column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color="white" if value > 0.6 else "k"
        )
    ax.set_title(label, fontsize=10, loc="left")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
