"""What is done with a table after resampling does not depend on it: recorded on one table, replayed on another.

Two tables that differ in k rows go through the same quote with the same random bits. Then every request for noise and for
bits is the same, in the same order, every line of the library runs the same number of times in the same order, the noise
that is added is the same, and so are the shapes of all results; and the exact answers lie within k times the declared
sensitivities, of each query and of all together. Beside exact totals the tables are semi-adjacent, and the sensitivities
are those of all rows that differ. Plans, tables and neighbours are drawn at random; planted errors are noticed.
"""

from __future__ import annotations

import hashlib
import sys
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.cube import Cube, compact, sum_dtype
from discreet.cube.paths import KeyAxis, path_of
from discreet.cube.queries import QuantileCodes, RowCount
from discreet.cube.scans import Part
from discreet.domain.codes import NULL
from discreet.domain.steps import CategoryFacts, facts_of
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms import Sensitivity
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.registry import NOISES
from discreet.noise.bits import Bits
from discreet.plan.plan import resize_of, table_facts, used_columns
from discreet.quotes import allocate
from discreet.releases import evaluate
from discreet.releases.assemble import estimated, frames
from discreet.totals.beside import beside
from discreet.totals.checking import checked_invariants
from discreet.totals.published import totals_of_counts

from .test_plan_is_row_level import FREE, SCHEMA, cases
from .test_totals_output_law import quote_of, random_invariants, random_plan, random_schema, values_of

LIBRARY = str(Path(dp.__file__).parent)
SPENDS = [dp.PureDP("0.5"), dp.ApproxDP("0.5", "1e-6"), dp.ZCDP("0.1"), dp.GDP(1)]


# Recording --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Kernel:
    """From a table after resampling to noisy integers: what a release does, or what a planted error does instead."""

    exact: Callable = evaluate.exact_answers
    noisy: Callable = evaluate.noisy_answers


@dataclass(frozen=True)
class Recorded:
    """One run: laws and lengths of the noises, bytes that were asked for, lines, dtypes and lengths of the results."""

    noises: tuple
    reads: tuple
    lines: tuple
    shapes: tuple


def replayed_bits(reads: list[int]) -> Bits:
    """Always the same stream; every request is written down."""

    def read(count: int) -> bytes:
        reads.append(count)
        return hashlib.shake_128(b"replay" + len(reads).to_bytes(8, "big")).digest(count)

    return Bits(read)


