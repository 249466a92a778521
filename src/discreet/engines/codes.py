"""The code of a number as an SQL expression: values within the bounds are rounded, and the few others are moved to them.

One comparison finds the values within the bounds; only they are rounded, in doubles wherever that is proved to be exact
(E1 and E2 in the proofs of the cube). No expression can fail on any value: conversions are tried, and integers are added
and multiplied in doubles, in types that hold the result for every value of the column, or where a CASE has bounded them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd

from discreet.cube.value_paths import NumberPath
from discreet.domain.columns import Number
from discreet.engines.base import ColumnType
from discreet.engines.dialect import Dialect
from discreet.errors import InternalError, SourceError
from discreet.exact.numbers import text

__all__ = ["decimal_code", "double_literal", "exact_grid", "float_code", "integer_code"]

_EXACT = 2**48
"""Rounding in doubles is right while steps times denominator stay below this (theorem E2), with room to spare."""

_NARROW = 18
"""A decimal of at most this many digits is a 64-bit integer without its point; all 64-bit integers can become doubles."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """rint((x - lower)/step) = rint((a·X - b)/d) for x = X/10**scale.

    Exactly the X from `first` to `last` are between the values of the codes low and high: none, when first > last. For them
    no intermediate result reaches `biggest`.
    """

    a: int
    b: int
    d: int
    first: int
    last: int
    biggest: int


def exact_grid(path: NumberPath, scale: int) -> _Grid:
    """The grid of a number for a column of decimals with this many digits after the point.

    Raises:
        SourceError: 128-bit integers are too small for it.
    """
    column = _number(path)
    unit = Fraction(10) ** scale
    factor, offset = 1 / (column.step * unit), column.lower / column.step
    d = factor.denominator * offset.denominator // gcd(factor.denominator, offset.denominator)
    a, b = int(factor * d), int(offset * d)
    first, last = ceil(column.value(path.low) * unit), floor(column.value(path.high) * unit)
    biggest = 4 * ((max(abs(first), abs(last)) + 1) * a + abs(b) + d)
    if biggest >= 2**126:
        raise SourceError(
            f"column '{path.name}': its type and the step {text(column.step)} need more than 128 bits together; "
            "round the column to fewer decimals, or choose a coarser step"
        )
    return _Grid(a, b, d, first, last, biggest)


def integer_code(dialect: Dialect, path: NumberPath, kind: ColumnType, type_: str | None) -> str:
    """rint((x - lower)/step), ties to even, within [low, high], of a column of integers; null for null.

    Args:
        dialect: of the engine.
        path: of the column.
        kind: its type.
        type_: of the codes; None where they are only added up, and any type will do.
    """
    grid, x, reach = exact_grid(path, 0), dialect.quoted(path.name), dialect.reach(kind)
    least, most = reach or (grid.first - 1, grid.last + 1)
    below = None if least >= grid.first else f"{x} < {grid.first}" if most >= grid.first else f"{x} IS NOT NULL"
    above = None if most <= grid.last else f"{x} > {grid.last}" if least <= grid.last else f"{x} IS NOT NULL"
    code = _integer_inside(dialect, x, path, kind, type_)
    if below is above is None:
        return code
    # The case of values within the bounds comes last: engines drop comparisons that the statistics of a file decide.
    some = max(least, grid.first) <= min(most, grid.last)
    return _first_of(dialect, x, [(below, path.low), (above, path.high)], otherwise=code if some else None)


def _integer_inside(dialect: Dialect, x: str, path: NumberPath, kind: ColumnType, type_: str | None) -> str:
    """The code of an integer within the bounds. Sums and differences stay within 64 bits for every value of the type."""
    grid, reach, small = exact_grid(path, 0), dialect.reach(kind), type_ or dialect.small(path.high)
    if (grid.a, grid.d) == (1, 1) and reach is not None and _fits(*reach):
        if grid.b == 0:
            return x if type_ is None else f"CAST({x} AS {type_})"
        if _fits(reach[0] - grid.b, reach[1] - grid.b):
            return f"(CAST({x} AS BIGINT) - {grid.b})"
    if (grid.a, grid.b, grid.d) == (1, 0, 1):
        return f"TRY_CAST({x} AS {small})"
    if grid.biggest < 2**52:
        return dialect.nearest(_divide(f"CAST({x} AS DOUBLE)", grid), small)
    return _long_division(dialect, x, grid)


def _fits(least: int, most: int) -> bool:
    return least >= -(2**63) and most < 2**63


def _divide(whole: str, grid: _Grid) -> str:
    """(a·X - b)/d in doubles, of a double X: all but the division is exact, and its rounding keeps ties apart (E1)."""
    top = whole if grid.a == 1 else f"{whole} * {double_literal(float(grid.a))}"
    return _quotient(top, float(grid.b), float(grid.d))


def _quotient(top: str, less: float, by: float) -> str:
    """(top - less)/by in doubles. Taking off 0 and dividing by 1 change no value."""
    difference = top if less == 0 else f"({top} - {double_literal(less)})"
    return difference if by == 1 else f"({difference} / {double_literal(by)})"


def _long_division(dialect: Dialect, integer: str, grid: _Grid) -> str:
    value = f"TRY_CAST({integer} AS BIGINT)" if grid.biggest < 2**62 else dialect.wide(integer)
    top = f"({value} * {grid.a} - {grid.b})" if (grid.a, grid.b) != (1, 0) else value
    return f"TRY_CAST({_round(dialect, top, grid.d)} AS BIGINT)"


def _round(dialect: Dialect, top: str, d: int) -> str:
    """rint(N/d) for an integer N ≥ 0, ties to even. Divisions take most of the time here: there are at most two.

    With N = qd + r and d even, N + d/2 - 1 + (q odd) reaches the next multiple of d exactly if r > d/2, or r = d/2 and q is
    odd. With d odd there are no ties, and N + (d - 1)/2 reaches it exactly if r > d/2. For N < 0 the CASE has chosen before.
    """
    if d == 1:
        return top
    over = dialect.divided
    odd = f" + ({top} {over} {d}) % 2" if d % 2 == 0 else ""
    return f"(({top} + {(d - 1) // 2}{odd}) {over} {d})"


def decimal_code(dialect: Dialect, path: NumberPath, kind: ColumnType, type_: str | None) -> str:
    """rint((x - lower)/step), ties to even, within [low, high], of a column of decimals; null for null.

    What has more digits than the type, which a source may hold all the same, is null.
    """
    grid, x, end = exact_grid(path, kind.scale), dialect.quoted(path.name), 10**kind.width - 1

    def within(first: int, last: int) -> str | None:
        ends = max(first, -end), min(last, end)
        return None if ends[0] > ends[1] else _between(x, *(dialect.decimal(one, kind) for one in ends))

    code = _decimal_inside(dialect, path, kind, type_ or dialect.small(path.high))
    inside, below, above = within(grid.first, grid.last), within(-end, grid.first - 1), within(grid.last + 1, end)
    return _first_of(dialect, x, [(inside, code), (below, path.low), (above, path.high)])


def _decimal_inside(dialect: Dialect, path: NumberPath, kind: ColumnType, type_: str) -> str:
    grid = exact_grid(path, kind.scale)
    number = f"CAST({_convertible(dialect, path, kind)} AS DOUBLE)"
    if _right_in_doubles(path, kind.scale):
        return dialect.nearest(_steps(number, _number(path)), type_)
    if max(abs(grid.first), abs(grid.last)) < _EXACT and grid.biggest < 2**52:
        # Four roundings move the integer x·10**scale by less than 1/16.
        whole = dialect.nearest(f"{number} * {double_literal(float(10**kind.scale))}", "BIGINT")
        return dialect.nearest(_divide(f"CAST({whole} AS DOUBLE)", grid), type_)
    return _long_division(dialect, dialect.unscaled(path.name, kind), grid)


def _convertible(dialect: Dialect, path: NumberPath, kind: ColumnType) -> str:
    """A decimal that can become a double, the same within the bounds: the least integer of 128 bits cannot be negated.

    A CASE would not do: an engine may convert all words of a dictionary, whichever rows are requested.
    """
    x, end = dialect.quoted(path.name), 10**kind.width - 1
    if kind.width <= _NARROW:
        return x
    return f"greatest({x}, {dialect.decimal(min(max(exact_grid(path, kind.scale).first, -end), end), kind)})"


def _right_in_doubles(path: NumberPath, scale: int) -> bool:
    """True if the expression for doubles rounds every decimal between the bounds as exact arithmetic would (E2)."""
    grid, column = exact_grid(path, scale), _number(path)
    largest = max(abs(column.value(path.low)), abs(column.value(path.high)), abs(column.lower))
    if largest / column.step * grid.d >= _EXACT:
        return False
    if grid.d % 2 == 1:
        return True  # no decimal is a tie
    half = column.step / 2
    parts = column.lower.denominator * half.denominator // gcd(column.lower.denominator, half.denominator)
    return parts & (parts - 1) == 0 and (2 * largest + column.step) * parts < 2**53


def float_code(dialect: Dialect, path: NumberPath, number: str, kind: ColumnType, type_: str | None) -> str:
    """The code that the IEEE expression of the reference gives, within [low, high]; NaN and the infinities are null.

    The expression grows with x, so that the doubles which it puts between low and high are those between two doubles (E3),
    found here. The code is tried even so: engines trust statistics of files, which leave NaN out.
    """
    column, single = _number(path), kind.kind == "float" and kind.shown == dialect.single
    x, doubles = (number, _SINGLES) if single else (f"CAST({number} AS DOUBLE)", _DOUBLES)
    first = doubles.first(lambda value: _reference_steps(column, value) >= path.low)
    last = doubles.first(lambda value: _reference_steps(column, value) > path.high) - 1
    code = dialect.nearest(_steps(f"CAST({number} AS DOUBLE)", column), type_ or dialect.small(path.high))
    inside = None if first > last else _between(x, doubles.literal(first), doubles.literal(last))
    outside = f"CASE WHEN {x} < {doubles.literal(first)} THEN {path.low} ELSE {path.high} END"
    if first > doubles.largest:
        outside = str(path.low)
    return _first_of(dialect, x, [(inside, code), (dialect.is_finite(x), outside)])


def _first_of(
    dialect: Dialect, x: str, branches: Sequence[tuple[str | None, object]], *, otherwise: str | None = None
) -> str:
    """The result of the first condition that holds for x, else `otherwise` or null. A condition that is None is left out."""
    written = [f"WHEN {condition} THEN {result}" for condition, result in branches if condition is not None]
    written += [] if otherwise is None else [f"ELSE {otherwise}"]
    return f"(CASE {dialect.null_first(x)}{' '.join(written)} END)"


def _between(x: str, least: str | None, most: str | None) -> str:
    """The condition that x, which is not null, is between two literals, of which one may be missing."""
    if least is None or most is None:
        return f"{x} <= {most}" if least is None else f"{x} >= {least}"
    return f"{x} BETWEEN {least} AND {most}"


def _steps(number: str, column: Number) -> str:
    """(x - lower)/step in doubles, as `_reference_steps` computes it."""
    return _quotient(number, float(column.lower), float(column.step))


def _reference_steps(column: Number, value: float) -> float:
    return (value - float(column.lower)) / float(column.step)


@dataclass(frozen=True, slots=True)
class _Floats:
    """The finite numbers of an IEEE type by their places in order: the place of -x is minus the place of x.

    Args:
        type_: its name.
        number: its letter in `struct`.
        place: the letter of integers of the same size.
        largest: the place of the largest finite number.
    """

    type_: str
    number: str
    place: str
    largest: int

    def value(self, place: int) -> float:
        """The number at a place."""
        size = float(struct.unpack(self.number, struct.pack(self.place, abs(place)))[0])
        return -size if place < 0 else size

    def first(self, reached: Callable[[float], bool]) -> int:
        """The least place at which a condition holds that holds ever after; one beyond the largest, where there is none."""
        below, reaches = -self.largest - 1, self.largest + 1
        while reaches - below > 1:
            middle = (below + reaches) // 2
            if reached(self.value(middle)):
                reaches = middle
            else:
                below = middle
        return reaches

    def literal(self, place: int) -> str:
        """The number at a place, bit for bit."""
        return double_literal(self.value(place)).replace("DOUBLE", self.type_)


_DOUBLES = _Floats("DOUBLE", "<d", "<q", 0x7FEF_FFFF_FFFF_FFFF)
_SINGLES = _Floats("FLOAT", "<f", "<i", 0x7F7F_FFFF)


def double_literal(value: float) -> str:
    """A literal that is this double, bit for bit: 17 significant digits, and a cast because bare literals are decimals."""
    return f"CAST('{value!r}' AS DOUBLE)"


def _number(path: NumberPath) -> Number:
    if not isinstance(path.column, Number):
        raise InternalError(f"column '{path.name}': is not a number")
    return path.column
