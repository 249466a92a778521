"""`discreet init`: what it asks, what it writes, and that no value of the source has a part in it."""

from __future__ import annotations

import datetime as dt
import json
import os
import pty
import select
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from tests.builders import PATIENCE, session_over
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app, starting
from discreet.cli.drafting import Entry, Section, render_sections, to_fill_in
from discreet.cli.starting import nobody, start_plan
from discreet.engines.duckdb.csv_files import _CsvEngine
from discreet.engines.duckdb.parquet import _ParquetEngine
from discreet.errors import ArgumentError, ReleaseFailed
from discreet.planfile.read import load_plan
from discreet.planfile.write import toml_key, toml_visible

ROWS = {
    "sex": ["F", "M", None],
    "age": [30, 40, 50],
    "wage": [Decimal("1.25"), Decimal("2.50"), None],
    "height": [1.5, 1.75, 2.0],
    "retired": [True, False, None],
    "born": [dt.date(1990, 1, 1), dt.date(1980, 1, 1), None],
    "tags": [["a"], ["b"], []],
}
ANSWERS = {
    "dataset": "persons-2026",
    "neighbours": "replace-one",
    "rows:": "3",
    "column sex": "category",
    "the categories of sex": "F, M",
    "column age": "number",
    "the lowest value of age": "0",
    "the highest value of age": "110",
    "column wage": "number",
    "the lowest value of wage": "0",
    "the highest value of wage": "20",
    "column height": "skip",
    "the first day of born": "1900-01-01",
    "the last day of born": "2026-12-31",
    "measure": "approx-dp",
    "epsilon": "1",
    "delta": "1e-6",
    "columns to group by": "sex",
    "statistics": "count, mean wage, count age",
}


