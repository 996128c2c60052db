"""The package as text: its modules and what they import, read without running any of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import uniqueinfo

PACKAGE = "uniqueinfo"


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    """Dotted, `uniqueinfo.store.folder`; a folder's `__init__.py` bears the name of the folder."""
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def lines(self) -> int:
        return len(self.source.splitlines())


def modules() -> dict[str, Module]:
    """Every module, by its dotted name."""
    root = Path(uniqueinfo.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = [PACKAGE, *path.relative_to(root).with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path.read_text(encoding="utf-8"))
    return found


def imports(module: Module, known: Mapping[str, object]) -> dict[str, int]:
    """The modules of the package that this one imports, each with the line where it first does.

    Imports inside functions and under `if TYPE_CHECKING` count like any other. A name taken from a folder is an import
    of the module of that name where there is one, of the folder's `__init__.py` otherwise.
    """
    found: dict[str, int] = {}
    for name, line in _named(module.tree):
        if name.partition(".")[0] == PACKAGE:
            at = name
            while at not in known:  # the last part is a class or a function
                at = at.rpartition(".")[0]
            found.setdefault(at, line)
    return found


def _named(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written out in full"
            yield from ((f"{node.module}.{name.name}", node.lineno) for name in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "import_module":
            yield from ((str(name.value), node.lineno) for name in node.args if isinstance(name, ast.Constant))
