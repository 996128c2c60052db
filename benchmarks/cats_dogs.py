"""End to end on a real network: cats against dogs, pretrained ResNet-18, every sample's information.

``python -m benchmarks.cats_dogs`` prints where the time goes.
"""

from __future__ import annotations

import io
import time
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from rich.console import Console
from rich.table import Table
from torch.utils.data import Dataset

from benchmarks.data import FOLDER
from uniqueinfo import RandomCoordinates, linearize, stopping_curve
from uniqueinfo.runs.photos.resnet18 import ResNet18

MEAN, DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


class Photos(Dataset[tuple[torch.Tensor, int]]):
    """One split of the packed photographs, decoded when asked for."""

    def __init__(self, split: str) -> None:
        with np.load(FOLDER / "cats_dogs_224.npz") as file:
            self._bytes, self._offset, self._label = file["jpeg"], file["offset"], file["label"]
            self._index = np.flatnonzero(file["split"] == split)

    @property
    def labels(self) -> NDArray[Any]:
        return np.asarray(self._label[self._index])

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, number: int) -> tuple[torch.Tensor, int]:
        at = self._index[number]
        photo = Image.open(io.BytesIO(self._bytes[self._offset[at] : self._offset[at + 1]].tobytes())).convert("RGB")
        pixels = torch.from_numpy(np.array(photo)).float() / 255
        return ((pixels - MEAN) / DEVIATION).permute(2, 0, 1), int(self._label[at])


def main() -> None:
    console = Console(width=120)
    torch.manual_seed(0)
    model = ResNet18(1, FOLDER / "resnet18_imagenet_backbone.npz").eval()
    watch = Watch()
    linearization = linearize(model, Photos("train"), Photos("val"), projection=RandomCoordinates(2000))
    watch.lap("Jacobian pass, training")
    largest = linearization.system.largest
    watch.lap("kernel and eigendecomposition")
    probe = linearization.validation
    watch.lap("Jacobian pass, validation")
    training = stopping_curve(linearization).best
    watch.lap("stopping time")
    run = linearization.train(training)
    measures = run.leave_out().measures(probe)
    watch.lap("every leave-one-out")
    assert measures.functional is not None
    total = sum(watch.seconds.values())
    table = Table("part", "seconds", "share", title="cats against dogs, ResNet-18, n = m = 1000 photographs of 224²")
    for part, seconds in watch.seconds.items():
        table.add_row(part, f"{seconds:.2f}", f"{seconds / total:.1%}")
    console.print(table)
    passes = sum(seconds for part, seconds in watch.seconds.items() if part.startswith("Jacobian"))
    console.print(f"{linearization.width:,} columns, largest eigenvalue {largest:.4g}, {training}")
    console.print(f"Jacobian passes: {passes / total:.1%} of {total:.1f} s (at least 90 % is the aim)")
    wanted = (Photos("val").labels == 1)[:, None]
    console.print(f"validation accuracy of the linearized network: {((run.outputs(probe) > 0.5) == wanted).mean():.3f}")
    shares = np.quantile(measures.functional, [0.1, 0.5, 0.9, 0.99])
    console.print(f"functional information, 10, 50, 90, 99 % of samples below: {', '.join(f'{q:.2e}' for q in shares)}")


class Watch:
    """Seconds between laps."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name], self._last = now - self._last, now


if __name__ == "__main__":
    main()
