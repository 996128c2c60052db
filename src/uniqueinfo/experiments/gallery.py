"""The page of a results folder: what the paper found and what we did, every figure, settings and time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from uniqueinfo.errors import InputError
from uniqueinfo.experiments.claim_tables import claim_tables, row
from uniqueinfo.experiments.markdown import folded, quoted, table
from uniqueinfo.experiments.registry import EXPERIMENTS
from uniqueinfo.experiments.runner import NOT_RUN
from uniqueinfo.store.files import replacing

_MOST_BYTES = 200_000
"""Bytes of one picture in the page."""
_SCALES = {
    "small": "small scale: fewer samples than the paper, see the settings",
    "paper": "the paper's sizes",
}
_HEAD = """# The paper, reproduced

Every table and figure of *Estimating informativeness of samples with Smooth Unique Information* (Harutyunyan et al.,
ICLR 2021) that real data could be had for, each made by one command, with the paper's figures beside ours. Intervals
are of 95 %, by the test each line names; ✓ is a claim that holds, ✗ one that does not. The table has the first finding
of each experiment; its name leads to all of them. This page is written by `uniqueinfo reproduce --gallery`, from what
the runs left behind, which lies in `results/` (`NAME.json`, the pictures); nothing in it is typed by hand. Times are of
the last run, which does not compute again what an earlier one kept.
"""


def write_gallery(results: Path, page: Path) -> None:
    """Write a Markdown page; the pictures and what was found go to a folder beside it, of the page's name.

    Experiments that are not among the results stay on the page as they were.
    """
    new = {name: read for name in EXPERIMENTS if (read := _read(results / name / "figures.json")) is not None}
    if not new:
        raise InputError(f"{results}: holds no results; make some with uniqueinfo reproduce NAME --out {results}")
    beside = page.with_suffix("")
    beside.mkdir(parents=True, exist_ok=True)
    for name, run in new.items():
        for figure in run["figures"]:
            _copy(results / name / f"{figure}.png", beside / f"{name}-{figure}.png")
        with replacing(beside / f"{name}.json") as kept:
            kept.write_bytes((results / name / "figures.json").read_bytes())
    found = {name: read for name in EXPERIMENTS if (read := _read(beside / f"{name}.json")) is not None}
    title, _, rest = _HEAD.partition("\n\n")
    parts = [
        f"{title}\n\n{_quoted(found)}\n\n{rest}",
        _summary(found),
        *(_section(name, run, beside.name) for name, run in found.items()),
    ]
    absent = [name for name in EXPERIMENTS if name not in found]
    if absent:
        parts.append("## Not in these results\n\n" + "".join(f"- `{n}`: {EXPERIMENTS[n].what}\n" for n in absent))
    with replacing(page) as written:
        written.write_text("\n".join(parts), encoding="utf-8")


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _quoted(found: Mapping[str, Mapping[str, Any]]) -> str:
    tested = {name: _tested(run["claims"]) for name, run in found.items()}
    claims = [claim for some in tested.values() for claim in some]
    short = [f"[{name}](#{name})" for name, some in tested.items() if not all(claim["holds"] for claim in some)]
    return quoted(
        f"Of {len(claims)} claims, most of them the paper's, that were tested on real data, "
        f"{sum(claim['holds'] for claim in claims)} hold here.",
        f"In {len(found) - len(short)} of {len(found)} experiments all do; not all in {', '.join(short) or 'none'}.",
        "Each is made anew by one command, `uniqueinfo reproduce NAME`.",
    )


def _summary(found: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for name, run in found.items():
        tested = _tested(run["claims"])
        holds = f"{sum(claim['holds'] for claim in tested)} of {len(tested)}" if tested else ""
        shown = [row(claim, claim["what"]) for claim in _first(run["claims"])]
        what, paper, ours, held = shown[0] if shown else (run["what"], "", "", "")
        rows.append((f"[{name}](#{name})", what, paper, f"{held} {ours}".strip(), holds, run["scale"]))
    return table(("experiment", "for one", "the paper", "ours", "claims that hold", "scale"), rows)


def _first(claims: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that were run, beginning with what the paper has a figure for."""
    return sorted((claim for claim in claims if claim["ours"] != NOT_RUN), key=lambda claim: claim["paper"] is None)


