"""Every row file keeps what a release says exactly, to the last row, or it is refused with the names of the facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as of_hypothesis
from hypothesis import strategies as st
from tests.builders import changed_release, session_over
from tests.laws.mutants import Mutant

import discreet as dp
from discreet.errors import InternalError
from discreet.releases.document import make_release
from discreet.releases.rows import exchanges, fit, start
from discreet.releases.rows.chosen import choose
from discreet.releases.rows.facts import Wanted
from discreet.releases.rows.model import Listed, Root, Start, Targets
from discreet.releases.rows.start import broken_facts, start_rows
from discreet.releases.rows.words import words_of

SCHEMA = dp.Schema(
    a=dp.Category(["x", "y", "z"]), b=dp.Category(["p", "q"]), c=dp.Category([1, 2, 3]),
    v=dp.Number(0, 9), w=dp.Number(0, 1, step="0.5"),
    area=dp.Hierarchy({"state": [*"AABBB"], "county": ["a1", "a2", "b1", "b2", "b3"]}, levels=["state", "county"]),
    coast=dp.DerivedColumn("coast", of="area", by={"a1": "yes", "a2": "no", "b1": "yes", "b2": "no"}),
)  # fmt: skip
HALVES, THIRDS = dp.bins("v", [0, 5, 9]), dp.bins("v", [0, 3, 6, 9])


def made_up(rows=120, seed=1):
    drawn = np.random.default_rng(seed)
    found = []
    for _ in range(rows):
        a = drawn.choice(["x", "x", "x", "y", "z"])
        b = drawn.choice(["p", "q"]) if a != "z" else "p"
        c = int(drawn.choice([1, 2, 2, 3]) if b == "p" else drawn.choice([1, 3]))
        area = drawn.choice(["a1", "a1", "a2", "b1", "b2", "b3"])
        found.append((str(a), str(b), c, int(drawn.integers(10 if c > 1 else 5)), str(area)))
    frame = pl.DataFrame(found, schema=["a", "b", "c", "v", "area"], orient="row")
    return frame.with_columns(w=pl.col("v") % 3 / 2)


FRAME = made_up()
PAIRS = dp.tables(["a", "b"], ["b", "c"], [HALVES, "a"], ["area", "c"])


def released(invariants, asked=PAIRS, frame=FRAME, spend="1", steps=lambda table: table):
    """A release with noise, for which the rows have to be right all the same."""
    session = session_over(
        frame, SCHEMA, neighbours=dp.ReplaceOne(rows=len(frame)), budget=dp.ZCDP(spend), invariants=invariants
    )
    return session.release(steps(session.table).agg(asked), spend=spend, name="all")


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    """Rows are fitted in two sweeps: enough for what holds after every draw."""
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 20, 1), (Fraction(40), 20, 1)))


LEVELS = {
    "area.state": {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "b3": "B"},
    "area.county": {"a1": "a1", "a2": "a2", "b1": "b1", "b2": "b2", "b3": "b3"},
    "coast": {"a1": "yes", "a2": "no", "b1": "yes", "b2": "no"},
}


def with_derived(frame):
    """The same rows with the columns that follow from their areas, by the maps above."""
    return frame.with_columns(
        *(pl.Series(name, [map_.get(one) for one in frame["area"]], dtype=pl.String) for name, map_ in LEVELS.items())
    )


def counted(frame, columns, each=None):
    found = Counter()
    weights = frame[each].to_list() if each else [1] * len(frame)
    for row, weight in zip(frame.select(columns).rows(), weights, strict=True):
        found[row] += weight
    return found


def facts_of(document):
    published = document["invariants"] or {"totals": {"parts": []}}
    return [*published["totals"]["parts"], *document.get("domain", {}).get("rules", [])]


def broken(document, made, true, each=None):
    """The facts of a release that rows do not have, counted anew from the rows that the release was made of."""
    found = []
    for part in facts_of(document):
        columns = part["columns"]
        if not holds(part, counted(made, columns, each), counted(true, columns), len(true)):
            found.append(part)
    return found


def as_values(columns, cell):
    """The labels of a cell as a frame has them: documents write numbers that are not whole as texts."""
    return tuple(float(label) if name == "w" else label for name, label in zip(columns, cell, strict=True))


def holds(part, made, true, rows):
    only = part.get("only")
    cells = set(made) | set(true) if only is None else {as_values(part["columns"], one) for one in only}
    match part["part"]:
        case "totals":
            return all(made[cell] == true[cell] for cell in cells)
        case "occupied":
            return all((made[cell] > 0) == (true[cell] > 0) for cell in cells)
        case "ranges":
            known = {tuple(cell): (low, rows if high is None else high) for *cell, _, low, high in part["cells"]}
            return all(known.get(cell, (0, 0))[0] <= made[cell] <= known.get(cell, (0, 0))[1] for cell in cells)
        case "at least":
            return all(made[cell] >= part["rows"] for cell in cells if None not in cell)
        case "impossible":
            return not any(made[tuple(cell)] for cell in part["cells"])
        case "linear":
            sums = {
                name: sum(value * made[tuple(cell)] for *cell, value in row) for name, row in part["coefficients"].items()
            }
            return sums == part["values"]
    raise AssertionError(part)


def all_of(*parts):
    found = parts[0]
    for one in parts[1:]:
        found += one
    return found


NO_ZQ = dp.Impossible("a", "b", cells=[("z", "q")])
NO_Q2 = dp.Impossible("b", "c", cells=[("q", 2)])
KEPT = {
    "overlapping": dp.Totals("a", "b") + dp.Totals("b", "c"),
    "overlapping in a row": all_of(dp.Totals("a", "b"), dp.Totals("b", "c"), dp.Totals("c", "area.state")),
    "apart": dp.Totals("a") + dp.Totals("c"),
    "nested": dp.Totals("a", "b") + dp.Totals("b"),
    "of some groups": dp.Totals("a", only=["x"]),
    "of some cells": dp.Totals("a", "b", only=[("x", "p"), ("z", "q")]),
    "of some values": dp.Totals("v", only=[3, 7]),
    "of some values of a finer grid": dp.Totals("w", only=["0", "0.5"]),
    "of all values": dp.Totals("v"),
    "of a level": dp.Totals("area.state", "a") + dp.Totals("area.state"),
    "of two levels": dp.Totals("area") + dp.Totals("area.state", "b"),
    "of a derived column": dp.Totals("coast", "b"),
    "of another column": dp.Totals("a") + dp.Totals("coast"),
    "impossible": NO_ZQ + NO_Q2,
    "impossible beside totals of every value": all_of(
        dp.Totals("coast", only=["yes", "no", None]), dp.Impossible("area.state", "coast", cells=[("A", None)])
    ),
    "impossible and totals": all_of(NO_ZQ, NO_Q2, dp.Totals("a"), dp.Totals("c")),
    "impossible across totals": all_of(NO_ZQ, dp.Totals("a"), dp.Totals("b")),
    "impossible inside totals": all_of(NO_ZQ, dp.Totals("a", "c")),
    "impossible values": dp.Impossible("c", "v", cells=[(1, 5), (1, 6), (1, 7), (1, 8), (1, 9)]),
    "impossible areas": dp.Impossible("area.state", "coast", cells=[("A", None)]),
    "occupied": dp.Occupied("a", "b") + dp.Totals("a"),
    "occupied of some": dp.Occupied("a", "c", only=[("x", 1), ("z", 1)]),
    "rounded": dp.Rounded("a", "b", base=5),
    "rounded areas that another column follows from": dp.Rounded("area", "coast", base=20),
    "rounded cells in which no area is": dp.Rounded("area", "coast", base=20, only=[("a1", "no"), ("b1", "yes")]),
    "rounded cells that totals rule out": dp.Rounded("a", base=5) + dp.Totals("a"),
    "rounded beside impossible": dp.Rounded("a", "b", base=20, only=[("x", "p"), ("z", "q")]) + NO_ZQ,
    "at least": dp.AtLeast("area", rows=3),
    "sums": dp.LinearInvariant(["c"], {"score": {1: 1, 2: 2, 3: 4}}) + dp.Totals("b"),
    "sums by groups": dp.Sums("v", SCHEMA, by="b") + dp.Totals("b"),
    "a linear sum": dp.LinearInvariant(["a", "b"], {"score": {("x", "p"): 3, ("y", "q"): 5}}),
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KEPT)
def test_facts_hold_to_the_last_row(kind):
    release = released(KEPT[kind])
    found = release.rows()
    assert not found.left
    assert len(found.kept) == len({(part["part"], *part["columns"]) for part in facts_of(release.document)})
    assert len(found.frame) == len(FRAME)
    assert broken(release.document, found.frame, with_derived(FRAME)) == []
    assert with_derived(found.frame.select("area")).equals(found.frame.select("area", *LEVELS))


def test_a_column_has_its_type_where_all_rows_are_null():
    frame = FRAME.with_columns(a=pl.lit(None, pl.String), c=pl.lit(None, pl.Int64))
    found = released(dp.Totals("a") + dp.Totals("c"), dp.tables(["a", "b"], ["c", "b"]), frame).rows().frame
    assert found.select("a", "c").equals(frame.select("a", "c"))
    assert found.select("a", "c").dtypes == [pl.String, pl.Int64]


@pytest.mark.parametrize("only", [None, ["yes"]], ids=["all", "some"])
def test_a_fact_is_kept_only_where_the_file_has_its_columns(only):
    """The rest of some values has several labels, and tables of states do not tell them apart: rows have no such column."""
    found = released(dp.Totals("coast", only=only), dp.tables(["area.state", "c"], ["a", "c"])).rows()
    facts = found.kept, found.left
    assert facts == ((("totals of coast",), ()) if only is None else ((), ("totals of coast",)))
    assert ("coast" in found.frame.columns) == (only is None)
    assert ("other rows or columns than those of the tables" in str(found)) == (only is not None)


def test_numbers_are_chosen_for_cells_that_a_level_is_in():
    """Most cells of areas by what follows from them are those of no area: rows chosen for them would be in other ones."""
    rounded = KEPT["rounded areas that another column follows from"]
    release = released(rounded, spend="1/100")
    assert broken(release.document, release.rows().frame, with_derived(FRAME)) == []
    roots = (Root("area", (0, 1), np.array([[0, 0], [1, 1], [2, 1]]), np.array([64, 64, 64])),)
    targets = Targets(roots, (3, 2), 30, (), (), (), Fraction(1))
    counts = choose(targets, Wanted((0, 1), np.zeros((3, 2), int), np.full((3, 2), 30), (), "ranges")).counts
    assert counts.tolist() == [[8, 0], [0, 11], [0, 11]]
    turned = choose(targets, Wanted((1, 0), np.zeros((2, 3), int), np.full((2, 3), 30), (), "ranges")).counts
    assert turned.tolist() == counts.T.tolist()
    apart = Start(np.array([[0, 0], [1, 0]]), np.ones(2, int))
    assert broken_facts(targets, apart) == ["levels of area that go together"]


def test_a_document_without_the_rules_makes_rows_that_break_them():
    """What older documents do not hold, rows cannot keep: the rules are the key `domain` of the document."""
    release = released(NO_ZQ, spend="1/100")
    document = {key: value for key, value in release.document.items() if key not in {"domain", "digest"}}
    document["plan"]["schema"] = [one for one in document["plan"]["schema"] if "of" not in one]
    old = make_release(document)
    assert old.rows().kept == ()
    assert release.rows().kept == ("impossible cells of a, b",)


BINARY = dp.Schema(**{name: dp.Category([0, 1]) for name in "def"})


def in_a_circle(rows=40):
    drawn = np.random.default_rng(3).integers(2, size=(rows, 3))
    return pl.DataFrame(drawn, schema=["d", "e", "f"], orient="row")


@cache
def released_in_a_circle():
    circle = dp.Totals("d", "e") + dp.Totals("e", "f") + dp.Totals("d", "f")
    frame, options = in_a_circle(), {"budget": dp.ZCDP(1), "invariants": circle}
    session = session_over(frame, BINARY, neighbours=dp.ReplaceOne(rows=len(frame)), **options)
    return session.release(session.table.agg(dp.tables(["d", "e", "f"])), spend=1, name="circle")


def test_lists_that_overlap_in_a_circle_are_found_by_exchanges():
    release = released_in_a_circle()
    assert broken(release.document, release.rows().frame, in_a_circle()) == []


def test_lists_that_no_rows_have_are_refused_by_name():
    """Three pairs of columns that always differ: no two of them could be equal, and of three values two are."""
    words = words_of("none")
    apart = np.array([[0, 10], [10, 0]])
    lists = tuple(Listed(axes, apart, f"totals of {axes}") for axes in ((0, 1), (1, 2), (0, 2)))
    roots = tuple(Root(name, (axis,), np.arange(2)[:, None], np.array([10, 10])) for axis, name in enumerate("def"))
    targets = Targets(roots, (2, 2, 2), 20, (), lists, (), Fraction(1))
    with pytest.raises(dp.ArgumentError, match=r"no rows were found that have totals of .*NP-hard"):
        start_rows(targets, words)


def test_no_rows_are_chosen_for_levels_that_no_row_has():
    """Such as null in areas of which totals say that none is null: the list says 5 of the first level, where 3 may be."""
    root = Root("area", (0, 1), np.array([[0, 0], [1, 1]]), np.array([5, 5]))
    inside = Listed((0,), np.array([5, 5]), "totals of area")
    targets = Targets((root,), (2, 3), 10, (), (inside,), (), Fraction(1))
    ranges = Wanted((1,), np.zeros(3, int), np.array([5, 5, 5]), (), "ranges of area.county")
    assert choose(targets, ranges).counts.tolist() == [5, 5, 0]
    with pytest.raises(dp.ArgumentError, match=r"for ranges of area.county inside totals of area"):
        choose(targets, replace(ranges, high=np.array([3, 5, 5])))


def test_what_can_only_be_null_is_null():
    nothing = dp.Impossible("c", "b", cells=[*product((1, 2, 3), ("p", "q", None)), (None, "p")])
    frame = FRAME.with_columns(c=pl.lit(None, dtype=pl.Int64), b=pl.lit("q"), a=pl.lit("x"))
    found = released(nothing, frame=frame).rows().frame
    assert found["c"].null_count() == len(FRAME)
    assert "p" not in set(found["b"])


LEFT = {
    "a clamp": lambda table: table.clamp({"a": ["x", "y"]}),
    "a condition": lambda table: table.where({"b": ["p"]}),
}


@pytest.mark.parametrize("step", LEFT)
def test_facts_about_other_rows_are_named_and_left(step):
    rule = dp.Impossible("b", "c", cells=[("q", 2)])
    release = released(dp.Totals("a") + rule, dp.tables(["a", "b"], ["b", "c"]), steps=LEFT[step])
    found = release.rows()
    assert found.left == ("totals of a",)
    assert found.kept == ("impossible cells of b, c",)
    assert counted(found.frame, ["b", "c"])["q", 2] == 0
    assert "not kept" in str(found)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["overlapping", "of two levels", "impossible and totals", "sums by groups", "rounded"])
@pytest.mark.parametrize("each", [3, 50])
def test_facts_hold_where_rows_stand_for_several(kind, each):
    release = released(KEPT[kind])
    found = release.rows(each=each)
    assert found.made == len(FRAME)
    assert len(found.frame) < len(FRAME)
    assert found.frame["weight"].sum() == len(FRAME)
    assert 1 <= found.frame["weight"].min() <= found.frame["weight"].max() <= each
    assert broken(release.document, found.frame, with_derived(FRAME), "weight") == []


@pytest.mark.parametrize("many", [30, 500])
def test_another_number_of_rows_has_the_shares_of_overlapping_totals_and_keeps_rules(many):
    release = released(KEPT["overlapping"] + NO_Q2)
    found = release.rows(many)
    assert len(found.frame) == many
    assert counted(found.frame, ["b", "c"])["q", 2] == 0
    true = counted(FRAME, ["a", "b"])
    assert all(abs(counted(found.frame, ["a", "b"])[cell] - true[cell] * many / len(FRAME)) < 3 for cell in true)


CELLS = [*product("xyz", "pq")]


@st.composite
def descriptions(draw):
    """Totals of a list or of two, of some cells or of all, beside cells in which nobody is."""
    columns = ["a", "b", "c", "area.state", "coast"]
    found = dp.Totals(*draw(st.sampled_from([pair for many in (1, 2) for pair in combinations(columns[:4], many)])))
    if draw(st.booleans()):
        found += dp.Totals(draw(st.sampled_from(columns)))
    if draw(st.booleans()):
        empty = [cell for cell in CELLS if not counted(FRAME, ["a", "b"])[cell]]
        found += dp.Impossible("a", "b", cells=empty)
    if draw(st.booleans()):
        found += dp.Impossible("b", "c", cells=[("q", 2)])
    return found


@of_hypothesis(max_examples=6)
@given(descriptions(), st.sampled_from(["1/100", "10"]))
def test_facts_of_random_releases_hold(monkeypatch_of_module, invariants, spend):
    release = released(invariants, spend=spend)
    found = release.rows()
    assert not found.left
    assert broken(release.document, found.frame, with_derived(FRAME)) == []


@pytest.fixture(scope="module")
def monkeypatch_of_module():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit, "_STAGES", ((Fraction(1, 2), 20, 1), (Fraction(40), 20, 1)))
        yield patch


MUTANTS = {
    "lists do not hold": (fit, "_wrong", "8 * (column", "0 * (column"),
    "rules do not hold": (fit, "_wrong", "np.minimum(found, 7)", "0 * found"),
    "exchanges with anybody": (exchanges, "partners", "for axis in one.axes} - own", "for axis in ()} - own"),
    "exchanges into the void": (exchanges, "exchange", "IMPOSSIBLE * np.clip(", "0 * np.clip("),
    "no mending": (start, "_mended", "if not broken:\n        return start\n    met", "return start\n    met"),
}
WHERE = {
    "lists do not hold": "of a level",
    "rules do not hold": "impossible values",
    "exchanges with anybody": "overlapping",
    "exchanges into the void": "impossible across totals",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("planted", MUTANTS)
def test_what_breaks_facts_is_noticed(planted, monkeypatch):
    """Rows that break a fact are never given away: what is wrong with the program ends in an error.

    Without mending one file in eight is right by chance, so ten are made, of releases with names of their own: their words
    differ, and the test fails by chance once in 8¹⁰ times.
    """
    kind = WHERE.get(planted)
    releases = (
        [released(KEPT[kind], spend="1/1000")]
        if kind
        else [changed_release(released_in_a_circle(), ["name"], f"circle {number}") for number in range(10)]
    )
    make_each(releases)
    Mutant(*MUTANTS[planted]).plant(monkeypatch)
    monkeypatch.setattr(fit, "partners", exchanges.partners)
    monkeypatch.setattr(fit, "exchange", exchanges.exchange)
    with pytest.raises((InternalError, dp.ArgumentError), match=r"rows without|no rows were found"):
        make_each(releases)


def make_each(releases):
    for release in releases:
        release.rows()
