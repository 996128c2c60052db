"""The linearization of a network around its present weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.ends import BothEnds
from uniqueinfo.jacobian.functions import Numbers, as_outputs, by_function, within
from uniqueinfo.jacobian.guard import check_network
from uniqueinfo.jacobian.kernels import Kernels
from uniqueinfo.jacobian.network_rows import NetworkRows
from uniqueinfo.jacobian.outputs import Outputs
from uniqueinfo.jacobian.passes import NetworkPasses
from uniqueinfo.jacobian.projections import Projection
from uniqueinfo.linearization.effort import Asked, Kept, Means, Size, choose_kept
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.network_sources import KernelSource, NetworkSource, held
from uniqueinfo.memory import as_bytes
from uniqueinfo.samples.border import FLAG, PATH, WHOLE, one_of, takes
from uniqueinfo.samples.checks import counted
from uniqueinfo.samples.devices import as_device
from uniqueinfo.samples.samples import Samples
from uniqueinfo.spectrum.choice import Choice, Form, choose
from uniqueinfo.spectrum.eigensystem import Eigensystem
from uniqueinfo.spectrum.probe import Inner, Probe
from uniqueinfo.store.folder import WORK, OwnedFolder
from uniqueinfo.threads import sharing
from uniqueinfo.types import Labels


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearizedNetwork(Linearization):
    """The linearization of a network on its training data; made by `linearize`."""

    passes: NetworkPasses
    """Forward and backward passes through the network."""
    train_samples: Samples
    """What was handed over as `train`, sample by sample."""
    val_samples: Samples | None
    """The same of `val`."""
    kernels: Kernels | None
    """Of the training and validation samples, where exact kernels stand for the Jacobian."""
    jacobian: NetworkRows | None
    """Its rows, computed when they are needed; None where kernels stand for them."""
    labels: Labels
    """Of the training samples, as they were given."""
    kept: Kept
    """What of the network is kept, and why."""
    classes: int
    """How many outputs the network has, before any mixing."""
    notes: tuple[str, ...]
    """What had to be changed in the network for the pass."""
    paths: Mapping[str, str]
    """Which way each parameter's part of the Jacobian was computed: a layer rule's name, or "generic"."""

    @property
    def ids(self) -> Any:
        """Of the training samples."""
        return self.train_samples.ids

    @property
    def projection(self) -> Projection | None:
        """How the Jacobian was projected; None where every parameter was kept."""
        return self.kept.projection

    @property
    def at_both_ends(self) -> bool:
        """Whether gradients are those of the trained network too."""
        return isinstance(self.passes.model, BothEnds)

    @cached_property
    def validation(self) -> Probe:
        """The validation samples given to `linearize`; gone through once, for every training."""
        if self.val_samples is None:
            raise InputError("there are no validation samples: hand them to linearize, or look at others with probe")
        if self.kernels is not None:
            return self._probe_kernels(self.kernels, self.val_samples)
        return self.probe(self.val_samples)

    def probe(self, rows: Any, targets: Any = None, initial: Any = None) -> Probe:
        """Look at other samples: as `rows` a data set, with labels or without, as for training.

        Or as the linearization of arrays does, with `targets` or `initial` outputs.
        """
        if targets is not None or initial is not None:
            return super().probe(rows, targets, initial)
        samples = rows if isinstance(rows, Samples) else self.passes.samples(rows, like=self.train_samples)
        if self.jacobian is None:
            return self._probe_kernels(self.passes.kernels(self.train_samples, samples).kernels, samples)
        self.passes.check_unchanged()
        source = NetworkSource(held(self.jacobian.over(samples), None, show=self.progress), self.passes)
        return replace(source.probe(self.system), ids=counted(samples.ids))

    def _probe_kernels(self, kernels: Kernels, samples: Samples) -> Probe:
        rows = kernels.val.reshape(len(samples), self.residual.shape[1], -1)
        wanted = self.passes.targets(samples.labels, self.classes, samples.ids)
        found = super().probe(rows, wanted, kernels.outputs_val)
        return replace(found, inner=lambda: self._inner(samples), ids=counted(samples.ids))

    def _inner(self, samples: Samples) -> Inner:
        """Inner products of other samples' rows with their own, and with those of the validation samples."""
        found, k = self.passes.kernels(samples, self.val_samples).kernels, self.residual.shape[1]
        blocks = found.train.reshape(len(samples), k, len(samples), k)
        across = None if self.val_samples is None else found.val.reshape(-1, k, len(samples), k)
        return Inner(blocks, across)


