"""The noise behind a published number, read from the document that publishes it.

A count is its answer plus one noise, a sum `unit · (sum of codes) + origin · (number of rows)` plus two. What the document
says of them is held against the intervals that it prints; where the two do not fit, and for every other statistic, only the
printed intervals are used (`Printed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.exact.canonical import digest
from discreet.exact.numbers import common_denominator, exact, rational_gcd
from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, Law, RoundedGaussian
from discreet.plan.recorded import recorded_name
from discreet.releases.derived.linear import LEVEL, Cell, Linear, LogConcave, Tied, half_width
from discreet.releases.frames import value_columns

__all__ = ["LINEAR", "Printed", "Published", "bounds_of", "identity", "numbers_of", "outputs_of"]

_LAWS: Mapping[str, tuple[str, type[DiscreteLaplace | DiscreteGaussian | RoundedGaussian]]] = {
    "discrete Laplace": ("scale", DiscreteLaplace),
    "discrete Gaussian": ("variance", DiscreteGaussian),
    "rounded Gaussian": ("variance", RoundedGaussian),
}
"""The noises that are independent from cell to cell, with the key of their parameter."""

_LOG_CONCAVE = ("K-norm on the lattice", "Gaussian on the lattice")
"""The noises on lattices of blocks whose cells have log-concave laws (Lemma D2)."""

_KNOWN_STEPS = {"clamp", "impute", "resize", "sample", "where"}
_WHOLE = 2**52
_ROUNDING = 1e-12
_NEAR = 1e-3  # two ways to compute one width may differ by the grid of a convolution

Columns = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Printed:
    """A published number of which only the printed interval is used.

    Args:
        value: the number.
        low: the lower end, in the interval with probability at least 95 %.
        high: the upper end.
        statement: intervals of the same statement hold together with probability at least 95 %.
    """

    value: Fraction
    low: Fraction
    high: Fraction
    statement: str


Published = Linear | Printed


@dataclass(frozen=True, slots=True)
class _Answer:
    """One noisy answer: its query and the laws of its cells; without laws it is public."""

    query: str
    factor: Fraction
    laws: tuple[Law | Tied, ...] | None
    tied: bool

    def term(self, draw: str, place: int) -> list[tuple[Fraction, Cell]]:
        """The noise of one cell times the factor."""
        if self.laws is None or not self.factor:
            return []
        law = self.laws[place if len(self.laws) > 1 else 0]
        return [(self.factor, Cell(draw, self.query, place, law, self.tied))]


def identity(document: Mapping[str, Any]) -> str:
    """A digest that documents share whose numbers are the same draw, whatever their labels and titles are."""
    numbers = [one["values"] for one in document["columns"] if one["kind"] != "text"]
    kept = {key: document.get(key) for key in ("dataset", "name", "plan_digest", "ledger", "noise")}
    return digest({**kept, "numbers": numbers})


def outputs_of(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The columns of numbers in the main table, each with the statistic that it belongs to."""
    names = {one["name"] for one in document["columns"]}
    found: dict[str, Mapping[str, Any]] = {}
    for line in document["statistics"]:
        found |= {name: line for name in value_columns(line) if {name, f"{name}_low"} <= names}
    return found


def numbers_of(document: Mapping[str, Any], name: str) -> list[Published]:
    """The numbers of one column of the main table, with what is known of their noise."""
    columns = {one["name"]: one for one in document["columns"]}
    line, draw = outputs_of(document)[name], identity(document)
    # The number of a population has more than noise in it.
    reader = _READERS.get(line["statistic"], _nothing) if name == line["name"] else _nothing
    parts = reader(document, line, columns)
    if parts is not None:
        found = _linear(parts, columns, name, draw)
        if found is not None and _fits(found, columns, name, document):
            return [*found]
    together = document["interval"]["hold"] == "simultaneous"
    values, lows, highs = (map(Fraction, columns[f"{name}{end}"]["values"]) for end in ("", "_low", "_high"))
    return [
        Printed(value, low, high, draw if together else f"{draw} {name} {place}")
        for place, (value, low, high) in enumerate(zip(values, lows, highs, strict=True))
    ]


