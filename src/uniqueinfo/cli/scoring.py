"""The options of ``uniqueinfo score``; those that belong together travel together."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uniqueinfo.cli.options import one_of
from uniqueinfo.cli.training import choices, chosen
from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.choice import kinds
from uniqueinfo.training import Recorded
from uniqueinfo.training.loss_names import LOSSES, SQUARED

if TYPE_CHECKING:
    from uniqueinfo.runs.models import ModelChoice
    from uniqueinfo.runs.readers import Reading
    from uniqueinfo.training import Training

    TrainingName = StrEnum
    LossName = StrEnum
else:
    TrainingName = one_of("TrainingName", choices())
    LossName = one_of("LossName", LOSSES)

_Column = str | None


class TaskName(StrEnum):
    """What labels are."""

    auto = "auto"
    classes = "classes"
    regression = "regression"
    generation = "generation"


class FillName(StrEnum):
    """What to do about empty cells."""

    median = "median"
    mean = "mean"
    drop = "drop"


class EngineName(StrEnum):
    """Where partitions of the samples are worked on."""

    local = "local"
    dask = "dask"


@dataclass(frozen=True)
class ReadingOptions:
    """How files are read."""

    label: Annotated[
        _Column,
        typer.Option(metavar="COLUMN", help="Label column, or several: a,b,c; else one named label, y or target."),
    ] = None
    task: Annotated[
        TaskName,
        typer.Option(
            help="What labels are; auto: numbers with a decimal point are to be predicted. generation: a network that "
            "writes texts learns those of --text, or, with --label, to write the label after each."
        ),
    ] = TaskName.auto
    identifier: Annotated[
        _Column, typer.Option("--id", metavar="COLUMN", help="Column that names the samples; else one named id.")
    ] = None
    number: Annotated[
        bool, typer.Option("--number", help="Number the rows; their ids, where some are there twice, go to the table.")
    ] = False
    extra: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Goes to the table, not into training. Repeatable.")
    ] = None
    text: Annotated[
        _Column, typer.Option(metavar="COLUMN", help="Texts to train on; other columns go to the table.")
    ] = None
    embed: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Embed texts by this model, or its folder; else TF-IDF.")
    ] = None
    fill: Annotated[
        FillName | None,
        typer.Option(
            help="Empty cells of a table: fill numbers with the median or the mean of the training rows (empty "
            "categories and texts are a category of their own), or drop these rows. If not given they are refused.",
        ),
    ] = None
    size: Annotated[
        int | None,
        typer.Option(
            help="Pixels a side that pictures are scaled to. If not given: 224 for a network of a library, 64 for "
            "others. Their colours are normalized as for ImageNet.",
            min=1,
        ),
    ] = None
    skip_broken: Annotated[bool, typer.Option("--skip-broken", help="Leave unreadable pictures out.")] = False

    def reading(self, model: ModelChoice) -> Reading:
        """The same in the library's words; pictures are as large as the network expects them."""
        from uniqueinfo.runs.readers import Reading

        return Reading(
            label=self.label,
            id=self.identifier,
            number=self.number,
            text=self.text,
            embed=self.embed,
            extra=tuple(self.extra or ()),
            fill=None if self.fill is None else self.fill.value,
            task=self.task.value,
            size=model.pixels if self.size is None else self.size,
            skip_broken=self.skip_broken,
        )


