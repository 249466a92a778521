"""The n of a resize, where the number of rows is private: from a range of it that is public or released.

Proof: O8 of docs/proofs/original.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from discreet.domain.neighbours import whole_number
from discreet.domain.steps import Resize
from discreet.domain.words import one_line
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.numbers import decimal_text
from discreet.plan.plan import Plan
from discreet.privacy.coordinates import Budget
from discreet.privacy.measures import is_budget
from discreet.quotes.allocate import quote
from discreet.quotes.whole import AssumedErrors

__all__ = ["ResizeTried", "RowsChoice", "choose_n"]

_PROPORTIONS = tuple(Fraction(tenths, 10) for tenths in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10))


@dataclass(frozen=True, slots=True)
class ResizeTried:
    """A resize, and the whole errors of the request after it."""

    rows: int
    proportion: Fraction
    errors: AssumedErrors


@dataclass(frozen=True, slots=True)
class RowsChoice:
    """The n of a resize, and what a resize does to the errors of a request.

    Args:
        n: the middle of the range.
        apart: at most this many rows are filled or left out with it, whatever the number of rows is.
        direct: the whole errors of the request without a resize.
        tried: resizes, each with the whole errors.
    """

    n: int
    apart: int
    direct: AssumedErrors
    tried: tuple[ResizeTried, ...]

    def best(self, name: str) -> ResizeTried:
        """The resize with the least whole error of a statistic.

        Raises:
            PlanError: there is no such statistic, or no whole error of it is stated.
        """
        if self.direct.of(name).whole is None:
            raise PlanError(f"whole error of '{name}': is not stated for this kind of statistic")
        return min(self.tried, key=lambda one: (_whole(one.errors, name), one.rows))

    def __repr__(self) -> str:
        return one_line("RowsChoice:", f"n = {self.n:,};", f"at most {self.apart:,} rows are filled or left out")

    def __str__(self) -> str:
        """The choice in words."""
        lines = [
            f"n = {self.n:,}: with it at most {self.apart:,} rows are filled or left out. Without a resize no n is needed.",
            "whole error against the table as recorded (at most, in 95 % of releases, if what is assumed is true):",
        ]
        return "\n".join([*lines, *(f"  {self._tell(name)}" for name in self._names)])

    def to_json(self) -> dict[str, object]:
        """The choice as JSON values."""
        best = {name: self.best(name) for name in self._names}
        errors = {
            name: {
                "direct": _finite(_whole(self.direct, name)),
                "resized": _finite(_whole(one.errors, name)),
                "rows": one.rows,
                "proportion": decimal_text(one.proportion),
            }
            for name, one in best.items()
        }
        return {"n": self.n, "apart": self.apart, "errors": errors}

    @property
    def _names(self) -> list[str]:
        """The statistics of which a whole error is stated."""
        return list(dict.fromkeys(one.name for one in self.direct.errors if one.whole is not None))

    def _tell(self, name: str) -> str:
        best = self.best(name)
        if _finite(_whole(best.errors, name)) is None:
            return f"{name}: ±{_whole(self.direct, name):.6g} without a resize; not stated with one"
        resized = f"±{_whole(best.errors, name):.6g} (n = {best.rows:,}, proportion {decimal_text(best.proportion)})"
        return f"{name}: ±{_whole(self.direct, name):.6g} without a resize, {resized} with the best that was tried"


def choose_n(request: Plan, *, rows: tuple[int, int], spend: Budget, **assumed: object) -> RowsChoice:
    """The n of a resize for a table of a private number of rows, and what a resize costs: mostly, do without.

    n is the middle of the range: no other n leaves out or fills fewer rows in the worst case. Beside it stand the whole
    errors of the request without a resize, and with the proportions from 0.1 to 1, each at n, and at the n at which no row
    is filled. Sampling never makes the noise of a count, a sum or a mean smaller (O8 of docs/proofs/original.md).

    Args:
        request: without groups and resize, of columns that are all imputed, as a resize needs it.
        rows: the least and the greatest number of rows, from public knowledge, or the ends of `Session.estimate_rows`.
        spend: what the release costs, as a measure.
        assumed: what else is assumed, as for `Quote.assuming`.

    Raises:
        ArgumentError: a range that is not one of whole numbers from 1, or a spend that is not a measure.
        PlanError: n is public, the request has a resize, a sample or groups, or a column that is not imputed.
    """
    if not is_budget(spend):
        raise ArgumentError(f'spend={printed(spend)}: must be a measure, such as dp.PureDP("0.5")')
    least, most = _range_of(rows)
    if request.facts.rows is not None or request.facts.drawn is not None:
        raise PlanError("choose_n(): the number of rows is public, or rows are drawn already; there is nothing to choose")
    if request.group_by:
        raise PlanError("choose_n(): the request has groups, and rows that fill a table have drawn ones; leave them out")
    middle = (least + most) // 2
    direct = quote(request, spend).assuming(rows=(least, most), **assumed)  # type: ignore[arg-type]
    tried = [
        ResizeTried(n, p, quote(_resize(request, n, p), spend).assuming(rows=(least, most), **assumed))  # type: ignore[arg-type]
        for n, p in _resizes(least, middle)
    ]
    return RowsChoice(middle, max(most - middle, middle - least), direct, tuple(tried))


def _range_of(rows: object) -> tuple[int, int]:
    if not isinstance(rows, tuple | list) or len(rows) != 2:
        raise ArgumentError(f"rows={printed(rows)}: must be a pair (least, greatest), from public knowledge or a release")
    least, most = (whole_number(one, "rows", least=1) for one in rows)
    if least > most:
        raise ArgumentError(f"rows=({least}, {most}): the least must come first; exchange the two")
    return least, most


def _resizes(least: int, middle: int) -> Iterator[tuple[int, Fraction]]:
    """For each proportion the n at which no row is filled even if the table is small, and the middle."""
    for p in _PROPORTIONS:
        for n in dict.fromkeys((max(1, floor(p * least)), middle)):
            yield n, p


def _resize(request: Plan, n: int, proportion: Fraction) -> Plan:
    return replace(request, steps=(*request.steps, Resize(n, proportion)))


def _whole(errors: AssumedErrors, name: str) -> float:
    found = errors.of(name).whole
    return float("inf") if found is None else found


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
