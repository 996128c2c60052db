"""Calling a network on a batch of inputs, and reading its outputs as (b, k)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from uniqueinfo.errors import InputError, UniqueInfoError, cause
from uniqueinfo.samples.datasets import Inputs, leaves, map_leaves


def call(model: nn.Module, inputs: Inputs) -> Any:
    """The model on a batch: a tensor as it is, a tuple by position, a dict by keyword."""
    if isinstance(inputs, dict):
        return model(**inputs)
    return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """Whatever the user's network raises meanwhile is told as such; running out of memory is not its fault."""
    try:
        yield
    except (UniqueInfoError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:
        if "memory" in str(error):  # of the CPU, which torch tells in several ways
            raise
        raise InputError(
            f"the network fails on {what} ({type(error).__name__}: {cause(error)}); check that it takes inputs of "
            "their shape and type"
        ) from error


def outputs_of(result: Any) -> Tensor:
    """The output tensor of what a model returned: the tensor itself, or its `.logits`."""
    outputs = getattr(result, "logits", result)
    if not isinstance(outputs, Tensor) or outputs.ndim not in (1, 2):
        found = f"shape {tuple(outputs.shape)}" if isinstance(outputs, Tensor) else type(outputs).__name__
        raise InputError(
            f"the network returned {found}, but a tensor of shape (batch,) or (batch, outputs), or an object "
            "with such `.logits`, is needed: wrap the network in a module that returns one"
        )
    if not outputs.is_floating_point():
        raise InputError(
            f"the network returned {outputs.dtype}, but real numbers are needed: return floats, such as the real part"
        )
    return outputs


def batch_size(inputs: Inputs) -> int:
    """The number of samples in a batch."""
    return len(next(iter(leaves(inputs).values())))


def repeat_to(inputs: Inputs, size: int) -> Inputs:
    """A batch of `size` samples made from those of `inputs`, in turn."""
    index = torch.arange(size) % batch_size(inputs)
    taken: Inputs = map_leaves(inputs, lambda _, leaf: leaf[index.to(leaf.device)])
    return taken
