"""The pictures on the page, each with a description for readers who cannot see it.

The tables have their own bars with intervals. The pictures show what is easier to see than to read: the privacy profile,
histograms, and the curves of three and more quantiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.domain.about import About
from discreet.exact.figures import decimals_for, number
from discreet.exact.numbers import decimal_up, exact, text
from discreet.pages.report.drawing import (
    Artist,
    Chart,
    begin_drawing,
    can_draw,
    histogram_chart,
    multiples_chart,
    profile_chart,
    quantile_chart,
)
from discreet.pages.report.words import title_words
from discreet.pages.words import Words
from discreet.privacy.coordinates import Budget
from discreet.releases.guarantee import Guarantee
from discreet.releases.labelled import apply_words, title_of
from discreet.releases.worded import QUALITY

__all__ = ["Picture", "Sketch", "illustrations", "pictures_of", "profile_of"]

_MOST_GROUPS = 12
_MOST_BINS = 60
_POINTS = 60
_MOST_PANELS = 24
_LEAST_DELTA = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its caption, a description for readers who cannot see it, and the source of an `img`."""

    title: str
    words: str
    source: str


@dataclass(frozen=True, slots=True)
class Sketch:
    """A picture that is not drawn yet: its chart instead of its source."""

    title: str
    words: str
    chart: Chart


def illustrations(
    guarantee: Guarantee, document: Mapping[str, Any], about: About, artist: Artist | None, words: Words
) -> tuple[Picture | None, tuple[Picture, ...]]:
    """The profile and the other pictures of a page, drawn together; none without the means to draw.

    Args:
        guarantee: of the release.
        document: of the release.
        about: its texts.
        artist: the process that draws them; None starts one now.
        words: of the language of the page.
    """
    if not can_draw():
        return None, ()
    profile = [sketch for sketch in [profile_of(guarantee)] if sketch is not None]
    sketches = [*profile, *pictures_of(document, about, words)]
    drawn = _draw([_in_form_of(words, sketch.chart) for sketch in sketches], artist)
    found = [
        Picture(words.said(one.title), words.said(one.words), source) for one, source in zip(sketches, drawn, strict=False)
    ]  # all or none
    return (found[0] if profile and found else None), tuple(found[len(profile) :])


def _in_form_of(words: Words, chart: Chart) -> Chart:
    """The chart with the numbers on its axes in the form of a language."""
    form = {"decimal": words("form.decimal"), "thousands": words("form.thousands"), "grouping": [3], "currency": ["", ""]}
    return chart if form["decimal"] == "." else {**chart, "config": {"locale": {"number": form}}}


def _draw(charts: Sequence[Chart], artist: Artist | None) -> list[str]:
    if not charts:
        return []
    with begin_drawing() if artist is None else nullcontext(artist) as drawing:
        return drawing.sources(charts)


def profile_of(guarantee: Guarantee) -> Sketch | None:
    """δ as a function of ε, with exact totals both advertised and effective; None where δ = 0 throughout.

    Every δ is an upper bound of the privacy profile, rounded up.
    """
    kinds = {"effective": guarantee.effective}
    if guarantee.semi_adjacency is not None:
        kinds["as advertised, totals not counted"] = guarantee.advertised
    else:
        kinds = {"guarantee": guarantee.effective}
    points = [point for kind, measure in kinds.items() for point in _profile(kind, measure)]
    if len(points) < 2:
        return None
    stated = [
        {"kind": kind, "epsilon": measure.epsilon_at(guarantee.report_delta), "delta": float(guarantee.report_delta)}
        for kind, measure in kinds.items()
        if guarantee.report_delta >= _LEAST_DELTA
    ]
    words = " and ".join(
        f"at ε = {point['epsilon']:.3g} at most {decimal_up(point['delta'], 2)}" for point in points[:: len(points) - 1]
    )
    return Sketch(
        "The privacy profile: for each ε the δ of this publication, rounded up.",
        f"A falling curve: δ is {words}.",
        profile_chart(points, stated),
    )


def _profile(kind: str, measure: Budget) -> Iterator[dict[str, Any]]:
    """Points of the profile from ε = 0 to where δ is below 10⁻¹², or to twice the ε at which δ stays constant."""
    largest = measure.drawn_to(_LEAST_DELTA)
    for step in range(_POINTS + 1):
        epsilon = largest * step / _POINTS
        delta = measure.delta_at(epsilon)
        if delta >= _LEAST_DELTA:
            yield {"kind": kind, "epsilon": float(epsilon), "delta": delta}


