"""The commands and their options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from uniqueinfo._version import __version__
from uniqueinfo.cli.ask_adversarial import adversarial
from uniqueinfo.cli.ask_attribute import attribute
from uniqueinfo.cli.ask_compare import compare
from uniqueinfo.cli.ask_mislabeled import mislabeled
from uniqueinfo.cli.ask_redundancy import redundancy
from uniqueinfo.cli.ask_shapley import shapley
from uniqueinfo.cli.ask_subclasses import subclasses
from uniqueinfo.cli.ask_summarize import summarize
from uniqueinfo.cli.ask_validate import validate
from uniqueinfo.cli.options import Json, RunFolder

app = typer.Typer(
    name="uniqueinfo",
    help="How much unique information does each training sample give a neural network?",
    epilog="Try first: uniqueinfo demo",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help comes up three times as fast
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

_SCORE_EPILOG = """\b
Examples:
  uniqueinfo score photos/train --val photos/val --model torchvision:resnet18 --out runs/photos
  uniqueinfo score reviews.csv --label stars --text review --out runs/reviews
  uniqueinfo score train-images-idx3-ubyte --model mlp:1024 --lr 0.01 --steps 2000 --out runs/mnist
  uniqueinfo score X.npz --model net.py:make --weights net.safetensors --out runs/mine --dry-run
"""


class TrainingChoice(StrEnum):
    """How the network is trained."""

    auto = "auto"
    descent = "descent"
    flow = "flow"
    converged = "converged"


class EngineChoice(StrEnum):
    """Where partitions of the samples are worked on."""

    local = "local"
    dask = "dask"


class TaskChoice(StrEnum):
    """What labels are."""

    auto = "auto"
    classes = "classes"
    regression = "regression"


def _version(asked: bool) -> None:
    if asked:
        print(f"uniqueinfo {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error happened; anywhere on the line.")] = False,
) -> None:
    pass


Column = str | None


@app.command(epilog=_SCORE_EPILOG)
def score(
    train: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN",
            help="A folder of class folders of pictures, a .csv, .tsv, .parquet or .jsonl table, "
            "an .npz of X and y, an .npy with its y beside it, or an IDX file of images.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="RUN", help="The run folder: new, or of the same command.")],
    val: Annotated[
        Path | None, typer.Option(metavar="VAL", help="Validation data, like TRAIN; labels may be missing.")
    ] = None,
    holdout: Annotated[float, typer.Option(help="Share held out for validation where there is no --val.")] = 0.2,
    label: Annotated[
        Column, typer.Option(metavar="COLUMN", help="Label column; else one named label, labels, y or target.")
    ] = None,
    task: Annotated[
        TaskChoice, typer.Option(help="What labels are; auto: numbers with a decimal point are to be predicted.")
    ] = TaskChoice.auto,
    identifier: Annotated[
        Column, typer.Option("--id", metavar="COLUMN", help="Column that names the samples; else one named id.")
    ] = None,
    extra: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Goes to the table, not into training. Repeatable.")
    ] = None,
    text: Annotated[
        Column, typer.Option(metavar="COLUMN", help="Texts to train on; other columns go to the table.")
    ] = None,
    embed: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Embed texts by this model, or its folder; else TF-IDF.")
    ] = None,
    size: Annotated[
        int,
        typer.Option(
            help="Pixels a side that pictures are scaled to; their colours are normalized as for ImageNet.", min=1
        ),
    ] = 64,
    skip_broken: Annotated[bool, typer.Option("--skip-broken", help="Leave unreadable pictures out.")] = False,
    model: Annotated[
        str,
        typer.Option(
            help="linear, mlp:1024, torchvision:NAME, timm:NAME, transformers:NAME, or file.py:function, "
            "which is given `outputs` and `shape` if it takes them.",
        ),
    ] = "linear",
    weights: Annotated[Path | None, typer.Option(help="Weights by name: .safetensors or .pth.")] = None,
    trained: Annotated[
        Path | None,
        typer.Option(help="The weights after your training, if you have them: scores follow the network more closely."),
    ] = None,
    pretrained: Annotated[bool, typer.Option(help="Start a library's network from its published weights.")] = True,
    centred: Annotated[
        bool,
        typer.Option(
            "--centred",
            help="Take off what the network gives before training: the draw of a fresh last layer matters less.",
        ),
    ] = False,
    projection: Annotated[int, typer.Option(help="Columns kept of each parameter; 0 keeps all.", min=0)] = 2000,
    training: Annotated[
        TrainingChoice | None,
        typer.Option(
            help="auto: the stopping time with the least leave-one-out error; the default without --lr and --steps, "
            "with which it is descent.",
        ),
    ] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps (of flow: time, in steps).")] = None,
    momentum: Annotated[float, typer.Option(help="Momentum of descent.")] = 0.0,
    weight_decay: Annotated[float, typer.Option(help="Pull towards the weights at the start.")] = 0.0,
    sketch: Annotated[
        int | None,
        typer.Option(help="Directions kept exactly where all would take too long; scores come with errors.", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of fresh weights and of the hold-out.")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, …")] = None,
    memory: Annotated[str | None, typer.Option(help="Budget, such as 4GB; else half of what is free.")] = None,
    engine: Annotated[
        EngineChoice | None,
        typer.Option(help="Work partition by partition, here or on a Dask cluster; else on all samples at once."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of the Dask cluster; else one is made on this machine.")
    ] = None,
    validate: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Train again without N samples (10 or more) to say how far the scores can be trusted; else "
            "uniqueinfo validate does it later.",
            min=0,
        ),
    ] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print sizes, memory and time; compute nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Score every training sample, and write a page about it."""
    from uniqueinfo.cli.commands import score as run
    from uniqueinfo.errors import InputError
    from uniqueinfo.runs.job import Job, choose_training
    from uniqueinfo.runs.models import ModelChoice
    from uniqueinfo.runs.readers import Reading

    if scheduler is not None and engine is not EngineChoice.dask:
        raise InputError(f"--scheduler {scheduler}: goes with --engine dask; say that too, or drop it")
    job = Job(
        train,
        ModelChoice(model, weights, pretrained, trained, centred),
        val,
        Reading(label, identifier, text, embed, tuple(extra or ()), task.value, size, skip_broken),
        choose_training(None if training is None else training.value, lr, steps, momentum, weight_decay),
        projection or None,
        holdout,
        seed,
        device,
        memory,
        None if engine is None else engine.value,
        scheduler,
        sketch,
    )
    run(job, out, validate=validate, dry_run=dry_run, as_json=as_json)


