"""Inputs and targets as one set of named inputs, for networks that are asked about both."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from uniqueinfo.samples.datasets import Inputs
from uniqueinfo.types import Labels

# With a space, so that no argument of a network is called like this.
_TARGET = "the target"
_ALONE = "the input"
_PLACE = "input "


def joined(inputs: Inputs, targets: Labels) -> dict[str, Tensor]:
    """All of them by name; without targets there is none among them.

    >>> import numpy as np
    >>> sorted(joined((torch.zeros(2), torch.ones(2)), np.array([0, 1])))
    ['input 0', 'input 1', 'the target']
    """
    if isinstance(inputs, dict):
        named = dict(inputs)
    elif isinstance(inputs, tuple):
        named = {f"{_PLACE}{number}": leaf for number, leaf in enumerate(inputs)}
    else:
        named = {_ALONE: inputs}
    return named if targets is None else {**named, _TARGET: torch.from_numpy(targets)}


def parted(named: Mapping[str, Tensor]) -> tuple[Inputs, Tensor | None]:
    """`joined` the other way round: inputs in the form they had, and targets where there are any.

    >>> parted(joined(torch.tensor([1.0]), None))
    (tensor([1.]), None)
    """
    inputs = {name: leaf for name, leaf in named.items() if name != _TARGET}
    target = named.get(_TARGET)
    if _ALONE in inputs:
        return inputs[_ALONE], target
    if f"{_PLACE}0" in inputs:
        return tuple(inputs[f"{_PLACE}{number}"] for number in range(len(inputs))), target
    return inputs, target
