"""What a frozen network sees in samples: computed once, kept part by part in the run folder."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.progress import progress
from uniqueinfo.store.folder import OwnedFolder

if TYPE_CHECKING:
    from torch import nn

_BATCH = 32  # always so many together, so that the same pictures give the same numbers
_PART = 512  # samples in a file


def seen(
    network: nn.Module, inputs: Sequence[Any], name: str, folder: Path | None, device: str | None
) -> NDArray[np.float32]:
    """Features (n, width) of all inputs; those that lie in the folder under this name are not computed again."""
    from uniqueinfo.jacobian.guard import fingerprint

    kept = None if folder is None else OwnedFolder.open(folder, "features", {})
    mark = f"{fingerprint(network)} {tuple(inputs.shape[1:])}"  # type: ignore[attr-defined]
    found = []
    with progress("Looking at pictures", len(inputs), unit="pictures") as advance:
        for number, start in enumerate(range(0, len(inputs), _PART)):
            part = range(start, min(start + _PART, len(inputs)))
            known = None if kept is None else kept.read_arrays(f"{name}-{number:06}", mark)
            features = _computed(network, inputs, part, device) if known is None else known["features"]
            if kept is not None and known is None:
                kept.write_arrays(f"{name}-{number:06}", {"features": features}, mark)
            found.append(features)
            advance(len(part))
    return np.concatenate(found)


def trial(network: nn.Module, inputs: Sequence[Any], device: str | None) -> tuple[int, float]:
    """How many features there are, and the seconds they take for one picture, from looking at as many as go together.

    What that holds in memory the whole run will hold.
    """
    few = range(min(_BATCH, len(inputs)))
    started = time.perf_counter()
    features = _computed(network, inputs, few, device)
    return features.shape[1], (time.perf_counter() - started) / len(few)


def _computed(network: nn.Module, inputs: Sequence[Any], part: range, device: str | None) -> NDArray[np.float32]:
    import torch

    network = network.to(device or "cpu")
    found = []
    with torch.inference_mode():
        for start in range(part.start, part.stop, _BATCH):
            some = range(start, min(start + _BATCH, part.stop))
            batch = torch.from_numpy(np.stack([inputs[index] for index in some])).to(device or "cpu")
            found.append(network(batch).flatten(1).float().cpu().numpy())
    return np.concatenate(found)
