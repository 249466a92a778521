"""discreet: one request for each task, through the public interface."""

from __future__ import annotations

from itertools import count as counter

import polars as pl
from asked import AGE_TOP, EDGES, INCOME_STEP, INCOME_TOP, QUARTILES, Data, Release, Task, answer_all

import discreet as dp


def release_of(task: Task, data: Data) -> Release:
    schema = dp.Schema(
        {name: dp.Category(list(levels)) for name, levels in data.levels.items()}
        | {"age": dp.Number(0, AGE_TOP), "income": dp.Number(0, INCOME_TOP, step=INCOME_STEP)}
    )
    session = dp.Session(
        pl.DataFrame(data.columns),
        schema,
        dataset=data.name,
        ledger=":memory:",
        budget=dp.PureDP(10**6) if task.measure == "epsilon" else dp.ZCDP(10**6),
        neighbours=dp.ReplaceOne(rows=data.rows) if task.public_rows else dp.AddRemove(),
    )
    # The data have no nulls: the laws below only say so, and are never drawn from.
    uniform = {name: dp.Weights(dict.fromkeys(levels, 1)) for name, levels in data.levels.items()}
    table = session.table.impute(uniform | {"age": dp.Uniform(), "income": dp.Uniform()})
    request = _request(task, data, table)
    number = counter()

    def release() -> list[float]:
        return _values(task, session.release(request, spend=str(task.amount), name=str(next(number))))

    return release


def _request(task: Task, data: Data, table: dp.Table) -> dp.Plan:
    column = task.column
    match task.kind:
        case "histogram":
            return table.agg(dp.histogram(column, EDGES))
        case "margins":
            return table.agg(dp.tables(*data.pairs))
    statistics = {
        "count": [dp.count()],
        "sum": [dp.sum(column)],
        "mean": [dp.mean(column)],
        "variance": [dp.variance(column)],
        "median": [dp.median(column)],
        "quartiles": [dp.quantiles(column, [str(q) for q in QUARTILES])],
        "together": [dp.count(), dp.sum(column), dp.mean(column)],
    }[task.kind]
    return table.agg(*statistics) if task.public_rows else table.group_by(data.by).agg(*statistics)


def _values(task: Task, release: dp.Release) -> list[float]:
    if task.kind in {"histogram", "margins"}:
        # The view: non-negative integers near the unbiased counts, which the other libraries give in the first place.
        return [value for name in release.tables if name != "table" for value in dp.consistent(release, name).to_series(-1)]
    table = release.table
    names = [name for name in table.columns if f"{name}_low" in table.columns]
    if task.kind == "together":
        return [value for name in names for value in table[name].to_list()]
    return [value for row in table.select(names).rows() for value in row]


if __name__ == "__main__":
    answer_all(release_of)
