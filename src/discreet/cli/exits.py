"""From errors to exit codes: 0 done, 2 wrong, 3 over budget, 4 failed after spending."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from discreet.errors import BudgetExceeded, DiscreetError, InternalError, ReleaseFailed, RowsDiffer
from discreet.exact.figures import number
from discreet.exact.given_paths import quote_path, reason
from discreet.planfile.tree import printable

__all__ = ["FAILED", "INTERRUPTED", "OVER_BUDGET", "WRONG", "exits", "leave", "on_terminal"]

WRONG = 2
OVER_BUDGET = 3
FAILED = 4
INTERRUPTED = 130
"""The exit code that shells expect of a command that Ctrl-C has ended; nothing was spent."""


@contextmanager
def exits(told: Callable[[DiscreetError], str] = str) -> Iterator[None]:
    """Ends the command when discreet raises an error inside: what is told on stderr, no traceback, the exit code."""
    try:
        yield
    except DiscreetError as error:
        leave(told(error), _code(error))
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise  # nobody reads the output any more; the command line ends the process
        where = f"{quote_path(error.filename)}: " if isinstance(error.filename, str) else ""
        leave(f"{where}{reason(error)}; nothing was spent", WRONG)
    except KeyboardInterrupt:
        leave("interrupted; nothing was spent", INTERRUPTED)


def on_terminal(error: DiscreetError) -> str:
    """The message of an error, with what may be shown on the terminal of whoever has the source, and nowhere else.

    The number of rows that was found is public under `ReplaceOne` and still not for logs (soundness 4).
    """
    if isinstance(error, RowsDiffer) and sys.stderr.isatty():
        return f"{error}.\nIt has {number(error.found)} rows, and {number(error.declared)} are declared."
    return str(error)


def leave(message: str, code: int) -> NoReturn:
    """Ends the command with a message on stderr and an exit code.

    Raises:
        typer.Exit: always.
    """
    typer.echo("\n".join(printable(line) for line in f"discreet: {message}".splitlines()), err=True)
    raise typer.Exit(code) from None


def _code(error: DiscreetError) -> int:
    if isinstance(error, BudgetExceeded):
        return OVER_BUDGET
    return FAILED if isinstance(error, ReleaseFailed | InternalError) else WRONG
