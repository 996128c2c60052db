"""Where figures are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes that were handed over, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    found: Axes = pyplot.subplots()[1]
    return found