@app.command(epilog="Example: uniqueinfo show runs/mnist --top 20 --by annotator")
def show(
    run: RunFolder,
    top: Annotated[int, typer.Option(help="How many of the most and the least informative.", min=1)] = 10,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="Compare groups of samples by this column.")] = "label",
    as_json: Json = False,
) -> None:
    """Print the table: most and least informative samples, and classes compared."""
    from uniqueinfo.cli.commands import show as print_tables

    print_tables(run, top=top, by=by, as_json=as_json)


@app.command(epilog="Example: uniqueinfo report runs/mnist")
def report(run: RunFolder, as_json: Json = False) -> None:
    """Write the page of a run anew."""
    from uniqueinfo.cli.commands import report as write

    write(run, as_json=as_json)


app.command(epilog="Example: uniqueinfo mislabeled runs/mnist --export cleaned.csv")(mislabeled)
app.command(epilog="Example: uniqueinfo summarize runs/mnist --keep 0.3 --export kept.csv")(summarize)
app.command(epilog="Example: uniqueinfo compare runs/mnist --by annotator")(compare)
app.command(epilog="Example: uniqueinfo subclasses runs/pets --label pet")(subclasses)
app.command(epilog="Example: uniqueinfo attribute runs/mnist --val-index 7")(attribute)
app.command(epilog="Example: uniqueinfo redundancy runs/mnist")(redundancy)
app.command(epilog="Example: uniqueinfo shapley runs/mnist --subsets 100")(shapley)
app.command(epilog="Example: uniqueinfo adversarial runs/mnist new-images-idx3-ubyte")(adversarial)
app.command(epilog="Example: uniqueinfo validate runs/mnist --samples 20")(validate)


class ScaleChoice(StrEnum):
    """How much of an experiment to run."""

    small = "small"
    paper = "paper"


@app.command(epilog="Example: uniqueinfo reproduce table1 --data datasets --out results")
def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="An experiment, or all.")] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", envvar="UNIQUEINFO_DATA", help="The folder of the data sets.")
    ] = None,
    scale: Annotated[ScaleChoice, typer.Option(help="Minutes, or the paper's sizes.")] = ScaleChoice.small,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where figures, tables and numbers go.")] = Path("results"),
    seed: Annotated[int, typer.Option(help="Of everything drawn at random.")] = 0,
    skip: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Of all, not this one; may be repeated.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Experiments at a time, each in a process of its own.")] = 1,
    names: Annotated[bool, typer.Option("--list", help="Print the experiments there are.")] = False,
    gallery: Annotated[
        Path | None, typer.Option(metavar="PAGE.md", help="Write a page of what lies in --out; runs nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a table or figure of the paper from real data."""
    from uniqueinfo.cli import reproduce as command
    from uniqueinfo.errors import InputError
    from uniqueinfo.experiments.runner import Request

    if names:
        command.list_experiments(as_json=as_json)
    elif gallery is not None:
        command.gallery(out, gallery)
    elif name is None:
        raise InputError("name an experiment, or all; uniqueinfo reproduce --list prints them")
    else:
        command.reproduce(name, Request(scale.value, data, seed), out, as_json=as_json, skip=skip or (), jobs=jobs)


@app.command(epilog="Example: uniqueinfo demo --out runs/demo")
def demo(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where the pages go.")] = Path("runs/demo"),
    as_json: Json = False,
) -> None:
    """See it work: handwritten digits with a few wrong labels, scored in seconds."""
    from uniqueinfo.cli.demo import run as run_demo

    run_demo(out, as_json=as_json)
