"""The agreement of tables: quantities that several releases publish, each with its own noise, and exact totals.

Two numbers are compared only where they are of one quantity: one data set, one statistic of one column, prepared and grouped
alike (`Quantity`). A table also publishes the sums over its groups, so a table by region and sex is held against one by
region. All of it is computed from release documents, with the intervals of `releases.derived`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from discreet.exact.canonical import canonical
from discreet.pages.programme.reading import MADE_UP
from discreet.releases.derived.linear import LEVEL
from discreet.releases.derived.operands import Key, Numbers, Quantity, numbers
from discreet.releases.derived.reading import Printed, Published, outputs_of
from discreet.releases.document import Release

__all__ = ["Agreement", "Gap", "TotalsAgreement", "agreements_of", "totals_agreements_of"]

_MOST_SUMS = 2_000
"""So many sums over groups are made at most: with 1,000 tables of one data set there would be a million."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The two numbers of one cell that are farthest apart.

    Args:
        cell: the labels of the cell.
        low: the smaller number, and the place of its release.
        high: the greater number, and the place of its release.
        overlap: whether the intervals of both have a point in common.
    """

    cell: Key
    low: tuple[Fraction, int]
    high: tuple[Fraction, int]
    overlap: bool

    @property
    def distance(self) -> Fraction:
        """The distance between the numbers."""
        return self.high[0] - self.low[0]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One quantity that several releases publish.

    Args:
        quantity: what it is.
        keys: the columns of its groups.
        direct: the places of the releases whose table has it.
        summed: the places of those whose table has it as sums over further groups.
        cells: how many cells at least two of them have.
        apart: in how many of these the intervals of two of them have no point in common.
        widest: the cell whose numbers are farthest apart, as a part of what their intervals allow.
    """

    quantity: Quantity
    keys: tuple[str, ...]
    direct: tuple[int, ...]
    summed: tuple[int, ...]
    cells: int
    apart: int
    widest: Gap


@dataclass(frozen=True, slots=True)
class TotalsAgreement:
    """Exact totals that several releases show.

    Args:
        dataset: the data set.
        part: what is exact: "totals", "occupied" or "linear".
        columns: of which columns.
        releases: the places of the releases that show them.
        same: whether all show the same numbers.
    """

    dataset: str
    part: str
    columns: tuple[str, ...]
    releases: tuple[int, ...]
    same: bool


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of numbers of a release, and which columns its groups have."""

    place: int
    release: Release
    name: str
    family: tuple[str, str, str]
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Part:
    """The numbers of one release for a quantity, as published or as sums."""

    place: int
    summed: bool
    numbers: Numbers


def agreements_of(releases: Sequence[Release]) -> tuple[Agreement, ...]:
    """Every quantity that at least two of the releases publish, the one with the worst agreement first.

    Rows that were imputed or sampled are drawn for each release: such tables describe different ones and are not compared.
    """
    columns = [column for place, release in enumerate(releases) for column in _columns(place, release)]
    found: dict[tuple[Quantity, frozenset[str]], list[_Part]] = {}
    for part in _parts(columns):
        if not part.numbers.quantity.random:
            found.setdefault((part.numbers.quantity, frozenset(part.numbers.keys)), []).append(part)
    compared = [_agreement(parts) for parts in found.values() if len(parts) > 1 and not all(one.summed for one in parts)]
    known = [one for one in compared if one is not None]
    return tuple(sorted(known, key=lambda one: (-one.apart / one.cells, one.quantity.dataset, str(one.quantity))))


def totals_agreements_of(releases: Sequence[Release]) -> tuple[TotalsAgreement, ...]:
    """Every part of exact totals that at least two of the releases show."""
    found: dict[tuple[str, str, tuple[str, ...]], list[tuple[int, str]]] = {}
    for place, release in enumerate(releases):
        for key, shown in _totals(release):
            found.setdefault(key, []).append((place, shown))
    return tuple(
        TotalsAgreement(*key, tuple(place for place, _ in ones), len({shown for _, shown in ones}) == 1)
        for key, ones in found.items()
        if len(ones) > 1
    )


def _totals(release: Release) -> Iterator[tuple[tuple[str, str, tuple[str, ...]], str]]:
    """The parts of the exact totals of a release: what they are, and their numbers as one text."""
    document = release.document
    try:
        parts = (document.get("invariants") or {"totals": {"parts": []}})["totals"]["parts"]
        for part in parts:
            shown = canonical({name: value for name, value in part.items() if name not in {"part", "columns"}})
            yield (release.dataset, str(part["part"]), tuple(map(str, part.get("columns", ())))), shown
    except MADE_UP:
        return


def _columns(place: int, release: Release) -> Iterator[_Column]:
    """The columns of numbers that can be compared; none of a large release, whose numbers are in files."""
    if release.parts:
        return
    document = release.document
    try:
        keys = frozenset(str(one["column"]) for one in document["plan"]["group_by"])
        for name, line in outputs_of(document).items():
            family = (release.dataset, str(line["statistic"]), str(line.get("column")))
            yield _Column(place, release, name, family, keys)
    except MADE_UP:
        return


def _parts(columns: Sequence[_Column]) -> Iterator[_Part]:
    """The numbers of all columns of families with several, and their sums for the groups of other tables."""
    by_family = sorted(columns, key=lambda one: (one.family, one.place))
    left = _MOST_SUMS
    for _, family in groupby(by_family, key=lambda one: one.family):
        ones = list(family)
        if len({one.place for one in ones}) < 2:
            continue
        wanted = {one.keys for one in ones}
        for one in ones:
            yield from _numbers(one, None)
            for keys in sorted((keys for keys in wanted if keys < one.keys), key=sorted):
                left -= 1
                if left >= 0:
                    yield from _numbers(one, sorted(keys))


def _numbers(column: _Column, by: Sequence[str] | None) -> Iterator[_Part]:
    try:
        yield _Part(column.place, by is not None, numbers(column.release, column.name, by=by))
    except MADE_UP:  # numbers that cannot be added up, or too many of them, or that are none
        return


def _agreement(parts: Sequence[_Part]) -> Agreement | None:
    """The treatment of the cells that several parts have; None where there is no such cell."""
    keys = parts[0].numbers.keys
    by_cell: dict[Key, list[tuple[int, Published]]] = {}
    for part in parts:
        order = [part.numbers.keys.index(name) for name in keys]
        for key, number in part.numbers.cells.items():
            by_cell.setdefault(tuple(key[one] for one in order), []).append((part.place, number))
    gaps = [_gap(cell, found) for cell, found in by_cell.items() if len(found) > 1]
    if not gaps or len({part.place for part in parts}) < 2:
        return None
    return Agreement(
        parts[0].numbers.quantity,
        keys,
        tuple(part.place for part in parts if not part.summed),
        tuple(part.place for part in parts if part.summed),
        len(gaps),
        sum(not gap.overlap for gap in gaps),
        max(gaps, key=lambda gap: (not gap.overlap, gap.distance)),
    )


def _gap(cell: Key, found: Sequence[tuple[int, Published]]) -> Gap:
    values = [(one.value, place) for place, one in found]
    ends = [_ends(one) for _, one in found]
    overlap = max(low for low, _ in ends) <= min(high for _, high in ends)
    return Gap(cell, min(values), max(values), overlap)


def _ends(one: Published) -> tuple[Fraction, Fraction]:
    """An interval that contains the true number with probability at least 95 %."""
    if isinstance(one, Printed):
        return one.low, one.high
    half = one.half_width(LEVEL) if one.terms else Fraction(0)
    return one.value - half, one.value + half
