"""Where each peer runs: here if its very version is installed here, else in an environment of its own.

So none has to live with another's versions. Torch and whatever else fits is shared: the environment looks into the
packages of this one after its own.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks.peers.methods import REQUIREMENTS
from uniqueinfo.errors import InputError


def python_of(package: str, folder: Path) -> Path:
    """The interpreter of a package's environment, made in the folder where it is not there yet."""
    if all(_is_here(requirement) for requirement in REQUIREMENTS.get(package, ())):
        return Path(sys.executable)
    place = folder / package
    python, ready = place / "bin" / "python", place / "ready"
    wanted = "\n".join(REQUIREMENTS[package]) + "\n"
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
    own = Path(_output(python, "import sysconfig; print(sysconfig.get_path('purelib'))"))
    (own / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    constraints = place / "constraints.txt"
    constraints.write_text(f"torch=={torch.__version__.split('+')[0]}\n", encoding="utf-8")
    with (place / "pip.log").open("w", encoding="utf-8") as log:
        command = [str(python), "-m", "pip", "install", "--quiet", "-c", str(constraints), *REQUIREMENTS[package]]
        if subprocess.run(command, stdout=log, stderr=log, check=False).returncode:
            raise InputError(f"{', '.join(REQUIREMENTS[package])} cannot be installed; pip.log beside it says why")
    ready.write_text(wanted, encoding="utf-8")
    return python


def _is_here(requirement: str) -> bool:
    """Whether this environment holds the pinned version.

    >>> _is_here("torch==0.1"), _is_here("no-such-package==1.0")
    (False, False)
    """
    name, pinned = requirement.split("==")
    try:
        return version(name) == pinned
    except PackageNotFoundError:
        return False


def _output(python: Path, code: str) -> str:
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
