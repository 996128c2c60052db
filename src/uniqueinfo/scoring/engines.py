"""Engines by name."""

from __future__ import annotations

from pathlib import Path

from uniqueinfo.errors import InputError
from uniqueinfo.scoring.cluster import DaskEngine
from uniqueinfo.scoring.engine import Engine, LocalEngine


def as_engine(engine: Engine | str | None, scheduler: str | None = None) -> Engine:
    """An engine by its name, `"local"` or `"dask"`; None is this process.

    >>> as_engine("local")
    LocalEngine()
    """
    if isinstance(engine, str) and engine == "dask":
        return DaskEngine(scheduler)
    if scheduler is not None:
        raise InputError(f'scheduler: only the engine "dask" has one, and the engine here is {engine!r}')
    if engine is None or (isinstance(engine, str) and engine == "local"):
        return LocalEngine()
    if isinstance(engine, Engine) and not isinstance(engine, str | Path):
        return engine
    raise InputError(f'engine: expected "local", "dask" or an engine, got {engine!r}')
