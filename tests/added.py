"""One more module in a package of ours, as if its file lay there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest


@contextmanager
def added(package: str, folder: Path, source: str) -> Iterator[None]:
    """The package with a module of this source, which is written to the folder; forgotten afterwards."""
    name = "one_new_file"
    (folder / f"{name}.py").write_text(dedent(source), encoding="utf-8")
    home = import_module(package)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "__path__", [*home.__path__, str(folder)])
        try:
            yield
        finally:
            sys.modules.pop(f"{package}.{name}", None)
            vars(home).pop(name, None)
