"""The tests' own house rule: importing a test module computes nothing.

What is computed at import runs in every worker that collects, is counted for no test, and fails where no test has a
name. So the rule, read from the syntax trees: what a module runs when it is imported (its statements, its decorators
and its functions' defaults; not the bodies of functions and lambdas) does not call

- anything of numpy, pandas, scipy, sklearn or torch, but for a question to the machine;
- a function of uniqueinfo, of the tests or of the module itself. Their classes may be called (they are told by their
  capitals): settings and other frozen values (`GradientDescent(0.1, 5)`) are what parametrized tests are made of, and
  classes that compute need data or a network, which cannot be had without breaking the first rule. So may functions
  of the module that say that they give a function (`-> Callable[…]`): what they give is called by a test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
COMPUTING = {"numpy", "pandas", "scipy", "sklearn", "torch"}
OURS = {"tests", "uniqueinfo"}
ASKING = {"torch.cuda.is_available"}


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls made when this is imported."""
    if isinstance(node, ast.Lambda) or (isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        defaults = (default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None)
        for part in (*node.decorator_list, *defaults):
            yield from calls(part)
        return
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from calls(child)


def gives_function(node: ast.FunctionDef) -> bool:
    return node.returns is not None and ast.unparse(node.returns).startswith("Callable[")


def origins(module: ast.Module) -> dict[str, str]:
    """Where each name of the module comes from, as a dotted path; its own functions and classes are the tests'."""
    found = {}
    for node in module.body:
        if isinstance(node, ast.Import):
            for name in node.names:
                here = name.asname or name.name.partition(".")[0]
                found[here] = name.name if name.asname else here
        elif isinstance(node, ast.ImportFrom):
            found |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.ClassDef) or (isinstance(node, ast.FunctionDef) and not gives_function(node)):
            found[node.name] = f"tests.{node.name}"
    return found


def computed(source: str) -> list[str]:
    """What breaks the rule, with its line."""
    module = ast.parse(source)
    known, found = origins(module), []
    for call in (call for node in module.body for call in calls(node)):
        first, _, rest = ast.unparse(call.func).partition(".")
        name = ".".join(filter(None, [known.get(first, ""), rest]))
        package, last = name.partition(".")[0], name.rpartition(".")[2]
        makes_value = package in OURS and last.lstrip("_")[:1].isupper()
        if package in COMPUTING | OURS and not makes_value and name not in ASKING:
            found.append(f"line {call.lineno}: {ast.unparse(call)}")
    return found


def test_importing_a_test_module_computes_nothing() -> None:
    paths = {str(path.relative_to(TESTS)): path for path in sorted(TESTS.rglob("*.py"))}
    assert "problems.py" in paths
    found = {name: computed(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nX = np.zeros(3)",
        "import torch\nmodel = torch.nn.Linear(2, 1)",
        "from torch import nn\n@mark([nn.Linear(2, 1)])\ndef test(): ...",
        "from sklearn.datasets import load_digits\nX, y = load_digits(return_X_y=True)",
        "import uniqueinfo as ui\nSCORES = ui.score_features([[1]], [1])",
        "from uniqueinfo import Linearization\nGIVEN = Linearization.from_features([[1]], [1])",
        "from tests.problems import problem\ndef f(given=problem(2, 1, 2)): ...",
        "def network(): ...\nclass Held:\n    model = network()",
    ],
)
def test_what_computes_is_seen(source: str) -> None:
    assert len(computed(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\ndef X(): return np.zeros(3)",
        "import torch\nMAKE = {'one': lambda: torch.zeros(3)}",
        "import torch\nGPU = torch.cuda.is_available()",
        "from hypothesis import strategies as st\nSIZES = st.integers(1, 3)",
        "def later(x) -> Callable[[], int]: ...\nCASES = [later(1)]",
        "def main(): ...\nif __name__ == '__main__':\n    main()",
        "import uniqueinfo as ui\nTRAINING = ui.GradientDescent(0.1, steps=5)",
    ],
)
def test_what_does_not_compute_is_let_be(source: str) -> None:
    assert computed(source) == []
