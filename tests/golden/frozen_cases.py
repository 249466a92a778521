"""The requests whose answers are frozen: some twenty plans in four measures, under both relations, beside exact totals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

import discreet as dp

ROWS = 60

SCHEMA = dp.Schema(
    region=dp.Category(["north", "søuth", "east"]),
    sex=dp.Category(["F", "M"]),
    member=dp.Category([False, True]),
    code=dp.Category([3, 1, 2]),
    age=dp.Number(0, 100),
    wage=dp.Number(-50, 200, step="0.5"),
    since=dp.Date("2020-01-01", "2020-03-31"),
)


def rows_of_people() -> pl.DataFrame:
    """Sixty rows with nulls, unknown categories, and numbers and days beyond their bounds."""
    day = dt.date(2019, 12, 28)
    return pl.DataFrame(
        {
            "region": [["north", "søuth", "east", None, "moon"][i * 7 % 5] for i in range(ROWS)],
            "sex": [["F", "M", "M", "F", None][i * 3 % 5] for i in range(ROWS)],
            "member": [[True, False, None][i % 3] for i in range(ROWS)],
            "code": [[1, 2, 3, 9][i * 5 % 4] for i in range(ROWS)],
            "age": [(i * 37) % 120 if i % 11 else None for i in range(ROWS)],
            "wage": [((i * 53) % 301) * 0.75 - 20 if i % 7 else None for i in range(ROWS)],
            "since": [day + dt.timedelta(days=(i * 29) % 101) if i % 13 else None for i in range(ROWS)],
        }
    )


def rows_without_nulls() -> pl.DataFrame:
    """The same people, of whom everything that totals are published of is known."""
    known = {"region": ["north", "søuth", "east"], "sex": ["F", "M"], "member": [True, False]}
    columns = {name: [values[i * 7 % len(values)] for i in range(ROWS)] for name, values in known.items()}
    return rows_of_people().with_columns(**{name: pl.Series(values) for name, values in columns.items()})


Asked = Callable[[dp.Table], dp.Plan]
_IMPUTED = {"age": dp.Normal(40, 20), "wage": dp.Uniform(0, 100), "sex": dp.Weights({"F": 2, "M": 1})}


def _steps(table: dp.Table) -> dp.Table:
    return table.clamp({"wage": (0, 150), "region": ["north", "east"]}).where({"age": (16, 90)})


def _wages(table: dp.Table) -> dp.Plan:
    asked = [dp.count("wage"), dp.sum("wage", nulls="skip"), dp.mean("wage", nulls="skip", weight=3), dp.share()]
    return _steps(table).group_by("region").agg(*asked)


def _moments(table: dp.Table) -> dp.Plan:
    asked = [dp.mean("age").alias("middle"), dp.variance("age"), dp.std("wage"), dp.sum("age", weight="1/2")]
    return table.impute(_IMPUTED).group_by("sex").agg(*asked)


def _quantiles(table: dp.Table) -> dp.Plan:
    asked = [dp.median("age", nulls="skip"), dp.quantiles("wage", ["0.25", "0.75"], nulls="skip", interval="1/4")]
    return table.clamp({"wage": (0, 31), "age": (0, 63)}).group_by("member").agg(*asked)


def _tree(table: dp.Table) -> dp.Plan:
    return table.clamp({"age": (10, 41)}).agg(dp.quantiles("age", ["0.1", "0.5", "0.9"], nulls="skip", interval=1))


def _frames(table: dp.Table) -> dp.Plan:
    asked = [dp.histogram("age", [0, 18, 65, 100]), dp.tables(["region", "sex"], ["region", dp.bins("age", [0, 50, 100])])]
    return table.agg(dp.count(), *asked)


def _dates(table: dp.Table) -> dp.Plan:
    edges = [dt.date(2020, 1, 1), dt.date(2020, 2, 1), dt.date(2020, 3, 1), dt.date(2020, 3, 31)]
    return table.group_by("code", dp.bins("since", edges)).agg(dp.count(), dp.count("member")).simultaneous()


def _resized(table: dp.Table) -> dp.Plan:
    prepared = table.clamp({"wage": (0, 150)}).impute(_IMPUTED).resize(rows=40, proportion="1/2")
    return prepared.group_by("sex").agg(dp.count(), dp.mean("wage"), dp.variance("age"))


def _copied(table: dp.Table) -> dp.Plan:
    return table.impute(_IMPUTED).resize(rows=100, proportion=2).group_by("sex").agg(dp.share(), dp.sum("age"))


def _cells(table: dp.Table) -> dp.Plan:
    return table.group_by("region", "sex").agg(dp.count())


def _beside(table: dp.Table) -> dp.Plan:
    return table.group_by("region").agg(
        dp.count(), dp.share(), dp.mean("wage", nulls="skip"), dp.median("age", nulls="skip")
    )


REQUESTS: Mapping[str, Asked] = {
    "wages": _wages, "moments": _moments, "quantiles": _quantiles, "tree": _tree, "frames": _frames, "dates": _dates,
    "resized": _resized, "copied": _copied, "cells": _cells,
}  # fmt: skip
RELATIONS = {
    "add": dp.AddRemove(),
    "replace": dp.ReplaceOne(rows=ROWS),
    "twice": dp.ReplaceOne(rows=ROWS, rows_per_person=2),
}
MEASURES: Mapping[str, tuple[Any, Any]] = {
    "pure": (dp.PureDP(3), "1.5"),
    "approx": (dp.ApproxDP(3, "1e-6"), ("1.5", "1e-7")),
    "zcdp": (dp.ZCDP(1), "1/3"),
    "gdp": (dp.GDP(2), 1),
}
TOTALS: Mapping[str, tuple[dp.Invariants, Asked]] = {
    "totals": (dp.Totals("region"), _cells),
    "margins": (dp.Margins(["region"], ["member"]), lambda table: table.group_by("region", "member").agg(dp.count())),
    "some": (dp.Totals("region", only=["north"]) + dp.Occupied("sex"), _cells),
    "rules": (dp.Totals("sex", "member") + dp.Impossible("region", "sex", cells=[("east", "F")]), _cells),
    "linear": (dp.LinearInvariant("region", {"weighted": {"north": 2, "søuth": 1}}), _cells),
    "means": (dp.Totals("region"), _beside),
    "fill": (dp.Totals("region"), _resized),
}
PAGES = [f"{name}-replace-zcdp" for name in REQUESTS] + [f"{name}-exact-pure" for name in TOTALS]
"""The cases whose report is kept."""


@dataclass(frozen=True)
class Case:
    """One request in one measure under one relation."""

    asked: Asked
    relation: dp.AddRemove | dp.ReplaceOne
    budget: Any
    spend: Any
    invariants: dp.Invariants | None = None

    @property
    def request(self) -> dp.Plan:
        return self.asked(dp.Table(SCHEMA, self.relation))

    @property
    def rows(self) -> pl.DataFrame:
        found = rows_of_people() if self.invariants is None else rows_without_nulls()
        if "Impossible" in str(self.invariants):
            found = found.with_columns(sex=pl.when(pl.col("region") == "east").then(pl.lit("M")).otherwise(pl.col("sex")))
        return found


def cases() -> dict[str, Case]:
    """All cases by name; not every request under every relation, for the time that takes."""
    found: dict[str, Case] = {}
    some = {
        "add": [name for name in REQUESTS if name not in {"tree", "cells"}],
        "replace": [*REQUESTS],
        "twice": ["resized"],
    }
    for measure, (budget, spend) in MEASURES.items():
        for relation, neighbours in RELATIONS.items():
            for name in some[relation]:
                found[f"{name}-{relation}-{measure}"] = Case(REQUESTS[name], neighbours, budget, spend)
        for name, (exactly, asked) in TOTALS.items():
            found[f"{name}-exact-{measure}"] = Case(asked, RELATIONS["replace"], budget, spend, exactly)
    return found
