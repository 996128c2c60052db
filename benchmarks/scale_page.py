"""docs/scale.md from what was measured: ``python -m benchmarks.scale_page results/scale/scale.json docs/scale.md``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from benchmarks.scale_work import TURNS
from uniqueinfo.experiments.drawing import COLOURS
from uniqueinfo.experiments.markdown import quoted
from uniqueinfo.memory import as_text
from uniqueinfo.spectrum.rows import CHUNK_BYTES
from uniqueinfo.store.files import replacing

_FUNCTIONS = 40
"""Real columns of the poles of one filter, both halves of each pair counted."""
_STEEPEST = 1.1
"""A slope of log time against log n that still counts as linear."""
_FIGURE, _CAPTION = "mnist.png", "Time (both axes logarithmic) and memory against the number of samples."
_SQUARES = 12
"""Matrices D × D held at once, as the partitions are planned."""


def head_seconds(n: float, D: int, found: dict[str, Any]) -> float:
    """A linear head trained to the end: sums, rotation and F-SI, and the eigenvectors; one thread."""
    each = 2 * D**2 / found[f"gram_flops_{D}"] + 4 * D**2 / found[f"product_flops_{D}"]
    return float(n * each + found[f"eigh_seconds_{D}"])


def network_seconds(n: float, k: int, D: int, found: dict[str, Any]) -> float:
    """A network, without its Jacobian rows: sums, rotation, k × k blocks of every pole, F-SI, eigenvectors."""
    products = 2 * k * D**2 + 2 * D**2 + k * (k + 1) * D * _FUNCTIONS
    each = 2 * k * D**2 / found[f"gram_flops_{D}"] + products / found[f"product_flops_{D}"]
    return float(n * each + found[f"eigh_seconds_{D}"])


def write_page(results: Path, page: Path) -> None:
    """Write the page; the figure and what was measured go to a folder beside it, of the page's name."""
    held = results.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(held)
    beside = page.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    with replacing(beside / "scale.json") as kept:
        kept.write_text(held, encoding="utf-8")
    if "mnist" in found:
        with replacing(beside / _FIGURE) as drawn:
            figure(found["mnist"]).savefig(drawn, format="png", dpi=110)
    with replacing(page) as written:
        written.write_text(text(found, beside.name), encoding="utf-8")


def text(found: dict[str, Any], folder: str) -> str:
    """The whole page; parts that were not measured say so."""
    parts = [
        f"## {title}\n\n{section(found) if measured in found else 'Not measured.'}"
        for title, measured, section in _SECTIONS
    ]
    if "mnist" in found:
        parts[0] += f"\n\n![{_CAPTION}]({folder}/{_FIGURE})\n\n*{_CAPTION}*"
    title, _, rest = _HEAD.partition("\n\n")
    return "\n\n".join([title, *_quoted(found), rest, *parts, _WALLS]) + "\n"


def _quoted(found: dict[str, Any]) -> list[str]:
    """Where all of it was measured."""
    if not {"mnist", "features", "kill"} <= set(found):
        return []
    last, line, kills = found["mnist"]["runs"][-1], found["features"], found["kill"]["kills"]
    return [
        quoted(
            f"All {last['samples']:,} digits of MNIST, in a network of {last['columns']:,} columns, are scored in "
            f"{last['seconds']:.0f} seconds of one thread and {as_text(last['peak_bytes'])} of memory; the "
            f"largest peak of all sizes is {found['mnist']['peak_spread']:.0%} above the smallest.",
            f"{line['samples']:,} × {line['features']} features on disk take {line['seconds']:,.0f} seconds and "
            f"{as_text(line['peak_bytes'])}.",
            f"Killed at {len(kills)} random moments and run again, {sum(kill['same_bytes'] for kill in kills)} runs "
            "ended with the same bytes.",
        )
    ]


def figure(measured: dict[str, Any]) -> Figure:
    """Time and memory against the number of samples."""
    found = Figure(figsize=(10, 4), layout="constrained")
    time, memory = found.subplots(1, 2)
    runs = measured["runs"]
    samples = [run["samples"] for run in runs]
    seconds = [run["cpu_seconds"] for run in runs]
    slope = measured["slope_in_processor_time"]
    time.plot(samples, seconds, color=COLOURS[0], marker="o", label=f"measured, slope {slope:.2f}")
    steepest = [seconds[-1] * (n / samples[-1]) ** _STEEPEST for n in samples]
    time.plot(samples, steepest, color=COLOURS[8], linestyle="--", label=f"slope {_STEEPEST}")
    time.set(ylabel="processor seconds, one thread", yscale="log")
    time.legend(frameon=False)
    memory.plot(samples, [run["peak_bytes"] / 2**20 for run in runs], color=COLOURS[1], marker="o")
    memory.set(ylabel="peak memory, MiB", ylim=(0, 1.6 * max(run["peak_bytes"] for run in runs) / 2**20))
    for ax in (time, memory):
        ax.set(xscale="log", xlabel="samples")
        ax.set_xticks(samples, [f"{n:,}" for n in samples])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    return found


