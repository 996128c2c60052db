"""Record a training whose loop is a library's: what its callbacks share."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

from uniqueinfo.errors import InputError, cause
from uniqueinfo.samples.border import PATH, WHOLE, check_fields, one_of
from uniqueinfo.training.loss_names import LOSSES
from uniqueinfo.training.overheard import Overheard
from uniqueinfo.training.recording import Recording

_SHARDED = ("DTensor", "FullyShardedDataParallel")


def callback_class(name: str, homes: tuple[str, ...], install: str) -> Any:
    """The library's class of this name, from the first of its homes that can be imported.

    Where none can, a class that cannot be made, and says what to `install`.
    """
    told = ""
    for home in homes:
        try:
            return getattr(import_module(home), name)
        except (ImportError, RuntimeError) as error:  # a library of another torch raises the second
            told = told or cause(error)

    class Missing:
        def __init__(self) -> None:
            raise InputError(f"{type(self).__name__}: {homes[0]} cannot be imported ({told}): pip install {install}")

    return Missing


@dataclass(eq=False)
class Hooked:
    """A recording that counts the steps of an optimizer by itself.

    It is called by the optimizer at the end of each of its steps: once for all batches whose gradients were
    accumulated, not for a step that mixed precision skipped, and before a schedule sets the rate of the next.
    """

    folder: str | Path
    loss: str
    checkpoints: int
    heard: Overheard | None = field(default=None, init=False, repr=False)
    """Tells which samples are in a batch, where that can be known."""
    _recording: Recording | None = field(default=None, init=False, repr=False)
    _handle: RemovableHandle | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, folder=PATH, loss=one_of(*LOSSES), checkpoints=WHOLE)

    @property
    def running(self) -> bool:
        """Whether there is a training to finish."""
        return self._recording is not None

    def begin(self, model: nn.Module, optimizer: Optimizer, *, done: int, clip: float | None = None) -> None:
        """Before the first step; `done`: the steps of a training that goes on from a checkpoint.

        `clip`: the norm that gradients are clipped to, where they are.
        """
        self.leave()
        model, optimizer = unwrapped(model), bare(optimizer)
        _check_whole(model)
        about: dict[str, Any] = {
            "loss": self.loss,
            "checkpoints": self.checkpoints,
            "clip": clip or None,
            "resume": done or None,
        }
        recording = Recording(self.folder, model, optimizer, **about)
        self._recording = recording
        self._handle = optimizer.register_step_post_hook(lambda *_: self.passed())

    def passed(self) -> None:
        """A batch was learnt from: the optimizer has stepped, or its gradients wait for the next step."""
        if self._recording is not None:
            self._recording.step(None if self.heard is None else self.heard.batch())

    def finish(self) -> None:
        """After the last step, while the network is as it left it; again, it does nothing."""
        if self._recording is not None:
            self._recording.finish()
        self.leave()

    def leave(self) -> None:
        """Count no further; what was recorded so far stays."""
        if self._handle is not None:
            self._handle.remove()
        self._handle = self._recording = None


def unwrapped(model: nn.Module) -> nn.Module:
    """The network itself, without what spreads it over processes or compiles it."""
    while True:
        if isinstance(model, DataParallel | DistributedDataParallel):
            model = model.module
        elif isinstance(inner := getattr(model, "_orig_mod", None), nn.Module):  # of torch.compile
            model = inner
        else:
            return model


def bare(optimizer: Optimizer) -> Optimizer:
    """The optimizer itself, without what a library wrapped it in."""
    while isinstance(inner := getattr(optimizer, "optimizer", None), Optimizer):
        optimizer = inner
    return optimizer


def _check_whole(model: nn.Module) -> None:
    parts = (*model.modules(), *model.parameters())
    if any(type(part).__name__ in _SHARDED for part in parts):
        raise InputError(
            "model: its parameters are cut in shards, one for each process, which cannot be recorded; train it with "
            "plain data parallelism (DDP)"
        )