def run(quoted, table: Sequence[Cube], kernel: Kernel):
    """What was recorded, and the exact and the noisy answers."""
    noises, reads, lines = [], [], []
    real_noises, real_resample = {kind: kind.apply for kind in NOISES}, evaluate.resample
    resampled = iter(table)

    def apply(noise, values, bits):
        noises.append((noise, len(values), values.dtype))
        return real_noises[type(noise)](noise, values, bits)

    def trace(frame, event, _argument):
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        if event == "line":
            lines.append((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    for kind in NOISES:
        kind.apply = apply
    evaluate.resample = lambda *_, **__: next(resampled)
    sys.settrace(trace)
    try:
        bits = replayed_bits(reads)
        exact = kernel.exact(quoted, scanned(quoted.plan), bits)
        noisy = kernel.noisy(quoted, exact, bits)
    finally:
        sys.settrace(before)
        evaluate.resample = real_resample
        for kind, real in real_noises.items():
            kind.apply = real
    shapes = [(one.dtype, one.shape) for one in [*exact, *noisy]]
    return Recorded(tuple(noises), tuple(reads), tuple(lines), tuple(shapes)), exact, noisy


def published_shapes(quoted, noisy) -> list[tuple]:
    """Names and lengths of all columns of a release, which waits until the totals beside it are published."""
    if quoted.beside is not None and quoted.beside.totals is None:
        return []
    columns = [*estimated(quoted, noisy), *(frame.counts for frame in frames(quoted, noisy))]
    return [(one.name, *map(len, (one.estimate.value, one.estimate.low, one.estimate.high))) for one in columns]


def scanned(plan) -> list[Cube]:
    """Cubes with the declared number of rows, which stand for the source; their rows are not read."""
    rows = np.array([facts_of(plan.schema, plan.neighbours).rows or 0])
    shapes = [(np.zeros((1, len(part.axes)), int), np.zeros((1, len(part.moments)), int)) for part in plan.layout.parts]
    return [Cube(keys, rows, sums, sums) for keys, sums in shapes]


def assert_replayed(quoted, tables: Sequence[Sequence[Cube]], moved: int, kernel: Kernel | None = None) -> Recorded:
    """The second table is answered as the first was; `moved` rows differ, or all that the totals leave free.

    Raises:
        AssertionError: something depends on the table, or moves further than is declared.
    """
    kernel = Kernel() if kernel is None else kernel
    run(quoted, tables[0], kernel)  # tables of noise that are built once are built here
    (first, exact, noisy), (second, other, others) = (run(quoted, table, kernel) for table in tables)
    assert first.noises == second.noises
    assert [law for law, _, _ in first.noises] == [one.law for one in quoted.measured]
    assert first.reads == second.reads
    assert first.lines == second.lines
    assert first.shapes == second.shapes
    assert published_shapes(quoted, noisy) == published_shapes(quoted, others)
    for values, noised, others_values, others_noised in zip(exact, noisy, other, others, strict=True):
        assert (noised - values == others_noised - others_values).all()
    differences = [left.astype(object) - right.astype(object) for left, right in zip(exact, other, strict=True)]
    assert_near(quoted, differences, moved)
    return first


def assert_near(quoted, differences, moved: int):
    """Of each query alone, and of all together in the measure of the noise."""
    alone = quoted.beside is not None and resize_of(quoted.plan) is None
    times, loss, most = 1 if alone else moved, Fraction(0), Fraction(0)
    for one, difference in zip(quoted.measured, differences, strict=True):
        l1, l2_squared = sum(abs(difference), start=0), sum(difference * difference, start=0)
        assert l1 <= times * one.sensitivity.l1
        assert l2_squared <= times**2 * one.sensitivity.l2_squared
        match one.law, one.guarantee:
            case LaplaceNoise(scale=scale), dp.PureDP(epsilon=epsilon):
                loss, most = loss + l1 / scale, most + times * epsilon
            case GaussianNoise(sigma2=sigma2), dp.ZCDP(rho=rho):
                loss, most = loss + l2_squared / sigma2, most + times**2 * 2 * rho
            case GaussianNoise(sigma2=sigma2), dp.GDP(mu=mu):
                loss, most = loss + l2_squared / sigma2, most + times**2 * mu**2
    assert loss <= quoted.joint * most


# Tables after resampling ------------------------------------------------------------------------------------------------


def codes_of(facts, name: str) -> list[int | None]:
    """What a row can have in one column once it is imputed: codes, and null where it stays null."""
    known = facts[name]
    codes = known.kept if isinstance(known, CategoryFacts) else range(known.low, known.high + 1)
    return [*codes, *([None] if known.nullable else [])]


def rows_of(plan) -> st.SearchStrategy:
    """A row after all steps: the code of each column, or null."""
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    return st.fixed_dictionaries({name: st.sampled_from(codes_of(facts, name)) for name in used_columns(plan)})


def cubes_of(plan, rows: Sequence[dict]) -> list[Cube]:
    """The cubes of such rows, as an engine would count them."""
    return [cube_of(part, rows) for part in plan.layout.parts]


def cube_of(part: Part, rows: Sequence[dict]) -> Cube:
    keys = [[label(axis, row[axis.name]) for axis in part.axes] for row in rows]
    values = [[row[moment.name] for moment in part.moments] for row in rows]
    lows = [moment.path.low for moment in part.moments]
    above = [[0 if v is None else v - low for v, low in zip(one, lows, strict=True)] for one in values]
    widths = [moment.path.high - moment.path.low for moment in part.moments]
    shape = (len(rows), len(part.moments))
    return compact(
        Cube(
            np.array(keys, dtype=np.int64).reshape(len(rows), len(part.axes)),
            np.ones(len(rows), dtype=np.int64),
            np.array([[value is not None for value in one] for one in values], dtype=np.int64).reshape(shape),
            np.array(above, dtype=sum_dtype(widths)).reshape(shape),
        )
    )


def label(axis: KeyAxis, code: int | None) -> int:
    if code is None:
        return NULL
    return code if axis.cuts is None else bisect_right(axis.cuts, code)


RESIZES = [None, None, (1, "1/2"), (3, "3/4"), (5, 1), (4, "3/2"), (6, 2)]


@st.composite
def replays(draw, spends=tuple(SPENDS)):
    """A quote, two tables after resampling, and in how many rows they differ."""
    resize = draw(st.sampled_from(RESIZES))
    rows = draw(st.integers(1, 5))
    added = draw(st.booleans())
    neighbours = dp.AddRemove() if added else dp.ReplaceOne(rows=rows)
    asked = draw(cases(imputed=resize is not None)).quoted(dp.Table(SCHEMA, neighbours), FREE, resize)
    assume(asked is not None)
    # What is chosen has no noise that is added; its law is held against every pair of tables in test_selection_law.
    assume(not any(isinstance(one.query, QuantileCodes) for one in asked.measured))
    quoted = allocate.quote(asked.plan, draw(st.sampled_from(spends)))
    row = rows_of(quoted.plan)
    count = rows if resize is None else resize[0]
    table = draw(st.lists(row, min_size=count, max_size=count))
    moved = draw(st.integers(1, min(max(1, quoted.group), count)))
    new = draw(st.lists(row, min_size=moved, max_size=moved))
    # A table that is not resized, of an unknown number of rows, has rows more; any other has rows that are replaced.
    other = [*table, *new] if added and resize is None else [*table[moved:], *new]
    return quoted, (cubes_of(quoted.plan, table), cubes_of(quoted.plan, other)), moved


def replay_many(examples: int):
    """All that was recorded in so many pairs of tables."""
    recorded = []

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(replays())
    def check(drawn):
        quoted, tables, moved = drawn
        recorded.append((quoted, assert_replayed(quoted, tables, moved)))

    check()
    return recorded


def assert_varied(recorded, pairs: int):
    """Enough was tried: both relations, resized or not, all measures, every kind of query, and real control flow."""
    assert len(recorded) >= pairs
    plans = [quoted.plan for quoted, _ in recorded]
    assert {(type(plan.neighbours), resize_of(plan) is None) for plan in plans} == set(
        product([dp.AddRemove, dp.ReplaceOne], [True, False])
    )
    assert {type(quoted.spend) for quoted, _ in recorded} == {type(spend) for spend in SPENDS}
    assert len({type(one.query) for quoted, _ in recorded for one in quoted.measured}) >= 6
    assert {1, 2} <= {len(plan.layout.parts) for plan in plans}
    assert all(one.reads and len(one.lines) > 100 for _, one in recorded)


def test_neighbouring_tables_are_answered_alike():
    assert_varied(replay_many(50), 40)


@pytest.mark.slow
def test_many_neighbouring_tables_are_answered_alike():
    assert_varied(replay_many(800), 700)


# Beside exact totals ----------------------------------------------------------------------------------------------------


def semi_adjacent(rng, most: int):
    """A quote beside exact totals and some pairs of tables with these totals, or nothing where no request is accepted."""
    rows = rng.choice([2, 3, 4])
    schema = random_schema(rng)
    invariants = random_invariants(rng, schema)
    try:
        checked_invariants(invariants, schema, dp.ReplaceOne(rows=rows))
        plan = random_plan(rng, schema, rows, invariants.columns)
    except dp.PlanError:
        return None
    everybody = list(product(*(values_of(schema, name) for name in schema.columns)))
    tables = combinations_with_replacement(rng.sample(everybody, min(len(everybody), 7)), rows)
    header = dict.fromkeys(schema.columns, "value")
    raw = [KeyAxis(path_of(name, (), facts_of(schema, plan.neighbours))) for name in invariants.columns]
    fibres = defaultdict(list)
    for table in tables:
        cube = ReferenceEngine(header, table).aggregate(raw, ())
        with suppress(dp.InternalError):  # a row in an impossible cell
            fibres[totals_of_counts(invariants, schema, (cube.keys, cube.rows))].append(table)
    if not fibres:
        return None
    totals, alike = max(fibres.items(), key=lambda item: len(item[1]))
    known = beside(invariants, schema, rng.choice([totals, None]), rows)
    quoted = quote_of(plan, rng.choice(SPENDS), known)
    if quoted is None:
        return None
    near = [pair for pair in combinations(alike, 2) if changed(*pair) <= known.adjacency.a]
    chosen = rng.sample(near, min(len(near), most))
    tables = {table: certain(plan, ReferenceEngine(header, table)) for table in alike}
    return quoted, [((tables[one], tables[other]), changed(one, other)) for one, other in chosen]


def changed(one, other) -> int:
    return sum((Counter(one) - Counter(other)).values())


def certain(plan, engine: ReferenceEngine) -> list[Cube]:
    """The cubes of a table, with the one value that the only law there is can draw: the first category of its column."""
    cubes = [engine.aggregate(part.axes, part.moments) for part in plan.layout.parts]
    return [compact(replace(cube, keys=np.where(cube.keys < NULL, 0, cube.keys))) for cube in cubes]


def replay_beside_totals(examples: int):
    recorded = []

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False))
    def check(rng):
        found = semi_adjacent(rng, 2)
        if found is not None:
            quoted, pairs = found
            recorded.extend((quoted, assert_replayed(quoted, tables, moved)) for tables, moved in pairs)

    check()
    return recorded


