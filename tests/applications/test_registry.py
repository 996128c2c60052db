"""The registry, the public names and the commands agree."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import pytest
import typer

import uniqueinfo as ui
from uniqueinfo.applications import registry
from uniqueinfo.applications.answer import Answer
from uniqueinfo.applications.question import Option, Question
from uniqueinfo.cli.app import app
from uniqueinfo.cli.questions import add_questions

QUESTIONS = [
    "acquire",
    "adversarial",
    "attribute",
    "compare",
    "mislabeled",
    "redundancy",
    "shapley",
    "subclasses",
    "summarize",
    "validate",
]


def _commands(of: typer.Typer) -> set[str]:
    return {str(command.callback.__name__) for command in of.registered_commands if command.callback is not None}


def test_every_question_is_known() -> None:
    assert list(registry.questions()) == QUESTIONS


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_a_public_name_and_a_command(name: str) -> None:
    assert getattr(ui, name) is registry.questions()[name].function
    assert name in dir(ui)
    assert name in _commands(app)


@pytest.mark.parametrize("name", QUESTIONS)
def test_type_checkers_see_every_question(name: str) -> None:
    source = Path(inspect.getfile(ui)).read_text(encoding="utf-8")
    seen = {one.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom) for one in node.names}
    assert name in seen


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_read_is_what_is_declared(name: str) -> None:
    question = registry.questions()[name]
    module = import_module(question.module)
    assert question == module.QUESTION
    answers = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Answer)]
    assert name in {getattr(kind, "name", None) for kind in answers}


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_answer_is_printed_as_its_sentence_and_table(name: str) -> None:
    module = import_module(registry.questions()[name].module)
    answers = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Answer)]
    assert {kind.__repr__ for kind in answers} == {Answer.__repr__}


@pytest.mark.parametrize("name", QUESTIONS)
def test_options_are_arguments_with_the_same_defaults(name: str) -> None:
    question = registry.questions()[name]
    taken = inspect.signature(question.function).parameters
    for option in question.options:
        default = taken[option.name].default
        assert option.default == default or default is inspect.Parameter.empty


def test_the_strategies_of_a_summary_are_all_offered() -> None:
    from uniqueinfo.linearization.selection import STRATEGIES

    (strategy,) = (option for option in registry.questions()["summarize"].options if option.name == "strategy")
    assert set(strategy.kind) == set(STRATEGIES)  # type: ignore[arg-type]


def test_one_new_file_is_a_new_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd.py").write_text(
        "import torch_that_is_not_there\n"
        "from uniqueinfo.applications.question import Option, Question\n"
        "\n"
        'QUESTION = Question("odd", help="Name odd samples.", example="run", options=(Option("top", int, 3),))\n'
    )
    monkeypatch.setattr(registry, "__file__", str(tmp_path / "registry.py"))
    monkeypatch.setattr(registry, "questions", registry.questions.__wrapped__)
    assert registry.questions() == {
        "odd": Question("odd", help="Name odd samples.", example="run", options=(Option("top", int, 3),))
    }
    monkeypatch.setattr("uniqueinfo.cli.questions.questions", registry.questions)
    fresh = typer.Typer()
    add_questions(fresh)
    assert _commands(fresh) == {"odd"}
    monkeypatch.setattr(ui, "_homes", ui._homes.__wrapped__)  # type: ignore[attr-defined]
    assert "odd" in dir(ui)
