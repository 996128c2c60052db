"""Files appear whole or not at all: written beside, then renamed; and one process at a time works in a folder."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uniqueinfo.errors import InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

_LEFTOVER = re.compile(r"\..+\.[0-9a-f]+\.part")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has none


def is_leftover(name: str) -> bool:
    """Whether a file is what a process that was killed had begun to write.

    >>> is_leftover(".run.json.0f3a66c1d2b4e598.part"), is_leftover("run.json")
    (True, False)
    """
    return _LEFTOVER.fullmatch(name) is not None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write beside `path`, which takes its place once written; on an error it goes and `path` stays.

    Nobody can guess its name and put a link there to have another file written over; where one lies in the way after
    all, nothing is written. A device, such as /dev/null, is refused: a file in its place would be the end of it.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> with replacing(target) as beside:
    ...     _ = beside.write_text("whole")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('whole', 1)
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path}: is a device, which a file would take the place of; name a file")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_LINK, 0o666))  # less what the umask takes
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
