"""A public look-up on a table of persons: bounds act on its labels, as if they were written into each row (K1, U1)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.engines import open_source
from discreet.engines.base import totals_of_persons
from discreet.errors import SchemaError
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote

REGIONS = {"a": "north", "b": "north", "c": "south"}
SHOP = dp.Category([*REGIONS, "d"])
RELATION = dp.AddRemove(person="visitor")


def rows() -> pl.DataFrame:
    chosen = random.Random(4)  # noqa: S311
    cells = [(chosen.choice([None, *range(9)]), chosen.choice(["a", "b", "c", "d", "zz", None])) for _ in range(90)]
    return pl.DataFrame(cells, schema=["visitor", "shop"], orient="row")


def requests(schema: dp.Schema) -> list[Plan]:
    table = dp.Table(schema, RELATION)
    return [
        table.bound(groups=1, rows=3).group_by("region").agg(dp.persons(), dp.count()),
        table.where({"region": ["north"]}).bound(rows=2).agg(dp.persons(), dp.count()),
        table.clamp({"region": ["south"]}).bound(groups=1).group_by("region").agg(dp.persons()),
        table.per_person(home=dp.only("region"), regions=dp.distinct("region", most=2)).group_by("home").agg(dp.count()),
    ]


def totals(source: Any, plan: Plan) -> list[Any]:
    scan = plan.layout.persons or plan.layout.each
    assert scan is not None
    cube = totals_of_persons(open_source(source, plan.schema if plan.persons is None else plan.persons.schema), scan)
    return [cube.keys.tolist(), cube.rows.tolist(), cube.sums.tolist()]


def test_a_look_up_from_a_file_is_a_column_of_each_row(tmp_path: Path) -> None:
    pl.DataFrame({"shop": list(REGIONS), "region": list(REGIONS.values())}).write_csv(tmp_path / "shops.csv")
    looked_up = dp.Schema(
        visitor=dp.Identifier(), shop=SHOP, region=dp.DerivedColumn("region", of="shop", by=tmp_path / "shops.csv")
    )
    written = dp.Schema(visitor=dp.Identifier(), region=dp.Category(["north", "south"]))
    beside = rows().with_columns(
        pl.col("shop").replace_strict(REGIONS, default=None, return_dtype=pl.String).alias("region")
    )
    for own, other in zip(requests(looked_up), requests(written), strict=True):
        assert totals(rows(), own) == totals(beside, other)
        one, twin = quote(own, dp.ZCDP(1)), quote(other, dp.ZCDP(1))
        assert [found.sensitivity for found in one.measured] == [found.sensitivity for found in twin.measured]


def test_a_look_up_with_two_answers_is_refused(tmp_path: Path) -> None:
    """A join that gave a row twice would give a person more than the bound."""
    (tmp_path / "shops.csv").write_text("shop,region\na,north\na,south\n")
    with pytest.raises(SchemaError, match="'a' of 'shop' is listed twice"):
        dp.Schema(
            visitor=dp.Identifier(), shop=SHOP, region=dp.DerivedColumn("region", of="shop", by=tmp_path / "shops.csv")
        )
