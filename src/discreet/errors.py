"""All errors that discreet raises on purpose.

::

    DiscreetError
    ├── ArgumentError (ValueError)     an argument breaks a rule; nothing was spent            exit code 2
    │   ├── SchemaError                a column, bound, grid or category is wrong
    │   ├── PlanError                  a plan or plan file is wrong; `.place` locates the mistake
    │   └── SourceError                the file or frame does not fit the schema (names, types)
    │       └── RowsDiffer             it has another number of rows than `ReplaceOne` declares
    ├── BudgetExceeded                 the ledger refuses the spend; nothing was spent          exit code 3
    ├── LedgerError                    the ledger is missing, damaged, locked or disagrees      exit code 2
    │   └── NotApproved                signatures that are demanded are missing                 exit code 2
    ├── ReleaseFailed                  failed after the spend; the charge stands                exit code 4
    └── InternalError                  a bug in discreet, never the caller's fault              exit code 4

A message names the argument, the value, the rule and the next step. It never contains a value from the data: before
the data are opened there is no such value, and afterwards every failure is the one constant text of `ReleaseFailed`.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Never

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ArgumentError",
    "BudgetExceeded",
    "DiscreetError",
    "InternalError",
    "LedgerError",
    "NotApproved",
    "PlanError",
    "ReleaseFailed",
    "RowsDiffer",
    "SchemaError",
    "SourceError",
    "did_you_mean",
    "printed",
    "unreachable",
    "without_secrets",
]

_SHOWN = 60
_MOST_BITS = 1000


# Up to the last "@": a password may contain anything. Too much is left out rather than too little. A path loses a slash.
_BEFORE_HOST = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]{0,30}):/+.*@", re.DOTALL)
_NAMED_SECRET = re.compile(r"(?i)\b((?:ssl)?passw(?:or)?d|pwd|passfile|token)=[^\s&;'\"]*")


def without_secrets(text: str) -> str:
    """The text without what a URL says before its host, and without passwords that are named: it can be shown to anybody."""
    return _NAMED_SECRET.sub(r"\1=…", _BEFORE_HOST.sub(r"\1://…@", text))


class DiscreetError(Exception):
    """The root of all errors that discreet raises on purpose. However it is shown, no password shows, whatever it quotes."""

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments of the error without passwords: loggers and pickles show them."""
        kept: tuple[Any, ...] = BaseException.args.__get__(self)  # type: ignore[attr-defined]
        return tuple(without_secrets(one) if isinstance(one, str) else one for one in kept)

    @args.setter
    def args(self, given: tuple[Any, ...]) -> None:
        BaseException.args.__set__(self, given)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return without_secrets(super().__str__())

    def __repr__(self) -> str:
        return without_secrets(super().__repr__())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args, self.__dict__


class ArgumentError(DiscreetError, ValueError):
    """An argument breaks a rule. Nothing was read and nothing was spent."""


class SchemaError(ArgumentError):
    """A column of the schema is wrong: bounds, step, categories or name."""


class PlanError(ArgumentError):
    """A plan requests something impossible. `place` is the position in the plan file, if the plan came from one.

    `keys` are the keys and positions of that place, one after the other.
    """

    def __init__(self, message: str, place: str = "", keys: tuple[str | int, ...] = ()) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.keys = keys


class SourceError(ArgumentError):
    """The source does not fit: missing, not of a known format, columns or types that the schema does not expect."""


class RowsDiffer(SourceError):
    """The source has another number of rows than `ReplaceOne` declares. This command spent nothing and fixed nothing.

    The message does not have the number that was found: `declared` and `found` are for the terminal of whoever has the
    source, not for logs.
    """

    def __init__(self, message: str = "", declared: int = 0, found: int = 0) -> None:
        super().__init__(message)
        self.declared = declared
        self.found = found


