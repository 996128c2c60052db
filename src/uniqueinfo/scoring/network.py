"""From a network and its data to a linearization, and to scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError
from uniqueinfo.information.smoothing import Smoothing
from uniqueinfo.jacobian import Factorized, Kernels, OutputSketch, Projection
from uniqueinfo.jacobian.ends import BothEnds
from uniqueinfo.jacobian.passes import NetworkPasses
from uniqueinfo.linearization.linearization import Linearization, Probe
from uniqueinfo.memory import as_bytes
from uniqueinfo.samples.datasets import Labels
from uniqueinfo.samples.samples import Samples
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.arrays import Columns, check_streams, score_linearization
from uniqueinfo.spectrum.choice import Form
from uniqueinfo.spectrum.rows import Rows
from uniqueinfo.training import Training
from uniqueinfo.types import Floats

if TYPE_CHECKING:
    from uniqueinfo.scoring.engine import Engine


Chosen = Projection | None | Literal["auto"]

DEFAULT_PROJECTION = Factorized(2000)
"""Where exact kernels are too dear: at the same width and cost it ranks samples better than random coordinates."""
_MOST_ROWS = 5_000  # of an exact kernel, whose eigendecomposition grows with their cube
_MOST_PRODUCTS = 1e13  # operations an exact kernel may take: about a minute
_LEAST_MEMORY = 512 * 2**20  # of exact kernels beside themselves: columns, and room to multiply them


def score(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    training: Training | Literal["auto"] = "auto",
    trained: nn.Module | Mapping[str, Tensor] | None = None,
    smoothing: Smoothing | None = None,
    projection: Chosen = "auto",
    outputs: OutputSketch | None = None,
    form: Form = "auto",
    sketch: int | None = None,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
    effects: int = 0,
    ids: Any = None,
    columns: Columns = None,
    engine: Engine | str | None = None,
    out: str | Path | None = None,
    keep: bool | None = None,
) -> Scores:
    """How much each training sample matters to a network trained from its present weights.

    `train`, `val` and `trained` are what `linearize` takes; without labels `val` still gives functional information.
    `effects` keeps, for each sample, this many of the validation samples it moves most.

    `out` or `engine` streams: no more than the budget `memory` is held, the scores go to the folder `out` part by
    part, and the same call on the folder of a killed run goes on with it. `engine="dask"`, or a `DaskEngine`, works on
    many partitions at a time. Jacobian rows are then needed twice: `keep=True` keeps them on disk in between, `False`
    computes them again; when not said, what a short trial finds cheaper is done.

    >>> torch.manual_seed(0).initial_seed()
    0
    >>> model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
    >>> X, y = torch.tensor([[0.0, 0.0], [0.0, 0.1], [1.0, 1.0]]), torch.tensor([0, 0, 1])
    >>> int(score(model, (X, y), (X, y)).functional.argmax())  # the only sample of its class
    2
    """
    if engine is not None or out is not None:
        from uniqueinfo.scoring.network_scores import score_network

        check_streams(smoothing, form, effects, sketch)
        place = None if folder is None else Path(folder)
        network = NetworkPasses(_ends(model, trained), None, outputs, as_bytes(memory), place, device, progress)
        return score_network(
            network, train, val, projection, training, engine, None if out is None else Path(out), keep, ids, columns
        )
    linearization = linearize(
        model,
        train,
        val,
        trained=trained,
        projection=projection,
        outputs=outputs,
        form=form,
        sketch=sketch,
        memory=memory,
        folder=folder,
        device=device,
        progress=progress,
    )
    if training != "auto":
        linearization.train(training)  # a rate that diverges is refused before the pass over the validation data
    scores = score_linearization(
        linearization,
        None if val is None else linearization.validation,
        training,
        smoothing=smoothing,
        effects=effects,
        progress=progress,
        labels=linearization.labels,
        ids=linearization.ids if ids is None else ids,
        columns=columns,
        settings={"projection": repr(linearization.projection), "notes": list(linearization.notes)},
    )
    return scores if outputs is None else _unmixed(scores, outputs.factor(linearization.classes))


def linearize(
    model: nn.Module,
    train: Any,
    val: Any = None,
    *,
    trained: nn.Module | Mapping[str, Tensor] | None = None,
    projection: Chosen = "auto",
    outputs: OutputSketch | None = None,
    form: Form = "auto",
    sketch: int | None = None,
    memory: str | int | None = None,
    folder: str | Path | None = None,
    device: torch.device | str | None = None,
    progress: bool = True,
) -> LinearizedNetwork:
    """Linearize a network around its present weights, which stay as they are.

    `trained` is the same network after its training, or its state_dict, where there is one: gradients are then taken at
    both ends alike (see `BothEnds`), at twice the cost, and the scores follow the real network more closely.

    `train`, `val`: a torch Dataset of (x, y), a pair of arrays, a DataLoader or a Hugging Face dataset; scores come in
    the data set's order. `projection=None` keeps every parameter: through exact kernels where there are fewer rows than
    parameters. "auto" does that while it takes no more than about a minute, and projects otherwise. `outputs` mixes
    many outputs down to a few; `sketch` keeps this many directions exactly, where rows and columns are too many.
    Rows that take more than the `memory` budget go to disk, in `folder` if one is named; there, a killed run is gone on
    with.

    >>> from uniqueinfo.training import Converged
    >>> model = nn.Linear(2, 1, bias=False)
    >>> linearize(model, (torch.eye(2), torch.tensor([1.0, 2.0]))).train(Converged()).outputs().round(6)
    array([[1.],
           [2.]])
    """
    place = None if folder is None else Path(folder)
    network = NetworkPasses(_ends(model, trained), None, outputs, as_bytes(memory), place, device, progress)
    samples = network.samples(train)
    others = None if val is None else network.samples(val)
    rows, parameters = network.size(samples)
    if projection == "auto":  # kernels are not kept in a folder, and rows are
        both = rows * (len(samples) + (0 if others is None else len(others))) / len(samples)
        cheap = rows <= _MOST_ROWS and 2 * rows * both * parameters <= _MOST_PRODUCTS
        cheap = cheap and 8 * rows * both + _LEAST_MEMORY <= network.memory and sketch is None
        projection = None if cheap and folder is None else DEFAULT_PROJECTION
    if projection is None and form != "primal" and rows <= parameters and folder is None and sketch is None:
        return _from_kernels(network, samples, others)
    network.projection = projection
    found = network.features(samples, "train")
    if found.labels is None:
        raise InputError("train: these samples have no labels; hand over (inputs, labels)")
    start = network.tensor(found.outputs)
    residual = network.tensor(network.targets(found.labels)) - start
    source = Rows(found.rows, residual.device)
    return LinearizedNetwork(
        source, residual[..., None], start[..., None], form, None, network, samples, others, found.labels, sketch
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
        network: NetworkPasses,
        train: Samples,
        val: Samples | None,
        labels: Labels,
        sketch: int | None = None,
    ) -> None:
        super().__init__(rows, residual, initial, form, None if kernels is None else kernels.train, sketch)
        self._network, self._train, self._val, self._kernels = network, train, val, kernels
        self.labels, self.ids = labels, train.ids
        self.shows_progress = network.progress

    @property
    def paths(self) -> Mapping[str, str]:
        """Which way each parameter's part of the Jacobian was computed: a layer rule's name, or "generic"."""
        return self._network.paths

    @property
    def projection(self) -> Projection | None:
        """How the Jacobian was projected; None where every parameter was kept."""
        return self._network.projection

    @property
    def classes(self) -> int:
        """How many outputs the network has, before any mixing."""
        return self._network.classes

    @property
    def at_both_ends(self) -> bool:
        """Whether gradients are those of the trained network too."""
        return isinstance(self._network.model, BothEnds)

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be changed in the network for the pass."""
        return tuple(self._network.notes)

    @cached_property
    def validation(self) -> Probe:
        """The validation samples given to `linearize`; gone through once, for every training."""
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


def _ends(model: nn.Module, trained: nn.Module | Mapping[str, Tensor] | None) -> nn.Module:
    return model if trained is None else BothEnds(model, trained)


def _unmixed(scores: Scores, factor: float) -> Scores:
    """Squared changes of mixed outputs, counted for all outputs."""

    def scaled(values: Floats | None) -> Floats | None:
        return None if values is None else values * factor

    errors = scores.errors and {
        name: error if name == "loo_outputs" else error * factor for name, error in scores.errors.items()
    }
    return replace(
        scores,
        weight=scores.weight * factor,
        functional=scaled(scores.functional),
        value=scaled(scores.value),
        errors=errors,
    )


def _from_kernels(network: NetworkPasses, train: Samples, val: Samples | None) -> LinearizedNetwork:
    if train.labels is None:
        raise InputError("train: these samples have no labels; hand over (inputs, labels)")
    kernels = network.kernels(train, val)
    start = kernels.outputs.double()
    residual = network.tensor(network.targets(train.labels)).to(start.device) - start
    return LinearizedNetwork(
        None, residual[..., None], start[..., None], "dual", kernels, network, train, val, train.labels
    )
