"""The columns of Table 1: networks with their data, and how the paper trained them.

The paper writes its loss as a sum over n = 1000 samples with λ = 10³, and the rates it gives are those of the mean: the
same training is the mean loss with a decay of λ/n = 1, at that rate. So it is here, for every column and scale.

At the small scale the MLP is retrained by 100 steps of heavy-ball descent in place of 2000 plain ones, with rate ×
steps/(1 − momentum) kept, so that both follow the same gradient flow; the table says how far one training by the
paper's own steps ends from them. The others follow gradient flow itself, of the paper's length: the pretrained CNN's
largest curvature is about 1000, so that the paper's rate of .002 is at the edge of stability, and ResNet-18's is about
6400, so that the paper's would diverge (and so would LiSSA with its scale of 1000). Heavy-ball steps throw the
pretrained CNN's outputs about in the first ten of them: the first 12 left-out samples then gave correlations of .55
(weights) and .21 (predictions), after which flow was taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from uniqueinfo.baselines.descent import Followed
from uniqueinfo.experiments.data import MNIST, emnist_cnn, imagenet, load, resnet18, resnet50
from uniqueinfo.experiments.networks import mlp, paper_cnn
from uniqueinfo.experiments.runner import Request, Scale
from uniqueinfo.runs.photos.resnet18 import ResNet18
from uniqueinfo.runs.photos.resnet50 import ResNet50
from uniqueinfo.training import GradientDescent, MomentumFilter, Training

DECAY = 1.0
"""λ/n for the paper's λ = 10³ and n = 1000."""
_BATCH = 64
"""Photos that go at a time through the part of a ResNet that is not trained."""
_PIXELS = 64
"""A side of the photos at the small scale."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A network at its start, and what it is trained and looked at on."""

    network: nn.Module
    train: tuple[Tensor, Tensor]
    val: tuple[Tensor, Tensor]
    data: str
    """Fingerprint of the data set."""


@dataclass(frozen=True)
class Effort:
    """How much is done for a column at one scale."""

    left_out: int
    """Samples the network is retrained without."""
    influenced: int
    """For how many of these influence functions are computed."""
    lissa_batch: int
    """Samples in a batch of LiSSA."""
    momentum: float = 0.0
    steps: int | None = None
    """Heavy-ball steps in place of the paper's own."""
    flow: bool = False
    """Gradient flow of the paper's length in place of its steps."""
    samples: int | None = None
    """Training samples, and as many validation samples; None: all 1000."""
    scale: float = 1000.0
    """LiSSA's scale, which must exceed half the largest curvature."""
    batch: int | None = None
    """Samples in a mini-batch of the retraining; None: all."""
    smaller: str = ""
    """In words: what of the network and its data is smaller than in the paper."""

    @property
    def reduced(self) -> str:
        """All that is smaller than the paper's, in words."""
        count = "" if self.samples is None else f"{self.samples} + {self.samples} samples"
        steps = "gradient flow" if self.flow else "" if self.steps is None else f"{self.steps} heavy-ball steps"
        influence = f", influence of {self.influenced} by batches of {self.lissa_batch}" if self.influenced else ""
        sizes = f"{self.left_out} left out{influence}"
        scale = "" if self.scale == 1000 else f"LiSSA's scale {self.scale:g}"
        return ", ".join(part for part in (count, self.smaller, steps, sizes, scale) if part)


@dataclass(frozen=True)
class Column:
    """One network of the table."""

    key: str
    title: str
    lr: float
    steps: int
    recursions: int
    make: Callable[[Request, int | None], Problem]
    """From a request and the number of samples; None: all of them."""
    effort: Mapping[Scale, Effort]
    published: str = ""
    """Whose figures of the paper it stands beside, where that is another column."""

    @property
    def paper(self) -> Mapping[tuple[str, str, bool], float]:
        """The paper's correlations by (measure, method, whether there is decay)."""
        return _PAPER[self.published or self.key]

    @property
    def fails_in_paper(self) -> bool:
        """The small network from scratch, which the paper's linearization does not follow: reported as it comes out."""
        return (self.published or self.key) == "cnn"

    def own(self, decay: bool) -> GradientDescent:
        """The paper's training."""
        return GradientDescent(self.lr, self.steps, weight_decay=DECAY if decay else 0.0)

    def training(self, scale: Scale, decay: bool) -> Followed:
        """The training done here.

        >>> COLUMNS[0].training("small", decay=False).filter(1).horizon.__round__(9)  # 2000 steps of .001
        2.0
        """
        own, effort = self.own(decay), self.effort[scale]
        if effort.flow:
            return own.flow()
        if effort.steps is None:
            return own
        reached = MomentumFilter(1.0, effort.momentum, effort.steps, 0.0).horizon
        lr = self.lr * self.steps / reached
        return GradientDescent(lr, effort.steps, weight_decay=own.weight_decay, momentum=effort.momentum)

    def scored(self, scale: Scale, decay: bool) -> Training:
        """The training the linearized network is scored for: the same, or for the paper's own steps its formula, flow.

        The linearized network would diverge at some of the paper's rates.
        """
        done = self.training(scale, decay)
        return done if done != self.own(decay) else self.own(decay).flow()


def digits(request: Request, network: Callable[[], nn.Module], count: int | None) -> Problem:
    """Fours against nines, by a network whose fresh layers are drawn by the request's seed."""
    found = load("mnist_4v9", request.data)
    torch.manual_seed(request.seed)
    parts = [found[name] if count is None else found[name].draw(count, request.seed) for name in ("train", "val")]
    train, val = ((MNIST.all(part.inputs), torch.from_numpy(part.labels)) for part in parts)
    return Problem(network().eval(), train, val, found.fingerprint)


