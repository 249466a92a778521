"""Rows fitted to agreeing tables: totals to the last row, the same rows for everybody, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from tests.builders import run, session_over
from tests.laws.mutants import Mutant

import discreet as dp
from discreet.pages.rows.page import render_rows, write_rows_page
from discreet.releases.document import make_release
from discreet.releases.rows import fit
from discreet.releases.rows.compared import Compared
from discreet.releases.rows.law import Law
from discreet.releases.rows.targets import described

SCHEMA = dp.Schema(a=dp.Category(["x", "y", "z"]), b=dp.Category([1, 2]), v=dp.Number(0, 9), c=dp.Category([True, False]))
ROWS = [(a, b, v, b == 1) for a, b, v in product(["x", "x", "y", None], [1, 2, 2], [0, 4, 9])] * 2
FRAME = pl.DataFrame(ROWS, schema=["a", "b", "v", "c"], orient="row")
HALVES = dp.bins("v", [0, 5, 9])
TABLES = dp.tables(["a", "b"], [HALVES, "b"], ["c", "b"], ["a", "c"])


def released(asked=TABLES, neighbours=None, spend="1000", **options):
    neighbours = neighbours or dp.ReplaceOne(rows=len(ROWS))
    session = session_over(FRAME, SCHEMA, neighbours=neighbours, budget=dp.ZCDP(spend), **options)
    return session.release(session.table.agg(asked), spend=spend, name="all")


@pytest.fixture
def few_sweeps(monkeypatch):
    """Rows are fitted in two sweeps: enough for what holds after every draw."""
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 50, 1), (Fraction(40), 50, 1)))


def counts(frame, *columns):
    return {tuple(row[:-1]): row[-1] for row in frame.group_by(columns).len().rows()}


def test_tables_without_much_noise_are_met_by_rows():
    found = dp.fit_rows(released())
    assert len(found.frame) == len(ROWS)
    assert found.frame.schema == {"a": pl.String, "b": pl.Int64, "v": pl.Int64, "c": pl.Boolean}
    for pair in (("a", "b"), ("c", "b"), ("a", "c")):
        true, made = counts(FRAME, *pair), counts(found.frame, *pair)
        assert sum(abs(made.get(key, 0) - true.get(key, 0)) for key in true | made) <= len(ROWS) // 10


def test_what_chooses_by_the_opposite_errors_is_noticed(monkeypatch):
    least = "costs - costs.min(axis=1, keepdims=True)"
    Mutant(Law, "cumulated", least, "costs.max(axis=1, keepdims=True) - costs").plant(monkeypatch)
    found = dp.fit_rows(released())
    true, made = counts(FRAME, "c", "b"), counts(found.frame, "c", "b")
    assert sum(abs(made.get(key, 0) - true.get(key, 0)) for key in true | made) > len(ROWS) // 10


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "totals",
    [dp.Totals("a"), dp.Totals("a", "b"), dp.Totals("a") + dp.Totals("c"), dp.Totals("a") + dp.Totals("a", "b")],
    ids=["one", "joint", "disjoint", "nested"],
)
def test_exact_totals_hold_to_the_last_row(totals, few_sweeps):
    found = dp.fit_rows(released(spend="0.01", invariants=totals))
    for part in totals.parts:
        assert counts(found.frame, *part.columns) == counts(FRAME, *part.columns)


def test_rows_that_are_not_public_in_number_are_about_as_many(few_sweeps):
    found = dp.fit_rows(released(neighbours=dp.AddRemove(), spend="100"))
    assert abs(len(found.frame) - len(ROWS)) <= 3


def test_everybody_gets_the_same_rows_and_another_release_gives_others(few_sweeps):
    release = released(spend="1/2")
    first, again, other = dp.fit_rows(release), dp.fit_rows(release), dp.fit_rows(released(spend="1/2"))
    assert first.frame.equals(again.frame)
    assert not first.frame.equals(other.frame)


def test_a_table_counts_for_what_its_own_effect_adds():
    """For one table and its margin: the margin has a weight of its own only where its noise is less than the table says."""
    both = described(released(dp.tables(["a", "b"], ["a"]), spend="1").document).targets
    alone = described(released(dp.tables(["a", "b"]), spend="1").document).targets
    assert {*np.unique(alone.tables[0].weights)} <= {4095, 4 * 4095}
    assert max(one.weights.min() for one in both.tables) == 4095


REFUSED = {
    "it has none": dp.count("a"),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_releases_without_such_tables_are_refused(rule):
    with pytest.raises(dp.ArgumentError, match=rule):
        dp.fit_rows(released(REFUSED[rule]))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("many", [1, 7, 36, 1000])
def test_another_number_of_rows_has_the_shares_of_the_totals(many, few_sweeps):
    totals = dp.Totals("a") + dp.Totals("c")
    found = dp.fit_rows(released(invariants=totals), rows=many)
    assert len(found.frame) == many
    for part in totals.parts:
        true, made = counts(FRAME, *part.columns), counts(found.frame, *part.columns)
        assert all(abs(made.get(key, 0) - Fraction(many * true[key], len(ROWS))) < 1 for key in true)
    assert "as shares" in str(found)


def test_the_published_number_of_rows_gives_the_rows_themselves(few_sweeps):
    release = released(spend="1/2")
    assert release.rows(len(ROWS)).frame.equals(dp.fit_rows(release).frame)
    assert "as shares" not in str(release.rows())


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "9", 10**9])
def test_numbers_of_rows_are_checked(rows):
    with pytest.raises(dp.ArgumentError, match="rows="):
        dp.fit_rows(released(spend="1/2"), rows=rows)


def mostly_empty():
    """A release with a table of 200 groups, 199 of them empty: half of its estimates are within eight deviations below 1."""
    frame = pl.DataFrame({"k": [0] * 60, "b": ["p", "q", "q"] * 20})
    schema = dp.Schema(k=dp.Category(range(200)), b=dp.Category(["p", "q"]))
    with session_over(frame, schema, budget=dp.ZCDP(1)) as session:
        return session.release(session.table.agg(dp.tables(["k"], ["b"])), spend=1, name="empty")


def test_tables_of_noise_are_named_and_refused_where_that_is_asked_for(few_sweeps):
    release = mostly_empty()
    assert release.rows().noisy == ("k",)
    assert "noise dominates in k:" in str(release.rows())
    assert "Where noise dominates" in render_rows(release.rows())
    with pytest.raises(dp.ArgumentError, match="strict=True: noise dominates in k;"):
        release.rows(strict=True)
    assert released(dp.tables(["a"])).rows(strict=True).noisy == ()


def test_pairs_that_no_table_counts_by_are_told(few_sweeps):
    found = dp.fit_rows(released())
    assert set(map(frozenset, found.apart)) == {frozenset(one) for one in (("a", "v"), ("c", "v"))}
    assert "no table has" in str(found)


def test_the_page_has_every_table_and_escapes_names(few_sweeps, tmp_path):
    evil = "<script>alert(1)</script>"
    frame = pl.DataFrame({evil: ["x", "y"] * 30, "b": ["p", "q", "q"] * 20})
    schema = dp.Schema({evil: dp.Category(["x", "y"]), "b": dp.Category(["p", "q"])})
    with session_over(frame, schema, budget=dp.ZCDP(1)) as session:
        release = session.release(session.table.agg(dp.tables([evil], ["b"])), spend=1, name=evil)
    found = release.rows()
    page = render_rows(found)
    assert "<script" not in page
    assert page.count('scope="row"') == 2
    assert "× <bdi>b</bdi>" in page
    for row in found.compared:
        assert f"{1000 * row.within // row.cells / 10:.1f} %" in page  # rounded down: never up to all
    assert "same shares" not in page
    assert "same shares" in render_rows(release.rows(9))
    assert write_rows_page(found, tmp_path).name == "rows.html"


@pytest.mark.parametrize(
    ("within", "cells", "shown"), [(2, 3, "66.6"), (1999, 2000, "99.9"), (7, 7, "100.0"), (0, 4, "0.0")]
)
def test_the_page_and_the_terminal_round_the_cells_that_fit_down(within, cells, shown):
    one = Compared(("a",), cells, within, noisy=False)
    made = replace(released(dp.tables(["a"])).rows(), compared=(one,))
    assert f"; {shown} % of their cells fit" in str(made)
    assert f">{shown} %<" in render_rows(made)
    assert f"{shown} % of all published cells" in render_rows(made)


def test_the_command_writes_a_page_and_another_number_of_rows(tmp_path, few_sweeps):
    released(spend="1/2").save(tmp_path / "all")
    out, page = tmp_path / "rows.csv", tmp_path / "page.html"
    shown = run("rows", str(tmp_path / "all"), "--out", str(out), "--report", str(page), "--rows", "20", "--json")
    assert shown.exit_code == 0, shown.stderr
    assert len(pl.read_csv(out)) == json.loads(shown.stdout)["rows"] == 20
    assert "20 rows that agree with 4 published tables" in page.read_text(encoding="utf-8")
    mostly_empty().save(tmp_path / "noisy")
    refused = run("rows", str(tmp_path / "noisy"), "--out", str(tmp_path / "none.csv"), "--strict")
    assert refused.exit_code != 0
    assert not (tmp_path / "none.csv").exists()


def test_the_command_writes_the_same_file_twice(tmp_path, few_sweeps):
    release = released(spend="1/2")
    release.save(tmp_path / "all")
    for name in ("rows.csv", "again.csv", "rows.parquet"):
        shown = run("rows", str(tmp_path / "all"), "--out", str(tmp_path / name), "--json")
        assert shown.exit_code == 0, shown.stderr
    assert (tmp_path / "rows.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(dp.fit_rows(release).frame)
    facts = json.loads(shown.stdout)
    assert facts["digest"] == release.digest
    assert sum(one["cells"] for one in facts["tables"]) == sum(dp.fit_rows(release).check()["cells"])


def test_the_command_refuses_other_files_before_it_begins(tmp_path):
    release = released(spend="1/2")
    release.save(tmp_path / "all")
    assert "must end in" in run("rows", str(tmp_path / "all"), "--out", str(tmp_path / "rows.txt")).stderr
    assert "no release.json" in run("rows", str(tmp_path), "--out", str(tmp_path / "rows.csv")).stderr


def test_the_number_of_rows_of_a_person_says_where_the_rows_of_a_release_are():
    with pytest.raises(dp.ArgumentError, match=r"release\.rows\(\), or fit_rows\(release\)"):
        dp.rows(released(spend="1/2"))
    with pytest.raises(dp.ArgumentError, match="needs the largest number too"):
        dp.rows(3)
    assert dp.rows(0, 5).bounds == (0, 5)


LABELS = dp.About(
    columns={"a": dp.Labels(label="Letter", categories={"x": "First"}), "v": dp.Labels(label="Value", unit="m")}
)


def test_files_have_the_labels_of_the_release(few_sweeps, tmp_path):
    session = session_over(FRAME, SCHEMA, neighbours=dp.ReplaceOne(rows=len(ROWS)), budget=dp.ZCDP(1))
    release = session.release(session.table.agg(TABLES), spend=1, name="all", about=LABELS)
    made = release.rows(each=3)
    (parquet,) = made.save(tmp_path / "rows.parquet")
    told = json.loads(pl.read_parquet_metadata(parquet)["discreet"])
    assert told["digest"] == release.digest
    assert told["scheme"] == "rows 2"
    assert told["about"]["columns"]["a"]["label"] == "Letter"
    table, beside = made.save(tmp_path / "rows.csv")
    described = json.loads(beside.read_text(encoding="utf-8"))
    assert described["url"] == table.name
    columns = {one["titles"][0]: one for one in described["tableSchema"]["columns"]}
    assert [*columns] == made.frame.columns == [*pl.read_csv(table).columns]
    assert columns["a"]["titles"] == ["a", "Letter"]
    assert columns["a"]["schema:valueReference"] == [{"schema:name": "First", "schema:value": "x"}]
    assert columns["v"]["schema:unitText"] == "m"
    assert [columns[name]["datatype"] for name in ("a", "v", "c", "weight")] == ["string", "integer", "boolean", "integer"]
    assert "Letter × b" in render_rows(made)


def test_labels_that_look_like_formulas_are_quoted_in_csv_files_only(few_sweeps, tmp_path):
    frame, schema = pl.DataFrame({"k": ["=1+1", "plain"] * 20}), dp.Schema(k=dp.Category(["=1+1", "plain"]))
    with session_over(frame, schema, budget=dp.ZCDP(1)) as session:
        made = session.release(session.table.agg(dp.tables(["k"])), spend=1, name="formulas").rows()
    for formulas, first in (("escape", "'=1+1"), ("keep", "=1+1")):
        made.save(tmp_path / "rows.csv", formulas=formulas)
        assert first in set(pl.read_csv(tmp_path / "rows.csv")["k"])
    made.save(tmp_path / "rows.parquet")
    assert set(pl.read_parquet(tmp_path / "rows.parquet")["k"]) <= {"=1+1", "plain", None}
    with pytest.raises(dp.ArgumentError, match="formulas="):
        made.save(tmp_path / "rows.csv", formulas="no")
    with pytest.raises(dp.ArgumentError, match="cannot be written"):
        made.save(tmp_path / "nowhere" / "rows.csv")


def test_one_column_in_bins_of_two_kinds_is_one_column(few_sweeps):
    tables = dp.tables(["a", HALVES], [dp.bins("v", [0, 3, 9]), "b"])
    found = released(tables, spend="1/4").rows()
    assert found.frame.columns == ["a", "b", "v"]
    assert found.share > 0.5  # of 21 cells 19 at least, in each of 60 releases
    assert found.apart == (("a", "b"),)


def test_the_page_is_german_too(few_sweeps):
    made = released(invariants=dp.Totals("a")).rows()
    page = render_rows(made, "de")
    assert '<html lang="de">' in page
    assert "Bis auf die letzte Zeile stimmen:" in page
    assert "Summen von a" in page
    with pytest.raises(dp.ArgumentError, match="language="):
        render_rows(made, "xx")


def test_a_frame_keeps_its_own_column_of_weights(few_sweeps):
    frame, schema = pl.DataFrame({"Weight": ["a", "b"] * 20}), dp.Schema(Weight=dp.Category(["a", "b"]))
    with session_over(frame, schema, budget=dp.ZCDP(1)) as session:
        made = session.release(session.table.agg(dp.tables(["Weight"])), spend=1, name="weights").rows(each=9)
    assert made.frame.columns == ["Weight", "weight_"]
    assert "the last column says for how many" in str(made)


@pytest.mark.parametrize("each", [0, -1, 1.5, True, "9", 10**7])
def test_how_many_a_row_stands_for_is_checked(each):
    with pytest.raises(dp.ArgumentError, match="each="):
        dp.fit_rows(released(spend="1/2"), each=each)


def test_a_map_that_is_not_the_one_of_the_plan_is_refused():
    schema = dp.Schema(k=dp.Category(["a", "b"]), half=dp.DerivedColumn("half", of="k", by={"a": "one", "b": "two"}))
    with session_over(pl.DataFrame({"k": ["a", "b"] * 20}), schema, budget=dp.ZCDP(1)) as session:
        release = session.release(session.table.agg(dp.tables(["half"])), spend=1, name="maps")
    document = {key: value for key, value in release.document.items() if key != "digest"}
    assert set(dp.fit_rows(make_release(document)).frame.columns) == {"k", "half"}
    document["domain"]["maps"]["half"] = [1, 0]
    with pytest.raises(dp.ArgumentError, match="discreet did not write it"):
        dp.fit_rows(make_release(document))
    del document["domain"]
    with pytest.raises(dp.ArgumentError, match="'half', and its document does not say"):
        dp.fit_rows(make_release(document))
