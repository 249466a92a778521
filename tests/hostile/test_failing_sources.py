"""Sources that are damaged, change, or fail half-way, through the public door.

The law: what can be known before rows are read is a precise error, and nothing is spent. Afterwards there is a release or
the one constant text; the charge stands, the ledger is whole and says so, and nothing else was written or printed.
"""

from __future__ import annotations

import random
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from tests.builders import plan_text, session_over
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.engines.duckdb import csv_lines, parquet
from discreet.engines.duckdb import database_files as duckdb_file
from discreet.ledger import Ledger
from discreet.session import attempts

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 100))
SECRET = 738291
ROWS = 3000


def table(rows: int = ROWS) -> pl.DataFrame:
    numbers = np.random.default_rng(1).integers(0, 101, rows)
    return pl.DataFrame({"g": [f"{'xy'[n % 2]}" for n in numbers], "v": numbers, "secret": [SECRET] * rows})


def sources(folder: Path) -> dict[str, str]:
    """The same rows as every kind of file."""
    frame = table()
    (folder / "parts" / "g=x").mkdir(parents=True)
    frame.drop("g").write_parquet(folder / "parts" / "g=x" / "a.parquet")
    frame.write_parquet(folder / "a.parquet", compression="zstd")
    frame.write_csv(folder / "a.csv")
    with closing(sqlite3.connect(folder / "a.sqlite")) as connection:
        connection.execute("CREATE TABLE t (g, v, secret)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", frame.rows())
        connection.commit()
    with duckdb.connect(folder / "a.duckdb") as connection:
        connection.register("frame", frame.to_arrow())
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    names = {"folder": "parts", "parquet": "a.parquet", "csv": "a.csv", "sqlite": "a.sqlite::t", "duckdb": "a.duckdb::t"}
    return {kind: str(folder / name) for kind, name in names.items()}


def file_of(source: str) -> Path:
    path = Path(source.partition("::")[0])
    return path / "g=x" / "a.parquet" if path.is_dir() else path


KINDS = ["folder", "parquet", "csv", "sqlite", "duckdb"]


def opened(source: Any, ledger: Path, **more: Any) -> dp.Session:
    return dp.Session(source, SCHEMA, dataset="d", ledger=ledger, budget=dp.PureDP(10), neighbours=dp.AddRemove(), **more)


def asked(session: dp.Session) -> dp.Plan:
    return session.table.group_by("g").agg(dp.count(), dp.sum("v", nulls="skip"))


def spent(ledger: Path) -> tuple[float, list[str]]:
    """What an intact ledger says was spent, and what became of each reservation."""
    if not ledger.exists():
        return 0, []
    with Ledger.open(ledger) as book:
        found = book.verify()
        assert found.intact, found.problem
        entries = [entry.kind for entry in book.entries() if entry.kind in {"reserve", "commit", "fail"}]
        return float(dict(found.spent).get("d", (0,))[0]), entries


def require_failed(call: Any, ledger: Path, *, drawn: bool = False) -> None:
    """The call ends in the constant text of its stage: only what has drawn has lost its charge."""
    with pytest.raises(dp.ReleaseFailed) as failed:
        call()
    assert str(failed.value) == (dp.ReleaseFailed.TEXT if drawn else dp.ReleaseFailed.UNFINISHED)
    assert failed.value.__context__ is failed.value.__cause__ is None
    amount, entries = spent(ledger)
    assert (amount, entries) == (1, ["reserve", "fail"] if drawn else ["reserve"])


# Damage ----------------------------------------------------------------------------------------------------------------


def damaged(content: bytes, first: int, last: int) -> bytes:
    return content[:first] + bytes(255 - byte for byte in content[first:last]) + content[last:]


