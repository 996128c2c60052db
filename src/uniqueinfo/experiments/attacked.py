"""Photographs attacked through a fine-tuned copy of a network."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from uniqueinfo.experiments.data import Part, Preparation
from uniqueinfo.progress import progress

Attack = Callable[[nn.Module, Tensor, Any, float], Tensor]
"""Such as `fgsm`: network, inputs, labels and how far to go."""

_EPOCHS, _BATCH, _RATE = 10, 20, 0.0003
"""How the attacked network is trained; ten times this rate diverges."""


@dataclass(frozen=True, eq=False)
class Photos:
    """Photographs as pixels from 0 to 1, clean and attacked, and how well the fine-tuned copy knows them."""

    train: Tensor
    labels: NDArray[np.int64]
    val: Tensor
    val_labels: NDArray[np.int64]
    attacked: dict[str, Tensor]
    known: dict[str, float]


def attack_all(
    network: nn.Module,
    train: Part[Any],
    val: Part[Any],
    preparation: Preparation,
    attacks: Mapping[str, Attack],
    epsilon: float,
    seed: int,
) -> Photos:
    """Every training photograph, attacked through a fine-tuned copy."""
    pixels = Preparation((0.0,) * 3, (1.0,) * 3, preparation.size)
    clean, others = pixels.all(train.inputs), pixels.all(val.inputs)
    tuned = nn.Sequential(Normalized(preparation), _fine_tuned(network, preparation, clean, train.labels, seed)).eval()
    attacked = {name: attack(tuned, clean, train.labels, epsilon) for name, attack in attacks.items()}
    named = {"clean": clean, **attacked}
    known = {name: _accuracy(tuned, photos, train.labels) for name, photos in named.items()}
    return Photos(clean, train.labels, others, val.labels, attacked, known)


class Normalized(nn.Module):
    """Pixels from 0 to 1 as a network expects them."""

    def __init__(self, preparation: Preparation) -> None:
        super().__init__()
        self.mean, self.deviation = (
            torch.tensor(part)[:, None, None] for part in (preparation.mean, preparation.deviation)
        )

    def forward(self, pixels: Tensor) -> Tensor:
        """(pixel − mean)/deviation of each channel."""
        normalized: Tensor = (pixels - self.mean) / self.deviation
        return normalized


def _fine_tuned(
    network: nn.Module, preparation: Preparation, pixels: Tensor, labels: NDArray[np.int64], seed: int
) -> nn.Module:
    """A copy whose last block and layer are trained towards 0 and 1; statistics of batches stay as they are."""
    tuned = copy.deepcopy(network).eval()
    for name, parameter in tuned.named_parameters():
        parameter.requires_grad_(name.startswith(("layer4.1.", "fc.")))
    free = [parameter for parameter in tuned.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(free, lr=_RATE, momentum=0.9)
    inputs, targets = Normalized(preparation)(pixels), torch.from_numpy(labels).float()[:, None]
    generator = torch.Generator().manual_seed(seed)
    with progress("Fine-tuning", _EPOCHS * len(inputs)) as advance:
        for _ in range(_EPOCHS):
            for batch in torch.split(torch.randperm(len(inputs), generator=generator), _BATCH):
                optimizer.zero_grad()
                loss = (tuned(inputs[batch]) - targets[batch]).square().mean() / 2
                loss.backward()
                optimizer.step()
                advance(len(batch))
    return tuned


def _accuracy(network: nn.Module, pixels: Tensor, labels: NDArray[np.int64]) -> float:
    with torch.no_grad():
        outputs = torch.cat([network(part) for part in torch.split(pixels, _BATCH)])[:, 0].numpy()
    return float(((outputs > 0.5) == (labels == 1)).mean())
