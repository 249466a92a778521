"""Made-up households and persons, and releases of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from tests.builders import session_over

import discreet as dp

AREAS = dp.Hierarchy({"state": [*"AABB"], "county": ["a1", "a2", "b1", "b2"]}, levels=["state", "county"])
TENURE = dp.Category(["own", "rent"])
HOMES = dp.Schema(area=AREAS, tenure=TENURE, size=dp.Category([1, 2, 3, 4, 5]))
PEOPLE = dp.Schema(area=AREAS, tenure=TENURE, sex=dp.Category(["f", "m"]), age=dp.Category(range(4)))
OF_HOMES = (["area", "size"], ["tenure", "size"])
OF_PEOPLE = (["area", "sex"], ["tenure", "age"], ["sex", "age"])


@cache
def made_up(many=150):
    drawn = np.random.default_rng(5)
    size = drawn.choice([1, 2, 3, 4, 5], many, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    homes = pl.DataFrame(
        {
            "area": drawn.choice(["a1", "a1", "a2", "b1", "b2"], many),
            "tenure": drawn.choice(["own", "rent"], many),
            "size": size,
        }
    )
    people = homes[np.repeat(np.arange(many), size)]
    own = {"sex": drawn.choice(["f", "m"], len(people)), "age": drawn.integers(4, size=len(people))}
    return homes, people.select("area", "tenure", pl.col("size").alias("household_size")).with_columns(**own)


def released(frame, schema, tables, invariants=None, *, public=True, spend="1"):
    relation = dp.ReplaceOne(rows=len(frame)) if public else dp.AddRemove()
    session = session_over(frame, schema, neighbours=relation, budget=dp.ZCDP(spend), invariants=invariants)
    return session.release(session.table.agg(dp.tables(*tables)), spend=spend, name="all")


def homes_of(invariants=None, **options):
    return released(made_up()[0], HOMES, OF_HOMES, invariants, **options)


def people_of(invariants=None, **options):
    return released(made_up()[1], PEOPLE, OF_PEOPLE, invariants, **options)
