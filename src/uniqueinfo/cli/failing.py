"""What to say of an error, and with which code to end: what the user or the machine can mend is no fault of ours."""

from __future__ import annotations

import errno
import io
from typing import Any

import typer

from uniqueinfo.errors import UniqueInfoError

STOPPED = 130
"""The exit code that shells expect after Ctrl-C."""
_USAGE: Any = typer.BadParameter.__mro__[2]
"""Click's ClickException: typer brings a click of its own, or takes the one that is installed."""
_MENDED, _OURS = 2, 1
_FULL = (errno.ENOSPC, errno.EDQUOT)
_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space, or name a folder on another disk",
    errno.EDQUOT: "your share of the disk is used up; free some of it, or name a folder on another disk",
    errno.EACCES: "you may not read or write it; change its permissions, or name another",
    errno.EPERM: "you may not read or write it; change its permissions, or name another",
    errno.EROFS: "the disk cannot be written to; name a folder on another one",
    errno.ENAMETOOLONG: "the name is too long; name a shorter one",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
    errno.EIO: "the disk does not answer as it should; look at it, or copy the files to another one",
    errno.ENOENT: "it is not there, or went away while it was read; put it back, and run the command again",
    errno.EISDIR: "it is a folder, and a file is needed here; name a file",
    errno.ENOTDIR: "a part of this path is no folder; check the path",
    errno.ELOOP: "its links go round in a circle; name the file itself",
}


def explained(error: Exception) -> tuple[str, int] | None:
    """Cause and remedy with the exit code, for what the user or the machine can mend; None for everything else."""
    if isinstance(error, UniqueInfoError):
        return f"error: {error}", _MENDED
    if isinstance(error, _USAGE):
        told = io.StringIO()
        error.show(told)
        return told.getvalue().rstrip(), _MENDED
    if isinstance(error, typer.Abort):
        return "Stopped.", STOPPED
    if isinstance(error, MemoryError):
        return "error: the memory is used up; give less --memory, fewer samples, or a machine with more", _MENDED
    if isinstance(error, OSError) and error.errno in _REMEDIES:
        where = "" if error.filename is None else f"{error.filename}: "
        on = " What is done so far is kept: the same command goes on with it." if error.errno in _FULL else ""
        return f"error: {where}{_REMEDIES[error.errno]}.{on}", _MENDED
    return None


def ours(error: Exception) -> tuple[str, int]:
    """For an error that nobody foresaw."""
    told = f"error: {type(error).__name__}: {error}"
    return f"{told}\nThis is our fault, not yours; --debug shows where it happened.", _OURS
