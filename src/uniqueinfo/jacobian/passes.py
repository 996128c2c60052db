"""A network's passes over samples: Jacobian rows, or exact kernels, within a memory budget."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.batching import batch_within
from uniqueinfo.jacobian.coordinates import KernelCoordinates
from uniqueinfo.jacobian.counting import Counted, count
from uniqueinfo.jacobian.forward import call, outputs_of
from uniqueinfo.jacobian.functions import OutputFunction
from uniqueinfo.jacobian.guard import check_network, fingerprint, prepared
from uniqueinfo.jacobian.kernels import Kernels, exact_kernels
from uniqueinfo.jacobian.network_rows import Differentiated, NetworkRows
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.peak import Peak
from uniqueinfo.jacobian.projections import Projection
from uniqueinfo.jacobian.steady import check_steady
from uniqueinfo.progress import showing
from uniqueinfo.samples.checks import check_finite
from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.samples.samples import Samples, as_samples
from uniqueinfo.samples.targets import as_targets
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.types import Floats, Labels

_BESIDE = 256 * 2**20  # bytes for a pass of the exact kernels through the network, which their own budget leaves out


@dataclass(frozen=True, eq=False)
class NetworkPasses:
    """A network with the settings of its passes; every pass leaves it as it was."""

    model: nn.Module
    projection: Projection | None
    outputs: Outputs | None
    """What counts as outputs, where that is not what the network returns."""
    memory: int
    device: torch.device | str | None
    progress: bool
    before: str = field(init=False)
    """The network's fingerprint."""

    def __post_init__(self) -> None:
        check_network(self.model)
        if next(self.model.parameters(), None) is None:
            raise InputError(f"model: {type(self.model).__name__} has no parameters, so there is nothing to linearize")
        object.__setattr__(self, "before", fingerprint(self.model))

    def samples(self, data: Any, like: Samples | None = None) -> Samples:
        """What the user handed over, on the network's device and in its dtype; columns of tables as in those `like`."""
        parameter = next(self.model.parameters())
        found = as_samples(data, device=self.device or parameter.device, dtype=parameter.dtype, like=like)
        return found.with_targets() if isinstance(self.outputs, OutputFunction) else found

    def projected(self, projection: Projection | None, samples: Samples) -> NetworkPasses:
        """The same under a projection, which may have to see some samples."""
        if isinstance(projection, KernelCoordinates):
            projection = projection.drawn(self.model, samples, self.device)
        return replace(self, projection=projection)

    def of(self, model: nn.Module) -> NetworkPasses:
        """The same of another network."""
        return replace(self, model=model)

    def mixed(self, outputs: Outputs | None) -> NetworkPasses:
        """The same with mixtures of the outputs."""
        return replace(self, outputs=outputs)

    def look(self, samples: Samples) -> Look:
        """What a first look at the network shows."""
        network = Differentiated(self.model, None, self.outputs, self.device, self.memory)
        with prepared(self.model, self.device, quiet=True) as notes:
            engine = network.engine(samples)
            counted = count(self.model, samples.inputs(range(min(2, len(samples)))))
        return Look(engine.outputs, engine.classes, counted, tuple(notes))

    def check_steady(self, samples: Samples) -> None:
        """Refuse a network that is random, or whose samples change each other."""
        with prepared(self.model, self.device, quiet=True):
            check_steady(self.model, samples)

    def rows(self, samples: Samples) -> NetworkRows:
        """Jacobian rows, computed when they are asked for."""
        self.check_unchanged()
        network = Differentiated(self.model, self.projection, self.outputs, self.device, self.memory)
        return NetworkRows.of(network, samples)

    def kernels(
        self, train: Samples, val: Samples | None, folder: OwnedFolder | None = None, *, trusted: bool = False
    ) -> NetworkKernels:
        """Exact kernels; in a folder they are kept, and found again.

        Unless the folder is `trusted` to be of these samples, what lies there is held against them.
        """
        self.check_unchanged()
        mark = "" if folder is None else self.before if trusted else self._mark(train, val)
        kept = None if folder is None else folder.read_arrays("kernels", mark)
        with prepared(self.model, self.device, quiet=kept is not None) as notes:
            engine = Differentiated(self.model, None, self.outputs, self.device, self.memory).engine(train)
            about = (engine.classes, tuple(notes), dict(engine.paths))
            if kept is not None:
                found = Kernels(**{name: torch.from_numpy(array).to(self.device) for name, array in kept.items()})
                return NetworkKernels(found, *about)
            one, two = (self._pass_bytes(train.inputs([0] * count)) for count in (1, 2))
            size = batch_within(_BESIDE, one=one, two=two, most=len(train))
            with showing(self.progress):
                found = exact_kernels(
                    self.model,
                    _Batches(train, size),
                    () if val is None else _Batches(val, size),
                    memory=self.memory,
                    outputs=self.outputs,
                    counts=(len(train), 0 if val is None else len(val)),
                )
        _check_kernels(found, train, val)
        if folder is not None:
            names = ("train", "val", "outputs", "outputs_val")
            folder.write_arrays("kernels", {name: getattr(found, name).cpu().numpy() for name in names}, mark)
        return NetworkKernels(found, *about)

    def targets(self, labels: Labels, classes: int, ids: Any) -> Floats | None:
        """What the outputs are trained towards; None where that is not known."""
        if self.outputs is not None:
            return self.outputs.targets(labels, classes, ids)
        return None if labels is None else as_targets(labels, classes, ids)

    def check_labelled(self, samples: Samples) -> None:
        """Refuse training samples without labels, looking at one of them; a function may do without."""
        if not isinstance(self.outputs, OutputFunction) and samples.read([0]).labels is None:
            raise InputError("train: these samples have no labels; hand over (inputs, labels)")

    def check_unchanged(self) -> None:
        """Refuse a network that was trained on since it was linearized."""
        if fingerprint(self.model) != self.before:
            raise InputError("the network has changed since it was linearized; linearize it again")

    def _mark(self, train: Samples, val: Samples | None) -> str:
        told = {
            "model": self.before,
            "outputs": repr(self.outputs),
            "train": train.fingerprint(),
            "val": None if val is None else val.fingerprint(),
        }
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()

    def _pass_bytes(self, inputs: Inputs) -> int:
        with Peak() as peak, torch.enable_grad():
            free = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
            torch.autograd.grad(outputs_of(call(self.model, inputs)).sum(), free, allow_unused=True)
        return int(peak.bytes)


