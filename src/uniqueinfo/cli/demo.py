"""A first look: handwritten digits with a few wrong labels, scored in seconds by a network.

Run with ``uniqueinfo demo`` (or ``make demo``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape

from uniqueinfo.cli.printing import Screen, print_json
from uniqueinfo.cli.tables import leading, print_table
from uniqueinfo.errors import InputError
from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.page import write_page
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.runs.reopening import scores_of, validated
from uniqueinfo.scores.table import Scores
from uniqueinfo.store.files import replacing
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.threads import sharing

_SHARE_WRONG = 0.05  # of the labels, made wrong on purpose


@dataclass(frozen=True)
class Example:
    """Some of scikit-learn's digits, and the network to score them with."""

    name: str
    title: str
    digits: tuple[int, ...]
    model: str
    projection: int
    retrained: int
    """Samples that the network is really trained again without, where it trains in seconds."""


EXAMPLES = (
    Example("4-vs-9", "Fours and nines", (4, 9), model="mlp:256", projection=2000, retrained=12),
    Example("ten-digits", "All ten digits", tuple(range(10)), model="mlp:128", projection=500, retrained=0),
)


def run(out: Path, *, as_json: bool = False) -> None:
    """Score both examples into folders, and say what was found and where the pages are."""
    console = Screen(quiet=as_json)
    console.print("scikit-learn's 8 × 8 digits; one training label in twenty is made wrong on purpose.\n")
    OwnedFolder.open(out, "demo", {})
    with sharing():
        found = [_score(example, out, console) for example in EXAMPLES]
    if as_json:
        print_json(found)
    else:
        console.print("Open a page:\n" + "\n".join(f"  {escape(str(one['report']))}" for one in found))


def _score(example: Example, out: Path, console: Screen) -> dict[str, Any]:
    train, val = _files(example, out / "data")
    job = Job(train, ModelChoice(example.model), val, projection=example.projection)
    prepared = prepare(job)
    folder = Run.open(out / example.name, prepared.record())
    started = time.perf_counter()
    scores = scores_of(folder) if folder.finished else prepared.score(folder)
    seconds = time.perf_counter() - started
    trust = validated(folder, scores, samples=example.retrained, seed=0) if example.retrained else None
    if trust is not None:
        folder.keep(trust)
    page = write_page(folder, scores, (prepared.train, prepared.val))
    wrong, among = _caught(scores)
    console.print(
        f"[bold]{example.title}[/]: {len(scores):,} training images, {example.model}, "
        f"{scores.settings['training']['steps']:,} steps (the stopping time with the least leave-one-out error). "
        f"Every image left out once in {seconds:.1f} s."
    )
    shown = ["id", "label", "true_label", "wrong", "functional", "value"]
    print_table(console, "Most informative", leading(scores.frame(), 5)[shown], wide=True)
    console.print(
        f"{wrong} labels are wrong. Of the {wrong} images whose label the network trained without them contradicts "
        f"most, [bold]{among}[/] are among those."
    )
    console.print("" if trust is None else f"{escape(trust.sentence)}\n")
    return {
        "name": example.name,
        "wrong": wrong,
        "caught": among,
        "trust": None if trust is None else trust.sentence,
        "report": str(page.path.resolve()),
        "run": str(folder.path),
    }


def _caught(scores: Scores) -> tuple[int, int]:
    """How many labels are wrong, and how many of them are among as many samples with the worst leave-one-out loss."""
    frame = scores.frame()
    wrong = int(frame["wrong"].sum())
    return wrong, int(frame.nlargest(wrong, "loo_loss")["wrong"].sum())


def _files(example: Example, folder: Path) -> tuple[Path, Path]:
    """Training and validation data as a user would have them; written once, so that a second run finds the same."""
    train, val = folder / f"{example.name}-train.npz", folder / f"{example.name}-val.npz"
    if not (train.is_file() and val.is_file()):
        pixels, digits = _digits(example.digits)
        cut = 2 * len(digits) // 3
        shown, wrong = _with_wrong_labels(digits[:cut], example.digits)
        _save(val, X=pixels[cut:], y=digits[cut:])
        _save(train, X=pixels[:cut], y=shown, true_label=digits[:cut], wrong=wrong)
    return train, val


def _save(path: Path, **arrays: NDArray[Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as beside, beside.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise InputError(
            f"--out {path.parent.parent}: cannot be written to ({error.strerror}); name another"
        ) from error


def _digits(chosen: tuple[int, ...]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    order = order[np.isin(found.target[order], chosen)]
    return (found.images[order] / 16 * 255).astype(np.uint8), found.target[order]


def _with_wrong_labels(
    digits: NDArray[np.int64], chosen: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    rng = np.random.default_rng(1)
    wrong = np.zeros(len(digits), dtype=bool)
    wrong[rng.choice(len(digits), int(_SHARE_WRONG * len(digits)), replace=False)] = True
    classes = np.array(chosen)
    turned = classes[(np.searchsorted(classes, digits) + rng.integers(1, len(classes), len(digits))) % len(classes)]
    return np.where(wrong, turned, digits), wrong
