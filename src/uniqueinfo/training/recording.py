"""Keep what following a training needs, in the user's own loop: one line after `optimizer.step()`."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from uniqueinfo.errors import InputError
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.training.loss_names import LOSSES, check_loss
from uniqueinfo.training.recorded import FAMILIES, KIND, Recorded, write_point

_RATIO = 1.5  # of the steps of two checkpoints, at least


class Recording:
    """A few checkpoints of a training, geometric in time, with the sums of the rates between them.

        recording = Recording("recording", model, optimizer)
        for inputs, labels in loader:
            ...
            optimizer.step()
            recording.step()
        recording.finish()

    Killed, it holds the training until its last checkpoint. A run that goes on from the user's own checkpoint hands
    the number of its steps over as `resume`. Clipping of gradients is not seen: a training that clips all the time is
    followed as if it had stepped further than it has. Gradients that are accumulated over several batches count once,
    with their optimizer step.
    """

    def __init__(
        self,
        folder: str | Path,
        model: nn.Module,
        optimizer: Optimizer,
        *,
        loss: str = "cross-entropy",
        checkpoints: int = 8,
        resume: int | None = None,
    ) -> None:
        """`checkpoints`: at most so many are kept beside the start and the end. `resume`: steps done before."""
        check_loss(loss)
        if callable(loss) or checkpoints < 1:
            raise InputError(f"Recording: expected a loss of {', '.join(LOSSES)} and at least 1 checkpoint")
        self._model, self._optimizer, self._most = model, optimizer, checkpoints
        self._names = _names(model, optimizer)
        identity = _identity(model, optimizer, self._names, loss)
        self._store = _opened(Path(folder), identity, resume)
        self._points: list[dict[str, Any]] = []
        self._step, self._time = 0, [0.0 for _ in optimizer.param_groups]
        if resume is not None:
            self._go_on(resume)
        else:
            self._keep()

    @property
    def bytes(self) -> int:
        """What one checkpoint takes on disk."""
        moments = 2 if FAMILIES[type(self._optimizer).__name__] == "adam" else 1
        each: int = sum(value.nbytes for value in _state(self._model).values())
        return each * moments

    def step(self) -> None:
        """After every `optimizer.step()`."""
        self._step += 1
        for number, group in enumerate(self._optimizer.param_groups):
            self._time[number] += _rate(group)
        if self._step >= self._next:
            self._keep()

    def finish(self) -> Recorded:
        """After the last step: keep the end."""
        if self._step > self._points[-1]["step"]:
            self._keep(last=True)
        return Recorded(self._store.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.finish()

    def _keep(self, *, last: bool = False) -> None:
        name = f"point-{self._step:09}"
        write_point(self._store, name, _state(self._model), self._moments())
        self._points.append({"step": self._step, "time": list(self._time), "file": name})
        dropped = [] if last else self._thinned()
        self._store.write_json("points.json", {"points": self._points})
        for point in dropped:
            self._store.remove(f"{point['file']}.safetensors")
        self._next = max(self._step + 1, math.ceil(_RATIO * self._step))

    def _thinned(self) -> list[dict[str, Any]]:
        """Take out checkpoints that are closest to their neighbours, while there are too many."""
        dropped = []
        while len(self._points) > self._most + 1:
            inner = range(1, len(self._points) - 1)
            closest = min(inner, key=lambda at: self._points[at + 1]["step"] / max(1, self._points[at - 1]["step"]))
            dropped.append(self._points.pop(closest))
        return dropped

    def _moments(self) -> dict[str, Tensor]:
        if FAMILIES[type(self._optimizer).__name__] != "adam":
            return {}
        state = self._optimizer.state
        known: dict[Tensor, str] = {parameter: name for name, parameter in self._model.named_parameters()}
        return {known[parameter]: held["exp_avg_sq"] for parameter, held in state.items() if "exp_avg_sq" in held}

    def _go_on(self, step: int) -> None:
        found = (self._store.read_json("points.json") or {"points": []})["points"]
        self._points = [point for point in found if point["step"] <= step]
        if not self._points:
            raise InputError(f"resume: nothing was recorded up to step {step}; begin with a new folder")
        before = self._points[-1]
        behind = step - before["step"]  # their rates were not kept: those of now stand for them
        rates = [_rate(group) for group in self._optimizer.param_groups]
        self._time = [time + behind * rate for time, rate in zip(before["time"], rates, strict=True)]
        self._step = step
        self._next = max(step + 1, math.ceil(_RATIO * before["step"]))


def _opened(folder: Path, identity: dict[str, Any], resume: int | None) -> OwnedFolder:
    store = OwnedFolder.open(folder, KIND, identity)
    if resume is None and store.has("points.json"):
        raise InputError(
            f"{folder}: holds a recording already; name a new folder, or say resume=STEPS to go on with it"
        )
    return store


def _identity(model: nn.Module, optimizer: Optimizer, names: dict[str, int], loss: str) -> dict[str, Any]:
    kind = type(optimizer).__name__
    if kind not in FAMILIES:
        raise InputError(
            f"optimizer: {kind} is not followed; SGD (with momentum or Nesterov), Adam and AdamW are. For others, hand "
            "their checkpoints to Recorded.from_checkpoints with the rates that come closest"
        )
    first = optimizer.param_groups[0]
    return {
        "optimizer": kind,
        "family": FAMILIES[kind],
        "loss": loss,
        "weight_decay": _decay(kind, optimizer.param_groups),
        "momentum": float(first.get("momentum", 0.0)) if FAMILIES[kind] == "sgd" else 0.0,
        "beta": float(first.get("betas", (0.0, 0.0))[1]),
        "eps": float(first.get("eps", 0.0)),
        "groups": names,
    }


def _decay(kind: str, groups: list[dict[str, Any]]) -> float:
    """One for all parameters: that of most of them; said where it is not that of all."""
    counted: dict[float, int] = {}
    for group in groups:
        decay = float(group.get("weight_decay", 0.0))
        counted[decay] = counted.get(decay, 0) + sum(parameter.numel() for parameter in group["params"])
    found = max(counted, key=counted.__getitem__)
    if kind not in ("SGD", "AdamW") and set(counted) != {0.0}:
        warnings.warn(f"{kind} adds its weight decay to the gradients, which is left out of account here", stacklevel=4)
        return 0.0
    if len(counted) > 1:
        told = ", ".join(f"{decay:g}" for decay in sorted(counted))
        warnings.warn(
            f"groups have weight decays {told}; that of most parameters, {found:g}, is followed", stacklevel=4
        )
    return found


def _names(model: nn.Module, optimizer: Optimizer) -> dict[str, int]:
    """Trained parameters by name, with the number of their group."""
    known = {parameter: name for name, parameter in model.named_parameters()}
    found = {}
    for number, group in enumerate(optimizer.param_groups):
        for parameter in group["params"]:
            if parameter not in known:
                raise InputError(
                    "optimizer: trains a parameter that is none of the model's; hand over the model it trains"
                )
            if parameter.requires_grad:
                found[known[parameter]] = number
    return found


def _rate(group: dict[str, Any]) -> float:
    """Of one step: SGD's momentum makes it longer."""
    rate = float(group["lr"])
    if "momentum" in group and "betas" not in group:
        rate *= (1 - float(group.get("dampening", 0.0)) if group["momentum"] else 1.0) / (1 - float(group["momentum"]))
    return rate


def _state(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach() for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}
