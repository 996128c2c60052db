"""A training that happened: followed along the checkpoints that a `Recording` kept, or that people have already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from uniqueinfo.errors import InputError
from uniqueinfo.samples.border import NUMBER, PATH, SEVERAL, TEXT, WHOLE, Kind, check_fields, one_of, takes
from uniqueinfo.store.folder import OwnedFolder
from uniqueinfo.training.algorithm import Filter, Reduction, Training, check_reduction
from uniqueinfo.training.flow import GradientFlow
from uniqueinfo.training.loss_names import LOSSES, LossFunction, check_loss
from uniqueinfo.training.optimizers import family, followed
from uniqueinfo.training.steps import Steps, read_steps, write_steps

if TYPE_CHECKING:
    from torch import Tensor

Place = Literal["empty", "next", "shuffled"]
KIND = "the recording of a training"
_INSTANT = 1e-12  # of the whole: what a stretch in which all rates were 0 is taken for
_BETA, _EPS = 0.999, 1e-8  # of Adam's second moments, as PyTorch has it
_SCALED = ("adam", "adamw", "nadam", "radam")


@dataclass(frozen=True)
class Recorded(Training):
    """A training kept in a folder by `Recording` (or by `from_checkpoints`)."""

    name: ClassVar[str] = ""  # no name on the command line: --recording DIR says all
    options: ClassVar[dict[str, str]] = {}

    folder: str | Path
    """Where the recording is."""
    loss: str | LossFunction = ""
    """As recorded, if not given."""
    reduction: Reduction = "mean"
    place: Place = "empty"
    """What is in the place of a sample that leaves.

    "empty": nothing, its batch is smaller. "next": the next one, where a loader that does not shuffle goes through the
    rest, and all behind move up. "shuffled": any other, where a loader that shuffles fills its batches with the rest,
    so that epochs have fewer steps. These are followed as steps of SGD that are as much shorter."""

    def __post_init__(self) -> None:
        check_fields(self, folder=PATH)
        object.__setattr__(self, "folder", str(self.folder))
        if isinstance(self.loss, str) and self.loss == "":
            object.__setattr__(self, "loss", self.about["loss"])
        check_loss(self.loss)
        check_reduction(self, self.reduction)
        check_fields(self, place=one_of(*get_args(Place)))
        if self.place == "shuffled" and self.about["optimizer"] != "SGD":
            raise InputError(
                f'place="shuffled": shorter gradients are shorter steps of SGD, not of {self.about["optimizer"]}; '
                "leave it out"
            )

    @property
    def in_closed_form(self) -> bool:
        """Its outputs are those of the network itself."""
        return False

    @cached_property
    def about(self) -> dict[str, Any]:
        """The optimizer, its options for each group of parameters, the loss, clipping."""
        owner = self._store.owner()
        assert owner is not None
        return dict(owner["identity"])

    @cached_property
    def points(self) -> list[dict[str, Any]]:
        """The checkpoints: their step and their file."""
        found: list[dict[str, Any]] = (self._store.read_json("points.json") or {"points": []})["points"]
        if len(found) < 2:
            raise InputError(f"{self.folder}: holds no more than a start; record some steps first")
        return found

    @cached_property
    def steps(self) -> Steps:
        """What happened in every step."""
        found, wanted = read_steps(self._store), int(self.points[-1]["step"])
        if found is None or len(found) < wanted:
            at = 0 if found is None else len(found)
            raise InputError(f"{self.folder}: the steps from {at} on are missing or damaged; record the training again")
        return found.until(wanted)

    @property
    def stretches(self) -> tuple[GradientFlow, ...]:
        """Between checkpoints: flow for the sum of the first group's rates, which momentum makes longer."""
        options = self.about["options"][0]
        momentum, dampening = (float(options.get(name, 0.0)) for name in ("momentum", "dampening"))
        length = (1 - dampening) / (1 - momentum) if momentum else 1.0
        decay, times = float(options.get("weight_decay", 0.0)), length * self.steps.times()
        ends = [times[point["step"]] for point in self.points]
        return tuple(
            GradientFlow(1.0, float(max(later - before, _INSTANT * ends[-1])), decay, self.reduction, self.loss)
            for before, later in pairwise(ends)
        )

    @property
    def trained(self) -> frozenset[str]:
        """The parameters that the optimizer had."""
        return frozenset(self.about["groups"])

    def state(self, number: int) -> dict[str, Tensor]:
        """Parameters and buffers of the network at a checkpoint."""
        return _under(_STATE, self._read(number))

    def moments(self, number: int) -> dict[str, Tensor]:
        """Second moments of the trained parameters at a checkpoint; empty where the optimizer has none."""
        return _under(_MOMENT, self._read(number))

    def scales(self) -> dict[str, Tensor]:
        """√P of every trained parameter, P what the optimizer multiplies its gradient by; empty where that is one.

        Adam divides by the root of the second moments: those at the end stand for all of the training. A group with
        another rate than the first has its ratio in P.
        """
        import torch

        last, about, rates = len(self.points) - 1, self.about, self.steps.rates.sum(axis=0)
        state, moments = self.state(last), self.moments(last)
        adam = family(about["optimizer"]) == "adam"
        found: dict[str, Tensor] = {}
        for name, group in about["groups"].items():
            scale = torch.full_like(state[name], float(rates[group] / rates[0]) if rates[0] else 1.0)
            if adam:
                options = about["options"][group]
                beta, eps = float(options.get("betas", (0.9, _BETA))[1]), float(options.get("eps", _EPS))
                if name not in moments:
                    raise InputError(
                        f"{self.folder}: the last checkpoint has no second moments of {name}, by which Adam divides; "
                        "hand them over with optimizer_states"
                    )
                unbiased = moments[name] / (1 - beta ** max(1, self.points[-1]["step"]))
                scale = scale / (unbiased.sqrt() + eps)
            found[name] = scale.sqrt()
        plain = not adam and all(bool((scale == 1).all()) for scale in found.values())
        return {} if plain else found

    def filter(self, samples: int) -> Filter:
        """Of the whole, as if its curvature had not changed."""
        stretches = self.stretches
        total = sum(stretch.time for stretch in stretches)
        return GradientFlow(1.0, total, stretches[0].weight_decay, self.reduction).filter(samples)

    def words(self) -> str:
        """With what was recorded."""
        return f"{self.points[-1]['step']:,} steps of {self.about['optimizer']}, as recorded{self.in_words()}"

    @property
    def length(self) -> float:
        """Steps."""
        return float(self.points[-1]["step"])

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
    @takes(
        checkpoints=SEVERAL,
        steps=SEVERAL,
        folder=PATH,
        optimizer=TEXT,
        options=Kind("a mapping of the optimizer's own options", (Mapping,)),
        loss=one_of(*LOSSES),
        clip=NUMBER,
        reduction=one_of("mean", "sum"),
        optimizer_states=SEVERAL,
    )
    def from_checkpoints(
        cls,
        checkpoints: Sequence[Mapping[str, Tensor]],
        steps: Sequence[int],
        *,
        folder: str | Path,
        lr: float | Sequence[float],
        optimizer: str = "sgd",
        options: Mapping[str, Any] | None = None,
        loss: str = "cross-entropy",
        clip: float | None = None,
        reduction: Reduction = "mean",
        optimizer_states: Sequence[Mapping[str, Tensor]] = (),
    ) -> Recorded:
        """From checkpoints that are there already: state_dicts, the first of the start, and the steps they are of.

        `checkpoints`, `steps`: these. `loss`, `reduction`: those it was trained with.
        `lr`: the rate, or the mean rate between each two checkpoints. `optimizer`: its name in PyTorch, "sgd", "adamw",
        …, and `options` what it was given beside its rate: momentum, weight_decay, betas, …
        `optimizer_states`: for Adam the second moments (exp_avg_sq) of each parameter by name, at the last checkpoint
        alone or at all but the first. `clip`: the norm that gradients were clipped to. `folder`: where the recording
        is written.
        """
        _check_all("checkpoints", checkpoints, Kind("state_dicts alone", (Mapping,)))
        _check_all("optimizer_states", optimizer_states, Kind("mappings of parameter to second moments", (Mapping,)))
        _check_all("steps", steps, replace(WHOLE, words="whole numbers"))
        if len(checkpoints) != len(steps) or len(steps) < 2 or steps[0] != 0 or sorted(set(steps)) != list(steps):
            raise InputError("steps: expected one for each checkpoint, rising from 0")
        if not NUMBER.fits(lr):
            replace(SEVERAL, words="one rate, or one for each stretch").check("lr", lr)
        rates = [lr] * (len(steps) - 1) if isinstance(lr, float | int) else list(lr)
        _check_all("lr", rates, replace(NUMBER, words="numbers"))
        if len(rates) != len(steps) - 1:
            raise InputError(
                f"lr: expected one rate, or one for each of the {len(steps) - 1} stretches, got {len(rates)}"
            )
        name, moments = followed(optimizer), list(optimizer_states)
        if name.lower() in _SCALED and not moments:
            raise InputError(
                "optimizer_states: Adam divides by its second moments (exp_avg_sq); hand over the last ones"
            )
        if len(moments) not in (0, 1, len(steps) - 1):
            raise InputError(
                f"optimizer_states: expected those of the last checkpoint, or of the last {len(steps) - 1}, got "
                f"{len(moments)}"
            )
        changed = [each for each, value in checkpoints[0].items() if bool((value != checkpoints[-1][each]).any())]
        trained = list(moments[-1]) if moments else changed
        identity = {
            "optimizer": name,
            "options": [_checked(name, options or {})],
            "loss": loss,
            "clip": clip,
            "groups": dict.fromkeys(trained, 0),
        }
        store = OwnedFolder.open(Path(folder), KIND, identity)
        known: list[Mapping[str, Tensor]] = [{}] * (len(steps) - len(moments)) + moments
        points: list[dict[str, Any]] = []
        for state, step, each in zip(checkpoints, steps, known, strict=True):
            points.append({"step": step, "file": f"point-{step:09}"})
            write_point(store, points[-1]["file"], state, each)
        write_steps(store, 0, Steps.even(steps, rates))
        store.write_json("points.json", {"points": points})
        return cls(folder, loss, reduction)


_STATE, _MOMENT = "state/", "moment/"


def write_point(store: OwnedFolder, name: str, state: Mapping[str, Tensor], moments: Mapping[str, Tensor]) -> None:
    """A checkpoint: the network's state, and the second moments of its trained parameters where there are any."""
    arrays = {f"{_STATE}{each}": value for each, value in state.items()}
    arrays |= {f"{_MOMENT}{each}": value for each, value in moments.items()}
    store.write_arrays(name, {each: value.detach().cpu().numpy() for each, value in arrays.items()})


def _check_all(name: str, values: Sequence[object], kind: Kind) -> None:
    for value in values:
        kind.check(name, value)


def _under(prefix: str, arrays: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name[len(prefix) :]: value for name, value in arrays.items() if name.startswith(prefix)}


def _checked(optimizer: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse what the optimizer does not take."""
    import torch

    from uniqueinfo.training.optimizers import made

    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
    try:
        made(optimizer, [torch.nn.Parameter(torch.zeros(1))], [plain])
    except (TypeError, ValueError) as error:
        raise InputError(f"options: {optimizer} refuses them ({error}); name what it was made with") from error
    return plain