def test_semi_adjacent_tables_are_answered_alike():
    recorded = replay_beside_totals(45)
    assert len(recorded) >= 20
    assert len({type(one.law) for quoted, _ in recorded for one in quoted.measured}) >= 3


@pytest.mark.parametrize("spend", SPENDS, ids=str)
def test_resized_tables_beside_totals_are_answered_alike(spend):
    """Two persons change places where totals are published, and two copies of each: up to four rows."""
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=6)).impute({"b": FREE["b"], "v": FREE["v"]})
    plan = table.resize(5, proportion="3/2").group_by("b").agg(dp.count(), dp.sum("v"))
    quoted = quote_of(plan, spend, beside(dp.Totals("s"), SCHEMA, None, 6))
    assert quoted.group == 4
    low, *_, high = extreme_rows(plan)
    for moved in (1, 2, 4):
        tables = cubes_of(plan, [low] * 5), cubes_of(plan, [high] * moved + [low] * (5 - moved))
        assert_replayed(quoted, tables, moved)
        assert_noticed(quoted, tables, moved - 1)


@pytest.mark.slow
def test_many_semi_adjacent_tables_are_answered_alike():
    recorded = replay_beside_totals(400)
    assert len(recorded) >= 200
    assert len({type(one.law) for quoted, _ in recorded for one in quoted.measured}) >= 5


