"""The numbers of a release as bars with their intervals. The only file that imports Altair (extra `plot`).

Names are data of the chart, never part of its code, so they need no escaping and cannot change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from discreet.domain.about import About
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.figures import name, number
from discreet.releases.frames import further_frames
from discreet.releases.labelled import number_title, title_of
from discreet.releases.quality import quality_in
from discreet.releases.worded import QUALITY

if TYPE_CHECKING:
    import altair as alt

__all__ = ["MOST_BARS", "bars_of"]

NOTHING = About()

MOST_BARS = 1_000
"""With more groups than this, a bar chart is not readable."""


def bars_of(document: Mapping[str, Any], statistic: object, about: About = NOTHING) -> alt.LayerChart:
    """A bar for each group and a line from one end of its interval to the other, in the order of the release.

    A suppressed number has its group, and no bar and no line: its interval would tell what was left out.

    Args:
        document: of a release.
        statistic: the name of a column that has an interval, such as "mean_wage", or of a further frame, such as the one of
            a histogram; None is the first there is.
        about: the words for its columns.

    Raises:
        ArgumentError: Altair is not installed, the release has no such number, or there are too many groups.
    """
    charts = _altair()
    columns, chosen, title = _choose(document, statistic)
    values = {column["name"]: column["values"] for column in columns}
    if len(values[chosen]) > MOST_BARS:
        raise ArgumentError(
            f"plot({title!r}): {number(len(values[chosen]))} groups are more than {number(MOST_BARS)} bars; filter "
            "release.table and plot that with a library of your choice"
        )
    ends = {f"{other}{end}" for other in _numbers(columns) for end in ("", "_low", "_high", "_consistent", QUALITY)}
    labels = [column for column in values if column not in ends]
    keys = ["group", "value", "low", "high"]
    rows = zip(
        _labels([values[label] for label in labels], len(values[chosen])),
        values[chosen],
        values[f"{chosen}_low"],
        values[f"{chosen}_high"],
        strict=True,
    )
    left_out = map(quality_in(document).suppresses, values.get(f"{chosen}{QUALITY}", [""] * len(values[chosen])))
    points = [(row[0], *(None,) * 3) if hidden else row for row, hidden in zip(rows, left_out, strict=True)]
    data = charts.Data(values=[dict(zip(keys, point, strict=True)) for point in points])
    groups = charts.Y("group:N", sort=None, title=", ".join(title_of(about, label) for label in labels) or None)
    tips = [charts.Tooltip("group:N"), *(charts.Tooltip(f"{key}:Q") for key in keys[1:])]
    base = charts.Chart(data, title=about.title or name(document["name"]))
    bars = base.mark_bar(opacity=0.6).encode(
        x=charts.X("value:Q", title=_with_unit(about, chosen, title)), y=groups, tooltip=tips
    )
    lines = base.mark_rule(strokeWidth=2).encode(x=charts.X("low:Q"), x2=charts.X2("high"), y=groups, tooltip=tips)
    drawn: alt.LayerChart = bars + lines
    return drawn


def _with_unit(about: About, column: str, title: str) -> str:
    """The words for the numbers; their unit, where they have one of their own."""
    unit = about.statistic(column).unit
    return f"{number_title(about, column, title)} ({unit})" if unit else number_title(about, title, column)


def _altair() -> ModuleType:
    try:
        import altair as alt
    except ImportError:
        raise ArgumentError(
            "plot(): needs Altair, which is not installed; install it with the extra: pip install 'discreet[plot]'"
        ) from None
    return alt


def _choose(document: Mapping[str, Any], statistic: object) -> tuple[Sequence[Mapping[str, Any]], str, str]:
    """The columns of a frame, which of them is drawn, and its name in the release."""
    known = {column: (document["columns"], column, column) for column in _numbers(document["columns"])}
    for frame in further_frames(document):
        for column in _numbers(frame["columns"])[:1]:
            known.setdefault(frame["name"], (frame["columns"], column, frame["name"]))
    if statistic is None and known:
        return next(iter(known.values()))
    if not isinstance(statistic, str) or statistic not in known:
        near = did_you_mean(statistic, known)
        raise ArgumentError(
            f"plot({printed(statistic)}): the release has no such number; it has {', '.join(map(name, known))}{near}"
        )
    return known[statistic]


def _numbers(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns that have both ends of an interval."""
    names = [column["name"] for column in columns]
    return [column for column in names if f"{column}_low" in names and f"{column}_high" in names]


def _labels(columns: Sequence[Sequence[Any]], size: int) -> list[str]:
    """A text for each group, all different: two bars of one text would become one."""
    found: dict[str, None] = {}
    for values in zip(*columns, strict=True) if columns else [("all rows",)] * size:
        label, times = " · ".join(map(name, values)), 1
        while (label if times == 1 else f"{label} ({times})") in found:
            times += 1
        found[label if times == 1 else f"{label} ({times})"] = None
    return list(found)
