"""Photographs by whole residual networks, at the defaults, against one epoch of training them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.utils.data import ConcatDataset, Subset

import uniqueinfo as ui
from benchmarks.data import FOLDER
from uniqueinfo.experiments.data import Prepared, imagenet, load
from uniqueinfo.runs.photos.resnet18 import ResNet18
from uniqueinfo.runs.photos.resnet50 import ResNet50
from uniqueinfo.threads import sharing

Photos = ConcatDataset[tuple[torch.Tensor, int]] | Subset[tuple[torch.Tensor, int]]

_BATCH = 50
_SHARE = 10  # one validation photograph for so many to train on


@dataclass(frozen=True)
class Case:
    """A network, its photographs, and how many of them."""

    what: str
    network: Callable[[], nn.Module]
    data: str
    samples: int
    pixels: int


CASES = (
    Case(
        "ResNet-18, 5,000 digits of house numbers (SVHN) at 96 pixels, ten classes",
        lambda: ResNet18(10, FOLDER / "resnet18_imagenet_backbone.npz"),
        "svhn",
        5000,
        96,
    ),
    Case(
        "ResNet-50, 1,000 cats and dogs at 224 pixels, two classes",
        lambda: ResNet50(1, FOLDER / "resnet50_imagenet_v1.npz"),
        "cats_dogs",
        1000,
        224,
    ),
)


def photos(number: int, samples: int | None = None) -> dict[str, Any]:
    """Seconds of an epoch (forward and backward, no step of an optimizer), and of the scores; with less on request."""
    case = CASES[number]
    train, val = _drawn(case, case.samples if samples is None else samples)
    torch.manual_seed(0)
    network = case.network().eval()
    found: dict[str, Any] = {"what": case.what, "samples": len(train), "validation": len(val)}
    with sharing():
        found["epoch"] = _timed(lambda: _epoch(network, train))
    scores: list[ui.Scores] = []
    found["scores"] = _timed(lambda: scores.append(ui.score(network, train, val, progress=False)))
    (scored,) = scores
    assert scored.functional is not None
    assert np.isfinite(scored.functional).all()
    return found | {"kept": scored.settings["projection_why"], "agreement": scored.settings["agreement"]}


def _drawn(case: Case, samples: int) -> tuple[Photos, Photos]:
    """Photographs to train on, drawn at random from all parts, and a tenth as many others."""
    parts, preparation = load(case.data, FOLDER).parts.values(), imagenet(case.pixels)
    every: ConcatDataset[tuple[torch.Tensor, int]] = ConcatDataset([Prepared(part, preparation) for part in parts])
    order = np.random.default_rng(0).permutation(len(every)).tolist()
    return Subset(every, order[:samples]), Subset(every, order[samples : samples + samples // _SHARE])


def _epoch(network: nn.Module, train: Photos) -> None:
    """The loss of every batch, and its gradients."""
    for start in range(0, len(train), _BATCH):
        pairs = [train[index] for index in range(start, min(start + _BATCH, len(train)))]
        outputs = network(torch.stack([pixels for pixels, _ in pairs]))
        labels = torch.tensor([label for _, label in pairs])
        many = outputs.shape[1] > 1
        loss = cross_entropy(outputs, labels) if many else mse_loss(outputs[:, 0], labels.float())
        network.zero_grad()
        torch.autograd.backward(loss)
    network.zero_grad()


def _timed(work: Callable[[], object]) -> dict[str, float]:
    started, before = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - started, "processor": time.process_time() - before}
