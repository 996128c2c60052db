"""The page from results.json: ``python -m benchmarks.peers.page RESULTS PAGE``. Nothing in it is typed by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.peers import figures
from benchmarks.peers.figures import Found, Run
from uniqueinfo.experiments.markdown import quoted
from uniqueinfo.store.files import replacing

_HEAD = """# Beside other packages

A score for every training sample, by this package and by others, on the same network and the same data. The question
is what would change without the sample: the predictions on validation samples (its *amount*), and their loss (its
*value*). The truth is training again without it. Every method runs in a process of its own with one thread; times are
of the processor, after a first call on a tiny problem, so that loading a library is in nobody's time, and the least of
three calls where these take seconds. Training the network itself is in nobody's seconds, but most others need it done
(TracIn ten checkpoints of it) and ours does not: where networks were trained again, the seconds *with training* count
one training for those that look at a trained network. Memory is what a method takes beyond its libraries and the data.
A method that fails, or takes more than the limit, says so in its line. Problems need not have been measured on the same
day: compare times within a table, not from one to another.

This page is written by `python -m benchmarks.peers`, from what the runs left behind; nothing in it is typed by hand.
All figures of it, and more, are in `benchmarks/results.json`. Wrong labels that are *look-alikes* are drawn among the
third of the samples that are closest to another class for a network trained on the right labels; they get that class.
"""
_NOISES = {"even": "drawn evenly", "hard": "look-alikes"}


def write_page(results: Path, page: Path) -> None:
    """Write a Markdown page; its figures and the results go to a folder beside it, of the page's name."""
    held = results.read_text(encoding="utf-8")
    found, folder = Found(json.loads(held)), page.with_suffix("")
    captions = figures.write(found, folder)
    with replacing(folder / "results.json") as beside:
        beside.write_text(held, encoding="utf-8")
    title, _, rest = _HEAD.partition("\n\n")
    parts = [f"{title}\n\n{_quoted(found)}\n\n{rest}", "\n".join(_answers(found)), _methods(found)]
    parts += [_section(found, setting) for setting in found.settings.values()]
    parts += ["## Figures\n", *(f"![{text}]({folder.name}/{name})\n\n*{text}*\n" for name, text in captions.items())]
    parts.append(_settings(found))
    with replacing(page) as beside:
        beside.write_text("\n".join(parts), encoding="utf-8")


def _quoted(found: Found) -> str:
    own = {name: run for name in found.settings if (run := found.run(name, found.ours)) and "error" not in run}
    others = {
        name: [run for key in found.methods if not found.is_ours(key) and (run := found.run(name, key))] for name in own
    }
    done = {name: [run for run in runs if "error" not in run] for name, runs in others.items()}

    def closest(measure: str) -> tuple[int, int]:
        ours = {
            name: run["agreement"][measure]["spearman"][0] for name, run in own.items() if measure in run["agreement"]
        }
        theirs = {
            name: [run["agreement"][measure]["spearman"][0] for run in done[name] if measure in run["agreement"]]
            for name in ours
        }
        return sum(all(ours[name] > other for other in theirs[name]) for name in ours), len(ours)

    (amount, tried), (value, _) = closest("amount"), closest("value")
    noisy = [name for name, run in own.items() if run["noise"]]
    beaten = [
        name
        for name in noisy
        if any(run["noise"] and run["noise"]["auroc"] >= own[name]["noise"]["auroc"] for run in done[name])
    ]
    slower = [run["seconds"] / own[name]["seconds"] for name in own for run in done[name]]
    return quoted(
        f"Held against training again, scores of uniqueinfo rank how far predictions move more closely than those of "
        f"every other package on {amount} of {tried} problems, and what happens to the validation loss on {value}.",
        f"Wrong labels are found as well or better by another method on {len(beaten)} of {len(noisy)} problems.",
        f"Of {len(slower)} measurements of other methods, {sum(ratio > 1 for ratio in slower)} took longer than ours "
        f"and {sum(ratio > 10 for ratio in slower)} more than ten times as long.",
    )


def _answers(found: Found) -> Iterator[str]:
    """Is ours quicker, and closer, than everyone? Who is not behind is named."""
    yield "## In short\n"
    for name, setting in found.settings.items():
        own = found.run(name, found.ours)
        if own is None or "error" in own:
            continue
        others: dict[str, Run] = {}
        further: dict[str, Run] = {}
        for key, method in found.methods.items():
            if key != found.ours and (run := found.run(name, key)):
                (further if found.is_ours(key) else others)[method["title"]] = run
        done = {title: run for title, run in others.items() if "error" not in run}
        quicker = {title: run["seconds"] for title, run in done.items() if run["seconds"] < own["seconds"]}
        lines = [f"**{_title(setting)}.** Ours: {_seconds(own['seconds'])}; quicker: {_named(quicker, _seconds)}."]
        if _training(setting) is not None and quicker:
            counted = {title: _with_training(found, setting, done[title]) for title in quicker}
            still = {title: seconds for title, seconds in counted.items() if seconds < own["seconds"]}
            lines.append(f"Quicker with training: {_named(still, _seconds)}.")
        for measure in own["agreement"]:
            ours, *_ = own["agreement"][measure]["spearman"]
            known = {
                t: run["agreement"][measure]["spearman"][0] for t, run in done.items() if measure in run["agreement"]
            }
            closer = {title: value for title, value in known.items() if value >= ours}
            lines.append(f"Spearman with training again, {measure}: {ours:.3f}; as close or closer: {_named(closer)}.")
            for title, run in further.items():
                best, *_ = run["agreement"][measure]["spearman"]
                closer = {other: value for other, value in known.items() if value >= best}
                lines.append(f"With {title.partition(', ')[2]}: {best:.3f}; as close or closer: {_named(closer)}.")
        if own["noise"]:
            ours = own["noise"]["auroc"]
            better = {
                t: run["noise"]["auroc"] for t, run in done.items() if run["noise"] and run["noise"]["auroc"] >= ours
            }
            lines.append(f"AUROC of wrong labels: {ours:.3f}; as good or better: {_named(better)}.")
        if len(done) < len(others):
            lines.append(f"{len(others) - len(done)} of {len(others)} others gave no scores.")
        yield "- " + " ".join(lines)
    yield ""


