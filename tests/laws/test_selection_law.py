"""The law of chosen quantiles on all tables of a few records: what one record can change, in every measure.

The mechanism is written down again record by record, from its definition; its probabilities are balls of 200 bits. What is
charged must cover every pair of neighbours, and the same check must notice a choice that is made too sharply.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from discreet.domain.neighbours import AddRemove, ReplaceOne
from discreet.errors import ArgumentError
from discreet.mechanisms import _runs
from discreet.mechanisms import quantile_choice as selection
from discreet.mechanisms.base import Codes
from discreet.mechanisms.quantile_choice import ExponentialQuantiles, quantiles_change, quantiles_for
from discreet.noise.bits import system_bits
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.privacy.convert import gaussian_delta

SIZE, MOST, FINE = 3, 4, 4
HALF, QUARTERS = (Fraction(1, 2),), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
LEVELS = {
    "median": HALF,
    "quartiles": QUARTERS,
    "ends": (Fraction(0), Fraction(1)),
    "odd": (Fraction(1, 10), Fraction(1, 3)),
}
TABLES = [table for n in range(MOST + 1) for table in combinations_with_replacement(range(SIZE), n)]


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch):
    """Few parts of a heap, so that all of them can be enumerated, and precision for the literal law."""
    monkeypatch.setattr(_runs, "_MOST_PIECES", FINE)
    with ctx.workprec(200):
        yield


def choices(table, low, high, q, parts, reach, s):  # noqa: PLR0917 (a literal definition)
    """The candidates with their losses and the records that go below, literally."""
    n = len(table)
    target = min(s, Fraction(n, 2)) if q == 0 else n - min(s, Fraction(n, 2)) if q == 1 else q * n
    worst = max(q, 1 - q)
    for c in range(low, high + 1):
        before, at = sum(x < c for x in table), sum(x == c for x in table)
        if not parts:
            loss = max(before - target, target - before - at)
            yield c, before, (-arb(fmpq(*(reach * loss / (2 * worst)).as_integer_ratio()))).exp()
            continue
        for j in range(FINE):
            start, end = before + j * at // FINE, before + (j + 1) * at // FINE
            loss = max(start - target, target - end)
            below = before + ((2 * j + 1) * at + FINE) // (2 * FINE)
            yield c, below, (-arb(fmpq(*(reach * loss / (2 * worst)).as_integer_ratio()))).exp()


@cache
def law_of(table, low, high, at, reach, span=(Fraction(0), Fraction(1)), s=None):  # noqa: PLR0917 (so that it is cached)
    """The probabilities of the chosen codes, one choice after the other."""
    if not at:
        return {(): arb(1)}
    middle = len(at) // 2
    q = (at[middle] - span[0]) / (span[1] - span[0])
    found: dict[tuple[int, ...], arb] = {}
    candidates = list(choices(table, low, high, q, len(at) > 1, reach, s))
    total = sum((weight for _, _, weight in candidates), arb(0))
    for c, below, weight in candidates:
        left = law_of(table[:below], low, c, at[:middle], reach, (span[0], at[middle]), s)
        right = law_of(table[below:], c, high, at[middle + 1 :], reach, (at[middle], span[1]), s)
        for one, p in left.items():
            for two, r in right.items():
                key = (*one, c, *two)
                found[key] = found.get(key, arb(0)) + weight / total * p * r
    return found


def kept_away(law: ExponentialQuantiles) -> Fraction:
    return Fraction(int(np.ceil(4 * np.log(law.size) / float(law.reach))), 2)


def literal(table, law: ExponentialQuantiles):
    return law_of(table, 0, law.size - 1, law.at, law.reach, s=kept_away(law))


def removals():
    for table in TABLES:
        for i in range(len(table)):
            yield table, table[:i] + table[i + 1 :]


def replacements():
    for table in TABLES:
        for i in range(len(table)):
            for c in range(SIZE):
                other = tuple(sorted((*table[:i], c, *table[i + 1 :])))
                if other != table:
                    yield table, other


def worst_log_ratio(pairs, law) -> float:
    worst = 0.0
    for one, two in pairs:
        p, r = literal(one, law), literal(two, law)
        worst = max(worst, *(abs(float((p[key] / r[key]).log())) for key in p))
    return worst


def both_ways(pairs, law):
    """The laws of every pair, in either order."""
    for one, two in pairs:
        p, r = literal(one, law), literal(two, law)
        yield p, r
        yield r, p


def worst_renyi(pairs, law, order: int) -> float:
    totals = (sum((p[key] ** order / r[key] ** (order - 1) for key in p), arb(0)) for p, r in both_ways(pairs, law))
    return max(0.0, *(float(total.log()) / (order - 1) for total in totals))


def worst_hockey_stick(pairs, law, epsilon: float) -> float:
    factor = arb(epsilon).exp()
    return max(0.0, *(sum(max(0.0, float(p[key] - factor * r[key])) for key in p) for p, r in both_ways(pairs, law)))


def change_for(at, neighbours):
    return quantiles_change(len(at), cells=1, skipped=False, neighbours=neighbours)


def law_for(name, neighbours, guarantee):
    at = LEVELS[name]
    return quantiles_for(change_for(at, neighbours).within, guarantee, Codes(SIZE, 1, at))


PAIRS = {"add-remove": (AddRemove(), removals), "replace-one": (ReplaceOne(rows=MOST), replacements)}
SLACK = 1e-12  # the balls are far narrower; floats are taken of them


@pytest.mark.one_in(3)
@pytest.mark.parametrize("who", PAIRS)
@pytest.mark.parametrize("name", LEVELS)
def test_no_probability_changes_by_more_than_epsilon(name: str, who: str) -> None:
    neighbours, pairs = PAIRS[who]
    law = law_for(name, neighbours, PureDP("1.5"))
    worst = worst_log_ratio(pairs(), law)
    assert worst <= 1.5 + SLACK
    assert worst > 0.25  # and the check sees something
    sharper = ExponentialQuantiles(law.size, law.cells, law.at, 8 * law.reach)
    assert worst_log_ratio(pairs(), sharper) > 1.5


@pytest.mark.parametrize("who", PAIRS)
@pytest.mark.parametrize("name", ["median", "quartiles"])
def test_renyi_divergences_stay_below_rho(name: str, who: str) -> None:
    neighbours, pairs = PAIRS[who]
    law = law_for(name, neighbours, ZCDP("0.5"))
    sharper = ExponentialQuantiles(law.size, law.cells, law.at, 4 * law.reach)
    for order in (2, 3, 8):
        assert worst_renyi(pairs(), law, order) <= 0.5 * order + SLACK
    assert worst_renyi(pairs(), sharper, 2) > 0.5 * 2


@pytest.mark.parametrize("who", PAIRS)
@pytest.mark.parametrize("name", ["median", "quartiles"])
def test_hockey_sticks_stay_below_those_of_the_gaussian(name: str, who: str) -> None:
    neighbours, pairs = PAIRS[who]
    law = law_for(name, neighbours, GDP("1"))
    sharper = ExponentialQuantiles(law.size, law.cells, law.at, 4 * law.reach)
    for epsilon in (0.0, 0.25, 0.5, 1.0):
        assert worst_hockey_stick(pairs(), law, epsilon) <= gaussian_delta(1.0, epsilon) + SLACK
    assert worst_hockey_stick(pairs(), sharper, 1.0) > gaussian_delta(1.0, 1.0)


def values_of(tables) -> np.ndarray:
    """What `select` takes: cells, codes and counts."""
    rows = [(cell, code, table.count(code)) for cell, table in enumerate(tables) for code in sorted(set(table))]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def observed(tables, law, times: int) -> list[dict[tuple[int, ...], int]]:
    cells = [table for table in tables for _ in range(times)]
    many = ExponentialQuantiles(law.size, len(cells), law.at, law.reach)
    drawn = many.apply(values_of(cells), system_bits()).reshape(len(tables), times, -1)
    return [dict(zip(*(part.tolist() for part in _unique(one)), strict=True)) for one in drawn]


def _unique(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    width = rows.shape[1]
    codes, counts = np.unique(rows @ (SIZE ** np.arange(width)[::-1]), return_counts=True)
    return codes, counts


def p_value(counts: dict[int, int], law: dict[tuple[int, ...], arb], times: int) -> float:
    """Pearson's chi-square, cells that expect less than 10 taken together."""
    rare_expected = rare_seen = statistic = 0.0
    cells = 0
    for key, p in law.items():
        code = int(np.array(key) @ (SIZE ** np.arange(len(key))[::-1]))
        expected, seen = float(p) * times, counts.get(code, 0)
        if expected < 10:
            rare_expected, rare_seen = rare_expected + expected, rare_seen + seen
        else:
            statistic, cells = statistic + (seen - expected) ** 2 / expected, cells + 1
    if rare_expected >= 5:
        statistic, cells = statistic + (rare_seen - rare_expected) ** 2 / rare_expected, cells + 1
    return float((arb(statistic) / 2).gamma_upper(arb(max(1, cells - 1)) / 2, regularized=1))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", LEVELS)
