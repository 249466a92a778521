"""Digests, documents, ledgers, plan files, public names, exit codes and texts are those of 0.1.0; old files are read.

What is compared stands in `frozen/`; its README says what may be written anew, and how.
"""

from __future__ import annotations

import functools
import json
import pickle
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.ledger import Ledger, entry_body
from discreet.pages import report

from . import freeze, frozen_cases

OLD = freeze.FOLDER / "v0_1_0"
CASES = frozen_cases.cases()
OF_A_CASE = ("plans", "quotes", "documents", "ledgers", "quote_texts", "pages")
kept = functools.cache(freeze.kept)


# What is given today ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_a_request_has_the_digest_quote_document_and_entries_that_it_had(name: str, tmp_path: Path) -> None:
    found = freeze.case_record(name, CASES[name], tmp_path)
    for kind in OF_A_CASE:
        assert found.get(kind) == kept(kind).get(name), kind


def test_every_case_that_was_frozen_is_still_asked() -> None:
    for kind in ("plans", "quotes", "documents", "ledgers", "quote_texts"):
        assert list(kept(kind)) == list(CASES), kind
    relations = {(json.loads(one["json"])["neighbours"]["relation"]) for one in kept("plans").values()}
    assert relations == {"add-remove", "replace-one"}
    assert {one["spend"]["kind"] for one in kept("quotes").values()} == {"pure-dp", "approx-dp", "zcdp", "gdp"}
    assert len({one["digest"] for one in kept("plans").values()}) == 19


def test_commands_print_and_leave_as_they_did(tmp_path: Path) -> None:
    found = freeze.command_records(tmp_path.resolve())
    exits = {command: told.pop("exit") for command, told in found.items()}
    assert exits == kept("exits")
    assert set(exits.values()) == {0, 2, 3, 4}
    for command, told in kept("commands").items():
        assert found[command] == told, command


@pytest.mark.slow
def test_the_planner_computes_with_what_it_had(tmp_path: Path) -> None:
    assert freeze.planner_digests(tmp_path.resolve()) == kept("planner")


def test_every_public_name_is_there_and_is_called_as_it_was() -> None:
    found = freeze.signatures()
    for name, parameter in freeze.OPTIONAL.items():
        found[name] = [one.removesuffix(" =") if one == f"{parameter} =" else one for one in found[name]]
    assert [name for name, was in kept("names").items() if not freeze.still_called(was, found.get(name))] == []


def test_a_call_that_no_longer_works_would_be_noticed() -> None:
    was = ["function", "positional_or_keyword a", "positional_or_keyword b =", "keyword_only c"]
    assert freeze.still_called(was, was)
    assert freeze.still_called(was, [*was, "keyword_only d ="])
    a, b, c = was[1:]
    lost = [None, was[:3], ["class", a, b, c], [*was, "keyword_only d"], [was[0], b, a, c]]
    for now in [
        *lost,
        [was[0], a, "positional_or_keyword d =", b, c],
        [was[0], a, "positional_or_keyword b", c],
        [was[0], f"{a} =", b, c],
    ]:
        assert not freeze.still_called(was, now), now


def test_a_difference_in_what_is_kept_of_a_case_would_be_noticed(tmp_path: Path) -> None:
    name = "cells-replace-zcdp"
    other = freeze.case_record(
        name, frozen_cases.Case(CASES[name].asked, dp.ReplaceOne(frozen_cases.ROWS, 2), dp.ZCDP(1), "1/4"), tmp_path
    )
    for kind in OF_A_CASE:
        assert other[kind] != kept(kind)[name], kind


def test_other_bits_would_be_noticed(tmp_path: Path) -> None:
    found = json.loads(freeze.case_record("other", CASES["cells-replace-zcdp"], tmp_path)["documents"])
    expected = json.loads(kept("documents")["cells-replace-zcdp"])
    assert {key for key, value in expected.items() if found[key] != value} == {"columns", "dataset"}


# What 0.1.0 wrote -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def old_ledger(tmp_path: Path) -> Path:
    """A copy that only its owner can read: it is opened for writing."""
    copy = tmp_path / "ledger.db"
    shutil.copyfile(OLD / "ledger.sqlite", copy)
    copy.chmod(0o600)
    return copy


