"""Plans are checked, quoted and explained where their data must not be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import discreet as dp
from discreet.cli.planning import review
from discreet.domain.columns import Category, Date, Number
from discreet.domain.schema import Schema
from discreet.engines import open_source, open_sources
from discreet.engines.absent import AbsentSource
from discreet.engines.sources import is_absent
from discreet.planfile import load_plan
from discreet.session import session as session_module

from .commands import done, edit, refused

NOTE = "note: the source is not here; its header and its number of rows were not compared"
UNOPENED = "note: the source was not opened; its header and its number of rows were not compared"
QUOTES = (["quote", "plan.toml"], ["explain", "plan.toml"], ["quote", "plan.toml", "--html", "planner.html"])


@pytest.fixture
def board(folder: Path) -> Path:
    """The folder of a board that has the plan and nothing else."""
    edit(folder, 'source = "example:acs12"', 'source = "secret/persons.parquet"')
    return folder


def test_a_board_can_quote_explain_and_plan_without_the_data(board: Path) -> None:
    for command in QUOTES:
        assert done(*command).splitlines()[-1] == NOTE
        assert NOTE in json.loads(done(*command, "--json"))["notes"]
    assert sorted(path.name for path in board.iterdir()) == ["plan.toml", "planner.html"]


def test_a_check_has_to_be_told_that_the_source_is_not_here(board: Path) -> None:
    message = refused(2, "check", "plan.toml")
    assert "secret/persons.parquet': cannot be opened" in message
    assert message.endswith("--without-source checks everything else\n")
    shown = done("check", "plan.toml", "--without-source").splitlines()
    assert shown[0] == "plan.toml is in order. Nothing was spent."
    assert UNOPENED in shown
    assert "  source      secret/persons.parquet (not opened)" in shown  # and no word of a header that fits
    assert UNOPENED in json.loads(done("check", "plan.toml", "--without-source", "--json"))["notes"]
    assert not (board / "budget.db").exists()


def test_a_source_that_is_here_is_not_opened_without_need(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_source = {command[0]: done(*command) for command in QUOTES}
    monkeypatch.setattr(session_module, "open_sources", fail_unless_absent)
    for command in (["check", "plan.toml"], *QUOTES):
        assert UNOPENED in done(*command, "--without-source").splitlines()
    assert NOTE not in "".join(with_source.values())


def fail_unless_absent(source: object, *others: object, counted: str) -> object:
    assert isinstance(source, AbsentSource)
    return open_sources(source, *others, counted=counted)  # type: ignore[arg-type]


def test_the_quotes_are_those_that_the_data_have(folder: Path) -> None:
    here = done("quote", "plan.toml")
    assert done("quote", "plan.toml", "--without-source") == f"{here}{UNOPENED}\n"
    edit(folder, 'neighbours = "replace-one"\nrows = 2000', 'neighbours = "add-remove"')
    assert "note: the source was not opened; its header was not compared" in done("quote", "plan.toml", "--without-source")


def test_what_is_wrong_with_a_plan_is_found_without_its_source(board: Path) -> None:
    edit(board, "spend = 0.1\n", "spend = 0.6\n")
    for command in (["check", "plan.toml", "--without-source"], ["quote", "plan.toml"]):
        assert "over by ρ = 0.1" in refused(3, *command)
    edit(board, "spend = 0.6\n", 'spend = 0.1\ngroup_by = ["colour"]\n')
    assert "plan.toml" in refused(2, "check", "plan.toml", "--without-source")


def test_a_release_needs_the_source(board: Path) -> None:
    assert "cannot be opened" in refused(2, "release", "plan.toml", "--out", "out")
    assert not (board / "budget.db").exists()


def test_a_ledger_that_is_here_counts_and_one_that_is_elsewhere_is_empty(folder: Path) -> None:
    done("release", "plan.toml", "--out", "out")
    edit(folder, 'name = "Hours by gender"', 'name = "again"')
    edit(folder, 'source = "example:acs12"', 'source = "secret/persons.parquet"')
    assert "remaining now ρ = 0.4" in done("quote", "plan.toml")
    edit(folder, 'ledger = "budget.db"', 'ledger = "elsewhere/budget.db"')
    for command in (["check", "plan.toml", "--without-source"], *QUOTES):
        assert "note: the folder of the ledger is not here; the whole budget is taken to remain" in done(*command)
    assert "remaining now ρ = 0.5" in done("quote", "plan.toml")
    assert not (folder / "elsewhere").exists()
    edit(folder, 'source = "secret/persons.parquet"', 'source = "example:acs12"')
    assert "the folder" in refused(2, "quote", "plan.toml")


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "source",
    ["", "budget.db::persons", "d/*.parquet", "[", "**", "d\0.csv", "x" * 5000, "nowhere/::t", "spark:db.t", "é/ü.csv", "."],
)
def test_odd_names_of_sources_end_in_one_sentence_or_are_absent(source: str, folder: Path) -> None:
    assert isinstance(is_absent(source), bool)
    if source and "\0" not in source and not source.startswith("spark:"):
        edit(folder, 'source = "example:acs12"', f"source = {json.dumps(source, ensure_ascii=False)}")
        for command in (["check", "plan.toml"], ["release", "plan.toml", "--out", "out"]):
            assert refused(2, *command).count("\n") == 1
        done("check", "plan.toml", "--without-source")
    assert not (folder / "budget.db").exists()


def test_what_is_there_and_cannot_be_read_is_not_absent(tmp_path: Path) -> None:
    (tmp_path / "a.csv").touch()
    (tmp_path / "link.csv").symlink_to("nowhere")
    (tmp_path / "d[1].csv").touch()
    for there in ("a.csv", "link.csv", ".", "*.csv", "d[1].csv", "a.csv::t", "link.csv::t"):
        assert not is_absent(str(tmp_path / there)), there
    for gone in ("b.csv", "*.parquet", "b.db::t", "b/a.csv", "[", "d[2].csv"):
        assert is_absent(str(tmp_path / gone)), gone
    assert not is_absent("spark:db.table")
    assert not is_absent("\0")


def test_a_damaged_source_is_refused_and_not_passed_over(folder: Path) -> None:
    (folder / "d.parquet").write_bytes(b"PAR1")
    edit(folder, 'source = "example:acs12"', 'source = "d.parquet"')
    for command in (["check", "plan.toml"], *QUOTES):
        message = refused(2, *command)
        assert "is not a readable Parquet file" in message
        assert "--without-source" not in message


def test_an_absent_source_fits_every_schema_and_gives_nothing() -> None:
    schema = Schema(
        a=Category(["x"]), b=Category([1, 2]), c=Category([True]), d=Number(0, 1, "0.1"), e=Date("2020-01-01", "2020-01-02")
    )
    source = AbsentSource(schema)
    engine = open_source(source, schema)
    assert engine is source
    for call in (source.snapshot, lambda: source.aggregate((), ())):
        with pytest.raises(dp.SourceError, match="is not here"):
            call()
    engine.close()
    options = {"dataset": "d", "ledger": ":memory:", "budget": dp.ZCDP(1)}
    for neighbours in (dp.AddRemove(), dp.ReplaceOne(rows=9)):
        with dp.Session(source, schema, neighbours=neighbours, **options) as session:
            request = session.table.group_by("a").agg(dp.count())
            assert session.quote(request, spend="0.1").spend == dp.ZCDP("0.1")
            for call in (session.check_source, lambda s=session, r=request: s.release(r, spend="0.1", name="r")):
                with pytest.raises(dp.SourceError, match="is not here"):
                    call()
            assert session.spent == dp.ZCDP(0)


def test_a_copy_of_the_plan_alone_is_enough(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("colleague")
    edit(folder, 'source = "example:acs12"', 'source = "d.csv"')
    shutil.copy(folder / "plan.toml", elsewhere)
    seen = review(load_plan(elsewhere / "plan.toml"), without_source=False)
    assert seen.remarks == (NOTE,)
    with seen.session() as session:
        assert session.remaining == dp.ZCDP("0.5")
