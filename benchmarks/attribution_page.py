"""A page of what `benchmarks.attribution` found: a table, a picture, and the figures themselves beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from uniqueinfo.experiments.drawing import COLOURS
from uniqueinfo.experiments.markdown import quoted
from uniqueinfo.store.files import replacing

_MEASURES = {"lds": "LDS", "leave_one_out": "leave-one-out"}
_FIGURE = "attribution.png"
_CAPTION = "Rank correlation with training again, with 95 % intervals; filled points are ours."


def write_page(found: dict[str, Any], page: Path) -> None:
    """Write the page; the picture and the figures go to a folder beside it, of the page's name."""
    beside = page.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    with replacing(beside / "attribution.json") as kept:
        kept.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    with replacing(beside / _FIGURE) as drawn:
        figure(found["methods"]).savefig(drawn, format="png", dpi=110)
    with replacing(page) as written:
        written.write_text(text(found, beside.name), encoding="utf-8")


def text(found: dict[str, Any], folder: str) -> str:
    """The whole page."""
    truth = found["truth"]
    lines = [
        f"| {line['method']} | {_shown(line['lds'])} | {_shown(line['leave_one_out'])} | {line['seconds']:.1f} |"
        for line in found["methods"]
    ]
    return f"""# What did this prediction come from?

{_quoted(found["methods"])}

Every method below says how much each training sample moves each validation output. The truth is training again: on
{truth["halves"]} random halves of the data (the *linear datamodeling score*, LDS: does the sum over the samples of a
half tell the outputs after training on it?) and without {truth["singles"]} single samples (*leave-one-out*). Both are
rank correlations, averaged over {truth["validation"]} validation samples, with a 95 % bootstrap interval over these.
Seconds are of the processor; training again for the truth took {truth["seconds"]:.0f}.

{found["task"]}

| method | LDS | leave-one-out | seconds |
| --- | --- | --- | --- |
{chr(10).join(lines)}

![{_CAPTION}]({folder}/{_FIGURE})

*{_CAPTION}*

*At both ends*: gradients of the network before and after training (`score(trained=...)`), which the others too need to
be trained. LiSSA has no LDS: it would take all {truth["samples"]} samples. This page is written by
`python -m benchmarks.attribution --page PAGE.md`; its figures are in `{folder}/attribution.json`.
"""


def _quoted(methods: list[dict[str, Any]]) -> str:
    known = {line["method"]: line for line in methods if line["leave_one_out"] is not None}
    ours = known["linearization, leave-one-out"]
    others = [line for line in known.values() if not line["method"].startswith("linearization")]
    best = max(others, key=lambda line: float(line["leave_one_out"]["value"]))
    together = {line["method"]: line for line in methods}.get("linearization, halves left out together")
    halves = f", and {together['lds']['value']:.2f} where the half leaves together" if together else ""
    return quoted(
        "What training again without a sample does to each prediction is said by the linearization with a rank "
        f"correlation of {ours['leave_one_out']['value']:.2f}, for all samples in {ours['seconds']:.1f} seconds.",
        f"The closest of the other methods, {best['method']}, has {best['leave_one_out']['value']:.2f}, in "
        f"{best['seconds']:.1f} seconds.",
        f"For random halves of the data (LDS) it is {ours['lds']['value']:.2f}{halves}.",
    )


def figure(methods: list[dict[str, Any]]) -> Figure:
    """Both correlations of every method."""
    found = Figure(figsize=(11, 0.42 * len(methods) + 1.2), layout="constrained")
    for number, (ax, (measure, title)) in enumerate(
        zip(found.subplots(1, 2, sharey=True), _MEASURES.items(), strict=True)
    ):
        for place, line in enumerate(methods):
            if line[measure] is None:
                continue
            value, low, high = (line[measure][name] for name in ("value", "low", "high"))
            ours = line["method"].startswith("linearization")
            ax.plot([low, high], [place, place], color=COLOURS[number], linewidth=2)
            ax.plot(value, place, "o", color=COLOURS[number], markerfacecolor=COLOURS[number] if ours else "white")
        ax.set(title=title, xlim=(-0.2, 1.02), yticks=range(len(methods)))
        ax.set_yticklabels([line["method"] for line in methods])
        ax.invert_yaxis() if number == 0 else None
        ax.axvline(0, color="0.8", linewidth=1, zorder=0)
        ax.grid(axis="x", color="0.92")
    return found


def _shown(interval: dict[str, float] | None) -> str:
    return "–" if interval is None else f"{interval['value']:.2f} [{interval['low']:.2f}, {interval['high']:.2f}]"
