"""The path of a release: charged before the data are opened, stored once, refused precisely."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from fractions import Fraction

import duckdb
import pandas as pd
import polars as pl
import pytest
from tests.builders import PATIENCE, session_over

import discreet as dp
from discreet import datasets
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.ledger import Ledger
from discreet.privacy.amounts import budget_down
from discreet.session.orders import Order, charge_of

from .sessions import FRAME, means, session


def test_without_pandas_the_extra_is_named(monkeypatch):
    schema = dp.Schema(g=dp.Category(["x"]))
    with session_over(FRAME, schema, budget=dp.ZCDP(1)) as session:
        release = session.release(session.table.agg(dp.count()), name="r")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(dp.ArgumentError, match=r"discreet\[pandas\]"):
        release.to_pandas()


def test_an_engine_of_ones_own_is_a_source():
    header = {"k": ColumnType("text", "VARCHAR")}
    rows = [("a",)] * 50 + [("b",)] * 30 + [(None,)]
    schema, options = (
        dp.Schema(k=dp.Category(["a", "b"])),
        {"dataset": "d", "ledger": ":memory:", "neighbours": dp.AddRemove()},
    )
    with dp.Session(ReferenceEngine(header, rows), schema, budget=dp.ZCDP(10**6), **options) as session:
        release = session.release(session.table.group_by("k").agg(dp.count()), name="r")
        assert release.table["count"].to_list() == [50, 30, 1]
    with pytest.raises(dp.ArgumentError, match="an engine of one's own follows its own settings"):
        dp.Session(ReferenceEngine(header, rows), schema, budget=dp.ZCDP(1), limits=dp.Limits(threads=1), **options)
    with pytest.raises(dp.SourceError, match="not in the engine"):
        dp.Session(ReferenceEngine(header, rows), dp.Schema(z=dp.Number(0, 1)), budget=dp.ZCDP(1), **options)


def test_a_release_has_the_declared_shape_and_is_charged():
    with session() as one:
        release = one.release(means(one), spend="0.25", name="r")
        table = release.table
        assert table.columns == ["g", *(f"{s}{e}" for s in ("count", "mean_v", "sum_v") for e in ("", "_low", "_high"))]
        assert table["g"].to_list() == ["x", "y", None]
        assert table.dtypes == [pl.String, *[pl.Int64] * 3, *[pl.Float64] * 6]
        assert (table["mean_v"].is_between(0, 100)).all()
        assert (table["count_low"] < table["count"]).all()
        assert one.spent == dp.ZCDP("0.25")
        assert one.remaining == dp.ZCDP("0.75")
        assert release.guarantee.measure == dp.ZCDP("0.25")
        assert release.guarantee.epsilon >= dp.ZCDP("0.25").epsilon_at("1e-9") * (1 - 1e-12)
        assert release.to_pandas().shape == table.shape


def test_leaving_a_session_closes_its_source_and_its_ledger(monkeypatch):
    with session() as one:
        closed = []
        for part in (one._engine, one._ledger):
            kind, close = type(part), type(part).close
            monkeypatch.setattr(kind, "close", lambda self, close=close: (closed.append(type(self)), close(self)))
    assert closed == [type(one._engine), type(one._ledger)]


@pytest.mark.parametrize("budget", [dp.PureDP("0.3"), dp.ZCDP("0.3"), dp.ApproxDP("0.3", "1e-9"), dp.GDP("0.3")])
def test_none_spends_all_that_remains_exactly(budget):
    with session(budget=budget) as one:
        one.release(means(one), spend="0.1", name="a")
        one.release(means(one), name="b")
        assert one.spent == budget
        with pytest.raises(dp.BudgetExceeded, match="nothing remains"):
            one.release(means(one), name="c")


@pytest.mark.parametrize("spend", [None, "remaining"])
def test_where_the_root_of_what_remains_is_rounded_down_the_rest_is_charged_with_it(spend):
    with session(budget=dp.GDP("0.3")) as one:
        one.release(means(one), spend="0.1", name="a")
        left = one.remaining
        release = one.release(means(one), spend=left if spend else None, name="b")
        assert release.guarantee.measure == left
        assert left.mu**2 < Fraction(8, 100)  # √0.08 is no rational: the noise is for a little less than is charged
        assert (one.remaining, one.spent) == (dp.GDP(0), dp.GDP("0.3"))
        assert one._ledger.remaining("d") == (0,)
        again = one.release(means(one), spend=left if spend else None, name="b")
        assert again.digest == release.digest


@pytest.mark.parametrize("left", [Fraction(8, 100), Fraction(9, 100), Fraction(10), Fraction(1, 3**50), Fraction(1, 10**60)])
def test_a_charge_is_never_below_its_spend_and_never_above_what_is_left(left):
    all_of_it = budget_down(dp.GDP(1), (left,))
    assert charge_of(all_of_it, (left,)) == (left,)
    assert all_of_it.mu**2 <= left
    for other in (all_of_it.mu / 2, all_of_it.mu * (1 - Fraction(1, 10**40)), all_of_it.mu * 2):
        assert charge_of(dp.GDP(other), (left,)) == (other**2,)
    # What is left changed after the quote was made: the charge is that of the quote, and may be refused.
    assert charge_of(all_of_it, (left / 2,)) == (all_of_it.mu**2,)
    assert charge_of(dp.ZCDP(left), (left,)) == (left,)


def test_ten_tenths_fit_and_not_a_hair_more():
    with session(budget=dp.PureDP(1)) as one:
        request = one.table.group_by("g").agg(dp.count())
        for i in range(10):
            one.release(request, spend=0.1, name=f"r{i}")
        assert one.remaining == dp.PureDP(0)
        with pytest.raises(dp.BudgetExceeded):
            one.release(request, spend="1e-9", name="more")
    with session(budget=dp.PureDP(1)) as one:
        with pytest.raises(dp.BudgetExceeded) as refused:
            one.release(one.table.agg(dp.count()), spend="1.000000000000000001", name="r")
        assert refused.value.difference == (Fraction(1, 10**18),)
        assert "1" in str(refused.value)
        assert one.spent == dp.PureDP(0)


def test_the_same_name_request_and_source_come_back_at_no_charge():
    with session() as one:
        first = one.release(means(one), spend="0.1", name="r")
        again = one.release(means(one), spend="0.1", name="r")
        assert again == first
        assert one.spent == dp.ZCDP("0.1")
        with pytest.raises(dp.LedgerError, match="r"):
            one.release(one.table.agg(dp.count()), spend="0.1", name="r")
        with pytest.raises(dp.LedgerError, match="spend"):
            one.release(means(one), spend="0.2", name="r")
        assert one.spent == dp.ZCDP("0.1")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", ["parquet", "csv", "frame", "relation", "stream"])
def test_a_known_release_is_given_back_whatever_the_source_is_now(form, tmp_path, monkeypatch):
    """Another answer for other rows would be a free test of them, for every guess (soundness 17)."""

    def opened(frame):
        path = tmp_path / f"d.{form}"
        if form in ("parquet", "csv"):
            getattr(frame, f"write_{form}")(path)
        sources = {"frame": frame, "relation": relation_of(frame), "stream": frame.to_arrow}
        return session(sources.get(form, path), ledger=tmp_path / "l.db", neighbours=dp.ReplaceOne(rows=100))

    def never(*_):
        raise AssertionError("the source was looked at")

    with opened(FRAME) as one:
        first = one.release(means(one), spend="0.1", name="r")
    for guess in (FRAME, FRAME.with_columns(v=pl.col("v") + 1), FRAME.head(1), FRAME.clear()):
        with opened(guess) as one:
            for looks in ("snapshot", "aggregate", "check_ready"):
                monkeypatch.setattr(one._engine, looks, never, raising=False)
            assert one.release(means(one), spend="0.1", name="r") == first
            assert one.spent == dp.ZCDP("0.1")


def relation_of(frame):
    connection = duckdb.connect()
    connection.register("d", frame.to_arrow())
    connection.execute("CREATE TABLE copy AS SELECT * FROM d")
    return connection.table("copy")


def test_a_data_set_is_what_its_first_entry_declared(tmp_path):
    ledger = tmp_path / "ledger.db"
    with session(ledger=ledger):
        assert not ledger.exists()  # opening and quoting leave nothing behind
    with session(ledger=ledger) as one:
        one.quote(means(one), spend="0.1")
        assert not ledger.exists()
        one.release(means(one), spend="0.1", name="r")
    for other in (
        {"budget": dp.ZCDP(2)},
        {"budget": dp.PureDP(1)},
        {"neighbours": dp.ReplaceOne(rows=100)},
        {"neighbours": dp.AddRemove(rows_per_person=2)},
    ):
        with pytest.raises(dp.LedgerError):
            session(ledger=ledger, **other)
    with session(ledger=ledger, dataset="another", budget=dp.PureDP(1)) as one:
        assert one.spent == dp.PureDP(0)


def test_orders_are_reserved_together_or_not_at_all():
    with session(budget=dp.PureDP(1)) as one:
        request = one.table.group_by("g").agg(dp.count())
        with pytest.raises(dp.BudgetExceeded):
            one.release_all([Order(request, "0.6", "a"), Order(request, "0.6", "b")])
        assert one.spent == dp.PureDP(0)
        assert len(one.release_all([Order(request, "0.6", "a"), Order(request, "0.4", "b")])) == 2


def test_every_kind_of_source_gives_the_same_kind_of_release(tmp_path):
    FRAME.write_parquet(tmp_path / "d.parquet")
    FRAME.write_csv(tmp_path / "d.csv")
    sources = [
        tmp_path / "d.parquet",
        str(tmp_path / "*.csv"),
        FRAME,
        FRAME.to_arrow(),
        pd.DataFrame(FRAME.to_dict(as_series=False)),
        duckdb.read_parquet(str(tmp_path / "d.parquet")),
    ]
    for source in sources:
        with session(source, budget=dp.PureDP(10**6)) as one:
            table = one.release(one.table.group_by("g").agg(dp.count()), name="r").table
            # At ε = 10^6 the noise is 0 but with a chance below e^-999999.
            assert table["count"].to_list() == [25, 25, 50]


def test_counting_an_imputed_category_beside_a_sum_does_not_depend_on_nulls():
    """A failure only where there are nulls would tell that there are some."""
    for values in (["x", "y"], ["x", None]):
        with session(pl.DataFrame({"g": values, "v": [1, 2]}), budget=dp.PureDP(10**6)) as one:
            table = one.table.impute({"g": dp.Weights({"y": 1})})
            row = one.release(table.agg(dp.count("g"), dp.sum("v", nulls="skip")), name="r").table.row(0)
            assert row == (2, 2, 2, 3.0, 3.0, 3.0)


def test_counting_a_wide_column_needs_no_table_of_its_values():
    schema = dp.Schema(w=dp.Number(0, 10**12))
    with session(pl.DataFrame({"w": [0, 5, None, 10**13]}), schema=schema, budget=dp.PureDP(10**6)) as one:
        request = one.table.group_by(dp.bins("w", [0, 10, 10**12])).agg(dp.count(), dp.count("w").alias("known"))
        rows = one.release(request, name="r").table.select("w", "count", "known").rows()
        assert rows == [("[0, 10)", 2, 2), ("[10, 1000000000000]", 1, 1), (None, 1, 0)]
    with session(pl.DataFrame({"w": [0, 5, None]}), schema=dp.Schema(w=dp.Number(0, 10**6)), budget=dp.PureDP(10**7)) as one:
        table = one.table.impute({"w": dp.Uniform(0, 0)}).resize(7, proportion="1/2").where({"w": (0, 10**6)})
        assert one.release(table.agg(dp.count("w")), name="r").table["count_w"].to_list() == [7]


def test_orders_are_checked_before_anything_is_spent():
    with session() as one:
        with pytest.raises(dp.ArgumentError, match="Order"):
            one.release_all([means(one)])
        assert one.spent == dp.ZCDP(0)
        assert len(one.release_all(Order(means(one), "0.1", name) for name in "ab")) == 2


def test_the_ledger_says_what_was_done(tmp_path):
    with session(ledger=tmp_path / "l.db") as one:
        one.release(means(one), spend="0.1", name="r")
    with Ledger.open(tmp_path / "l.db") as ledger:
        assert [entry.kind for entry in ledger.entries("d")] == ["dataset", "reserve", "reading", "drawing", "commit"]
        assert ledger.verify().broken == 0
        assert '"variance"' in ledger.entries("d")[1].details


def test_rows_are_estimated_with_geometric_noise_and_charged():
    with session(budget=dp.PureDP(10**6)) as one:
        estimate = one.estimate_rows(spend=10**5, name="n")
        assert estimate.rows == 100
        assert one.table.impute({"v": dp.Uniform()}).resize(estimate).facts.rows == 100
        assert one.spent == dp.PureDP(10**5)
        assert estimate.release.document["noise"][0]["noise"] == "discrete Laplace"
    with session(neighbours=dp.ReplaceOne(rows=100)) as one, pytest.raises(dp.PlanError, match="public"):
        one.estimate_rows(spend="0.1")


def test_resized_releases_are_seen_through_the_seam():
    """Seeds 000 and 001, section 4.5: the three worked examples, at a budget that leaves no noise."""
    frame = pl.DataFrame({"g": ["x"] * 100})
    schema = dp.Schema(g=dp.Category(["x", "fill"]))
    law = {"g": dp.Weights({"fill": 1})}
    for rows, p, real in [(150, 1, 100), (100, "0.75", 75), (90, "1.5", 90)]:
        with session(frame, schema=schema, budget=dp.PureDP(10**7), neighbours=dp.ReplaceOne(rows=100)) as one:
            table = one.release(
                one.table.impute(law).resize(rows, proportion=p).group_by("g").agg(dp.count()), name="r"
            ).table
            assert table["count"].to_list() == [real, rows - real]


@pytest.mark.parametrize(
    ("spend", "says"),
    [
        (0, "greater than 0"),
        ("-1", "negative"),
        ("nan", "number"),
        (True, "number"),
        (float("inf"), "finite"),
        (dp.PureDP(1), "ZCDP"),
        ((1, 2), "single amount"),
    ],
)
def test_wrong_spends_are_refused(spend, says):
    with session() as one:
        with pytest.raises(dp.ArgumentError, match=says):
            one.release(means(one), spend=spend, name="r")
        assert one.spent == dp.ZCDP(0)


def test_approximate_spends_are_pairs_or_shares():
    with session(budget=dp.ApproxDP(1, "1e-6")) as one:
        assert one.quote(means(one), spend="0.5").spend == dp.ApproxDP("0.5", "5e-7")
        assert one.quote(means(one), spend=("0.5", "1e-7")).spend == dp.ApproxDP("0.5", "1e-7")
        with pytest.raises(dp.ArgumentError, match="pair"):
            one.quote(means(one), spend=(1, 2, 3))


@pytest.mark.parametrize("name", ["", " ", "a\nb", 3, "x" * 300])
def test_wrong_names_are_refused(name):
    with session() as one, pytest.raises(dp.ArgumentError):
        one.release(means(one), spend="0.1", name=name)


def test_wrong_arguments_are_refused_before_anything_is_opened():
    for wrong in (
        {"budget": dp.PureDP(0)},
        {"budget": "1"},
        {"budget": dp.RDP([(2, 1)])},
        {"neighbours": "replace-one"},
        {"invariants": "state"},
        {"report_delta": 0},
        {"schema": {"g": 1}},
        {"dataset": ""},
    ):
        with pytest.raises(dp.ArgumentError):
            session("no/such/file.parquet", **wrong)


def test_a_request_belongs_to_its_session():
    other = dp.Table(dp.Schema(g=dp.Category(["x", "y"])), dp.AddRemove()).group_by("g").agg(dp.count())
    with session() as one:
        with pytest.raises(dp.PlanError, match="another schema"):
            one.release(other, spend="0.1", name="r")
        with pytest.raises(dp.PlanError, match="agg"):
            one.release(one.table, spend="0.1", name="r")


def test_results_pickle_and_bits_are_not_a_public_argument():
    with session() as one:
        release = one.release(means(one), spend="0.1", name="r")
    assert pickle.loads(pickle.dumps(release)) == release
    import inspect

    for function in (dp.Session.__init__, dp.Session.release, dp.Session.quote):
        assert not {"seed", "rng", "bits"} & set(inspect.signature(function).parameters)


def test_empty_cells_get_their_own_noise():
    schema = dp.Schema(c=dp.Category([f"c{i}" for i in range(300)]))
    with session(pl.DataFrame({"c": ["c0"]}), schema=schema, budget=dp.ZCDP("1e-9")) as one:
        values = one.release(one.table.group_by("c").agg(dp.count()), name="r").table["count"]
        assert values.n_unique() > 290  # σ ≈ 22,000: equal values would be shared noise


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_of_a_fork_draw_different_noise(tmp_path):
    code = (
        "import os, sys, discreet as dp, polars as pl\n"
        "pl.DataFrame({'g': ['x']}).write_parquet(sys.argv[2])\n"
        "s = dp.Session(sys.argv[2], dp.Schema(g=dp.Category(['x', 'y'])), dataset='d', ledger=sys.argv[1],"
        " budget=dp.PureDP('1'), neighbours=dp.AddRemove())\n"
        "r = s.table.group_by('g').agg(dp.count())\n"
        "s.release(r, spend='1e-9', name='first')\n"
        "for i in range(4):\n"
        "    if os.fork() == 0:\n"
        "        t = s.release(r, spend='1e-9', name=f'child {i}').table['count'].to_list()\n"
        "        os.write(1, f'{t}\\n'.encode()); os._exit(0)\n"  # one write, so that lines stay whole
        "for i in range(4): os.wait()\n"
        "s.close()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "l.db"), str(tmp_path / "d.parquet")]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert run.stderr == ""
    assert len(set(run.stdout.splitlines())) == 4


def test_the_shipped_military_table_is_released_exactly_at_a_huge_budget():
    categories = {
        "branch": dp.Category(["air force", "army", "marine corps", "navy"]),
        "gender": dp.Category(["female", "male"]),
    }
    with session(
        datasets.path("military"),
        schema=dp.Schema(categories),
        budget=dp.ZCDP(10**9),
        neighbours=dp.ReplaceOne(rows=1_414_593),
    ) as one:
        table = one.release(one.table.group_by("branch", "gender").agg(dp.count()), name="r").table
        counted = f"SELECT count(*) FROM '{datasets.path('military')}' GROUP BY branch, gender ORDER BY branch, gender"
        truth = [row[0] for row in duckdb.sql(counted).fetchall()]
        assert [c for c, g, b in zip(table["count"], table["gender"], table["branch"], strict=True) if g and b] == truth
        assert table["count"].sum() == 1_414_593
