"""Tables that meet public sums: cells, variances and intervals by dense matrices, what a document says, and mutants."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import polars as pl
import pytest
from tests.builders import changed_release, session_over

import discreet as dp
from discreet.mechanisms import law_of_cell
from discreet.noise.bits import system_bits
from discreet.noise.single.laws import DiscreteLaplace
from discreet.quotes.allocate import quote
from discreet.releases.assemble import answers_of
from discreet.releases.evaluate import noisy_answers
from discreet.statistics import condition_systems as systems
from discreet.statistics import conditioned_cells as room
from discreet.statistics import conditions
from discreet.statistics.effects import cells_of, parts_of
from discreet.totals.exact_totals import exact_totals_of

pytestmark = pytest.mark.one_in(3)  # the others run with make test-slow

ROWS = 400
LABELS = {"a": ["x", "y", "z"], "b": ["p", "q"], "f": ["u", "v", "w"]}
SCHEMA = dp.Schema(**{name: dp.Category(labels) for name, labels in LABELS.items()})


def people():
    draw = np.random.default_rng(1)
    a = draw.choice(LABELS["a"], ROWS, p=[0.6, 0.3, 0.1])
    b = np.where(a == "z", "p", draw.choice(LABELS["b"], ROWS))
    return pl.DataFrame({"a": a, "b": b, "f": draw.choice(LABELS["f"], ROWS)})


FRAME = people()
TABLES = [("a", "b"), ("b", "f"), ("a", "f"), ("f", "a", "b"), ("a",)]
EMPTY = [("z", "q"), (None, "p"), (None, "q"), (None, None), ("x", None), ("y", None), ("z", None)]
IMPOSSIBLE = dp.Impossible("a", "b", cells=EMPTY)


def sums_of(names, coefficient, total):
    """A public sum over all rows: the columns that it reads, what a row counts in it, and the sum."""
    return names, coefficient, total


def counted(**values):
    return int(FRAME.filter([pl.col(name) == value for name, value in values.items()]).height)


ONLY = [("x", "p"), ("z", "q")]
CASES = {
    "cells that nobody can be in": (IMPOSSIBLE, []),
    "two margins and such cells": (dp.Totals("a") + dp.Totals("b") + IMPOSSIBLE, []),
    "some totals": (
        dp.Totals("a", "b", only=ONLY),
        [
            sums_of(("a", "b"), lambda row, cell=cell: int((row["a"], row["b"]) == cell), counted(a=cell[0], b=cell[1]))
            for cell in ONLY
        ],
    ),
    "a sum of values": (
        dp.LinearInvariant(["a"], {"s": {"x": 1, "y": 2}}),
        [sums_of(("a",), lambda row: {"x": 1, "y": 2}.get(row["a"], 0), counted(a="x") + 2 * counted(a="y"))],
    ),
    "cells and a sum": (
        IMPOSSIBLE + dp.LinearInvariant(["f"], {"s": {"u": 1, "w": 3}}),
        [sums_of(("f",), lambda row: {"u": 1, "w": 3}.get(row["f"], 0), counted(f="u") + 3 * counted(f="w"))],
    ),
}
SPENDS = {"gaussian": dp.ZCDP("1/2"), "laplace": dp.PureDP("1/2")}


def quoted(case, noise, filled=False):
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))
    if filled:
        table = table.impute({"f": dp.Weights({"u": 2, "v": 1, "w": 1})})
    session = session_over(FRAME, SCHEMA, neighbours=dp.ReplaceOne(rows=ROWS), invariants=CASES[case][0], budget=dp.ZCDP(9))
    session.publish_totals()
    totals = exact_totals_of(CASES[case][0], SCHEMA, session.totals, ROWS)
    return quote(table.agg(dp.tables(*map(list, TABLES))), SPENDS[noise], totals)


def exact_of(one):
    """The answers of the tables of `FRAME` with nobody's noise: by the levels of each query that can have rows."""
    query, found = one.query, np.zeros(sum(one.query.widths()), dtype=np.int64)
    alive = getattr(query, "alive", ())
    whole = np.zeros([len(each) for each in alive] or [1], dtype=np.int64)
    for row in FRAME.iter_rows(named=True):
        whole[tuple(each.index(place_of(group.column, row)) for group, each in zip(query.groups, alive, strict=True))] += 1
    values = whole * query.times if type(query).__name__ == "WholeTable" else query.of_counts(whole_of(query, whole))
    found[:] = np.asarray(values).ravel()
    return found


