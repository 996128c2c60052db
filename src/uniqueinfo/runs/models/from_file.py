"""Networks of the user's own: `file.py:function`."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.source import ModelSource

if TYPE_CHECKING:
    from torch import nn


class File(ModelSource):
    """What a function in a file returns; its argument is the whole name."""

    prefix = ""
    words = "file.py:function"
    place = 9  # any name could be that of a file, so the others are asked first

    def argument(self, name: str) -> str | None:
        """The name itself, if a Python file is named in it."""
        return name if _parts(name)[0].endswith(".py") else None

    def check(self, argument: str) -> None:
        """Refuse a file that is not there."""
        path, _ = _parts(argument)
        if not Path(path).is_file():
            raise InputError(f"--model {argument}: there is no file {path}; check the path")

    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """The function is given `outputs` and `shape` if it has parameters of these names."""
        path, function = _parts(argument)
        return _made(Path(path), function, shape, outputs)

    def files(self, argument: str) -> tuple[Path, ...]:
        """The file itself."""
        return (Path(_parts(argument)[0]),)

    def code(self, argument: str) -> Path:
        """The file itself."""
        return Path(_parts(argument)[0])

    def absolute(self, argument: str) -> str:
        """With the whole path."""
        path, function = _parts(argument)
        return f"{Path(path).resolve()}:{function}"


def _parts(name: str) -> tuple[str, str]:
    """File and function; paths may hold colons of their own.

    >>> _parts("C:/nets/net.py:make"), _parts("net.py")
    (('C:/nets/net.py', 'make'), ('net.py', ''))
    """
    path, _, function = name.rpartition(":") if ".py:" in name else (name, "", "")
    return path, function


def _made(path: Path, function: str, shape: tuple[int, ...], outputs: int) -> nn.Module:
    from torch import nn

    make = function_in("--model", f"{path}:{function}")
    try:
        accepted = inspect.signature(make).parameters
        given = {name: value for name, value in (("outputs", outputs), ("shape", shape)) if name in accepted}
        network = make(**given)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"--model {path}:{function}: fails with {type(error).__name__}: {error}; mend it, or look with --debug"
        ) from error
    if not isinstance(network, nn.Module):
        raise InputError(f"--model {path}:{function}: returned {type(network).__name__}; return an nn.Module")
    return network


def function_in(option: str, name: str) -> Callable[..., Any]:
    """The function that `file.py:function` names, for an option of the command line."""
    file, function = _parts(name)
    path = Path(file)
    if not path.is_file():
        raise InputError(f"{option} {name}: there is no file {path}; check the path")
    spec = importlib.util.spec_from_file_location(f"uniqueinfo_model_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{option} {name}: {path} is no Python file; name one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script that ends by calling exit ends nothing of ours
        raise InputError(
            f"{option} {name}: fails with {type(error).__name__}: {error}; mend it, or look with --debug"
        ) from error
    found: Callable[..., Any] | None = getattr(module, function, None)
    if found is None or not callable(found):
        raise InputError(f"{option} {name}: the file has no function {function!r}; check the name")
    return found


SOURCES = (File(),)