def pictures_of(document: Mapping[str, Any], about: About, words: Words) -> Iterator[Sketch]:
    """Quantile curves, histograms, and bars for two or three groups, in the order of the statistics."""
    columns = {column["name"]: column["values"] for column in document["columns"]}
    frames = {frame["name"]: frame["columns"] for frame in document.get("frames", ())}
    labels = [group["column"] for group in document["plan"]["group_by"]]
    for statistic in document["statistics"]:
        found = None
        if len(statistic.get("at", ())) >= 3:
            found = _quantiles(statistic, columns, labels, (about, words))
        elif statistic["statistic"] == "histogram" and statistic["name"] in frames:
            found = _histogram(statistic, frames[statistic["name"]], (about, words))
        elif 2 <= len(labels) <= 3 and statistic["name"] in columns:
            found = _multiples(statistic, columns, labels, (about, words))
        if found is not None:
            yield found


def _quantiles(
    statistic: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], labels: Sequence[str], told: tuple[About, Words]
) -> Sketch | None:
    about, words = told
    orders = [text(100 * exact(order, "at")) for order in statistic["at"]]
    groups = _groups(columns, labels, len(columns[f"{statistic['name']}_p{orders[0]}"]), words)
    if len(set(groups)) < len(groups) or len(groups) > _MOST_GROUPS:
        return None
    points = [
        {"group": group, "share": float(order), **_ends(columns, f"{statistic['name']}_p{order}", row)}
        for row, group in enumerate(groups)
        for order in sorted(orders, key=float)
        if columns[f"{statistic['name']}_p{order}"][row] is not None
    ]
    if not points:
        return None
    title, axis = title_words(apply_words(statistic, about)), title_of(about, statistic["column"])
    return _sketch(title, points, quantile_chart(points, title=axis, share=words("report.pictures.share")))


def _multiples(
    statistic: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], labels: Sequence[str], told: tuple[About, Words]
) -> Sketch | None:
    """Bars for the last group, in a panel for each combination of the others."""
    about, words = told
    column, bars = statistic["name"], [words.name(value) for value in columns[labels[-1]]]
    panels = _groups(columns, labels[:-1], len(bars), words)
    known = f"{column}_low" in columns and len(set(zip(panels, bars, strict=True))) == len(bars)
    if not known or len(set(panels)) > _MOST_PANELS or len(set(bars)) > _MOST_GROUPS:
        return None
    points = [
        {"group": panel, "bin": bar, **_ends(columns, column, row)}
        for row, (panel, bar) in enumerate(zip(panels, bars, strict=True))
        if columns[column][row] is not None
    ]
    title = about.statistic(column).label or title_words(apply_words(statistic, about))
    return _sketch(title, points, multiples_chart(points)) if points else None


def _histogram(statistic: Mapping[str, Any], frame: Sequence[Mapping[str, Any]], told: tuple[About, Words]) -> Sketch | None:
    about, words = told
    columns = {column["name"]: column["values"] for column in frame}
    counts = next(column for column in columns if f"{column}_low" in columns)
    labels = [column for column in columns if column not in {f"{counts}{end}" for end in ("", "_low", "_high", QUALITY)}]
    groups = _groups(columns, labels[:-1], len(columns[counts]), words)
    bins = [words.name(value) for value in columns[labels[-1]]]
    if (
        len(set(groups)) > _MOST_GROUPS
        or len(set(bins)) > _MOST_BINS
        or len(set(zip(groups, bins, strict=True))) < len(bins)
    ):
        return None
    points = [
        {"group": group, "bin": label, **_ends(columns, counts, row)}
        for row, (group, label) in enumerate(zip(groups, bins, strict=True))
        if columns[counts][row] is not None
    ]
    if not points:
        return None
    title, axis = title_words(apply_words(statistic, about)), title_of(about, statistic["column"])
    return _sketch(title, points, histogram_chart(points, title=axis, rows=words("report.pictures.rows")))


def _groups(columns: Mapping[str, Sequence[Any]], labels: Sequence[str], size: int, words: Words) -> list[str]:
    """The labels of each row in one text; all rows alike where there are none."""
    if not labels:
        return [words("report.numbers.all")] * size
    return [" · ".join(map(words.name, values)) for values in zip(*(columns[label] for label in labels), strict=True)]


def _ends(columns: Mapping[str, Sequence[Any]], column: str, row: int) -> dict[str, float]:
    ends = {"value": column, "low": f"{column}_low", "high": f"{column}_high"}
    return {key: float(columns[end][row]) for key, end in ends.items()}


def _sketch(title: str, points: Sequence[Mapping[str, Any]], chart: Chart) -> Sketch:
    low, high = min(points, key=lambda point: point["value"]), max(points, key=lambda point: point["value"])
    decimals = decimals_for([(point["high"] - point["low"]) / 2 for point in points])
    words = (
        f"{title}: {number(len(points))} values with their intervals, from {number(low['value'], decimals)} to "
        f"{number(high['value'], decimals)}. The tables have all of them."
    )
    return Sketch(title, words, chart)
