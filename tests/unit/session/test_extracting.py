"""A stored release comes back from its ledger alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.builders import run, session_over

import discreet as dp
from discreet.plan import sizes

FRAME = pl.DataFrame({"g": ["x", "y"] * 20})
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]))


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dp.Release:
    """A release from a file, whose ledger is copied elsewhere; the file and the first ledger are gone."""
    monkeypatch.chdir(tmp_path)
    FRAME.write_parquet("d.parquet")
    with session_over("d.parquet", SCHEMA, ledger="first.db", budget=dp.PureDP(1)) as one:
        release = one.release(one.table.group_by("g").agg(dp.count()), spend="0.1", name="by g")
        one._ledger.reserve(one._identity, [reservation("open")])
    release.save("written")
    shutil.copy("first.db", "copy.db")
    for gone in ("first.db", "d.parquet"):
        Path(gone).unlink()
    return release


def reservation(name: str):
    from fractions import Fraction

    from discreet.ledger import Reservation

    return Reservation(name, (Fraction(1, 10),), "plan", b"source")


def test_a_release_comes_back_without_its_source(made: dp.Release) -> None:
    before = Path("copy.db").read_bytes()
    assert dp.extract("copy.db", dataset="d", name="by g") == made
    assert Path("copy.db").read_bytes() == before


@pytest.mark.usefixtures("one_artist")
def test_the_command_writes_the_files_that_release_wrote(made: dp.Release) -> None:
    done = run("ledger", "extract", "copy.db", "--dataset", "d", "--release", "by g", "--out", "again")
    assert done.exit_code == 0, done.output
    assert "by g: the stored release; no charge" in done.stdout
    for path in Path("written").iterdir():
        assert (Path("again") / path.name).read_bytes() == path.read_bytes(), path.name
    assert Path("again/report.html").exists()
    assert sorted(path.name for path in Path().iterdir()) == ["again", "copy.db", "written"]


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("one_artist")
@pytest.mark.parametrize(
    ("dataset", "release", "out", "said"),
    [
        ("e", "by g", "new", "has no data set 'e'"),
        ("d", "by h", "new", "has no release 'by h'; did you mean 'by g'?"),
        ("d", "open", "new", "release 'open': is reserved, not committed"),
        ("d", "by g", "copy.db", "--out='copy.db': cannot be written"),
        ("d", "by g", "other", "holds another release"),
    ],
)
def test_what_cannot_be_extracted_is_refused(made: dp.Release, dataset: str, release: str, out: str, said: str) -> None:
    with session_over(FRAME, SCHEMA, dataset="o", ledger=":memory:", budget=dp.PureDP(1)) as one:
        one.release(one.table.group_by("g").agg(dp.count()), spend="0.1", name="another").save("other")
    done = run("ledger", "extract", "copy.db", "--dataset", dataset, "--release", release, "--out", out)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not Path("new").exists()


def test_a_ledger_that_is_not_there_or_damaged_is_refused(made: dp.Release) -> None:
    with pytest.raises(dp.LedgerError, match="there is no such file"):
        dp.extract("none.db", dataset="d", name="by g")
    content = Path("copy.db").read_bytes()
    Path("copy.db").write_bytes(content.replace(b'"by g"', b'"by f"', 1))
    with pytest.raises(dp.LedgerError, match="damaged"):
        dp.extract("copy.db", dataset="d", name="by g")


def test_a_large_release_needs_the_folder_of_its_table(made: dp.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_WHOLE_CELLS", 1)
    with session_over(FRAME, SCHEMA, ledger="large.db", budget=dp.PureDP(1)) as one:
        large = one.release(one.table.group_by("g").agg(dp.count()), spend="0.1", name="large", to="out")
    with pytest.raises(dp.ArgumentError, match="is large"):
        dp.extract("large.db", dataset="d", name="large")
    assert dp.extract("large.db", dataset="d", name="large", to="out") == large
    with pytest.raises(dp.LedgerError, match="its table is not in"):
        dp.extract("large.db", dataset="d", name="large", to="elsewhere")
