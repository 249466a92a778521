"""Rows made again with simulated noise: the laws of it, and intervals that hold about as often as they say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.releases.rows import fit, simulated
from discreet.releases.rows.approximate import about
from discreet.releases.rows.layout import count
from discreet.releases.rows.simulated import _noise, simulated_document
from discreet.releases.rows.targets import described
from discreet.releases.rows.words import words_of

SCHEMA = dp.Schema(a=dp.Category(["x", "y", "z"]), b=dp.Category(["p", "q"]), v=dp.Number(0, 9))
COUNTIES = {"state": [*"AAB"], "county": ["a1", "a2", "b1"]}
AREAS = dp.Schema(area=dp.Hierarchy(COUNTIES, levels=["state", "county"]), b=dp.Category(["p", "q"]))
LAWS = {"Gauss": RoundedGaussian(Fraction(10**9, 3)), "Laplace": DiscreteLaplace(Fraction(5000))}


def people(rows=400, seed=5):
    drawn = np.random.default_rng(seed)
    columns = {"a": [*"xxyz"], "b": [*"pq"], "v": [*range(10)], "area": ["a1", "a1", "a2", "b1"]}
    return pl.DataFrame({name: drawn.choice(labels, rows) for name, labels in columns.items()})


FRAME = people()


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 20, 1), (Fraction(10), 50, 1), (Fraction(40), 100, 1)))


def released(budget=dp.ZCDP(1), neighbours=None, **options):  # noqa: B008
    relation = neighbours or dp.ReplaceOne(rows=len(FRAME))
    session = session_over(FRAME, SCHEMA, neighbours=relation, budget=budget, **options)
    tables = dp.tables(["a", "b"], [dp.bins("v", [0, 5, 9]), "a"])
    return session.release(session.table.agg(tables, dp.mean("v", nulls="skip")), spend=budget, name="all")


@pytest.mark.parametrize("named", LAWS)
def test_noise_has_the_variance_of_its_law(named):
    law = LAWS[named]
    drawn = np.array(_noise(law, 20_000, words_of("noise")), dtype=float)
    variance = float(law.sigma2) if isinstance(law, RoundedGaussian) else 2 * float(law.scale) ** 2
    assert abs(drawn.mean()) < 4 * (variance / len(drawn)) ** 0.5
    assert 0.95 < drawn.var() / variance < 1.05
    within = np.mean(np.abs(drawn) < 1.96 * variance**0.5)
    assert abs(within - (0.95 if isinstance(law, RoundedGaussian) else 0.937)) < 0.01


def without_noise(monkeypatch, made):
    """The targets of a simulated document without noise, and the tables of the rows in 64ths."""
    monkeypatch.setattr(simulated, "_noise", lambda law, many, words: np.zeros(many, dtype=object))
    document = simulated_document(made._made.document, made._made.start, {}, 1)
    tables = described(document).targets.tables
    start, sizes = made._made.start, made._made.found.targets.sizes
    return tables, [64 * count(start.rows, one.axes, sizes, start.each) for one in tables]


@pytest.mark.parametrize("budget", [dp.ZCDP(1), dp.PureDP(1)], ids=["zCDP", "pure"])
@pytest.mark.parametrize("neighbours", [None, dp.AddRemove()], ids=["replaced", "added"])
def test_a_simulated_document_without_noise_has_the_counts_of_the_rows(budget, neighbours, monkeypatch):
    tables, own = without_noise(monkeypatch, released(budget, neighbours).rows())
    assert [one.counts.tolist() for one in tables] == [one.tolist() for one in own]


@pytest.mark.parametrize("budget", [dp.ZCDP(1), dp.PureDP(1)], ids=["zCDP", "pure"])
def test_cells_that_are_public_are_met_by_simulated_documents_too(budget, monkeypatch):
    """Bins leave values out here: these are in a level that no table prints."""
    some = dp.Totals("a", "b", only=[("x", "p"), (None, "p")])
    session = session_over(FRAME, SCHEMA, neighbours=dp.ReplaceOne(rows=len(FRAME)), budget=budget, invariants=some)
    session.publish_totals()
    tables = dp.tables(["a", "b"], [dp.bins("v", [2, 5, 7]), "a"])
    made = session.release(session.table.agg(tables), spend=budget, name="all").rows()
    document = simulated_document(made._made.document, made._made.start, {}, 1)
    assert document["measured"][0]["conditions"] != made._made.document["measured"][0]["conditions"]
    tables, own = without_noise(monkeypatch, made)
    assert [one.counts.tolist() for one in tables] == [one.tolist() for one in own]


def test_areas_are_simulated_level_by_level(monkeypatch):
    session = session_over(FRAME, AREAS, neighbours=dp.ReplaceOne(rows=len(FRAME)), budget=dp.ZCDP(1))
    made = session.release(session.table.agg(dp.agreeing_areas("area", by=[[], ["b"]])), spend=1, name="areas").rows()
    assert made._again(1).columns == made.frame.columns
    tables, own = without_noise(monkeypatch, made)
    assert [one.counts.tolist() for one in tables] == [one.tolist() for one in own]


def test_files_differ_and_are_the_same_for_everybody():
    made = released().rows()
    first, second = made.simulated(2)
    again, _ = made.simulated(2)
    assert first.equals(again)
    assert not first.equals(second)
    assert first.schema == made.frame.schema


def test_an_interval_says_that_it_is_approximate():
    found = released().rows().interval(lambda frame: float((frame["a"] == "x").mean()), files=12)
    # Twelve files are all equal with a probability below 1e-8; five would be in one of two thousand runs.
    assert found.low < found.high  # and around the number only on average: what making rows moves it by is taken off
    assert found.files == 12
    assert "approximately" in str(found)


def test_the_interval_of_simulated_numbers():
    """Student's law of one degree less than files, around the number less what making rows moves it by."""
    found = about(10.0, [9.0, 11.0, 10.0, 12.0, 13.0], 0.95)
    half = 2.7764451 * np.std([9, 11, 10, 12, 13], ddof=1) * 1.2**0.5
    assert (found.low, found.high) == pytest.approx((9 - half, 9 + half))


@pytest.mark.slow
def test_intervals_hold_about_as_often_as_they_say():
    """A share that the tables say, in 226 of 240 releases. Of 40, fewer than 26 have a probability below 1e-7 at 93 %."""
    true = float(((FRAME["a"] == "x") & (FRAME["b"] == "p")).mean())

    def number(frame):
        return float(((frame["a"] == "x") & (frame["b"] == "p")).fill_null(value=False).mean())

    intervals = [released(dp.ZCDP("0.05")).rows().interval(number, files=8) for _ in range(40)]
    assert sum(one.low <= true <= one.high for one in intervals) >= 26


WRONG = {
    "files=": lambda made: made.simulated(1),
    "level=": lambda made: made.interval(len, level=2.0),
    "finite number": lambda made: made.interval(lambda frame: None, files=2),
}


@pytest.mark.parametrize("rule", WRONG)
def test_what_cannot_be_simulated_is_refused(rule):
    with pytest.raises(dp.ArgumentError, match=rule):
        WRONG[rule](released().rows())
    with pytest.raises(dp.ArgumentError, match="leave rows= out"):
        released().rows(20).simulated()