def whole_of(query, whole):
    every = np.zeros(query.sizes or (), dtype=np.int64)
    if not query.sizes:
        return np.array(whole.sum())
    every[np.ix_(*query.alive)] = whole
    return every


def place_of(column, row):
    name = column.removesuffix(" with its nulls")
    labels = LABELS[name]
    return labels.index(row[name]) if row[name] is not None else len(labels)


def drawn(case, noise, filled=False):
    """A quote, its recipe and noisy answers."""
    one = quoted(case, noise, filled)
    (line,) = one.lines
    noisy = noisy_answers(one, [exact_of(each) for each in one.measured], system_bits())
    return one, line.recipe, answers_of(one, line, noisy)


# Dense ----------------------------------------------------------------------------------------------------------------


def levels_of(domain, axis):
    """The labels of the levels of an axis that can have rows."""
    own = domain.axes[axis]
    labels = [*LABELS[own.printed.column], None]
    return [labels[place] for place in own.alive]


def spread(domain, table, part):
    """From the numbers of an effect, over its axes ascending, to the measured cells of a table."""
    sizes = domain.effects.sizes
    matrix = np.ones((1, 1))
    for axis in table:
        size = sizes[axis]
        matrix = np.kron(matrix, np.eye(size) - 1 / size if axis in part else np.full((size, 1), 1 / size))
    order = [axis for axis in table if axis in part]
    columns = np.arange(prod(sizes[axis] for axis in part)).reshape([sizes[axis] for axis in part])
    # Columns of `matrix` are in the order of the table; those of the effect are ascending.
    return matrix[:, np.argsort(columns.transpose([part.index(axis) for axis in order]).ravel())] if part else matrix


def covariance(domain, variances, one, other):
    found = np.zeros([prod(domain.effects.sizes[axis] for axis in table) for table in (one, other)])
    for part, size in variances.items():
        if set(part) <= set(one) & set(other):
            found += float(size) * spread(domain, one, part) @ spread(domain, other, part).T
    return found


def conditions_of(domain, case):
    """K and k over all cells of all tables, one table after the other, straight from what is published."""
    _, sums = CASES[case]
    starts = np.cumsum([0, *(prod(domain.effects.sizes[axis] for axis in table) for table in domain.tables)])
    rows, totals = [], []
    for table, start in zip(domain.tables, starts, strict=False):
        names = [domain.axes[axis].printed.column for axis in table]
        cells = [dict(zip(names, labels, strict=True)) for labels in product(*(levels_of(domain, axis) for axis in table))]
        if {"a", "b"} <= set(names) and "cells" in case:
            for place, cell in enumerate(cells):
                if (cell["a"], cell["b"]) in EMPTY:
                    rows.append([(start + place, 1)])
                    totals.append(0)
        for columns, coefficient, total in sums:
            if set(columns) <= set(names):
                own = [(start + place, coefficient(cell)) for place, cell in enumerate(cells) if coefficient(cell)]
                rows += [own, *([one] for one in own if not total)]  # nobody is in any of them
                totals += [total] * (1 if total else 1 + len(own))
    matrix = np.zeros((len(rows), starts[-1]))
    for own, row in zip(matrix, rows, strict=True):
        for place, factor in row:
            own[place] = factor
    return matrix, np.array(totals, dtype=float)


def readings(domain, table):
    found = np.ones((1, 1))
    for axis in table:
        size, chances = domain.effects.sizes[axis], domain.fills.get(axis)
        found = np.kron(
            found,
            np.eye(size) if chances is None else np.hstack([np.eye(size - 1), np.array(chances)[:, None] / sum(chances)]),
        )
    return found


def lifted(recipe, noises, matrix):
    """C, and C Kᵀ (K C Kᵀ)⁺."""
    domain, variances = recipe.domain, recipe.variances(noises)
    spreads = np.block([[covariance(domain, variances, one, other) for other in domain.tables] for one in domain.tables])
    return spreads, spreads @ matrix.T @ np.linalg.pinv(matrix @ spreads @ matrix.T, rcond=1e-11, hermitian=True)


