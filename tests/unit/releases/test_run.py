"""Large releases: the numbers of the small path, written in parts, and nothing about them can be changed unnoticed."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.builders import session_over

import discreet as dp
from discreet.cube.cube import Cube
from discreet.engines import open_source
from discreet.mechanisms.adding import add_noise, apply_in_place
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.noise.bits import Bits
from discreet.noise.single import scalar
from discreet.plan import sizes as limits
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.quotes.large import check_large
from discreet.quotes.quote import Quote
from discreet.releases.document import Release, make_release
from discreet.releases.evaluate import noisy_answers, run_scans
from discreet.releases.files import TableFile, problem_of, table_json, table_of
from discreet.releases.publish import PART_ROWS, publish
from discreet.session import folders as large_files
from discreet.session.orders import Order

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(
    state=dp.Category(["Å", "b", "c"]),
    county=dp.Category([7, 8]),
    old=dp.Category([False, True]),
    wage=dp.Number(0, 20),
)
ROWS = pl.DataFrame(
    {
        "state": ["Å", "b", "c", None, "x"] * 6,
        "county": [7, 8, None] * 10,
        "old": [True, False, False, None, True] * 6,
        "wage": [*range(25), None, 3, 4, 5, 6],
    }
)
CONTENT = {"name": "r", "dataset": "d", "ledger": {"sequence": 2, "head": "h"}}
STATISTICS = [
    dp.count(),
    dp.share(),
    dp.sum("wage", nulls="skip"),
    dp.mean("wage", nulls="skip"),
    dp.variance("wage", nulls="skip"),
    dp.std("wage", nulls="skip"),
]


def request(neighbours: Any, *groups: Any) -> Plan:
    return dp.Table(SCHEMA, neighbours).group_by(*groups).agg(*STATISTICS)


def cube_of(asked: Plan) -> Iterable[Cube]:
    return run_scans(open_source(ROWS, SCHEMA), asked.layout)


def constant_bits() -> Bits:
    """The same stream whenever it is made: a test seam."""
    dice = np.random.default_rng(5)
    return Bits(dice.bytes)


class Stream:
    """Noise that takes one word for each cell, so that it is the same however the cells are cut."""

    def __init__(self, width: int = 7) -> None:
        self.width = width

    def sample(self, size: int, bits: Bits) -> Any:
        return (bits.words(size) % np.uint64(self.width)).astype(np.int64) - self.width // 2


class Everywhere:
    """A noise of one law in every cell, as far as values meet it."""

    everywhere = True

    def __init__(self, law: Stream) -> None:
        self.law = law

    def apply(self, values: Any, bits: Bits) -> Any:
        return add_noise(values, self.law, bits)  # type: ignore[arg-type]


GROUPS = [
    ("state", "county", "old", dp.bins("wage", [0, 3, 9, 20])),
    ("old",),
    (),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=30)], ids=["add", "replace"])
@pytest.mark.parametrize("groups", GROUPS, ids=len)
@pytest.mark.parametrize("spend", ["0.5", "1e-6"])
def test_the_parts_are_the_table_of_the_small_path(neighbours: Any, groups: Any, spend: str, tmp_path: Path) -> None:
    """The same cube and bits: with one part the noise is the same, and so is everything else."""
    quoted = quote(request(neighbours, *groups), dp.ZCDP(spend))
    told = {"report_delta": Fraction(1, 10**9), "content": CONTENT}
    small = publish(quoted, cube_of(quoted.plan), constant_bits, **told)
    large = publish(quoted, cube_of(quoted.plan), constant_bits, **told, draft=made(tmp_path / "table"))
    large = Release(large.payload, tmp_path)
    assert large.table.equals(small.table)
    assert large.table.schema == small.table.schema
    assert large.guarantee == small.guarantee
    assert small.document["format"] == 1
    kept = {"plan", "plan_digest", "guarantee", "invariants", "noise", "statistics", "interval", "name", "ledger"}
    assert {key: large.document[key] for key in kept} == {key: small.document[key] for key in kept}
    kinds = [{"name": column["name"], "kind": column["kind"]} for column in small.document["columns"]]
    assert large.document["columns"] == kinds


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


@pytest.mark.one_in(6)
@pytest.mark.parametrize("rows", [1, 2, 5, 36, 71, 10**6])
def test_parts_of_any_size_hold_the_same_rows(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quoted = quote(request(dp.AddRemove(), *GROUPS[0]), dp.ZCDP("0.5"))
    monkeypatch.setattr(scalar, "rounded_gaussian", lambda _, size, bits: Stream().sample(size, bits))
    told = {"report_delta": Fraction(1, 10**9), "content": CONTENT}
    small = publish(quoted, cube_of(quoted.plan), constant_bits, **told)
    made(tmp_path / "table")
    large = publish(quoted, cube_of(quoted.plan), constant_bits, **told, draft=tmp_path / "table", rows=rows)
    cells = small.table.height
    assert [part.rows for part in large.parts] == [min(rows, cells - start) for start in range(0, cells, rows)]
    assert Release(large.payload, tmp_path).table.equals(small.table)


@pytest.mark.parametrize("chunk", [1, 3, 10, 100])
def test_noise_drawn_in_chunks_is_that_of_the_whole_vector(chunk: int) -> None:
    values = np.arange(10, dtype=np.int64)
    whole = add_noise(values, Stream(), constant_bits())  # type: ignore[arg-type]
    found = apply_in_place(Everywhere(Stream()), values, constant_bits(), chunk=chunk)  # type: ignore[arg-type]
    assert found.tolist() == whole.tolist()
    assert found is values
    objects = apply_in_place(Everywhere(Stream()), whole.astype(object), constant_bits(), chunk=chunk)  # type: ignore[arg-type]
    assert objects.dtype == object


def test_noise_beyond_64_bits_in_one_chunk_makes_all_of_them_python_integers() -> None:
    class Far(Stream):
        def sample(self, size: int, bits: Bits) -> Any:
            return super().sample(size, bits) if size > 1 else np.array([2**70], dtype=object)

    found = apply_in_place(Everywhere(Far()), np.arange(5), constant_bits(), chunk=4)  # type: ignore[arg-type]
    assert found[4] == 4 + 2**70
    assert all(type(value) is int for value in found)


def test_every_cell_gets_noise_of_its_own_in_chunks() -> None:
    noisy = apply_in_place(
        GaussianNoise(Fraction(10**20)), np.zeros(4096, np.int64), Bits(np.random.default_rng(1).bytes), chunk=64
    )
    assert len(set(noisy.tolist())) == 4096


def test_several_queries_are_drawn_one_after_the_other() -> None:
    quoted = quote(request(dp.AddRemove(), "old"), dp.ZCDP("0.5"))
    exact = [np.arange(3, dtype=np.int64) for _ in quoted.measured]
    whole = noisy_answers(quoted, [one.copy() for one in exact], constant_bits())
    chunked = noisy_answers(quoted, exact, constant_bits(), chunk=10)
    assert [one.tolist() for one in chunked] == [one.tolist() for one in whole]


# Through a session ------------------------------------------------------------------------------------------------------


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions take releases of more than 10 cells for large."""
    for module in (limits, large_files):
        monkeypatch.setattr(module, "MOST_WHOLE_CELLS", 10)