class BudgetExceeded(DiscreetError):
    """The spend does not fit into what remains of the budget.

    All three amounts are tuples of exact rationals in the coordinates in which the ledger adds: (ε), (ε, δ), (ρ) or (μ²).
    """

    def __init__(
        self,
        message: str,
        requested: tuple[Fraction, ...] = (),
        remaining: tuple[Fraction, ...] = (),
        scope: str = "",
    ) -> None:
        super().__init__(message)
        self.requested = requested
        self.remaining = remaining
        self.scope = scope

    def worded(self, scope: str, requested: str, remaining: str, over: str, advice: str) -> BudgetExceeded:
        """The same refusal with its amounts in words, and with whose budget it is: of a data set, a population, a window."""
        words = f"{scope}: requested {requested}, remaining {remaining}, over by {over}; {advice}"
        return BudgetExceeded(words, self.requested, self.remaining, scope)

    @property
    def difference(self) -> tuple[Fraction, ...]:
        """The excess of the request over the remaining budget, coordinate by coordinate (0 where it fits)."""
        pairs = zip(self.requested, self.remaining, strict=True)
        return tuple(max(Fraction(0), wanted - left) for wanted, left in pairs)


class LedgerError(DiscreetError):
    """The ledger cannot be used as it is: missing, damaged, of another version, or of another data set."""


class NotApproved(LedgerError):
    """Signatures are demanded, and too few of the named keys have signed exactly this. Nothing was spent."""


class ReleaseFailed(DiscreetError):
    """A release failed after its spend was reserved, and the charge stands; or exact totals could not be published.

    Each case has one text, the same for every cause: `TEXT` where the charge is lost, `UNFINISHED` where the same command
    can still finish the release, `ELSEWHERE` where another process makes it, `UNPLACED` for a large release that is finished
    and can be given back.
    """

    TEXT = (
        "the release failed after its noise had begun to be drawn, or for the last time that it may be tried; its charge is "
        "lost and stands in the ledger. The cause is not shown, because it may depend on the data. Check that the source is "
        "the declared one (rows, format, unchanged while it was read) and that memory and disk suffice, then release it "
        "again with a new charge: `discreet release --again`, or again=True."
    )
    UNFINISHED = (
        "the release is charged but not finished: this attempt ended before anything was drawn for it. Nothing is lost: the "
        "same command finishes it at no further charge, in at most 8 attempts, which the ledger counts. The cause is not "
        "shown, because it may depend on the data. Check that the source is the declared one (rows, format, unchanged while "
        "it was read) and that memory and disk suffice, then run the same command again."
    )
    ELSEWHERE = (
        "the release is charged, and another process is at work on it or has just made it; this command made nothing. "
        "Nothing is lost: wait until the other process has ended, then run the same command again, which gives the release "
        "back or finishes it, at no further charge."
    )
    TOTALS = (
        "publishing the exact totals failed; nothing was charged, and the ledger records the attempt. The cause is not "
        "shown, because it may depend on the data. Check that the source is the declared one (rows, format, cells that "
        "are declared impossible, unchanged while it was read), then try again."
    )
    UNPLACED = (
        "the release is charged and computed, but its files could not all be put in their place for good. Nothing is lost: "
        "they are in the folder that was given, some in a hidden one inside it. See that this can be written and holds no "
        "other table, then release again with the same name, request, spend and folder, at no charge."
    )

    def __init__(self, text: str = TEXT) -> None:
        super().__init__(text)


class InternalError(DiscreetError):
    """A rule that discreet itself guarantees did not hold. Please report it."""


def printed(value: object) -> str:
    """The form of an argument in a message: plain values in a few characters, everything else by its type alone.

    A table passed as the wrong argument must not be printed, and long integers cannot be printed.
    """
    if isinstance(value, int | Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        return f"a number of more than {_MOST_BITS} bits"
    if isinstance(value, Fraction | Decimal | dt.date):
        shown = str(value)
    elif isinstance(value, str):
        shown = without_secrets(repr(value))  # before it is cut: what is left of a password is a part of it
    elif value is None or isinstance(value, bool | int | float | bytes):
        shown = repr(value)
    else:
        return f"<{type(value).__name__}>"
    return shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "…"


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """A hint with the nearest of the `known` names, or all of them when they are few; empty without any names."""
    from difflib import get_close_matches  # only when something is wrong: it costs an import

    names = [str(name) for name in known]
    wanted = word if isinstance(word, str) else printed(word)
    same = [name for name in names if name.casefold() == wanted.casefold()]
    near = same or get_close_matches(wanted, names, n=1, cutoff=0.6)
    if near:
        return f"; did you mean '{near[0]}'?"
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return f"; known: {shown}"


def unreachable(value: Never) -> InternalError:
    """The error at the end of a ladder over all members of a union: the type checker proves that nothing gets here.

    Its message: a member was added without its case. It names the type alone, never the value.
    """
    return InternalError(f"no case for {type(value).__name__}")