def plain(recipe, answers):
    """The cells of all tables by all levels, one table after the other, without conditions."""
    found = cells_of(recipe.domain.effects, recipe.domain.tables, recipe.measured(answers), {})
    return np.concatenate([(values / denominator).astype(float).ravel() for values, denominator in found])


def printed(recipe, cells):
    """Numbers of all levels of all tables, as the printed cells of each table have them."""
    domain, start = recipe.domain, 0
    for table in domain.tables:
        many = prod(domain.effects.sizes[axis] for axis in table)
        yield readings(domain, table) @ cells[start : start + many]
        start += many


def dense(recipe, answers, case):
    """x - C Kᵀ (K C Kᵀ)⁺ (K x - k) for the printed cells of each table, and their variances."""
    matrix, totals = conditions_of(recipe.domain, case)
    spreads, map_ = lifted(recipe, answers.noises, matrix)
    cells = plain(recipe, answers)
    moved, rest = cells - map_ @ (matrix @ cells - totals), spreads - map_ @ matrix @ spreads
    half = [np.asarray(one).T for one in printed(recipe, rest)]
    start, variances = 0, []
    for table, own in zip(recipe.domain.tables, half, strict=True):
        many = prod(recipe.domain.effects.sizes[axis] for axis in table)
        variances.append(np.diag(readings(recipe.domain, table) @ own[start : start + many]))
        start += many
    return list(zip(printed(recipe, moved), variances, strict=True))


def flat(agreed, domain):
    """Cells and half-widths of each table, flat."""
    for table, (values, denominator), halves in zip(domain.tables, agreed.cells, agreed.halves, strict=True):
        wide = np.zeros([domain.effects.sizes[axis] - (axis in domain.fills) for axis in table])
        for cells, half in halves:
            wide[cells.index] = float(half)
        yield np.array([float(Fraction(int(one), int(denominator))) for one in values.ravel()]), wide.ravel()


def compare(case, noise, filled=False):
    _, recipe, answers = drawn(case, noise, filled)
    agreed = recipe.agreed(answers)
    assert agreed.left <= 2**-40
    for (cells, halves), (moved, variances) in zip(flat(agreed, recipe.domain), dense(recipe, answers, case), strict=True):
        assert cells == pytest.approx(moved, abs=1e-5)
        public = variances < 1e-9
        assert (halves[public] == 0).all()
        assert (halves[~public] >= 1.9599 * variances[~public] ** 0.5).all()
        most = 1.9599 * 1.005 if noise == "gaussian" else 3.2
        assert (halves[~public] <= most * variances[~public] ** 0.5).all()


@pytest.mark.parametrize(
    ("case", "filled"), [*((case, False) for case in CASES), *((case, True) for case in list(CASES)[:4])]
)
@pytest.mark.parametrize("noise", SPENDS)
def test_cells_are_the_nearest_ones_that_meet_what_is_public_and_intervals_are_narrower(case, noise, filled):
    compare(case, noise, filled)


def test_narrower_intervals_than_the_variances_are_noticed(monkeypatch):
    """The mutant takes off twice what conditions take off a variance."""
    right = systems._Dense.reduce

    def twice(self, table, readings):
        found = right(self, table, readings)
        return None if found is None else replace(found, taken=1.3 * found.taken)

    monkeypatch.setattr(systems._Dense, "reduce", twice)
    with pytest.raises(AssertionError):
        compare("cells that nobody can be in", "gaussian")


def test_a_condition_that_is_forgotten_is_noticed(monkeypatch):
    """Conditions of one table are those of every table with its columns: the mutant forgets them all but a zero."""
    right = conditions.meet

    def forgets(effects, given, *others):
        fewer = [conditions.TableConditions(one.table, one.sums[:1]) for one in given]
        return right(effects, fewer, *others)

    monkeypatch.setattr(room, "meet", forgets)
    with pytest.raises(AssertionError):
        compare("cells that nobody can be in", "gaussian")