def opened(ledger: Any = ":memory:", **options: Any) -> dp.Session:
    given = {"dataset": "d", "budget": dp.ZCDP(10), "neighbours": dp.AddRemove(), **options}
    return dp.Session(ROWS, SCHEMA, ledger=ledger, **given)


def asked(session: dp.Session) -> Plan:
    return session.table.group_by("state", "county").agg(dp.count(), dp.mean("wage", nulls="skip"))


@pytest.mark.usefixtures("low")
def test_a_session_writes_it_where_it_is_told(tmp_path: Path) -> None:
    with opened() as session:
        release = session.release(asked(session), spend="0.1", name="r", to=tmp_path / "a" / "out")
        assert release.table.height == 12
        assert release.folder == tmp_path / "a" / "out"
        assert sorted(path.name for path in release.folder.iterdir()) == ["release.json", "table"]
        assert Release.load(release.folder) == Release.load(release.folder / "release.json") == release
        assert Release.load(release.folder).table.equals(release.table)
        assert release.scan().select("count").collect().equals(release.table.select("count"))
        assert all(set(column) == {"name", "kind"} for column in release.document["columns"])
        assert list(release.table.select("state", "county").rows())[:4] == [
            ("Å", 7),
            ("Å", 8),
            ("Å", None),
            ("b", 7),
        ]
        again = session.release(asked(session), spend="0.1", name="r", to=tmp_path / "a" / "out")
        assert (again, again.folder) == (release, release.folder)
        assert session.spent == dp.ZCDP("0.1")
    assert pickle.loads(pickle.dumps(release)).table.equals(release.table)


