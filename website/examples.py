"""What the scripts under examples/ print, kept for the pages that show it: ``make examples`` writes it anew.

A figure in a how-to page is therefore one that a script printed; `tests/docs/test_examples.py` runs them all and holds
what they print against what was kept. The page of commands is made of what ``uniqueinfo COMMAND --help`` says.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import typer

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
KEPT = ROOT / "docs" / "howto" / "output"
COMMANDS = ROOT / "docs" / "reference" / "commands.md"
_IMPORT = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)


def names() -> list[str]:
    """Of all examples."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def missing(name: str) -> list[str]:
    """Packages that an example imports and that are not installed here."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    return [package for package in sorted(set(_IMPORT.findall(source))) if find_spec(package) is None]


def printed(name: str, *arguments: str) -> str:
    """What an example prints, run in a folder of its own."""
    written, before, given = io.StringIO(), Path.cwd(), sys.argv
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(written):
        os.chdir(folder)
        sys.argv = [f"{name}.py", *arguments]
        try:
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        finally:
            os.chdir(before)
            sys.argv = given
    return written.getvalue()


def commands() -> str:
    """The page of commands."""
    from uniqueinfo.cli.app import app

    whole = typer.main.get_command(app)
    assert isinstance(whole, typer.core.TyperGroup)
    parts = ["# Command line", "What `uniqueinfo COMMAND --help` says; `python -m website.examples` writes this page."]
    for name, command in whole.commands.items():
        with command.make_context(f"uniqueinfo {name}", [], resilient_parsing=True) as context:
            parts += [f"## {name}", f"```text\n{command.get_help(context)}\n```"]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write what can be run here; of the others what was kept stays."""
    KEPT.mkdir(exist_ok=True)
    COMMANDS.write_text(commands(), encoding="utf-8")
    for name in names():
        absent = missing(name)
        if absent:
            print(f"{name}: left as it was, as {', '.join(absent)} is not installed")
            continue
        (KEPT / f"{name}.txt").write_text(printed(name), encoding="utf-8")
        print(f"{name}: written")


if __name__ == "__main__":
    main()
