"""What a frozen network sees in pictures: computed once, kept in a cache folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from uniqueinfo.experiments.data.dataset import Part
from uniqueinfo.experiments.data.pictures import Pictures, Preparation
from uniqueinfo.experiments.kept import kept
from uniqueinfo.jacobian.guard import fingerprint
from uniqueinfo.progress import progress

_BATCH = 50


def features(
    network: nn.Module, part: Part[Any], preparation: Preparation, cache: Path | None = None
) -> NDArray[np.float32]:
    """The network's outputs in eval mode, (n, width); put nn.Identity() in place of its last layer for features.

    `cache` is a folder: outputs of the same network, preparation and pictures are read from there the next time.
    """
    told = f"{fingerprint(network)} {preparation} {part.inputs.digest()}".encode()
    return kept(cache, "features", told, lambda: _compute(network, part.inputs, preparation))


def _compute(network: nn.Module, pictures: Pictures, preparation: Preparation) -> NDArray[np.float32]:
    training, device = network.training, next(network.parameters()).device
    network.eval()
    found = []
    try:
        with torch.inference_mode(), progress("Features", len(pictures), unit="pictures") as advance:
            for start in range(0, len(pictures), _BATCH):
                batch = range(start, min(start + _BATCH, len(pictures)))
                inputs = torch.stack([preparation(pictures[index]) for index in batch])
                found.append(network(inputs.to(device)).cpu().float().numpy())
                advance(len(batch))
    finally:
        network.train(training)
    return np.concatenate(found)
