"""The whole error of prepared numbers against the table as recorded, before anything is spent, if something is assumed.

`Quote.assuming` gives it. The assumptions are public or released numbers; nothing here sees a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from discreet.domain.steps import ROW_DRAWS, Resize, conditions_of, facts_of
from discreet.domain.words import one_line
from discreet.errors import PlanError
from discreet.exact.numbers import text
from discreet.plan.plan import Plan
from discreet.plan.recorded import ANYWHERE, PREPARED, covered_by, plain_name
from discreet.quotes.assumptions import Assumed, Range, assumed_of, range_words, read_range
from discreet.quotes.groups import middle, size_words
from discreet.quotes.moved import Moved, moved_by
from discreet.quotes.off import Off, Rows, all_rows, count_off, is_stated, known_rows, off_by, resized_rows
from discreet.statistics.base import Statistic, groupings_of
from discreet.statistics.quantile import orders_of
from discreet.statistics.recipe import RANKS, GroupSize, Noises, Recipe, in_a_group

__all__ = [
    "AssumedErrors",
    "Quoted",
    "WholeError",
    "can_be_assumed",
    "columns_of",
    "holds_for_all_rows",
    "most_of",
    "noise_of",
    "offs_of",
    "whole_errors",
]

_MOST_ROWS = 10**15
_NONE = Off(0.0, 0.0, 0.0)


class QuotedLine(Protocol):
    """A statistic of a quote."""

    @property
    def statistic(self) -> Statistic:
        """The statistic."""

    @property
    def recipe(self) -> Recipe:
        """How it is computed."""

    @property
    def level(self) -> Fraction:
        """The level of each of its noisy parts."""


class Quoted(Protocol):
    """A quote."""

    @property
    def plan(self) -> Plan:
        """The request."""

    @property
    def sizes(self) -> tuple[GroupSize, ...]:
        """The sizes of groups that its errors are stated for."""

    @property
    def lines(self) -> Sequence[QuotedLine]:
        """Its statistics."""

    def noises_at(self, level: Fraction) -> Noises:
        """The noise behind its statistics at a level of certainty."""


@dataclass(frozen=True, slots=True)
class WholeError:
    """The error of one statistic against the table as recorded, in groups of one size.

    Args:
        name: the name of the statistic.
        covers: the table whose value its interval holds: "prepared", or how nulls are read in the recorded one.
        rows: the rows of the group, null ones included.
        noise: the half-width of the noise.
        off: how far its expectation is off, at most; None where no form is known.
        draws: what drawn values and sampled rows add by chance, at most.
        anywhere: the width of the range of the recorded statistic with any answer of those who gave none; 0 if unknown.
        unit: the unit of these, if it is not values of the statistic: "rows in rank" of quantiles.
    """

    name: str
    covers: str
    rows: int
    noise: float
    off: float | None
    draws: float
    anywhere: float
    unit: str = ""

    @property
    def whole(self) -> float | None:
        """All parts together: the number is this close to the recorded one in at least 95 % of releases."""
        return None if self.off is None else self.noise + self.off + self.draws

    def to_json(self) -> dict[str, object]:
        """The parts as JSON values."""
        parts = {"noise": self.noise, "off": self.off, "draws": self.draws, "whole": self.whole, "anywhere": self.anywhere}
        shown = {key: None if value == float("inf") else value for key, value in parts.items()}
        unit = {"unit": self.unit} if self.unit else {}
        return {"name": self.name, "covers": self.covers, "rows": self.rows, **shown, **unit}


@dataclass(frozen=True, slots=True)
class AssumedErrors:
    """What was assumed, and the whole error of each statistic in groups of each size.

    Args:
        assumed: the assumptions about each column that a statistic reads.
        rows: the rows of the table, where that is an assumption of its own; else None.
        errors: one for each statistic and size, sizes together.
    """

    assumed: tuple[Assumed, ...]
    rows: Range | None
    errors: tuple[WholeError, ...]

    def of(self, name: str, rows: int | None = None) -> WholeError:
        """The error of a statistic, in groups of this size or of the middle one.

        Raises:
            PlanError: there is no such statistic, or no such size.
        """
        found = [one for one in self.errors if one.name == name and rows in (None, one.rows)]
        if not found:
            raise PlanError(f"whole error of '{name}': there is none; there are those of {', '.join(self._names)}")
        return found[len(found) // 2]

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys(one.name for one in self.errors))

    def __repr__(self) -> str:
        shown = [f"{name} ±{_figure(self.of(name).whole)}" for name in self._names]
        return one_line("AssumedErrors:", ", ".join(shown))

    def __str__(self) -> str:
        """The assumptions and the errors in words."""
        lines = [one.words() for one in self.assumed]
        lines += [] if self.rows is None else [f"assumed of the table: {range_words(self.rows)} rows"]
        sizes = list(dict.fromkeys(one.rows for one in self.errors))
        where = size_words([GroupSize(rows, rows) for rows in sizes])
        lines.append(
            f"whole error against the table as recorded {where} (at most, in 95 % of releases, if what is assumed is true):"
        )
        for name in self._names:
            lines.append(f"  {name}: {_tell([one for one in self.errors if one.name == name])}")
        return "\n".join(lines + self._advice())

    def to_json(self) -> dict[str, object]:
        """The assumptions and the errors as JSON values."""
        rows = {} if self.rows is None else {"rows": [text(end) for end in self.rows]}
        return {
            "assumed": [one.to_json() for one in self.assumed],
            **rows,
            "errors": [one.to_json() for one in self.errors],
        }

    def _advice(self) -> list[str]:
        """A sentence where an interval would be mistaken for one of the table as recorded."""
        wrong = [one.name for one in self.errors if one.off is not None and one.off + one.draws > one.noise]
        if not wrong:
            return []
        told = f"{', '.join(dict.fromkeys(wrong))}: the interval of the release covers the noise alone, the smaller part"
        with_recorded = any(one.covers != PREPARED and one.noise for one in self.errors)
        return [told if with_recorded else f"{told}; original() adds an interval that holds the number as recorded"]


def whole_errors(quote: Quoted, given: Mapping[str, object], rows: object = None) -> AssumedErrors:
    """The whole error of each statistic of a quote.

    Args:
        quote: the quote.
        given: what is assumed of columns: see `assumed_of`.
        rows: the number of rows of the table, or of a group, or a range; None for the sizes of the quote.

    Raises:
        PlanError: the steps change groups or conditions, or sample rows.
        ArgumentError: an assumption is outside its domain.
    """
    plan = quote.plan
    _check_outer(plan)
    found = assumed_of(columns_of(plan), given)
    known = None if rows is None else read_range(rows, "rows", (Fraction(1), Fraction(_MOST_ROWS)))
    errors = []
    for size in _sizes(plan, quote.sizes, known):
        group = _rows(plan, size, known)
        errors += [_error(quote, line, found, (size, group)) for line in quote.lines]
    ordered = [one for line in quote.lines for one in errors if one.name == line.statistic.name]
    return AssumedErrors(tuple(found.values()), known, tuple(ordered))


def can_be_assumed(plan: Plan) -> dict[str, tuple[str, ...]]:
    """For each column of numbers that a statistic reads the names of what can be assumed of it."""
    return {one.column: one.open for one in columns_of(plan)}


def offs_of(
    plan: Plan, columns: Sequence[Moved], sizes: Sequence[GroupSize], given: Mapping[str, object]
) -> list[list[Off | None]]:
    """For each size of a group how far each statistic of a plan is off; None where no form is known.

    Raises:
        PlanError, ArgumentError: the cases of `whole_errors`.
    """
    _check_outer(plan)
    found = assumed_of(columns, given)
    return [[_off(plan, one, found, _rows(plan, size, None)) for one in plan.answered] for size in sizes]


def noise_of(quote: Quoted, line: QuotedLine, size: GroupSize, *, drawn: bool) -> float:
    """How far noise moves a value, at most; where something is drawn, it fails with half of the probability beside it.

    That is the half-width of the interval, but where the interval may hold everything that is possible: then the value may
    be at one end of it, and the true one at the other (O6 of docs/proofs/original.md).
    """
    level = (1 + line.level) / 2 if drawn else line.level
    found, most = line.recipe.widest(quote.noises_at(level), size), most_of(quote, line)
    return found if most is None or found < most else 2 * found


def most_of(quote: Quoted, line: QuotedLine) -> float | None:
    """The half-width of an interval that holds everything that is possible; None where there is no such interval."""
    if line.recipe.unit(1) == line.recipe.unit(2):  # the error is the same in groups of any size
        return None
    return line.recipe.widest(quote.noises_at(line.level), GroupSize(0, 0))


def _error(quote: Quoted, line: QuotedLine, found: Mapping[str, Assumed], group: tuple[GroupSize, Rows]) -> WholeError:
    """The error of one statistic in a group."""
    one, (size, rows) = line.statistic, group
    off = _off(quote.plan, one, found, rows) if holds_for_all_rows(line.recipe) else None
    shown = off or _NONE
    noise = noise_of(quote, line, _count_values(quote.plan, one, found, size), drawn=shown.draws > 0)
    expected, covers = None if off is None else off.expected, covered_by(quote.plan, one)
    unit = RANKS if line.recipe.unit(1) == RANKS else ""
    return WholeError(one.name, covers, size.rows, noise, expected, shown.draws, shown.anywhere, unit)


def _off(plan: Plan, one: Statistic, found: Mapping[str, Assumed], rows: Rows) -> Off | None:
    """How far a statistic is off, 0 where it is of the table as recorded; None where no form is known."""
    if (covers := covered_by(plan, one)) != PREPARED:
        if covers != ANYWHERE:
            return _NONE
        # The error of a quantile is that of its number; its interval reaches farther, and to the ends of leaves.
        return None if orders_of(one) else replace(_NONE, anywhere=_anywhere(plan, one, found, rows))
    if rows.resize is None and not any(_is_changed(plan, column) for column in _read_by(one)):
        return _NONE
    if not is_stated(one.kind, rows):
        return None
    if one.column is None:
        return count_off(rows)
    return off_by(one, found[one.column], rows) if one.column in found else None


def _anywhere(plan: Plan, one: Statistic, found: Mapping[str, Assumed], rows: Rows) -> float:
    """The width of the range of a recorded statistic with any answer of those who gave none; 0 if unknown."""
    about = found.get("" if one.column is None else plain_name(one.column, plan.schema))
    return 0.0 if about is None or not is_stated(one.kind, rows) else off_by(one, about, rows).anywhere


def _count_values(plan: Plan, one: Statistic, found: Mapping[str, Assumed], size: GroupSize) -> GroupSize:
    """The size of the group for the noise: rows in which the column is null do not count where they are left out."""
    nullable = [column for column in one.kind.reads.columns(one) if plan.facts[column].nullable]
    about = [found[name] for column in nullable if (name := plain_name(column, plan.schema)) in found]
    if not about:
        return size
    least, most = (sum((each.nulls[end] for each in about), Fraction(0)) for end in (0, 1))
    return replace(size, rows=known_rows(size.rows, (min(least, Fraction(1)), min(most, Fraction(1)))))


def holds_for_all_rows(recipe: Recipe) -> bool:
    """True if the error of a quote holds whatever the rows are: that of a correlation is of rows that are spread evenly."""
    return recipe.unit(1) in ("", RANKS, in_a_group(1))


def _sizes(plan: Plan, sizes: Sequence[GroupSize], known: Range | None) -> Sequence[GroupSize]:
    """The sizes of groups: those of the quote, or the fewest rows that are assumed. A resized table has its own."""
    if known is None or any(isinstance(step, Resize) for step in plan.steps):
        return sizes
    fewest = int(known[0])
    return [GroupSize(fewest, max(fewest, middle(sizes).every))]


def _rows(plan: Plan, size: GroupSize, known: Range | None) -> Rows:
    resize = next((step for step in plan.steps if isinstance(step, Resize)), None)
    if resize is None:
        return all_rows(known or (Fraction(size.rows), Fraction(size.rows)))
    public = plan.neighbours.rows
    if public is None and known is None:
        raise PlanError("assuming(): the table is resized; give rows=, the rows before that from public knowledge")
    return resized_rows(resize, known or (Fraction(public or 1), Fraction(public or 1)), public=public is not None)


def columns_of(plan: Plan) -> list[Moved]:
    """The columns of numbers that statistics read, and what the steps do to them."""
    names = dict.fromkeys(plain_name(name, plan.schema) for one in plan.answered for name in _read_by(one))
    found = (moved_by(plan, name) for name in names)
    return [one for one in found if one is not None]


def _read_by(one: Statistic) -> Iterator[str]:
    yield from one.kind.reads.columns(one)
    yield from (group.column for groups in groupings_of(one) for group in groups)


def _is_changed(plan: Plan, column: str) -> bool:
    start = facts_of(plan.schema, plan.neighbours)
    return column in start.columns and plan.facts[column] != start[column]


def _check_outer(plan: Plan) -> None:
    """Checks that both tables have the same groups, and rows that can be compared.

    Raises:
        PlanError: a changed column is in a group or a condition, or rows are sampled.
    """
    if plan.layout.persons is not None:
        raise PlanError(
            "assuming(): what a bound on persons cuts off is not known from shares of rows; left_out(groups) says it from "
            "numbers of groups of persons"
        )
    if any(isinstance(step, ROW_DRAWS) and not isinstance(step, Resize) for step in plan.steps):
        raise PlanError("assuming(): the table is sampled; before_sampling() gives intervals for the table before that")
    outer = [*(group.column for group in plan.group_by), *(step.column for step in conditions_of(plan.steps))]
    changed = next((name for name in outer if _is_changed(plan, name)), None)
    if changed is not None:
        raise PlanError(
            f"assuming(): '{changed}' is clamped or imputed, and rows are grouped or chosen by it, so that the two tables "
            "do not have the same groups; ask for original(prepared=False) instead"
        )


def _tell(errors: Sequence[WholeError]) -> str:
    """The error of one statistic by size, and its parts."""
    if errors[0].off is None:
        return "not stated for this kind of statistic"
    told = f"±{_join(errors, 'whole')}{f' {errors[0].unit}' if errors[0].unit else ''}"
    asked = any(one.anywhere for one in errors)
    spread = f"; any answers of those who gave none: a range of {_join(errors, 'anywhere')}" if asked else ""
    if errors[0].covers == ANYWHERE:
        return f"{told} at each end, noise alone: its interval holds the number with any answer{spread}"
    if errors[0].covers != PREPARED:
        return f"{told}, noise alone: its interval holds the number as recorded"
    parts = [f"noise {_join(errors, 'noise')}"]
    parts += [f"{_join(errors, 'off')} off"] if any(one.off for one in errors) else []
    parts += [f"draws {_join(errors, 'draws')}"] if any(one.draws for one in errors) else []
    return f"{told} = {' + '.join(parts)}{spread}" if len(parts) > 1 else f"{told}, noise alone{spread}"


def _join(errors: Sequence[WholeError], part: str) -> str:
    found = list(dict.fromkeys(_figure(getattr(one, part)) for one in errors))
    return " / ".join(found) if len(found) > 1 else found[0]


def _figure(value: float | None) -> str:
    return "?" if value is None else f"{value:.6g}"
