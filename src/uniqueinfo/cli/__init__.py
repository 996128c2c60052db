"""The command line: parse, call, print."""

import logging
import sys


def main() -> None:
    """Run a command. Exit codes: 0 fine, 2 the user or the machine has to mend something, 1 our fault, 130 Ctrl-C."""
    from uniqueinfo.cli.clock import begin

    begin()
    from uniqueinfo.cli.app import app
    from uniqueinfo.cli.failing import explained, ours

    _print_notes_once()
    debug = "--debug" in sys.argv  # wherever it stands
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        if debug:
            raise
        from uniqueinfo.cli.printing import say

        told, code = explained(error) or ours(error)
        say(told)
    sys.exit(code or 0)


def _print_notes_once() -> None:
    """The library's remarks go to stderr; the same one is made for every pass over the data."""
    from uniqueinfo.terminal import printable

    made: set[str] = set()

    def first(record: logging.LogRecord) -> bool:
        told = record.getMessage()
        return not (told in made or made.add(told))  # type: ignore[func-returns-value]

    class Harmless(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return printable(super().format(record))

    handler = logging.StreamHandler()
    handler.setFormatter(Harmless("Note: %(message)s"))
    handler.addFilter(first)
    logging.getLogger("uniqueinfo").handlers = [handler]


__all__ = ["main"]
