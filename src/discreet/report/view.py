"""What stands on the page: a `Release` turned into texts, tables and bars. The template only puts them in their places."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from discreet.exact import exact, text
from discreet.privacy.coordinates import from_json
from discreet.release import Guarantee, Release
from discreet.report import words
from discreet.report.figures import amount, decimals_for, interval, name, number, outwards

__all__ = ["MOST_BARS", "MOST_ROWS", "Bar", "Noise", "Page", "Row", "StatisticTable", "page_of"]

MOST_ROWS = 10_000
"""A table shows at most this many rows; all are in the files beside the page."""

MOST_BARS = 1_000
"""Beyond this many rows nobody looks at bars, and they would make the page slow."""

_SYMBOLS = {"pure-dp": "ε", "approx-dp": "ε", "zcdp": "ρ", "gdp": "μ"}


@dataclass(frozen=True, slots=True)
class Bar:
    """A value and its interval on the scale of its table, in thousandths of the width."""

    left: int
    width: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its labels, the value, the interval and perhaps a bar."""

    labels: tuple[str, ...]
    value: str
    interval: str
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class StatisticTable:
    """One statistic for every group. `rows` can be read once. `scale` has the ends and the zero of the bars, if any."""

    title: str
    column: str
    view: str
    groups: tuple[str, ...]
    rows: Iterator[Row]
    size: str
    omitted: str
    scale: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of one measured query, and what its scale was computed from."""

    query: str
    l1: str
    l2_squared: str
    share: str
    guarantee: str
    law: str
    scale: str
    formula: str


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template needs; every field is text for people, not yet escaped."""

    title: str
    dataset: str
    what: str
    people: str
    comparison: str
    promise: str
    detection: str
    figures: tuple[tuple[str, str], ...]
    unprotected: str
    steps: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    level: str
    covers: str
    tables: tuple[StatisticTable, ...]
    row_guarantee: str
    noises: tuple[Noise, ...]
    record: tuple[tuple[str, str], ...]
    plan: str


def page_of(release: Release) -> Page:
    """The page of a release.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, IndexError: the document lacks a part or holds another type there.
    """
    document, guarantee = release.document, release.guarantee
    plan, stated = document["plan"], document["guarantee"]
    return Page(
        title=name(document["name"]),
        dataset=name(document["dataset"]),
        what=words.what_words(document),
        people=words.people_words(document),
        comparison=words.comparison_words(guarantee),
        promise=name(stated["words"]),
        detection=words.detection_words(guarantee),
        figures=_figures(guarantee),
        unprotected=_unprotected(document),
        steps=tuple(words.step_words(step) for step in plan["steps"]),
        columns=_columns(plan),
        level=f"{text(100 * exact(document['interval']['level'], 'level'))}\u00a0%",
        covers=name(document["interval"]["covers"]),
        tables=tuple(_tables(document)),
        row_guarantee=words.row_words(int(document["group"]), plan["steps"]),
        noises=tuple(_noise(measured) for measured in document["noise"]),
        record=_record(document),
        plan=name(json.dumps(plan, ensure_ascii=False, sort_keys=True)),
    )


def _figures(guarantee: Guarantee) -> tuple[tuple[str, str], ...]:
    relation = {"replace-one": "one person's data replaced", "add-remove": "one person added or removed"}
    lines = [("Guarantee", _measure(guarantee.effective))]
    if guarantee.effective != guarantee.advertised:
        lines.append(("As advertised without exact totals", _measure(guarantee.advertised)))
    lines.append(("As (ε, δ)", words.epsilon_words(guarantee)))
    lines.append(("Holds for", relation[guarantee.relation]))
    return tuple(lines)


def _measure(measure: Any) -> str:
    fields = {"PureDP": ["epsilon"], "ApproxDP": ["epsilon", "delta"], "ZCDP": ["rho"], "GDP": ["mu"]}
    kinds = {"PureDP": "pure DP", "ApproxDP": "approximate DP", "ZCDP": "zero-concentrated DP", "GDP": "Gaussian DP"}
    symbols = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ"}
    kind = type(measure).__name__
    values = ", ".join(_equal(symbols[field], text(getattr(measure, field))) for field in fields[kind])
    return f"{values} ({kinds[kind]})"


def _equal(symbol: str, written: str) -> str:
    shown = amount(written)
    return f"{symbol} {shown}" if shown.startswith("≤") else f"{symbol} = {shown}"