@pytest.mark.usefixtures("low")
def test_counts_beside_exact_totals_keep_them(tmp_path: Path) -> None:
    with opened(neighbours=dp.ReplaceOne(rows=30), invariants=dp.Totals("state")) as session:
        asked_for = session.table.group_by("state", "county").agg(dp.count(), dp.share())
        release = session.release(asked_for, spend="0.1", name="r", to=tmp_path / "out")
    assert release.document["statistics"][0]["totals"] == "add up to the published ones"
    summed = release.table.group_by("state", maintain_order=True).agg(pl.col("count").sum())
    assert dict(summed.rows()) == {"Å": 6, "b": 6, "c": 6, None: 12}
    assert sorted(release.tables) == ["table", "totals_state"]
    release.save(tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == [
        "release.json", "table", "totals_state.csv", "totals_state.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize("rows", [1, 5, 7])
def test_noise_beside_totals_is_drawn_at_once_and_each_part_has_its_own_half_widths(rows: int, tmp_path: Path) -> None:
    with opened(neighbours=dp.ReplaceOne(rows=30), invariants=dp.Totals("state", only=["Å"])) as session:
        session.publish_totals()
        asked_for = session.table.group_by("state", "county").agg(dp.count(), dp.mean("wage", nulls="skip"), dp.share())
        quoted = session.quote(asked_for, spend="0.1")
        cubes = [list(run_scans(session._engine, asked_for.layout)) for _ in range(2)]
    told = {"report_delta": Fraction(1, 10**9), "content": CONTENT}
    small = publish(quoted, cubes[0], constant_bits, **told).table
    draft = made(tmp_path / "table")
    large = Release(publish(quoted, cubes[1], constant_bits, **told, draft=draft, rows=rows).payload, tmp_path)
    assert large.table.select(pl.selectors.starts_with("count")).equals(small.select(pl.selectors.starts_with("count")))
    assert small.select((pl.col("count_high") - pl.col("count")).n_unique()).item() > 1


def test_the_bound_is_a_function_of_the_plan(tmp_path: Path) -> None:
    """A table with the cells of the bound stands in its document; with one more it stands in files."""
    assert limits.MOST_WHOLE_CELLS == 500 * 500
    for size, parts in ((499, 0), (500, 1)):
        schema = dp.Schema(g=dp.Category(range(size)), h=dp.Category(range(499)))
        with session_over(pl.DataFrame({"g": [1], "h": [2]}), schema) as session:
            request = session.table.group_by("g", "h").agg(dp.count())
            release = session.release(request, name="r", to=tmp_path / "out" if parts else None)
            assert len(release.parts) == parts
            assert release.table.height == (size + 1) * 500
    assert limits.MOST_WHOLE_CELLS < PART_ROWS


def file_in(folder: Path) -> Path:
    (folder / "file").write_text("")
    return folder / "file"


def holding(folder: Path, name: str, content: bytes = b"") -> Path:
    (folder / "taken").mkdir()
    (folder / "taken" / name).write_bytes(content)
    return folder / "taken"


OTHER = make_release({"name": "other", "dataset": "d", "guarantee": {}, "columns": []}).payload


@pytest.mark.usefixtures("low")
@pytest.mark.parametrize(
    ("to", "reason"),
    [
        (lambda _: None, r"release 'r': has 12 rows, more than 10.*to=folder"),
        (lambda _: 7, r"to=7: must be the path"),
        (lambda _: "a\0b", "must be the path"),
        (file_in, "cannot be written"),
        (lambda folder: holding(folder, "release.json", OTHER), "holds another release"),
        (lambda folder: holding(folder, "table"), "holds another release"),
    ],
)
def test_a_folder_that_does_not_do_is_refused_before_anything_is_spent(
    to: Callable[[Path], Any], reason: str, tmp_path: Path
) -> None:
    with opened() as session:
        with pytest.raises(dp.ArgumentError, match=reason):
            session.release(asked(session), spend="0.1", name="r", to=to(tmp_path))
        assert session.spent == dp.ZCDP(0)
        with pytest.raises(dp.BudgetExceeded):
            session.release(asked(session), spend="11", name="r", to=tmp_path / "out")
        assert not list((tmp_path / "out").iterdir()), "a refused release leaves no draft"
        assert session.release(asked(session), spend="0.1", name="r", to=tmp_path / "out").parts


@pytest.mark.usefixtures("low")
def test_other_things_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as session:
        table = session.table.group_by("state", "county")
        with pytest.raises(dp.PlanError, match=r"statistic 'median_wage'.*has 12 groups; a release of more than 10"):
            table.agg(dp.median("wage", nulls="skip"))
        with pytest.raises(
            dp.PlanError,
            match="count, sum, mean, share, variance, std, covariance, correlation, "
            "weighted_sum, weighted_mean, weighted_share and weighted_ratio only",
        ):
            table.agg(dp.histogram("wage", [0, 20]))
        with pytest.raises(dp.PlanError, match=r"interval beyond 2\*\*53"):
            session.release(table.agg(dp.count()), spend="1e-32", name="r", to=tmp_path)
        with pytest.raises(dp.ArgumentError, match=r"to='out': release 's' has 1 rows, which its document holds"):
            session.release(session.table.agg(dp.count()), spend="0.1", name="s", to="out")
        with pytest.raises(dp.ArgumentError, match="two releases of one command have the same folder"):
            session.release_all([Order(asked(session), "0.1", name, to=tmp_path) for name in "ab"])
        monkeypatch.setattr(large_files.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 500))  # type: ignore[attr-defined]
        with pytest.raises(dp.ArgumentError, match="has room for 0 MB"):
            session.release(asked(session), spend="0.1", name="r", to=tmp_path)
        assert session.spent == dp.ZCDP(0)


@pytest.mark.usefixtures("low")
def test_views_of_a_large_release_work_or_say_what_to_do(tmp_path: Path) -> None:
    from discreet.pages.report import render

    with opened() as session:
        release = session.release(asked(session), spend="0.1", name="r", to=tmp_path / "out")
    bare = Release(release.payload)
    assert "12" in release._repr_html_()
    assert "Å" in release._repr_html_()
    assert "12" in bare._repr_html_()
    assert repr(bare) == repr(release)
    assert "Å" in render(release)
    for call, reason in (
        (lambda: bare.table, r"its table is in files; read it with Release.load"),
        (lambda: render(bare), r"its table is in files"),
        (lambda: bare.save(tmp_path / "other"), r"its table is in files"),
        (release.plot, "too many groups for bars"),
        (release.to_pandas, "too large"),
        (lambda: dp.consistent(release), "too many groups"),
    ):
        with pytest.raises(dp.ArgumentError, match=reason):
            call()
    assert release.save(tmp_path / "copy") == tmp_path / "copy"
    assert Release.load(tmp_path / "copy").table.equals(release.table)
    assert release.save(tmp_path / "copy") == tmp_path / "copy", "once more changes nothing"
    shutil.rmtree(tmp_path / "out" / "table")
    with pytest.raises(dp.ArgumentError, match="cannot be read as they were written"):
        _ = release.table
    with pytest.raises(dp.ArgumentError):
        release.save(tmp_path / "third")
    assert not list((tmp_path / "third").glob("*table*"))


def test_the_page_of_a_table_that_is_not_shown_whole_says_how_many_rows_it_has(tmp_path: Path) -> None:
    from discreet.pages.report import render, view

    quoted = quote(request(dp.AddRemove(), *GROUPS[0]), dp.ZCDP("0.5"))
    told = {"report_delta": Fraction(1, 10**9), "content": CONTENT}
    made(tmp_path / "table")
    large = publish(quoted, cube_of(quoted.plan), constant_bits, **told, draft=tmp_path / "table", rows=30)
    release = Release(large.payload, tmp_path)
    assert release.shown(50)["columns"][0]["values"] == release.table["state"].to_list()[:50]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "MOST_ROWS", 50)
        page = render(release)
    assert f"{144 - 50} more groups are in the files next to this page" in page
    assert page.count("more groups") == len(STATISTICS)