def _mlp(request: Request, count: int | None) -> Problem:
    return digits(request, mlp, count)


def _cnn(request: Request, count: int | None) -> Problem:
    return digits(request, paper_cnn, count)


def _pretrained_cnn(request: Request, count: int | None) -> Problem:
    return digits(request, lambda: paper_cnn(1, emnist_cnn(request.data)), count)


def _photos_18(request: Request, count: int | None) -> Problem:
    return _photos(request, count, lambda: ResNet18(1, resnet18(request.data)))


def _photos_50(request: Request, count: int | None) -> Problem:
    return _photos(request, count, lambda: ResNet50(1, resnet50(request.data)))


def whole_resnet18(request: Request, count: int | None, pixels: int) -> Problem:
    """ResNet-18 with all of its layers, and photos of so many pixels."""
    return _whole_photos(request, count, pixels, lambda: ResNet18(1, resnet18(request.data)))


def whole_resnet50(request: Request, count: int | None, pixels: int) -> Problem:
    """The same by ResNet-50."""
    return _whole_photos(request, count, pixels, lambda: ResNet50(1, resnet50(request.data)))


def _whole_photos(
    request: Request, count: int | None, pixels: int, build: Callable[[], ResNet18 | ResNet50]
) -> Problem:
    found = load("cats_dogs", request.data)
    torch.manual_seed(request.seed)
    network = build().eval()
    parts = [found[name] if count is None else found[name].draw(count, request.seed) for name in ("train", "val")]
    train, val = ((imagenet(pixels).all(part.inputs), torch.from_numpy(part.labels)) for part in parts)
    return Problem(network, train, val, found.fingerprint)


def _photos(request: Request, count: int | None, build: Callable[[], ResNet18 | ResNet50]) -> Problem:
    """Whole, or few photos behind a front that stays as it is: only the last convolution and the last layer train."""
    found = load("cats_dogs", request.data)
    torch.manual_seed(request.seed)
    network = build().eval()
    parts = [found[name] if count is None else found[name].draw(count, request.seed) for name in ("train", "val")]
    preparation = imagenet(None if count is None else _PIXELS)
    inputs = [preparation.all(part.inputs) for part in parts]
    labels = [torch.from_numpy(part.labels) for part in parts]
    model: nn.Module = network
    if count is not None:
        front, model = network.parted()
        with torch.no_grad():
            inputs = [torch.cat([front(batch) for batch in torch.split(images, _BATCH)]) for images in inputs]
    return Problem(model, (inputs[0], labels[0]), (inputs[1], labels[1]), found.fingerprint)


def _paper(weights: tuple[float, ...], predictions: tuple[float, ...]) -> dict[tuple[str, str, bool], float]:
    """From (linearization, influence) without decay and (linearization, influence) with it."""
    return {
        (measure, method, decay): figures[2 * decay + place]
        for measure, figures in (("weights", weights), ("predictions", predictions))
        for decay in (False, True)
        for place, method in enumerate(("linearization", "influence"))
    }


_MLP_EFFORT: dict[Scale, Effort] = {
    "small": Effort(left_out=100, influenced=30, lissa_batch=32, momentum=0.9, steps=100),
    "paper": Effort(left_out=100, influenced=100, lissa_batch=128),
}
_CNN_EFFORT = _MLP_EFFORT | {"small": Effort(left_out=100, influenced=20, lissa_batch=32, flow=True, samples=200)}
_PHOTO_EFFORT: dict[Scale, Effort] = {
    "small": Effort(
        left_out=20,
        influenced=10,
        lissa_batch=32,
        flow=True,
        samples=60,
        scale=10_000.0,
        smaller=f"photos of {_PIXELS} pixels, last convolution and last layer trained",
    ),
    "paper": Effort(left_out=100, influenced=100, lissa_batch=128, batch=500),
}

_PAPER = {
    "mlp": _paper((0.987, 0.935, 0.977, 0.978), (0.993, 0.920, 0.993, 0.990)),
    "cnn_pretrained": _paper((0.870, 0.736, 0.964, 0.979), (0.875, 0.770, 0.974, 0.954)),
    "resnet18": _paper((0.895, 0.675, 0.940, 0.858), (0.877, 0.530, 0.931, 0.753)),
    "resnet50": _paper((0.968, 0.897, 0.816, 0.912), (0.895, 0.715, 0.519, 0.506)),
    "cnn": _paper((0.193, 0.319, -0.012, 0.069), (0.033, 0.647, 0.070, 0.407)),
}
"""The paper's correlations by column."""

COLUMNS = (
    Column("mlp", "MNIST MLP", lr=0.001, steps=2000, recursions=1000, make=_mlp, effort=_MLP_EFFORT),
    Column(
        "cnn_pretrained",
        "MNIST CNN, pretrained",
        lr=0.002,
        steps=1000,
        recursions=1000,
        make=_pretrained_cnn,
        effort=_CNN_EFFORT,
    ),
    Column(
        "resnet18", "cats/dogs ResNet-18", lr=0.001, steps=1000, recursions=50, make=_photos_18, effort=_PHOTO_EFFORT
    ),
    Column("cnn", "MNIST CNN, from scratch", lr=0.01, steps=1000, recursions=1000, make=_cnn, effort=_CNN_EFFORT),
)
RESNET50 = Column(
    "resnet50", "cats/dogs ResNet-50", lr=0.001, steps=1000, recursions=50, make=_photos_50, effort=_PHOTO_EFFORT
)
"""A table of its own: see `table1_resnet50`."""