@dataclass(frozen=True)
class ModelOptions:
    """The network, and how much is kept of its gradients."""

    model: Annotated[
        str | None,
        typer.Option(
            help=f"{kinds()}; a function is given `outputs` and `shape` if it takes them. If not given: for photos a "
            "linear head on what a pretrained network sees, if one is installed; else linear.",
        ),
    ] = None
    weights: Annotated[Path | None, typer.Option(help="Weights by name: .safetensors or .pth.")] = None
    trained: Annotated[
        Path | None,
        typer.Option(help="The weights after your training, if you have them: scores follow the network more closely."),
    ] = None
    pretrained: Annotated[bool, typer.Option(help="Start a library's network from its published weights.")] = True
    centred: Annotated[
        bool | None,
        typer.Option(
            "--centred/--not-centred",
            help="Take off what the network gives before training: the draw of a fresh last layer matters less. A "
            "pretrained network of a library is centred unless you say otherwise.",
        ),
    ] = None
    projection: Annotated[
        int | None,
        typer.Option(help="Columns kept of each parameter; 0 keeps all. Else all while that is cheap.", min=0),
    ] = None

    def choice(self, train: Path, *, generates: bool = False) -> tuple[ModelChoice, tuple[str, ...]]:
        """The network in the library's words, and what to say of it where it was chosen for these samples."""
        from uniqueinfo.runs.models import ModelChoice
        from uniqueinfo.runs.photos.default import default_model

        if self.model is None and not generates and (self.weights, self.trained) == (None, None):
            return default_model(train)
        found = ModelChoice(
            self.model or "linear",
            weights=self.weights,
            pretrained=self.pretrained,
            trained=self.trained,
            centred=bool(self.centred),
            generates=generates,
        )
        fresh = found.fresh_head and self.trained is None and not generates
        wanted = fresh if self.centred is None else self.centred
        return replace(found, centred=wanted), ()


@dataclass(frozen=True)
class TrainingOptions:
    """How the network is trained."""

    training: Annotated[
        TrainingName | None,
        typer.Option(
            help="auto: the stopping time (under another --loss than mse the weight decay too) with the least "
            "leave-one-out loss; the default without --lr and --steps, with which it is descent.",
        ),
    ] = None
    loss: Annotated[
        LossName | None,
        typer.Option(help="What training makes small; if not given mse, of texts to write their own loss (logistic)."),
    ] = None
    recording: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Follow a training that happened, as ui.Recording kept it in this folder; --model is its network.",
        ),
    ] = None
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None
    steps: Annotated[int | None, typer.Option(help="Steps (of flow: time, in steps).")] = None
    momentum: Annotated[float, typer.Option(help="Momentum of descent.")] = 0.0
    weight_decay: Annotated[float, typer.Option(help="Pull towards the weights at the start.")] = 0.0

    def choice(self, usual: str = SQUARED) -> Training:
        """The algorithm, from its name and the options that differ from what they are by default.

        `usual`: the loss where none is named.
        """
        given = {name: getattr(self, name) for name in ("lr", "steps", "momentum", "weight_decay")}
        defaults = {field.name: field.default for field in fields(self)}
        loss = usual if self.loss is None else self.loss.value
        changed = {name: value for name, value in given.items() if value != defaults[name]}
        if self.recording is not None:
            also = [*changed, *(name for name in ("training", "loss") if getattr(self, name) is not None)]
            if also:
                flag = also[0].replace("_", "-")
                raise InputError(f"--recording: says how it was trained; leave --{flag} out")
            return Recorded(self.recording)
        return chosen(None if self.training is None else self.training.value, changed, loss)


@dataclass(frozen=True)
class RunningOptions:
    """Where and how the computation runs."""

    effort: Annotated[
        str,
        typer.Option(
            help="What it may take on two cores: seconds, minutes, exact (at any cost), or a time such as 2min. A "
            "network that would take longer is scored with less of it, and what that costs in agreement is said.",
        ),
    ] = "minutes"
    sketch: Annotated[
        int | None,
        typer.Option(help="Directions kept exactly where all would take too long; scores come with errors.", min=1),
    ] = None
    seed: Annotated[int, typer.Option(help="Of fresh weights and of the hold-out.", min=0, max=2**63 - 1)] = 0
    device: Annotated[str | None, typer.Option(help="cpu, cuda, …")] = None
    memory: Annotated[str | None, typer.Option(help="Budget, such as 4GB; else half of what is free.")] = None
    threads: Annotated[
        int | None, typer.Option(help="How many to use; else as many as processors are free.", min=1)
    ] = None
    engine: Annotated[
        EngineName | None,
        typer.Option(help="Where partitions of the samples are worked on: here, or on a Dask cluster."),
    ] = None
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of the Dask cluster; else one is made on this machine.")
    ] = None

    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew in a run folder that is there; what it holds goes.")
    ] = False

    def check(self) -> None:
        """Refuse a cluster that nothing would run on."""
        if self.scheduler is not None and self.engine is not EngineName.dask:
            raise InputError(f"--scheduler {self.scheduler}: goes with --engine dask; say that too, or drop it")