# Planted errors ---------------------------------------------------------------------------------------------------------

REQUESTS = {
    "counts": lambda t: t.group_by("s").agg(dp.count()),
    "sums": lambda t: t.group_by("b").agg(dp.sum("v", nulls="skip")),
    "quantiles": lambda t: t.agg(dp.median("w", nulls="skip", interval=1)),
    "resized": lambda t: t.impute(FREE).resize(3, proportion="3/2").group_by("s").agg(dp.count(), dp.sum("v")),
}


def extreme_rows(plan) -> list[dict]:
    """Rows at the ends: in the first or the last cell, with the least or the greatest value."""
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    ends = {name: [code for code in codes_of(facts, name) if code is not None] for name in used_columns(plan)}
    summed = [moment.name for part in plan.layout.parts for moment in part.moments]
    rows = [
        {name: codes[of if name in summed else cell] for name, codes in ends.items()}
        for cell, of in product((0, -1), (0, -1))
    ]
    return [row for place, row in enumerate(rows) if row not in rows[:place]]


def extreme_tables(plan) -> list[tuple[list[Cube], list[Cube]]]:
    """Pairs of tables of three rows of which one is moved from one end to another; the others are at the last one."""
    rows = extreme_rows(plan)
    pairs = list(combinations(rows, 2))
    return [(cubes_of(plan, [one, *2 * rows[-1:]]), cubes_of(plan, [other, *2 * rows[-1:]])) for one, other in pairs]


