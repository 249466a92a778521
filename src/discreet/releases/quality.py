"""The reliability of numbers: a class for every number of a release, from its interval and what is public about it.

Everything here is a function of the release document alone, so it is post-processing and costs nothing
(docs/proofs/post-processing.md). Two ratios decide, and the worse of the two counts:

* the coefficient of variation: the half-width of the interval, to its farther end, over z and over the value, where z is the
  point of the normal law for the level of the interval (1.96 for 95 %);
* the width of the interval over the width of all that is possible, where bounds are declared: an interval of every value
  that there is says nothing, however far from 0 these values are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import Amount, exact, text
from discreet.releases.frames import value_columns

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "BAD",
    "CAUTION",
    "CLASSES",
    "DEFAULT",
    "GOOD",
    "SUPPRESSED",
    "Numbers",
    "Quality",
    "class_of",
    "numbers_of",
    "quality_frame",
    "quality_in",
    "rounding_of",
    "span_of",
]

GOOD, CAUTION, BAD = "a", "b", "c"
CLASSES: Mapping[str, str] = {GOOD: "good", CAUTION: "use with caution", BAD: "not publishable"}
"""The classes with their words, the best first."""

SUPPRESSED = "–"
"""The text in the place of a number that is suppressed."""

Span = tuple[Fraction, Fraction] | None
"""The least and the greatest value that is possible by public declaration; None where there is no such end."""


@dataclass(frozen=True, slots=True, init=False)
class Quality:
    """The rule by which an office tells reliable numbers from others.

    Args:
        good: the largest ratio of a good number, 0.166 if left out.
        caution: the largest ratio of a number to use with caution, 0.333 if left out; others are not publishable.
        suppress: "quality" prints "–" for a number that is not publishable; left out, it is printed with its class.

    Raises:
        ArgumentError: 0 < good ≤ caution does not hold, or `suppress` is another word.
    """

    good: Fraction
    caution: Fraction
    suppress: str | None

    def __init__(self, good: Amount = "0.166", caution: Amount = "0.333", *, suppress: str | None = None) -> None:
        first, second = exact(good, "good"), exact(caution, "caution")
        if not 0 < first <= second:
            raise ArgumentError(f"good={text(first)}: must be above 0, and not above caution={text(second)}")
        if suppress not in {None, "quality"}:
            raise ArgumentError(f"suppress={printed(suppress)}: must be 'quality', or be left out")
        object.__setattr__(self, "good", first)
        object.__setattr__(self, "caution", second)
        object.__setattr__(self, "suppress", suppress)

    def __reduce__(self) -> tuple[Callable[..., Quality], tuple[object, ...]]:
        return _make, (self.good, self.caution, self.suppress)

    def to_json(self) -> dict[str, object]:
        """The rule as a release document holds it."""
        return {"good": text(self.good), "caution": text(self.caution), "suppress": self.suppress}

    def suppresses(self, grade: str) -> bool:
        """True if numbers of this class are not printed."""
        return self.suppress is not None and grade == BAD


def _make(good: Amount, caution: Amount, suppress: str | None) -> Quality:
    return Quality(good, caution, suppress=suppress)


_NEAR = 2.0**-39
"""The rounding of ends outwards moves them by less than this part of the largest value that is possible."""

DEFAULT = Quality()
"""The rule of releases that have none of their own."""


def quality_in(document: Mapping[str, Any]) -> Quality:
    """The rule of a release document.

    Raises:
        ArgumentError: the document holds something else in its place.
    """
    stated = document.get("quality")
    if stated is None:
        return DEFAULT
    try:
        return _make(stated["good"], stated["caution"], stated["suppress"])
    except (KeyError, TypeError):
        raise ArgumentError("release: its quality cannot be read; it is not a document that discreet wrote") from None


# One number ---------------------------------------------------------------------------------------------------------------


def class_of(
    value: float | None, ends: tuple[float | None, float | None], span: Span, rule: Quality, level: float = 0.95
) -> str:
    """The class of a value with its interval at this level: the worse of what both ratios give. None is unbounded."""
    low, high = ends
    if value is None or low is None or high is None:
        return BAD
    ratios = [variation(value, low, high, level)]
    if span is not None and span[0] < span[1]:
        ratios.append((high - low) / float(span[1] - span[0]))
    worst = max(ratios) if max(value - low, high - value) > rounding_of(span) else 0.0
    if worst <= rule.good:
        return GOOD
    return CAUTION if worst <= rule.caution else BAD


def rounding_of(span: Span) -> float:
    """The half-width up to which an interval is only the rounding of its ends: the number is exact."""
    return 0.0 if span is None else _NEAR * float(max(map(abs, span)))


def variation(value: float, low: float, high: float, level: float = 0.95) -> float:
    """The coefficient of variation that the interval shows: infinite for a value of 0 that may be another.

    The farther end counts, so that an interval that is cut at 0, or at a declared bound, shows no better value. Intervals
    that hold together are wider than single ones, and so is what is computed from them.
    """
    half = max(value - low, high - value)
    if half <= 0:
        return 0.0
    return half / _z(level) / abs(value) if value else float("inf")


@cache
def _z(level: float) -> float:
    """The point that a normal variable stays within, on both sides, with this probability: 1.959964 for 95 %."""
    from statistics import NormalDist  # it loads a generator of random numbers, which nothing else needs

    return NormalDist().inv_cdf((1 + level) / 2)


# What is possible ---------------------------------------------------------------------------------------------------------


def span_of(statistic: Mapping[str, Any], plan: Mapping[str, Any]) -> Span:
    """The values that a statistic of a document can have, by the declarations of its plan alone."""
    from discreet.releases.possible import possible_of  # it loads every statistic, which reading a release does not need

    low, high = possible_of(statistic, plan) if statistic else (None, None)
    return None if low is None or high is None else (low, high)


# All numbers --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of one statistic in a frame: a column that has both ends of its interval.

    Args:
        column: its name.
        statistic: the line of the document that says what it is; empty where none does.
        values, lows, highs: its values and the ends of their intervals; a derived number may be None, without an interval.
        classes: the class of each.
        rounding: the half-width up to which an interval is only rounding.
    """

    column: str
    statistic: Mapping[str, Any]
    values: Sequence[float | None]
    lows: Sequence[float | None]
    highs: Sequence[float | None]
    classes: Sequence[str]
    rounding: float


