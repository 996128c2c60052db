"""Every question there is. A new one is a new module of this package that says ``QUESTION = Question(…)``."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from uniqueinfo.applications import question as words
from uniqueinfo.applications.question import Question


@cache
def questions() -> dict[str, Question]:
    """The questions by name.

    >>> questions()["mislabeled"].help
    'Find labels that look wrong.'
    """
    declared = [_declared(path) for path in sorted(Path(__file__).parent.glob("*.py"))]
    return {found.name: found for found in declared if found is not None}


def _declared(path: Path) -> Question | None:
    """What a module declares, read from its source: importing it takes seconds (torch), and a help text should not."""
    source = path.read_text(encoding="utf-8")
    if "\nQUESTION = " not in source:
        return None
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="QUESTION")], value=value):
                found: Question = eval(compile(ast.Expression(value), str(path), "eval"), dict(vars(words)))
                return found
    return None
