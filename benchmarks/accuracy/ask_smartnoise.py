"""smartnoise-sql: one SELECT for each task. Its ε is for each column that is summed, so it is divided by the privacy cost.

It has no zCDP, no public number of rows and, on a data frame, no quantiles.
"""

from __future__ import annotations

import warnings
from itertools import product

import pandas as pd
from asked import TOPS, Data, Release, Task, answer_all
from snsql import Privacy, from_df
from snsql.sql.private_reader import PrivateReader

TABLE = "S.T"
THOUSAND = 1000
"""The square of a bound in dollars is too large for its noise; in thousands of dollars it is not."""


def release_of(task: Task, data: Data) -> Release | str:
    warnings.simplefilter("ignore")
    if task.measure != "epsilon":
        return "no zCDP"
    if task.public_rows:
        return "no public number of rows"
    frame = pd.DataFrame(data.columns)
    frame["thousands"] = frame["income"] / THOUSAND
    frame["bin"] = (frame["age"] // 10).clip(0, 10).astype(str)
    select = {
        "count": ["COUNT(*) AS n"],
        "sum": [f"SUM({task.column}) AS s"],
        "mean": [f"AVG({task.column}) AS m"],
        "variance": ["VAR(thousands) AS v"],
        "together": ["COUNT(*) AS n", f"SUM({task.column}) AS s", f"AVG({task.column}) AS m"],
    }.get(task.kind, ["COUNT(*) AS n"])
    match task.kind:
        case "median" | "quartiles":
            return "no quantiles"
        case "histogram":
            groupings: list[tuple[str, ...]] = [("bin",)]
        case "margins":
            groupings = list(data.pairs)
        case _:
            groupings = [(data.by,)]
    levels = {**data.levels, "bin": tuple(str(one) for one in range(11))}
    epsilon = task.amount / len(groupings)
    parts = [_part(frame, data, select, {name: levels[name] for name in by}, epsilon) for by in groupings]
    scale = THOUSAND**2 if task.kind == "variance" else 1
    return lambda: [scale * value for part in parts for value in part()]


def _part(frame: pd.DataFrame, data: Data, select: list[str], by: dict[str, tuple[str, ...]], epsilon: float) -> Release:
    names = ", ".join(by)
    query = f"SELECT {names}, {', '.join(select)} FROM {TABLE} GROUP BY {names}"
    cost, _ = _reader(frame, data, 1.0).get_privacy_cost(query)
    reader = _reader(frame, data, epsilon / cost)
    cells = list(product(*by.values()))

    def release() -> list[float]:
        rows = {tuple(map(str, row[: len(by)])): row[len(by) :] for row in reader.execute(query)[1:]}
        nothing = [0.0] * len(select)  # a cell without rows is not in the answer
        return [rows.get(cell, nothing)[place] or 0.0 for place in range(len(select)) for cell in cells]

    return release


def _reader(frame: pd.DataFrame, data: Data, epsilon: float) -> PrivateReader:
    described: dict[str, object] = {"row_privacy": True, "rows": 100_000, "censor_dims": False}
    described |= {name: {"type": "string", "nullable": False} for name in (*data.levels, "bin")}
    described |= {name: {"type": "int", "lower": 0, "upper": top, "nullable": False} for name, top in TOPS.items()}
    described["thousands"] = {"type": "float", "lower": 0.0, "upper": TOPS["income"] / THOUSAND, "nullable": False}
    return from_df(frame, privacy=Privacy(epsilon=epsilon, delta=1e-9), metadata={"": {"S": {"T": described}}})


if __name__ == "__main__":
    answer_all(release_of)
