"""Weights by name, from files that never run code, into networks."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from uniqueinfo.errors import InputError, cause

if TYPE_CHECKING:
    from torch import Tensor, nn


def read_weights(path: Path, option: str = "--weights") -> dict[str, Tensor]:
    """Tensors by name; a file that holds anything but tensors is refused, for opening it could run code."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"{option} {path}: is not a safetensors file, or is damaged ({cause(error)}); save it again"
            ) from error
    if path.suffix not in (".pth", ".pt", ".bin"):
        raise InputError(f"{option} {path}: give a .safetensors or .pth file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's remarks on pickle protocols
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{option} {path}: holds more than tensors, or is damaged, and opening it could run code; save "
            "model.state_dict() alone, or as .safetensors"
        ) from error
    except Exception as error:  # torch raises what the damaged file makes it stumble over
        raise InputError(
            f"{option} {path}: cannot be read ({cause(error)}); save it again, or fetch it again"
        ) from error
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(found, Mapping) and isinstance(found.get(key), Mapping):
            found = found[key]
    if not isinstance(found, Mapping) or not all(isinstance(tensor, torch.Tensor) for tensor in found.values()):
        raise InputError(f"{option} {path}: holds no tensors by name; save model.state_dict()")
    return {str(name).removeprefix("module."): tensor for name, tensor in found.items()}


def fill(network: nn.Module, stored: Mapping[str, Tensor], source: str) -> list[str]:
    """Load weights by name; only the last layer may be missing or of another shape; it stays fresh, and is named."""
    own = network.state_dict()
    fits = {name: stored[name] for name, tensor in own.items() if name in stored and stored[name].shape == tensor.shape}
    last = [name for name, _ in network.named_parameters()][-1].rpartition(".")[0]
    wrong = [n for n in own if n not in fits and n.rpartition(".")[0] != last and not n.endswith("num_batches_tracked")]
    if wrong:
        found = "holds no such tensor" if wrong[0] not in stored else f"has it as {tuple(stored[wrong[0]].shape)}"
        raise InputError(
            f"--weights {source}: the network's {wrong[0]} is {tuple(own[wrong[0]].shape)}, and the file {found}; "
            "it is of another network"
        )
    network.load_state_dict(fits, strict=False)
    return [name for name in own if name not in fits and not name.endswith("num_batches_tracked")]


def say_fresh(fresh: list[str], stored: Mapping[str, Tensor], source: str) -> None:
    """Warn of a last layer that was not in the file, as far as there is one."""
    if fresh:
        found = "holds none of that name" if fresh[0] not in stored else "has it for another number of outputs"
        warnings.warn(
            f"--weights {source}: the network's last layer ({', '.join(fresh)}) is not taken from the file, which "
            f"{found}; it starts from random values",
            stacklevel=3,
        )
