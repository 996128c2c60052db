"""Photos of cats and dogs in class folders: some labels wrong, some training photos again in the validation folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.newcomers.story import NotHere, Setting, Shell, Story, Told, flips
from uniqueinfo.errors import InputError
from uniqueinfo.experiments.data.photos import cats_dogs
from uniqueinfo.experiments.data.pictures import Jpegs

_CLASSES = np.array(["cat", "dog"])
_NEEDED, _ALLOWED = 17, 5


def photos(setting: Setting) -> Iterator[Told]:
    """At the defaults; then with labels by chance, of which nothing can be said."""
    count, wrong, copies = (60, 5, 2) if setting.small else (300, 20, 5)
    files = PhotoFiles.of(setting, count)
    labels, flipped = flips(files.labels, wrong)
    names = files.write(setting.work / "train", labels)
    chosen = np.random.default_rng(1).choice(np.setdiff1d(np.arange(count), flipped), copies, replace=False)
    files.validation(setting.work / "val", count // 2, [(at, labels[at]) for at in chosen])
    shell, run = Shell(setting), setting.work / "run"
    said = shell("score", setting.work / "train", "--val", setting.work / "val", "--out", run)
    answer = shell.json("mislabeled", run, "--export", setting.work / "clean.csv")
    twice = shell.json("redundancy", run)["table"]
    suspects = {row["id"] for row in answer["table"]}
    planted = {names[at] for at in flipped}
    found = {row["id"] for row in twice if row["where"] == "validation" and row["kind"] == "exact"}
    seen, accused = len(suspects & planted), len(suspects - planted)
    again = len(found & {names[at] for at in chosen})
    exported = pd.read_csv(setting.work / "clean.csv")
    missed = []
    if not setting.small:
        missed += [f"{seen} flips found, not {_NEEDED}"] if seen < _NEEDED else []
        missed += [f"{accused} right labels accused, not {_ALLOWED}"] if accused > _ALLOWED else []
    missed += [f"{again} of {copies} copies found"] if again < copies else []
    missed += ["rows are missing in the export"] if len(exported) != count else []
    how = next((line.partition("on what ")[2] for line in said.splitlines() if "no --model named" in line), "")
    yield Told(
        f"photos: {count}, {wrong} labels wrong, {copies} copies in validation",
        shell.commands,
        shell.seconds,
        wrong + copies,
        seen + again,
        accused,
        withheld="learnt too little" in answer["sentence"],
        figures=f"{seen} of {wrong} flips, {again} of {copies} copies; {how or 'colours alone'}",
        missed=tuple(missed),
    )
    yield _by_chance(setting, files, count)


def _by_chance(setting: Setting, files: PhotoFiles, count: int) -> Told:
    labels = _CLASSES[np.random.default_rng(2).integers(0, 2, count)]
    files.write(setting.work / "chance", labels)
    shell = Shell(setting)
    shell("score", setting.work / "chance", "--out", setting.work / "chance-run")
    answer = shell.json("mislabeled", setting.work / "chance-run")
    withheld = "learnt too little" in answer["sentence"]
    return Told(
        "photos with labels by chance",
        shell.commands,
        shell.seconds,
        accused=len(answer["table"]),
        withheld=withheld,
        figures=answer["sentence"].partition(". The")[0],
        missed=() if withheld else ("suspects are named",),
    )


class PhotoFiles:
    """Photos as JPEG files."""

    def __init__(self, jpegs: Jpegs, labels: np.ndarray, others: Jpegs, their_labels: np.ndarray) -> None:
        self.jpegs, self.labels, self.others, self.their_labels = jpegs, labels, others, their_labels

    @classmethod
    def of(cls, setting: Setting, count: int) -> PhotoFiles:
        try:
            found = cats_dogs(setting.data)
        except InputError as missing:
            raise NotHere(str(missing)) from missing
        parts = [found["train"].draw(count, 0), found["val"].draw(count // 2, 0)]
        inputs = [part.inputs for part in parts]
        assert all(isinstance(one, Jpegs) for one in inputs)
        return cls(inputs[0], _CLASSES[parts[0].labels], inputs[1], _CLASSES[parts[1].labels])  # type: ignore[arg-type]

    def write(self, folder: Path, labels: np.ndarray) -> list[str]:
        """All training photos; their names."""
        names = [f"{label}/{at:03}.jpg" for at, label in enumerate(labels)]
        for at, name in enumerate(names):
            _save(folder / name, self.jpegs, at)
        return names

    def validation(self, folder: Path, count: int, copies: list[tuple[int, str]]) -> None:
        """Photos of their own, with right labels, and copies of training photos."""
        for at in range(count):
            _save(folder / self.their_labels[at] / f"v{at:03}.jpg", self.others, at)
        for at, label in copies:
            _save(folder / label / f"copy{at:03}.jpg", self.jpegs, at)


def _save(path: Path, jpegs: Jpegs, at: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    jpegs[at].save(path, quality=95)


STORY = Story("photos", photos)
