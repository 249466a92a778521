"""No password is echoed: not by any command, message, JSON, plan, ledger, report or log, wherever a URL was written."""

from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import plan_text, session_over
from typer.testing import CliRunner

import discreet as dp
from discreet import errors
from discreet.cli import app
from discreet.engines import header_of, source_in
from discreet.engines.urls import is_url
from discreet.errors import without_secrets

SECRET = "Geheim-7xQ!"  # noqa: S105 (made up, and looked for)
URLS = [
    f"postgresql://u:{SECRET}@localhost/db::persons",
    f"postgres://u:{SECRET}@localhost:5432/db::public.persons",
    f"postgresql://{SECRET}:${{HOME}}@localhost/db::persons",
    f"postgresql://u:x{SECRET}@@localhost/db::persons",
    f"postgresql://u:{SECRET}::x@localhost/db::persons",
    f"postgresql://u:a/b?c#{SECRET}@localhost/db::persons",
    f"postgresql://localhost/db?user=u&password={SECRET}::persons",
    f"postgresql:/u:{SECRET}@localhost/db::persons",
    f"mysql://u:{SECRET}@localhost/db::persons",
    f"mssql+pyodbc://u:{SECRET}@localhost/db",
    f"https://u:{SECRET}@host/data.csv",
    f"s3://key:{SECRET}@bucket/data.parquet",
    f"spark:s3a://key:{SECRET}@bucket/persons",
    f"sftp://u:{SECRET}@host/{'a' * 100}/data.csv",
]
TEXT = plan_text("notes")


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "1000", "NO_COLOR": "1"})
    shown = done.output + (repr(done.exception) if done.exception else "")
    return done.exit_code, shown


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"delay": [-5, 0, 31, 60, 90, None]}).write_csv("delays.csv")
    return tmp_path


def with_source(folder: Path, url: str) -> None:
    assert 'source = "delays.csv"' in TEXT
    (folder / "plan.toml").write_text(TEXT.replace('source = "delays.csv"', f"source = '{url}'"), encoding="utf-8")


COMMANDS = [
    ("check", "plan.toml"),
    ("check", "plan.toml", "--json"),
    ("quote", "plan.toml"),
    ("quote", "plan.toml", "--html", "planner.html"),
    ("explain", "plan.toml"),
    ("audit", "plan.toml"),
    ("effective", "--rho", "0.1", "--plan", "plan.toml"),
    ("release", "plan.toml", "--out", "out"),
    ("release", "plan.toml", "--out", "out", "--json"),
]


@pytest.mark.one_in(9)
@pytest.mark.parametrize("url", URLS)
def test_no_command_shows_the_password_of_a_source(folder: Path, url: str) -> None:
    with_source(folder, url)
    for command in COMMANDS:
        code, shown = run(*command)
        assert SECRET not in shown, (command, shown)
        assert SECRET[:-2] not in shown, "nor a part of it"
        assert code in (0, 2), (command, shown)
    written = [path for path in folder.rglob("*") if path.is_file() and path.name != "plan.toml"]
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]


@pytest.mark.one_in(9)
@pytest.mark.parametrize("url", URLS)
def test_a_url_in_the_place_of_a_path_is_not_echoed(folder: Path, url: str) -> None:
    with_source(folder, "delays.csv")
    places: list[Sequence[str]] = [
        ("init", url, "--out", "new.toml", "--defaults"),
        ("init", url, "--out", "new.toml"),
        ("check", url),
        ("release", "plan.toml", "--out", url),
        ("release", url, "--out", "out"),
        ("report", url),
        ("ledger", "show", url),
        ("ledger", "verify", url),
        ("ledger", "export", url),
        ("quote", "plan.toml", "--html", url),
    ]
    for command in places:
        _, shown = run(*command)
        assert SECRET not in shown, (command, shown)
    assert not (folder / "new.toml").exists(), "a plan would hold it"