def done(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return result.stderr


def answering(answers, asked=None):
    """An asker with an answer for the beginning of each question; of a list of answers, the first that will do."""
    asked = [] if asked is None else asked

    def ask(question, check, default):
        asked.append(question.strip())
        found = next((answer for start, answer in answers.items() if question.strip().startswith(start)), default)
        for answer in found if isinstance(found, list) else [found]:
            assert answer is not None, question
            try:
                check(answer)
            except ArgumentError:
                continue
            return answer
        raise AssertionError(question)

    return ask


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(ROWS).write_parquet(tmp_path / "persons.parquet")
    return tmp_path / "persons.parquet"


# What is written ------------------------------------------------------------------------------------------------------


def test_answers_become_a_plan_that_check_accepts(source):
    answer = start_plan("persons.parquet", Path("plan.toml"), answering(ANSWERS))
    assert answer.facts["to_fill_in"] == []
    assert "FILL IN" not in Path("plan.toml").read_text(encoding="utf-8")
    assert done("check", "plan.toml").startswith("plan.toml is in order.")
    plan = load_plan("plan.toml")
    assert (plan.dataset, plan.neighbours, plan.budget) == ("persons-2026", dp.ReplaceOne(rows=3), dp.ApproxDP(1, "1e-6"))
    assert plan.schema == dp.Schema(
        sex=dp.Category(["F", "M"]),
        age=dp.Number(0, 110),
        wage=dp.Number(0, 20, "0.01"),
        retired=dp.Category([False, True]),
        born=dp.Date("1900-01-01", "2026-12-31"),
    )
    (order,) = plan.orders
    assert [statistic.name for statistic in order.request.statistics] == ["count", "mean_wage", "count_age"]
    assert [group.column for group in order.request.group_by] == ["sex"]
    assert sorted(path.name for path in source.parent.iterdir()) == ["persons.parquet", "plan.toml"]


def test_wrong_answers_are_asked_for_again(source):
    asked = []
    answers = {
        **ANSWERS,
        "neighbours": ["replace_one", "replace-one"],
        "rows:": ["0", "-1", "many", "3"],
        "column age": ["date", "number"],
        "the categories of sex": ["", "F, F", "F, M"],
        "the first day of born": ["01.01.1900", "1900-01-01"],
        "the last day of born": ["1899-12-31", "2026-12-31"],
        "epsilon": ["0", "-1", "much", "1"],
        "statistics": ["mode", "mean", "count, mean wage"],
    }
    start_plan("persons.parquet", Path("plan.toml"), answering(answers, asked))
    assert done("check", "plan.toml")
    assert not any(question.startswith("column tags") for question in asked)


def test_bounds_the_wrong_way_round_and_unknown_groups_are_asked_for_again(source, capsys):
    lower, groups = iter(["10", "0"]), iter(["sexes", "sex"])
    plain = answering({**ANSWERS, "the highest value of age": "5", "column wage": "skip", "statistics": "count"})

    def ask(question, check, default):
        if question.strip().startswith("the lowest value of age"):
            return next(lower)
        return next(groups) if question.startswith("columns to group by") else plain(question, check, default)

    start_plan("persons.parquet", Path("plan.toml"), ask)
    shown = capsys.readouterr().out
    assert "lower=10 must be less than upper=5" in shown or "lower" in shown
    assert "\n  column 'sexes': is not declared in the schema; did you mean 'sex'?" in shown  # without lines of a lost file
    assert load_plan("plan.toml").schema["age"] == dp.Number(0, 5)
    assert sorted(path.name for path in source.parent.iterdir()) == ["persons.parquet", "plan.toml"]


def test_without_a_terminal_it_writes_a_template_and_says_so(source):
    shown = done("init", "persons.parquet", "--out", "plan.toml")
    assert shown.startswith("plan.toml was written. The names and types of the columns were read, but no values.")
    assert "It is a template: " in shown
    assert "Left out: 1 column with a name or type that no plan can declare: tags (" in shown
    text = Path("plan.toml").read_text(encoding="utf-8")
    assert "step = 0.01" in text
    assert "categories = [false, true]" in text
    assert "tags" not in text
    assert text.count("Delete the columns that no release uses") == 1
    assert done("init", "persons.parquet", "--yes", "--out", "again.toml").replace("again", "plan") == shown
    assert Path("again.toml").read_text(encoding="utf-8") == text


def test_a_template_of_an_sqlite_table_begins_with_what_its_types_suggest(source):
    with sqlite3.connect("survey.sqlite") as connection:
        connection.execute("CREATE TABLE persons (sex VARCHAR(1), age INTEGER, wage, born DATE)")
    connection.close()
    done("init", "survey.sqlite::persons", "--out", "plan.toml")
    types = [line for line in Path("plan.toml").read_text(encoding="utf-8").splitlines() if line.startswith("type = ")]
    assert types == [
        'type = "category"    # or "number" or "date"',
        'type = "number"    # or "category" or "date"',
        'type = "number"    # or "category" or "date"',
        'type = "date"    # or "number" or "category"',
    ]


def test_a_template_is_refused_until_the_last_entry_is_filled_in(source):
    """The proof that nothing is left to a default: each entry alone makes `check` refuse."""
    facts = json.loads(done("init", "persons.parquet", "--out", "plan.toml", "--json"))
    lines = Path("plan.toml").read_text(encoding="utf-8").splitlines()
    values = {
        "neighbours": '"replace-one"', "rows": "3", "categories": '["F", "M"]', "lower": "0", "upper": "200", "step": "1",
        "first": "1900-01-01", "last": "2026-12-31", "rho": "0.5",
    }  # fmt: skip
    filled = []
    for line in lines:
        key = line.removeprefix("# ").split(" =")[0]
        filled.append(f"{key} = {values[key]}" if "FILL IN" in line else line)
    missing = [position for position, line in enumerate(lines) if "FILL IN" in line]
    assert len(missing) == len(facts["to_fill_in"]) == 13

    def refusal(at):
        mixed = [lines[i] if i == at else line for i, line in enumerate(filled)]
        Path("plan.toml").write_text("\n".join(mixed).replace('["count"]', '[{ count = "age" }]'), encoding="utf-8")
        return CliRunner().invoke(app, ["check", "plan.toml"])

    assert refusal(None).exit_code == 0, refusal(None).output
    for position in missing:
        if not filled[position].startswith("step"):  # left out, it is 1
            assert refusal(position).exit_code == 2, lines[position]


# No value is read -----------------------------------------------------------------------------------------------------


def destroyed(path: Path) -> None:
    """All data pages of a Parquet file are zeroed; its footer stays."""
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[4:footer] = bytes(footer - 4)
    path.write_bytes(bytes(content))


def test_a_file_whose_rows_cannot_be_read_is_as_good(source):
    done("init", "persons.parquet", "--out", "plan.toml")
    whole = Path("plan.toml").read_text(encoding="utf-8")
    destroyed(source)
    with (
        session_over(str(source), dp.Schema(age=dp.Number(0, 110)), budget=dp.ZCDP(1)) as session,
        pytest.raises(ReleaseFailed),
    ):
        session.release(session.table.agg(dp.sum("age", nulls="skip")), name="r")
    done("init", "persons.parquet", "--out", "second.toml")
    assert Path("second.toml").read_text(encoding="utf-8") == whole


def test_other_values_give_the_same_plan(source):
    """Neither values nor what a Parquet footer says of them (least, greatest, nulls, rows) have a part in it."""
    done("init", "persons.parquet", "--out", "plan.toml")
    others = pl.DataFrame({name: values[:1] * 1000 for name, values in ROWS.items()}, schema=pl.DataFrame(ROWS).schema)
    others.with_columns(age=pl.lit(99, dtype=pl.Int64), sex=pl.lit("X")).write_parquet(source)
    done("init", "persons.parquet", "--out", "second.toml")
    assert Path("second.toml").read_bytes() == Path("plan.toml").read_bytes()


def test_of_a_csv_file_only_the_first_line_counts(source):
    plans = []
    for number, rows in enumerate((b"F,30\nM,40\n", b'\xff\xfe"never closed,\0\n', b"")):
        Path("persons.csv").write_bytes(b"sex,age\n" + rows)
        done("init", "persons.csv", "--out", f"{number}.toml")
        plans.append(Path(f"{number}.toml").read_bytes())
    assert plans[0] == plans[1] == plans[2]
    assert plans[0].count(b'type = "category"    # or "number" or "date"') == 2


def test_no_engine_is_asked_for_rows_or_a_fingerprint(source, monkeypatch):
    def never(*_):
        raise AssertionError("rows were asked for")

    for engine in (_CsvEngine, _ParquetEngine):
        monkeypatch.setattr(engine, "aggregate", never)
        monkeypatch.setattr(engine, "snapshot", never)
    done("init", "persons.parquet", "--out", "plan.toml")
    assert not list(Path().glob("*.db"))


# Bad input ------------------------------------------------------------------------------------------------------------


def test_a_file_that_is_there_is_not_touched(source):
    Path("plan.toml").write_text("mine", encoding="utf-8")
    assert "exists already" in refused("init", "persons.parquet", "--out", "plan.toml")
    assert Path("plan.toml").read_text(encoding="utf-8") == "mine"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere.parquet", "--out", "plan.toml"), "cannot be opened"),
        (("example:nobody", "--out", "plan.toml"), "no example data set"),
        (("persons.parquet", "--out", "nowhere/plan.toml"), "is not a writable folder"),
        (("spark:", "--out", "plan.toml"), "name a table or a path"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused(source, arguments, words):
    assert words in refused("init", *arguments)
    assert not Path("plan.toml").exists()


def test_hostile_column_names_stay_names(source):
    names = ['a"]\nrows = 1', "# x", "ünïcode", "a.b", "[data]", 'q"uote', "back\\slash", "\x7f"]
    pl.DataFrame({name: [1] for name in names}).write_parquet("hostile.parquet")
    shown = done("init", "hostile.parquet", "--out", "plan.toml")
    assert "Left out: 2 columns" in shown
    answers = {"neighbours": "add-remove", "the lowest": "0", "the highest": "9", "rho": "1", "columns to group by": "-"}
    start_plan("hostile.parquet", Path("full.toml"), answering(answers))
    assert list(load_plan("full.toml").schema.columns) == names[1:-1]


def test_a_source_elsewhere_is_named_from_the_plan(source):
    Path("plans").mkdir()
    done("init", "persons.parquet", "--out", "plans/plan.toml")
    assert 'source = "../persons.parquet"' in Path("plans/plan.toml").read_text(encoding="utf-8")
    done("init", str(source), "--out", "plans/absolute.toml")
    assert f'source = "{source}"' in Path("plans/absolute.toml").read_text(encoding="utf-8")


def test_what_is_written_is_toml():
    import tomllib

    for value in ('"', "\\", "\x7f", "\t", "\n", "é", "😀", "# no comment", "'''"):
        section = Section(f"[{toml_key(value)}]", (Entry(toml_key(value), toml_visible(value)), Entry("open", None, "why")))
        assert tomllib.loads(render_sections([section])) == {value: {value: value}}
        assert len(to_fill_in([section])) == 1


def test_nobody_answers_with_the_default():
    assert nobody("?", lambda _: None, None) is None
    assert nobody("?", lambda _: None, "a") == "a"


# A terminal -----------------------------------------------------------------------------------------------------------


def test_in_a_terminal_the_questions_are_asked(source):
    pl.DataFrame({"sex": ["F"]}).write_parquet("small.parquet")
    typed = ["", "nobody", "add-remove", "", "", "", "F, M", "", "x", "0.5", "-", ""]
    done_by, shown = typing(typed, "init", "small.parquet", "--out", "plan.toml")
    assert done_by == 0, shown
    assert "column sex (VARCHAR): category, number, date or skip" in shown
    plan = load_plan("plan.toml")
    assert (plan.budget, plan.schema["sex"]) == (dp.ZCDP("0.5"), dp.Category(["F", "M"]))
    assert done("check", "plan.toml")


def test_leaving_the_terminal_writes_nothing(source):
    code, shown = typing(["\x04"], "init", "persons.parquet", "--out", "plan.toml")
    assert code == 130, shown
    assert not Path("plan.toml").exists()


def typing(lines: list[str], *arguments: str) -> tuple[int, str]:
    """The exit code and the screen of a command at whose terminal somebody types these lines."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "discreet", *arguments]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, close_fds=True) as process:
        os.close(slave)
        os.write(master, "".join(line if line == "\x04" else f"{line}\n" for line in lines).encode())
        shown = b""
        while True:
            if not select.select([master], [], [], PATIENCE)[0]:
                process.kill()
                break
            try:
                block = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            shown += block
        process.wait(timeout=PATIENCE)
    os.close(master)
    return process.returncode, shown.decode("utf-8")


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("median wage", '{ median = "wage", nulls = "skip", interval = "chosen" }'),
        ("std wage", '{ std = "wage", nulls = "skip", interval = "joint" }'),
        ("mean wage", '{ mean = "wage", nulls = "skip" }'),
        ("count", '"count"'),
    ],
)
def test_a_new_plan_asks_for_the_narrowest_intervals(asked, written):
    assert starting._statistic(asked) == written