@pytest.mark.parametrize("noise", SPENDS)
@pytest.mark.parametrize("case", CASES)
def test_many_conditions_are_met_by_iteration_with_the_intervals_of_none(case, noise, monkeypatch):
    one, recipe, answers = drawn(case, noise)
    best = list(flat(recipe.agreed(answers), recipe.domain))
    plain = [max(half for _, half in halves) for halves in recipe.halves(one.noises(one.lines[0]))]
    monkeypatch.setattr(systems, "_MOST_ROWS", 0)
    agreed = recipe.agreed(answers)
    assert agreed.left <= 2**-30
    for (cells, halves), (right, narrow), most in zip(flat(agreed, recipe.domain), best, plain, strict=True):
        assert cells == pytest.approx(right, abs=1e-5)
        assert (halves[narrow == 0] == 0).all() or case in {"some totals", "a sum of values", "cells and a sum"}
        assert (halves >= narrow * (1 - 2e-3)).all()
        assert (halves <= float(most) * (4 if noise == "laplace" else 1.01)).all()


@pytest.mark.parametrize("noise", SPENDS)
@pytest.mark.parametrize("case", CASES)
def test_intervals_contain_what_is_drawn(case, noise):
    """Of noise alone, which the dense map carries to the cells: 5 % of misses, and seven deviations.

    A cell that misses in 5 % has more with a probability of 6e-11.
    """
    one, recipe, answers = drawn(case, noise)
    halves = [wide for _, wide in flat(recipe.agreed(answers), recipe.domain)]
    draws, bits = 2000, system_bits()
    exact = [exact_of(each) for each in one.measured]
    matrix, _ = conditions_of(recipe.domain, case)
    moved = np.eye(matrix.shape[1]) - lifted(recipe, answers.noises, matrix)[1] @ matrix
    maps = list(printed(recipe, moved @ linear(one, recipe, exact)))
    noise_of = np.concatenate(
        [
            law_of_cell(each.law).sample(draws * len(own), bits).reshape(len(own), draws)
            for each, own in zip(one.measured, exact, strict=True)
        ]
    )
    most, near = 0.05 + 7 * (0.05 * 0.95 / draws) ** 0.5, 1.5 if noise == "gaussian" else 2
    for wide, own in zip(halves, maps, strict=True):
        errors = np.abs(own @ noise_of.astype(float))
        assert (errors > wide[:, None] + 1e-6).mean(axis=1).max() <= most
        # They are no wider than they need to be: of half of them, or two thirds, too many would miss.
        free = wide > 0
        assert not free.any() or (errors > wide[:, None] / near + 1e-6).mean(axis=1)[free].max() > most


def linear(one, recipe, exact):
    """What a unit of each measured number adds to each cell of all levels, without conditions."""
    (line,), columns = one.lines, []
    base = plain(recipe, answers_of(one, line, [np.zeros_like(own) for own in exact]))
    for place, own in enumerate(exact):
        for cell in range(len(own)):
            unit = [np.zeros_like(each) for each in exact]
            unit[place][cell] = 10**6
            columns.append((plain(recipe, answers_of(one, line, unit)) - base) / 10**6)
    return np.array(columns).T


# The faults that this ends --------------------------------------------------------------------------------------------


def released(invariants, noise, tables=TABLES):
    budget = {"gaussian": dp.ZCDP(9), "laplace": dp.PureDP(9)}[noise]
    session = session_over(FRAME, SCHEMA, neighbours=dp.ReplaceOne(rows=ROWS), invariants=invariants, budget=budget)
    session.publish_totals()
    return session.release(session.table.agg(dp.tables(*map(list, tables))), spend="1/2", name="all")


def truth(names):
    return {row[:-1]: row[-1] for row in FRAME.group_by(names).len().rows()}


def agree(release):
    """All tables have the same sums."""
    frames = release.tables
    for names in TABLES:
        for others in TABLES:
            if set(names) < set(others):
                one, other = frames["_".join(["tables", *names])], frames["_".join(["tables", *others])]
                summed = {row[:-1]: row[-1] for row in other.group_by(*names).agg(pl.col("count").sum()).rows()}
                for *cell, count in one.select(*names, "count").rows():
                    assert summed[tuple(cell)] == pytest.approx(count, abs=1e-6)


