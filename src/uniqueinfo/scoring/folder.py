"""The folder of a run that streams: what is done is found again, whenever it was killed.

    run.json             the settings; there once all is done
    scores.parquet/      the scores, a file for each partition; there once all of them are
    work/manifest.json   what the run is of, and how it is cut; work/ goes when all is done
    work/train-….safetensors, val-…   sums of groups of partitions
    work/spectrum.safetensors         eigenvectors
    work/training.json                the training, where it had to be chosen
    work/parts/part-….parquet         scores so far

Files appear whole or not at all, and what is in them depends on the data, the settings and the cut alone, so that a run
that was killed and gone on with ends with the bytes of one that was not.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

from uniqueinfo.errors import InputError
from uniqueinfo.scoring.solver import Spectrum
from uniqueinfo.scoring.sums import Sums
from uniqueinfo.store.files import replacing

_LEFTOVER = re.compile(r"\..+\.\d+\.part")  # of a run that was killed while writing


class RunFolder:
    """A folder for one run; another's is refused."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self.folder = folder
        self.work, self.parts, self.table = folder / "work", folder / "work" / "parts", folder / "scores.parquet"
        self.identity = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        self._settings, self._manifest = folder / "run.json", self.work / "manifest.json"
        self._check()

    @property
    def finished(self) -> bool:
        """Whether all is done; what is left of the work goes."""
        if not (self.table.is_dir() and self._settings.is_file()):
            return False
        shutil.rmtree(self.work, ignore_errors=True)
        return True

    def begin(self, cut: Mapping[str, int]) -> dict[str, int]:
        """Fix how the samples are cut into partitions, or find how they were."""
        if self._manifest.is_file():
            found: dict[str, int] = json.loads(self._manifest.read_bytes())["cut"]
            for place in (self.folder, self.work, self.parts):
                for path in place.glob(".*.part"):
                    if _LEFTOVER.fullmatch(path.name):
                        path.unlink()
            return found
        self.work.mkdir(parents=True, exist_ok=True)
        self._write(self._manifest, {"identity": self.identity, "cut": dict(cut)})
        return dict(cut)

    def has_sums(self, name: str, number: int) -> bool:
        """Whether the sums of a group are there."""
        return self._sums(name, number).is_file()

    def sums(self, name: str, number: int) -> Sums:
        """The sums of a group."""
        found = load_file(self._sums(name, number))
        return Sums(found["gram"], found["moment"], int(found["samples"][0]))

    def keep_sums(self, name: str, number: int, sums: Sums) -> None:
        """Keep the sums of a group."""
        self._save(self._sums(name, number), gram=sums.gram, moment=sums.moment, samples=np.array([sums.samples]))

    def forget_sums(self, name: str) -> None:
        """They have been used."""
        for path in self.work.glob(f"{name}-*.safetensors"):
            path.unlink()

    @property
    def spectrum(self) -> Spectrum | None:
        """The eigenvectors, if they are there."""
        path = self.work / "spectrum.safetensors"
        if not path.is_file():
            return None
        found = load_file(path)
        return Spectrum(found["values"], found["basis"], found["moment"], int(found["samples"][0]))

    def keep_spectrum(self, found: Spectrum) -> None:
        """Keep the eigenvectors."""
        path = self.work / "spectrum.safetensors"
        self._save(path, values=found.values, basis=found.basis, moment=found.moment, samples=np.array([found.samples]))

    @property
    def training(self) -> dict[str, Any] | None:
        """What was found out about the training, if it was."""
        path = self.work / "training.json"
        found: dict[str, Any] | None = json.loads(path.read_bytes()) if path.is_file() else None
        return found

    def keep_training(self, found: Mapping[str, Any]) -> None:
        """Keep what was found out about the training."""
        self._write(self.work / "training.json", found)

    def has_part(self, number: int) -> bool:
        """Whether the scores of a partition are there."""
        return self.table.is_dir() or self._part(number).is_file()

    def keep_part(self, number: int, content: bytes) -> None:
        """Keep the scores of a partition, a table in Parquet."""
        self.parts.mkdir(exist_ok=True)
        with replacing(self._part(number)) as beside:
            beside.write_bytes(content)

    def finish(self, settings: Mapping[str, Any]) -> None:
        """All parts are there: put them in their place, and the settings beside them."""
        if not self.table.is_dir():
            self.parts.rename(self.table)
        self._write(self._settings, dict(settings))
        shutil.rmtree(self.work)

    def _check(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written to ({error.strerror}); name another folder") from error
        names = sorted(path.name for path in self.folder.iterdir() if not _LEFTOVER.fullmatch(path.name))
        if not names:
            return
        before = None
        for path, keys in ((self._manifest, ("identity",)), (self._settings, ("stream", "identity"))):
            if before is None and path.is_file():
                before = json.loads(path.read_bytes())
                for key in keys:
                    before = before.get(key) if isinstance(before, dict) else None
        if before is None and names != ["work"]:
            raise InputError(f"{self.folder}: holds {names[0]} and no run of this kind; name a new or empty folder")
        if before not in (None, self.identity):
            raise InputError(f"{self.folder}: holds a run of other data or settings; name another folder")

    def _part(self, number: int) -> Path:
        return self.parts / f"part-{number:06}.parquet"

    def _sums(self, name: str, number: int) -> Path:
        return self.work / f"{name}-{number:06}.safetensors"

    def _save(self, path: Path, **arrays: NDArray[Any]) -> None:
        with replacing(path) as beside:
            beside.write_bytes(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))

    def _write(self, path: Path, content: Mapping[str, Any]) -> None:
        with replacing(path) as beside:
            beside.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
