"""How cost grows: time and memory against n, five million features from disk, Dask, and kill -9.

    python -m benchmarks.scale                      # everything, about an hour on one core
    python -m benchmarks.scale --only dask kill     # some of it; the rest of scale.json stays

Every measurement runs in a process of its own, whose peak is the most memory it ever held (VmHWM). Results go to
`scale.json` in `--out`, one entry for each part, and are printed as they come.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import FOLDER
from benchmarks.scale_work import WORK
from uniqueinfo import load
from uniqueinfo.scoring.agreement import correlations

_SIZES = (2_000, 6_000, 20_000, 60_000)
_COUNTS = (2_000, 4_000)
_MILLIONS = 5_000_000
_MANY, _WIDTH, _CLASSES = 1_000_000, 512, 1_000
_WIDE, _COLUMNS = 600_000, 20_000
_KILLS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--out", type=Path, default=Path("results/scale"))
    parser.add_argument("--scratch", type=Path, default=Path("results/scale/scratch"), help="needs 20 GB")
    parser.add_argument("--samples", type=int, default=_MILLIONS, help="of the features on disk")
    parser.add_argument("--digits", type=int, default=_SIZES[-1], help="of MNIST, with more and more columns")
    parser.add_argument("--many", type=int, default=_MANY, help="of the features on disk with a thousand classes")
    parser.add_argument("--wide", type=int, default=_WIDE, help="samples of 20,000 features on disk")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    asked.scratch.mkdir(parents=True, exist_ok=True)
    record = asked.out / "scale.json"
    found = json.loads(record.read_text()) if record.is_file() else {}
    for name in asked.only:
        found[name] = PARTS[name](asked)
        record.write_text(json.dumps(found, indent=2) + "\n")
        print(f"{name}: {json.dumps(found[name], indent=2)}", flush=True)


def mnist(asked: argparse.Namespace) -> dict[str, Any]:
    """A network of one hidden layer of 1024 on MNIST, ten outputs, within 6 GiB: time and memory against n."""
    lines = []
    for samples in _SIZES:
        lines.append(_child("mnist", asked.scratch / f"mnist-{samples}", samples=samples))
        print(f"  mnist {lines[-1]}", flush=True)
    peaks = [line["peak_bytes"] for line in lines]
    return {
        "runs": lines,
        "slope": _slope(lines, "seconds"),
        "slope_of_the_last_two": _slope(lines[-2:], "seconds"),
        "slope_in_processor_time": _slope(lines, "cpu_seconds"),
        "slope_of_the_last_two_in_processor_time": _slope(lines[-2:], "cpu_seconds"),
        "peak_spread": max(peaks) / min(peaks) - 1,
    }


def columns(asked: argparse.Namespace) -> dict[str, Any]:
    """All digits with some columns and with twice as many, on every core: how long, and how well their ranks agree."""
    folders = [asked.scratch / f"columns-{count}" for count in _COUNTS]
    lines = [
        _child("columns", folder, threads=None, keep=True, columns=count, samples=asked.digits)
        for folder, count in zip(folders, _COUNTS, strict=True)
    ]
    one, other = (load(folder) for folder in folders)
    agreement = correlations(one, other)
    for folder in folders:
        shutil.rmtree(folder)
    return {"runs": lines, "agreement": agreement, "cores": os.cpu_count()}


def _slope(lines: list[dict[str, Any]], key: str) -> float:
    """Of the straight line through log time against log n."""
    x, y = (np.log([line[name] for line in lines]) for name in ("samples", key))
    return float(np.polyfit(x, y, 1)[0])


def features(asked: argparse.Namespace) -> dict[str, Any]:
    """Five million rows of 256 features in a file, ten classes, within 4 GiB."""
    data = _features(asked.scratch, asked.samples)
    try:
        return _child("features", asked.scratch / "features", X=str(data / "X.npy"), y=str(data / "y.npy"))
    finally:
        shutil.rmtree(data)


def classes(asked: argparse.Namespace) -> dict[str, Any]:
    """A million rows of 512 features in a file, a thousand classes, within 4 GiB."""
    data = _features(asked.scratch, asked.many, _WIDTH, _CLASSES)
    try:
        return _child("features", asked.scratch / "classes", X=str(data / "X.npy"), y=str(data / "y.npy"))
    finally:
        shutil.rmtree(data)


def sketch(asked: argparse.Namespace) -> dict[str, Any]:
    """Rows of 20,000 features in a file, ten classes, within 6 GiB, by a sketch; half as many for the slope."""
    lines = []
    for samples in (asked.wide // 2, asked.wide):
        data = _wide_features(asked.scratch, samples)
        try:
            found = _child("sketch", asked.scratch / "sketch", X=str(data / "X.npy"), y=str(data / "y.npy"))
        finally:
            shutil.rmtree(data)
        lines.append(found)
        print(f"  sketch {found}", flush=True)
    return {"runs": lines, "slope_in_processor_time": _slope(lines, "cpu_seconds")}


def dask(asked: argparse.Namespace) -> dict[str, Any]:
    """Local against Dask, one worker against two, and a worker killed on the way: network and features."""
    data = _features(asked.scratch, 300_000)
    try:
        return {
            "features": _child("dask", asked.scratch / "dask-f", X=str(data / "X.npy"), y=str(data / "y.npy")),
            "network": _child("dask", asked.scratch / "dask-n", samples=30_000),
        }
    finally:
        shutil.rmtree(data)


def kill(asked: argparse.Namespace) -> dict[str, Any]:
    """kill -9 at random moments of an out-of-core run; then the same command again, to its end."""
    data = _features(asked.scratch, 200_000)
    options: dict[str, Any] = {
        "X": str(data / "X.npy"),
        "y": str(data / "y.npy"),
        "memory": "640MiB",
    }  # little, for many partitions
    try:
        whole = asked.scratch / "whole"
        started = time.perf_counter()
        work = _child("features", whole, keep=True, **options)["seconds"]
        length, wanted = time.perf_counter() - started, _digest(whole)
        moments = length - work * np.random.default_rng(0).uniform(size=_KILLS)  # imports are done by then
        kills = []
        for number, moment in enumerate(moments):
            folder = asked.scratch / f"killed-{number}"
            process = _start("features", folder, **options)
            time.sleep(moment)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
            _child("features", folder, keep=True, **options)
            kills.append({"after_seconds": moment, "files_left": len(left), "same_bytes": _digest(folder) == wanted})
            print(f"  kill {kills[-1]}", flush=True)
            shutil.rmtree(folder)
        shutil.rmtree(whole)
        return {"seconds_of_the_work": work, "kills": kills, "all_same": all(k["same_bytes"] for k in kills)}
    finally:
        shutil.rmtree(data)


def rates(asked: argparse.Namespace) -> dict[str, Any]:
    """How fast the parts are here, on one thread: what the cost model is made of."""
    return _child("rates", asked.scratch / "rates")


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "rates": rates,
    "dask": dask,
    "kill": kill,
    "mnist": mnist,
    "columns": columns,
    "features": features,
    "classes": classes,
    "sketch": sketch,
}


def _start(task: str, folder: Path, threads: int | None = 1, **options: Any) -> subprocess.Popen[str]:
    """On so many threads; None: as many as the library takes by itself."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    counted = {} if threads is None else dict.fromkeys(names, str(threads))
    call = json.dumps({"task": task, "folder": str(folder), **options})
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.scale", "--child", call],
        stdout=subprocess.PIPE,
        text=True,
        env=kept | counted | {"UNIQUEINFO_DATA": str(FOLDER)},
    )


