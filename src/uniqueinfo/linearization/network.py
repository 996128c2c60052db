"""The linearization of a network around its present weights."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.jacobian.ends import BothEnds
from uniqueinfo.jacobian.keeping import InMemory
from uniqueinfo.jacobian.kernels import Kernels
from uniqueinfo.jacobian.network_rows import NetworkRows
from uniqueinfo.jacobian.outputs import OutputSketch
from uniqueinfo.jacobian.passes import Look, NetworkPasses
from uniqueinfo.jacobian.projections import Factorized, Projection
from uniqueinfo.linearization.linearization import Linearization
from uniqueinfo.linearization.source import Chunk, Source
from uniqueinfo.memory import as_bytes, as_text
from uniqueinfo.progress import progress as bar
from uniqueinfo.samples.samples import Samples
from uniqueinfo.spectrum.choice import Form, choose
from uniqueinfo.spectrum.probe import Inner, Probe
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.types import Index, Labels

Asked = Projection | None | Literal["auto"]

DEFAULT_PROJECTION = Factorized(2000)
"""Where exact kernels are too dear: at the same width and cost it ranks samples better than random coordinates."""
_MOST_ROWS = 5_000  # of an exact kernel, whose eigendecomposition grows with their cube
_MOST_PRODUCTS = 1e13  # operations an exact kernel may take: about a minute
_MOST_BYTES = 4 * 2**30  # of exact kernels where no budget is named: the choice never hangs on what happens to be free
_BESIDE = 512 * 2**20  # bytes of exact kernels beside themselves: columns, and room to multiply them


@dataclass(frozen=True)
class Projected:
    """How the Jacobian is projected, and why; chosen once, the same however scores are stored or computed."""

    projection: Projection | None
    why: str
    by_kernels: bool = False
    """Whether the Jacobian is never formed: exact kernels stand for it."""


@dataclass(frozen=True)
class Size:
    """Of a network's whole Jacobian."""

    rows: int
    """nk, of the training samples."""
    others: int
    """mk, of the validation samples."""
    parameters: int


def choose_projection(
    asked: Asked, size: Size, *, memory: str | int | None = None, form: Form = "auto", sketch: int | None = None
) -> Projected:
    """Every parameter where that is cheap, else a projection; `None` as asked keeps every parameter at any cost.

    >>> choose_projection("auto", Size(rows=100, others=50, parameters=10_000)).why
    'exact: kernels of 100 rows and 10,000 parameters are cheap'
    """
    kernels = form != "primal" and sketch is None and size.rows <= size.parameters
    if asked != "auto":
        return Projected(asked, "asked for", by_kernels=asked is None and kernels)
    if sketch is not None:
        return Projected(DEFAULT_PROJECTION, "projected: a sketch needs rows, and all parameters are too wide")
    both = size.rows + size.others
    most = _MOST_BYTES if memory is None else as_bytes(memory)
    dear = {
        f"{size.rows:,} rows (nk) are more than {_MOST_ROWS:,}": size.rows > _MOST_ROWS,
        f"{size.rows:,} rows of {size.parameters:,} parameters take more than about a minute": (
            2 * size.rows * both * size.parameters > _MOST_PRODUCTS
        ),
        f"they take {as_text(8 * size.rows * both + _BESIDE)} of the {as_text(most)} allowed": (
            8 * size.rows * both + _BESIDE > most
        ),
    }
    reasons = [reason for reason, holds in dear.items() if holds]
    if reasons:
        return Projected(DEFAULT_PROJECTION, f"projected: exact kernels are too dear, {reasons[0]}")
    why = f"exact: kernels of {size.rows:,} rows and {size.parameters:,} parameters are cheap"
    return Projected(None, why, by_kernels=kernels)


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
        """Outputs."""
        return self.jacobian.per_sample

    @property
    def width(self) -> int:
        """Columns of the (projected) Jacobian."""
        return self.jacobian.width

    @property
    def columns(self) -> int:
        """Each output has rows of its own."""
        return 1

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Computed, or found again."""
        found = self.jacobian.read(index)
        start = torch.from_numpy(found.outputs).to(self.device)[..., None]
        wide = torch.from_numpy(found.rows).to(self.device, torch.float64) if rows else None
        if found.labels is None:
            return Chunk(wide, start, None, None)
        names = self.jacobian.data.ids[index]
        wanted = torch.from_numpy(self.passes.targets(found.labels, self.jacobian.classes, names))
        return Chunk(wide, start, wanted.to(self.device)[..., None], found.labels)

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


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearizedNetwork(Linearization):
    """The linearization of a network on its training data; made by `linearize`."""

    passes: NetworkPasses
    train_samples: Samples
    val_samples: Samples | None
    kernels: Kernels | None
    """Of the training and validation samples, where exact kernels stand for the Jacobian."""
    jacobian: NetworkRows | None
    labels: Labels
    projected: Projected
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
        return self.projected.projection

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
        """Look at other samples: a data set, with labels or without, as for training."""
        if targets is not None or initial is not None:
            return super().probe(rows, targets, initial)
        samples = rows if isinstance(rows, Samples) else self.passes.samples(rows)
        if self.jacobian is None:
            return self._probe_kernels(self.passes.kernels(self.train_samples, samples).kernels, samples)
        self.passes.check_unchanged()
        source = NetworkSource(held(self.jacobian.over(samples), None, show=self.progress), self.passes)
        return probe_of(source, self)

    def _probe_kernels(self, kernels: Kernels, samples: Samples) -> Probe:
        rows = kernels.val.reshape(len(samples), self.outputs, -1)
        wanted = None if samples.labels is None else self.passes.targets(samples.labels, self.classes, samples.ids)
        found = super().probe(rows, wanted, kernels.outputs_val)
        return replace(found, inner=lambda: self._inner(samples))

    def _inner(self, samples: Samples) -> Inner:
        """Inner products of other samples' rows with their own, and with those of the validation samples."""
        found, k = self.passes.kernels(samples, self.val_samples).kernels, self.outputs
        blocks = found.train.reshape(len(samples), k, len(samples), k)
        own = blocks.diagonal(dim1=0, dim2=2).permute(2, 0, 1)
        across = None if self.val_samples is None else found.val.reshape(-1, k, len(samples), k)
        return Inner(own, across)


