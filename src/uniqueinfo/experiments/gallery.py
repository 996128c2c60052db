"""The page of a results folder: every claim of the paper in one table, then the pictures, the settings last."""

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

The tables and figures of *Estimating informativeness of samples with Smooth Unique Information* (Harutyunyan et al.,
ICLR 2021) that real data could be had for. First every claim of the paper, in one line; then the experiments one by
one, pictures first; then what is open; settings last. Intervals are of 95 %. A claim holds (✓) by the test its line in
the experiment's own table names, or does not (✗). The page is written by `uniqueinfo reproduce --gallery` from what the
runs left in `results/` (`NAME.json`, the pictures); nothing in it is typed by hand.
"""
_OPEN = """## Open questions

What we expected beyond the paper, by bounds of our own, and did not find. No claim of the paper hangs on it.
"""
_SETTINGS = """## Settings

Commands, data and settings. Times are of the last run, which does not compute again what an earlier one kept.
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
        _open(found),
        _SETTINGS,
        *(_details(name, run) for name, run in found.items()),
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
    tested = {name: some for name, run in found.items() if (some := _tested(_papers(run["claims"])))}
    claims = [claim for some in tested.values() for claim in some]
    short = [f"[{name}](#{name})" for name, some in tested.items() if not all(claim["holds"] for claim in some)]
    ours = [claim for run in found.values() for claim in _tested(run["claims"]) if claim["paper"] is None]
    came_true = sum(claim["holds"] for claim in ours)
    others = "" if came_true == len(ours) else "; the others are [open questions](#open-questions)"
    return quoted(
        f"Of {len(claims)} claims of the paper that were tested on real data, "
        f"{sum(claim['holds'] for claim in claims)} hold here; those that do not are in "
        f"{', '.join(short) or 'no experiment'}.",
        f"Of {len(ours)} expectations of ours beyond it, {came_true} came true{others}.",
        "Each is made anew by one command, `uniqueinfo reproduce NAME`.",
    )


def _summary(found: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for every claim of the paper that was tested, or could not be."""
    rows = []
    for name, run in found.items():
        told = [one for one in _papers(run["claims"]) if one["holds"] is not None or one["ours"] == NOT_RUN]
        rows += [(f"[{name}](#{name})", *row(claim, claim["what"])) for claim in told]
    return table(("experiment", "claim", "the paper", "ours", "holds"), rows)


def _papers(claims: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [claim for claim in claims if claim["paper"] is not None]


def _tested(claims: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [claim for claim in claims if claim["holds"] is not None]


def _is_open(claim: Mapping[str, Any]) -> bool:
    """An expectation of ours that did not come true."""
    return claim["paper"] is None and claim["holds"] is False


def _open(found: Mapping[str, Mapping[str, Any]]) -> str:
    parts = []
    for name, run in found.items():
        rows = [(*row(claim, claim["what"])[::2], claim["note"]) for claim in run["claims"] if _is_open(claim)]
        if rows:
            reason = EXPERIMENTS[name].open_question or ""
            parts += [f"**[{name}](#{name}).** {reason}\n", table(("expected", "ours", "bound"), rows)]
    return "\n".join([_OPEN, *parts]) if parts else ""


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
    shown = [{**claim, "holds": None} if _is_open(claim) else claim for claim in claims]
    return "\n".join([*lines, claim_tables(shown)])


def _details(name: str, run: Mapping[str, Any]) -> str:
    """How it is made anew."""
    data = ", ".join(f"{key} `{fingerprint[:12]}`" for key, fingerprint in run["data"].items())
    details = [
        f"`uniqueinfo reproduce {name} --scale {run['scale']} --seed {run['seed']}`: {_duration(run['seconds'])}, "
        f"{_SCALES[run['scale']]}{_but(name, run['scale'])}.",
        f"Data (SHA-256): {data}." if data else "",
        _settings(run["settings"]),
    ]
    return "\n".join([f"**{name}**\n", *(line for line in details if line), ""])


def _but(name: str, scale: str) -> str:
    smaller = EXPERIMENTS[name].smaller
    return f", but {smaller}" if smaller and scale == "paper" else ""


def _verdict(claims: Iterable[Mapping[str, Any]]) -> str:
    """How many claims hold, and which do not."""
    claims = list(claims)
    tested = [claim for claim in _tested(claims) if not _is_open(claim)]
    failed = [row(claim, claim["what"]) for claim in tested if not claim["holds"]]
    absent = sum(claim["ours"] == NOT_RUN for claim in claims)
    if not tested:
        said = "What the paper claims could not be tested" if absent else "Reported as it comes out"
    elif failed:
        said = f"{len(tested) - len(failed)} of {len(tested)} claims hold; not: " + "; ".join(
            f"{what} ({ours}{f', the paper: {paper}' if paper else ''})" for what, paper, ours, _ in failed
        )
    else:
        said = {1: "What was tested holds", 2: "Both claims hold"}.get(len(tested), f"All {len(tested)} claims hold")
    questions = sum(map(_is_open, claims))
    said += "."
    if absent:
        said += f" {absent} lines were not run here." if absent > 1 else " One line was not run here."
    return said + (f" {questions} expectations of ours are [open](#open-questions)." if questions else "")


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
