"""Files appear whole or not at all: written beside, then renamed; and one process at a time works in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uniqueinfo.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A place to write beside `path`, which takes its place once written; on an error it goes and `path` stays.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(target) as beside:
    ...     _ = beside.write_text("whole")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('whole', 1)
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        with beside.open("rb+") as written:
            os.fsync(written.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder meanwhile: the second to come is refused. The lock goes with the process.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp())
    >>> with held(place), held(place):
    ...     pass
    Traceback (most recent call last):
    uniqueinfo.errors.InputError: ...: another process is at work in this folder; wait for it, or name another folder
    """
    if fcntl is None:
        yield
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            raise InputError(
                f"{folder}: another process is at work in this folder; wait for it, or name another folder"
            ) from taken
        yield
    finally:
        os.close(place)