@takes(folder=PATH, form=one_of(*get_args(Form)), sketch=WHOLE, progress=FLAG)
@sharing()
def linearize(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    trained: nn.Module | Mapping[str, Tensor] | None = None,
    projection: Asked = "auto",
    outputs: Outputs | Numbers | None = None,
    form: Form = "auto",
    sketch: int | None = None,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> LinearizedNetwork:
    """Linearize a network around its present weights, which stay as they are.

    `model`: any nn.Module.
    `train`, `val`: a torch Dataset of (x, y), a pair of arrays, a DataLoader or a Hugging Face dataset; scores come in
    the data set's order.
    `trained`: the same network after its training, or its state_dict, where there is one: gradients are then taken at
    both ends alike (see `BothEnds`), at twice the cost, and the scores follow the real network more closely.
    `projection`: None keeps every parameter: through exact kernels where there are fewer rows than parameters. "auto"
    does that while it takes a minute or two, and keeps some weights otherwise (as `score` does, but for outputs: each
    has its own rows).
    `outputs`: what counts as outputs: a function (model, inputs, targets) → numbers (batch, q), see `OutputFunction`;
    or an `OutputSketch`, which mixes many outputs down to a few.
    `form`: "dual" or "primal" where the sizes are not to choose. `sketch` keeps this many directions
    exactly, where rows and columns are too many.
    `memory`: a budget; rows that take more than half of it go to disk. `folder`: where rows or kernels are kept, so
    that a killed run is gone on with. `device`: where it all runs. `progress`: whether to show how far it is.

    >>> from uniqueinfo.training import Converged
    >>> model = nn.Linear(2, 1, bias=False)
    >>> linearize(model, (torch.eye(2), torch.tensor([1.0, 2.0]))).train(Converged()).outputs().round(6)
    array([[1.],
           [2.]])
    """
    check_network(model)
    counted_as = as_outputs(outputs, model)
    network, device = both_ends(model, trained, counted_as), as_device(device)
    passes = NetworkPasses(network, None, counted_as, as_bytes(memory), device, progress)
    samples = passes.samples(train)
    others = None if val is None else passes.samples(val, like=samples)
    passes.check_labelled(samples)
    passes.check_steady(samples)
    size = Size.of(passes.look(samples), samples, others)
    chosen = choose_kept(projection, size, Means(memory=memory, form=form, sketch=sketch), counted_as)
    place = None if folder is None else OwnedFolder.open(Path(folder), WORK, {}).path
    if chosen.by_kernels:
        found = passes.kernels(samples, others, kernel_folder(place))
        return linearize_kernels(KernelSource(passes, samples, "train", found), others, chosen)
    passes = passes.projected(chosen.projection, samples)
    jacobian = held(passes.rows(samples), None if place is None else place / "rows" / "train", show=progress)
    return linearize_rows(NetworkSource(jacobian, passes), others, chosen, choose(*jacobian.sides, form, sketch))


def linearize_rows(
    source: NetworkSource, val: Samples | None, chosen: Kept, choice: Choice, known: Eigensystem | None = None
) -> LinearizedNetwork:
    """From Jacobian rows; `known` is their eigendecomposition, where it was computed before."""
    found, jacobian = source.read(slice(0, source.samples), rows=False), source.jacobian
    return LinearizedNetwork(
        rows=source.rows(),
        residual=found.residual,
        initial=found.initial,
        wanted=found.targets,
        choice=choice,
        known=known,
        progress=source.passes.progress,
        passes=source.passes,
        train_samples=jacobian.data,
        val_samples=val,
        kernels=None,
        jacobian=jacobian,
        labels=found.labels,
        kept=chosen,
        classes=jacobian.classes,
        notes=jacobian.notes,
        paths=jacobian.paths,
    )


def linearize_kernels(
    source: KernelSource, val: Samples | None, chosen: Kept, known: Eigensystem | None = None
) -> LinearizedNetwork:
    """From exact kernels: the Jacobian is never formed."""
    chunk, found = source.read(slice(0, source.samples)), source.found
    assert found is not None
    return LinearizedNetwork(
        rows=None,
        residual=chunk.residual,
        initial=chunk.initial,
        wanted=chunk.targets,
        choice=choose(source.samples * source.per_sample, None),
        kernel=found.kernels.train,
        known=known,
        progress=source.passes.progress,
        passes=source.passes,
        train_samples=source.data,
        val_samples=val,
        kernels=found.kernels,
        jacobian=None,
        labels=chunk.labels,
        kept=chosen,
        classes=found.classes,
        notes=found.notes,
        paths=found.paths,
    )


def kernel_folder(work: Path | None) -> OwnedFolder | None:
    """Where the kernels of a network are kept."""
    return None if work is None else OwnedFolder.open(work / "kernels", "kernels of a network", {})


def both_ends(
    model: nn.Module, trained: nn.Module | Mapping[str, Tensor] | None, outputs: Outputs | None = None
) -> nn.Module:
    """The network that gives the outputs that count, with its gradients after training where these are known."""
    check_network(model)
    start = by_function(model, outputs)
    if trained is None:
        return start
    return BothEnds(start, within(trained.state_dict() if isinstance(trained, nn.Module) else trained, outputs))
