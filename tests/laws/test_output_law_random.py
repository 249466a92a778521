"""Random requests, held against the law of what they publish, on all tables of a few kinds of rows.

The cases of `test_output_law.py` are chosen; here steps, conditions, groups, statistics with weights, resizes, relations and
spends are drawn, so that combinations nobody thought of are compared with their charge as well.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.cube.queries import Dispersion
from discreet.quotes import allocate

from .literal_rows import Literal, all_tables
from .output_divergences import distinct
from .output_law_cases import PARTS, RECORDS, SCHEMA, SKIP, answers_on_the_cube, exactly_kept, kept

STEPS = [
    lambda t: t.clamp({"g": ["x"]}),
    lambda t: t.clamp({"v": (1, 3)}),
    lambda t: t.clamp({"v": (0, 2)}),
    lambda t: t.impute({"g": dp.Weights({"x": 1, "y": 1})}),
    lambda t: t.impute({"g": dp.Weights({"x": 1})}),
    lambda t: t.impute({"v": dp.Uniform()}),
    lambda t: t.impute({"v": dp.Uniform(2, 2)}),
]
CONDITIONS = [{"g": ["x"]}, {"v": (1, 2)}, {"v": (0, 0)}]
GROUPS = [[], [], ["g"], [PARTS], ["g", PARTS]]
STATISTICS = [
    dp.count,
    lambda **weight: dp.count("v", **weight),
    lambda **weight: dp.count("g", **weight),
    dp.share,
    lambda **weight: dp.sum("v", **SKIP, **weight),
    lambda **weight: dp.mean("v", **SKIP, **weight),
    lambda **weight: dp.variance("v", **SKIP, **weight),
    lambda **weight: dp.median("v", **SKIP, **weight, interval=1),
    lambda **weight: dp.histogram("v", [0, 1, 3], **weight),
    lambda **weight: dp.tables(["g"], ["g", PARTS], **weight),
]


def two_rows(rows_per_person):
    return dp.ReplaceOne(2, rows_per_person)


RESIZES = [None, None, (1, "1/2"), (2, "3/4"), (2, 1), (3, "3/2"), (3, 2)]
RELATIONS = [relation(rows_per_person=persons) for relation in (dp.AddRemove, two_rows) for persons in (1, 2)]
SPENDS = [dp.PureDP(1), dp.PureDP("0.3"), dp.ApproxDP(1, "0.1"), dp.ApproxDP("0.2", "1e-3"), dp.ZCDP(3), dp.GDP(3)]
MOST_POINTS = 300_000


def random_quote(rng):
    """A quote, or nothing where the request is refused in words."""
    table = dp.Table(SCHEMA, rng.choice(RELATIONS))
    resize = rng.choice(RESIZES)
    steps = rng.sample(STEPS, rng.choice([0, 1, 2, 3] if resize is None else [3, 4, 5]))
    try:
        for step in steps:
            table = step(table)
        if resize is not None:
            table = table.resize(resize[0], proportion=resize[1])
        if rng.random() < 0.4:
            table = table.where(rng.choice(CONDITIONS))
        asked = [one(weight=rng.choice([1, 1, 3])) for one in rng.sample(STATISTICS, rng.choice([1, 1, 2]))]
        quoted = allocate.quote(table.group_by(*rng.choice(GROUPS)).agg(*asked), rng.choice(SPENDS))
        # The literal law adds rows up; the dispersion is no sum over rows, and has its own test of all tables.
        return None if any(isinstance(one.query, Dispersion) for one in quoted.measured) else quoted
    except dp.PlanError:
        return None


def compared(rng, monkeypatch) -> str:
    """What kind of noise was compared, if any."""
    quoted = random_quote(rng)
    if quoted is None:
        return "refused"
    literal = Literal(quoted)
    tables = all_tables(literal, rng.sample(RECORDS, 4), 2)
    found = distinct(tables.laws, tables.pairs)
    if not found or sum(float(np.prod(1.0 + pair.hull)) for pair in found) > MOST_POINTS:
        return "nothing, or too much"
    pure = isinstance(quoted.spend, dp.PureDP)
    if pure:
        exactly_kept(quoted, tables)
    done = kept(quoted, tables, MOST_POINTS)
    rows = rng.randrange(len(tables.laws))
    if max(map(len, tables.laws)) <= 12:
        assert answers_on_the_cube(quoted, tables.source(rows), monkeypatch) == tables.laws[rows]
    return type(quoted.spend).__name__ if done.points else "nothing, or too much"


def compared_many(examples: int) -> Counter:
    kinds: Counter[str] = Counter()

    @settings(max_examples=examples, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=True))
    def run(rng):
        with pytest.MonkeyPatch.context() as monkeypatch:
            kinds[compared(rng, monkeypatch)] += 1

    run()
    return kinds


def test_some_random_requests():
    assert compared_many(60).total() == 60


@pytest.mark.exhaustive
def test_many_random_requests():
    kinds = compared_many(1500)
    assert min(kinds[one] for one in ("PureDP", "ApproxDP", "ZCDP", "GDP")) > 50


def test_too_little_noise_is_noticed(monkeypatch):
    """Noise for nine tenths of the sensitivity fails some of them."""
    real = allocate.candidates

    def candidates(answer, sensitivity, guarantee):
        louder = type(guarantee)(getattr(guarantee, guarantee.__slots__[0]) * 10 / 9)
        return real(answer, sensitivity, louder)

    monkeypatch.setattr(allocate, "candidates", candidates)
    with pytest.raises(AssertionError):
        compared_many(300)
