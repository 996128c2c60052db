"""Runs of the command line to review, small enough to be scored in a second."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_digits

from uniqueinfo.runs.folder import Run
from uniqueinfo.runs.job import Job
from uniqueinfo.runs.models import ModelChoice
from uniqueinfo.runs.prepared import prepare
from uniqueinfo.runs.readers import Reading
from uniqueinfo.training import Converged

WRONG = 8
"""The first rows, which have wrong labels."""


def scored(data: Path, out: Path, **reading: str) -> Path:
    """A run of a linear model."""
    job = Job(data, ModelChoice("linear"), reading=Reading(size=8, **reading), training=Converged(0.01))  # type: ignore[arg-type]
    prepared = prepare(job)
    prepared.score(Run.open(out, prepared.record()))
    return out


def digit_table(names: tuple[str, ...] = ("zero", "one", "two"), rows: int = 90) -> pd.DataFrame:
    """Three digits as rows of pixels, by names; the first labels are those of the next digit."""
    pixels, digits = load_digits(n_class=3, return_X_y=True)
    pixels, digits = pixels[:rows].astype(int), digits[:rows].copy()
    digits[:WRONG] = (digits[:WRONG] + 1) % 3
    table = pd.DataFrame(pixels[:, 10:54], columns=[f"p{i}" for i in range(10, 54)])
    return table.assign(
        id=[f"d{i:02}" for i in range(rows)],
        label=np.array(names)[digits],
        note=[f"=HYPERLINK({i})" for i in range(rows)],
    )


def true_label(row: int, names: tuple[str, ...] = ("zero", "one", "two")) -> str:
    return names[int(load_digits(n_class=3).target[row])]


def digit_folder(folder: Path, rows: int = 90) -> Path:
    """The same as pictures in class folders."""
    pixels, _ = load_digits(n_class=3, return_X_y=True)
    for row, label in enumerate(digit_table(rows=rows)["label"]):
        (folder / label).mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray((255 - pixels[row].reshape(8, 8) * 15).astype(np.uint8))
        picture.save(folder / label / f"d{row:02}.png")
    return folder
