"""The pictures of the site, drawn anew by ``make examples``: each is computed, not sketched.

python -m website.figures
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits

import uniqueinfo as ui

FOLDER = Path(__file__).parents[1] / "docs" / "assets"
BLUE, ORANGE, GREY = "#3f51b5", "#e64a19", "#9e9e9e"


def line() -> Figure:
    """A curve through points, with and without one of them: what changes is what only that point had to say."""
    rng = np.random.default_rng(3)
    x = np.concatenate([np.linspace(0, 3.2, 12), [4.9]])
    y = np.sin(x) + 0.08 * rng.normal(size=13)
    grid = np.linspace(-0.3, 5.4, 200)
    X, Z = _bumps(x), _bumps(grid)
    training = ui.Converged(weight_decay=1e-3)
    figure = Figure(figsize=(9, 3.1), layout="constrained")
    for axes, gone, words in zip(
        figure.subplots(1, 2, sharey=True), (5, 12), ("one of many", "the only one there"), strict=True
    ):
        rest = np.delete(np.arange(13), gone)
        with_all = ui.Linearization.from_features(X, y[:, None]).train(training)
        without = ui.Linearization.from_features(X[rest], y[rest, None]).train(training)
        f = with_all.outputs(with_all.probe(Z)).ravel()
        g = without.outputs(without.probe(Z)).ravel()
        axes.fill_between(grid, f, g, color=ORANGE, alpha=0.25, lw=0)
        axes.plot(grid, f, color=BLUE, label="trained on all points")
        axes.plot(grid, g, color=ORANGE, ls="--", label="trained without the marked one")
        axes.plot(x, y, "o", color=GREY, ms=5)
        axes.plot(x[gone], y[gone], "o", mfc="none", mec=ORANGE, ms=13, mew=2)
        removal = with_all.leave_out()
        information = removal.functional_information(with_all.probe(Z))[gone]
        axes.set_title(f"{words}: unique information {information:.2g}", fontsize=11)
        axes.set_ylim(-1.6, 1.6)
        _bare(axes)
    axes.legend(frameon=False, loc="lower left", fontsize=9)
    return figure


def _bumps(x: Any) -> Any:
    centres = np.linspace(0, 5, 14)
    return np.exp(-(((np.asarray(x)[:, None] - centres) / 0.6) ** 2) / 2)


def plane() -> Figure:
    """Two groups of points, each point as large as its information: rare, at the border, or with a wrong label."""
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal([-1.6, 0], 0.45, (40, 2)), rng.normal([1.6, 0], 0.45, (40, 2)), [[1.5, 2.6]]])
    y = np.repeat([0, 1, 1], [40, 40, 1])
    y[3] = 1
    scores = ui.score_features(_radial(X), y, _radial(rng.uniform(-3, 3, (600, 2))), training=ui.Converged(1e-2))
    information = scores.functional
    assert information is not None
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for label, colour in enumerate((BLUE, ORANGE)):
        held = y == label
        left.scatter(*X[held].T, s=12 + 900 * information[held] / information.max(), color=colour, alpha=0.55, lw=0)
    left.annotate("a wrong label", X[3], (-3.1, 1.5), arrowprops={"arrowstyle": "-", "color": GREY}, fontsize=10)
    left.annotate(
        "nothing else like it", X[80], (-0.9, 2.8), arrowprops={"arrowstyle": "-", "color": GREY}, fontsize=10
    )
    left.set_title("each point as large as its unique information", fontsize=11)
    left.set(xlim=(-3.3, 3.3), ylim=(-1.9, 3.4))
    _bare(left)
    order = np.sort(information)[::-1]
    right.plot(np.arange(1, 82) / 81, np.cumsum(order) / order.sum(), color=BLUE)
    right.plot([0, 1], [0, 1], color=GREY, lw=1, ls=":")
    right.set(xlabel="share of the samples, most informative first", ylabel="share of all information")
    right.spines[["top", "right"]].set_visible(False)
    return figure


def _radial(X: Any) -> Any:
    grid = np.stack(np.meshgrid(np.linspace(-3, 3, 7), np.linspace(-3, 3, 7)), axis=-1).reshape(-1, 2)
    return np.exp(-((np.asarray(X)[:, None] - grid) ** 2).sum(axis=2) / 2)


def copies() -> Figure:
    """Information of a digit as copies of it come in."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    training = ui.Converged(weight_decay=1e-3)
    found = []
    for count in range(1, 7):
        rows = np.concatenate([np.arange(200), np.zeros(count - 1, int)])
        scores = ui.score_features(X[rows], y[rows], X[1000:], training=training)
        whole = ui.compare(scores, np.where(rows == 0, "copies", "others")).frame().set_index("group")
        assert scores.functional is not None
        found.append((scores.functional[0], whole.loc["copies", "whole"]))
    each, together = np.array(found).T
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    at = np.arange(1, 7)
    axes.plot(at, together / together[0], "o-", color=ORANGE, label="all copies, leaving together")
    axes.plot(at, each / each[0], "o-", color=BLUE, label="one copy, leaving alone")
    axes.set(xlabel="how often the digit is in the data", ylabel="unique information\n(once = 1)", ylim=(0, None))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def page() -> Image.Image | None:
    """The page of the demo's ten digits, as a browser shows it; None where there is no browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        folder, picture = Path(name), Path(name) / "page.png"
        subprocess.run([sys.executable, "-m", "uniqueinfo.cli", "demo", "--out", str(folder / "demo")], check=True)
        address = (folder / "demo" / "ten-digits" / "report.html").as_uri()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
        shot = [f"--user-data-dir={folder / 'profile'}", f"--screenshot={picture}", "--window-size=1200,1480"]
        subprocess.run([browser, *flags, *shot, address], check=True, capture_output=True)
        with Image.open(picture) as shown:
            return shown.convert("RGB").resize((900, 1110), Image.Resampling.LANCZOS).quantize(128)


def _bare(axes: Any) -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


FIGURES = {"line": line, "plane": plane, "copies": copies}


def main() -> None:
    """Write them all."""
    mpl.rcParams["font.family"] = "DejaVu Sans"
    for name, draw in FIGURES.items():
        draw().savefig(FOLDER / f"{name}.png", dpi=110, metadata={"Software": None})
    shown = page()
    if shown is not None:
        shown.save(FOLDER / "report.png", optimize=True)


if __name__ == "__main__":
    main()