@pytest.mark.parametrize("key", ["dataset", "ledger", "neighbours"])
def test_a_url_in_the_place_of_another_value_is_not_echoed_in_a_message(folder: Path, key: str) -> None:
    lines = [f"{key} = '{URLS[0]}'" if line.startswith(f"{key} =") else line for line in TEXT.splitlines()]
    (folder / "plan.toml").write_text("\n".join(lines), encoding="utf-8")
    code, shown = run("check", "plan.toml")
    if key != "dataset":  # a name is shown as it is: it is public by declaration
        assert code == 2
        assert SECRET not in shown


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("make", [str, Path])
def test_programs_log_and_pickle_no_password(url: str, make: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(errors.DiscreetError) as caught:
        session_over(make(url), dp.Schema(x=dp.Number(0, 1)))
    shown = [str(caught.value), repr(caught.value), pickle.dumps(caught.value).decode("latin-1"), caplog.text]
    assert not [one for one in shown if SECRET in one]


@pytest.mark.slow
def test_the_process_itself_shows_nothing(folder: Path) -> None:
    with_source(folder, URLS[0])
    for extra in ((), ("extra",), (URLS[0],)):
        done = subprocess.run(
            [sys.executable, "-m", "discreet", "check", "plan.toml", *extra], capture_output=True, check=False
        )
        assert done.returncode == 2
        if not extra or extra == ("extra",):
            assert SECRET.encode() not in done.stdout + done.stderr


def test_the_message_says_what_to_write(folder: Path) -> None:
    with_source(folder, URLS[0])
    _, shown = run("check", "plan.toml")
    assert "plan.toml:3: data.source: " in shown
    assert "postgresql://…@localhost/db::persons" in shown
    assert "must be a URL without a password" in shown
    assert "in its place write ${NAME}" in shown
    with_source(folder, "mysql://localhost/db")
    _, shown = run("check", "plan.toml")
    assert "URLs of 'mysql' are not read; PostgreSQL by postgresql://…" in shown


def test_an_environment_variable_is_looked_up_and_not_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_source(folder, "postgresql://u:${DISCREET_TEST_PW}@127.0.0.1:1/db::persons")
    code, shown = run("check", "plan.toml")
    assert (code, "'DISCREET_TEST_PW', which its URL names, is not set" in shown) == (2, True)
    monkeypatch.setenv("DISCREET_TEST_PW", SECRET)
    code, shown = run("check", "plan.toml")
    assert code == 2
    assert SECRET not in shown


def test_what_is_left_out_is_everything_up_to_the_host() -> None:
    assert without_secrets("postgresql://u:p@w@h/d") == "postgresql://…@h/d"
    assert without_secrets("x postgresql:/u:p@h") == "x postgresql://…@h"
    assert without_secrets("host=h password=p&x") == "host=h password=…&x"
    for plain in ("a@b", "C:/data/a@b.csv".replace(":", ""), "data/x.csv", "postgresql://h/d::t", "12:30", "a: b @ c"):
        assert without_secrets(plain) == plain


def test_a_message_that_shows_what_it_is_given_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    message = f"source '{URLS[0]}': cannot be opened"
    assert SECRET not in str(errors.SourceError(message))
    monkeypatch.setattr(errors, "without_secrets", lambda text: text)
    assert SECRET in str(errors.SourceError(message))


def every_error(one: type[errors.DiscreetError] = errors.DiscreetError) -> list[type[errors.DiscreetError]]:
    return [one, *(each for child in one.__subclasses__() for each in every_error(child))]


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_what_an_error_was_made_of_is_not_kept(kind: type[errors.DiscreetError]) -> None:
    """Loggers and pickles show `args`."""
    error = kind(f"source '{URLS[0]}': cannot be opened")
    for one in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert SECRET not in repr([one.args, vars(one), str(one), repr(one), *map(repr, one.args)])
        assert type(one) is kind
        assert str(one) == str(error)


def test_other_texts_with_a_colon_are_the_names_that_they_were(folder: Path) -> None:
    assert not is_url("C:/data/a.csv")
    assert not is_url("a:b.csv")
    (folder / "pg:").mkdir()
    (folder / "pg:" / "a.csv").write_text("x\n1\n", encoding="utf-8")
    assert is_url("pg:/b.csv")
    assert not is_url("pg:/a.csv")
    assert list(header_of("pg:/a.csv")) == ["x"]
    assert source_in(folder, "spark:/data/persons") == "spark:/data/persons"
    assert source_in(folder, "spark:s3a://bucket/persons") == "spark:s3a://bucket/persons"
