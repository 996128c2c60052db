"""The figures of the page, from what results.json holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from uniqueinfo.experiments.drawing import COLOURS

Run = Mapping[str, Any]
_MARKS = "os^Dv<>PX*hdp8H"
_TICK = 0.004
"""Seconds: the least that a processor's clock can tell apart."""
_PALE = "#F0E442"


class Found:
    """results.json, looked up."""

    def __init__(self, results: Mapping[str, Any]) -> None:
        self.results = results
        ran = {run["setting"] for run in results["runs"]}
        self.settings: dict[str, Mapping[str, Any]] = {s["name"]: s for s in results["settings"] if s["name"] in ran}
        self.methods: dict[str, Mapping[str, Any]] = {method["key"]: method for method in results["methods"]}
        self.done: list[Run] = [run for run in results["runs"] if "error" not in run]
        self._runs: dict[tuple[str, str], Run] = {(run["setting"], run["method"]): run for run in results["runs"]}

    def run(self, setting: str, method: str) -> Run | None:
        return self._runs.get((setting, method))

    @property
    def ours(self) -> str:
        return next(key for key, method in self.methods.items() if method["package"] == self.results["ours"])

    def is_ours(self, key: str) -> bool:
        """In any of our ways."""
        return bool(self.methods[key]["package"] == self.results["ours"])

    def most(self, along: str) -> int:
        """The size most of the MLP's problems share."""
        sizes = Counter(s[along] for s in self.clean("mnist") if any(run["setting"] == s["name"] for run in self.done))
        return sizes.most_common(1)[0][0] if sizes else 0

    def clean(self, data: str, **same: int) -> list[Mapping[str, Any]]:
        """Problems of one kind without wrong labels, those of the same size in every way named."""
        chosen = [s for s in self.settings.values() if s["data"] == data and s["noise"] == "none"]
        return [s for s in chosen if all(s[key] == value for key, value in same.items())]


def time_against_samples(found: Found) -> Figure:
    hidden = found.most("hidden")
    panels = {
        f"MNIST 4 against 9, MLP of {hidden}": ("mnist", hidden),
        "linear head on ResNet-18 features": ("pets", 0),
    }
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    axes: Any = figure.subplots(1, 2, sharey=True)
    for ax, (title, (data, width)) in zip(axes, panels.items(), strict=True):
        _lines(ax, found, found.clean(data, hidden=width), "samples", _time)
        ax.set_title(title, loc="left", fontsize=10)
        ax.set(xlabel="training samples")
    axes[0].set(ylabel="processor seconds for a score of every sample")
    _legend(figure, axes)
    return figure


def time_against_width(found: Found) -> Figure:
    samples = found.most("samples")
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    ax = figure.subplots()
    _lines(ax, found, found.clean("mnist", samples=samples), "width", _time)
    ax.set(xlabel="parameters of the MLP", ylabel="processor seconds for a score of every sample")
    ax.set_title(f"MNIST 4 against 9, {samples} samples", loc="left", fontsize=10)
    _legend(figure, [ax])
    return figure


def memory_against_samples(found: Found) -> Figure:
    hidden = found.most("hidden")
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    ax = figure.subplots()
    _lines(ax, found, found.clean("mnist", hidden=hidden), "samples", lambda run: max(run["peak"] / 2**20, 1.0))
    ax.set(xlabel="training samples", ylabel="MiB at the peak, beyond libraries and data (at least 1)")
    ax.set_title(f"MNIST 4 against 9, MLP of {hidden}", loc="left", fontsize=10)
    _legend(figure, [ax])
    return figure


def agreement(found: Found) -> Figure | None:
    """Spearman's correlation with training again, for every method and judged problem."""
    judged = [s for s in found.settings.values() if _judged(found, s["name"], "amount")]
    if not judged:
        return None
    asked = {"amount": "predictions", "value": "validation loss"}
    rows = [max(1, *(_judged(found, s["name"], name) for name in asked)) for s in judged]
    figure = Figure(figsize=(11, 1 + 0.6 * len(judged) + 0.27 * sum(rows)), layout="constrained")
    axes: Any = figure.subplots(len(judged), 2, squeeze=False, height_ratios=[0.6 + 0.27 * count for count in rows])
    for row, setting in zip(axes, judged, strict=True):
        for ax, (name, title) in zip(row, asked.items(), strict=True):
            _bars(ax, found, setting["name"], name)
            ax.set_title(f"{_short(setting)}: {title}", loc="left", fontsize=9, x=-0.3)
    for ax in axes[-1]:
        ax.set_xlabel("Spearman's correlation with training again (95 % interval)", fontsize=9)
    return figure


