"""One command or call in this process, with what it said and how it ended; one that hangs is stopped."""

from __future__ import annotations

import contextlib
import io
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from torture.outcome import Ending, Outcome
from uniqueinfo.cli import main
from uniqueinfo.errors import UniqueInfoError

_SECONDS = 120
_REMEDY = re.compile(
    r"\b(give|name|mend|check|say|drop|lower|save|fill|make|add|rename|take|remove|leave|use|fetch|free|look|start|write"
    r"|export|score|choose|ask|expected|must|needs?|hand|move|keep|install|show|try|valid|range|one of|there are"
    r"|required)\b",
    re.IGNORECASE,
)


class HungError(BaseException):
    """It took too long."""


@dataclass(frozen=True)
class Said:
    code: int | str
    out: str
    err: str


@contextlib.contextmanager
def in_time(seconds: int = _SECONDS) -> Iterator[None]:
    """Whatever hangs is stopped."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise HungError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def command(*arguments: object) -> Said:
    """The command line with these arguments; a code that is no number says what ended it otherwise."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["uniqueinfo", *map(str, arguments)]
    code: int | str = "returned"
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            in_time(),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            main()
    except SystemExit as end:
        code = int(end.code or 0)
    except HungError:
        code = "hung"
    except BaseException as error:
        code = f"{type(error).__name__}: {error}"
    finally:
        sys.argv = before
    return Said(code, out.getvalue(), err.getvalue())


def judged(case: str, said: Said, named: list[str], right: Callable[[], str]) -> Outcome:
    """Right where `right` finds nothing wrong; refused where the error names one of these and a remedy."""
    if said.code == 0:
        wrong = right()
        return Outcome(case, Ending.defect if wrong else Ending.right, wrong)
    told = said.err.strip()[-600:]
    if said.code != 2:
        return Outcome(case, Ending.defect, f"ended with {said.code}: {told}")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", said.out + said.err):
        return Outcome(case, Ending.defect, f"an escape reached the terminal: {told!r}")
    if not any(name in told for name in named):
        return Outcome(case, Ending.defect, f"names none of {', '.join(named)}: {told}")
    if not _REMEDY.search(told):
        return Outcome(case, Ending.defect, f"names no remedy: {told}")
    return Outcome(case, Ending.refused)


def called(case: str, function: Callable[[], Any], right: Callable[[Any], str]) -> Outcome:
    """The same of a Python call."""
    try:
        with in_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function()
    except UniqueInfoError as error:
        fine = _REMEDY.search(str(error))
        return Outcome(case, Ending.refused if fine else Ending.defect, "" if fine else f"names no remedy: {error}")
    except BaseException as error:
        return Outcome(case, Ending.defect, f"{type(error).__name__}: {error}"[:600])
    wrong = right(found)
    return Outcome(case, Ending.defect if wrong else Ending.right, wrong)
