"""House rules for the code of the package, read from its source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import pytest

from tests.sources import Module, modules

MOST_LINES = 350
MOST_PARAMETERS = 12
MOST_ROOT_MODULES = 8
ARRAY = "NDArray[np.float64]"


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many there are, `*args` and `**kwargs` counted once each; a method's own `self` or `cls` is not one."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    own = bool(names) and names[0] in ("self", "cls")
    return len(names) - own + len(given.kwonlyargs) + (given.vararg is not None) + (given.kwarg is not None)


def too_long(module: Module) -> list[str]:
    return [f"{module.lines} lines"] if module.lines > MOST_LINES else []


def too_many_parameters(module: Module) -> list[str]:
    return [
        f"line {function.lineno}: {function.name} has {parameters(function)} parameters"
        for function in functions(module.tree)
        if parameters(function) > MOST_PARAMETERS
    ]


def array_names(module: Module) -> list[str]:
    """Names given to the type of an array of floats: it has one, `Floats`, in types.py."""
    if module.name == "uniqueinfo.types":
        return []
    found = []
    for node in ast.walk(module.tree):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None and ast.unparse(value) == ARRAY:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def bypassed_constructors(module: Module) -> list[str]:
    """`object.__new__` and `cls.__new__` make a value that its `__init__` never saw, so its checks do not hold."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr == "__new__"
    ]


RULES: dict[str, Callable[[Module], list[str]]] = {
    "short modules": too_long,
    "few parameters": too_many_parameters,
    "one name for an array of floats": array_names,
    "no constructor is bypassed": bypassed_constructors,
}


@pytest.mark.parametrize("rule", RULES)
def test_every_module_keeps_the_rule(rule: str) -> None:
    found = {name: RULES[rule](module) for name, module in modules().items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_few_modules_lie_beside_the_floors() -> None:
    every = modules()
    beside = {
        name for name in every if name.count(".") == 1 and not any(other.startswith(f"{name}.") for other in every)
    }
    beside.discard("uniqueinfo.__main__")  # where Python looks for it
    assert len(beside) <= MOST_ROOT_MODULES, sorted(beside)


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        ("short modules", "x = 1\n" * 351),
        ("few parameters", "def f(a, b, c, d, e, f, g, h, i, j, k, *l, m): ..."),
        ("few parameters", "class A:\n    def f(self, a, b, c, d, e, f, g, h, i, j, k, l, **m): ..."),
        ("one name for an array of floats", "Vector = NDArray[np.float64]"),
        ("one name for an array of floats", "Vector: TypeAlias = NDArray[np.float64]"),
        ("no constructor is bypassed", "value = object.__new__(Value)"),
        ("no constructor is bypassed", "def make(cls): return cls.__new__(cls)"),
    ],
)
def test_what_breaks_a_rule_is_seen(rule: str, source: str) -> None:
    assert len(RULES[rule](Module("uniqueinfo.example", source))) == 1


def test_a_methods_own_self_is_no_parameter() -> None:
    source = "class A:\n    def f(self, a, b, c, d, e, f, g, h, i, j, k, l): ..."
    assert too_many_parameters(Module("uniqueinfo.example", source)) == []
