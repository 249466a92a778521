"""The statistics that a table of persons answers: what each needs of a person, and its recipe (docs/proofs/persons.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from types import MappingProxyType
from typing import Any

from discreet.cube.person_numbers import Here, PersonNumber, RowsUpTo
from discreet.cube.queries import PersonBins, PersonLevels, PersonsInFull
from discreet.cube.trees import Tree
from discreet.domain.groups import BinGroup, group_labels
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError
from discreet.statistics.base import Kind, Statistic, groupings_of
from discreet.statistics.common import number_of
from discreet.statistics.counted import NoisyCount
from discreet.statistics.counts import Count
from discreet.statistics.histograms import Histogram
from discreet.statistics.in_full import InFull
from discreet.statistics.means import Mean
from discreet.statistics.person_counting import (
    Counting,
    Spread,
    Taken,
    squares_of,
    taken_rows,
    taken_totals,
    total_number,
)
from discreet.statistics.person_divided import PersonHistogramRecipe, PersonQuantileRecipe
from discreet.statistics.person_moments import (
    InFullRecipe,
    PersonMeanRecipe,
    PersonRecipe,
    PersonShareRecipe,
    PersonVarianceRecipe,
)
from discreet.statistics.person_values import MeanPerPerson, SumPerPerson, totals_of, wanted_of
from discreet.statistics.person_variances import StdPerPerson, VariancePerPerson
from discreet.statistics.persons import Persons
from discreet.statistics.quantile import Median, Quantiles, orders_of
from discreet.statistics.quantile_intervals import Codes
from discreet.statistics.recipe import Recipe
from discreet.statistics.shares import Share, ShareRecipe
from discreet.statistics.variances import RootRecipe, Std, Variance

__all__ = ["counts_rows", "numbers_of", "of_persons", "person_recipe", "spreads_of"]


@dataclass(frozen=True, slots=True)
class _Answered:
    """How a table of persons answers a kind of statistic.

    Args:
        make: its recipe.
        numbers: what a person counts for in it.
        spread: what a person is divided by in it, if anything.
        rows: whether the rows of a person count, for which a request says how many.
    """

    make: Callable[[Statistic, Counting], Recipe]
    numbers: Callable[[Statistic, int, TableFacts], Iterable[PersonNumber]]
    spread: Callable[[Statistic], Spread | None]
    rows: bool


def counts_rows(one: Statistic) -> bool:
    """True if rows of persons count, and not persons alone."""
    return _ANSWERED[type(one.kind)].rows


def numbers_of(statistics: Iterable[Statistic], rows: int, facts: TableFacts) -> tuple[PersonNumber, ...]:
    """What a person counts for in these statistics, each number once, with up to `rows` rows in a group.

    Raises:
        PlanError: sums of its values have no room.
    """
    each = (number for one in statistics for number in _ANSWERED[type(one.kind)].numbers(one, rows, facts))
    return tuple(dict.fromkeys(each))


def spreads_of(statistics: Iterable[Statistic]) -> tuple[Spread, ...]:
    """What persons are divided by in these statistics, each once."""
    each = (_ANSWERED[type(one.kind)].spread(one) for one in statistics)
    return tuple(dict.fromkeys(spread for spread in each if spread is not None))


def of_persons() -> tuple[type[Kind], ...]:
    """The kinds of statistics that a table of persons answers."""
    return tuple(_ANSWERED)


def person_recipe(one: Statistic, counting: Counting) -> Recipe:
    """The recipe of a statistic of a table of persons, which a plan has checked."""
    return _ANSWERED[type(one.kind)].make(one, counting)


# Numbers of each person ---------------------------------------------------------------------------------------------------


def _persons(_one: Statistic, counting: Counting) -> Recipe:
    return PersonRecipe(counting.persons(), "persons", Fraction(1), bounded=counting.weighed.unit > 1)


def _share(_one: Statistic, counting: Counting) -> Recipe:
    # The parts of a whole: both are in units of 1/W, which their quotient does not depend on.
    count = NoisyCount(counting.persons())
    return PersonShareRecipe(ShareRecipe(count, count), counting.weighed.unit)


def _count(one: Statistic, counting: Counting) -> Recipe:
    if one.column is None:
        return PersonRecipe(counting.counted_rows(), "rows of bounded persons", Fraction(1), bounded=True)
    known = counting.known(taken_rows(one.column, counting.rows, counting.facts))
    return PersonRecipe(known, "rows of bounded persons", Fraction(1), bounded=True)


def _counted(one: Statistic, rows: int, facts: TableFacts) -> tuple[PersonNumber, ...]:
    return (RowsUpTo(rows) if one.column is None else taken_rows(one.column, rows, facts).known,)


def _sum(one: Statistic, counting: Counting) -> Recipe:
    # Centred at the middle it would need a count to go back. The errors of both together are those of the sum alone.
    wanted = wanted_of(one)
    total = counting.total(total_number(wanted, counting.facts), f"totals of {wanted.words()}")
    return PersonRecipe(total, "", totals_of(wanted, counting.facts).unit, bounded=True)


def _mean_of(taken: Taken, counting: Counting) -> PersonMeanRecipe:
    total, known = counting.centred(taken, taken.values), counting.known(taken)
    return PersonMeanRecipe(total, known, taken.values.fine, taken.step, taken.span, taken.bounds)


def _variance_of(taken: Taken, counting: Counting) -> PersonVarianceRecipe:
    squares = squares_of(taken)
    over, under = squares.fine.as_integer_ratio()
    root = Fraction(isqrt(over), isqrt(under))
    return PersonVarianceRecipe(_mean_of(taken, counting), counting.centred(taken, squares), root, squares.middle)


def _taken(one: Statistic, rows: int, facts: TableFacts) -> Taken:
    """The values of the column: of rows, or what each person has."""
    if isinstance(one.kind, MeanPerPerson | VariancePerPerson | StdPerPerson):
        return taken_totals(wanted_of(one), facts)
    return taken_rows(str(one.column), rows, facts)


def _mean(one: Statistic, counting: Counting) -> Recipe:
    return _mean_of(_taken(one, counting.rows, counting.facts), counting)


def _variance(one: Statistic, counting: Counting) -> Recipe:
    return _variance_of(_taken(one, counting.rows, counting.facts), counting)


def _std(one: Statistic, counting: Counting) -> Recipe:
    return RootRecipe(_variance_of(_taken(one, counting.rows, counting.facts), counting))


def _sums(one: Statistic, rows: int, facts: TableFacts) -> tuple[PersonNumber, ...]:
    taken = _taken(one, rows, facts)
    return taken.known, taken.values.number


def _squares(one: Statistic, rows: int, facts: TableFacts) -> tuple[PersonNumber, ...]:
    taken = _taken(one, rows, facts)
    return taken.known, taken.values.number, squares_of(taken).number


# Persons who are divided --------------------------------------------------------------------------------------------------


def _by_bins(one: Statistic) -> Spread:
    ((group,),) = groupings_of(one)
    if not isinstance(group, BinGroup):
        raise InternalError(f"statistic '{one.name}' has no bins")
    return Spread(str(one.column), group)


def _by_values(one: Statistic) -> Spread:
    return Spread(str(one.column), None)


def _histogram(one: Statistic, counting: Counting) -> Recipe:
    spread = _by_bins(one)
    if spread.by is None:
        raise InternalError(f"statistic '{one.name}' has no bins")
    places = len(group_labels(spread.by, counting.facts))
    return PersonHistogramRecipe(PersonBins(spread.by, places, counting.divided(spread)))


def _quantiles(one: Statistic, counting: Counting) -> Recipe:
    known, grid = number_of(counting.facts, one.column)
    size = known.high - known.low + 1
    # One level over the grid of the column; its shape depends on the noise that it will get.
    tree = PersonLevels(str(one.column), Tree(size, max(size, 2), 1), counting.divided(_by_values(one)))
    return PersonQuantileRecipe(orders_of(one), tree, Codes(grid, known.low, size))


def _in_full(_one: Statistic, counting: Counting) -> Recipe:
    return InFullRecipe(PersonsInFull(1 + len(counting.spreads), counting.weighed.cells))


def _none(*_: Any) -> tuple[()]:
    return ()


def _nothing(_one: Statistic) -> None:
    return None


def _here(*_: Any) -> tuple[PersonNumber, ...]:
    return (Here(),)


def _total(one: Statistic, _rows: int, facts: TableFacts) -> tuple[PersonNumber, ...]:
    return (total_number(wanted_of(one), facts),)


_ANSWERED: Mapping[type[Kind], _Answered] = MappingProxyType(
    {
        Persons: _Answered(_persons, _here, _nothing, rows=False),
        Share: _Answered(_share, _here, _nothing, rows=False),
        SumPerPerson: _Answered(_sum, _total, _nothing, rows=False),
        MeanPerPerson: _Answered(_mean, _sums, _nothing, rows=False),
        VariancePerPerson: _Answered(_variance, _squares, _nothing, rows=False),
        StdPerPerson: _Answered(_std, _squares, _nothing, rows=False),
        InFull: _Answered(_in_full, _none, _nothing, rows=False),
        Count: _Answered(_count, _counted, _nothing, rows=True),
        Mean: _Answered(_mean, _sums, _nothing, rows=True),
        Variance: _Answered(_variance, _squares, _nothing, rows=True),
        Std: _Answered(_std, _squares, _nothing, rows=True),
        Histogram: _Answered(_histogram, _none, _by_bins, rows=True),
        Median: _Answered(_quantiles, _none, _by_values, rows=True),
        Quantiles: _Answered(_quantiles, _none, _by_values, rows=True),
    }
)
