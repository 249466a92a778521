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
from discreet.plan import persons
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


@pytest.mark.parametrize("dropped", ["drop", {"region": "drop"}, {"region": "drop", "shop": "show"}])
def test_a_value_whose_look_up_is_null_takes_no_weight_where_that_is_not_printed(dropped: Any) -> None:
    """The shop "d" is in no region: beside the regions, whose null is dropped, it is not printed, and is no group."""
    schema = dp.Schema(visitor=dp.Identifier(), shop=SHOP, region=dp.DerivedColumn("region", of="shop", by=REGIONS))
    table = dp.Table(schema, RELATION).bound(groups=1)
    source = pl.DataFrame({"visitor": [1, 1, 1, 2], "shop": ["a", "d", None, "d"]})
    for by in (["shop", "region"], ["region", "shop"]):
        _, counted, sums = totals(source, table.group_by(*by, nulls=dropped).agg(dp.persons()))
        assert counted == [1]
        assert sums[0][:2] == [2**10, 2**20]  # the whole weight of the only visitor of a shop that is printed
    _, counted, _ = totals(source, table.group_by("shop", "region", nulls={"shop": "drop"}).agg(dp.persons()))
    assert counted == [1, 2]  # the shop "d" is printed, without a region


def test_groups_that_are_not_printed_and_take_weight_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persons, "hidden_labels", lambda request, group: frozenset())
    with pytest.raises(AssertionError):
        test_a_value_whose_look_up_is_null_takes_no_weight_where_that_is_not_printed("drop")


def test_a_look_up_with_two_answers_is_refused(tmp_path: Path) -> None:
    """A join that gave a row twice would give a person more than the bound."""
    (tmp_path / "shops.csv").write_text("shop,region\na,north\na,south\n")
    with pytest.raises(SchemaError, match="'a' of 'shop' is listed twice"):
        dp.Schema(
            visitor=dp.Identifier(), shop=SHOP, region=dp.DerivedColumn("region", of="shop", by=tmp_path / "shops.csv")
        )
