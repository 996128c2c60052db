"""Every code block of the README and of the site is run, or, where it would take long, parsed by the real thing."""

from __future__ import annotations

import ast
import shlex
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import pytest
import typer

from tests.docs.blocks import BESIDE, PAGES, ROOT, Block, blocks, given
from uniqueinfo.cli.app import app

NEEDS = {
    "docs/howto/evaluations.md": ("dattri", "quanda"),
    "docs/howto/logs.md": ("wandb",),
    "docs/howto/mislabeled.md": ("cleanlab", "datasets"),
    "docs/language-models.md": ("transformers",),
}
TOOLS = {"git", "cd", "python3", "python", "pip", ".", "make"}
"""What lines of a shell begin with beside our own commands."""


def python_of(page: str) -> list[Block]:
    return [block for block in blocks(page) if block.language == "python" and not block.is_included]


def commands_of(page: str) -> list[list[str]]:
    lines = [line for block in blocks(page) if block.language == "sh" for line in block.text.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Pages that have what the test is about."""
    looks = {"python_page": python_of, "command_page": commands_of}
    for name in set(looks) & set(metafunc.fixturenames):
        metafunc.parametrize(name, [page for page in PAGES if looks[name](page)])


def test_python_of_a_page_runs(python_page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = python_page
    for package in NEEDS.get(page, ()):
        if find_spec(package) is None:
            pytest.skip(f"{page} uses {package}")
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    known = {**given(), **BESIDE.get(page, dict)()}
    for block in python_of(page):
        exec(compile("\n" * (block.line - 1) + block.text, str(ROOT / page), "exec"), known)


def test_commands_of_a_page_parse(command_page: str) -> None:
    whole = typer.main.get_command(app)
    assert isinstance(whole, typer.core.TyperGroup)
    for words in commands_of(command_page):
        if words[0] != "uniqueinfo":
            assert words[0] in TOOLS, words
            continue
        command = whole.commands[words[1]]
        command.make_context(words[1], words[2:])  # fails at an option, an argument or a value that is not known


def test_blocks_have_a_language_that_is_looked_at() -> None:
    found = {(page, block.language) for page in PAGES for block in blocks(page)}
    assert {language for _, language in found} <= {"python", "sh", "text"}


def test_recipes_for_contributors_are_python() -> None:
    found = [block for block in blocks("CONTRIBUTING.md") if block.language == "python"]
    assert len(found) > 5
    for block in found:
        ast.parse(block.text)


def test_files_that_pages_show_are_there() -> None:
    named = [block.text.split('"')[1] for page in PAGES for block in blocks(page) if block.is_included]
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_example_is_shown_by_a_page() -> None:
    named = {block.text.split('"')[1] for page in PAGES for block in blocks(page) if block.is_included}
    scripts = {str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.py")}
    assert scripts - named == {"examples/make_photos.py"}  # which the start page runs
