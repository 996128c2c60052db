"""Jacobian rows on disk: safetensors shards and a manifest that says what they are of.

The manifest is written before the first shard and again after each. Files appear whole or
not at all: a run killed at any point leaves whole shards and at most one that nothing mentions.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from uniqueinfo.errors import InputError
from uniqueinfo.store.files import replacing

_FORMAT = "uniqueinfo-features-1"
_MANIFEST = "manifest.json"
_OURS = re.compile(r"(manifest\.json|shard-\d{6}\.safetensors)")
_LEFTOVER = re.compile(rf"\.{_OURS.pattern}\.\d+\.part")  # of a run that was killed while writing

Index: TypeAlias = int | slice | Sequence[int] | NDArray[Any]


@dataclass(frozen=True)
class Plan:
    """What is computed in which pieces; bytes depend on the pieces, so they are fixed before the first."""

    samples: int
    outputs: int
    width: int
    shard: int  # samples in a shard
    batch: int  # samples read at once, a divisor of `shard`

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of all rows together."""
        return self.samples, self.outputs, self.width

    def shards(self) -> list[range]:
        """The samples of each shard."""
        return _cut(range(self.samples), self.shard)

    def batches(self, shard: range) -> list[range]:
        """The samples of each batch of a shard."""
        return _cut(shard, self.batch)


@dataclass(frozen=True)
class Entry:
    """A whole shard."""

    sha256: str  # of its file
    data: str  # digest of the samples it was made from
    limit: int  # samples the engine was given at once in the end


class ShardStore:
    """A folder of shards for one plan and one set of settings; opening it takes up what is already there."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.plan: Plan | None = None
        self.entries: dict[int, Entry] = {}
        self._identity = json.loads(json.dumps({"format": _FORMAT, "settings": settings}))
        folder.mkdir(parents=True, exist_ok=True)
        manifest = self._manifest()
        self._remove(_LEFTOVER)
        if manifest is not None and {key: manifest.get(key) for key in self._identity} == self._identity:
            self.plan = Plan(**manifest["plan"])
            self.entries = {int(number): Entry(**entry) for number, entry in manifest["shards"].items()}

    def _manifest(self) -> dict[str, Any] | None:
        """The manifest if it is readable; a folder that is not ours is refused."""
        names = sorted(path.name for path in self.folder.iterdir() if not _LEFTOVER.fullmatch(path.name))
        foreign = [name for name in names if not _OURS.fullmatch(name)]
        try:
            manifest = json.loads((self.folder / _MANIFEST).read_bytes())
        except (FileNotFoundError, ValueError):
            manifest = None
        else:
            if isinstance(manifest, dict) and str(manifest.get("format")).startswith("uniqueinfo-features"):
                return manifest
            foreign = [_MANIFEST]
        if foreign:
            raise InputError(
                f"{self.folder} holds {foreign[0]!r} and no manifest of Jacobian rows: name an empty folder"
            )
        return None

    def begin(self, plan: Plan) -> None:
        """Forget every shard and start on this plan; files that are not ours stay."""
        self._remove(_OURS)
        self.plan, self.entries = plan, {}
        self._write_manifest()

    def whole(self, number: int) -> Entry | None:
        """The entry of a shard whose file is there and undamaged."""
        entry, path = self.entries.get(number), self._path(number)
        if entry is None or not path.exists():
            return None
        with path.open("rb") as file:
            return entry if hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256 else None

    def write(
        self, number: int, rows: NDArray[np.float32], outputs: NDArray[np.float64], data: str, limit: int
    ) -> None:
        """Put a shard in its place, then mention it in the manifest."""
        path = self._path(number)
        with replacing(path) as beside:
            # Not save_file: the temporary file it writes, of a name unknown to us, would outlive a kill.
            beside.write_bytes(save({"rows": rows, "outputs": outputs}))
        with path.open("rb") as file:
            self.entries[number] = Entry(hashlib.file_digest(file, "sha256").hexdigest(), data, limit)
        self._write_manifest()

    def rows(self) -> "ShardedRows":
        """All rows, read when asked for."""
        assert self.plan is not None
        paths = [self._path(number) for number in range(len(self.plan.shards()))]
        return ShardedRows(paths, self.plan.shape, self.plan.shard)

    def outputs(self) -> NDArray[np.float64]:
        """The outputs of all samples."""
        assert self.plan is not None
        parts = []
        for number in range(len(self.plan.shards())):
            with safe_open(self._path(number), framework="numpy") as file:
                parts.append(file.get_tensor("outputs"))
        return np.concatenate(parts)

    def _remove(self, names: re.Pattern[str]) -> None:
        for path in list(self.folder.iterdir()):
            if names.fullmatch(path.name):
                path.unlink()

    def _path(self, number: int) -> Path:
        return self.folder / f"shard-{number:06}.safetensors"

    def _write_manifest(self) -> None:
        assert self.plan is not None
        shards = {str(number): asdict(entry) for number, entry in sorted(self.entries.items())}
        manifest = self._identity | {"plan": asdict(self.plan), "shards": shards}
        with replacing(self.folder / _MANIFEST) as beside:
            beside.write_text(json.dumps(manifest, indent=1))


class ShardedRows:
    """An array (n, k, D) of float32 over many files; holds no more of it in memory than an index asks for."""

    dtype = np.dtype(np.float32)

    def __init__(self, paths: Sequence[Path], shape: tuple[int, int, int], shard: int) -> None:
        self.shape = shape
        self._paths = paths
        self._shard = shard

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Index) -> NDArray[np.float32]:
        if isinstance(index, int | np.integer):
            row: NDArray[np.float32] = self[[int(index)]][0]
            return row
        wanted = np.arange(len(self))[index]
        rows = np.empty((len(wanted), *self.shape[1:]), dtype=self.dtype)
        shards, places = np.divmod(wanted, self._shard)
        for shard in np.unique(shards):
            here = shards == shard
            rows[here] = self._map(self._paths[shard])[places[here]]
        return rows

    @staticmethod
    def _map(path: Path) -> NDArray[np.float32]:
        # Opened anew each time: a map holds a file descriptor, and there may be more shards than those.
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))["rows"]
        offset = 8 + length + header["data_offsets"][0]
        rows: NDArray[np.float32] = np.memmap(path, np.float32, "r", offset, tuple(header["shape"]))
        return rows


def _cut(samples: range, size: int) -> list[range]:
    return [samples[start : start + size] for start in range(0, len(samples), size)]