def _linear(parts: Sequence[_Answer], columns: Columns, name: str, draw: str) -> list[Linear] | None:
    """The exact numbers with their noises; None where a double does not show the exact number."""
    scale = common_denominator([part.factor for part in parts])
    found = []
    for place, printed in enumerate(columns[name]["values"]):
        if abs(printed) * scale >= _WHOLE:
            return None
        value = Fraction(round(Fraction(printed) * scale), scale)
        found.append(Linear(value, tuple(term for part in parts for term in part.term(draw, place))))
    return found


def _fits(numbers: Sequence[Linear], columns: Columns, name: str, document: Mapping[str, Any]) -> bool:
    """True if the widest printed interval is what these noises give, or wider where intervals hold together.

    The upper ends are compared, because lower ends of counts may be cut at 0.
    """
    highs = columns[f"{name}_high"]["values"]
    pairs = [(float(Fraction(high) - one.value), one) for high, one in zip(highs, numbers, strict=True)]
    if not pairs:
        return True
    widest, number = max(pairs, key=lambda pair: pair[0])
    expected = float(half_width(number.terms, LEVEL))
    least, slack = widest - expected, _NEAR * widest + _ROUNDING * abs(float(number.value))
    if document["interval"]["hold"] == "simultaneous" or any(cell.tied for _, cell in number.terms):
        return least >= -slack
    return abs(least) <= slack


def _nothing(_document: Mapping[str, Any], _line: Mapping[str, Any], _columns: Columns) -> None:
    """Reads intervals only."""


def _count(document: Mapping[str, Any], line: Mapping[str, Any], columns: Columns) -> list[_Answer] | None:
    answer = _answer(document, _count_query(document, line), Fraction(1), columns, line["name"])
    return None if answer is None else [answer]


def _count_query(document: Mapping[str, Any], line: Mapping[str, Any]) -> str:
    """The name of the query that counts the rows of a statistic: those that are not null where its column can be null."""
    names = {one["query"] for one in document["noise"]}
    # A number that both tables have in common has the name of the prepared column.
    asked = [f"non-null {called}" for called in (_query_column(document, line), line["column"])]
    return next((one for one in asked if line.get("column") is not None and one in names), "rows")


