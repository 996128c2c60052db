"""What is released: a wheel and an sdist with all they need, and one version everywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from uniqueinfo import __version__

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "uniqueinfo"


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build", reason="build is not installed")
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_a_wheel_holds_every_file_of_the_package_and_no_other(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"uniqueinfo-{__version__}-py3-none-any.whl"
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {
        str(path.relative_to(ROOT / "src"))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == files


def test_a_wheel_asks_for_what_is_declared(built: Path, project: dict[str, object]) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        name = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        told = opened.read(name).decode()
    asked = {line for line in re.findall(r"^Requires-Dist: (.*)$", told, re.MULTILINE) if "extra ==" not in line}
    assert {line.replace(" ", "") for line in asked} == set(project["dependencies"])  # type: ignore[call-overload]


def test_an_sdist_holds_what_its_tests_need(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    needed = ("Makefile", "CHANGELOG.md", "CITATION.cff", "LICENSE", "constraints.txt", "benchmarks/core.py")
    assert {*needed, "tests/test_release.py", "src/uniqueinfo/py.typed", "torture/__main__.py"} <= held


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("recipe/meta.yaml", r'^{% set version = "(\S+)" %}$'),
        ("CHANGELOG.md", r"^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$"),
    ],
)
def test_the_version_is_the_same_everywhere(file: str, pattern: str) -> None:
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1] == __version__


def floors(lines: list[str], mark: str) -> dict[str, tuple[int, ...]]:
    """By package the least version, of which zeros at the end say nothing."""
    split = (line.partition(mark) for line in lines if mark in line and not line.startswith("#"))
    return {name.strip().lower(): _short(version) for name, _, version in split}


def _short(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split("#")[0].strip().split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def test_the_least_versions_are_those_that_are_tested(project: dict[str, object]) -> None:
    declared = floors(list(project["dependencies"]), ">=")  # type: ignore[call-overload]
    tested = floors((ROOT / "constraints-minimal.txt").read_text(encoding="utf-8").splitlines(), "==")
    assert declared.keys() == tested.keys()
    assert {name for name in declared if declared[name] != tested[name]} <= {"torch"}  # as is said there


def test_the_recipe_asks_for_what_is_declared(project: dict[str, object]) -> None:
    declared = floors(list(project["dependencies"]), ">=")  # type: ignore[call-overload]
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8").partition("  run:\n")[2]
    asked = floors(re.findall(r"^    - (\S+ >=\S+)$", text, re.MULTILINE), ">=")
    renamed = {"torch": "pytorch", "matplotlib": "matplotlib-base"}
    assert {renamed.get(name, name): version for name, version in declared.items()} == {
        name: version for name, version in asked.items() if name != "python"
    }
