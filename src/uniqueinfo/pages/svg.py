"""Figures → inline SVG: coloured by the page's own style sheet, so that light, dark and print all suit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from uniqueinfo.pages.figures import Concentration, Distribution, Stopping

_WIDTH, _HEIGHT = 560.0, 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 14.0, 14.0, 52.0

Ticks = Sequence[tuple[float, str]]


def distribution(figure: Distribution) -> Markup:
    """Stacked bars over a log axis."""
    logs = np.log10(figure.edges)
    totals = np.sum(list(figure.counts.values()), axis=0)
    top = float(totals.max())
    frame = _Frame((logs[0], logs[-1]), (0.0, top))
    below, bars = np.zeros(len(totals)), []
    for number, (name, counts) in enumerate(figure.counts.items()):
        boxes = [
            Markup("M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}Z").format(
                frame.x(logs[at]) + 0.5,
                frame.y(below[at]),
                frame.x(logs[at + 1]) - 0.5,
                frame.y(below[at] + count),
                frame.x(logs[at]) + 0.5,
            )
            for at, count in enumerate(counts)
            if count
        ]
        bars.append(Markup('<path class="fill{}" d="{}"><title>{}</title></path>').format(number, _join(boxes), name))
        below = below + counts
    largest = figure.edges[int(totals.argmax())]
    told = f"Histogram of information on a log axis; most samples are near {largest:.2g}."
    return frame.svg(_join(bars), _powers(logs[0], logs[-1]), _round_ticks(top), "information", "samples", told)


def concentration(figure: Concentration) -> Markup:
    """The curve, the line of equal shares, and the point at a tenth of the samples."""
    frame = _Frame((0.0, 1.0), (0.0, 1.0))
    carried = figure.carried_by(0.1)
    curve = _line(frame, figure.samples, figure.information)
    area = Markup("{}L{:.1f} {:.1f}L{:.1f} {:.1f}Z").format(curve, frame.x(1), frame.y(0), frame.x(0), frame.y(0))
    content = Markup(
        '<path class="area" d="{}"/><path class="equal" d="{}"/><path class="curve" d="{}"/>'
        '<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="5"/><text class="mark" x="{:.1f}" y="{:.1f}">{}</text>'
    ).format(
        area,
        _line(frame, np.array([0.0, 1.0]), np.array([0.0, 1.0])),
        curve,
        frame.x(0.1),
        frame.y(carried),
        frame.x(0.1) + 12,
        frame.y(carried) + 18,
        f"10% carry {carried:.0%}",
    )
    shares = [(at / 4, f"{at / 4:.0%}") for at in range(5)]
    told = f"Share of information against share of samples: the most informative tenth carries {carried:.0%}."
    return frame.svg(content, shares, shares, "share of samples, most informative first", "share of information", told)


def stopping(figure: Stopping) -> Markup:
    """Leave-one-out loss over a log axis of steps, the chosen time marked."""
    logs = np.log10(figure.steps)
    low, high = float(figure.loss.min()), float(figure.loss.max())
    room = (high - low or abs(high) or 1.0) * 0.08
    frame = _Frame((logs[0], logs[-1]), (max(0.0, low - room), high + room))
    chosen = frame.x(np.log10(figure.chosen))
    late = chosen > _WIDTH * 0.6
    said = f"{figure.chosen:,.0f}" if figure.chosen >= 10 else f"{figure.chosen:.2g}"  # flow's time is no whole number
    content = Markup(
        '<path class="equal" d="M{:.1f} {:.1f}V{:.1f}"/><path class="curve" d="{}"/>'
        '<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="5"/>'
        '<text class="mark" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>'
    ).format(
        chosen,
        frame.y(frame.vertical[0]),
        frame.y(frame.vertical[1]),
        _line(frame, logs, figure.loss),
        chosen,
        frame.y(low),
        chosen + (-10 if late else 10),
        _TOP + 18,
        "end" if late else "start",
        f"stopped at {said} steps",
    )
    told = f"Leave-one-out loss against steps of gradient descent; least, {low:.3g}, at {said} steps."
    ticks = _round_ticks(frame.vertical[1], frame.vertical[0])
    return frame.svg(
        content, _powers(logs[0], logs[-1]), ticks, "steps of gradient descent", "leave-one-out loss", told
    )


class _Frame:
    """Axes around a picture's content."""

    def __init__(self, horizontal: tuple[float, float], vertical: tuple[float, float]) -> None:
        self.horizontal = (float(horizontal[0]), float(horizontal[1]))
        self.vertical = (float(vertical[0]), float(vertical[1]) if vertical[1] > vertical[0] else vertical[0] + 1.0)

    def x(self, value: float) -> float:
        first, last = self.horizontal
        return float(_LEFT + (value - first) / ((last - first) or 1.0) * (_WIDTH - _LEFT - _RIGHT))

    def y(self, value: float) -> float:
        first, last = self.vertical
        return float(_HEIGHT - _BOTTOM - (value - first) / (last - first) * (_HEIGHT - _TOP - _BOTTOM))

    def svg(self, content: Markup, across: Ticks, up: Ticks, x_title: str, y_title: str, told: str) -> Markup:
        floor = _HEIGHT - _BOTTOM
        line = Markup(
            '<path class="grid" d="M{:.1f} {:.1f}H{:.1f}"/><text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>'
        )
        lines = [line.format(_LEFT, self.y(at), _WIDTH - _RIGHT, _LEFT - 8, self.y(at) + 5, text) for at, text in up]
        marks = [
            Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
                self.x(at), floor + 20, "end" if self.x(at) > _WIDTH - 30 else "middle", text
            )
            for at, text in across
        ]
        middle = _TOP + (floor - _TOP) / 2
        titles = Markup(
            '<text class="title" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>'
            '<text class="title up" transform="translate(14 {:.1f}) rotate(-90)" text-anchor="middle">{}</text>'
        ).format(_LEFT + (_WIDTH - _LEFT - _RIGHT) / 2, _HEIGHT - 8, x_title, middle, y_title)
        return Markup('<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">{}{}{}{}</svg>').format(
            _WIDTH, _HEIGHT, told, _join(lines), content, _join(marks), titles
        )


