"""A network that knows nothing: photos through ResNet-18 with random weights, of which nothing can be said."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from benchmarks.newcomers.photos import PhotoFiles
from benchmarks.newcomers.story import Setting, Shell, Story, Told
from uniqueinfo.runs.photos.resnet18 import ResNet18


def untrained(setting: Setting) -> Iterator[Told]:
    """Suspects are to be withheld."""
    count = 60 if setting.small else 300
    files = PhotoFiles.of(setting, count)
    files.write(setting.work / "photos", files.labels)
    torch.manual_seed(0)
    weights = setting.work / "random.npz"
    np.savez(weights, **{name: tensor.numpy() for name, tensor in ResNet18().state_dict().items()})
    shell, run = Shell(setting), setting.work / "run"
    shell("score", setting.work / "photos", "--model", f"features:{weights}", "--out", run)
    answer = shell.json("mislabeled", run)
    withheld = "learnt too little" in answer["sentence"]
    yield Told(
        f"photos through a network with random weights: {count}",
        shell.commands,
        shell.seconds,
        accused=len(answer["table"]),
        withheld=withheld,
        figures=answer["sentence"].partition(". The")[0],
        missed=() if withheld else ("suspects are named",),
    )


STORY = Story("untrained", untrained)