@dataclass(frozen=True, eq=False)
class KernelSource(Source):
    """Samples of a network that are seen through kernel values with the training samples alone."""

    passes: NetworkPasses
    data: Samples
    values: Tensor | None
    """(samples, k, nk); None until they are computed."""
    outputs: Tensor
    """Before training, (n, k)."""
    targets: Tensor | None
    """(n, k)."""
    linearization: LinearizedNetwork | None = None

    width = None
    columns = 1

    @classmethod
    def unknown(cls, passes: NetworkPasses, data: Samples) -> KernelSource:
        """Before kernels are computed: how many there are, and what they are of."""
        return cls(passes, data, None, torch.zeros(()).expand(len(data), passes.look(data).outputs), None)

    @classmethod
    def known(cls, found: LinearizedNetwork, data: Samples, values: Tensor, outputs: Tensor) -> KernelSource:
        """With the kernels of a linearization."""
        start, passes = outputs.double(), found.passes
        wanted = None
        if data.labels is not None:
            wanted = torch.from_numpy(passes.targets(data.labels, found.classes, data.ids)).to(start.device)
        return cls(passes, data, values.reshape(len(data), found.outputs, -1), start, wanted, found)

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.outputs)

    @property
    def per_sample(self) -> int:
        """Outputs."""
        return int(self.outputs.shape[1])

    def read(self, index: Index, *, rows: bool = True) -> Chunk:
        """Without rows: there are none."""
        wanted = None if self.targets is None else self.targets[index][..., None]
        labels = None if self.data.labels is None else self.data.labels[index]
        return Chunk(None, self.outputs[index][..., None], wanted, labels)

    def rows(self) -> Rows:
        """Kernel values stand for rows."""
        assert self.values is not None
        return Rows(self.values, self.values.device)

    def digest(self, part: slice) -> str:
        """Of inputs and labels."""
        return self.data.read(range(part.start, part.stop)).digest()

    def identity(self) -> dict[str, Any]:
        """The network."""
        return {"kind": "kernels", "model": self.passes.before, "outputs": repr(self.passes.outputs)}

    @property
    def device(self) -> torch.device:
        """Where the kernel lies."""
        return self.outputs.device


def probe_of(source: Source, linearization: Linearization) -> Probe:
    """The samples of a source, looked at from a linearization."""
    found = source.read(slice(0, source.samples), rows=False)
    return Probe(linearization.system, source.rows(), found.initial, found.targets)


