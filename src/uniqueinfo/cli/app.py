"""The commands and their options."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from uniqueinfo._version import __version__
from uniqueinfo.cli.options import Json, RunFolder, Wide, grouped
from uniqueinfo.cli.questions import add_questions
from uniqueinfo.cli.scoring import ModelOptions, ReadingOptions, RunningOptions, TaskName, TrainingOptions
from uniqueinfo.training.loss_names import SQUARED

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
  uniqueinfo score customers.csv --label churned --extra vendor --fill median --out runs/customers
  uniqueinfo score train-images-idx3-ubyte --model mlp:1024 --lr 0.01 --steps 2000 --out runs/mnist
  uniqueinfo score X.npz --model net.py:make --weights net.safetensors --out runs/mine --dry-run
"""


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


@app.command(epilog=_SCORE_EPILOG)
@grouped
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
    *,
    reading: ReadingOptions,
    network: ModelOptions,
    trained_by: TrainingOptions,
    running: RunningOptions,
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
    wide: Wide = False,
    as_json: Json = False,
) -> None:
    """Score every training sample, and write a page about it."""
    from uniqueinfo.cli.commands import score as run
    from uniqueinfo.runs.job import Job

    running.check()
    generates = reading.task is TaskName.generation
    model, notes = network.choice(train, generates=generates)
    job = Job(
        train,
        model,
        val,
        reading=reading.reading(model),
        training=trained_by.choice("logistic" if generates else SQUARED),
        projection="auto" if network.projection is None else network.projection or None,
        holdout=holdout,
        seed=running.seed,
        device=running.device,
        memory=running.memory,
        threads=running.threads,
        engine=None if running.engine is None else running.engine.value,
        scheduler=running.scheduler,
        notes=notes,
        sketch=running.sketch,
        effort=running.effort,
    )
    run(job, out, validate=validate, dry_run=dry_run, overwrite=running.overwrite, wide=wide, as_json=as_json)


@app.command(epilog="Example: uniqueinfo show runs/mnist --top 20 --by annotator")
def show(
    run: RunFolder,
    top: Annotated[int, typer.Option(help="How many of the most and the least informative.", min=1)] = 10,
    by: Annotated[str, typer.Option(metavar="COLUMN", help="Compare groups of samples by this column.")] = "label",
    wide: Wide = False,
    as_json: Json = False,
) -> None:
    """Print the table: most and least informative samples, and classes compared."""
    from uniqueinfo.cli.commands import show as print_tables

    print_tables(run, top=top, by=by, wide=wide, as_json=as_json)


@app.command(epilog="Example: uniqueinfo report runs/mnist")
def report(run: RunFolder, as_json: Json = False) -> None:
    """Write the page of a run anew."""
    from uniqueinfo.cli.commands import report as write

    write(run, as_json=as_json)


@app.command(epilog="Example: uniqueinfo review runs/photos")
def review(
    run: RunFolder,
    port: Annotated[int, typer.Option(help="Where to serve; 0 takes a free one.", min=0, max=65535)] = 0,
    opinions: Annotated[int, typer.Option(help="How many people are to decide on each suspect.", min=1)] = 1,
    noise_rate: Annotated[
        float | None, typer.Option(help="Share of labels to suspect; estimated where not given.", min=0, max=1)
    ] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Decide on labels that look wrong, one after another, on a page of this machine."""
    from uniqueinfo.review.opening import opened, serve

    with opened(run, port=port, noise_rate=noise_rate, opinions=opinions) as server:
        serve(server, show=show)


@app.command(epilog="Example: uniqueinfo clean runs/photos --out photos-clean")
def clean(
    run: RunFolder,
    out: Annotated[Path, typer.Option(metavar="FILE|FOLDER", help="The cleaned table, or a new folder of pictures.")],
    decisions: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Decisions made on report.html; may be repeated. Else those of the run."),
    ] = None,
    copy: Annotated[bool, typer.Option("--copy", help="Copy pictures; else links to them are made.")] = False,
    as_json: Json = False,
) -> None:
    """Write the data as it is by what was decided: labels mended, dropped samples left out."""
    from uniqueinfo.cli.reviewing import clean as write

    write(run, out, decisions or [], copy=copy, as_json=as_json)


@app.command(epilog="Example: uniqueinfo decisions runs/photos --export tasks.json --format label-studio")
def decisions(
    run: RunFolder,
    export: Annotated[Path | None, typer.Option(metavar="FILE", help="Write suspects and decisions.")] = None,
    import_: Annotated[Path | None, typer.Option("--import", metavar="FILE", help="Take over answers.")] = None,
    form: Annotated[
        str,
        typer.Option("--format", help="decisions, label-studio, argilla, fiftyone (pictures) or cleanlab."),
    ] = "decisions",
    by: Annotated[str, typer.Option(metavar="NAME", help="Who made answers that name nobody.")] = "imported",
    as_json: Json = False,
) -> None:
    """Say what was decided; hand suspects to other tools, and take over what was answered there."""
    from uniqueinfo.cli.reviewing import decisions as tell

    tell(run, export, import_, form=form, by=by, as_json=as_json)


add_questions(app)


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
