"""Intervals that are chosen are attacked with the values that they surround, and their law is counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from tests.laws import literal_intervals
from tests.laws.mutants import Mutant

import discreet as dp
from discreet.audit import audit_quote
from discreet.audit.choices import choice_pairs, intervals_around
from discreet.audit.draws import KERNEL
from discreet.audit.interval_law import law_of_interval
from discreet.mechanisms import ExponentialIntervals, interval_choice
from discreet.quotes.allocate import quote

SCHEMA = dp.Schema(v=dp.Number(0, 10))
CHOSEN = {"nulls": "skip", "interval": "chosen"}
MEDIAN = dp.median("v", **CHOSEN)
REPLACED = dp.Table(SCHEMA, dp.ReplaceOne(rows=100)).agg(MEDIAN)
RUNS = 20_000


def sharper(asked, factor):
    """The quote, where intervals are chosen as if a record changed a loss by that many times less than it does."""
    measured = (
        replace(one, law=replace(one.law, reach=factor * one.law.reach))
        if isinstance(one.law, ExponentialIntervals)
        else one
        for one in asked.measured
    )
    return replace(asked, measured=tuple(measured))


@pytest.mark.parametrize("q", ["0", "1/10", "1/2", "3/4", "1"])
def test_the_law_is_that_of_the_definition(q):
    counts = (3, 1, 0, 0, 2)
    table = tuple(code for code, many in enumerate(counts) for _ in range(many))
    for centre, reach in ((0, Fraction(1, 3)), (2, Fraction(2)), (4, Fraction(9))):
        law = ExponentialIntervals(5, 1, (Fraction(q),), reach)
        found = law_of_interval(law, counts, centre, Fraction(q))
        literal = literal_intervals.law_of_interval(table, 5, centre, Fraction(q), reach, law.level)
        assert found == pytest.approx(literal)


def test_everything_of_a_median_with_its_interval_is_audited():
    found = audit_quote(quote(REPLACED, dp.ZCDP("0.5")), runs=RUNS)
    assert found.not_audited == ()
    assert not found.refuted, found
    assert sum("1/2-quantile" in check.what for check in found.checks) > 5


def test_values_and_intervals_are_attacked_together():
    asked = quote(REPLACED, dp.ZCDP("0.5"))
    choice, intervals = asked.measured
    assert intervals_around(asked, choice) == (intervals,)
    assert all(pair.around == (intervals,) for pair in choice_pairs(KERNEL, asked, choice))
    alone = quote(dp.Table(SCHEMA, dp.ReplaceOne(rows=100)).agg(dp.median("v", nulls="skip")), dp.ZCDP("0.5"))
    assert intervals_around(alone, alone.measured[0]) == ()


def test_a_loss_that_changes_four_times_as_much_as_charged_is_shown_by_an_attack():
    """The quote itself is wrong, so no law is: only what the outputs show refutes it."""
    found = audit_quote(sharper(quote(REPLACED, dp.ZCDP("0.5")), 4), runs=RUNS)
    assert found.leaks
    assert not found.unlike


@pytest.mark.exhaustive
@pytest.mark.parametrize("spend", [dp.ZCDP("0.5"), dp.PureDP(3)], ids=str)
def test_the_sensitivity_of_a_loss_halved_is_shown_by_an_attack(spend):
    found = audit_quote(sharper(quote(REPLACED, spend), 2), runs=1_000_000)
    assert found.leaks


MUTANTS = {
    "the change of a loss is halved": ("_choose", "rate = law.reach / (2 * max(", "rate = law.reach / (max("),
    "all intervals weigh the same": ("weights", "-(-found[-1] * 8 // 5)", "1"),
    "the lower side is not looked at": ("_margins", "np.minimum(above, beneath)", "above"),
    "a quarter of the margin": ("find_margin", ") / rate))", ") / rate / 4))"),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_the_choice_is_refuted(name, monkeypatch):
    asked = quote(REPLACED, dp.ZCDP("0.5"))
    Mutant(interval_choice, *MUTANTS[name]).plant(monkeypatch)
    # The change that is halved is hardest to see: twice as many runs are six standard deviations more than is needed.
    found = audit_quote(asked, runs=2 * RUNS)
    assert found.refuted
    assert found.unlike
