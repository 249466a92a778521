"""Random schemas, exact totals and requests that can stand beside them."""

from __future__ import annotations

from itertools import product

import discreet as dp
from discreet.invariants import Invariants


def values_of(schema, name):
    column = schema[name]
    known = column.values if isinstance(column, dp.Category) else range(int(column.lower), int(column.upper) + 1)
    return [*known, None]


def some(rng, values, most=None):
    values = list(values)
    return rng.sample(values, rng.randint(1, min(len(values), most or len(values))))


def random_schema(rng):
    return dp.Schema(
        a=dp.Category(some(rng, "xy")),
        b=dp.Category(some(rng, "pqr")),
        w=dp.Number(0, rng.randint(1, 3)),
        c=dp.Category(some(rng, "st")),
        y=dp.Number(-1, rng.randint(0, 3)),
    )


def random_invariants(rng, schema):
    joined = Invariants(())
    for number in range(rng.choice([1, 1, 2, 2, 3])):
        names = rng.sample("abwc", rng.choice([1, 1, 1, 2, 2, 3]))
        cells = some(rng, list(product(*(values_of(schema, name) for name in names)))[:-1], 4)
        kinds = [
            dp.Totals(*names),
            dp.Totals(*names),
            dp.Totals(*names, only=cells),
            dp.Occupied(*names, only=cells),
            dp.Impossible(*names, cells=cells),
            dp.Suppressed(*names, below=2),
            dp.Rounded(*names, base=2, only=cells),
            dp.LinearInvariant(names, {f"s{number}": {cell: rng.choice([1, 2, -1]) for cell in cells}}),
        ]
        joined += rng.choice(kinds)
    return joined


def random_range(rng, schema, name):
    if isinstance(schema[name], dp.Category):
        return some(rng, schema[name].values)
    low, high = sorted(rng.choices(values_of(schema, name)[:-1], k=2))
    return (low, high)


def random_plan(rng, schema, rows, known):
    """Clamps, a condition, a certain imputation, groups and bins; counts, sums and means."""
    table = dp.Table(schema, dp.ReplaceOne(rows=rows))
    names = list(schema.columns)
    for name in rng.sample(names, rng.choice([0, 0, 1])):
        table = table.clamp({name: random_range(rng, schema, name)})
    free = [name for name in "bc" if name not in known]
    for name in rng.sample(free, min(len(free), rng.choice([0, 1]))):
        table = table.impute({name: dp.Weights({table.facts[name].column.values[0]: 1})})
    for name in rng.sample(names, rng.choice([0, 0, 1])):
        table = table.where({name: random_range(rng, schema, name)})
    groups = []
    for name in rng.sample(names, rng.randint(0, 3)):
        low, high = values_of(schema, name)[0], values_of(schema, name)[-2]
        if isinstance(schema[name], dp.Category):
            groups.append(name)
        elif low < high:
            groups.append(dp.bins(name, rng.choice([[low, high], [low, low + 1], sorted({low, low + 1, high})])))
    asked = [dp.count(), dp.count(rng.choice(names)), dp.sum("y", nulls="skip"), dp.mean("w", nulls="skip")]
    grouped = table.group_by(*groups) if groups else table
    return grouped.agg(*some(rng, asked, 3))