def _mnist(found: dict[str, Any]) -> str:
    measured = found["mnist"]
    rows = [
        f"| {line['samples']:,} | {line['seconds']:.0f} | {line['cpu_seconds']:.0f} | {as_text(line['peak_bytes'])} |"
        for line in measured["runs"]
    ]
    last = measured["runs"][-1]
    return (
        f"784 × 1024 × 10 network, {last['outputs']} outputs, D = {last['columns']:,} columns, one thread, "
        f"budget {last['memory']}.\n\n| samples | seconds | of the processor | peak memory |\n|--:|--:|--:|--:|\n"
        + "\n".join(rows)
        + f"\n\nSlope of log time against log n: {measured['slope']:.2f}; in processor time "
        f"{measured['slope_in_processor_time']:.2f}, between the last two sizes "
        f"{measured['slope_of_the_last_two_in_processor_time']:.2f}. The largest peak is "
        f"{measured['peak_spread']:.0%} above the smallest."
    )


def _columns(found: dict[str, Any]) -> str:
    measured = found["columns"]
    rows = [
        f"| {line['columns']:,} | {line['seconds']:.0f} | {line['cpu_seconds']:.0f} | {as_text(line['peak_bytes'])} |"
        for line in measured["runs"]
    ]
    first, second = measured["runs"]
    ranks = ", ".join(f"{name} {value:.3f}" for name, value in measured["agreement"].items())
    return (
        f"All {first['samples']:,} digits, the same network, weights drawn where the kernel is (`KernelCoordinates`), "
        f"with as many threads as are free of the {measured['cores']} cores. Ranks with {first['columns']:,} columns "
        f"agree with those by {second['columns']:,}: {ranks} (Spearman).\n\n"
        "| columns | seconds | of the processor | peak memory |\n|--:|--:|--:|--:|\n" + "\n".join(rows)
    )


def _features(found: dict[str, Any]) -> str:
    return _from_disk(found["features"])


def _classes(found: dict[str, Any]) -> str:
    return _from_disk(found["classes"])


def _from_disk(line: dict[str, Any]) -> str:
    return (
        f"{line['samples']:,} × {line['features']} float32 in one .npy file, {line['outputs']:,} outputs, budget "
        f"{line['memory']}, one thread: {line['seconds']:,.0f} s ({line['cpu_seconds']:,.0f} s of the processor), peak "
        f"{as_text(line['peak_bytes'])}."
    )


def _sketch(found: dict[str, Any]) -> str:
    measured = found["sketch"]
    last = measured["runs"][-1]
    rows = [
        f"| {line['samples']:,} | {line['seconds']:.0f} | {line['cpu_seconds']:.0f} | {as_text(line['peak_bytes'])} |"
        for line in measured["runs"]
    ]
    square = as_text(8 * last["features"] ** 2)
    return (
        f"{last['features']:,} float32 features in one .npy file, {last['outputs']} outputs, {last['directions']:,} "
        f"directions kept, one thread, budget {last['memory']}: a dozen passes over partitions, and no matrix of "
        f"{last['features']:,} × {last['features']:,}, which alone takes {square}. Half of the scores are off by less "
        f"than {last['error']:.1g} of themselves, as estimated.\n\n"
        "| samples | seconds | of the processor | peak memory |\n|--:|--:|--:|--:|\n"
        + "\n".join(rows)
        + f"\n\nSlope of log time against log n, in processor time: {measured['slope_in_processor_time']:.2f}. Memory "
        "grows with the columns times the directions kept, and with validation rows times columns (their square, "
        "where there are more of them than columns)."
    )


def _dask(found: dict[str, Any]) -> str:
    measured = found["dask"]
    rows = [
        f"| {name} | {line['samples']:,} | {line['seconds_one_worker']:.0f} s | {line['seconds_two_workers']:.0f} s | "
        f"{line['two_workers_over_one']:.2f} | {line['difference_of_two']:.1e} | "
        f"{line['difference_after_a_kill']:.1e} |"
        for name, line in measured.items()
    ]
    return (
        "| what | samples | one worker | two | gain | difference from local | after a worker was killed |\n"
        "|---|--:|--:|--:|--:|--:|--:|\n"
        + "\n".join(rows)
        + f"\n\nBy the clock, the least of {TURNS} runs each, taken in turn; workers have one thread."
    )


def _kill(found: dict[str, Any]) -> str:
    measured = found["kill"]
    same = sum(kill["same_bytes"] for kill in measured["kills"])
    return f"Killed at {len(measured['kills'])} random moments, run again: {same} ended with the same bytes."


