"""Every method on every problem, and the page: ``python -m benchmarks.peers --data DIR --out DIR``.

Networks are trained here, once; what training again without a sample gives is found for some samples of the main
problems. Then every method runs in a process of its own, one at a time, with one thread. Times are of the processor. A
peer that fails or takes too long has its error in the table. What is done already is not done again: remove a folder
below `runs` to repeat it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.peers.environments import python_of
from benchmarks.peers.measures import against_noise, against_truth
from benchmarks.peers.methods import METHODS, OURS, REQUIREMENTS, Method
from benchmarks.peers.page import write_page
from benchmarks.peers.problem import Problem
from benchmarks.peers.running import Limits, run
from benchmarks.peers.settings import SETTINGS, TITLES, Setting, make
from benchmarks.peers.truth import retrained
from uniqueinfo.errors import InputError
from uniqueinfo.store.files import replacing

_WHERE = " on "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data sets")
    parser.add_argument("--out", type=Path, required=True, help="everything is kept here")
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names: captum, dattri-trak; ours always")
    parser.add_argument(
        "--problems", nargs="*", default=[], help="beginnings of their names, such as pets or mnist-n500"
    )
    parser.add_argument("--environments", type=Path, help="where each peer's is made; by itself in the out folder")
    parser.add_argument("--seconds", type=int, default=120, help="of the processor a method may take")
    parser.add_argument("--memory", type=float, default=6.0, help="GiB it may take")
    parser.add_argument("--left-out", type=int, default=40, help="samples left out and trained without")
    parser.add_argument("--page", type=Path, help="write the Markdown page here; its figures go to a folder beside it")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    out: Path = arguments.out
    environments: Path = (arguments.environments or out / "environments").absolute()  # methods run in other folders
    limits = Limits(arguments.seconds, int(arguments.memory * 2**30))
    always = tuple(method.package for method in METHODS if method.package not in REQUIREMENTS)
    methods = [m for m in METHODS if not arguments.only or m.key.startswith((*always, *arguments.only))]
    for setting in SETTINGS:
        if arguments.problems and not setting.name.startswith(tuple(arguments.problems)):
            continue
        problem = _prepared(setting, arguments.data, out)
        fitting = [method for method in methods if setting.hidden or not method.networks]
        for method, report in _reports(fitting, setting, problem, out, environments, limits):
            print(f"{setting.name:28} {method.title:32} {_line(report)}", flush=True)
        if setting.judged:
            retrained(Problem.load(problem), arguments.left_out, out / "truth" / setting.name)
        _write(out, limits, arguments.left_out)
    write_page(out / "results.json", arguments.page or out / "benchmarks.md")


def _prepared(setting: Setting, data: Path, out: Path) -> Path:
    folder = out / "problems" / setting.name
    if not (folder / "wrong.npy").is_file():
        problem, wrong = make(setting, data, out / "work")
        problem.save(folder)
        with replacing(folder / "wrong.npy") as beside, beside.open("wb") as file:
            np.save(file, wrong)
    return folder


def _reports(
    methods: list[Method], setting: Setting, problem: Path, out: Path, environments: Path, limits: Limits
) -> Iterator[tuple[Method, dict[str, Any]]]:
    """What became of each method; kept in a file, whether it ran or could not."""
    for method in methods:
        report = _report(out, setting, method) or _not_tried(method, setting, out)
        place = _place(out, setting, method)
        if report is None:
            try:
                python = python_of(method.package, environments)
                report = run(method.target, python, problem.resolve(), place.resolve(), limits)
            except InputError as error:
                report = {"error": str(error)}
        place.mkdir(parents=True, exist_ok=True)
        (place / "report.json").write_text(json.dumps(report) + "\n", encoding="utf-8")
        yield method, report


def _not_tried(method: Method, setting: Setting, out: Path) -> dict[str, Any] | None:
    """If a problem of the same kind that is no larger was too much, so is this one."""
    for other in SETTINGS:
        smaller = other.data == setting.data and other.samples <= setting.samples and other.hidden <= setting.hidden
        report = _report(out, other, method) if smaller else None
        if report and report.get("slow"):
            reason = (
                report["error"] if _WHERE in report["error"] else f"not tried: {report['error']}{_WHERE}{other.name}"
            )
            return {"error": reason, "slow": True}
    return None


def _place(out: Path, setting: Setting, method: Method) -> Path:
    return out / "runs" / setting.name / method.key


def _report(out: Path, setting: Setting, method: Method) -> dict[str, Any] | None:
    path = _place(out, setting, method) / "report.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _write(out: Path, limits: Limits, left_out: int) -> None:
    """Everything found so far in one file; of problems whose folders are gone, what the file already held."""
    path = out / "results.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"settings": [], "runs": []}
    settings, runs = [], []
    for setting in SETTINGS:
        folder = out / "problems" / setting.name
        if not (folder / "wrong.npy").is_file():
            settings += [each for each in before["settings"] if each["name"] == setting.name]
            runs += [each for each in before["runs"] if each["setting"] == setting.name]
            continue
        problem, wrong = Problem.load(folder), np.load(folder / "wrong.npy")
        known = setting.judged and (out / "truth" / setting.name).is_dir()
        truth = retrained(problem, left_out, out / "truth" / setting.name) if known else None
        facts: dict[str, Any] = {"width": sum(w.numel() for w in problem.start.values()), "outputs": problem.outputs}
        facts |= {"lr": problem.lr, "steps": problem.steps, "validation": len(problem.X_val)}
        again = None if truth is None else {"left_out": len(truth.samples), "seconds": truth.seconds}
        settings.append(
            {"name": setting.name, "title": TITLES[setting.data], **asdict(setting), **facts, "retraining": again}
        )
        for method in METHODS:
            report = _report(out, setting, method)
            if report is None:
                continue
            if "error" not in report:
                with np.load(_place(out, setting, method) / "scores.npz", allow_pickle=False) as held:
                    scores = dict(held)
                report["agreement"] = {} if truth is None else against_truth(scores, truth)
                report["noise"] = against_noise(scores, wrong) if wrong.any() and "suspicion" in scores else None
            runs.append({"setting": setting.name, "method": method.key, **report})
    found = {
        "limits": asdict(limits),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        "packages": {name: list(wanted) for name, wanted in REQUIREMENTS.items()},
        "machine": {"cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"},
        "ours": OURS,
        "methods": [asdict(method) | {"key": method.key} for method in METHODS],
        "settings": settings,
        "runs": runs,
    }
    with replacing(path) as beside:
        beside.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _line(report: dict[str, Any]) -> str:
    if "error" in report:
        return str(report["error"])
    return f"{report['seconds']:8.2f} s  {report['peak'] / 2**20:7.0f} MiB"


if __name__ == "__main__":
    main()
