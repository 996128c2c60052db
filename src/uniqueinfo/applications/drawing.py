"""Where figures are drawn."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST_SVG = 100_000  # bytes; a larger figure becomes a PNG


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes that were handed over, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    found: Axes = pyplot.subplots(layout="constrained")[1]
    return found


def legend_above(axes: Axes) -> None:
    """Above the axes: matplotlib's search for a free place inside them is slow on a busy machine, and then warns."""
    columns = min(len(axes.get_legend_handles_labels()[1]), 3)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, frameon=False)


def as_address(plot: Callable[[Axes], Any], salt: str = "figure") -> str:
    """What a function draws as a data address: SVG, or, where that would be large (many points), PNG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": salt}):
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        plot(figure.subplots())
        drawn = {"svg": io.BytesIO(), "png": io.BytesIO()}
        figure.savefig(drawn["svg"], format="svg", metadata={"Date": None})
        figure.savefig(drawn["png"], format="png", dpi=150)
    kind = "svg" if drawn["svg"].tell() <= _LARGEST_SVG else "png"
    encoded = base64.b64encode(drawn[kind].getvalue()).decode()
    return f"data:image/{'svg+xml' if kind == 'svg' else kind};base64,{encoded}"
