"""Every parameter of every public name is documented: in its docstring, or under the field of a dataclass."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import uniqueinfo

ROOT = Path(__file__).parents[2]
CALLED = {  # methods that people call by themselves
    "LabelErrors": ("fit",),
    "Linearization": ("from_jacobian", "from_features", "from_kernel", "probe", "train"),
    "LinearizedNetwork": ("probe", "train"),
    "Recorded": ("from_checkpoints",),
    "Recording": ("step",),
    "Scores": ("replaced", "save", "write"),
    "StochasticTraining": ("leave_out",),
}


def public() -> dict[str, Any]:
    """The public names of the package that can be called."""
    names: list[str] = vars(uniqueinfo).get("__all__") or uniqueinfo.__getattr__("__all__")
    found = {name: getattr(uniqueinfo, name) for name in names if name != "__version__"}
    return {name: each for name, each in found.items() if callable(each)}


def parameters(given: Callable[..., Any]) -> list[str]:
    try:
        return [name for name in inspect.signature(given).parameters if name != "self"]
    except ValueError:  # errors: nobody but the package makes them
        return []


def described_fields(tree: ast.AST) -> Iterator[str]:
    """Fields of classes with a docstring below them."""
    for node in ast.walk(tree):
        body = node.body if isinstance(node, ast.ClassDef) else []
        for one, after in pairwise(body):
            told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if told and isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                yield one.target.id


def undocumented(given: Any) -> list[str]:
    """Parameters that neither the docstring nor a field's own tells of."""
    classes = (
        [one for one in inspect.getmro(given) if one.__module__.startswith("uniqueinfo")]
        if inspect.isclass(given)
        else []
    )
    sources = [ast.parse(textwrap.dedent(inspect.getsource(one))) for one in classes]
    fields = {name for tree in sources for name in described_fields(tree)}
    texts = [
        given.__doc__ or "",
        *(vars(one)["__init__"].__doc__ or "" for one in classes[:1] if "__init__" in vars(one)),
    ]
    named = {name for text in texts for name in re.findall(r"`\*{0,2}(\w+)(?:=[^`]*)?`", text)}
    return [name for name in parameters(given) if name not in fields | named]


def test_every_parameter_is_documented() -> None:
    missing = {name: undocumented(each) for name, each in public().items()}
    assert {name: found for name, found in missing.items() if found} == {}


def test_so_is_every_parameter_of_methods_that_people_call() -> None:
    methods = {f"{name}.{method}": getattr(public()[name], method) for name in CALLED for method in CALLED[name]}
    missing = {name: undocumented(method) for name, method in methods.items()}
    assert {name: found for name, found in missing.items() if found} == {}


def test_a_parameter_nobody_tells_of_is_seen() -> None:
    def score(model: int, val: int, *, lr: float) -> None:
        """Of `model`, at `lr=0.1`."""

    assert undocumented(score) == ["val"]


@pytest.mark.parametrize("name", ["score", "LabelErrors", "GradientDescent", "Scores"])
def test_the_names_that_people_type_are_looked_at(name: str) -> None:
    assert name in public()


def test_every_public_name_has_its_entry_in_the_reference() -> None:
    pages = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "reference").glob("*.md"))]
    entries = re.findall(r"^::: uniqueinfo\.(\w+)$", "\n".join(pages), re.MULTILINE)
    assert sorted(entries) == sorted(public())
