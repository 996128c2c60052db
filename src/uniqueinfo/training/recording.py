"""Keep what following a training needs, in the user's own loop: one line after `optimizer.step()`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from uniqueinfo.errors import InputError
from uniqueinfo.samples.border import NUMBER, PATH, WHOLE, Kind, one_of, takes
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.training.loss_names import LOSSES
from uniqueinfo.training.optimizers import followed, options_of
from uniqueinfo.training.recorded import KIND, Recorded, write_point
from uniqueinfo.training.steps import Steps, keep_only, read_steps, write_steps

_RATIO = 1.5  # of the steps of two checkpoints, at least
_HELD = 200  # steps that are held before they are written, at most: so many may be lost with a killed process

Positions = Sequence[int] | Tensor
"""Where samples stand in the training data."""


class Recording:
    """A few checkpoints of a training, geometric in time, and what passed by in every step between them.

        recording = Recording("recording", model, optimizer)
        for positions, inputs, labels in loader:
            outputs = model(inputs)
            ...
            optimizer.step()
            recording.step(positions, outputs)
        recording.finish()

    `positions` say which samples of the training data were in the batch; with them scores know the order of the
    batches. `outputs` are what the network said of them, dropout included. Both may be left out. Where gradients are
    accumulated, call `step` after every backward pass or after every optimizer step: samples count with the optimizer
    step that follows them.

    `folder`: a new one, or that of a recording to go on with. `model`, `optimizer`: those of the loop. `loss`: its
    name.

    Killed, it holds the training until its last checkpoint. A run that goes on from the user's own checkpoint hands
    the number of its steps over as `resume`.
    """

    @takes(
        folder=PATH,
        model=Kind("a network (torch.nn.Module)", (nn.Module,)),
        optimizer=Kind("its optimizer (torch.optim)", (Optimizer,)),
        loss=one_of(*LOSSES),
        checkpoints=WHOLE,
        clip=NUMBER,
        resume=WHOLE,
    )
    def __init__(
        self,
        folder: str | Path,
        model: nn.Module,
        optimizer: Optimizer,
        *,
        loss: str = "cross-entropy",
        checkpoints: int = 8,
        clip: float | None = None,
        resume: int | None = None,
    ) -> None:
        """`checkpoints`: at most so many are kept beside the start and the end. `resume`: steps done before.

        `clip`: the norm that gradients are clipped to, where they are.
        """
        if checkpoints < 1:
            raise InputError(f"checkpoints: expected at least 1, got {checkpoints}")
        self._model, self._optimizer, self._most = model, optimizer, checkpoints
        identity = {
            "optimizer": followed(type(optimizer).__name__),
            "options": [options_of(optimizer, group) for group in optimizer.param_groups],
            "loss": loss,
            "clip": clip,
            "groups": _names(model, optimizer),
        }
        self._store = _opened(Path(folder), identity, resume)
        self._points: list[dict[str, Any]] = []
        self._step = self._written = 0
        self._rates: list[list[float]] = []
        self._sizes: list[int] = []
        self._passed: list[Tensor] = []
        self._said: list[Tensor] = []
        self._waiting = 0
        optimizer.register_step_post_hook(lambda *_: self._stepped())
        if resume is not None:
            self._go_on(resume)
        else:
            self._keep()

    @property
    def bytes(self) -> int:
        """What one checkpoint takes on disk."""
        held = [*_state(self._model).values(), *self._moments().values()]
        return sum(value.nbytes for value in held)

    def step(self, positions: Positions | None = None, outputs: Tensor | None = None) -> None:
        """After every `optimizer.step()`.

        `positions`: which samples were in the batch. `outputs`: what the network said of them.
        """
        if positions is not None:
            passed = torch.as_tensor(positions).detach().reshape(-1)
            if outputs is not None and len(outputs) != len(passed):
                raise InputError(f"Recording.step: {len(passed)} positions and outputs of {len(outputs)} samples")
            self._passed.append(passed)
            self._waiting += len(passed)
            if outputs is not None:
                self._said.append(outputs.detach().reshape(len(passed), -1))
        before = self._step
        self._step = self._written + len(self._rates)
        if self._step > before:
            self._sizes += [0] * (self._step - before - 1) + [self._waiting]
            self._waiting = 0
        if self._step >= self._next:
            self._keep()
        elif len(self._rates) >= _HELD:
            self._write()

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

    def _stepped(self) -> None:
        """The optimizer has stepped, with these rates; a schedule may change them before `step` is called."""
        self._rates.append([float(group["lr"]) for group in self._optimizer.param_groups])

    def _keep(self, *, last: bool = False) -> None:
        self._write()
        name = f"point-{self._step:09}"
        write_point(self._store, name, _state(self._model), self._moments())
        self._points.append({"step": self._step, "file": name})
        dropped = [] if last else self._thinned()
        self._store.write_json("points.json", {"points": self._points})
        for point in dropped:
            self._store.remove(f"{point['file']}.safetensors")
        self._next = max(self._step + 1, math.ceil(_RATIO * self._step))

    def _write(self) -> None:
        """Keep the steps since the last time; what was not told of all of them is not kept of any."""
        if not self._rates:
            return
        rates, sizes = np.array(self._rates), np.array(self._sizes, dtype=np.intp)
        steps = Steps(rates)
        if self._passed and sizes.all():
            stepped = int(sizes.sum())  # the last gradients may have been accumulated for a step that never came
            passed = torch.cat(self._passed)[:stepped].cpu().numpy().astype(np.intp)
            said = torch.cat(self._said)[:stepped].float().cpu().numpy() if self._said else None
            steps = Steps(rates, sizes, passed, said if said is not None and len(said) == len(passed) else None)
        write_steps(self._store, self._written, steps)
        self._written += len(rates)
        self._rates, self._sizes, self._passed, self._said = [], [], [], []

    def _thinned(self) -> list[dict[str, Any]]:
        """Take out checkpoints that are closest to their neighbours, while there are too many."""
        dropped = []
        while len(self._points) > self._most + 1:
            inner = range(1, len(self._points) - 1)
            closest = min(inner, key=lambda at: self._points[at + 1]["step"] / max(1, self._points[at - 1]["step"]))
            dropped.append(self._points.pop(closest))
        return dropped

    def _moments(self) -> dict[str, Tensor]:
        """Second moments of the gradients, where the optimizer divides by them."""
        state = self._optimizer.state
        known: dict[Tensor, str] = {parameter: name for name, parameter in self._model.named_parameters()}
        return {known[parameter]: held["exp_avg_sq"] for parameter, held in state.items() if "exp_avg_sq" in held}

    def _go_on(self, step: int) -> None:
        found = (self._store.read_json("points.json") or {"points": []})["points"]
        self._points = [point for point in found if point["step"] <= step]
        if not self._points:
            raise InputError(f"resume: nothing was recorded up to step {step}; name a new folder, and leave resume out")
        kept = read_steps(self._store)
        kept = None if kept is None else kept.until(step)
        keep_only(self._store, kept)
        self._written = 0 if kept is None else len(kept)
        for _ in range(step - self._written):  # they were lost: the rates of now stand for theirs
            self._stepped()
        self._step, self._sizes = step, [0] * (step - self._written)
        self._next = max(step + 1, math.ceil(_RATIO * self._points[-1]["step"]))


def _opened(folder: Path, identity: dict[str, Any], resume: int | None) -> OwnedFolder:
    store = OwnedFolder.open(folder, KIND, identity)
    if resume is None and store.has("points.json"):
        raise InputError(
            f"{folder}: holds a recording already; name a new folder, or say resume=STEPS to go on with it"
        )
    return store


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


def _state(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach() for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}