def _training(setting: Mapping[str, Any]) -> float | None:
    """Seconds of one training, where some were done again."""
    again = setting["retraining"]
    return again["seconds"] / (again["left_out"] + 1) if again else None


def _with_training(found: Found, setting: Mapping[str, Any], run: Mapping[str, Any]) -> float:
    needed = _training(setting) if found.methods[run["method"]]["trained"] else 0.0
    return float(run["seconds"] + (needed or 0.0))


def _named(figures: Mapping[str, float], shown: Callable[[float], str] = "{:.3f}".format) -> str:
    return ", ".join(f"{title} ({shown(value)})" for title, value in figures.items()) or "no one"


def _methods(found: Found) -> str:
    rows = [(m["title"], m["score"], m["note"] or "") for m in found.methods.values()]
    return "## Who is compared\n\n" + _table(("method", "its score of a sample", "note"), rows)


def _section(found: Found, setting: Mapping[str, Any]) -> str:
    name, own = setting["name"], found.run(setting["name"], found.ours)
    base = own["seconds"] if own and "error" not in own else None
    again, noisy = setting["retraining"], setting["noise"] != "none"
    head = ["method", "seconds", *(["with training"] if again else []), "times ours", "MiB"]
    if again:
        head += ["amount, Spearman", "amount, Pearson", "value, Spearman", "value, Pearson"]
    if noisy:
        head += ["AUROC", "average precision"]
    rows = []
    ran = [(key, run) for key in found.methods if (run := found.run(name, key))]
    for key, run in sorted(ran, key=lambda each: each[1].get("seconds", float("inf"))):
        method = found.methods[key]
        title = f"**{method['title']}**" if found.is_ours(key) else method["title"]
        if "error" in run:
            rows.append([title, run["error"], *[""] * (len(head) - 2)])
            continue
        cells = [title, _seconds(run["seconds"])]
        cells += [_seconds(_with_training(found, setting, run))] if again else []
        cells.append("" if base is None else f"{run['seconds'] / base:.2f}")
        cells.append(f"{run['peak'] / 2**20:.0f} + {run['before'] / 2**20:.0f}")
        if again:
            cells += [_correlation(run, measure, kind) for measure in ("amount", "value") for kind in _KINDS]
        if noisy:
            cells += ["–", "–"] if not run["noise"] else [f"{run['noise'][kind]:.3f}" for kind in _RANKINGS]
        rows.append(cells)
    lines = [f"## {_title(setting)}\n", _table(head, rows)]
    absent = [method["title"] for key, method in found.methods.items() if found.run(name, key) is None]
    if absent:
        lines.append(f"Not run: {', '.join(absent)}.\n")
    if again:
        lines.append(
            f"Correlations are with training again without {again['left_out']} samples, one of each part of all when "
            f"ordered by their loss ({again['seconds']:.0f} s); 95 % bootstrap intervals in brackets.\n"
        )
    return "\n".join(lines)


_KINDS = ("spearman", "pearson")
_RANKINGS = ("auroc", "average_precision")


def _title(setting: Mapping[str, Any]) -> str:
    width = f", {setting['hidden']} hidden units" if setting["hidden"] else ""
    noise = "" if setting["noise"] == "none" else f", a tenth of the labels wrong ({_NOISES[setting['noise']]})"
    return f"{setting['title']}{width}, {setting['samples']:,} samples{noise}"


def _settings(found: Found) -> str:
    limits, versions = found.results["limits"], found.results["versions"]
    lines = ["## Settings\n"]
    lines += [
        f"- {_title(setting)}: {setting['width']:,} parameters, outputs: {setting['outputs']}, "
        f"{setting['validation']} validation samples, {setting['steps']} full-batch steps of {setting['lr']:g} on the "
        "mean of ½‖f(x) − y‖²."
        for setting in found.settings.values()
    ]
    packages = ", ".join(wanted for each in found.results["packages"].values() for wanted in each)
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines.append(
        f"\nLimits: {limits['seconds']} s of the processor and {limits['memory'] / 2**30:.3g} GiB for each method in "
        "the last run; an error names its own. "
        f"Peers: {packages}. {named}; {found.results['machine']['cores']} cores, other work running beside.\n"
        "MiB: at the peak beyond what was held before + what libraries and data hold.\n"
    )
    return "\n".join(lines)


def _correlation(run: Mapping[str, Any], measure: str, kind: str) -> str:
    if measure not in run["agreement"]:
        return "–"
    value, low, high = run["agreement"][measure][kind]
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _seconds(seconds: float) -> str:
    if seconds < 0.01:
        return "< 0.01 s"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


if __name__ == "__main__":
    write_page(Path(sys.argv[1]), Path(sys.argv[2]))
