"""What a lower floor may ask of a higher one without importing it: the roof says who answers.

`uniqueinfo/__init__.py`, which may import all floors, is read before any of them, and says it there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_answers: dict[str, Callable[..., Any]] = {}


def answered_by(name: str, function: Callable[..., Any]) -> None:
    """Say who answers; called by the roof."""
    _answers[name] = function


def ask(name: str, *given: Any, **options: Any) -> Any:
    """Ask a higher floor."""
    return _answers[name](*given, **options)
