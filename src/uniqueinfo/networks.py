"""From a network and its data to a linearization, and to scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.data import Samples, as_samples, as_targets
from uniqueinfo.errors import InputError
from uniqueinfo.jacobian import Kernels, OutputSketch, Projection, RandomCoordinates, RowEngine, exact_kernels
from uniqueinfo.jacobian.features import Features, compute_features
from uniqueinfo.jacobian.guard import fingerprint, prepared
from uniqueinfo.linearized.linearization import Form, Linearization, Probe
from uniqueinfo.linearized.rows import Rows
from uniqueinfo.memory import as_bytes
from uniqueinfo.scores import Scores
from uniqueinfo.scoring import Columns, score_linearization
from uniqueinfo.smoothing import Smoothing
from uniqueinfo.sources import Inputs, Labels
from uniqueinfo.training import Training

Floats = NDArray[np.float64]

DEFAULT_PROJECTION = RandomCoordinates(2000)
_BATCH = 32  # samples per batch of the exact kernels, whose budget leaves a batch's own memory out


def score(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    training: Training | Literal["auto"] = "auto",
    smoothing: Smoothing | None = None,
    projection: Projection | None = DEFAULT_PROJECTION,
    outputs: OutputSketch | None = None,
    form: Form = "auto",
    memory: str | int | None = None,
    folder: str | Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
    ids: Any = None,
    columns: Columns = None,
) -> Scores:
    """How much each training sample matters to a network trained from its present weights.

    `train` and `val` are what `linearize` takes; without labels `val` still gives functional information.

    >>> torch.manual_seed(0).initial_seed()
    0
    >>> model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    >>> X, y = torch.tensor([[0.0, 0.0], [0.0, 0.1], [1.0, 1.0]]), torch.tensor([0, 0, 1])
    >>> int(score(model, (X, y), (X, y)).functional.argmax())  # the only sample of its class
    2
    """
    linearization = linearize(
        model,
        train,
        val,
        projection=projection,
        outputs=outputs,
        form=form,
        memory=memory,
        folder=folder,
        device=device,
        progress=progress,
    )
    if training != "auto":
        linearization.train(training)  # a rate that diverges is refused before the pass over the validation data
    return score_linearization(
        linearization,
        None if val is None else linearization.validation,
        training,
        smoothing=smoothing,
        labels=linearization.labels,
        ids=linearization.ids if ids is None else ids,
        columns=columns,
        settings={"projection": repr(projection), "notes": list(linearization.notes)},
    )


def linearize(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    projection: Projection | None = DEFAULT_PROJECTION,
    outputs: OutputSketch | None = None,
    form: Form = "auto",
    memory: str | int | None = None,
    folder: str | Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> LinearizedNetwork:
    """Linearize a network around its present weights, which stay as they are.

    `train`, `val`: a torch Dataset of (x, y), a pair of arrays, a DataLoader or a Hugging Face dataset; scores come in
    the data set's order. `projection=None` keeps every parameter: through exact kernels where there are fewer rows than
    parameters. `outputs` mixes many outputs down to a few. Rows that take more than the `memory` budget go to disk, in
    `folder` if one is named; there, a killed run is gone on with.

    >>> from uniqueinfo.training import Converged
    >>> model = nn.Linear(2, 1, bias=False)
    >>> linearize(model, (torch.eye(2), torch.tensor([1.0, 2.0]))).train(Converged()).outputs().round(6)
    array([[1.],
           [2.]])
    """
    network = _Network(
        model, projection, outputs, as_bytes(memory), None if folder is None else Path(folder), device, progress
    )
    samples = network.samples(train)
    others = None if val is None else network.samples(val)
    if projection is None and form != "primal" and network.has_more_parameters_than_rows(samples):
        return _from_kernels(network, samples, others)
    found = network.features(samples, "train")
    if found.labels is None:
        raise InputError("train: these samples have no labels; hand over (inputs, labels)")
    start = network.tensor(found.outputs)
    residual = network.tensor(network.targets(found.labels)) - start
    rows = Rows(found.rows, residual.device)
    return LinearizedNetwork(
        rows, residual[..., None], start[..., None], form, None, network, samples, others, found.labels
    )


class LinearizedNetwork(Linearization):
    """The linearization of a network on its training data; made by `linearize`."""

    def __init__(
        self,
        rows: Rows | None,
        residual: Tensor,
        initial: Tensor,
        form: Form,
        kernels: Kernels | None,
        network: _Network,
        train: Samples,
        val: Samples | None,
        labels: Labels,
    ) -> None:
        super().__init__(rows, residual, initial, form, None if kernels is None else kernels.train)
        self._network, self._train, self._val, self._kernels = network, train, val, kernels
        self.labels, self.ids = labels, train.ids

    @property
    def paths(self) -> Mapping[str, str]:
        """Which way each parameter's part of the Jacobian was computed: a layer rule's name, or "generic"."""
        return self._network.paths

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be changed in the network for the pass."""
        return tuple(self._network.notes)

    @property
    def validation(self) -> Probe:
        """The validation samples given to `linearize`."""
        if self._val is None:
            raise InputError("there are no validation samples: hand them to linearize, or look at others with probe")
        if self._kernels is not None:
            return self._probe_kernel(self._kernels, self._val)
        return self.probe(self._val)

    def probe(self, rows: Any, targets: Any = None, initial: Any = None) -> Probe:
        """Look at other samples: a data set, with labels or without, as for training."""
        if targets is not None or initial is not None:
            return super().probe(rows, targets, initial)
        samples = rows if isinstance(rows, Samples) else self._network.samples(rows)
        self._network.check_unchanged()
        if self._kernels is not None:
            return self._probe_kernel(self._network.kernels(self._train, samples), samples)
        found = self._network.features(samples, "val")
        wanted = None if found.labels is None else self._network.targets(found.labels)
        return super().probe(found.rows, wanted, found.outputs)

    def _probe_kernel(self, kernels: Kernels, samples: Samples) -> Probe:
        rows = kernels.val.reshape(len(samples), self.outputs, -1)
        wanted = None if samples.labels is None else self._network.targets(samples.labels)
        return super().probe(rows, wanted, kernels.outputs_val)


