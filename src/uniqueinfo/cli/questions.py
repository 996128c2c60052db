"""A command for every question of the registry: its options become arguments of the question's function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from uniqueinfo.applications.question import Export, Option, Question
from uniqueinfo.applications.registry import questions
from uniqueinfo.cli.options import REQUIRED, Json, RunFolder, Wide, one_of, parameter, signed
from uniqueinfo.errors import InputError

if TYPE_CHECKING:
    from uniqueinfo.applications.answer import Answer
    from uniqueinfo.runs.reopening import CodeTrust
    from uniqueinfo.scores.table import Scores

Trusted = Annotated[
    bool,
    typer.Option("--trust", help="Run the code of the .py file that made the run's network, where this needs it."),
]
Named = Annotated[
    str | None, typer.Option(metavar="FILE.py:FUNCTION", help="The run's own network, named again in place of --trust.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print how long it will take; train nothing.")]


def add_questions(app: typer.Typer) -> None:
    """Every question as a command of its name."""
    for question in questions().values():
        example = f"Example: uniqueinfo {question.name} {question.example}"
        app.command(epilog=example)(_command(question))


def _command(question: Question) -> Callable[..., None]:
    def command(run: Path, wide: bool, as_json: bool, **given: Any) -> None:
        from uniqueinfo.cli.asking import ask, say_how_long
        from uniqueinfo.cli.exporting import check_export, export_table
        from uniqueinfo.cli.printing import Screen
        from uniqueinfo.runs.reopening import CodeTrust

        plain = {name: value.value if isinstance(value, Enum) else value for name, value in given.items()}
        trust = CodeTrust(plain.pop("trust", False), plain.pop("model", None))
        where, how = plain.pop("export", None), _taken(plain, question.export)
        if plain.pop("dry_run", False):
            say_how_long(run, plain, trust=trust, as_json=as_json)
            return
        check_export(where)
        _check_used(how, question.export, where)
        answer = ask(run, _asked(question, run, plain, trust), trust=trust, wide=wide, as_json=as_json)
        if question.export is not None and where is not None:
            table = getattr(answer, question.export.method)(**how)
            said = export_table(run if question.new_data is None else None, table, where)
            Screen(stderr=as_json).print(escape("\n".join(said)))

    return signed(command, _parameters(question), name=question.name, doc=question.help)


def _asked(question: Question, folder: Path, given: Mapping[str, Any], trust: CodeTrust) -> Callable[[Scores], Answer]:
    """The question as a function of the scores alone; what it takes besides is read from the run folder."""
    if question.retrains:
        from uniqueinfo.runs.folder import Run
        from uniqueinfo.runs.reopening import validated

        return lambda scores: validated(Run.find(folder), scores, trust=trust, **given)
    if question.new_data is not None:
        from uniqueinfo.runs.newdata import read_inputs

        options = {name: value for name, value in given.items() if name != "inputs"}
        return lambda scores: question.function(
            scores,
            inputs=read_inputs(folder, given["inputs"], scores.origin, unlabelled=question.unlabelled),
            **options,
        )
    return lambda scores: question.function(scores, **given)


def _taken(given: dict[str, Any], export: Export | None) -> dict[str, Any]:
    """The options that say how to export, taken out of those given."""
    return {} if export is None else {option.name: given.pop(option.name) for option in export.options}


def _check_used(how: Mapping[str, Any], export: Export | None, where: Path | None) -> None:
    for option in () if export is None else export.options:
        if where is None and how[option.name] != option.default:
            raise InputError(f"{option.flag}: says how to export; name a file with --export too")


def _parameters(question: Question) -> list[inspect.Parameter]:
    """The run folder, the question's own options in their order, and those that every question has."""
    found = [parameter("run", RunFolder)]
    if question.new_data is not None:
        found.append(parameter("inputs", Annotated[Path, typer.Argument(metavar="INPUTS", help=question.new_data)]))
    found += [_as_parameter(option) for option in question.options]
    if question.export is not None:
        to = Annotated[Path | None, typer.Option("--export", metavar="FILE.csv", help=question.export.help)]
        found.append(parameter("export", to, None))
        found += [_as_parameter(option) for option in question.export.options]
    if question.network:
        found += [parameter("trust", Trusted, False), parameter("model", Named, None)]
    if question.retrains:
        found.append(parameter("dry_run", DryRun, False))
    return [*found, parameter("wide", Wide, False), parameter("as_json", Json, False)]


def _as_parameter(option: Option) -> inspect.Parameter:
    kind = one_of(option.name, option.kind) if isinstance(option.kind, tuple) else option.kind
    taken: Any = kind if option.required or option.default is not None else kind | None
    said = typer.Option(option.flag, help=option.help, metavar=option.metavar, min=option.least, max=option.most)
    default = kind(option.default) if isinstance(option.kind, tuple) else option.default
    return parameter(option.name, Annotated[taken, said], REQUIRED if option.required else default)
