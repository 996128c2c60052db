"""How scores are computed: in which form, where, with how much memory.

What comes out is the same, but for an effort or a budget of memory too small to keep all of a network: this is said.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypedDict, get_args

import torch

from uniqueinfo.errors import InputError, known_names
from uniqueinfo.linearization.effort import DEFAULT, seconds_of
from uniqueinfo.memory import as_bytes
from uniqueinfo.samples.devices import as_device
from uniqueinfo.scoring.engine import Engine
from uniqueinfo.spectrum.choice import Form


class Where(TypedDict, total=False):
    """The options of `Execution`, as the score functions take them by name."""

    effort: str
    form: Form
    sketch: int | None
    memory: str | int | None
    device: torch.device | str | None
    engine: Engine | str | None
    folder: str | Path | None
    out: str | Path | None
    keep: bool | None
    threads: int | None
    progress: bool


@dataclass(frozen=True)
class Execution:
    """Where the work is done and what it may use.

    >>> Execution.of("score", {"memory": "4GB"}).memory
    '4GB'
    >>> Execution.of("score", {"memroy": "4GB"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: score: has no option memroy; did you mean 'memory'? There are ...
    """

    effort: str = DEFAULT
    """What it may take on two cores: "seconds", "minutes", "exact" at any cost, or a time like "2min". A network that
    would take longer is scored with less of it; what is left out, and what that costs, is kept."""
    form: Form = "auto"
    """"dual" decomposes a matrix of all rows, "primal" one of all columns; "auto" the smaller of the two."""
    sketch: int | None = None
    """Where both are too many to decompose: keep only so many directions exactly, and give every score an error."""
    memory: str | int | None = None
    """A budget such as "4GB"; half of what is free where none is named."""
    device: torch.device | str | None = None
    """Where the network and the algebra run; where the data lies when not given."""
    engine: Engine | str | None = None
    """Where partitions of the samples are worked on: "local", this process, or "dask", many at a time."""
    folder: str | Path | None = None
    """Keeps what is done so far (Jacobian rows or kernels, sums, eigenvectors): a killed run is gone on with."""
    out: str | Path | None = None
    """A run folder: the scores go there part by part, and stay there; beside them all that `folder` keeps."""
    keep: bool | None = None
    """Whether Jacobian rows that are needed twice stay on disk in between, or are computed again; None: the cheaper."""
    threads: int | None = None
    """How many threads to use, of those that torch may; as many as processors are free where none are named. With the
    same number the scores are the same bit for bit, with another to rounding."""
    progress: bool = True
    """Whether long steps show how far they are."""

    def __post_init__(self) -> None:
        as_device(self.device)
        seconds_of(self.effort)
        if self.memory is not None:
            as_bytes(self.memory)
        for name in ("folder", "out"):
            _check_path(name, getattr(self, name))
        if self.sketch is not None and (type(self.sketch) is not int or self.sketch < 1):
            raise InputError(f"sketch: expected how many directions to keep, 1 or more, got {self.sketch!r}")
        if not isinstance(self.form, str) or self.form not in get_args(Form):
            raise InputError(f'form: expected "auto", "dual" or "primal", got {self.form!r}')

    @classmethod
    def of(cls, caller: str, given: Where | dict[str, Any]) -> Execution:
        """From options by name; one that is not known is named, with the one that may be meant."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"{caller}: has no option {name}; {known_names(name, known)}")
        return cls(**given)

    @property
    def work(self) -> Path | None:
        """Where what is done so far is kept, if there is no run folder."""
        return None if self.folder is None else Path(self.folder)


def _check_path(name: str, path: object) -> None:
    if path is not None and (not isinstance(path, str | Path) or not str(path)):
        raise InputError(f"{name}: expected the path of a folder, got {path!r}")