def _line(frame: _Frame, across: NDArray[np.float64], up: NDArray[np.float64]) -> Markup:
    points = [Markup("{:.1f} {:.1f}").format(frame.x(x), frame.y(y)) for x, y in zip(across, up, strict=True)]
    return Markup("M") + Markup("L").join(points)


def _join(parts: Sequence[Markup]) -> Markup:
    return Markup("").join(parts)


def _powers(first: float, last: float) -> Ticks:
    """Powers of ten within a log axis, at most six.

    >>> _powers(-2.2, 1.0)
    [(-2.0, '0.01'), (-1.0, '0.1'), (0.0, '1'), (1.0, '10')]
    """
    whole = np.arange(np.ceil(first - 1e-9), np.floor(last + 1e-9) + 1)
    every = max(1, -(-len(whole) // 6))
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    names = {power: f"{10.0**power:,.{max(0, -int(power))}f}" for power in range(-2, 4)}
    return [(float(at), names.get(int(at), f"10{str(int(at)).translate(digits)}")) for at in whole[::every]]


def _round_ticks(top: float, low: float = 0.0) -> Ticks:
    """About four round numbers from `low` to `top`.

    >>> _round_ticks(87.0)
    [(0.0, '0'), (20.0, '20'), (40.0, '40'), (60.0, '60'), (80.0, '80')]
    """
    rough = (top - low) / 4 or 1.0
    unit = 10 ** np.floor(np.log10(rough))
    step = float(unit * min((1, 2, 5, 10), key=lambda times: abs(times * unit - rough)))
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(top / step + 1e-9))
    return [(at * step, f"{at * step:.6g}") for at in range(first, last + 1)]