@dataclass(eq=False)
class _Network:
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
        self._outputs: int | None = None

    def samples(self, data: Any) -> Samples:
        """What the user handed over, on the network's device and in its dtype."""
        parameter = next(self.model.parameters(), None)
        if parameter is None:
            raise InputError(f"model: {type(self.model).__name__} has no parameters, so there is nothing to linearize")
        return as_samples(data, device=self.device or parameter.device, dtype=parameter.dtype)

    def has_more_parameters_than_rows(self, samples: Samples) -> bool:
        """Whether a kernel is smaller than a Hessian."""
        with prepared(self.model, self.device):
            rows = len(samples) * self._engine(samples).outputs
        return rows <= sum(p.numel() for p in self.model.parameters() if p.requires_grad)

    def features(self, samples: Samples, name: str) -> Features:
        """Jacobian rows and outputs of samples, in memory or in the folder."""
        with prepared(self.model, self.device) as notes:
            self.notes = self.notes or notes
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
                classes=self._outputs,
                progress=self.progress,
            )

    def kernels(self, train: Samples, val: Samples | None) -> Kernels:
        """Exact kernels."""
        with prepared(self.model, self.device) as notes:
            self.notes = self.notes or notes
            self._engine(train)
            others: Iterable[Inputs] = [] if val is None else _Batches(val)
            return exact_kernels(self.model, _Batches(train), others, memory=self.memory, outputs=self.sketch)

    def targets(self, labels: NDArray[Any]) -> Floats:
        """What the (mixed) outputs are trained towards."""
        assert self._outputs is not None
        wanted = as_targets(labels, self._outputs)
        return wanted if self.sketch is None else wanted @ self.sketch.matrix(self._outputs).numpy()

    def tensor(self, values: Floats) -> Tensor:
        """On the device the algebra runs on."""
        return torch.from_numpy(values).to(self.device or "cpu")

    def check_unchanged(self) -> None:
        """Refuse a network that was trained on since it was linearized."""
        if fingerprint(self.model) != self._fingerprint:
            raise InputError("the network has changed since it was linearized; linearize it again")

    def _engine(self, samples: Samples) -> RowEngine:
        example = samples.inputs(range(min(2, len(samples))))
        engine = RowEngine(self.model, example, self.projection, outputs=self.sketch)
        self.paths, self._outputs = engine.paths, engine.classes
        return engine


@dataclass(frozen=True)
class _Batches:
    """Inputs of all samples, batch by batch, as often as they are asked for."""

    samples: Samples

    def __iter__(self) -> Iterator[Inputs]:
        count = len(self.samples)
        parts = [range(start, min(start + _BATCH, count)) for start in range(0, count, _BATCH)]
        return (batch.inputs for batch in self.samples.batches(parts))


def _from_kernels(network: _Network, train: Samples, val: Samples | None) -> LinearizedNetwork:
    if train.labels is None:
        raise InputError("train: these samples have no labels; hand over (inputs, labels)")
    kernels = network.kernels(train, val)
    start = kernels.outputs.double()
    residual = network.tensor(network.targets(train.labels)).to(start.device) - start
    return LinearizedNetwork(
        None, residual[..., None], start[..., None], "dual", kernels, network, train, val, train.labels
    )