def small(table: dp.Table) -> dp.Plan:
    asked = [dp.count(), dp.mean("wage", nulls="skip"), dp.histogram("age", [0, 18, 65, 100])]
    return table.group_by("region", "member").agg(*asked)


def reopened(ledger: Path, dataset: str, invariants: dp.Invariants | None = None) -> dp.Session:
    """A session on an old data set; its rows are those of then."""
    rows = frozen_cases.rows_of_people() if invariants is None else frozen_cases.rows_without_nulls()
    whole = {"budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(rows=frozen_cases.ROWS), "invariants": invariants}
    return dp.Session(rows, frozen_cases.SCHEMA, dataset=dataset, ledger=ledger, **whole)


def plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


@pytest.mark.parametrize("name", ["small", "large", "exact"])
def test_an_old_release_is_read_and_shows_its_numbers(name: str, expected: dict[str, Any]) -> None:
    release, told = dp.Release.load(OLD / name), expected[name]
    assert (release.digest, release.name, release.dataset) == (told["digest"], told["name"], told["dataset"])
    assert dp.privacy.to_json(release.guarantee.measure) == told["spent"]
    assert len(release.parts) == told["parts"]
    assert release.document["plan_digest"] == told["plan_digest"]
    assert list(release.tables) == list(told["tables"])
    for frame, table in release.tables.items():
        rows = [[plain(value) for value in row] for row in table.rows()]
        shown = {"columns": table.columns, "types": [str(one) for one in table.dtypes], "rows": rows}
        assert shown == told["tables"][frame], frame


@pytest.mark.parametrize("name", ["small", "exact"])
def test_an_old_release_is_saved_in_the_bytes_it_had(name: str, tmp_path: Path) -> None:
    dp.Release.load(OLD / name).save(tmp_path)
    for file in [one for one in (OLD / name).iterdir() if one.suffix in {".json", ".csv"}]:
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name


def test_an_old_ledger_is_intact_and_has_its_entries(old_ledger: Path, expected: dict[str, Any]) -> None:
    with Ledger.open(old_ledger) as ledger:
        assert [[entry_body(entry), entry.digest] for entry in ledger.entries()] == expected["entries"]
        found = ledger.verify()
    assert (found.intact, found.head) == (True, expected["head"])
    kinds = {json.loads(body)["kind"] for body, _ in expected["entries"]}
    assert kinds == {"dataset", "publish", "reserve", "commit", "fail"}


def test_an_old_data_set_gives_its_release_back_and_goes_on(old_ledger: Path, expected: dict[str, Any]) -> None:
    with reopened(old_ledger, "people") as session:
        assert dp.privacy.to_json(session.spent) == expected["people"]["spent"]
        assert session.release(small(session.table), spend="0.1", name="persons") == dp.Release.load(OLD / "small")
        assert dp.privacy.to_json(session.remaining) == expected["people"]["remaining"]
        with pytest.raises(dp.LedgerError, match="reserved it and did not write down how far it came"):
            session.release(small(session.table), spend="0.1", name="failed")
        session.release(session.table.agg(dp.count("age")), spend="0.1", name="new")
    with Ledger.open(old_ledger) as ledger:
        assert ledger.verify().intact
        assert len(ledger.entries()) == len(expected["entries"]) + 4


def test_old_totals_are_known_and_new_requests_stand_beside_them(old_ledger: Path, expected: dict[str, Any]) -> None:
    with reopened(old_ledger, "exact people", dp.Totals("region") + dp.Occupied("sex")) as session:
        assert session.totals is not None
        assert dp.privacy.to_json(session.remaining) == expected["exact people"]["remaining"]
        asked = session.table.group_by("region", "sex").agg(dp.count(), dp.share())
        assert session.release(asked, spend="0.25", name="beside") == dp.Release.load(OLD / "exact")
        new = session.release(session.table.group_by("region", "member").agg(dp.count()), spend="0.1", name="new")
        assert new.document["invariants"]["digest"] == dp.Release.load(OLD / "exact").document["invariants"]["digest"]


# Of 0.1.0 too: its tables were measured by themselves, and frames had the least-squares estimate as `count_consistent`.


def tabled(table: dp.Table) -> dp.Plan:
    own = dp.tables(["region", "sex"], ["region", dp.bins("age", [0, 50, 100])], ["sex"])
    return table.agg(dp.count(), dp.histogram("age", [0, 18, 65, 100]), own)


def test_old_tables_are_given_back_and_new_ones_of_the_same_plan_agree(tmp_path: Path) -> None:
    copy, old = tmp_path / "ledger.db", dp.Release.load(OLD / "tables")
    shutil.copyfile(OLD / "tables" / "ledger.sqlite", copy)
    copy.chmod(0o600)
    neighbours = dp.ReplaceOne(rows=frozen_cases.ROWS)
    rows = frozen_cases.rows_of_people()
    with dp.Session(
        rows, frozen_cases.SCHEMA, dataset="people", ledger=copy, budget=dp.ZCDP(4), neighbours=neighbours
    ) as session:
        request = tabled(session.table)
        assert session.release(request, spend=1, name="tables") == old
        assert request.digest == old.document["plan_digest"]
        new = session.release(request, spend=1, name="tables again")
    assert new.document["plan_digest"] == old.document["plan_digest"]
    assert "count_consistent" not in new.tables["tables_sex"].columns
    assert dp.verify(new).tables == 3


def test_old_tables_are_read_verified_viewed_exported_and_derived_from(tmp_path: Path) -> None:
    old = dp.Release.load(OLD / "tables")
    columns = ["region", "sex", "count", "count_low", "count_high", "count_consistent"]
    assert old.tables["tables_region_sex"].columns == columns
    assert old.tables["tables_region_sex"]["count"].dtype == pl.Int64
    assert dp.verify(old).tables == 0
    view, others = dp.consistent(old, "tables_region_sex"), dp.consistent(old, "tables_sex")
    assert view.columns == ["region", "sex", "count", "count_consistent", "count_whole"]
    summed = dict(view.group_by("sex").agg(pl.col("count_whole").sum()).rows())
    assert summed == dict(others.select("sex", "count_whole").rows())
    old.export("csv", tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_text().count("\n") == 2
    old.save(tmp_path / "again")
    for file in (OLD / "tables").glob("*.csv"):
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()
    assert "tables" in report.render(old)
    assert dp.ratio(dp.numbers(old, "count"), dp.numbers(old, "count")).table.height == 1


@pytest.mark.parametrize(
    ("dataset", "changed"),
    [("people", {"budget": dp.ZCDP(2)}), ("people", {"neighbours": dp.AddRemove()}), ("exact people", {})],
)
def test_what_an_old_ledger_has_frozen_stays_frozen(old_ledger: Path, dataset: str, changed: dict[str, Any]) -> None:
    given = {"budget": dp.ZCDP(1), "neighbours": dp.ReplaceOne(rows=frozen_cases.ROWS), **changed}
    with pytest.raises(dp.LedgerError):
        dp.Session(frozen_cases.rows_of_people(), frozen_cases.SCHEMA, dataset=dataset, ledger=old_ledger, **given)


# Pickles ----------------------------------------------------------------------------------------------------------------


def test_old_pickles_are_read(expected: dict[str, Any]) -> None:
    release = pickle.loads((OLD / "release.pickle").read_bytes())
    assert release == dp.Release.load(OLD / "small")
    plan = pickle.loads((OLD / "plan.pickle").read_bytes())
    assert plan == small(dp.Table(frozen_cases.SCHEMA, dp.ReplaceOne(rows=frozen_cases.ROWS)))
    assert plan.digest == expected["plan"]


MAKERS: dict[str, Callable[[], Any]] = {
    "plan": lambda: CASES["resized-replace-approx"].request,
    "frames": lambda: CASES["frames-add-pure"].request,
    "large release": lambda: dp.Release.load(OLD / "large"),
    "release": lambda: dp.Release.load(OLD / "exact"),
}


@pytest.mark.parametrize("what", MAKERS)
@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_pickle_gives_back_the_same(what: str, protocol: int) -> None:
    made = MAKERS[what]()
    back = pickle.loads(pickle.dumps(made, protocol))
    assert (type(back), back, back.digest) == (type(made), made, made.digest)
    assert made.__reduce__()[0] is type(made), "a pickle is read through the constructor, which checks it"