def planted(name: str, neighbours=None):
    return allocate.quote(REQUESTS[name](dp.Table(SCHEMA, neighbours or dp.ReplaceOne(rows=3))), dp.PureDP("0.5"))


def assert_noticed(quoted, tables, moved=1, kernel=None):
    with pytest.raises(AssertionError):
        assert_replayed(quoted, tables, moved, kernel)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_sensitivity_one_too_small_is_noticed(name):
    quoted = planted(name)
    first, *rest = quoted.measured
    smaller = Sensitivity(first.sensitivity.l1 - 1, first.sensitivity.l2_squared - 1)
    wrong, noticed = replace(quoted, measured=(replace(first, sensitivity=smaller), *rest)), 0
    for tables in extreme_tables(quoted.plan):
        assert_replayed(quoted, tables, 1)
        with suppress(AssertionError):
            assert_replayed(wrong, tables, 1)
            continue
        noticed += 1
    assert noticed


def noise_where_there_are_rows(quoted, exact, bits):
    """Only cells that are not empty get noise."""
    found = []
    for values, one in zip(exact, quoted.measured, strict=True):
        there = np.flatnonzero(values)
        noisy = values.copy()
        noisy[there] = one.law.apply(values[there], bits)
        found.append(noisy)
    return found


def noise_until_it_fits(quoted, exact, bits):
    """Counts that come out negative are drawn again."""
    found = evaluate.noisy_answers(quoted, exact, bits)
    while any((one < 0).any() for one in found):
        found = evaluate.noisy_answers(quoted, exact, bits)
    return found


def noise_by_size(quoted, exact, bits):
    """Cells with many rows get the noise of another scale."""
    found = []
    for values, one in zip(exact, quoted.measured, strict=True):
        law = replace(one.law, scale=2 * one.law.scale) if max(values) >= 3 else one.law
        found.append(law.apply(values, bits))
    return found


def answers_of_occupied_cells(quoted, cubes, bits):
    """Cells without rows are left out."""
    return [values[values != 0] for values in evaluate.exact_answers(quoted, cubes, bits)]


def answers_with_a_coin(quoted, cubes, bits):
    """A bit is drawn for every cell that is not empty."""
    found = evaluate.exact_answers(quoted, cubes, bits)
    bits.read(1 + sum(int(np.count_nonzero(values)) for values in found))
    return found


BRANCHING = [
    Kernel(noisy=noise_where_there_are_rows),
    Kernel(noisy=noise_until_it_fits),
    Kernel(noisy=noise_by_size),
    Kernel(exact=answers_of_occupied_cells),
    Kernel(exact=answers_with_a_coin),
]


@pytest.mark.parametrize("kernel", BRANCHING, ids=lambda kernel: f"{kernel.exact.__name__}, {kernel.noisy.__name__}")
def test_an_evaluation_that_depends_on_the_table_is_noticed(kernel):
    quoted = planted("counts")
    (tables,) = extreme_tables(quoted.plan)
    assert_replayed(quoted, tables, 1)
    assert_noticed(quoted, tables, kernel=kernel)


def test_a_branch_in_the_library_is_noticed(monkeypatch):
    """One line more for a table with an empty cell, although nothing that is drawn or published shows it."""
    quoted = planted("counts")
    (tables,) = extreme_tables(quoted.plan)
    real = RowCount.answer

    def branching(query, cube, brought, cells, facts):
        if len(cube.rows) > 1:
            resize_of(quoted.plan)
        return real(query, cube, brought, cells, facts)

    assert_replayed(quoted, tables, 1)
    monkeypatch.setattr(RowCount, "answer", branching)
    assert_noticed(quoted, tables)


def test_more_rows_than_are_counted_are_noticed():
    """A resize that moves two rows, with the sensitivity of one of them for both."""
    quoted = planted("resized", dp.AddRemove())
    assert quoted.group == 2
    low, *_, high = extreme_rows(quoted.plan)
    tables = cubes_of(quoted.plan, [low, low, high]), cubes_of(quoted.plan, [high, high, high])
    assert_replayed(quoted, tables, 2)
    assert_noticed(quoted, tables)
