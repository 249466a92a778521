"""Decimals of every width and scale: the two ways to take the point out give the codes of the reference, ties and all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal, localcontext
from random import Random

import pytest

from discreet.domain.columns import Category, Number
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines.base import ColumnType, Engine
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.reference import number_code
from discreet.engines.sql import aggregate_sql, check_grids
from discreet.errors import SourceError
from discreet.plan.table import Table
from discreet.statistics import sum_of

Openers = dict[str, Callable[..., Engine]]
TYPES = [
    (1, 0),
    (1, 1),
    (4, 2),
    (9, 9),
    (15, 2),
    (18, 4),
    (18, 18),
    (19, 0),
    (28, 10),
    (38, 0),
    (38, 10),
    (38, 24),
    (38, 37),
]
BIGINT = ColumnType("integer", "BIGINT")
GRIDS = [
    Number(0, 4095),
    Number("-0.5", "0.5", step="0.25"),
    Number(-7, 8, step="0.3"),
    Number(-(2**47), 2**47),
    Number(3, 3),
]
GRIDS += [Number(2**46, 2**48, step=2**20), Number(10**9, 10**10, step=10**8)]


def values_of(width: int, scale: int, grid: Number) -> Iterator[Decimal | None]:
    """Values of this type around all that has a meaning: grid points, ties between them, bounds, the ends of the type."""
    random, last = Random(f"{width} {scale} {grid}"), 10**width - 1  # noqa: S311 (which decimals are tried)
    yield None
    near = [0, 1, grid.size // 2, grid.size - 1]
    codes = near + [random.randrange(grid.size) for _ in range(20)]
    for code in codes:
        for half in (0, 1, 2):
            exact = (grid.value(code) + grid.step * half / 2) * 10**scale
            for unscaled in (int(exact) - 1, int(exact), int(exact) + 1):
                yield shown(max(-last, min(last, unscaled)), scale)
    for unscaled in [0, 1, last, *(random.randrange(last + 1) for _ in range(20))]:
        yield shown(unscaled, scale)
        yield shown(-unscaled, scale)


def shown(unscaled: int, scale: int) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return Decimal(unscaled).scaleb(-scale)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("width", "scale"), TYPES)
def test_every_decimal_has_the_code_of_the_reference(openers: Openers, width: int, scale: int) -> None:
    header = {"row": BIGINT, "x": ColumnType("decimal", f"DECIMAL({width},{scale})", width, scale)}
    values = [value for grid in GRIDS for value in values_of(width, scale, grid)]
    rows = Category(range(len(values)))
    with closing(openers["relation" if scale % 2 else "parquet"](header, list(enumerate(values)))) as engine:
        for grid in GRIDS:
            schema = Schema(row=rows, x=grid)
            try:
                check_grids(header, schema)
            except SourceError:
                continue  # refused when the source is opened
            asked = Table(schema, AddRemove()).group_by("row").agg(sum_of("x", nulls="skip")).layout.scans[0]
            cube = engine.aggregate(asked.axes, asked.moments)
            found = [total if known else None for known, total in zip(cube.nonnull[:, 0], cube.sums[:, 0], strict=True)]
            assert found == [number_code(grid, value) for value in values], grid


def test_both_ways_to_take_the_point_out_are_tried() -> None:
    """Doubles where integers stay below 2**48, text elsewhere."""
    kinds = [ColumnType("decimal", "", width, scale) for width, scale in TYPES]
    grids = [(kind, grid) for kind in kinds for grid in GRIDS]
    ways = ["VARCHAR" in code_of(grid, kind) for kind, grid in grids if 10**kind.scale * max(grid.upper, 1) < 10**30]
    assert 20 < sum(ways) < len(ways) - 20


def code_of(grid: Number, kind: ColumnType) -> str:
    asked = Table(Schema(x=grid), AddRemove()).agg(sum_of("x", nulls="skip")).layout.scans[0]
    return aggregate_sql(DUCKDB, "source", {"x": kind}, asked.axes, asked.moments)