def numbers_of(document: Mapping[str, Any], columns: Sequence[Mapping[str, Any]], frame: str = "") -> Iterator[Numbers]:
    """The numbers of a frame of a document with their classes; `frame` is its name, empty for the main table."""
    rule, level = quality_in(document), _level_of(document, frame)
    values = {column["name"]: column["values"] for column in columns}
    for column, own in values.items():
        lows, highs = values.get(f"{column}_low"), values.get(f"{column}_high")
        if lows is None or highs is None:
            continue
        statistic = _statistic(document, column, frame)
        span = span_of(statistic, document["plan"])
        rows = zip(own, lows, highs, strict=True)
        classes = tuple(class_of(value, (low, high), span, rule, level) for value, low, high in rows)
        yield Numbers(column, statistic, own, lows, highs, classes, rounding_of(span))


def _level_of(document: Mapping[str, Any], frame: str) -> float:
    """The level of the intervals of a frame: of what is derived, its own."""
    own = (one["confidence"] for one in document.get("derived", ()) if one["name"] == frame and "confidence" in one)
    return float(exact(next(own, document["interval"]["level"]), "level"))


def quality_frame(document: Mapping[str, Any], table: pl.DataFrame) -> pl.DataFrame:
    """The groups of the main table, and the class of each of its numbers."""
    import polars as pl

    columns = [{"name": one.name, "values": one.to_list()} for one in table]
    found = list(numbers_of(document, columns))
    ends = {f"{one.column}{end}" for one in found for end in ("", "_low", "_high")}
    groups = [one for one in table if one.name not in ends]
    return pl.DataFrame([*groups, *(pl.Series(one.column, one.classes, dtype=pl.String) for one in found)])


def _statistic(document: Mapping[str, Any], column: str, frame: str) -> Mapping[str, Any]:
    """The statistic whose numbers a column has: by its name, the orders of its quantiles, or the place of its frame."""
    if frame:
        return _frame(document).get(frame, {})
    return next((dict(one) for one in document["statistics"] if column in value_columns(one)), {})


def _frame(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The statistic of each frame. Frames stand in the order of their statistics: a name may begin like another one."""
    main = {column["name"] for column in document["columns"]}
    own = [one for one in document["statistics"] if main.isdisjoint(value_columns(one))]
    places = [dict(one) for one in own for _ in one.get("tables", (None,))]
    return {frame["name"]: line for frame, line in zip(document.get("frames", ()), places, strict=False)}
