"""Releases whose groups nobody listed: no small table exceeds the bounds, names have their exact law, others never leave.

The weights of all small tables are held against D1 of docs/proofs/discovery.md, the names that are found against their
law by enumeration, and whatever a release leaves behind against the names that were not found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import isqrt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from mpmath import erfc, mpf, sqrt

import discreet as dp
from discreet.cube.keys import UNIT
from discreet.domain.discovery import Keys, keys_of
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.engines.texts import keys_kept
from discreet.mechanisms.thresholds import Threshold
from discreet.noise.bits import system_bits
from discreet.plan.plan import Plan, plan_json
from discreet.privacy import GDP, ApproxZCDP, Budget
from discreet.quotes.keys import stages_of
from discreet.releases import keys as finding
from discreet.releases.keys import find_keys, places_of

Row = tuple[object, object]

SCHEMA = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(8))
RELATION = dp.AddRemove(person="visitor")
TABLE = dp.Table(SCHEMA, RELATION)
HEADER = {"visitor": ColumnType("integer", "BIGINT"), "shop": ColumnType("text", "VARCHAR")}
KINDS: list[Row] = [(person, shop) for person in (None, 1, 2) for shop in ("a", "b", "c", None)]
TABLES = [table for size in range(4) for table in combinations_with_replacement(KINDS, size)]


def asked(discover: dp.Discover, groups: int = 2, rows: int = 2) -> Plan:
    return TABLE.bound(groups=groups, rows=rows).group_by(discover).agg(dp.persons(), dp.count())


def without(rows: Sequence[Row], person: object) -> list[Row]:
    return [row for row in rows if row[0] != person]


# All small tables -------------------------------------------------------------------------------------------------------


def weights_of(rows: Sequence[Row], gone: Sequence[str]) -> dict[str, int]:
    plan = asked(dp.Discover("shop"))
    assert plan.layout.keys is not None
    with keys_kept(ReferenceEngine(HEADER, rows), plan.layout.keys) as table:
        weights = table.candidates(gone, 1)
        return dict(zip(table.names(np.arange(len(weights))), weights.tolist(), strict=True))


def weights_again(rows: Sequence[Row], gone: Sequence[str], weigh: Callable[[int], int]) -> dict[str, int]:
    """The weights of the candidates, from the words of the proof."""
    pairs = {(p, key) for p, key in rows if p is not None and key is not None and key not in gone}
    many = Counter(p for p, _ in pairs)
    found: Counter[str] = Counter()
    for p, key in pairs:
        found[str(key)] += weigh(many[p])
    return dict(found)


def normalised(keys: int) -> int:
    return isqrt(UNIT * UNIT // keys)


def largest_change(weigh: Callable[[Sequence[Row]], dict[str, int]]) -> int:
    """The largest sum of squares by which a person changes the weights, over all tables."""
    worst = 0
    for rows in TABLES:
        with_all = weigh(rows)
        for person in (1, 2):
            less = weigh(without(rows, person))
            worst = max(worst, sum((with_all.get(key, 0) - less.get(key, 0)) ** 2 for key in {*with_all, *less}))
    return worst


@pytest.mark.parametrize("gone", [("a",), pytest.param((), marks=pytest.mark.slow)])
def test_no_person_changes_the_weights_by_more_than_a_unit(gone: Sequence[str]) -> None:
    for rows in TABLES:
        assert weights_of(rows, gone) == weights_again(rows, gone, normalised)
    assert largest_change(lambda rows: weights_of(rows, gone)) == UNIT**2


def test_planted_errors_change_weights_by_more() -> None:
    """A full weight for each key; weights rounded up; keys counted with those that are found already."""
    assert largest_change(lambda rows: weights_again(rows, (), lambda _: UNIT)) > UNIT**2
    assert largest_change(lambda rows: weights_again(rows, (), lambda g: normalised(g) + (g > 1))) > UNIT**2
    known = weights_again([(1, "a"), (1, "b")], (), normalised)
    assert known["b"] < weights_of([(1, "a"), (1, "b")], ("a",))["b"] == UNIT


@pytest.mark.parametrize("other", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("groups", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_no_person_changes_the_answers_by_more_than_the_bound(groups: int, other: bool) -> None:
    """Also where several names are one group, whose rows a person may have in each."""
    plan = asked(dp.Discover("shop", other=other), groups).with_found(["a"])
    whole, scan = plan.layout.persons, plan.layout.keys
    assert whole is not None
    assert scan is not None
    unit = 2**10 if groups < whole.cells else 1

    def answers(rows: Sequence[Row]) -> np.ndarray:
        dense = np.zeros((whole.cells, 4), dtype=np.int64)
        with keys_kept(ReferenceEngine(HEADER, rows), scan) as table:
            cube = table.totals(places_of(plan), whole)
        dense[cube.keys[:, 0]] = cube.sums
        return dense

    worst = [0, 0]
    for rows in TABLES:
        for person in (1, 2):
            change = answers(rows) - answers(without(rows, person))
            worst = [max(worst[i], int((change[:, 2 * i] ** 2).sum())) for i in (0, 1)]
    assert worst[0] == unit**2 * min(groups, whole.cells)
    assert worst[0] < worst[1] <= unit**2 * 4 * min(groups, whole.cells)


# The law of the names ---------------------------------------------------------------------------------------------------


def threshold(deviation: Fraction, least: Fraction, at_least: int = 1) -> Threshold:
    return Threshold((deviation * UNIT) ** 2, int(least * UNIT), at_least)


ROUNDS = (threshold(Fraction(1), Fraction(2)), threshold(Fraction(1, 2), Fraction(3, 2)))
LAW_ROWS: list[Row] = [(1, "a"), (1, "b"), (2, "a"), (2, "c"), (3, "a"), (4, "d"), (5, "d"), (5, "c")]


def chance(one: Threshold, total: int) -> float:
    reached = (mpf(one.least - total) - mpf(1) / 2) / sqrt(2 * mpf(one.sigma2.numerator) / one.sigma2.denominator)
    return float(erfc(reached) / 2) if total else 0.0


def law_of_names(rows: Sequence[Row], rounds: Sequence[Threshold], known: Sequence[str]) -> dict[tuple[str, ...], float]:
    """The probability of each set of found names, by enumeration."""
    law: dict[tuple[str, ...], float] = {(): 1.0}
    for one in rounds:
        after: Counter[tuple[str, ...]] = Counter()
        for found, before in law.items():
            weights = weights_again(rows, [*known, *found], normalised)
            for bits in range(2 ** len(weights)):
                picked = [key for i, key in enumerate(sorted(weights)) if bits >> i & 1]
                each = [chance(one, weights[key]) if key in picked else 1 - chance(one, weights[key]) for key in weights]
                after[tuple(sorted([*found, *picked]))] += before * float(np.prod(each))
        law = dict(after)
    return law


def drawn_names(rows: Sequence[Row], keys: Keys, draws: int) -> Counter[tuple[str, ...]]:
    plan = asked(keys.discover)
    assert plan.layout.keys is not None
    bits = system_bits()
    with keys_kept(ReferenceEngine(HEADER, rows), plan.layout.keys) as table:
        return Counter(tuple(find_keys(table, keys, ROUNDS, bits, plan.most_found)) for _ in range(draws))


def farthest(seen: Counter[tuple[str, ...]], law: dict[tuple[str, ...], float], draws: int) -> float:
    """The largest distance from the law in standard deviations, of all sets that are not too rare for a normal law."""
    often = [names for names, p in law.items() if p * draws > 50]
    return max(abs(seen[n] - draws * law[n]) / (draws * law[n] * (1 - law[n])) ** 0.5 for n in often)


@pytest.mark.slow
def test_names_are_found_with_their_exact_law() -> None:
    """Eight standard deviations in one of eight sets of names are rarer than 1e-12. Names of the public list that take part
    in the rounds, so that they take weight from the others, are more than 12 away.
    """
    draws, keys = 4_000, keys_of(dp.Discover("shop", known=["a"], other=True), SCHEMA)
    law = law_of_names(LAW_ROWS, ROUNDS, ["a"])
    assert sum(law.values()) == pytest.approx(1)
    assert farthest(drawn_names(LAW_ROWS, keys, draws), law, draws) < 8
    forgotten = keys_of(dp.Discover("shop"), SCHEMA)
    seen = Counter({tuple(n for n in names if n != "a"): 0 for names in law})
    for names, times in drawn_names(LAW_ROWS, forgotten, draws).items():
        seen[tuple(n for n in names if n != "a")] += times
    assert farthest(seen, law, draws) > 12


def test_the_most_frequent_are_kept_and_ordered_by_their_bytes() -> None:
    rows: list[Row] = [(p, shop) for shop, many in (("zz", 900), ("b", 700), ("é", 500), ("a", 300)) for p in range(many)]
    plan = asked(dp.top("shop", 3))
    assert plan.keys is not None
    assert plan.layout.keys is not None
    with keys_kept(ReferenceEngine(HEADER, rows), plan.layout.keys) as table:
        assert find_keys(table, plan.keys, ROUNDS, system_bits(), plan.most_found) == ["b", "zz", "é"]


def test_names_that_no_group_can_have_are_left_out() -> None:
    rows: list[Row] = [(p, shop) for shop in ("other", "a") for p in range(500)]
    for discover, expected in ((dp.Discover("shop", other=True), ["a"]), (dp.Discover("shop"), ["a", "other"])):
        plan = asked(discover)
        assert plan.keys is not None
        assert plan.layout.keys is not None
        with keys_kept(ReferenceEngine(HEADER, rows), plan.layout.keys) as table:
            found = find_keys(table, plan.keys, ROUNDS, system_bits(), plan.most_found)
        assert found == expected
        assert plan.with_found(found).layout.cells == len(found) + discover.other + 1


# What is charged --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spend", "whole"), [(dp.ZCDP("0.2", delta="1e-7"), Fraction(1, 5)), (dp.GDP("0.7", delta="1e-7"), Fraction(49, 100))]
)
def test_a_delta_beside_pays_for_names_alone(spend: Budget, whole: Fraction) -> None:
    """D3: the noise of the rounds and of the answers comes to the amount, the thresholds to the δ, neither to more."""
    stages = stages_of(dp.Discover("shop", share="0.4"), spend, RELATION)
    half = 2 if isinstance(spend, ApproxZCDP) else 1
    squares = sum(Fraction(UNIT**2) / (half * one.sigma2) for one in stages.rounds) + stages.answers.coordinates[0]
    assert whole * (1 - Fraction(1, 10**12)) < squares <= whole
    assert spend.coordinates[1] * (1 - Fraction(1, 10**5)) < sum(one.delta for one in stages.rounds) <= spend.coordinates[1]


def test_what_is_stated_of_a_delta_beside_is_its_definition() -> None:
    """D4: δ₀ + (1 − δ₀)·δ̂(ε), and ε at the rest of a δ; nothing at a δ that is not even δ₀."""
    one, alone = dp.ZCDP("0.2", delta="1e-6"), dp.ZCDP("0.2")
    assert isinstance(one, ApproxZCDP)
    assert type(alone) is dp.ZCDP
    expected = Fraction(1, 10**6) + (1 - Fraction(1, 10**6)) * Fraction(alone.delta_at(2))
    assert expected <= Fraction(one.delta_at(2)) <= expected * (1 + Fraction(1, 10**12))
    assert one.epsilon_at("9e-7") == float("inf")
    assert one.epsilon_at("2e-6") >= alone.epsilon_at("1.1e-6")
    assert one.epsilon_at("2e-6") < alone.epsilon_at("9e-7")
    assert one.reported_at(Fraction(1, 10**9)) == Fraction(2, 10**6)
    assert one + one == dp.ZCDP("0.4", delta="2e-6") == 2 * one
    with pytest.raises(dp.ArgumentError, match="no known bound for several records"):
        one.group(2)


def test_a_delta_beside_is_charged_and_reported(tmp_path: Path) -> None:
    with opened(tmp_path, dp.ZCDP("0.5", delta="1e-6")) as session:
        release = session.release(wanted(session), spend=("0.1", "4e-7"), name="shops")
        assert session.remaining == dp.ZCDP("0.4", delta="6e-7")
        assert release.guarantee.measure == dp.ZCDP("0.1", delta="4e-7")
        assert release.guarantee.report_delta == Fraction(8, 10**7)
        assert "S3CRET" not in f"{release.payload}"
        counted = session.release(session.table.agg(dp.persons()), spend=("0.1", 0), name="persons")
        assert counted.guarantee.measure == ApproxZCDP("0.1", 0)
        assert session.remaining == dp.ZCDP("0.3", delta="6e-7")
        with pytest.raises(dp.BudgetExceeded):
            session.release(wanted(session), spend=("0.1", "6.1e-7"), name="more")
        with pytest.raises(dp.PlanError, match="without a δ cannot pay"):
            session.release(wanted(session), spend=("0.1", 0), name="none")
    with opened(tmp_path, dp.ZCDP("0.5", delta="1e-6")) as session:
        assert session.remaining == dp.ZCDP("0.3", delta="6e-7")
    with pytest.raises(dp.LedgerError):
        opened(tmp_path, dp.ZCDP("0.5"))


@pytest.mark.parametrize("share", ["0.3", "0.9"])
def test_stages_come_to_no_more_than_the_spend(share: str) -> None:
    """D4: the δ of the thresholds, and that of all Gaussian noise together, are at most the δ of the spend."""
    spend = dp.ApproxDP("0.7", "1e-6")
    stages = stages_of(dp.Discover("shop", share=share, at_least=3), spend, RELATION)
    assert isinstance(stages.answers, GDP)
    squares = stages.answers.mu**2 + sum(Fraction(UNIT**2) / one.sigma2 for one in stages.rounds)
    thresholds = sum(one.delta for one in stages.rounds)
    mu = Fraction(float(squares) ** 0.5 * (1 + 1e-15))
    assert thresholds <= spend.delta / 2
    assert thresholds + Fraction(GDP(mu).delta_at(spend.epsilon)) <= spend.delta * (1 + Fraction(1, 10**9))
    assert thresholds > spend.delta / 2 * (1 - Fraction(1, 10**5))
    assert [one.gap + 2 * UNIT for one in stages.rounds] == [one.least for one in stages.rounds]


FRAME = pl.DataFrame(
    [(p, shop) for p in range(3_000) for shop in ("bakery", f"of {p % 40}", *((f"S3CRET{p}",) if p < 30 else ()))],
    schema=["visitor", "shop"],
    orient="row",
)
SHOPS = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(20))


def opened(folder: Path, budget: Budget) -> dp.Session:
    ledger = folder / "visits.ledger"
    person = RELATION
    return dp.Session(FRAME, SHOPS, dataset="visits", ledger=ledger, budget=budget, neighbours=person)


def wanted(session: dp.Session) -> Plan:
    return session.table.bound(groups=3, rows=1).group_by(dp.Discover("shop", other=True)).agg(dp.persons(), dp.count())


def left_behind(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


def test_a_release_is_charged_exactly_and_names_of_few_never_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with opened(tmp_path, dp.ApproxDP(2, "1e-5")) as session:
        release = session.release(wanted(session), spend=("0.3", "1e-7"), name="shops")
        assert session.remaining == dp.ApproxDP("1.7", "9.9e-6")
        assert release.guarantee.measure == dp.ApproxDP("0.3", "1e-7")
        assert release.document["plan_digest"] == wanted(session).digest
        assert [one["delta"] for one in release.document["discovery"]["rounds"]]
        names = release.table["shop"].to_list()
        assert "bakery" in names
        assert names[-2:] == ["other", None]
        again = session.release(wanted(session), spend=("0.3", "1e-7"), name="shops")
        assert again.document == release.document
        text = f"{release.payload}{session.quote(wanted(session), spend=('0.3', '1e-7'))}{release.table}"
    assert "S3CRET" not in text
    assert "bakery" not in plan_json(wanted(session))["group_by"][0]["labels"]  # type: ignore[index]
    assert not any(b"S3CRET" in kept for kept in left_behind(tmp_path))
    assert "S3CRET" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("broken", ["find_keys", "places_of"])
def test_whatever_breaks_is_one_failure_without_a_name(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*given: object) -> None:
        raise ValueError(f"S3CRET1 {given}")

    monkeypatch.setattr(finding, broken, fail)
    with opened(tmp_path, dp.ApproxDP(1, "1e-6")) as session:
        with pytest.raises(dp.ReleaseFailed) as failed:
            session.release(wanted(session), spend=("0.3", "1e-7"), name="shops")
        assert str(failed.value) == dp.ReleaseFailed.TEXT  # something was drawn
        assert failed.value.__cause__ is failed.value.__context__ is None
        assert session.remaining == dp.ApproxDP("0.7", "9e-7")
        with pytest.raises(dp.LedgerError):
            session.release(wanted(session), spend=("0.3", "1e-7"), name="shops")
    assert not any(b"S3CRET" in kept for kept in left_behind(tmp_path))
    assert "S3CRET" not in "".join(capfd.readouterr())


def test_an_attempt_that_ends_before_it_draws_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path, dp.ApproxDP(1, "1e-6")) as session:
        engine = session._engine
        with monkeypatch.context() as broken:
            broken.setattr(engine, "open_keys", lambda _: 1 / 0)
            with pytest.raises(dp.ReleaseFailed) as failed:
                session.release(wanted(session), spend=("0.3", "1e-7"), name="shops")
            assert str(failed.value) == dp.ReleaseFailed.UNFINISHED
        release = session.release(wanted(session), spend=("0.3", "1e-7"), name="shops")
        assert "bakery" in release.table["shop"].to_list()
        assert session.remaining == dp.ApproxDP("0.7", "9e-7")


@pytest.mark.parametrize("budget", [dp.PureDP(1), dp.ApproxDP(1, 0), dp.ZCDP(1), dp.GDP(1)])
def test_budgets_without_a_delta_are_refused_before_anything_is_read(
    budget: Budget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path, budget) as session:
        monkeypatch.setattr(session._engine, "open_keys", lambda _: 1 / 0)
        for ask in (session.quote, lambda *a, **b: session.release(*a, name="shops", **b)):
            with pytest.raises(dp.PlanError, match="which a budget without a δ cannot pay for; open the session with"):
                ask(wanted(session), spend=None)
        assert session.remaining == budget
