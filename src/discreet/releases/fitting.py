"""Whole numbers of the cells of one finest table and its sums: near all estimates together, then rounded table after table.

The real numbers are near to the estimates of all tables at once, so that a large number of a fine table has a say in what
it is part of, and the other way round. Rounding begins with the tables of few columns; each table has the sums of one before
it and of the wider areas, and what rounding has changed in others is made good as it goes on (docs/proofs/areas.md, K5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.effects import Axes
from discreet.releases.live_cells import LiveCells
from discreet.releases.nearest import Sums, nearest
from discreet.releases.transport import WholeSums, round_cells, round_table

__all__ = ["Given", "Pass", "fit"]

_CLEAR = 5  # deviations: a number that is larger is no noise, and hardly takes part in what noise in others costs
_FINEST = 25.0  # its weight, relative to one that may be noise, in the finest table
_COARSE = 10.0  # and in the others, which are about the same persons once more
_SETTLED = 100.0  # of a sum that was settled before, relative to a usual cell
_LEAST = 1e-3  # of a usual deviation: no number is taken to be more certain
_WHOLE = 1e-4  # a fraction is not carried to a whole number or beyond

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Codes = NDArray[np.int64]
Reals = Mapping[Axes, Floats]


@dataclass(frozen=True, slots=True)
class Pass:
    """A table and those before it: its sums are those of `within`, and near those of `beside`."""

    table: Axes
    within: Axes | None
    beside: tuple[Axes, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Some areas of one level and the tables that are to be found, all of them sums of the last one.

    Args:
        cells: of all these tables, and of those in `settled`.
        passes: the tables in the order in which they are rounded.
        wanted: for each table the unbiased counts of its cells.
        deviations: for each table the standard deviations of its cells; all 0 for a public one.
        settled: whole numbers of the cells of tables that were found before.
        above: for each table the whole numbers of the wider areas, all cells; none for all areas together.
    """

    cells: LiveCells
    passes: tuple[Pass, ...]
    wanted: Reals
    deviations: Reals
    settled: Mapping[Axes, Whole]
    above: Mapping[Axes, Whole] | None


def fit(given: Given) -> dict[Axes, Whole]:
    """The whole numbers of the cells of each table: not negative, with the sums of all passes and of the wider areas."""
    weights = _weights(given)
    # Without wider areas nothing says which cells are empty, and the noise of these would add up in tables of few columns.
    real = _reconciled(given) if given.above is None else _together(given, weights)
    return _one_after_the_other(given, real, weights)


def _weights(given: Given) -> dict[Axes, Floats]:
    """Of the squared differences: one over the variances, and more where a number is large."""
    finest, found = given.passes[-1].table, {}
    for table in (one.table for one in given.passes):
        precisions, clear = _precisions(given.deviations[table]), _clear(given.wanted[table], given.deviations[table])
        small = np.ones_like(precisions) if table else _certainty(given, precisions)
        found[table] = precisions * np.where(clear, _FINEST if table == finest else _COARSE, small)
    return found


def _certainty(given: Given, precisions: Floats) -> Floats:
    """How much less variance the counts of all persons of areas have than the sums of their cells would have, at least 1.

    So much more an area weighs in which nobody is to be seen: it would be filled with the noise of its cells.
    """
    finest = given.passes[-1].table
    sums = Sums(precisions, given.cells.places(finest, ()))
    return np.clip(sums.of(given.deviations[finest] ** 2) * precisions, 1.0, _COARSE)


def _clear(wanted: Floats, deviations: Floats) -> NDArray[np.bool_]:
    """True where somebody is, and not noise alone."""
    return np.asarray(wanted > _CLEAR * deviations)


def _precisions(deviations: Floats) -> Floats:
    """One over the variances; nothing is without noise beside others that have some."""
    if not deviations.any():
        return np.ones_like(deviations)
    return np.asarray(np.maximum(deviations, _LEAST * np.median(deviations[deviations > 0])) ** -2.0)


def _together(given: Given, weights: Reals) -> Reals:
    """Real numbers near to those of all tables at once, with the public sums and those of the wider areas."""
    cells, wanted, last = given.cells, given.wanted, given.passes[-1]
    price = _SETTLED * float(np.median(weights[last.table]))
    public = [one.table for one in given.passes[:-1] if not given.deviations[one.table].any()]
    wished = [one.table for one in given.passes[-2::-1] if one.table not in public]
    sums = [Sums(wanted[one], cells.places(last.table, one), weights[one]) for one in wished]
    for table, own in given.settled.items():
        kept = None if table == last.within else np.full(len(own), price)
        sums.append(Sums(own.astype(np.float64), cells.places(last.table, table), kept))
    sums += [Sums(wanted[one], cells.places(last.table, one)) for one in public]
    real = nearest(wanted[last.table], weights[last.table], [*sums, *_of_wider(given, last.table)])
    return {one.table: Sums(wanted[one.table], cells.places(last.table, one.table)).of(real) for one in given.passes}