@pytest.mark.parametrize("what", ["footer", "length of the footer", "magic at the end", "cut", "empty", "text"])
def test_a_parquet_file_that_cannot_be_opened_costs_nothing(tmp_path: Path, what: str) -> None:
    path, ledger = tmp_path / "a.parquet", tmp_path / "ledger.db"
    table().write_parquet(path)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    path.write_bytes(
        {
            "footer": damaged(content, len(content) - 8 - length, len(content) - 8 - length + 40),
            "length of the footer": damaged(content, len(content) - 8, len(content) - 4),
            "magic at the end": damaged(content, len(content) - 4, len(content)),
            "cut": content[:-100],
            "empty": b"",
            "text": b"g,v\nx,1\n",
        }[what]
    )
    with pytest.raises(dp.SourceError, match=r"a\.parquet': is not a readable Parquet file"):
        opened(path, ledger)
    assert spent(ledger) == (0, [])


def test_a_damaged_page_is_the_constant_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, ledger = tmp_path / "a.parquet", tmp_path / "ledger.db"
    table().write_parquet(path, compression="zstd")
    path.write_bytes(damaged(path.read_bytes(), 40, 400))
    with opened(path, ledger) as session:
        require_failed(lambda: session.release(asked(session), spend=1, name="r"), ledger)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_damaged_database_is_refused_or_the_constant_failure(tmp_path: Path, kind: str) -> None:
    source, ledger = sources(tmp_path)[kind], tmp_path / "ledger.db"
    whole = file_of(source).read_bytes()
    for first, message in ((0, "neither a DuckDB database nor"), (18, r"cannot be (read|opened) as")):
        file_of(source).write_bytes(damaged(whole, first, first + 70))
        with pytest.raises(dp.SourceError, match=message):
            opened(source, ledger)
    file_of(source).write_bytes(whole)
    middle = len(whole) // 2
    file_of(source).write_bytes(damaged(whole, middle - 12_000, middle + 12_000))
    with opened(source, ledger) as session:
        require_failed(lambda: session.release(asked(session), spend=1, name="r"), ledger)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.exhaustive), pytest.param(3, marks=pytest.mark.exhaustive)]
)
def test_damage_anywhere_has_three_ends(tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str, seed: int) -> None:
    """Refused and free, released, or the constant failure and a charge; never another error, never a word."""
    source = sources(tmp_path)[kind]
    whole, chance = file_of(source).read_bytes(), random.Random(seed)  # noqa: S311 (where damage is)
    for number in range(4 if seed == 1 else 60):
        content = bytearray(whole)
        for _ in range(chance.choice([1, 8, 300])):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        file_of(source).write_bytes(content[: chance.choice([len(content), len(content), chance.randrange(len(content))])])
        ledger = tmp_path / f"{number}.ledger"
        try:
            with opened(source, ledger) as session:
                session.release(asked(session), spend=1, name="r")
            assert spent(ledger) == (1, ["reserve", "commit"])
        except dp.SourceError:
            assert spent(ledger) == (0, [])
        except dp.ReleaseFailed:
            assert spent(ledger) == (1, ["reserve"])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("folder", [False, True])
def test_mixed_schemas_are_refused_with_the_file(tmp_path: Path, folder: bool) -> None:
    ledger = tmp_path / "ledger.db"
    (tmp_path / "d").mkdir()
    table(5).write_parquet(tmp_path / "d" / "a.parquet")
    source = tmp_path / "d" if folder else tmp_path / "d" / "*.parquet"
    others = {
        "column 'v' is INTEGER, and BIGINT there; write all": table(5).cast({"v": pl.Int32}),
        "it has no column 'secret'": table(5).drop("secret"),
        "column 'more' is in it only": table(5).with_columns(more=1),
    }
    for what, other in others.items():
        other.write_parquet(tmp_path / "d" / "b.parquet")
        message = rf"b\.parquet': its columns and types differ from the columns and types of '.*a\.parquet': {what}"
        with pytest.raises(dp.SourceError, match=message):
            opened(source, ledger)
    assert spent(ledger) == (0, [])


# Change while it is read -----------------------------------------------------------------------------------------------

COUNTED = {"folder": parquet, "parquet": parquet, "csv": None, "sqlite": None, "duckdb": duckdb_file}


