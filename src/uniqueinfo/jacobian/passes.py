"""A network's passes over samples: Jacobian rows, or exact kernels, within a memory budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.batching import batch_within
from uniqueinfo.jacobian.features import Features, compute_features
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.guard import fingerprint, prepared
from uniqueinfo.jacobian.kernels import Kernels, exact_kernels
from uniqueinfo.jacobian.outputs import OutputSketch
from uniqueinfo.jacobian.peak import Peak
from uniqueinfo.jacobian.projections import Projection
from uniqueinfo.jacobian.rows import RowEngine
from uniqueinfo.progress import showing
from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.samples.samples import Samples, as_samples, as_targets
from uniqueinfo.types import Floats

_BESIDE = 256 * 2**20  # a forward and backward pass of the exact kernels, whose budget leaves them out


@dataclass(eq=False)
class NetworkPasses:
    """A network with the settings of its passes; every pass leaves it as it was."""

    model: nn.Module
    projection: Projection | None
    sketch: OutputSketch | None
    memory: int
    folder: Path | None
    device: torch.device | str | None
    progress: bool
    paths: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._fingerprint = fingerprint(self.model)
        self.classes = 0  # known from the first pass on

    def samples(self, data: Any) -> Samples:
        """What the user handed over, on the network's device and in its dtype."""
        parameter = next(self.model.parameters(), None)
        if parameter is None:
            raise InputError(f"model: {type(self.model).__name__} has no parameters, so there is nothing to linearize")
        return as_samples(data, device=self.device or parameter.device, dtype=parameter.dtype)

    def size(self, samples: Samples) -> tuple[int, int]:
        """Rows and columns of the whole Jacobian."""
        with prepared(self.model, self.device, quiet=True):
            engine = self._engine(samples)
        return len(samples) * engine.outputs, engine.width

    def features(self, samples: Samples, name: str) -> Features:
        """Jacobian rows and outputs of samples, in memory or in the folder."""
        with self._prepared():
            engine = self._engine(samples)
            return compute_features(
                engine,
                samples,
                memory=self.memory,
                folder=None if self.folder is None else self.folder / name,
                settings={
                    "model": self._fingerprint,
                    "projection": repr(self.projection),
                    "outputs": repr(self.sketch),
                },
                classes=self.classes,
                progress=self.progress,
            )

    def kernels(self, train: Samples, val: Samples | None) -> Kernels:
        """Exact kernels."""
        with self._prepared():
            self._engine(train)
            one, two = (self._pass_bytes(train.inputs([0] * count)) for count in (1, 2))
            size = batch_within(_BESIDE, one=one, two=two, most=len(train))
            with showing(self.progress):
                return exact_kernels(
                    self.model,
                    _Batches(train, size),
                    () if val is None else _Batches(val, size),
                    memory=self.memory,
                    outputs=self.sketch,
                    counts=(len(train), 0 if val is None else len(val)),
                )

    def _pass_bytes(self, inputs: Inputs) -> int:
        with Peak() as peak, torch.enable_grad():
            free = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
            torch.autograd.grad(outputs_of(call(self.model, inputs)).sum(), free, allow_unused=True)
        return int(peak.bytes)

    def targets(self, labels: NDArray[Any]) -> Floats:
        """What the (mixed) outputs are trained towards."""
        wanted = as_targets(labels, self.classes)
        return wanted if self.sketch is None else wanted @ self.sketch.matrix(self.classes).numpy()

    def tensor(self, values: Floats) -> Tensor:
        """On the device the algebra runs on."""
        return torch.from_numpy(values).to(self.device or "cpu")

    def check_unchanged(self) -> None:
        """Refuse a network that was trained on since it was linearized."""
        if fingerprint(self.model) != self._fingerprint:
            raise InputError("the network has changed since it was linearized; linearize it again")

    @contextmanager
    def _prepared(self) -> Iterator[None]:
        with prepared(self.model, self.device, quiet=bool(self.notes)) as notes:  # once is enough to say it
            self.notes = notes
            yield

    def _engine(self, samples: Samples) -> RowEngine:
        example = samples.inputs(range(min(2, len(samples))))
        engine = RowEngine(self.model, example, self.projection, outputs=self.sketch)
        self.paths, self.classes = engine.paths, engine.classes
        return engine


@dataclass(frozen=True)
class _Batches:
    """Inputs of all samples, batch by batch, as often as they are asked for."""

    samples: Samples
    size: int

    def __iter__(self) -> Iterator[Inputs]:
        count = len(self.samples)
        parts = [range(start, min(start + self.size, count)) for start in range(0, count, self.size)]
        return (batch.inputs for batch in self.samples.batches(parts))