def _tested(claims: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [claim for claim in claims if claim["holds"] is not None]


def _section(name: str, run: Mapping[str, Any], folder: str) -> str:
    claims = run["claims"]
    lines = [f"## {name}\n", f"{_sentence(run['what'])}\n"]
    known = EXPERIMENTS[name]
    lines.append(f"**The paper.** {known.paper}\n" if known.paper else "Beyond the paper.\n")
    lines.append(f"**Here.** {' '.join(filter(None, [_verdict(claims), known.remark]))}\n")
    for figure, caption in run["figures"].items():
        lines.append(f"![{_plain(caption) or figure}]({folder}/{name}-{figure}.png)\n")
        if caption:
            lines.append(f"*{caption}*\n")
    lines.append(claim_tables(claims))
    data = ", ".join(f"{key} `{fingerprint[:12]}`" for key, fingerprint in run["data"].items())
    details = [
        f"`uniqueinfo reproduce {name} --scale {run['scale']} --seed {run['seed']}`: {_duration(run['seconds'])}, "
        f"{_SCALES[run['scale']]}.",
        f"Data (SHA-256): {data}." if data else "",
        _settings(run["settings"]),
    ]
    return "\n".join([*lines, *(line for line in details if line), ""])


def _verdict(claims: Iterable[Mapping[str, Any]]) -> str:
    """How many claims hold, and which do not."""
    tested = _tested(claims)
    failed = [row(claim, claim["what"]) for claim in tested if not claim["holds"]]
    absent = sum(claim["ours"] == NOT_RUN for claim in claims)
    said = (
        f"{len(tested) - len(failed)} of {len(tested)} claims hold"
        if tested
        else "What the paper claims could not be tested"
    )
    if tested and not failed:
        said = "What was tested holds" if len(tested) == 1 else f"All {len(tested)} claims hold"
    if failed:
        said += "; not: " + "; ".join(
            f"{what} ({ours}{f', the paper: {paper}' if paper else ''})" for what, paper, ours, _ in failed
        )
    return said + (f". Not run here: {absent}." if absent else ".")


def _settings(settings: Mapping[str, Any]) -> str:
    """In one line; or, where they are of several parts, folded, with a line for each."""
    parts = {key: value for key, value in settings.items() if isinstance(value, Mapping)}
    flat = ", ".join(f"{key} {_value(value)}" for key, value in settings.items() if key not in parts)
    lines = [f"Settings: {flat}."] if flat else []
    if parts:
        told = "\n".join(f"- {key}: {_value(value)}" for key, value in parts.items())
        lines += ["", folded("Settings of each part", told)]
    return "\n".join(lines)


def _value(value: Any) -> str:
    """As it is read: short, and without what is not there.

    >>> _value({"rate": 0.0012345, "batch": None, "flow": False, "times": {"ours": 2.0}})
    'rate 0.001234, times (ours 2)'
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        there = {key: held for key, held in value.items() if held not in (None, "", False)}
        inner = {key: f"({_value(held)})" if isinstance(held, Mapping) else _value(held) for key, held in there.items()}
        return ", ".join(f"{key} {held}" for key, held in inner.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _plain(text: str) -> str:
    return re.sub(r"[\[\]*_`]", "", text)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _copy(source: Path, target: Path) -> None:
    """A picture for the page: as it is where that is small, else with fewer colours, then with fewer pixels."""
    if not source.is_file():
        raise InputError(f"{source}: this figure is missing beside its figures.json; run the experiment again")
    with Image.open(source) as stored:
        image = stored.convert("RGB")
    with replacing(target) as beside:
        image.save(beside, format="PNG", optimize=True)
        while beside.stat().st_size > _MOST_BYTES:
            _few_colours(image).save(beside, format="PNG", optimize=True)
            image = image.resize((image.width * 4 // 5, image.height * 4 // 5), Image.Resampling.LANCZOS)


def _few_colours(image: Image.Image) -> Image.Image:
    """256 of them, by k-means on some of the pixels: without it photographs look painted, for rare colours are lost."""
    some = image.copy()
    some.thumbnail((400, 400), Image.Resampling.NEAREST)
    return image.quantize(palette=some.quantize(256, kmeans=1), dither=Image.Dither.NONE)
