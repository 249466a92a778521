"""Requests on derived columns for `every_query`, with the meaning of these columns written down a second time."""

from __future__ import annotations

from collections.abc import Iterator

import discreet as dp
from discreet.cube.queries import NonNullCount, NullCount, RowCount, TableCounts, WeightedSum
from discreet.domain.groups import group_labels
from discreet.plan.plan import Plan

DERIVED = {"side": ("area", {"n": "up", "s": "down", "w": None}), "half": ("area", {"n": "one", "s": "one"})}
"""The literal meaning of derived columns: the column of the source that they come from, and their value for each of its."""


def plans_of_derived(neighbours: dp.AddRemove | dp.ReplaceOne) -> Iterator[Plan]:
    """A column, one that is derived from it and one derived from that: grouped, crossed, in conditions, changed."""
    made = dp.Schema(
        area=dp.Category(["n", "s", "w"]),
        side=dp.DerivedColumn("side", of="area", by=DERIVED["side"][1]),
        half=dp.DerivedColumn("half", of="side", by={"up": "one", "down": "one"}),
        v=dp.Number(0, 2),
    )
    table = dp.Table(made, neighbours)
    half = table.impute({"half": dp.Weights({"one": 1})})
    for one in (table, table.where({"side": ["up"]}), table.where({"half": ["one"]})):
        for by in ([], ["side"], ["half"], ["area", "side"], ["half", "side"], ["half", "area", dp.bins("v", [0, 1])]):
            yield one.group_by(*by).agg(dp.count(), dp.sum("v", nulls="skip"), dp.count("side"))
    for one in (half, half.clamp({"half": ["one"]}), table.clamp({"half": ["one"]})):
        yield one.group_by("half").agg(dp.count())
    yield table.agg(dp.tables(["side"], ["half", dp.bins("v", [0, 2])], ["area"]))


def queries_of_derived(plan: Plan) -> Iterator[object]:
    facts = plan.facts["v"]
    yield from (RowCount(), NonNullCount("side"), NullCount("half"), NonNullCount("v"))
    yield WeightedSum("v", facts.low, 1, facts.high - facts.low)
    for grouping in (grouping for one in plan.statistics for grouping in one.kind.shape.groupings(one)):
        yield TableCounts(grouping, tuple(len(group_labels(group, plan.facts)) for group in grouping))
