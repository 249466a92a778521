"""A plan has the same digest through TOML as through Python calls."""

from __future__ import annotations

import datetime as dt
import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import ArgumentError, PlanError

from .plans import load

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cf", "Zl", "Zp", "Cn")), min_size=1, max_size=8
)


AMOUNTS = st.one_of(
    st.integers(1, 50),
    st.decimals("0.01", 50, places=2).map(str),
    st.fractions(Fraction(1, 50), 50, max_denominator=60).map(lambda value: f"{value.numerator}/{value.denominator}"),
)


def toml(value: Any) -> str:
    """A value as TOML; a text that is a decimal is sometimes written as a number, which must mean the same."""
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {toml(inner)}" for key, inner in value.items()) + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(inner) for inner in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Bare):
        return str(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)


class Bare(str):
    """A decimal that is written without quotes."""

    __slots__ = ()


@st.composite
def described(draw: st.DrawFn) -> tuple[dict[str, Any], dp.Schema, list[Any]]:
    """Sections of a plan file, the schema, and the Python request of each release."""
    numeric = {f"n{i}": draw(st.sampled_from([(0, 60, 1), (-5, 5, "0.5"), ("1/3", "7/3", "1/3")])) for i in range(2)}
    categories = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=lambda name: dp.Category([name]).values[0]))
    schema = dp.Schema({"c": dp.Category(categories), **{name: dp.Number(*bounds) for name, bounds in numeric.items()}})
    columns: dict[str, Any] = {"c": {"type": "category", "categories": categories}}
    for name, (lower, upper, step) in numeric.items():
        columns[name] = {"type": "number", "lower": lower, "upper": upper, "step": step}

    clamps: dict[str, Any] = {}
    laws: dict[str, Any] = {"c": dp.Weights(weights := dict.fromkeys(categories, draw(AMOUNTS)))}
    columns["c"]["impute"] = {"distribution": "weights", "weights": weights}
    for name in numeric:
        grid = [schema[name].value(code) for code in range(schema[name].size)]  # type: ignore[union-attr]
        if draw(st.booleans()):
            low, high = sorted(draw(st.lists(st.sampled_from(grid), min_size=2, max_size=2)))
            columns[name]["clamp"] = [f"{low.numerator}/{low.denominator}", f"{high.numerator}/{high.denominator}"]
            clamps[name] = (low, high)
        if draw(st.booleans()):
            laws[name] = dp.Uniform()
            columns[name]["impute"] = {"distribution": "uniform"}
        else:
            mean, spread = draw(AMOUNTS), draw(AMOUNTS)
            laws[name] = dp.Normal(mean, spread)
            columns[name]["impute"] = {"distribution": "normal", "mean": mean, "sd": spread}

    table = dp.Table(schema, dp.AddRemove())
    table = (table.clamp(clamps) if clamps else table).impute(laws)
    releases, requests = [], []
    for position in range(draw(st.integers(1, 3))):
        release, request = draw(release_of(table, categories))
        releases.append({"name": f"release {position}", **release, "spend": Bare("0.01")})
        requests.append(request)
    sections = {
        "data": {"dataset": "d", "source": "s.csv", "neighbours": "add-remove", "ledger": "l.db"},
        "columns": columns,
        "budget": {"measure": "zcdp", "rho": Bare("0.5")},
        "release": releases,
    }
    return sections, schema, requests


WORDS = ["count", "sum", "mean", "variance", "std", "median", "quantiles", "histogram"]


@st.composite
def release_of(draw: st.DrawFn, table: dp.Table, categories: list[str]) -> tuple[dict[str, Any], Any]:
    release: dict[str, Any] = {}
    asked, written = [], []
    for word in draw(st.lists(st.sampled_from(WORDS), unique=True, min_size=1, max_size=4)):
        weight, column = draw(AMOUNTS), draw(st.sampled_from(["n0", "n1"]))
        also: dict[str, Any] = {}
        if word == "quantiles":
            also["at"] = draw(st.lists(st.sampled_from(["0", "1/3", "0.5", "1"]), unique=True, min_size=1))
        if word == "histogram":
            also["edges"] = draw(st.lists(st.sampled_from([0, 1, "4/3", 2, 5]), min_size=1, max_size=3))
        asked.append(getattr(dp, word)(column, weight=weight, **also).alias(word))
        written.append({word: column, **also, "weight": weight, "as": word})
    release["statistics"] = written
    by: list[Any] = []
    if draw(st.booleans()):
        chosen = draw(st.lists(st.sampled_from(categories), min_size=1, unique=True))
        release["where"] = {"c": chosen}
        table = table.where({"c": chosen})
    if draw(st.booleans()):
        proportion = draw(AMOUNTS)
        release["resize"] = {"rows": 7, "proportion": proportion}
        table = table.resize(7, proportion=proportion)
    elif draw(st.booleans()):
        rate, rows = draw(st.sampled_from([("1/7", None), (None, 3)]))
        release["sample"] = rate or {"rows": rows}
        table = table.sample(rate, rows=rows)
    if draw(st.booleans()):
        release["group_by"] = ["c", {"bins": "n0", "edges": [1, 2]}]
        by = ["c", dp.bins("n0", [1, 2])]
    try:
        return release, table.group_by(*by).agg(*asked)
    except ArgumentError as refusal:  # an edge off the grid: the file must be refused for the same reason
        return release, refusal


def written_plan(sections: dict[str, Any]) -> str:
    lines = []
    for section in ("data", "budget"):
        lines += [f"[{section}]", *(f"{key} = {toml(value)}" for key, value in sections[section].items())]
    for name, column in sections["columns"].items():
        lines += [f"[columns.{json.dumps(name)}]", *(f"{key} = {toml(value)}" for key, value in column.items())]
    for release in sections["release"]:
        lines += ["[[release]]", *(f"{key} = {toml(value)}" for key, value in release.items())]
    return "\n".join(lines) + "\n"


@pytest.mark.slow
@settings(max_examples=60)
@given(described())
def test_a_plan_has_the_same_digest_through_toml_as_through_python(
    tmp_path_factory: pytest.TempPathFactory, plan: tuple[dict[str, Any], dp.Schema, list[Any]]
) -> None:
    sections, schema, requests = plan
    folder = tmp_path_factory.mktemp("plan")
    text = written_plan(sections)
    refusals = [request for request in requests if isinstance(request, ArgumentError)]
    if refusals:
        with pytest.raises(PlanError) as caught:
            load(folder, text)
        assert str(refusals[0]) in str(caught.value)
        return
    found = load(folder, text)
    assert found.schema == schema
    assert [order.request.digest for order in found.orders] == [request.digest for request in requests]
