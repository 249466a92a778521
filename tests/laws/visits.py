"""A table of visits, several of one person, and the header of a source of them."""

from __future__ import annotations

import discreet as dp
from discreet.engines.base import ColumnType

SHOPS = ("a", "b")
SCHEMA = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(SHOPS), amount=dp.Number(-2, 2))
TABLE = dp.Table(SCHEMA, dp.AddRemove(person="visitor"))
HEADER = {
    "visitor": ColumnType("integer", "BIGINT"),
    "shop": ColumnType("text", "VARCHAR"),
    "amount": ColumnType("integer", "BIGINT"),
}
