"""The command line: parse, call, print."""

import logging
import sys


def main() -> None:
    """Run a command. Exit codes: 0 fine, 2 the user's mistake, 1 ours, 130 stopped by Ctrl-C."""
    from uniqueinfo.cli.app import app
    from uniqueinfo.errors import InputError, UniqueInfoError

    _print_notes_once()
    debug = "--debug" in sys.argv  # wherever it stands
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        app()
    except Exception as error:
        if debug:
            raise
        told = str(error) if isinstance(error, UniqueInfoError) else f"{type(error).__name__}: {error}"
        print(f"error: {told}", file=sys.stderr)
        if isinstance(error, InputError):
            sys.exit(2)
        print("This is our fault, not yours; --debug shows where it happened.", file=sys.stderr)
        sys.exit(1)


def _print_notes_once() -> None:
    """The library's remarks go to stderr; the same one is made for every pass over the data."""
    made: set[str] = set()

    def first(record: logging.LogRecord) -> bool:
        told = record.getMessage()
        return not (told in made or made.add(told))  # type: ignore[func-returns-value]

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("Note: %(message)s"))
    handler.addFilter(first)
    logging.getLogger("uniqueinfo").handlers = [handler]


__all__ = ["main"]
