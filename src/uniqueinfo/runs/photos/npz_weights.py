"""Weights of a network that lie in an .npz file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import nn

from uniqueinfo.errors import InputError


def fill_from_npz(network: nn.Module, file: Path, fresh: str) -> None:
    """Fill a network from an .npz of tensors by name; parameters whose names start with `fresh` stay new."""
    with np.load(file, allow_pickle=False) as arrays:
        stored = {name: torch.from_numpy(arrays[name]).float() for name in arrays.files}
    own = {name: tensor for name, tensor in network.state_dict().items() if not name.startswith(fresh)}
    missing = [name for name in own if name not in stored and not name.endswith("num_batches_tracked")]
    if missing:
        raise InputError(f"{file} holds no {missing[0]!r}: it is not a file of weights for this network; name another")
    network.load_state_dict({name: stored[name] for name in own if name in stored}, strict=False)