@contextmanager
def changing(monkeypatch: pytest.MonkeyPatch, source: str) -> Iterator[None]:
    """When the counting is done, and before the source is looked at again, a row is added or the file is touched."""
    compute = attempts._compute

    def late(*arguments: Any) -> Any:
        computed = compute(*arguments)
        path = file_of(source)
        if path.suffix == ".sqlite":
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("INSERT INTO t VALUES ('x', 1, 1)")
                connection.commit()
        elif path.suffix == ".duckdb":
            with duckdb.connect(path) as connection:
                connection.execute("INSERT INTO t VALUES ('x', 1, 1)")
        else:
            path.write_bytes(path.read_bytes() + b"\n")
        return computed

    with monkeypatch.context() as patch:
        patch.setattr(attempts, "_compute", late)
        yield


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_changes_while_it_is_read_has_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source, ledger = sources(tmp_path)[kind], tmp_path / "ledger.db"
    with opened(source, ledger) as session, changing(monkeypatch, source):
        require_failed(lambda: session.release(asked(session), spend=1, name="r"), ledger, drawn=True)


# Too much --------------------------------------------------------------------------------------------------------------


def test_a_row_of_ten_megabytes_is_a_row_of_nulls(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"g,v\nx,1\n" + b"y," + b"7" * 10_000_000 + b"\ny,3\n")
    assert csv_lines.MAX_LINE < 10_000_000
    with opened(path, tmp_path / "ledger.db") as session:
        wanted = session._engine.aggregate((), ())
        assert wanted.rows.tolist() == [3]
        release = session.release(asked(session), spend=1, name="r")
        assert release.table.height == 3
    assert spent(tmp_path / "ledger.db") == (1, ["reserve", "commit"])


WORDS = [f"c{i}" for i in range(1000)]


@contextmanager
def disk_of(size: int) -> Iterator[None]:
    """No file of this process can grow beyond `size` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_while_spilling(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first, second = np.divmod(np.arange(10**6), 1000)
    words, ledger = pl.Series(WORDS), tmp_path / "ledger.db"
    frame = pl.DataFrame({"a": words[first], "b": words[second]})
    schema = dp.Schema(a=dp.Category(WORDS), b=dp.Category(WORDS))
    (tmp_path / "spill").mkdir()
    with session_over(
        frame,
        schema,
        ledger=ledger,
        budget=dp.PureDP(10),
        limits=dp.Limits(memory="60MB", threads=1, spill=tmp_path / "spill"),
    ) as session:
        many = session.table.group_by("a", "b").agg(dp.count())
        few = session.table.group_by("a").agg(dp.count())
        with disk_of(500_000):
            require_failed(lambda: session.release(many, spend=1, name="r", to=tmp_path / "out"), ledger, drawn=True)
        assert not list((tmp_path / "spill").glob("*/*"))
        assert not list(tmp_path.glob("out/*"))
        assert session.release(few, spend=1, name="s").table.height == 1001  # the session goes on
    assert not list((tmp_path / "spill").iterdir())
    assert spent(ledger) == (2, ["reserve", "fail", "reserve", "commit"])
    assert capfd.readouterr() == ("", "")


# No partial output -----------------------------------------------------------------------------------------------------

PLAN = plan_text("failing-source")


def test_a_failed_release_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN)
    table().write_parquet("a.parquet", compression="zstd")
    Path("a.parquet").write_bytes(damaged(Path("a.parquet").read_bytes(), 40, 400))
    done = CliRunner().invoke(app, ["release", "plan.toml", "--out", "out"])
    assert done.exit_code == 4
    assert dp.ReleaseFailed.UNFINISHED in done.stderr
    assert str(SECRET) not in done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "ledger.db", "plan.toml"]
    assert spent(tmp_path / "ledger.db") == (1, ["reserve"])


def test_plans_name_every_kind_of_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in [1]").mkdir()
    named = sources(tmp_path / "in [1]")
    for kind, source in named.items():
        written = str(Path(source).relative_to(tmp_path / "in [1]"))
        plan = PLAN.replace("a.parquet", written).replace('"d"', f'"{kind}"').replace("ledger.db", f"{kind}.db")
        (tmp_path / "in [1]" / f"{kind}.toml").write_text(plan)
        done = CliRunner().invoke(app, ["check", f"in [1]/{kind}.toml"])
        assert done.exit_code == 0, done.output
