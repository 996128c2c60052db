"""What a run keeps while it goes on, so that a killed one is gone on with: sums, eigenvectors, the training chosen."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from uniqueinfo.spectrum.dual import Dual
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.primal import Primal
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.spectrum.sums import Sums
from uniqueinfo.store.folder import WORK, OwnedFolder

_SHARE = 0.25
"""Of the disk's free space that eigenvectors may take once the scores are there."""


@dataclass(frozen=True)
class Work:
    """The work of one run; `mark` tells it from work of another that was left in the same folder."""

    folder: OwnedFolder | None
    """None keeps nothing."""
    mark: str = ""

    @classmethod
    def left_in(cls, path: Path) -> None:
        """Tidy up after a run that was killed when all was computed."""
        if path.is_dir():
            cls.of_run(path).done(questions=True)

    @classmethod
    def of_run(cls, path: Path) -> Work:
        """That in a run folder, which is of one run alone."""
        return cls(OwnedFolder.open(path, WORK, {}))

    def cut(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """Fix how the samples are cut into partitions, or find how they were."""
        if self.folder is None:
            return dict(wanted)
        found = self.folder.read_json("cut.json")
        if found is None or found["of"] != self.mark:
            found = {"of": self.mark, "cut": dict(wanted)}
            self.folder.write_json("cut.json", found)
        cut: dict[str, int] = found["cut"]
        return cut

    def sums(self, name: str, number: int) -> Sums | None:
        """The sums of a group of partitions."""
        found = self._read(f"{name}-{number:06}")
        return None if found is None else Sums(found["gram"], found["moment"], int(found["samples"][0]))

    def keep_sums(self, name: str, number: int, sums: Sums) -> None:
        """Keep the sums of a group."""
        arrays = {"gram": sums.gram, "moment": sums.moment, "samples": np.array([sums.samples])}
        self._write(f"{name}-{number:06}", arrays)

    def spectrum(self, residual: Tensor | None, rows: Rows | None, device: torch.device) -> Eigensystem | None:
        """The eigenvectors, if they are there."""
        found = self._read("spectrum")
        if found is None:
            return None
        arrays = {name: torch.from_numpy(array).to(device) for name, array in found.items()}
        if residual is None:
            return Primal(**arrays, rows=rows)
        return Dual.known(arrays["values"], arrays["basis"], residual, rows=rows)

    def keep_spectrum(self, system: Eigensystem) -> None:
        """Keep the eigenvectors; a sketch has too many parts for it."""
        if isinstance(system, Primal | Dual):
            arrays = {"values": system.values, "basis": system.basis, "moment": system.moment}
            self._write("spectrum", {name: tensor.cpu().numpy() for name, tensor in arrays.items()})
            self._remove("train-*")

    @property
    def training(self) -> dict[str, Any] | None:
        """What was found out about the training, if it was."""
        found = None if self.folder is None else self.folder.read_json("training.json")
        return None if found is None or found["of"] != self.mark else dict(found["training"])

    def keep_training(self, found: Mapping[str, Any]) -> None:
        """Keep what was found out about the training."""
        if self.folder is not None:
            self.folder.write_json("training.json", {"of": self.mark, "training": dict(found)})

    def smoothed(self, number: int) -> list[float] | None:
        """The sums of smoothed information of a partition: all of it, and what the floor made."""
        found = None if self.folder is None else self.folder.read_json(f"smoothed-{number:06}.json")
        return None if found is None else list(found["sums"])

    def keep_smoothed(self, number: int, sums: list[float]) -> None:
        """Keep them."""
        if self.folder is not None:
            self.folder.write_json(f"smoothed-{number:06}.json", {"sums": sums})

    def done(self, *, questions: bool) -> None:
        """All is computed. What was computed goes; for questions asked later stay Jacobian rows, kernels, eigenvectors.

        Eigenvectors are as many as the samples' outputs, squared: they go where they would fill the disk.
        """
        for pattern in ("train-*", "val-*", "training.json", "cut.json", "smoothed-*"):
            self._remove(pattern)
        if not questions or self._is_much("spectrum.safetensors"):
            self._remove("spectrum.*")

    def _is_much(self, name: str) -> bool:
        if self.folder is None or not self.folder.has(name):
            return False
        path = self.folder.path / name
        return path.stat().st_size > _SHARE * shutil.disk_usage(path).free

    def _read(self, name: str) -> dict[str, Any] | None:
        return None if self.folder is None else self.folder.read_arrays(name, self.mark)

    def _write(self, name: str, arrays: Mapping[str, Any]) -> None:
        if self.folder is not None:
            self.folder.write_arrays(name, arrays, self.mark)

    def _remove(self, pattern: str) -> None:
        if self.folder is not None:
            self.folder.remove(pattern)
