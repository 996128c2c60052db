"""The paper's settings: its training, and its ResNet-18 and MLP linearized on a data set.

Its η is a rate of the mean loss: it is the one its networks were retrained with, and on MNIST 4 against 9 the MLP's
largest kernel eigenvalue is about 8·10⁵, so that under the summed loss of its formulas η = .001 would be 400 times too
large for descent to be stable. So `GradientFlow(lr=η, time=t)`, the continuous time of its formulas, with the mean.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.experiments import networks
from uniqueinfo.experiments.data import MNIST, Dataset, Part, Pictures, Preparation, Prepared
from uniqueinfo.experiments.kept import place
from uniqueinfo.experiments.pretrained import RESNET18
from uniqueinfo.experiments.runner import Claim, Request
from uniqueinfo.jacobian import OutputSketch, RandomCoordinates
from uniqueinfo.jacobian.guard import fingerprint
from uniqueinfo.linearization.network import LinearizedNetwork, linearize
from uniqueinfo.scores.table import Scores
from uniqueinfo.scoring.arrays import score_linearization
from uniqueinfo.training import GradientFlow


@dataclass(frozen=True)
class Sizes:
    """How much of the paper's setting is computed."""

    samples: int
    """Training samples, and as many for validation."""
    pixels: int
    """A side of photographs."""
    per_layer: int
    """Coordinates kept of each parameter of a ResNet."""

    def settings(self) -> dict[str, Any]:
        """For figures.json."""
        return asdict(self)


SIZES = {"small": Sizes(200, 224, 500), "paper": Sizes(1000, 224, 2000)}


def training(lr: float, steps: float) -> GradientFlow:
    """t steps of rate η under the mean loss, in the limit of small steps."""
    return GradientFlow(lr=lr, time=float(steps))


def halves(dataset: Dataset[Any], samples: int) -> tuple[Part[Any], Part[Any]]:
    """Training and validation samples, at most this many of each."""
    return dataset["train"].draw(samples), dataset["val"].draw(samples)


def outputs_of(dataset: Dataset[Any]) -> int:
    """One output (0 or 1) for two classes, else one for each."""
    return 1 if len(dataset.classes) == 2 else len(dataset.classes)


def mlp(dataset: Dataset[Pictures], request: Request, samples: int) -> LinearizedNetwork:
    """The MLP of 1024 ReLU units, from fresh weights, with every parameter."""
    torch.manual_seed(request.seed)
    network = networks.mlp(outputs=outputs_of(dataset))
    train, val = (Prepared(part, MNIST) for part in halves(dataset, samples))
    return linearize(network, train, val, projection=None)


def head(request: Request, number: int) -> int:
    """The seed of the last layer of one run of several."""
    return 1000 * request.seed + number


def resnet(dataset: Dataset[Pictures], request: Request, sizes: Sizes, head: int | None = None) -> LinearizedNetwork:
    """ResNet-18 of ImageNet with a fresh last layer, drawn from the seed `head` (or the request's)."""
    network = RESNET18.build(request, outputs_of(dataset), sizes.pixels, head)
    train, val = halves(dataset, sizes.samples)
    return linearized(network, train, val, RESNET18.preparation(sizes.pixels), sizes.per_layer, request.work)


def linearized(
    network: nn.Module,
    train: Part[Pictures],
    val: Part[Pictures],
    preparation: Preparation,
    per_layer: int,
    work: Path | None,
    outputs: OutputSketch | None = None,
) -> LinearizedNetwork:
    """Around present weights, with some coordinates of each parameter, as in the paper; rows are kept in `work`."""
    data = f"{train.inputs.digest()} {val.inputs.digest()} {preparation}"
    told = f"{fingerprint(network)} {data} {per_layer} {outputs}"
    return linearize(
        network,
        Prepared(train, preparation),
        Prepared(val, preparation),
        projection=RandomCoordinates(per_layer),
        outputs=outputs,
        folder=place(work, f"rows-{sha256(told.encode()).hexdigest()[:16]}"),
    )


def functional(linearization: LinearizedNetwork, lr: float, *steps: float) -> NDArray[np.float64]:
    """F-SI of every sample after each of these lengths of training, (lengths, n)."""
    probe = linearization.validation
    runs = (linearization.train(training(lr, each)) for each in steps)
    return np.stack([run.leave_out().functional_information(probe) for run in runs])


def from_zero(known: LinearizedNetwork, lr: float, steps: float) -> NDArray[np.float64]:
    """F-SI as if the outputs before training were zero, as those of `centred`, from the same rows."""
    targets = known.targets.flatten(1)
    trained = known.toward(targets, torch.zeros_like(targets)).train(training(lr, steps))
    return trained.leave_out().functional_information(known.validation)


def accuracy(linearization: LinearizedNetwork, lr: float, steps: float) -> float:
    """The share of validation samples that the trained linearization puts into their class."""
    probe = linearization.validation
    assert probe.targets is not None
    outputs = linearization.train(training(lr, steps)).outputs(probe)
    wanted = probe.targets.flatten(1).cpu().numpy()
    if outputs.shape[1] == 1:
        return float(((outputs > 0.5) == (wanted > 0.5)).mean())
    return float((outputs.argmax(axis=1) == wanted.argmax(axis=1)).mean())


def accuracy_claim(title: str, linearization: LinearizedNetwork, lr: float, steps: float) -> Claim:
    """How good the network is whose information is told: a poor one says little about another."""
    found = accuracy(linearization, lr, steps)
    return Claim(f"{title}: validation accuracy of the linearized network", found, note="no claim of the paper")


def scored(linearization: LinearizedNetwork, lr: float, steps: float) -> Scores:
    """All measures after this training."""
    return score_linearization(
        linearization, linearization.validation, training(lr, steps), labels=linearization.labels
    )