@pytest.mark.parametrize("noise", SPENDS)
def test_cells_of_published_totals_that_are_zero_have_no_noise_in_any_table_and_nothing_contradicts_the_totals(noise):
    release = released(dp.Totals("a", "b"), noise)
    agree(release)
    exact, frames = truth(["a", "b"]), release.tables
    for name in ("tables_a_b", "tables_f_a_b"):
        frame = frames[name].group_by("a", "b").agg(pl.col("count", "count_low", "count_high").sum())
        for a, b, count, low, high in frame.rows():
            assert count == pytest.approx(exact.get((a, b), 0), abs=1e-6)
            assert (low, high) == (0, 0) or (a, b) in exact
    assert {row[0]: row[1] for row in frames["tables_a"].rows()} == {
        None: 0,
        **{key[0]: n for key, n in truth(["a"]).items()},
    }
    assert dp.verify(release).sums > 12


@pytest.mark.parametrize("noise", SPENDS)
def test_no_cell_that_nobody_can_be_in_shows_noise(noise):
    release = released(IMPOSSIBLE, noise)
    agree(release)
    frames, seen = release.tables, 0
    for name in ("tables_a_b", "tables_f_a_b"):
        for row in frames[name].iter_rows(named=True):
            if (row["a"], row["b"]) in EMPTY:
                assert (row["count"], row["count_low"], row["count_high"]) == (0, 0, 0)
                seen += 1
            elif row.get("f", "u") is not None:
                assert row["count_low"] < row["count"] < row["count_high"]
    assert seen == 5 * len(EMPTY)
    # Where the groups of a have nobody but in one column, what is left is their number in it.
    z = frames["tables_a_b"].filter(pl.col("a") == "z", pl.col("b") == "p")["count"][0]
    assert z == pytest.approx(frames["tables_a"].filter(pl.col("a") == "z")["count"][0], abs=1e-9)


@pytest.mark.parametrize("noise", SPENDS)
def test_a_margin_that_is_exact_already_refuses_no_other_table(noise):
    release = released(dp.Totals("a"), noise)
    agree(release)
    assert {row[0]: row[1:] for row in release.tables["tables_a"].rows()} == {
        **{key[0]: (n, n, n) for key, n in truth(["a"]).items()},
        None: (0, 0, 0),
    }
    assert dp.verify(release).tables == len(TABLES)


CHANGES = {
    "a multiplier": (("measured", 0, "conditions", "tables", 0, "multipliers", 0), "does not follow|not the public ones"),
    "a precision": (("measured", 0, "conditions", "precisions", 0, 1), "does not follow|not the public ones"),
    "a total": (("measured", 0, "conditions", "tables", 0, "totals", 0), "does not follow|not the public ones"),
    "a cell": (("measured", 0, "conditions", "tables", 0, "cells", 0), "does not follow|not the public ones"),
    "no conditions": (("measured", 0, "conditions"), "does not follow|cannot be read"),
}


@pytest.mark.parametrize("noise", SPENDS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_condition_is_noticed(change, noise):
    path, told = CHANGES[change]
    release = released(IMPOSSIBLE, noise)
    value = {"a cell": [1], "no conditions": {}}.get(change, 10**40)
    with pytest.raises(dp.ArgumentError, match=told):
        dp.verify(changed_release(release, path, value))


@pytest.mark.parametrize("noise", SPENDS)
def test_no_public_sum_can_be_changed_alone(noise):
    """Some sums follow from others, and move no estimate: one of them that is another number is noticed all the same."""
    release = released(IMPOSSIBLE, noise)
    conditions = release.document["measured"][0]["conditions"]
    tables = enumerate(conditions["tables"])
    paths = [("tables", place, "totals", number) for place, one in tables for number in range(len(one["totals"]))]
    for path in (*paths, ("left",)):
        value = conditions["left"] + 1 if path == ("left",) else conditions["tables"][path[1]]["totals"][path[3]] + 1
        with pytest.raises(dp.ArgumentError, match=r"does not follow|not the public ones|as near to the public sums"):
            dp.verify(changed_release(release, ("measured", 0, "conditions", *path), value))


def test_laws_are_what_they_are_taken_for():
    one, recipe, _ = drawn("cells that nobody can be in", "laplace")
    assert all(isinstance(law_of_cell(each.law), DiscreteLaplace) for each in one.measured)
    assert all(
        part in recipe.domain.effects.parts
        for table in recipe.domain.tables
        for part in parts_of(recipe.domain.effects, table)
    )
