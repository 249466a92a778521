"""Plan files that the tests of reading share."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import PlanError
from discreet.planfile.read import PlanFile, load_plan

FULL = """\
# Every key of the format, except categories_file, categories_type and the other measures.
[data]
dataset = "wages-2025"
source = "wages.parquet"
neighbours = "replace-one"
rows = 29501
rows_per_person = 2
ledger = "budget.db"

[columns.state]
type = "category"
categories = ["Alabama", "Alaska", "Arizona"]
clamp = ["Alabama", "Alaska"]

[columns.sex]
type = "category"
categories = ["F", "M"]
impute = { distribution = "weights", weights = { F = 1, M = 1.5 } }

[columns.age]
type = "number"
lower = 0
upper = 110
impute = { distribution = "normal", mean = 40, sd = 15, lower = 18, upper = 100 }

[columns.wage]
type = "number"
lower = "0"
upper = 2000.0
step = 10
clamp = ["0", 1500]
impute = { distribution = "uniform", lower = 100, upper = 1000 }

[columns.hired]
type = "date"
first = 2020-01-01
last = "2025-12-31"

[budget]
measure = "approx-dp"
epsilon = 1.5
delta = "1e-9"
report_delta = 1e-6

[[release]]
name = "wages by state"
group_by = ["state", { bins = "age", edges = [18, 30, 50, 66] }]
statistics = [
    "count",
    { mean = "wage", weight = 2, as = "mean" },
    { sum = "wage", nulls = "skip" },
    { count = "hired" },
]
where = { age = [18, 65], sex = ["F"] }
spend = 0.1
resize = { rows = 30000, proportion = "0.9" }
clamp = { hired = [2020-01-01, 2024-12-31] }
impute = { hired = { distribution = "uniform" }, state = { distribution = "weights", weights = { Alaska = 1 } } }

[[release]]
name = "persons"
statistics = [{ count = "*", weight = 3, as = "persons" }]
where = { sex = "M" }
spend = { epsilon = 0.25, delta = 1e-10 }
"""


SMALL = """\
[data]
dataset = "d"
source = "s.csv"
neighbours = "add-remove"
ledger = "l.db"
[columns.sex]
type = "category"
categories = ["F", "M"]
[columns.age]
type = "number"
lower = 0
upper = 100
[budget]
measure = "zcdp"
rho = 0.5
[[release]]
name = "r"
statistics = ["count"]
"""


def load(tmp_path: Path, text: str, name: str = "plan.toml") -> PlanFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return load_plan(path)


def refused(tmp_path: Path, text: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        load(tmp_path, text)
    assert caught.value.place.startswith("plan.toml")
    assert str(caught.value).startswith(caught.value.place + ": ")
    return caught.value


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, (old, text.count(old))
    return text.replace(old, new)
