"""Independence of two columns, from released counts: beside exact margins, and where margins are noisy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from discreet.errors import ArgumentError, printed
from discreet.noise.bits import Bits, system_bits
from discreet.noise.single.laws import Law
from discreet.releases.document import Release
from discreet.releases.hypotheses.crossed import (
    ROWS,
    Cells,
    Margins,
    check_facts,
    independent_laws,
    margins_of,
    read_cells,
)
from discreet.releases.hypotheses.estimated_margins import Association, Part
from discreet.releases.hypotheses.given_margins import Corner, drawn_p_value, largest_association
from discreet.releases.hypotheses.lattices import MarginNoise, read_noise
from discreet.releases.hypotheses.one_margin import OneMargin, one_margin_of
from discreet.releases.hypotheses.result import Tested, rounded_up
from discreet.releases.hypotheses.search import smallest_level
from discreet.releases.hypotheses.tables import hypergeometric_tables

__all__ = [
    "ALTERNATIVES",
    "association",
    "check_alternative",
    "one_sided_needs_two",
    "test_beside_one",
    "test_counts",
    "test_independence",
]

ALTERNATIVES = ("two-sided", "greater", "less")
"""What a test can look for."""

_Laws = tuple[tuple[Law, ...], ...]

_MOST_CELLS = 400
_MOST_DRAWS = 1_000_000
_FEWEST_DRAWS = 99
_MOST_BOXES = 96


def test_independence(
    release: Release,
    statistic: str | None = None,
    *,
    by: Sequence[str] | None = None,
    at: Mapping[str, object] | None = None,
    alternative: str = "two-sided",
    draws: int = 9999,
) -> Tested:
    """Tests whether two group columns are independent, with a p-value that is valid for every number of rows and noise.

    Args:
        release: counts by the two columns.
        statistic: a column of counts of its table; left out: the first one.
        by: the two columns; left out: all group columns that `at` does not fix. Counts are added up over the others.
        at: only the groups with these labels.
        alternative: "two-sided"; or for two levels each "greater" or "less": more or fewer rows than expected in the first
            level of both.
        draws: how many tables are drawn beside exact margins of more than two levels; the p-value is at least 1/(draws + 1).

    Raises:
        ArgumentError: noise whose law is not known here, imputed, sampled or repeated rows, or too few or too many levels.
    """
    check_alternative(alternative)
    _check_draws(draws)
    cells = read_cells(release, statistic, by, at)
    margins, laws = margins_of(release, cells, at), independent_laws(cells)
    if laws is None and (margins.rows is None or margins.columns is None):
        cells = read_cells(release, statistic, by, at, nulls=True)
        margins = margins_of(release, cells, at)
    shape = tuple(len(one) for one in cells.levels)
    if min(shape) < 2 or shape[0] * shape[1] > _MOST_CELLS:
        raise ArgumentError(
            f"by={printed(list(cells.names))}: has {shape[0]} and {shape[1]} levels; a test takes tables from 2 x 2 to "
            f"{_MOST_CELLS} cells"
        )
    if laws is not None:
        check_facts(release, *([name, *(at or {})] for name in cells.names))
        return test_counts(cells, margins, laws, alternative)
    return _with_margins(release, cells, margins, alternative, draws)


test_independence.__test__ = False  # type: ignore[attr-defined]


def check_alternative(alternative: str) -> None:
    """Raises ArgumentError for what is not an alternative."""
    if alternative not in ALTERNATIVES:
        raise ArgumentError(f"alternative={printed(alternative)}: must be one of {', '.join(ALTERNATIVES)}")


def _check_draws(draws: int) -> None:
    if isinstance(draws, bool) or not isinstance(draws, int) or not _FEWEST_DRAWS <= draws <= _MOST_DRAWS:
        raise ArgumentError(f"draws={printed(draws)}: must be an integer from {_FEWEST_DRAWS} to {_MOST_DRAWS}")


_KNOWN = "rows in which both are known"
_EVERY = "rows, those without a value as a level"


def _hypothesis(cells: Cells) -> str:
    return _independent(cells, _EVERY if any(None in each for each in cells.levels) else _KNOWN)


def _independent(cells: Cells, rows: str) -> str:
    return f"{cells.names[0]} and {cells.names[1]} are independent in the population of the {rows}"


def _named(cells: Cells, labels: Sequence[str | None]) -> str:
    """The labels of a cell in words."""
    return " and ".join(f"{name} = {'null' if one is None else one}" for name, one in zip(cells.names, labels, strict=True))


def one_sided_needs_two(shape: tuple[int, ...], alternative: str) -> None:
    """Raises ArgumentError for a side of a table that has none."""
    if alternative != "two-sided" and shape != (2, 2):
        raise ArgumentError(
            f'alternative={printed(alternative)}: only a table of two levels each has a side; use "two-sided", or fix levels'
        )


# Exact margins ------------------------------------------------------------------------------------------------------------

_EXACT = (
    "exact, from the hypergeometric law of the table given its margins and the law of the noise; one-sided, no test of the "
    "release has more power"
)
_GIVEN = (ROWS, "the margins are those that the release states exactly; nothing else about the population")
_PILOT = 400
"""Draws of noise, apart from all others, from which its variance is taken."""


def _with_margins(release: Release, cells: Cells, margins: Margins, alternative: str, draws: int) -> Tested:
    if margins.rows is None or margins.columns is None:
        beside = one_margin_of(release.document, cells)
        if beside is None:
            raise ArgumentError(
                f"release '{release.document['name']}': the noise of its counts is tied by exact totals, and the law of the "
                "table is not known to the test; release the counts by these two columns alone, beside the exact totals of "
                "one of them (dp.Totals), of both (dp.Margins), or of neither"
            )
        return test_beside_one(cells, beside, alternative)
    kept = margins.rows > 0, margins.columns > 0
    rows, columns = margins.rows[kept[0]], margins.columns[kept[1]]
    if min(rows.size, columns.size) < 2:
        raise ArgumentError("by: by the exact totals all rows are in one level of a column, so there is no table to test")
    values = cells.values[np.ix_(*kept)]
    one_sided_needs_two(values.shape, alternative)
    names = cells.names[0], cells.names[1]
    noise = read_noise(release.document, names, (rows.size, columns.size), turned=not margins.rows_first)
    corner = noise.corner()
    if corner is None:
        return _by_draws(cells, values, (rows, columns), noise, draws)
    firsts = [each[int(np.argmax(inside))] for each, inside in zip(cells.levels, kept, strict=True)]
    first = Corner(int(rows.sum()), int(rows[0]), int(columns[0]), corner)
    return Tested(
        test="independence",
        hypothesis=_hypothesis(cells),
        alternative=alternative,
        statistic=float(values[0, 0] - first.expected),
        statistic_words=f"the noisy count of {_named(cells, firsts)} less its expectation",
        p_value=rounded_up(first.p_value(int(values[0, 0]), alternative)),
        method=_EXACT,
        assumptions=_GIVEN,
        source=cells.source,
        details={"margins": "exact"},
    )


def _by_draws(cells: Cells, values: Any, margins: tuple[Any, Any], noise: MarginNoise, draws: int) -> Tested:
    bits = system_bits()
    pilot = noise.draws(_PILOT, bits).astype(np.float64)
    free = (values.shape[0] - 1) * (values.shape[1] - 1)
    statistic = largest_association(*margins, float((pilot**2).sum()) / (_PILOT * free))

    def null(times: int, more: Bits) -> Any:
        return hypergeometric_tables(*margins, times, more) + noise.draws(times, more)

    drawn = drawn_p_value(values, statistic, null, draws, bits)
    return Tested(
        test="independence",
        hypothesis=_hypothesis(cells),
        alternative="two-sided",
        statistic=drawn.statistic,
        statistic_words="the squared distance from the expected counts, each direction weighed by its variance with noise",
        p_value=rounded_up(drawn.p_value),
        method=f"{draws} tables drawn under the hypothesis, with the noise of the release: (1 + as large) / (1 + draws)",
        assumptions=_GIVEN,
        source=cells.source,
        details={"margins": "exact", "draws": draws, "as_large": drawn.as_large},
    )


# Noisy margins ------------------------------------------------------------------------------------------------------------

_BOUND = (
    "the smallest level at which no margins that the noise leaves possible explain the table; several cells share the level "
    "(Bonferroni)"
)


_OPEN = "nothing about the margins: they may be any that the noise leaves possible"
_OPEN_COLUMN = (
    "nothing about the totals of {}: they may be any that the noise leaves possible; rows without a value of {} are a level "
    "of their own"
)


def test_counts(cells: Cells, margins: Margins, laws: _Laws, alternative: str) -> Tested:
    """The test of a table whose cells have independent noise."""
    shape = cells.values.shape
    one_sided_needs_two(shape, alternative)
    places = [(i, j) for i in _different(shape[0]) for j in _different(shape[1])]
    parts = [(place, association(cells, margins, laws, place, alternative)) for place in places]
    return _by_search(cells, parts, alternative, ("noisy", _OPEN))


def test_beside_one(cells: Cells, beside: OneMargin, alternative: str) -> Tested:
    """The test of a table beside the exact totals of one of its columns."""
    groups, levels = beside.values.shape
    one_sided_needs_two((groups, max(2, levels)), alternative)  # one level is held against all others
    rows, columns = _different(groups), _different(levels)
    found = [((i, j), beside.association((i, j), alternative)) for i in rows for j in columns]
    parts = [((j, i) if beside.turned else (i, j), one) for (i, j), one in found]
    open_column = cells.names[0 if beside.turned else 1]
    assumed = _OPEN_COLUMN.format(open_column, open_column)
    named = replace(cells, levels=beside.levels(cells))
    tested = _by_search(named, parts, alternative, (f"exact for {cells.names[1 if beside.turned else 0]}", assumed))
    # The exact totals count rows without a value in the open column, also where the release does not show them.
    return replace(tested, hypothesis=_independent(cells, _EVERY))


def _by_search(
    cells: Cells, parts: list[tuple[tuple[int, int], Association]], alternative: str, said: tuple[str, str]
) -> Tested:
    """The smallest p-value of several cells, which share the level; and what is said of the margins."""
    parts.sort(key=lambda one: -one[1].estimate())
    (row, column), first = parts[0]
    best = 1.0
    for _, one in parts:
        if one.estimate() < first.estimate() - 1:
            break  # far behind the first: to leave it out can make the smallest p-value larger only
        best = min(best, smallest_level(one, _MOST_BOXES))
    return Tested(
        test="independence",
        hypothesis=_hypothesis(cells),
        alternative=alternative,
        statistic=first.estimate(),
        statistic_words=(
            f"of {_named(cells, [cells.levels[0][row], cells.levels[1][column]])} the noisy count less what its margins "
            "let expect, in standard deviations"
        ),
        p_value=rounded_up(min(1.0, len(parts) * best)),
        method=_BOUND,
        assumptions=(ROWS, said[1]),
        source=cells.source,
        details={"margins": said[0], "cells": len(parts)},
    )


test_counts.__test__ = False  # type: ignore[attr-defined]
test_beside_one.__test__ = False  # type: ignore[attr-defined]


def _different(levels: int) -> range:
    """The levels whose statistics differ by more than the sign: of two levels one suffices."""
    return range(1 if levels == 2 else levels)


def association(cells: Cells, margins: Margins, laws: _Laws, place: tuple[int, int], alternative: str) -> Association:
    """One cell against the rest, with exact sums where there are any."""
    (i, j), values = place, cells.values
    lines = [laws[start : start + values.shape[1]] for start in range(0, len(laws), values.shape[1])]
    row = Part(int(values[i].sum()), _joined(lines[i])) if margins.rows is None else Part(int(margins.rows[i]), ())
    along = _joined([line[j] for line in lines])
    column = Part(int(values[:, j].sum()), along) if margins.columns is None else Part(int(margins.columns[j]), ())
    whole = Part(int(values.sum()), _joined(laws)) if margins.whole is None else Part(margins.whole, ())
    inside = [(law, a == i, b == j) for a, line in enumerate(lines) for b, cell in enumerate(line) for law in cell]
    return Association(Part(int(values[i, j]), lines[i][j]), row, column, whole, inside, alternative)


def _joined(laws: Sequence[tuple[Law, ...]]) -> tuple[Law, ...]:
    return tuple(law for each in laws for law in each)
