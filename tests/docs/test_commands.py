"""Commands of the README and of the site are run on small data, and do what they are shown for.

Those that need a network from elsewhere, a cluster, a person or minutes are parsed alone (`test_blocks.py`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from tests.cli.calling import Caller
from tests.docs.blocks import PAGES
from tests.docs.test_blocks import commands_of

ELSEWHERE = ("timm:", "torchvision:", "transformers:", "--embed", "--engine", "review")
ORDER = ("score", "decisions")  # first what others go on from


def runnable() -> list[tuple[str, ...]]:
    """Each once; the runs that others ask about are made first."""
    every = {tuple(words[1:]) for page in PAGES for words in commands_of(page) if words[0] == "uniqueinfo"}
    here = [words for words in every if not any(part in word for word in words for part in ELSEWHERE)]
    here = [words for words in here if words[0] != "validate" or "--dry-run" in words]  # which trains for minutes
    return sorted(here, key=lambda words: (words[0] not in ORDER, words[0] != "score", words))


def prepare() -> None:
    """What the commands name, in this folder."""
    rng = np.random.default_rng(0)
    for folder, count in {
        "photos/pet": 30,
        "photos/deer": 30,
        "unlabelled-photos/any": 60,
        "new-photos/pet": 4,
    }.items():
        Path(folder).mkdir(parents=True)
        for number in range(count):
            pixels = rng.integers(0, 90, (8, 8, 3), dtype=np.uint8)
            pixels[:4] += np.uint8(120) if folder.endswith("pet") else np.uint8(0)
            Image.fromarray(pixels).save(f"{folder}/{number:03d}.png")
    size = 80
    table = pd.DataFrame({"age": rng.normal(size=size), "spent": rng.normal(size=size)})
    table["vendor"] = rng.choice(["north", "south"], size)
    table["churned"] = np.where(table["age"] + 0.3 * rng.normal(size=size) > 0, "yes", "no")
    table.loc[3, "spent"] = np.nan
    table.to_csv("customers.csv", index=False)
    table.drop(columns="churned").fillna(0.0).to_csv("pool.csv", index=False)
    stars = rng.integers(1, 3, 40)
    words = {1: ["dull", "slow", "bad"], 2: ["fine", "quick", "good"]}
    texts = [" ".join(rng.choice([*words[int(star)], "film", "story"], 6)) for star in stars]
    pd.DataFrame({"review": texts, "stars": stars.astype(str)}).to_csv("reviews.csv", index=False)
    X = rng.normal(size=(50, 6))
    np.savez("digits.npz", X=X, y=(X[:, 0] > 0).astype(int))
    songs = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    for mood, column in {"calm": "a", "dark": "b", "fast": "c", "loud": "d"}.items():
        songs[mood] = (songs[column] > 0).astype(int)
    songs.to_csv("songs.csv", index=False)
    decision = '{"sample": "pet/000.png", "decision": "drop", "given": "pet", "by": "me", "at": "2026-01-01T00:00:00Z"}'
    Path("decisions.jsonl").write_text(decision + "\n", encoding="utf-8")
    Path("answers.json").write_text("[]", encoding="utf-8")


def test_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uniqueinfo: Caller) -> None:
    monkeypatch.chdir(tmp_path)
    prepare()
    commands = runnable()
    assert len(commands) > 20
    for words in commands:
        if words[:2] == ("score", "photos"):
            words = (*words, "--model", "linear")  # in seconds, and where no pretrained network is installed
        if words[0] == "clean" and Path("photos-clean").exists():
            continue
        found = uniqueinfo(*words)
        assert found.code == 0, f"uniqueinfo {' '.join(words)}: {found.err or found.out}"
        if words[:2] == ("score", "photos"):  # what a person would do on the page of a review
            assert uniqueinfo("decisions", "runs/photos", "--import", "decisions.jsonl").code == 0
    assert len(list(Path("photos-clean").rglob("*.png"))) == 59
    for name in ("cleaned.csv", "kept.csv", "next.csv", "tasks.json", "runs/photos/report.html"):
        assert Path(name).is_file()
