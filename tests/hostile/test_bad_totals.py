"""Exact totals that are wrong, odd or impossible: refused in words, before anything is read or written."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.invariants import Invariants
from discreet.totals.published import PublishedTotals
from discreet.totals.statements import TotalsStatement

NAME = "Wilhelmina"
SCHEMA = dp.Schema(
    state=dp.Category(["A", "B"]),
    sex=dp.Category(["f", "m"]),
    veteran=dp.Category([False, True]),
    born=dp.Date("2020-01-01", "2020-01-31"),
    age=dp.Number(0, 110),
    wage=dp.Number(0, 10**6),
)
FRAME = pl.DataFrame(
    {
        "state": ["A", "B", None, NAME],
        "sex": ["f", "m", "m", None],
        "veteran": [True, False, None, True],
        "born": [dt.date(2020, 1, 2)] * 4,
        "age": [1, 2, 3, 777777777],
        "wage": [4.0, 5.0, 6.0, 987654321.0],
    }
)
PRIVATE = (NAME, "777777777", "987654321")


def session(invariants, *, ledger=":memory:", neighbours=None, source=FRAME, budget=None):
    return dp.Session(
        source,
        SCHEMA,
        dataset="d",
        ledger=ledger,
        budget=budget or dp.ZCDP(1),
        neighbours=neighbours or dp.ReplaceOne(rows=4),
        invariants=invariants,
    )


def assert_refused(make, words, tmp_path):
    """One of the errors that mean "nothing was spent", in words, without a value of the data, and no ledger."""
    with pytest.raises(dp.ArgumentError, match=words) as refused:
        make()
    shown = str(refused.value)
    assert shown
    assert not any(private in shown for private in PRIVATE)
    assert shown.isprintable()
    assert len(shown) < 600
    assert not (tmp_path / "l.db").exists()


# Arguments ------------------------------------------------------------------------------------------------------------

ODD = [
    object(),
    b"state",
    3,
    3.5,
    True,
    None,
    {"state"},
    {"state": 1},
    FRAME,
    ("state",),
    ["state"],
    lambda: "state",
    float("nan"),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_what_is_no_name_of_a_column_is_refused(odd, tmp_path):
    for make in (dp.Totals, dp.Occupied, lambda one: dp.Totals(one, "sex"), lambda one: dp.Margins([one])):
        assert_refused(lambda make=make: make(odd), "column", tmp_path)
    assert_refused(lambda: dp.Impossible(odd, cells=["A"]), "column", tmp_path)


@pytest.mark.parametrize(
    "odd", [odd for odd in ODD if not isinstance(odd, tuple | list)], ids=lambda odd: type(odd).__name__
)
def test_what_is_no_list_of_columns_is_refused(odd, tmp_path):
    assert_refused(lambda: dp.Margins(odd), "column", tmp_path)
    assert_refused(lambda: dp.LinearInvariant(odd, {"s": {"A": 1}}), "column", tmp_path)


@pytest.mark.parametrize(
    "odd",
    [odd for odd in ODD if odd is not None and not isinstance(odd, tuple | list | dict | set | pl.DataFrame)],
    ids=lambda odd: type(odd).__name__,
)
def test_what_is_no_list_of_cells_is_refused(odd, tmp_path):
    assert_refused(lambda: dp.Totals("state", only=odd), "only=.*list of cells", tmp_path)
    assert_refused(lambda: dp.Occupied("state", only=odd), "only=.*list of cells", tmp_path)
    assert_refused(lambda: dp.Impossible("state", cells=odd), "cells=.*list of cells", tmp_path)


CELLS = [
    object(),
    b"A",
    {"A"},
    {"A": 1},
    float("nan"),
    float("inf"),
    Decimal("NaN"),
    dt.time(),
    ("A", "f"),
    [],
    10**400,
    FRAME,
]
CELLS += [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), np.datetime64("2020-01-01")]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: type(cell).__name__)
def test_what_is_no_cell_is_refused(cell, tmp_path):
    for make in (
        lambda: session(dp.Totals("age", only=[cell])),
        lambda: session(dp.Occupied("age", only=[cell])),
        lambda: session(dp.Impossible("age", cells=[cell])),
    ):
        assert_refused(make, None, tmp_path)


@pytest.mark.parametrize(
    ("invariants", "words"),
    [
        (lambda: dp.Totals("stat"), "'stat': is not declared in the schema; did you mean 'state'"),
        (lambda: dp.Totals("state", only=["C"]), "state='C': is not a category of this column; known: A, B"),
        (lambda: dp.Totals("state", only=["a"]), "did you mean|known: A, B"),
        (lambda: dp.Totals("state", only=[True]), "state=True: is not a category"),
        (lambda: dp.Totals("veteran", only=[1]), "veteran=1: is not a category"),
        (
            lambda: dp.Totals("age", only=[0.5]),
            "age=0.5: must lie on the grid of step 1; the nearest grid values are 0 and 1",
        ),
        (lambda: dp.Totals("age", only=[111]), r"age=111: must lie within \[0, 110\]"),
        (lambda: dp.Totals("age", only=["many"]), "age='many': must be a number"),
        (lambda: dp.Totals("age", only=[dt.date(2020, 1, 1)]), "must be a number"),
        (lambda: dp.Totals("born", only=["2019-12-31"]), "must lie within"),
        (lambda: dp.Totals("born", only=[3]), "born=3: must be a date"),
        (lambda: dp.Totals("age", only=[Fraction(7, 1), "7"]), "is listed twice"),
        (lambda: dp.Impossible("state", cells=["A", "B", None]), "no cell of state is possible; leave out some"),
        (lambda: dp.Totals("wage"), "'wage' has 1000001 values, more than 10000; declare a coarser step"),
        (lambda: dp.Totals("age", "born", "state", "sex", "veteran") + dp.Totals("wage"), "'wage' has 1000001 values"),
        (lambda: dp.Totals(*SCHEMA.columns), "cells, more than 5000000|'wage' has"),
        (lambda: dp.LinearInvariant("age", {"state": {1: 1}}), "'state': is the name of a column; choose another"),
        (lambda: dp.LinearInvariant("age", {"s": {1: 1}}) + dp.LinearInvariant("sex", {"s": {"f": 1}}), "used twice"),
        (
            lambda: dp.Margins(["state", "sex"], ["sex", "age"], ["state", "age"]),
            "no closed form, and are too large for the general case.*publish nested or disjoint totals",
        ),
        (
            lambda: dp.Occupied("state", "sex") + dp.Occupied("sex", "age"),
            r'no closed form; publish the occupied cells of all .*Occupied\("state", "sex", "age"\)',
        ),
        (lambda: Invariants(()), "must be made with Totals"),
        (lambda: "state", "invariants='state': must be made with Totals"),
        (lambda: [dp.Totals("state")], "invariants=<list>: must be made with Totals"),
        (lambda: dp.Totals, "must be made with Totals"),
        (lambda: TotalsStatement(("state",), None), "must be made with Totals"),
        (lambda: FRAME, "must be made with Totals"),
    ],
)
def test_invariants_that_do_not_fit_are_refused_when_the_session_is_opened(invariants, words, tmp_path):
    assert_refused(lambda: session(invariants(), ledger=tmp_path / "l.db"), words, tmp_path)


@pytest.mark.parametrize(
    "parts", [3, ("state",), (TotalsStatement((), None),), (TotalsStatement(("state",), (3,)),)], ids=repr
)
def test_invariants_of_odd_parts_are_refused(parts, tmp_path):
    assert_refused(lambda: session(Invariants(parts)), None, tmp_path)


@pytest.mark.parametrize(
    ("neighbours", "words"),
    [
        (dp.AddRemove(), r"the number of rows public, .* declare neighbours=ReplaceOne\(rows=…\)"),
        (dp.ReplaceOne(rows=4, rows_per_person=2), "each person has one row, not rows_per_person=2; make a table"),
    ],
)
def test_neighbours_that_totals_do_not_allow_are_refused(neighbours, words, tmp_path):
    assert_refused(lambda: session(dp.Totals("state"), neighbours=neighbours, ledger=tmp_path / "l.db"), words, tmp_path)


def test_totals_that_leave_nothing_to_protect_are_refused(tmp_path):
    schema = dp.Schema(state=dp.Category(["A", "B"]), sex=dp.Category(["f", "m"]))
    for invariants in (dp.Totals("state", "sex"), dp.Totals("sex", "state") + dp.Totals("sex")):
        assert_refused(
            lambda invariants=invariants: dp.Session(
                FRAME.select("state", "sex"),
                schema,
                dataset="d",
                ledger=tmp_path / "l.db",
                budget=dp.ZCDP(1),
                neighbours=dp.ReplaceOne(rows=4),
                invariants=invariants,
            ),
            "nothing is left to protect; publish totals of fewer columns",
            tmp_path,
        )


def test_a_column_of_the_totals_may_not_be_imputed_and_other_steps_say_what_they_miss(tmp_path):
    with session(dp.Totals("state"), ledger=tmp_path / "l.db") as one:
        imputed = one.table.impute({"state": dp.Weights({"A": 1})})
        for request in (imputed.agg(dp.count("sex")), imputed.group_by("state").agg(dp.count("sex"))):
            for ask in (one.quote, lambda request, spend: one.release(request, spend=spend, name="r")):
                assert_refused(
                    lambda ask=ask, request=request: ask(request, spend="0.1"),
                    r"impute\('state'\): exact totals of the column are published, so it cannot be imputed",
                    tmp_path,
                )


# Totals that are declared ----------------------------------------------------------------------------------------------

BOTH = dp.Totals("state") + dp.Totals("sex")
STATE = {"state": {"A": 1, "B": 1, None: 2}}
SEX = {"sex": {"f": 1, "m": 2, None: 1}}


@pytest.mark.parametrize(
    ("invariants", "totals", "words"),
    [
        (
            BOTH,
            STATE | {"sex": {"f": 1, "m": 2}},
            "add up to 3, but the table has 4 rows|have 4 rows, the totals of sex have 3",
        ),
        (dp.Totals("state"), {"state": {"A": -1}}, "least|at least 0|-1"),
        (dp.Totals("state"), {"state": {"A": 0.5}}, "0.5"),
        (dp.Totals("state"), {"state": {"A": True}}, "True"),
        (dp.Totals("state"), {"state": {"A": "1"}}, "'1'"),
        (dp.Totals("state"), {"state": {"A": 10**400}}, "number of more than|digits|10"),
        (dp.Totals("state"), {"state": {"C": 1}}, "state='C': is not a category"),
        (dp.Totals("state"), {"state": {("A", "B"): 1}}, "must have 1 values, not 2"),
        (dp.Totals("state"), {}, "missing"),
        (dp.Totals("state"), {"stat": {"A": 1}}, "'stat' .* is not among the invariants; did you mean 'state'"),
        (dp.Totals("state"), STATE | SEX, "'sex' .* is not among the invariants"),
        (dp.Totals("state"), {"state": ["A"]}, "is not among the invariants"),
        (dp.Totals("state"), {"state": 5}, "is not among the invariants"),
        (dp.Totals("state"), [STATE], "must map columns"),
        (dp.Totals("state"), "state", "must map columns"),
        (dp.Totals("state", only=["A"]), {"state": {"B": 1}}, "is not among the published cells"),
        (dp.Occupied("state"), {"state": "A"}, "list of occupied cells"),
        (dp.Totals("state", "sex"), {("state", "sex"): {("A", "f"): 1, ("A", "f", "x"): 1}}, "must have 2 values, not 3"),
        (dp.LinearInvariant("age", {"s": {1: 1}}), {"s": 0.5}, "'s' is 0.5; it must be a whole number"),
        (dp.LinearInvariant("age", {"s": {1: 1}}), {}, "the sum 's' is missing"),
        (
            dp.Totals("state") + dp.Totals("state", "sex"),
            STATE | {("state", "sex"): {("A", "f"): 2, ("B", "m"): 2}},
            "the totals of state have 1 rows where state is 'A', the totals of state, sex have 2",
        ),
        (dp.Occupied("state", "sex"), {("state", "sex"): [("A", "f"), ("A", "f")]}, "given twice"),
    ],
)
def test_declared_totals_that_cannot_be_true_are_refused(invariants, totals, words, tmp_path):
    assert_refused(lambda: invariants.semi_adjacency(SCHEMA, totals), words, tmp_path)


@pytest.mark.parametrize(
    ("invariants", "totals"),
    [
        (dp.Occupied("state", "sex") + dp.Totals("state"), {("state", "sex"): [("A", "f"), ("B", "m")], "state": {"B": 4}}),
        (
            dp.Occupied("state", "sex") + dp.Totals("state"),
            {("state", "sex"): [("A", "f"), ("A", "m"), ("B", "m")], "state": {"A": 1, "B": 4}},
        ),
        (dp.LinearInvariant("age", {"s": {1: 1}}) + dp.Totals("age"), {"s": 3, "age": {1: 4}}),
        (dp.LinearInvariant("age", {"s": {1: 1}}), {"s": -5}),
    ],
)
def test_contradictions_between_parts_of_several_kinds_are_found(invariants, totals, tmp_path):
    assert_refused(lambda: invariants.semi_adjacency(SCHEMA, totals), None, tmp_path)


def test_totals_of_other_invariants_are_no_totals(tmp_path):
    other = PublishedTotals(dp.Totals("sex"), 4, ((1, 2, 1),))
    assert_refused(lambda: dp.Totals("state").semi_adjacency(SCHEMA, other), "belong to other invariants", tmp_path)


@pytest.mark.parametrize("norm", [0, 3, "k", None, 1.5, float("inf"), [2]], ids=repr)
def test_other_norms_are_refused(norm, tmp_path):
    assert_refused(lambda: dp.Totals("state").sensitivity(SCHEMA, "sex", norm), "norm=.*must be 1, 2 or 'K'", tmp_path)


# Requests ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spend", "words"),
    [
        (0, "greater than 0"),
        (-1, "negative"),
        ("nan", "number"),
        ("1e-60", "too little"),
        (dp.PureDP(1), "ZCDP"),
        ([1], None),
    ],
    ids=repr,
)
def test_wrong_spends_beside_totals_leave_no_trace(spend, words, tmp_path):
    with session(dp.Totals("state"), ledger=tmp_path / "l.db") as one:
        request = one.table.group_by("state", "sex").agg(dp.count())
        assert_refused(lambda: one.release(request, spend=spend, name="r"), words, tmp_path)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("exponent", [-15, 0, 12])
@pytest.mark.parametrize("budget", [dp.PureDP, dp.ZCDP, dp.GDP], ids=lambda kind: kind.__name__)
def test_any_spend_that_is_taken_gives_a_release(budget, exponent):
    spend = Fraction(10) ** exponent
    with session(dp.Margins("state", "sex"), budget=budget(spend)) as one:
        release = one.release(one.table.group_by("state", "sex").agg(dp.count()), name="r")
        assert one.remaining == budget(0)
        assert release.table["count"].len() == 9
        if exponent == 12:
            known = {(a, b): n for a, b, n in release.table.select("state", "sex", "count").rows() if n}
            assert known == {("A", "f"): 1, ("B", "m"): 1, (None, "m"): 1, (None, None): 1}


@pytest.mark.parametrize("rows", [2, 3])
def test_tables_of_few_rows_are_released_with_what_the_totals_give_away(rows):
    with session(dp.Margins("state", "sex"), neighbours=dp.ReplaceOne(rows=rows), source=FRAME.head(rows)) as one:
        request = one.table.group_by("state", "sex").agg(dp.count(), dp.count("age"))
        release = one.release(request, name="r")
        assert release.document["invariants"]["disclosures"]
        assert release.document["invariants"]["semi_adjacency"]["a"] <= rows


def test_a_table_of_one_row_that_the_totals_say_is_refused(tmp_path):
    with session(dp.Margins("state", "sex"), neighbours=dp.ReplaceOne(rows=1), source=FRAME.head(1)) as one:
        one.publish_totals()
        assert_refused(lambda: one.quote(one.table.group_by("state", "sex").agg(dp.count())), "already", tmp_path)
        assert one.spent == dp.ZCDP(0)


def test_no_message_and_no_release_holds_a_value_that_is_not_published(tmp_path):
    with session(dp.Totals("state"), ledger=tmp_path / "l.db") as one:
        release = one.release(one.table.group_by("state", "sex").agg(dp.count()), name="r")
    written = release.payload.decode() + "".join(path.read_bytes().decode("latin-1") for path in tmp_path.iterdir())
    assert not any(private in written for private in PRIVATE)


def test_totals_are_no_way_around_the_constant_failure(tmp_path):
    """Which cell was impossible and not empty cannot be told from what is raised or written."""
    seen = []
    for number, (rows, cells) in enumerate([(4, [("B", "m")]), (4, [("A", "f")])]):
        path = tmp_path / f"{number}.db"
        invariants = dp.Totals("state") + dp.Impossible("state", "sex", cells=cells)
        with session(invariants, neighbours=dp.ReplaceOne(rows=rows), ledger=path) as one:
            with pytest.raises(dp.ReleaseFailed) as failed:
                one.publish_totals()
            entries = one._ledger.entries("d")
        seen.append((str(failed.value), [entry.kind for entry in entries], entries[-1].details))
        assert not any(private in repr(entries) for private in PRIVATE)
    assert seen[0] == seen[1]
