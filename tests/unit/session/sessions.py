"""A session over a small table."""

from __future__ import annotations

import polars as pl

import discreet as dp

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), v=dp.Number(0, 100))


FRAME = pl.DataFrame({"g": ["x", "y", None, "z"] * 25, "v": [*range(99), None]})


def session(source=FRAME, *, budget=None, neighbours=None, ledger=":memory:", schema=SCHEMA, dataset="d", **more):
    return dp.Session(
        source,
        schema,
        dataset=dataset,
        ledger=ledger,
        budget=budget or dp.ZCDP(1),
        neighbours=neighbours or dp.AddRemove(),
        **more,
    )


def means(one):
    return one.table.impute({"v": dp.Uniform()}).group_by("g").agg(dp.count(), dp.mean("v"), dp.sum("v"))
