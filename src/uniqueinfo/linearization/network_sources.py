"""Samples of a network as sources: through their Jacobian rows, or through exact kernels."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.keeping import InMemory
from uniqueinfo.jacobian.network_rows import NetworkRows
from uniqueinfo.jacobian.passes import NetworkKernels, NetworkPasses
from uniqueinfo.linearization.source import Chunk, Source
from uniqueinfo.memory import as_text
from uniqueinfo.progress import progress as bar
from uniqueinfo.samples.samples import Samples
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Inner, Probe
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.types import Index


@dataclass(frozen=True, eq=False)
class NetworkSource(Source):
    """Samples of a network, through their Jacobian rows."""

    jacobian: NetworkRows
    passes: NetworkPasses

    @property
    def piece(self) -> int:  # type: ignore[override]
        """As rows are kept."""
        return self.jacobian.cut.piece

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.jacobian.data)

    @property
    def per_sample(self) -> int:
        """Outputs; one row where they share it."""
        return self.jacobian.per_sample

    @property
    def width(self) -> int:
        """Columns of the (projected) Jacobian."""
        return self.jacobian.width

    @property
    def columns(self) -> int:
        """Each output has rows of its own, unless they are taken to be alike."""
        return self.jacobian.columns

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Computed, or found again."""
        found = self.jacobian.read(index)
        shape = (-1, self.per_sample, self.columns)
        start = torch.from_numpy(found.outputs).to(self.device).reshape(shape)
        wide = torch.from_numpy(found.rows).to(self.device, torch.float64) if rows else None
        wanted = self.passes.targets(found.labels, self.jacobian.classes, self.jacobian.data.ids[index])
        if wanted is None:
            return Chunk(wide, start)
        return Chunk(wide, start, torch.from_numpy(wanted).to(self.device).reshape(shape), labels=found.labels)

    def digest(self, part: slice) -> str:
        """Of inputs and labels."""
        return self.jacobian.digest(part)

    def identity(self) -> dict[str, Any]:
        """The network and its projection."""
        return self.jacobian.identity()

    @property
    def device(self) -> torch.device:
        """Where the algebra runs."""
        return torch.device(self.passes.device or "cpu")


@dataclass(frozen=True, eq=False)
class KernelSource(Source):
    """Samples of a network that are seen through kernel values with the training samples alone."""

    passes: NetworkPasses
    data: Samples
    name: Literal["train", "val"]
    found: NetworkKernels | None = None
    """The kernels; None until they are computed."""

    width = None

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.data)

    @property
    def per_sample(self) -> int:
        """Outputs; one row where they share it."""
        if self.found is None:
            return self.passes.look(self.data).outputs
        return 1 if self._alike else int(self._outputs.shape[1])

    @property
    def columns(self) -> int:
        """Each output has rows of its own, unless they are taken to be alike."""
        if not self._alike:
            return 1
        return self.passes.look(self.data).classes if self.found is None else int(self._outputs.shape[1])

    def computed(self, found: NetworkKernels) -> KernelSource:
        """With the kernels of training and validation samples."""
        return replace(self, found=found)

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Without rows: there are none."""
        shape = (-1, self.per_sample, self.columns)
        start, labels = self._outputs[index].double().reshape(shape), self.data.labels
        some = None if labels is None else labels[index]
        wanted = None if self.found is None else self.passes.targets(some, self.found.classes, self.data.ids[index])
        if wanted is None:
            return Chunk(None, start)
        return Chunk(None, start, torch.from_numpy(wanted).to(start.device).reshape(shape), labels=some)

    def rows(self) -> Rows:
        """Kernel values stand for rows, (samples, k, nk)."""
        assert self.found is not None
        values = self.found.kernels.train if self.name == "train" else self.found.kernels.val
        return Rows(values.reshape(self.samples, self.per_sample, -1), values.device)

    def probe(self, system: Eigensystem) -> Probe:
        """With the way to inner products among these samples, for those who add them."""
        return replace(super().probe(system), inner=self._inner)

    def _inner(self) -> Inner:
        """As of samples that are looked at on each other."""
        found = self.passes.kernels(self.data, None).kernels.train
        blocks = found.reshape(self.samples, self.per_sample, self.samples, self.per_sample)
        return Inner(blocks, blocks)

    def digest(self, part: slice) -> str:
        """Of inputs and labels."""
        return self.data.read(range(part.start, part.stop)).digest()

    def identity(self) -> dict[str, Any]:
        """The network."""
        return {"kind": "kernels", "model": self.passes.before, "outputs": repr(self.passes.outputs)}

    @property
    def device(self) -> torch.device:
        """Where the kernel lies."""
        return self._outputs.device

    @property
    def _alike(self) -> bool:
        return self.passes.outputs is not None and self.passes.outputs.alike

    @property
    def _outputs(self) -> Tensor:
        """Before training, (n, k)."""
        assert self.found is not None
        return self.found.kernels.outputs if self.name == "train" else self.found.kernels.outputs_val


def held(rows: NetworkRows, folder: Path | None, *, show: bool) -> NetworkRows:
    """All rows computed once and held: in memory where they fit in half of the budget, in the folder, or in one that
    goes with them. Refused before any is computed where the disk has no room."""
    if folder is not None:
        _check_room(rows.bytes, folder)
        found = rows.kept_on_disk(folder)
    elif rows.bytes <= rows.network.memory // 2:
        found = rows.kept(InMemory())
    else:
        _check_room(rows.bytes, Path(tempfile.gettempdir()))
        place = Path(tempfile.mkdtemp(prefix="uniqueinfo-"))
        found = rows.kept_on_disk(place)
        weakref.finalize(found.keeper, shutil.rmtree, place, ignore_errors=True)
    with bar("Jacobian rows", len(rows.data), show=show) as advance:
        for number, part in enumerate(found.pieces()):
            found.piece(number)
            advance(part.stop - part.start)
    return found


def _check_room(size: int, place: Path) -> None:
    """Refuse rows that the disk has no room for beside those that lie there already."""
    there = sum(path.stat().st_size for path in place.glob("rows-*")) if place.is_dir() else 0
    disk = next(each for each in (place, *place.absolute().parents) if each.is_dir())
    free = shutil.disk_usage(disk).free
    if size > free + there:
        raise InputError(
            f"the Jacobian rows take {as_text(size)} and {disk} has {as_text(free)} free: keep fewer columns "
            "(projection=KernelCoordinates(4000)), or name a folder= with more room"
        )