def _reconciled(given: Given) -> Reals:
    """The counts, those of coarser tables raised where large numbers of a finer one add up to more."""
    found, tables = dict(given.wanted), [one.table for one in given.passes]
    for table in filter(None, tables[-2::-1]):  # the count of all persons stays: it is in every sum
        raised = [_between(given, table, finer, found[finer]) for finer in _next_finer(table, tables)]
        found[table] = np.asarray(np.max([found[table], *raised], axis=0))
    return found


def _between(given: Given, table: Axes, finer: Axes, parts: Floats) -> Floats:
    """A count, or what is between it and the sum of the large numbers in it, where these are more, by the variances of both.

    What is left of such a count would be less than nobody.
    """
    count, own = given.wanted[table], given.deviations[table] ** 2
    large, places = _clear(parts, given.deviations[finer]), given.cells.places(finer, table)
    least = Sums(count, places).of(parts * large)
    theirs = Sums(count, places).of(given.deviations[finer] ** 2 * large)
    contradict = (least > count) & (least > 0) & (own > 0)
    return np.asarray(np.where(contradict, (count * theirs + least * own) / np.where(contradict, own + theirs, 1), count))


def _next_finer(table: Axes, tables: Sequence[Axes]) -> list[Axes]:
    """The tables of which this one is a sum, with none between."""
    finer = [one for one in tables if set(table) < set(one)]
    return [one for one in finer if not any(set(other) < set(one) for other in finer)]


def _of_wider(given: Given, table: Axes) -> list[Sums]:
    if given.above is None:
        return []
    return [Sums(given.above[table].astype(np.float64).reshape(-1), given.cells.wide(table))]


def _one_after_the_other(given: Given, wanted: Reals, weights: Reals) -> dict[Axes, Whole]:
    """Whole numbers near these ones, each table within one before it; some may be settled before."""
    done = dict(given.settled)
    for one in given.passes:
        done[one.table] = _table(given, one, wanted[one.table], weights[one.table], done)
    return done


def _table(given: Given, one: Pass, wanted: Floats, weights: Floats, done: Mapping[Axes, Whole]) -> Whole:
    cells, table = given.cells, one.table
    if not given.deviations[table].any():
        return np.rint(given.wanted[table]).astype(np.int64)
    price = _SETTLED * float(np.median(weights))
    places = {other: cells.places(table, other) for other in (*one.beside, *([] if one.within is None else [one.within]))}
    sums = [
        Sums(done[other].astype(np.float64), own, None if other == one.within else np.full(len(done[other]), price))
        for other, own in places.items()
    ]
    real = nearest(wanted, weights, [*sums, *_of_wider(given, table)])
    columns = None if given.above is None else WholeSums(cells.wide(table), given.above[table].reshape(-1))
    if one.within is None:
        return np.rint(real).astype(np.int64) if columns is None else round_cells(real, columns)
    rows = WholeSums(places[one.within], done[one.within])
    if not one.beside:
        return _rounded(real, rows, columns)
    beside = [(places[other], np.zeros(len(done[other]))) for other in one.beside]
    return _carried(real, cells.cells(table, one.within), (rows, columns), beside)


def _rounded(real: Floats, rows: WholeSums, columns: WholeSums | None) -> Whole:
    return round_cells(real, rows) if columns is None else round_table(real, rows, columns)


def _carried(
    real: Floats, coarse: Codes, sums: tuple[WholeSums, WholeSums | None], beside: list[tuple[Codes, Floats]]
) -> Whole:
    """A rounding by one coarse cell after the other: what it takes from sums beside is carried to their next cells."""
    rows, columns = sums
    found = np.zeros(len(real), dtype=np.int64)
    order = np.argsort(coarse, kind="stable")
    ends = np.searchsorted(coarse[order], np.arange(int(coarse.max(initial=-1)) + 2))
    for cell in np.argsort(np.bincount(coarse, weights=real), kind="stable").tolist():
        own = order[ends[cell] : ends[cell + 1]]
        if not len(own):
            continue
        given = _carry(real[own], np.sum([left[places[own]] for places, left in beside], axis=0))
        found[own] = _rounded(given, rows.part(own), None if columns is None else columns.part(own))
        for places, left in beside:
            np.add.at(left, places[own], real[own] - found[own])
    return found


def _carry(real: Floats, moved: Floats) -> Floats:
    """Fractions with what was rounded away before; whole numbers stay, and no fraction becomes one."""
    low = np.floor(real)
    carried = np.clip(real + moved, low + _WHOLE, low + 1 - _WHOLE)
    return np.asarray(np.where(real - low > _WHOLE, carried, real))