# Digests ----------------------------------------------------------------------------------------------------------------


def written(folder: Path) -> Release:
    quoted = quote(request(dp.AddRemove(), *GROUPS[0]), dp.ZCDP("0.5"))
    told = {"report_delta": Fraction(1, 10**9), "content": CONTENT}
    made(folder / "table")
    large = publish(quoted, cube_of(quoted.plan), constant_bits, **told, draft=folder / "table", rows=40)
    (folder / "release.json").write_bytes(large.payload)
    return Release(large.payload, folder)


def swapped(one: Path, other: Path) -> None:
    one.rename(one.with_suffix(".x"))
    other.rename(one)
    one.with_suffix(".x").rename(other)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "cut": lambda table: (table / "part-00003.parquet").write_bytes((table / "part-00003.parquet").read_bytes()[:-1]),
    "longer": lambda table: (table / "part-00000.parquet").write_bytes((table / "part-00000.parquet").read_bytes() + b"x"),
    "missing": lambda table: (table / "part-00001.parquet").unlink(),
    "reordered": lambda table: swapped(table / "part-00000.parquet", table / "part-00001.parquet"),
    "doubled": lambda table: shutil.copy(table / "part-00000.parquet", table / "part-00004.parquet"),
    "replaced": lambda table: shutil.copy(table / "part-00000.parquet", table / "part-00001.parquet"),
    "gone": shutil.rmtree,
    "a file": lambda table: (shutil.rmtree(table), table.write_text("")),
    "rewritten": lambda table: pl.read_parquet(table / "part-00000.parquet").write_parquet(
        table / "part-00000.parquet", compression="snappy"
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_is_changed_is_noticed(damage: str, tmp_path: Path) -> None:
    release = written(tmp_path)
    assert Release.load(tmp_path) == release
    DAMAGES[damage](tmp_path / "table")
    assert problem_of(release.parts, tmp_path / "table")
    with pytest.raises(dp.ArgumentError, match=r"load\('.*'\): table: .*; restore the folder from a copy"):
        Release.load(tmp_path)


def test_every_flipped_byte_of_a_part_is_noticed(tmp_path: Path) -> None:
    release = written(tmp_path)
    path = tmp_path / "table" / "part-00002.parquet"
    content = path.read_bytes()
    for place in range(0, len(content), 41):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert problem_of(release.parts, tmp_path / "table") == "part-00002.parquet is not as it was written"
    path.write_bytes(content)
    assert not problem_of(release.parts, tmp_path / "table")


def test_a_document_that_describes_other_files_is_no_release(tmp_path: Path) -> None:
    release = written(tmp_path)
    parts = release.parts
    table = table_json(parts)
    assert table_of(table) == parts
    first = table["parts"][0]
    for wrong in (
        {**table, "rows": 7},
        {**table, "format": "csv"},
        {**table, "parts": []},
        {**table, "parts": table["parts"][::-1]},
        {**table, "parts": [{**first, "file": "../../secret"}]},
        {**table, "parts": [{**first, "first": True}]},
        {**table, "parts": [{**first, "more": 1}]},
        {**table, "parts": [{**first, "rows": 0}]},
    ):
        with pytest.raises((KeyError, TypeError, ValueError)):
            table_of(wrong)
    assert TableFile(**first) == parts[0]


def test_any_part_can_be_read_and_checked_alone(tmp_path: Path) -> None:
    release = written(tmp_path)
    whole = release.table
    for part in release.parts:
        rows = pl.read_parquet(tmp_path / part.file)
        assert rows.equals(whole[part.first : part.first + part.rows])
    assert whole.height == prod([4, 3, 3, 4])


def test_a_quote_that_is_small_is_never_checked_for_its_size() -> None:
    quoted = quote(request(dp.AddRemove(), "old"), dp.ZCDP("1e-30"))
    assert isinstance(check_large(quoted), Quote)
