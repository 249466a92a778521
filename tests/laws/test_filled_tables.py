"""Imputed columns of agreeing tables: expected counts by the words of the steps, noise by dense matrices, and mutants."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.mechanisms import law_of_cell
from discreet.noise.bits import no_bits
from discreet.noise.single.laws import RoundedGaussian
from discreet.noise.single.weighted import half_width_of_rounded
from discreet.quotes.allocate import quote
from discreet.quotes.attributes import part_of_change
from discreet.releases.evaluate import exact_answers, run_scans
from discreet.statistics import effects as room
from discreet.statistics import filled
from discreet.statistics.effects import MeasuredEffect, cells_of, gain_of, halves_of, parts_of, variances_of
from discreet.statistics.filled import blocks_of_cells
from discreet.totals.attributes import changes_of_attribute
from discreet.totals.exact_totals import exact_totals_of

from . import literal_rows
from .changed_tables import farthest

SCHEMA = dp.Schema(a=dp.Category(["x", "y", "z"]), b=dp.Category(["p", "q"]), v=dp.Number(0, 5), c=dp.Category(["u", "w"]))
FRAME = pl.DataFrame(
    {
        name: np.random.default_rng(place).choice([*values, None, None], 60).tolist()
        for place, (name, values) in enumerate(
            {"a": ["x", "y", "z"], "b": ["p", "q"], "v": [0, 1, 4, 5], "c": ["u", "w"]}.items()
        )
    }
)
BINS = dp.bins("v", [0, 2, 5])
TABLES = [["a", "b"], ["a", BINS], [BINS, "c"], ["a"], ["c", "a", "b"]]
SPEND = dp.ZCDP("1/2")


def clamped(table):
    """Some values become null by a clamp, and are imputed; numbers by a uniform law between other bounds."""
    laws = {"a": dp.Weights({"x": 3, "y": "1/2"}), "v": dp.Uniform(1, 4)}
    return table.clamp({"a": ["x", "y"], "v": (0, 4)}).impute(laws)


STEPS = {
    "weights": lambda table: table.impute({"a": dp.Weights({"x": 1, "y": 2, "z": 0})}),
    "all": lambda table: clamped(table).impute({"b": dp.Weights({"p": 1, "q": 1}), "c": dp.Weights({"u": 5, "w": 2})}),
    "numbers and clamps": clamped,
    "a condition": lambda table: clamped(table).where({"b": ["p"]}),
    "two laws, the second of no use": lambda table: clamped(table).impute({"a": dp.Weights({"y": 1})}),
}
BOUNDED = {
    "twice each row and 5 of nulls": lambda table: (
        clamped(table)
        .impute({"b": dp.Weights({"p": 1, "q": 1}), "c": dp.Weights({"u": 5, "w": 2})})
        .resize(125, proportion=2)
    )
}


def prepared(case, neighbours=None):
    return {**STEPS, **BOUNDED}[case](dp.Table(SCHEMA, neighbours or dp.AddRemove()))


def neighbours_of(case):
    return dp.ReplaceOne(rows=len(FRAME)) if case in BOUNDED else dp.AddRemove()


def exact_cells(quoted, frame=FRAME):
    """The cells of all tables from exact effects, of which nothing was drawn."""
    session = session_over(frame, SCHEMA, neighbours=quoted.plan.neighbours, budget=SPEND)
    answers = exact_answers(quoted, run_scans(session._engine, quoted.plan.layout), no_bits())
    (line,) = quoted.lines
    domain = line.recipe.domain
    measured = {}
    for one, values in zip(quoted.measured, answers, strict=True):
        part = next(part for part, query in domain.parts.items() if query == one.asked)
        measured[part] = MeasuredEffect(values.reshape(one.query.levels), one.query.times, None)
    if () not in measured:
        measured[()] = MeasuredEffect(np.array(quoted.plan.facts.rows), 1, None)
    return domain, cells_of(domain.effects, domain.tables, measured, domain.fills)


def expected(plan, groups, labels, rows):
    """Straight from the words of the steps: for each row and each way to impute it, its chance, in its cell."""
    found = np.zeros([len(one) for one in labels], dtype=object)
    names = list(dict.fromkeys([*(group.column for group in groups), "b"]))
    for row in rows:
        laws = [literal_rows.after_steps(plan, name, row[name]).items() for name in names]
        for chosen in product(*laws):
            chance = Fraction(1)
            for _, share in chosen:
                chance *= share
            record = dict(zip(names, (value for value, _ in chosen), strict=True))
            if literal_rows.passes(plan, record):
                places = tuple(literal_rows.place(group, record, one) for group, one in zip(groups, labels, strict=True))
                found[places] += chance
    return found


@pytest.mark.parametrize("case", [*STEPS, *BOUNDED])
def test_cells_are_the_expected_counts_and_nothing_is_drawn(case):
    plan = prepared(case, neighbours_of(case)).agg(dp.tables(*TABLES))
    domain, cells = exact_cells(quote(plan, SPEND))
    rows = FRAME.rows(named=True)
    if case in BOUNDED:
        rows = rows * 2 + [dict.fromkeys(FRAME.columns)] * 5
    for table, (values, denominator) in zip(domain.tables, cells, strict=True):
        groups = domain.groups(table)
        labels = [literal_rows.group_labels(group, plan.facts) for group in groups]
        wanted = expected(plan, groups, labels, rows)
        there = np.ix_(*(domain.axes[axis].levels for axis in table))
        assert (values == denominator * wanted[there]).all()
        assert wanted.sum() == wanted[there].sum()


def test_a_law_that_counts_nulls_twice_would_be_noticed(monkeypatch):
    monkeypatch.setattr(filled, "_fill", lambda values, place, chances: np.delete(values, -1, axis=place) * sum(chances))
    with pytest.raises(AssertionError):
        test_cells_are_the_expected_counts_and_nothing_is_drawn("weights")


DRAWN = {
    "a sample": lambda table: clamped(table).sample(rows=20),
    "a condition on a drawn value": lambda table: clamped(table).where({"a": ["x"]}),
    "a value drawn from either of two laws": lambda table: (
        table.impute({"a": dp.Weights({"x": 1, "z": 1})})
        .clamp({"a": ["x", "y"]})
        .impute({"a": dp.Weights({"x": 1, "y": 1})})
    ),
    "null at the end": lambda table: table.impute({"a": dp.Weights({"x": 1, "z": 1})}).clamp({"a": ["x", "y"]}),
}


@pytest.mark.parametrize("case", DRAWN)
def test_where_a_law_alone_does_not_say_it_values_are_drawn(case):
    plan = DRAWN[case](dp.Table(SCHEMA, dp.AddRemove())).agg(dp.tables(["a"]))
    (line,) = quote(plan, SPEND).lines
    assert not line.recipe.domain.fills
    assert any(scan.imputed for scan in plan.layout.scans)


def test_any_number_of_imputed_columns_shares_no_joint_table():
    schema = dp.Schema(**{f"c{place}": dp.Category([*"abcdefgh"]) for place in range(20)})
    table = dp.Table(schema, dp.AddRemove()).impute(
        {name: dp.Weights(dict.fromkeys("abcdefgh", 1)) for name in schema.columns}
    )
    plan = table.agg(dp.tables(*dp.ways(list(schema.columns), 2)), dp.count())
    assert not any(scan.imputed for scan in plan.layout.scans)


# What neighbours can tell ---------------------------------------------------------------------------------------------

SMALL = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p"]), c=dp.Category(["u"]))
LAWS = {"a": dp.Weights({"x": 1, "y": 3}), "c": dp.Weights({"u": 1})}
ROWS = 3


def small(neighbours, **conditions):
    table = dp.Table(SMALL, neighbours)
    table = table.where(conditions) if conditions else table
    return table.impute({"a": LAWS["a"]}).agg(dp.tables(["a", "b"], ["b", "c"], ["a", "c"]))


def scaled(quoted):
    """For every row its contributions to all answers, each over the deviation of its noise: distances are μ."""
    found = []
    for values in product(("x", "y", None), ("p", None), ("u", None)):
        row = dict(zip("abc", values, strict=True))
        row |= {"a with its nulls": row["a"]}
        counts = literal_rows.passes(quoted.plan, row)
        parts = []
        for one in quoted.measured:
            amounts = [amount for _, _, amount in literal_rows.parts(one.query, quoted.plan, row)]
            parts += [counts * amount / float(law_of_cell(one.law).sigma2) ** 0.5 for amount in amounts]
        found.append(parts)
    return np.array(found)


@pytest.mark.parametrize("conditions", [{}, {"b": ["p"]}], ids=str)
def test_all_neighbours_together_cost_exactly_the_spend(conditions):
    appearing = scaled(quote(small(dp.AddRemove(), **conditions), SPEND))
    assert float((appearing**2).sum(axis=1).max()) == pytest.approx(1, rel=1e-6)
    replaced = scaled(quote(small(dp.ReplaceOne(rows=ROWS), **conditions), SPEND))
    assert farthest(replaced, [()] * 12, changed=1, rows=ROWS) == pytest.approx(1, rel=1e-6)


def test_beside_totals_of_other_columns_the_spend_is_attained():
    totals = exact_totals_of(dp.Totals("b"), SMALL, None, ROWS)
    quoted = quote(small(dp.ReplaceOne(rows=ROWS)), SPEND, totals)
    kept = [[("b", row[1])] for row in product(("x", "y", None), ("p", None), ("u", None))]
    assert farthest(scaled(quoted), kept, changed=totals.adjacency.a, rows=ROWS) == pytest.approx(1, rel=1e-6)


def test_totals_of_an_imputed_column_are_refused():
    totals = exact_totals_of(dp.Totals("a"), SMALL, None, ROWS)
    with pytest.raises(dp.PlanError, match="cannot be imputed"):
        quote(small(dp.ReplaceOne(rows=ROWS)), SPEND, totals)


# The noise of a cell --------------------------------------------------------------------------------------------------


def reading(size, chances, level):
    """The vector by which the measured levels of an axis are added up."""
    found = np.eye(size)[level]
    if chances is not None:
        found = found + np.eye(size)[-1] * chances[level] / sum(chances)
    return found


def dense_weights(effects, table, part, level, fills):
    """What each number of an effect adds to a cell of the table, by matrices."""
    found = np.ones(1)
    for axis, at in zip(table, level, strict=True):
        size = effects.sizes[axis]
        row = reading(size, fills.get(axis), at)
        centred = row @ (np.eye(size) - 1 / size)
        found = np.kron(found, centred) if axis in part else found * row.sum() / size
    return found / float(effects.scale(part))


def parts_with(effects):
    laws = (RoundedGaussian(Fraction(10**9 + place)) for place in range(len(effects.parts)))
    return {part: MeasuredEffect(None, 4, law) for part, law in zip(effects.parts, laws, strict=True)}


def told_variance(measured, table, cells):
    """What the library says of the variance in these cells, and of the sum of the squares of the weights."""
    variances, squares = variances_of(EFFECTS, measured), Fraction(0)
    variance = Fraction(0)
    for part in parts_of(EFFECTS, table):
        outside = prod(EFFECTS.sizes[axis] for axis in table if axis not in part)
        gain = gain_of(table, part, cells.readings) / outside**2
        variance += variances[part] * gain
        squares += gain / (measured[part].times * EFFECTS.scale(part)) ** 2
    return variance, squares


CHANCES = {0: (3, 1), 2: (1, 1, 1, 0), 3: tuple(range(9))}
EFFECTS = room.Effects((3, 2, 5, 10), tuple(part for many in range(3) for part in combinations(range(4), many)))
PAIRS = list(combinations(range(4), 2))


def test_the_noise_of_each_cell_is_that_of_dense_matrices():
    """Exactly where a class of cells has one chance; at least so, and hardly more, where several share a bound."""
    measured = parts_with(EFFECTS)
    for table in PAIRS:
        for cells in blocks_of_cells(EFFECTS.sizes, table, CHANCES):
            told = float(told_variance(measured, table, cells)[0])
            truths = []
            for level in product(*cells.levels):
                truth = 0.0
                for part in (part for part in EFFECTS.parts if set(part) <= set(table)):
                    weights = dense_weights(EFFECTS, table, part, level, CHANCES) / 4
                    truth += float(measured[part].law.sigma2) * float((weights**2).sum())
                truths.append(truth)
            assert max(truths) <= told * (1 + 1e-9)
            assert told <= max(truths) * (1.25 if 3 in table else 1 + 1e-9)


def test_half_widths_of_rounded_noise_are_those_of_the_weights():
    measured = parts_with(EFFECTS)
    level = Fraction(95, 100)
    for table, found in zip(PAIRS, halves_of(EFFECTS, PAIRS, measured, CHANCES, level), strict=True):
        for cells, half in found:
            assert half == half_width_of_rounded(*told_variance(measured, table, cells), level)


def test_a_width_that_forgets_the_nulls_would_be_noticed(monkeypatch):
    right = filled._reading

    def forgets(size, chances, some):
        found = right(size, chances, some)
        plain = 1 - Fraction(1, size)
        return filled.Reading(found.levels, plain, Fraction(1), plain, (Fraction(1), Fraction(1)), (plain, plain))

    monkeypatch.setattr(filled, "_reading", forgets)
    with pytest.raises(AssertionError):
        test_the_noise_of_each_cell_is_that_of_dense_matrices()


# Releases -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spend", [dp.ZCDP("1/2"), dp.PureDP(1)], ids=str)
def test_a_release_agrees_is_verified_and_says_what_its_counts_are(spend):
    session = session_over(FRAME, SCHEMA, budget=spend)
    table = STEPS["all"](session.table)
    tables = dp.tables(*TABLES)
    release = session.release(table.agg(tables, dp.mean("v")), spend=spend, name="all")
    assert dp.verify(release).tables == len(TABLES)
    frames = release.tables
    assert all(
        not frame.select(pl.exclude("count", "count_low", "count_high")).null_count().sum_horizontal()[0]
        for frame in frames.values()
    )
    for name in ("tables_a_b", "tables_a_v", "tables_c_a_b"):
        own = frames[name].group_by("a", maintain_order=True).agg(pl.col("count").sum()).sort("a")
        assert own["count"].to_list() == pytest.approx(frames["tables_a"].sort("a")["count"].to_list(), abs=1e-6)
    (told,) = (one["imputed"] for one in release.document["statistics"] if one["statistic"] == "tables")
    assert told == "the nulls of a, b, v, c are in the counts by the law that imputes them, and none was drawn"
    assert "the nulls of a, b, v, c" in str(session.quote(table.agg(tables), spend=spend))
    rows = dp.fit_rows(release) if isinstance(spend, dp.ZCDP) else None
    assert rows is None or not rows.frame.null_count().sum_horizontal()[0]


def test_errors_hold_in_every_cell():
    """A law with one likely value makes the intervals of that value wider: the error is met there too."""
    table = dp.Table(SCHEMA, dp.AddRemove()).impute({"a": dp.Weights({"x": 9, "y": 1, "z": 1})})
    plan = table.agg(dp.tables(["a", "b"], ["a"], errors=[40, 25]))
    session = session_over(FRAME, SCHEMA, budget=dp.ZCDP(5))
    asked = session.quote(plan, error={"tables": 1})
    (line,) = asked.lines
    halves = line.recipe.halves(asked.noises(line))
    for wanted, parts in zip((40, 25), halves, strict=True):
        assert len(parts) == 2
        assert max(half for _, half in parts) <= wanted * Fraction(1001, 1000)
    assert (
        max(float(max(half for _, half in parts)) / wanted for wanted, parts in zip((40, 25), halves, strict=True)) >= 0.98
    )


@pytest.mark.parametrize("attribute", ["a", "b"])
def test_a_change_of_one_attribute_costs_as_much_as_any_pair_of_rows_that_differ_in_it(attribute):
    """The name under which an imputed column is counted is that of the column where costs are told apart."""
    quoted = quote(small(dp.ReplaceOne(rows=ROWS)), SPEND)
    (change,) = (one for one in changes_of_attribute((attribute,), None, SMALL, ROWS) if one.moved == {attribute})
    rows, every = list(product(("x", "y", None), ("p", None), ("u", None))), scaled(quoted)
    pairs = [
        (one, other)
        for one, other in product(range(len(rows)), repeat=2)
        if all(rows[one][place] == rows[other][place] for place, name in enumerate("abc") if name != attribute)
    ]
    worst = max(float(((every[one] - every[other]) ** 2).sum()) for one, other in pairs)
    assert 0 < worst <= float(part_of_change(quoted, change)) * (1 + 1e-9)


ALL = dp.bins("v", [0, 5])
"""One group of every value."""
SPENDS = {"effects": SPEND, "whole": dp.PureDP(1)}
RELATIONS = {"n private": dp.AddRemove(), "n public": dp.ReplaceOne(rows=len(FRAME))}


@pytest.mark.parametrize("measured", SPENDS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_nulls_that_the_only_group_fills_are_counted_as_any_row(relation, measured):
    spend = SPENDS[measured]
    session = session_over(FRAME, SCHEMA, neighbours=RELATIONS[relation], budget=spend)
    filled = session.table.impute({"v": dp.Uniform()})
    asked = session.quote(filled.agg(dp.tables([ALL, "c"], ["c"])), spend=spend)
    assert not any("v" in one.query.columns() or "v with its nulls" in one.query.columns() for one in asked.measured)
    found = session.release(filled.agg(dp.tables([ALL, "c"], ["c"], ["b"])), spend=spend, name="n")
    (both, alone) = (found.tables[f"tables_{one}"].drop("v", strict=False) for one in ("v_c", "c"))
    assert both.equals(alone)
    assert dp.verify(found).tables == 3


@pytest.mark.parametrize("measured", SPENDS)
def test_a_table_of_the_only_group_that_fills_is_the_number_of_rows(measured):
    filled = dp.Table(SCHEMA, dp.AddRemove()).impute({"v": dp.Uniform()})
    asked = quote(filled.agg(dp.tables([ALL])), SPENDS[measured])
    assert [one.query.words() for one in asked.measured] == ["rows of all tables"]
    public = dp.Table(SCHEMA, dp.ReplaceOne(rows=60)).impute({"v": dp.Uniform()})
    with pytest.raises(dp.PlanError, match="asks only for numbers that are public already"):
        quote(public.agg(dp.tables([ALL])), SPENDS[measured])