@pytest.mark.parametrize("certified", [False, True], ids=["doubles", "enclosures"])
def test_what_is_drawn_has_the_literal_law(name: str, certified: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Error rate: 1e-10 for each of at most 6 tables.
    from discreet.noise.single import exponential

    times = 300 if certified else 20_000
    if certified:
        monkeypatch.setattr(exponential, "_WEIGHT_ERROR", 2.0)  # no comparison in doubles is ever trusted
    law = ExponentialQuantiles(SIZE, 1, LEVELS[name], Fraction(7, 5))
    tables = [(), (1,), (0, 2), (0, 0, 0, 2), (0, 1, 1, 2), (2, 2, 2, 2)]
    wrong = ExponentialQuantiles(SIZE, 1, LEVELS[name], Fraction(7, 4))
    caught = 0
    for table, counts in zip(tables, observed(tables, law, times), strict=True):
        assert p_value(counts, literal(table, law), times) > 1e-10
        caught += p_value(counts, law_of(table, 0, SIZE - 1, law.at, wrong.reach, s=kept_away(law)), times) < 1e-10
    assert certified or caught


def test_a_heap_wins_over_the_empty_codes_around_it() -> None:
    law = ExponentialQuantiles(1001, 1, HALF, Fraction(1))
    values = np.array([[0, 500, 200]], dtype=np.int64)
    assert law.apply(values, system_bits()).tolist() == [500]  # wrong with a probability of 1000·e^-100


def test_large_denominators_and_counts_do_not_overflow() -> None:
    q = Fraction(10**30 // 3, 10**30)
    law = ExponentialQuantiles(10, 2, (q, Fraction(2, 3)), Fraction(1))
    values = np.array([[0, 2, 2**40], [0, 7, 2**38], [1, 9, 5]], dtype=np.int64)
    found = law.apply(values, system_bits()).reshape(2, 2)
    assert found[0].tolist() == [2, 2]
    assert (np.diff(found, axis=1) >= 0).all()
    assert ((found >= 0) & (found < 10)).all()


@pytest.mark.parametrize("records", [0, 1, 2, 50])
def test_no_denominator_makes_the_choice_fail_from_some_number_of_records_on(records: int) -> None:
    """A failure that begins at so many records would tell how many there are, exactly."""
    for q in (Fraction(1, 10**400 + 1), Fraction(10**399, 10**400 + 1)):
        law = ExponentialQuantiles(10, 1, (q, Fraction(1, 2), Fraction(2, 3)), Fraction(1, 100))
        values = np.array([[0, 3, records]] if records else np.zeros((0, 3)), dtype=np.int64)
        found = law.apply(values, system_bits())
        assert ((found >= 0) & (found < 10)).all()


def test_what_is_looked_at_together_depends_on_the_grid_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    whole = selection._select
    monkeypatch.setattr(selection, "_CHUNK", 6)
    monkeypatch.setattr(selection, "_select", lambda part, law, bits: seen.append(len(part.low)) or whole(part, law, bits))
    law = ExponentialQuantiles(SIZE, 5, HALF, Fraction(10**5))
    for tables in ([(0,), (2, 2), (), (1, 1, 1), (2,)], [(), (), (), (), (1,)]):
        seen.clear()
        found = law.apply(values_of(tables), system_bits())
        assert seen == [2, 2, 1]
        assert all(code == table[0] for code, table in zip(found, tables, strict=True) if table)


def test_the_expected_error_of_a_rank_is_what_even_records_show() -> None:
    # 400 cells each: a share of 0.95 is at most 0.87 with a probability of 1e-8, for all of 19 quantiles together.
    records, times = 1000, 400
    codes = np.tile(10 * np.arange(records), times)
    values = np.stack([np.repeat(np.arange(times), records), codes, np.ones(records * times, dtype=np.int64)], axis=1)
    for at in (HALF, (Fraction(0),), QUARTERS, tuple(Fraction(k, 16) for k in range(1, 16))):
        law = ExponentialQuantiles(10 * records, times, at, Fraction(1, 5))
        found = law.apply(values, system_bits()).reshape(times, -1)
        off = np.abs((found + 5) / 10 - np.array([records * float(q) for q in at]))
        error = law.rank_error(Fraction(95, 100))
        assert (off <= error + 1).mean(axis=0).min() > 0.87, at
        assert error < 4 * np.quantile(off, 0.95) + 5, at


@pytest.mark.parametrize("guarantee", [PureDP("1e-200"), ZCDP("1e-350"), GDP("1e-170")], ids=str)
def test_next_to_nothing_is_refused(guarantee) -> None:
    with pytest.raises(ArgumentError, match="1e-17"):
        law_for("median", AddRemove(), guarantee)


@pytest.mark.parametrize("guarantee", [PureDP(10**200), ZCDP(10**200), GDP(10**100)], ids=lambda one: type(one).__name__)
def test_more_than_enough_is_no_more_than_enough(guarantee) -> None:
    law = law_for("median", AddRemove(), guarantee)
    assert law.reach == 10**6
    assert law.apply(values_of([(0, 2, 2)]), system_bits()).tolist() == [2]
