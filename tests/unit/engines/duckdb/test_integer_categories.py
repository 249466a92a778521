"""Categories of integers that lie close together are counted by themselves; others are looked up. Both mean the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import discreet as dp
from discreet.cube.value_paths import CategoryPath
from discreet.engines import open_source
from discreet.engines.base import CubeRequest, cubes_of
from discreet.engines.duckdb import driver, parquet
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.sql import aggregate_sql

WIDTHS = {
    f"{'U' * (least == 0)}Int{bits}": (least, least + 2**bits - 1)
    for bits in (8, 16, 32, 64)
    for least in (0, -(2 ** (bits - 1)))
}
LISTS: dict[str, tuple[list[int], bool]] = {
    "one after the other": (list(range(51)), True),
    "of both signs": (list(range(-20, 21)), True),
    "in no order, with gaps": ([7, -3, 12, 1, 5, 4, -1, 9], True),
    "a single one": ([3], True),
    "far apart": ([0, 1, 2, 120], False),
    "at the end of a byte": ([126, 127, 125], True),
    "where nothing is beyond": ([2**63 - 1, 2**63 - 2], False),
    "below which nothing is": ([-(2**63), 1 - 2**63], False),
}


def rows_for(categories: Sequence[int], width: str) -> list[int | None]:
    """The categories, their neighbours, the ends of the type and null, each a different number of times."""
    least, most = WIDTHS[width]
    near = [value + by for value in categories for by in (-2, -1, 0, 1, 2)]
    values = sorted({value for value in (least, least + 1, 0, most - 1, most, *near) if least <= value <= most})
    return [value for place, value in enumerate([*values, None]) for _ in range(place % 5 + 1)]


def scan_of(categories: Sequence[int]) -> tuple[dp.Schema, CubeRequest]:
    schema = dp.Schema(x=dp.Category(list(categories)), y=dp.Category([True, False]))
    scan = dp.Table(schema, dp.AddRemove()).group_by("x", "y").agg(dp.count()).layout.scans[0]
    return schema, (scan.axes, scan.moments)


def counted(source: object, categories: Sequence[int]) -> tuple[Counter[object], str]:
    """How often each category is there, or null; and the statement."""
    schema, request = scan_of(categories)
    engine = open_source(source, schema)
    (cube,) = cubes_of(engine, [request])
    found: Counter[object] = Counter()
    for (x, _), n in zip(cube.keys.tolist(), cube.rows.tolist(), strict=True):
        found[categories[x] if x >= 0 else None] += n
    return found, aggregate_sql(DUCKDB, "rows", engine.header, *request)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("width", WIDTHS)
def test_counts_are_those_of_the_categories(tmp_path: Path, width: str, name: str) -> None:
    categories, spanned = LISTS[name]
    rows = rows_for(categories, width)
    frame = pl.DataFrame({"x": pl.Series(rows, dtype=getattr(pl, width)), "y": [True] * len(rows)})
    frame.write_parquet(tmp_path / "a.parquet")
    expected = Counter(row if row in categories else None for row in rows)
    for source in (frame, str(tmp_path / "a.parquet")):
        found, statement = counted(source, categories)
        assert found == expected
        assert ("JOIN" not in statement) is spanned


@pytest.mark.parametrize(
    "values", [["3", " 4.0 ", "x", None, "99999999999999999999", "-1"], [3.0, 4.5, None, float("nan"), 1e300, 4.0]]
)
def test_texts_and_floats_that_are_integers_are_categories(values: list[object]) -> None:
    found, statement = counted(pl.DataFrame({"x": values, "y": [False] * 6}, strict=False), [3, 4, 5])
    assert found == Counter({3: 1, 4: 1, None: 4})
    assert "JOIN" not in statement


def test_categories_that_are_clamped_away_and_nulls_have_their_targets() -> None:
    """Categories that a clamp leaves out, other numbers and nulls have the target that the path gives to null."""
    schema = dp.Schema(x=dp.Category([1, 2, 3, 5]))
    table = dp.Table(schema, dp.AddRemove()).clamp({"x": [2, 5]}).impute({"x": dp.Weights({2: 1, 5: 1})})
    scan = table.group_by("x").agg(dp.count()).layout.scans[0]
    frame = pl.DataFrame({"x": [1, 2, 2, 3, 4, 5, 5, 5, None, 10**15]})
    (cube,) = cubes_of(open_source(frame, schema), [(scan.axes, scan.moments)])
    path = scan.axes[0].path
    assert isinstance(path, CategoryPath)
    assert dict(zip(cube.keys[:, 0].tolist(), cube.rows.tolist(), strict=True)) == {path.null_target: 5, 1: 2, 3: 3}


def test_an_end_that_is_taken_for_a_category_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond the categories is moved next to them, and not onto the last of them."""

    def without_room(integer: str, path: CategoryPath, i: int) -> tuple[str, str] | None:
        spanned = DUCKDB.spanned(integer, path, i)
        return spanned and (spanned[0].replace(", 6)", ", 5)"), spanned[1])

    for module in (driver, parquet):
        monkeypatch.setattr(module, "DUCKDB" if module is driver else "PARQUET", replace(DUCKDB, spanned=without_room))
    found, _ = counted(pl.DataFrame({"x": [3, 4, 5, 6, 7], "y": [True] * 5}), [3, 4, 5])
    assert found != Counter({3: 1, 4: 1, 5: 1, None: 2})