def _model(found: dict[str, Any]) -> str:
    rates = found["rates"]
    rows = [
        f"| {D:,} | {rates[f'gram_flops_{D}'] / 1e9:.0f} | {rates[f'product_flops_{D}'] / 1e9:.0f} | "
        f"{rates[f'eigh_seconds_{D}']:.2f} |"
        for D in (256, 2_110)
    ]
    return (
        "Operations for n samples, k outputs, D columns, m validation samples, q real columns of poles:\n\n"
        "| step | a linear head | a network | passes over the data |\n|---|---|---|--:|\n"
        "| look at every sample | – | – | 1 |\n"
        "| sums JᵀJ, Jᵀr (one triangle) | n D² | n k D² | 1 |\n"
        "| the same for validation | m D² | m k D² | 1 of m |\n"
        "| eigenvectors | 10 D³ | 10 D³ | 0 |\n"
        "| rotation | 2 n D² | 2 n k D² | 1 |\n"
        "| blocks of every pole | n D q | n k(k+1) D q | 0 |\n"
        "| F-SI | 2 n D² (one pole) to 2 n k D² | 2 n D² | 0 |\n\n"
        f"Bytes held: about 96 D² and four partitions of {as_text(2 * CHUNK_BYTES)}, whatever n is. Bytes written: "
        "8 (5 + 3k) a sample, and "
        "4 n k D where the rows of a network are kept.\n\n"
        f"Measured here, {rates['threads']} thread:\n\n"
        "| D | sums, GFLOP/s of 2nD² | products, GFLOP/s | eigenvectors, s |\n|--:|--:|--:|--:|\n"
        + "\n".join(rows)
        + _against_model(found)
    )


def _against_model(found: dict[str, Any]) -> str:
    """How much longer the runs took than their products alone: reading, the network, and all that is small."""
    said = []
    if "mnist" in found:
        run = found["mnist"]["runs"][-1]
        model = network_seconds(run["samples"], run["outputs"], run["columns"], found["rates"])
        said.append(f"the network on {run['samples']:,} samples {run['cpu_seconds'] / model:.1f}")
    if "features" in found:
        run = found["features"]
        said.append(
            f"the features {run['cpu_seconds'] / head_seconds(run['samples'], run['features'], found['rates']):.1f}"
        )
    return f"\n\nProcessor time over these products alone: {', '.join(said)}." if said else ""


def _expect(found: dict[str, Any]) -> str:
    rates = found["rates"]
    rows = []
    for n in (1e6, 1e8, 1e9):
        head, network = head_seconds(n, 256, rates), network_seconds(n, 10, 2_110, rates)
        rows.append(
            f"| {n:.0e} | {_hours(head)} | {as_text(4 * 256 * n)} | {_hours(network)} | "
            f"{as_text(4 * 10 * 2_110 * n)} | {as_text(8 * 35 * n)} |"
        )
    return (
        "Core-hours by the model above, products alone: 256 features and ten outputs trained to the end; a network "
        "of ten outputs and 2,110 columns, its own rows not counted. Divide by the number of workers.\n\n"
        "| n | head | features on disk | network | rows if kept | scores on disk |\n|--:|--:|--:|--:|--:|--:|\n"
        + "\n".join(rows)
    )


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.2g} h" if seconds < 360_000 else f"{seconds / 3600:,.0f} h"


_HEAD = """# Past one machine's memory, and one machine

Scores need two passes over the samples with one decomposition in between: sums over partitions, eigenvectors, scores
of partitions. Nothing else is held, so memory does not grow with n, and partitions can be worked on anywhere.

    ui.score_features("X.npy", "y.npy", "X_val.npy", "y_val.npy", training=ui.Converged(1e-3), memory="4GiB", out="run")
    ui.score(model, train, val, training=…, memory="6GiB", out="run", engine="dask")

Every figure on this page comes from `python -m benchmarks.scale` (`scale/scale.json` holds them all), on a machine of
two cores that may have done other things meanwhile: seconds are those of the clock, and beside them those of the
processor."""

_SECTIONS: tuple[tuple[str, str, Callable[[dict[str, Any]], str]], ...] = (
    ("Against n: a network on MNIST", "mnist", _mnist),
    ("More columns", "columns", _columns),
    ("Features from disk", "features", _features),
    ("A thousand classes from disk", "classes", _classes),
    ("Wide features, by a sketch", "sketch", _sketch),
    ("Dask", "dask", _dask),
    ("kill -9", "kill", _kill),
    ("Cost model", "rates", _model),
    ("What to expect", "rates", _expect),
)
"""Title, what it needs to have been measured, and its text."""

_WALLS = """## Where the next wall is

- **D.** Matrices of D × D are held a dozen at a time and decomposed by one process: D = 20,000 takes 38 GB and hours.
  Project on fewer columns, or keep some directions (`sketch=`): a dozen passes over partitions, here or on Dask.
- **k.** The sums and the rotation of a network grow with k: a thousand classes are a hundred times ten. Mix outputs
  (`OutputSketch`), take them to be alike (`OutputAverage`, [what that costs](classes.md)), or score a linear head.
- **One driver.** All scores pass through the process that writes them, 8 (5 + 3k) bytes a sample: at 10⁹ samples and
  ten outputs 280 GB, about an hour at 100 MB/s. Workers writing their own parts would move this wall.
- **Reading.** Features are read three times: to know them again, for the sums, for the scores. At 10⁹ × 256 float32
  that is 3 TB; below about 100 MB/s for each worker, the disk is slower than the products."""


if __name__ == "__main__":
    write_page(Path(sys.argv[1]), Path(sys.argv[2]))
