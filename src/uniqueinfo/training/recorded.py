"""A training that happened: followed along the checkpoints that a `Recording` kept, or that people have already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from uniqueinfo.errors import InputError
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.training.algorithm import Filter, Reduction, Training, check_reduction
from uniqueinfo.training.flow import GradientFlow
from uniqueinfo.training.loss_names import LossFunction, check_loss

if TYPE_CHECKING:
    from torch import Tensor

KIND = "the recording of a training"
_BETA = 0.999  # of Adam's second moments, as PyTorch has it
_INSTANT = 1e-12  # of the whole: what a stretch in which all rates were 0 is taken for
FAMILIES = {"SGD": "sgd", "Adam": "adam", "AdamW": "adam", "NAdam": "adam", "RAdam": "adam"}
"""Optimizers that can be followed: by plain gradients, or by gradients over the root of their second moments."""


@dataclass(frozen=True)
class Recorded(Training):
    """A training kept in a folder by `Recording` (or by `from_checkpoints`)."""

    name: ClassVar[str] = ""  # no name on the command line: --recording DIR says all
    options: ClassVar[dict[str, str]] = {}

    folder: str | Path
    loss: str | LossFunction = ""
    """As recorded, if not given."""
    reduction: Reduction = "mean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", str(self.folder))
        if self.loss == "":
            object.__setattr__(self, "loss", self._about["loss"])
        check_loss(self.loss)
        check_reduction(self, self.reduction)

    @property
    def in_closed_form(self) -> bool:
        """Its outputs are those of the network itself."""
        return False

    @property
    def points(self) -> list[dict[str, Any]]:
        """The checkpoints: their step, the sums of rates of each group until there, and their file."""
        found: list[dict[str, Any]] = (self._store.read_json("points.json") or {"points": []})["points"]
        if len(found) < 2:
            raise InputError(f"{self.folder}: holds no more than a start; record some steps first")
        return found

    @property
    def stretches(self) -> tuple[GradientFlow, ...]:
        """Between checkpoints: flow for the sum of the rates, in units of the first group's."""
        points, decay = self.points, float(self._about["weight_decay"])
        times = [point["time"][0] for point in points]
        return tuple(
            GradientFlow(1.0, max(later - before, _INSTANT * times[-1]), decay, self.reduction, self.loss)
            for before, later in pairwise(times)
        )

    @property
    def is_sgd(self) -> bool:
        """Whether steps go along the gradients themselves, one rate for all."""
        return self._about["family"] == "sgd" and len(self.points[0]["time"]) == 1

    @property
    def momentum(self) -> float:
        """Of SGD."""
        return float(self._about["momentum"])

    @property
    def weight_decay(self) -> float:
        """As the optimizer had it."""
        return float(self._about["weight_decay"])

    def rates(self, numbers: Sequence[int]) -> list[tuple[int, float]]:
        """Steps between each two of these checkpoints, and the mean rate of one."""
        found, points = [], self.points
        for before, later in pairwise([points[number] for number in numbers]):
            count = later["step"] - before["step"]
            found.append((count, (later["time"][0] - before["time"][0]) * (1 - self.momentum) / count))
        return found

    @property
    def trained(self) -> frozenset[str]:
        """The parameters that the optimizer had."""
        return frozenset(self._about["groups"])

    def state(self, number: int) -> dict[str, Tensor]:
        """Parameters and buffers of the network at a checkpoint."""
        return {name[len(_STATE) :]: value for name, value in self._read(number).items() if name.startswith(_STATE)}

    def scales(self) -> dict[str, Tensor]:
        """√P of every trained parameter, P what the optimizer multiplies its gradient by; empty where that is one.

        Adam divides by the root of the second moments: those at the end stand for all of the training, as early ones
        are tiny. A group with another rate than the first has its ratio in P.
        """
        import torch

        points, about = self.points, self._about
        last, moments = points[-1], self._read(len(points) - 1)
        found: dict[str, Tensor] = {}
        for name, group in about["groups"].items():
            ratio = last["time"][group] / last["time"][0]
            value = moments[f"{_STATE}{name}"]
            scale = torch.full_like(value, ratio)
            if about["family"] == "adam":
                seen = moments.get(f"{_MOMENT}{name}")
                if seen is None:
                    raise InputError(
                        f"{self.folder}: the last checkpoint has no second moments of {name}, by which Adam divides; "
                        "hand them over with optimizer_states"
                    )
                unbiased = seen / (1 - about["beta"] ** max(1, last["step"]))
                scale = scale / (unbiased.sqrt() + about["eps"])
            found[name] = scale.sqrt()
        plain = about["family"] == "sgd" and all(bool((scale == 1).all()) for scale in found.values())
        return {} if plain else found

    def filter(self, samples: int) -> Filter:
        """Of the whole, as if its curvature had not changed."""
        total = sum(stretch.time for stretch in self.stretches)
        return GradientFlow(1.0, total, float(self._about["weight_decay"]), self.reduction).filter(samples)

    def words(self) -> str:
        """With what was recorded."""
        about, last = self._about, self.points[-1]
        return f"{last['step']:,} steps of {about['optimizer']}, as recorded{self.in_words()}"

    @property
    def length(self) -> float:
        """Steps."""
        return float(self.points[-1]["step"])

    @cached_property
    def _about(self) -> dict[str, Any]:
        owner = self._store.owner()
        assert owner is not None
        return dict(owner["identity"])

    @property
    def _store(self) -> OwnedFolder:
        return OwnedFolder.find(Path(self.folder), KIND)

    def _read(self, number: int) -> dict[str, Tensor]:
        import torch

        name = self.points[number]["file"]
        found = self._store.read_arrays(name)
        if found is None:
            raise InputError(f"{self.folder}: checkpoint {name} is missing or damaged; record the training again")
        return {each: torch.from_numpy(array) for each, array in found.items()}

    @classmethod
    def from_checkpoints(
        cls,
        checkpoints: Sequence[Mapping[str, Tensor]],
        steps: Sequence[int],
        *,
        folder: str | Path,
        lr: float | Sequence[float],
        optimizer: str = "sgd",
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        loss: str = "cross-entropy",
        reduction: Reduction = "mean",
        optimizer_states: Sequence[Mapping[str, Tensor]] = (),
    ) -> Recorded:
        """From checkpoints that are there already: state_dicts, the first of the start, and the steps they are of.

        `lr`: the rate, or the mean rate between each two checkpoints. `optimizer`: "sgd", "adam" or "adamw".
        `optimizer_states`: for Adam the second moments (exp_avg_sq) of each parameter at the last checkpoint, by name.
        `folder`: where the recording is written.
        """
        if len(checkpoints) != len(steps) or len(steps) < 2 or steps[0] != 0 or sorted(set(steps)) != list(steps):
            raise InputError("steps: expected one for each checkpoint, rising from 0")
        rates = [lr] * (len(steps) - 1) if isinstance(lr, float | int) else list(lr)
        if len(rates) != len(steps) - 1:
            raise InputError(
                f"lr: expected one rate, or one for each of the {len(steps) - 1} stretches, got {len(rates)}"
            )
        if optimizer.lower() not in ("sgd", "adam", "adamw"):
            raise InputError(f'optimizer: expected "sgd", "adam" or "adamw", got {optimizer!r}; name the closest')
        family = "sgd" if optimizer.lower() == "sgd" else "adam"
        moments = optimizer_states[-1] if optimizer_states else {}
        if family == "adam" and not moments:
            raise InputError(
                "optimizer_states: Adam divides by its second moments (exp_avg_sq); hand over the last ones"
            )
        changed = [name for name, value in checkpoints[0].items() if bool((value != checkpoints[-1][name]).any())]
        trained = list(moments) or changed
        identity = {
            "optimizer": optimizer,
            "family": family,
            "loss": loss,
            "weight_decay": weight_decay,
            "momentum": momentum if family == "sgd" else 0.0,
            "beta": _BETA,
            "eps": 1e-8,
            "groups": dict.fromkeys(trained, 0),
        }
        store = OwnedFolder.open(Path(folder), KIND, identity)
        points, time = [], 0.0
        for number, (state, step) in enumerate(zip(checkpoints, steps, strict=True)):
            if number:
                factor = 1.0 if family == "adam" else 1 / (1 - momentum)
                time += rates[number - 1] * factor * (step - steps[number - 1])
            name = f"point-{step:09}"
            points.append({"step": step, "time": [time], "file": name})
            write_point(store, name, state, moments if number == len(steps) - 1 else {})
        store.write_json("points.json", {"points": points})
        return cls(folder, loss, reduction)


_STATE, _MOMENT = "state/", "moment/"


def write_point(store: OwnedFolder, name: str, state: Mapping[str, Tensor], moments: Mapping[str, Tensor]) -> None:
    """A checkpoint: the network's state, and the second moments of its trained parameters where there are any."""
    arrays = {f"{_STATE}{each}": value for each, value in state.items()}
    arrays |= {f"{_MOMENT}{each}": value for each, value in moments.items()}
    store.write_arrays(name, {each: value.detach().cpu().numpy() for each, value in arrays.items()})
