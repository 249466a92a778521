"""OpenDP: the Polars interface of `dp.Context`, which divides a budget between the statistics of a query.

There is no variance of a number of rows that is not public: it is put together from the sums of midpoint-centred numbers and
of their squares, and the number of rows. With a public number of rows it is `then_variance`. Margins are queries
with equal parts of the budget.
"""

from __future__ import annotations

import warnings
from itertools import product

import opendp.prelude as dp
import polars as pl
from asked import EDGES, INCOME_STEP, QUARTILES, TOPS, Data, Release, Task, answer_all

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
MOST_ROWS = 100_000


def release_of(task: Task, data: Data) -> Release | str:
    warnings.simplefilter("ignore")
    if task.public_rows and task.kind == "variance":
        return _sized_variance(task, data)
    middle = TOPS[task.column] // 2
    centred = pl.col(task.column) - middle
    tenth = (pl.col(task.column) // 10).clip(0, len(EDGES) - 2).cast(pl.String)
    frame = pl.DataFrame(data.columns).with_columns(centred=centred, squared=centred**2, bin=tenth)
    levels = {**data.levels, "bin": tuple(str(one) for one in range(len(EDGES) - 1))}
    context = _context(task, data, frame)
    match task.kind:
        case "histogram":
            groupings: list[tuple[str, ...]] = [("bin",)]
        case "margins":
            groupings = list(data.pairs)
        case _:
            groupings = [] if task.public_rows else [(data.by,)]
    if not groupings:
        measure = context.query().select(*_asked(task)).resolve()
        return lambda: list(measure(frame.lazy()).collect().row(0))
    keys = [_keys(levels, by) for by in groupings]
    # The search for the scale of the noise is done once; every call of a measurement is a release of its own.
    measures = [
        context.query().group_by(by).agg(*_asked(task)).with_keys(key.lazy()).resolve()
        for by, key in zip(groupings, keys, strict=True)
    ]

    def release() -> list[float]:
        found = []
        for by, key, measure in zip(groupings, keys, measures, strict=True):
            table = key.join(measure(frame.lazy()).collect(), on=list(by), how="left", maintain_order="left")
            found += _values(task, table.drop(*by))
        return found

    return release


def _keys(levels: dict[str, tuple[str, ...]], by: tuple[str, ...]) -> pl.DataFrame:
    return pl.DataFrame(list(product(*(levels[name] for name in by))), schema=list(by), orient="row")


def _context(task: Task, data: Data, frame: pl.DataFrame) -> dp.Context:
    public = {"max_length": data.rows, "invariant": "lengths"} if task.public_rows else {"max_length": MOST_ROWS}
    return dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(changes=1) if task.public_rows else dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(**{task.measure: task.amount}),
        split_evenly_over=len(data.pairs) if task.kind == "margins" else 1,
        margins=[dp.polars.Margin(**public)],
    )


def _asked(task: Task) -> list[pl.Expr]:
    top = TOPS[task.column]
    column, bounds, half = pl.col(task.column), (0, top), top // 2
    grid = list(range(0, top + 1, INCOME_STEP if task.column == "income" else 1))
    quantiles = {"median": (0.5,), "quartiles": QUARTILES}.get(task.kind, ())
    return {
        "sum": [column.dp.sum(bounds)],
        "mean": [column.dp.mean(bounds)],
        "variance": [dp.len(), pl.col("centred").dp.sum((-half, half)), pl.col("squared").dp.sum((0, half**2))],
        # The mean is a quotient of the other two: nothing is paid for it.
        "together": [dp.len(), column.dp.sum(bounds)],
        "median": [column.dp.quantile(q, grid).alias(str(q)) for q in quantiles],
        "quartiles": [column.dp.quantile(q, grid).alias(str(q)) for q in quantiles],
    }.get(task.kind, [dp.len()])


def _values(task: Task, table: pl.DataFrame) -> list[float]:
    top = TOPS[task.column]
    if task.kind == "variance":
        rows, total, squares = (table.to_series(place).cast(pl.Float64) for place in range(3))
        rows = rows.clip(1)
        return (squares / rows - (total / rows) ** 2).clip(0, top**2 / 4).to_list()
    if task.kind == "together":
        rows, total = table.to_series(0), table.to_series(1)
        return [*rows, *total, *(total / rows.clip(1)).clip(0, top)]
    return [value for row in table.fill_null(0).rows() for value in row]


def _sized_variance(task: Task, data: Data) -> Release:
    top = float(TOPS[task.column])
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, top), nan=False), size=data.rows)
    space = (domain, dp.symmetric_distance())
    noise = dp.m.then_laplace if task.measure == "epsilon" else dp.m.then_gaussian
    variance = space >> dp.t.then_variance(ddof=0)
    scale = dp.binary_search_param(lambda s: variance >> noise(s), d_in=2, d_out=task.amount)
    measurement, values = variance >> noise(scale), [float(value) for value in data.columns[task.column]]
    return lambda: [measurement(values)]


if __name__ == "__main__":
    answer_all(release_of)
