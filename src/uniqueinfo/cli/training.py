"""How the network is trained, from a name and the options that were given."""

from __future__ import annotations

from collections.abc import Mapping

from uniqueinfo.training import Auto, Training, trainings


def choices() -> tuple[str, ...]:
    """What ``--training`` takes.

    >>> choices()
    ('auto', 'converged', 'descent', 'flow')
    """
    return tuple(sorted(trainings()))


def chosen(name: str | None, given: Mapping[str, float], loss: str = "mse") -> Training:
    """The training algorithm by name; without one, a rate or a number of steps means descent, and nothing means auto.

    >>> chosen("converged", {"weight_decay": 0.1})
    Converged(weight_decay=0.1, reduction='mean', loss='mse')
    >>> chosen(None, {"lr": 0.1, "steps": 20}).words()
    '20 steps of gradient descent at rate 0.1'
    """
    name = name or ("descent" if {"lr", "steps"} & given.keys() else Auto.name)
    return trainings()[name].from_options(given, loss)