def linearize(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    trained: nn.Module | Mapping[str, Tensor] | None = None,
    projection: Asked = "auto",
    outputs: OutputSketch | None = None,
    form: Form = "auto",
    sketch: int | None = None,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> LinearizedNetwork:
    """Linearize a network around its present weights, which stay as they are.

    `train`, `val`: a torch Dataset of (x, y), a pair of arrays, a DataLoader or a Hugging Face dataset; scores come in
    the data set's order.
    `trained`: the same network after its training, or its state_dict, where there is one: gradients are then taken at
    both ends alike (see `BothEnds`), at twice the cost, and the scores follow the real network more closely.
    `projection`: None keeps every parameter: through exact kernels where there are fewer rows than parameters. "auto"
    does that while it takes no more than about a minute, and projects otherwise.
    `outputs` mixes many outputs down to a few. `form`: "dual" or "primal" where the sizes are not to choose.
    `sketch` keeps this many directions exactly, where rows and columns are too many.
    `memory`: a budget; rows that take more than half of it go to disk. `folder`: where rows or kernels are kept, so
    that a killed run is gone on with. `device`: where it all runs. `progress`: whether to show how far it is.

    >>> from uniqueinfo.training import Converged
    >>> model = nn.Linear(2, 1, bias=False)
    >>> linearize(model, (torch.eye(2), torch.tensor([1.0, 2.0]))).train(Converged()).outputs().round(6)
    array([[1.],
           [2.]])
    """
    passes = NetworkPasses(both_ends(model, trained), None, outputs, as_bytes(memory), device, progress)
    samples = passes.samples(train)
    others = None if val is None else passes.samples(val)
    size = size_of(passes.look(samples), samples, others)
    chosen = choose_projection(projection, size, memory=memory, form=form, sketch=sketch)
    place = None if folder is None else Path(folder)
    if chosen.by_kernels:
        return linearize_by_kernels(passes, samples, others, chosen, place)
    passes = passes.projected(chosen.projection)
    jacobian = passes.rows(samples)
    check_labelled(samples)
    jacobian = held(jacobian, None if place is None else place / "rows" / "train", show=progress)
    return linearize_rows(NetworkSource(jacobian, passes), samples, others, chosen, form, sketch)


def linearize_rows(
    source: NetworkSource, samples: Samples, others: Samples | None, chosen: Projected, form: Form, sketch: int | None
) -> LinearizedNetwork:
    """From Jacobian rows."""
    found, passes, jacobian = source.read(slice(0, source.samples), rows=False), source.passes, source.jacobian
    return LinearizedNetwork(
        rows=source.rows(),
        residual=found.residual,
        initial=found.initial,
        choice=choose(source.samples * source.per_sample, source.width, form, sketch),
        progress=passes.progress,
        passes=passes,
        train_samples=samples,
        val_samples=others,
        kernels=None,
        jacobian=jacobian,
        labels=found.labels,
        projected=chosen,
        classes=jacobian.classes,
        notes=jacobian.notes,
        paths=jacobian.paths,
    )


def linearize_by_kernels(
    passes: NetworkPasses, train: Samples, val: Samples | None, chosen: Projected, folder: Path | None
) -> LinearizedNetwork:
    """From exact kernels: the Jacobian is never formed."""
    check_labelled(train)
    place = None if folder is None else OwnedFolder.open(folder / "kernels", "kernels of a network", {})
    found = passes.kernels(train, val, place)
    start = found.kernels.outputs.double()
    wanted = torch.from_numpy(passes.targets(train.labels, found.classes, train.ids)).to(start.device)
    return LinearizedNetwork(
        rows=None,
        residual=(wanted - start)[..., None],
        initial=start[..., None],
        choice=choose(start.numel(), None),
        kernel=found.kernels.train,
        progress=passes.progress,
        passes=passes,
        train_samples=train,
        val_samples=val,
        kernels=found.kernels,
        jacobian=None,
        labels=train.labels,
        projected=chosen,
        classes=found.classes,
        notes=found.notes,
        paths=found.paths,
    )


def size_of(look: Look, train: Samples, val: Samples | None) -> Size:
    """Of the whole Jacobian."""
    return Size(look.outputs * len(train), 0 if val is None else look.outputs * len(val), look.parameters)


def both_ends(model: nn.Module, trained: nn.Module | Mapping[str, Tensor] | None) -> nn.Module:
    """The network, with its gradients after training where these are known."""
    return model if trained is None else BothEnds(model, trained)


def check_labelled(samples: Samples) -> None:
    """Refuse training samples without labels, looking at one of them."""
    if samples.read([0]).labels is None:
        raise InputError("train: these samples have no labels; hand over (inputs, labels)")


def held(rows: NetworkRows, folder: Path | None, *, show: bool) -> NetworkRows:
    """All rows computed once and held: in memory where they fit in half of the budget, in the folder, or in one that
    goes with them."""
    if folder is not None:
        found = rows.kept_on_disk(folder)
    elif rows.bytes <= rows.network.memory // 2:
        found = rows.kept(InMemory())
    else:
        place = Path(tempfile.mkdtemp(prefix="uniqueinfo-"))
        found = rows.kept_on_disk(place)
        weakref.finalize(found.keeper, shutil.rmtree, place, ignore_errors=True)
    with bar("Jacobian rows", len(rows.data), show=show) as advance:
        for number, part in enumerate(found.pieces()):
            found.piece(number)
            advance(part.stop - part.start)
    return found