def _unprotected(document: Mapping[str, Any]) -> str:
    if document["invariants"]:
        return f"Published exactly and unprotected: {name(json.dumps(document['invariants'], ensure_ascii=False))}."
    if document["plan"]["neighbours"]["relation"] == "replace-one":
        return "Nothing but the number of rows of the data set is published exactly; every number below carries noise."
    return "Nothing is published exactly; every number below carries noise."


def _columns(plan: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    used = {group["column"] for group in plan["group_by"]} | {statistic["column"] for statistic in plan["statistics"]}
    used |= {step["column"] for step in plan["steps"] if step["step"] == "where"}
    return tuple((name(c["name"]), words.column_words(c)) for c in plan["schema"] if c["name"] in used)


def _tables(document: Mapping[str, Any]) -> Iterator[StatisticTable]:
    values = {column["name"]: column["values"] for column in document["columns"]}
    groups = [group["column"] for group in document["plan"]["group_by"]]
    for statistic in document["statistics"]:
        column = statistic["name"]
        ends = values[column], values[f"{column}_low"], values[f"{column}_high"]
        size = len(ends[0])
        scale = _scale(ends[1], ends[2]) if size <= MOST_BARS else None
        labels = zip(*(values[group] for group in groups), strict=True) if groups else iter([("all rows",)] * size)
        decimals = 0 if _whole(ends) else decimals_for([(b - a) / 2 for a, b in zip(ends[1], ends[2], strict=True)])
        yield StatisticTable(
            title=words.title_words(statistic),
            column=name(column),
            view=name(statistic["view"]),
            groups=tuple(name(group) for group in groups) or ("group",),
            rows=_rows(labels, ends, decimals, scale),
            size=number(size),
            omitted=number(size - MOST_ROWS) if size > MOST_ROWS else "",
            scale=None if scale is None else outwards(*scale, decimals),
        )


def _whole(ends: tuple[Sequence[Any], ...]) -> bool:
    return all(isinstance(value, int) for values in ends for value in values)


def _scale(lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float] | None:
    """The ends of the bars: zero and every interval lie between them. None when there is nothing to draw."""
    low, high = min([0, *lows]), max([0, *highs])
    return (low, high) if low < high < low + 1e300 else None


def _rows(
    labels: Iterator[tuple[Any, ...]],
    ends: tuple[Sequence[Any], Sequence[Any], Sequence[Any]],
    decimals: int,
    scale: tuple[float, float] | None,
) -> Iterator[Row]:
    for own, value, low, high in islice(zip(labels, *ends, strict=True), MOST_ROWS):
        bar = None if scale is None else _bar(value, low, high, scale)
        yield Row(tuple(name(label) for label in own), number(value, decimals), interval(low, high, decimals), bar)


def _bar(value: float, low: float, high: float, scale: tuple[float, float]) -> Bar:
    def place(x: float) -> int:
        return round(1000 * (x - scale[0]) / (scale[1] - scale[0]))

    start, end = sorted((place(0), place(value)))
    return Bar(start, end - start, place(low), place(high))


def _noise(measured: Mapping[str, str]) -> Noise:
    guarantee = json.loads(measured["guarantee"])
    (field,) = set(guarantee) - {"kind"}
    parameter = next(measured[key] for key in ("scale", "variance") if key in measured)
    return Noise(
        query=name(measured["query"]),
        l1=name(measured["l1_sensitivity"]),
        l2_squared=name(measured["l2_squared_sensitivity"]),
        share=name(measured["share"]),
        guarantee=f"{_SYMBOLS[guarantee['kind']]} = {_exactly(guarantee[field])}",
        law=name(measured["noise"]),
        scale=_exactly(parameter),
        formula=words.calibration_words(measured),
    )


def _exactly(written: str) -> str:
    """An exact rational; a long one with its size."""
    return name(written) if len(written) <= 12 else f"{name(written)} ≈ {float(exact(written, 'parameter')):.5g}"


def _record(document: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    spend = from_json(document["guarantee"]["measure"])
    return (
        ("Release", name(document["name"])),
        ("Data set", name(document["dataset"])),
        ("Charged to the ledger", _measure(spend)),
        ("Entry of the ledger", name(document["ledger"]["sequence"])),
        ("Digest of the plan (SHA-256)", name(document["plan_digest"])),
        ("Digest of the release (SHA-256)", name(document["digest"])),
        ("Made with", name(document["library"])),
        ("Format of the release file", name(document["format"])),
    )