@dataclass(frozen=True)
class Look:
    """What a network is like, before anything is computed of it."""

    outputs: int
    """Rows of the Jacobian for each sample: one where outputs share it."""
    classes: int
    """How many outputs the network itself has, before any mixing."""
    counted: Counted
    """What passes and products take."""
    notes: tuple[str, ...]
    """What has to be changed in the network for a pass."""

    @property
    def parameters(self) -> int:
        """Columns of the whole Jacobian."""
        return self.counted.parameters


@dataclass(frozen=True, eq=False)
class NetworkKernels:
    """Exact kernels, and what was learnt about the network on the way."""

    kernels: Kernels
    classes: int
    """How many outputs the network itself has, before any mixing."""
    notes: tuple[str, ...]
    paths: dict[str, str]


def _check_kernels(found: Kernels, train: Samples, val: Samples | None) -> None:
    """A kernel's diagonal is finite only where the gradients it is made of are."""
    own: Tensor = found.train.diagonal().reshape(len(train), -1)
    check_finite("the network's output", found.outputs, train.ids)
    check_finite("the network's Jacobian", own, train.ids)
    if val is not None:
        check_finite("the network's output", found.outputs_val, val.ids)
        check_finite("the network's Jacobian", found.val.reshape(len(val), -1), val.ids)


@dataclass(frozen=True)
class _Batches:
    """Inputs of all samples, batch by batch, as often as they are asked for."""

    samples: Samples
    size: int

    def __iter__(self) -> Iterator[Inputs]:
        count = len(self.samples)
        parts = [range(start, min(start + self.size, count)) for start in range(0, count, self.size)]
        return (batch.inputs for batch in self.samples.batches(parts))