def _is_twin(document: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    """True if a statistic was computed of the table as recorded beside the same one of the prepared table."""
    plan = document["plan"]
    beside = bool(plan.get("original", {}).get("prepared"))
    return beside and line["name"] not in {one["name"] for one in plan["statistics"]}


def _query_column(document: Mapping[str, Any], line: Mapping[str, Any]) -> str:
    """The column of a statistic as its queries name it: the noise of both tables is not the same noise."""
    column = str(line["column"])
    return recorded_name(column) if _is_twin(document, line) else column


def _sum(document: Mapping[str, Any], line: Mapping[str, Any], columns: Columns) -> list[_Answer] | None:
    """Unit · total + origin · count, with values from the midpoint of their bounds where the rows are counted anyway."""
    bounds = bounds_of(document, line)
    if bounds is None:
        return None
    lower, upper, step = bounds
    count, total_query = _count_query(document, line), f"sum of {_query_column(document, line)}"
    if _is_twin(document, line) and all(one["query"] != total_query for one in document["noise"]):
        return None  # it is the prepared sum and an excess
    asked = any(one["query"] == count for one in document["noise"])
    fitting: list[tuple[Fraction, list[_Answer]]] = []
    for origin in ((lower + upper) / 2, Fraction(0)) if asked or _rows_are_public(document) else (Fraction(0),):
        unit = rational_gcd(lower - origin, step if upper > lower else Fraction(0))
        total = _answer(document, total_query, unit or Fraction(1), columns, line["name"])
        rows = _answer(document, count, origin, columns, line["name"])
        if total is None or rows is None:
            return None
        answers = [total, *([rows] if origin else [])]
        found = _linear(answers, columns, line["name"], "")
        if found is not None and _fits(found, columns, line["name"], document):
            fitting.append((max((one.half_width(LEVEL) for one in found), default=Fraction(0)), answers))
    # Where both readings fit, the one with more noise: an interval may be too wide, never too narrow.
    return max(fitting, key=lambda one: one[0])[1] if fitting else None


def _weighted_sum(document: Mapping[str, Any], line: Mapping[str, Any], columns: Columns) -> list[_Answer] | None:
    """Unit · the sum of products of a column and its weights, both in whole steps from 0."""
    names = line["column"], line["by"]
    bounds = [bounds_of(document, {**line, "column": name}) for name in names]
    units = [rational_gcd(one[0], one[2]) for one in bounds if one is not None]
    if len(units) < len(names):
        return None
    query = f"sum of {names[0]} times {names[1]} where {names[0]} and {names[1]} are known"
    fitting: list[tuple[Fraction, list[_Answer]]] = []
    for written in document["noise"]:  # a weighted mean has a query of the same name, from the middle of the column
        answer = (
            _answer_of(written, query, units[0] * units[1], columns, line["name"]) if written["query"] == query else None
        )
        found = None if answer is None else _linear([answer], columns, line["name"], "")
        if answer is not None and found is not None and _fits(found, columns, line["name"], document):
            fitting.append((max((one.half_width(LEVEL) for one in found), default=Fraction(0)), [answer]))
    return max(fitting, key=lambda one: one[0])[1] if fitting else None


def _rows_are_public(document: Mapping[str, Any]) -> bool:
    if any(one["step"] == "sample" and "rate" in one for one in document["plan"]["steps"]):
        return False  # how many rows such a sample has is private
    return document["plan"]["neighbours"]["relation"] == "replace-one" or document["invariants"] is not None


_READERS = {"count": _count, "sum": _sum, "weighted_sum": _weighted_sum}
LINEAR = frozenset(_READERS)
"""The statistics that are linear in their noises."""


def bounds_of(document: Mapping[str, Any], line: Mapping[str, Any]) -> tuple[Fraction, Fraction, Fraction] | None:
    """Lower and upper bound of the column that a statistic reads, after its clamps, and its step.

    None where a step of the plan is not known here.
    """
    plan, column = document["plan"], line["column"]
    (declared,) = (one for one in plan["schema"] if one["name"] == column)
    if declared["type"] != "number" or any(one["step"] not in _KNOWN_STEPS for one in plan["steps"]):
        return None
    lower, upper, step = (exact(declared[key], key) for key in ("lower", "upper", "step"))
    for one in () if _is_twin(document, line) else plan["steps"]:
        if one["step"] == "clamp" and one["column"] == column:
            lower, upper = max(lower, exact(one["lower"], "lower")), min(upper, exact(one["upper"], "upper"))
    return lower, upper, step


def _answer(document: Mapping[str, Any], query: str, factor: Fraction, columns: Columns, name: str) -> _Answer | None:
    """The answer of a query with its laws; None where the document does not say them."""
    noises = [one for one in document["noise"] if one["query"] == query]
    if len(noises) > 1:
        return None
    if not noises:
        return _Answer(query, factor, None, tied=False)
    return _answer_of(noises[0], query, factor, columns, name)


def _answer_of(written: Mapping[str, str], query: str, factor: Fraction, columns: Columns, name: str) -> _Answer | None:
    """The same for one noise of the document."""
    if "lattice" in written:
        return _on_lattice(written, query, factor, columns, name)
    if written["noise"] not in _LAWS:
        return None
    key, law = _LAWS[written["noise"]]
    return _Answer(query, factor, (law(exact(written[key], key)),), tied=False)


def _on_lattice(written: Mapping[str, str], query: str, factor: Fraction, columns: Columns, name: str) -> _Answer | None:
    """Noise that sums to 0 in blocks: dependent cells, with log-concave laws whose 95 % widths the intervals show.

    Only of a count that is published itself: the widths are then the widths of its own intervals.
    """
    blocks = " block of " in written["lattice"] or " blocks of " in written["lattice"]

    if not blocks or written["noise"] not in _LOG_CONCAVE or columns[name]["kind"] != "integer" or factor != 1:
        return None
    highs, values = columns[f"{name}_high"]["values"], columns[name]["values"]
    return _Answer(
        query, factor, tuple(LogConcave(high - value) for high, value in zip(highs, values, strict=True)), tied=True
    )
