"""How the network is trained, from a name and the options that were given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from uniqueinfo.errors import InputError
from uniqueinfo.training import Training, trainings

AUTO: Literal["auto"] = "auto"


def choices() -> tuple[str, ...]:
    """What ``--training`` takes.

    >>> choices()
    ('auto', 'converged', 'descent', 'flow')
    """
    return (AUTO, *sorted(trainings()))


def chosen(name: str | None, given: Mapping[str, float]) -> Training | Literal["auto"]:
    """The training algorithm by name; without one, a rate or a number of steps means descent, and nothing means auto.

    >>> chosen("converged", {"weight_decay": 0.1})
    Converged(weight_decay=0.1, reduction='mean')
    >>> chosen(None, {"lr": 0.1, "steps": 20}).words()
    '20 steps of gradient descent at rate 0.1'
    """
    name = name or ("descent" if {"lr", "steps"} & given.keys() else AUTO)
    if name != AUTO:
        return trainings()[name].from_options(given)
    if given:
        flag = next(iter(given)).replace("_", "-")
        raise InputError(f"--training auto: chooses for itself and has no --{flag}; drop it, or say --training descent")
    return AUTO