def _child(task: str, folder: Path, *, keep: bool = False, threads: int | None = 1, **options: Any) -> dict[str, Any]:
    """What a measurement in a process of its own printed last; its folder goes unless it is to be kept."""
    process = _start(task, folder, threads, **options)
    said, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{task} {options}: failed")
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def _features(scratch: Path, samples: int, width: int = 256, classes: int = 10) -> Path:
    """Gaussian classes that overlap, as float32 in an .npy file."""
    folder = scratch / f"features-{samples}-{width}-{classes}"
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(classes, width)).astype(np.float32) / 10
    y = rng.integers(0, classes, samples)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (samples, width))
    for start in range(0, samples, 100_000):
        some = slice(start, min(start + 100_000, samples))
        X[some] = rng.standard_normal((some.stop - start, width), dtype=np.float32) + centres[y[some]]
    X.flush()
    np.save(folder / "y.npy", y)
    return folder


def _wide_features(scratch: Path, samples: int) -> Path:
    """20,000 features whose directions fall off as 1/j, and ten classes by the first of them, as float32."""
    folder = scratch / f"wide-{samples}"
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    few = 2_000
    sizes = (1 / np.arange(1, few + 1)).astype(np.float32)
    directions = rng.standard_normal((few, _COLUMNS), dtype=np.float32) * sizes[:, None] / _COLUMNS**0.5
    y = np.empty(samples, dtype=np.int64)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (samples, _COLUMNS))
    for start in range(0, samples, 1_000):
        some = slice(start, min(start + 1_000, samples))
        seen = rng.standard_normal((some.stop - start, few), dtype=np.float32)
        X[some] = seen @ directions + 1e-2 / _COLUMNS**0.5 * rng.standard_normal(
            (len(seen), _COLUMNS), dtype=np.float32
        )
        y[some] = (seen[:, :10] + rng.standard_normal((len(seen), 10))).argmax(axis=1)
    X.flush()
    np.save(folder / "y.npy", y)
    return folder


def _digest(folder: Path) -> str:
    """Of the names and contents of everything in a folder."""
    sha = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        sha.update(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return sha.hexdigest()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        call = json.loads(sys.argv[2])
        print(json.dumps(WORK[call.pop("task")](Path(call.pop("folder")), **call)))
    else:
        main()
