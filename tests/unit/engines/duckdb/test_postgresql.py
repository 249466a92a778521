"""Tables of a PostgreSQL server, named by a URL whose password is in the environment. The server is a real one."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from signal import SIGQUIT
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from time import sleep

import pytest
from tests.builders import plan_text, run

import discreet as dp
from discreet.engines import header_of, open_source
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.errors import SourceError

pytest.importorskip("adbc_driver_postgresql")

PASSWORD = "p@ss:w/r?d #1"  # noqa: S105 (of a server that lives as long as this module's tests)
FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
NEEDS = "needs PostgreSQL: apt-get install postgresql"
TABLE = """
CREATE TABLE persons
 (sex TEXT, wage NUMERIC, points DOUBLE PRECISION, years SMALLINT, born DATE, at TIMESTAMP, "a ""b" BIGINT);
INSERT INTO persons VALUES
 ('F', 120, 1.5, 7, '1990-01-31', '1990-01-31 23:59', 1), ('M', 99.5, 'NaN', -8, 'infinity', 'infinity', 2),
 (NULL, 'NaN', 'Infinity', NULL, '-infinity', '-infinity', NULL), ('é', 1e300, -1e300, 32767, '0044-03-15 BC', NULL, 3),
 ('F', -8, 2.5, 0, '9999-12-31', '9999-12-31 12:00', 9223372036854775807);
CREATE VIEW seen AS SELECT sex, wage FROM persons;
CREATE SCHEMA "other.one";
"""
ROWS = [("F", 120, 1.5), ("M", 99.5, None), (None, None, None), ("é", 1e300, -1e300), ("F", -8, 2.5)]
SCHEMA = dp.Schema(
    sex=dp.Category(["F", "M", "é"]), wage=dp.Number(0, 2000, "0.5", missing=[-8]), points=dp.Number(0, 10, "0.5")
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server without its password, which is in the environment."""
    if not FOLDERS:
        pytest.skip(NEEDS)
    with TemporaryDirectory() as own:  # not below a folder that only this user may enter
        yield from _served(Path(own))


def _served(folder: Path) -> Iterator[str]:
    user = _server_user()
    (folder / "pw").write_text(PASSWORD, encoding="utf-8")
    if user is not None:
        shutil.chown(folder, user)
        shutil.chown(folder / "pw", user)
    data = folder / "data"
    _run(user, FOLDERS[0] / "initdb", "-D", data, "-U", "reader", "-A", "scram-sha-256", "--pwfile", folder / "pw", "-N")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder), "fsync": "off"}
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    command = [str(FOLDERS[0] / "postgres"), "-D", str(data), "-p", str(port), *options]
    with Popen(command, user=user, stdout=DEVNULL, stderr=DEVNULL, cwd="/") as process:
        try:
            _wait_for(port)
            os.environ["DISCREET_TEST_PG"] = PASSWORD
            yield f"postgresql://reader:${{DISCREET_TEST_PG}}@127.0.0.1:{port}/postgres"
        finally:
            os.environ.pop("DISCREET_TEST_PG", None)
            process.send_signal(SIGQUIT)  # at once


def _wait_for(port: int) -> None:
    ready = [str(FOLDERS[0] / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
    for _ in range(600):
        if subprocess.run(ready, check=False, capture_output=True).returncode == 0:
            return
        sleep(0.1)
    pytest.fail("the server did not start")


def _server_user() -> str | None:
    """A server refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run(user: str | None, *command: object) -> None:
    subprocess.run([str(one) for one in command], user=user, check=True, capture_output=True, cwd="/", timeout=60)


@pytest.fixture(scope="module")
def filled(server: str) -> str:
    from adbc_driver_postgresql import dbapi

    from discreet.engines.urls import fill_in

    with dbapi.connect(fill_in(server)) as connection:
        with connection.cursor() as cursor:
            for statement in TABLE.strip().split(";\n"):
                cursor.execute(statement.removesuffix(";"))
        connection.commit()
    return server


def test_a_table_is_read_as_the_reference_reads_it(filled: str) -> None:
    plan = (
        dp.Table(SCHEMA, dp.AddRemove())
        .group_by("sex")
        .agg(dp.count(), dp.sum("wage", nulls="skip"), dp.sum("points", nulls="skip"))
    )
    (scan,) = plan.layout.scans
    header = {
        "sex": ColumnType("text", "text"),
        "wage": ColumnType("float", "DOUBLE"),
        "points": ColumnType("float", "DOUBLE"),
    }
    expected = ReferenceEngine(header, ROWS).aggregate(scan.axes, scan.moments)
    for table in ("persons", "public.persons"):
        found = open_source(f"{filled}::{table}", SCHEMA).aggregate(scan.axes, scan.moments)
        assert all((getattr(found, part) == getattr(expected, part)).all() for part in ("keys", "rows", "nonnull", "sums"))


def test_hostile_cells_end_no_reading(filled: str) -> None:
    schema = dp.Schema(
        {
            "born": dp.Date("1900-01-01", "2000-01-01"),
            "at": dp.Date("1900-01-01", "2000-01-01", missing=["9999-12-31"]),
            "years": dp.Number(0, 9, missing=[-8]),
            'a "b': dp.Number(0, 9),
        }
    )
    plan = dp.Table(schema, dp.AddRemove()).agg(*(dp.count(name) for name in schema.columns))
    engine = open_source(f"{filled}::persons", schema)
    cubes = [engine.aggregate(scan.axes, scan.moments) for scan in plan.layout.scans]
    assert {int(cube.rows.sum()) for cube in cubes} == {5}


def test_a_plan_is_released_from_a_server(filled: str, tmp_path: Path) -> None:
    plan = plan_text("one-key").replace("a.txt", f"{filled}::persons").replace("rows = 4", "rows = 5").replace("g]", "sex]")
    plan = plan.replace('["ä", "b"]', '["F", "M"]').replace('["g"]', '["sex"]')
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    for command in (["check"], ["release", "--out", str(tmp_path / "out")]):
        done = run(command[0], str(tmp_path / "plan.toml"), *command[1:])
        assert done.exit_code == 0, done.output
        assert PASSWORD not in done.output
    assert dp.Release.load(tmp_path / "out").table["count"].to_list() == [2, 1, 2]
    assert not [one for one in tmp_path.rglob("*") if one.is_file() and PASSWORD.encode() in one.read_bytes()]


def test_a_server_that_refuses_or_a_table_that_is_missing_is_reported_without_the_words_of_the_driver(filled: str) -> None:
    for source in (f"{filled}::no such", filled.replace("reader:", "nobody:") + "::persons", f"{filled}x::persons"):
        with pytest.raises(SourceError, match="source: the table cannot be opened") as caught:
            header_of(source)
        assert PASSWORD not in str(caught.value)
        assert "nobody" not in str(caught.value)


def test_a_url_without_a_table_is_refused(filled: str) -> None:
    with pytest.raises(SourceError, match="names no table"):
        header_of(filled)


def test_a_name_is_a_name(filled: str) -> None:
    with pytest.raises(SourceError):
        header_of(f'{filled}::persons"; DROP TABLE persons; --')
    assert "sex" in header_of(f"{filled}::persons")


def test_a_lost_connection_is_the_constant_error(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_source(f"{filled}::persons", SCHEMA)
    monkeypatch.setenv("DISCREET_TEST_PG", "changed")
    (scan,) = dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()).layout.scans
    with pytest.raises(SourceError, match="could not be read to its end"):
        engine.aggregate(scan.axes, scan.moments)