def write(found: Found, folder: Path) -> dict[str, str]:
    """Draw all there is; captions by file name."""
    drawn: dict[str, tuple[Callable[[Found], Figure | None], str]] = {
        "time-samples": (
            time_against_samples,
            "Time against the number of training samples, both axes logarithmic (at least 4 ms).",
        ),
        "time-width": (time_against_width, "Time against the number of parameters, both axes logarithmic."),
        "memory-samples": (memory_against_samples, "Peak memory against the number of training samples."),
        "agreement": (agreement, "How far each method's ranking agrees with really training without samples."),
    }
    folder.mkdir(parents=True, exist_ok=True)
    captions = {}
    for name, (draw, caption) in drawn.items():
        figure = draw(found)
        if figure is not None:
            figure.savefig(folder / f"{name}.png", dpi=110)
            captions[f"{name}.png"] = caption
    return captions


def _time(run: Run) -> float:
    return max(float(run["seconds"]), _TICK)


def _short(setting: Mapping[str, Any]) -> str:
    network = f"MLP of {setting['hidden']}" if setting["hidden"] else "linear head"
    return f"{setting['title'].split(',')[0]}, {network}, n = {setting['samples']:,}"


def _lines(
    ax: Axes, found: Found, settings: Sequence[Mapping[str, Any]], along: str, figure: Callable[[Run], float]
) -> None:
    """One line per method; what failed has no point."""
    there = [s for s in settings if any(run["setting"] == s["name"] for run in found.done)]
    ordered = sorted(there, key=lambda setting: setting[along])
    for number, key in enumerate(found.methods):
        points = [(s[along], run) for s in ordered if (run := found.run(s["name"], key)) and "error" not in run]
        if points:
            at, runs = zip(*points, strict=True)
            ax.plot(at, [figure(run) for run in runs], label=found.methods[key]["title"], **_style(found, key, number))
    ax.set(xscale="log", yscale="log")
    ax.set_xticks([s[along] for s in ordered], [f"{s[along]:,}" for s in ordered])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _style(found: Found, key: str, number: int) -> dict[str, Any]:
    if key == found.ours:
        return {"color": COLOURS[1], "linewidth": 3, "marker": "o", "zorder": 5}
    packages = list(dict.fromkeys(method["package"] for method in found.methods.values()))
    colour = [c for c in COLOURS if c not in (COLOURS[1], _PALE)][packages.index(found.methods[key]["package"]) % 8]
    return {"color": colour, "linewidth": 1.2, "marker": _MARKS[number % len(_MARKS)], "markersize": 5, "alpha": 0.9}


def _judged(found: Found, setting: str, name: str) -> int:
    return sum(run["setting"] == setting and name in run["agreement"] for run in found.done)


def _bars(ax: Axes, found: Found, setting: str, name: str) -> None:
    rows = []
    for key, method in found.methods.items():
        run = found.run(setting, key)
        if run and name in run.get("agreement", {}):
            rows.append((run["agreement"][name]["spearman"], method["title"], key))
    rows.sort()
    for height, ((value, low, high), _, key) in enumerate(rows):
        colour = COLOURS[1] if found.is_ours(key) else COLOURS[0]
        ax.barh(height, value, color=colour, alpha=1 if found.is_ours(key) else 0.55, height=0.7)
        ax.plot([low, high], [height, height], color="k", linewidth=1)
    ax.set_yticks(range(len(rows)), [title for _, title, _ in rows], fontsize=8)
    ax.set(xlim=(-0.6, 1.02))
    ax.tick_params(axis="x", labelsize=8)
    ax.axvline(0, color="k", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, axes: Sequence[Axes]) -> None:
    known = {label: line for ax in axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(known.values(), known.keys(), loc="outside right upper", fontsize=8, frameon=False)
