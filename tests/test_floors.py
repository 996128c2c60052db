"""The package is a house of floors, and each floor is built only on those below it.

Read from the source, without running it: imports inside functions and those for type checkers alone count too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from tests.sources import PACKAGE, Module, imports, modules

# From the ground up; a line may import the lines above it and itself.
FLOORS = (
    "store",
    "statistics",
    "samples",
    "jacobian",
    "training",
    "spectrum",
    "removal",
    "information",
    "linearization",
    "scores",
    "scoring",
    "baselines",
    "applications",
    "pages",
    "runs",
    "tools",
    "review",
    "experiments",
    "cli",
)
GROUND = -1  # the modules beside the folders, such as uniqueinfo.errors: every floor may import them
ROOF = len(FLOORS)  # uniqueinfo/__init__.py, which gathers the public names: it may import all, and nobody imports it


def height(module: str) -> int:
    """On which floor a module is."""
    if module in (PACKAGE, f"{PACKAGE}.__main__"):  # the second is what `python -m` runs
        return ROOF
    first = module.split(".")[1]
    return FLOORS.index(first) if first in FLOORS else GROUND


def upward(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Imports of a module on a higher floor."""
    return [f"{name} imports {other}" for name in graph for other in graph[name] if height(other) > height(name)]


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Modules that import each other, directly or through others: groups in which each is reached from each."""
    reached = {name: _reached(graph, name) for name in graph}
    groups = {tuple(sorted({name} | {other for other in reached[name] if name in reached[other]})) for name in graph}
    return sorted(list(group) for group in groups if len(group) > 1 or group[0] in graph[group[0]])


def _reached(graph: Mapping[str, Iterable[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = set(graph[ahead.pop()]) - found
        found |= new
        ahead += new
    return found


@pytest.fixture(scope="module")
def graph() -> dict[str, list[str]]:
    """Each module with those it imports."""
    every = modules()
    return {name: list(imports(module, every)) for name, module in every.items()}


def test_no_floor_imports_one_above_it(graph: dict[str, list[str]]) -> None:
    assert upward(graph) == []


def test_no_modules_import_each_other(graph: dict[str, list[str]]) -> None:
    assert circles(graph) == []


def test_every_floor_of_the_list_is_there(graph: dict[str, list[str]]) -> None:
    folders = {name.split(".")[1] for name in graph if name.count(".") > 1}
    assert folders == set(FLOORS)


def test_an_import_of_a_higher_floor_is_seen() -> None:
    found = upward({"uniqueinfo.store.files": ["uniqueinfo.samples.checks"], "uniqueinfo.samples.checks": []})
    assert found == ["uniqueinfo.store.files imports uniqueinfo.samples.checks"]


@pytest.mark.parametrize("lower", ["uniqueinfo.errors", "uniqueinfo.store.files", "uniqueinfo.cli.app"])
def test_an_import_of_the_package_itself_is_seen(lower: str) -> None:
    assert len(upward({lower: [PACKAGE]})) == 1


def test_a_root_module_that_imports_a_floor_is_seen() -> None:
    assert len(upward({"uniqueinfo.memory": ["uniqueinfo.store.files"]})) == 1


def test_a_circle_through_others_is_seen() -> None:
    graph = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}
    assert circles(graph) == [["a", "b", "c"]]


@pytest.mark.parametrize(
    "source",
    [
        "from uniqueinfo.store.files import held",
        "from uniqueinfo.store import files",
        "import uniqueinfo.store.files",
        "def late():\n    from uniqueinfo.store.files import held",
        "if TYPE_CHECKING:\n    from uniqueinfo.store.files import held",
        "import_module('uniqueinfo.store.files')",
    ],
)
def test_every_way_to_import_is_seen(source: str) -> None:
    known = dict.fromkeys(("uniqueinfo", "uniqueinfo.store", "uniqueinfo.store.files"))
    assert list(imports(Module("uniqueinfo.errors", source), known)) == ["uniqueinfo.store.files"]
