"""Other looks at a release: computed from the published document alone, at no charge, and labelled as what they are.

Every view is a table of non-negative numbers near the published ones that agrees with everything that is public about it.
It looks better and is biased: small numbers are moved up, large ones down. It has no intervals of its own, and the
unbiased numbers are next to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.neighbours import is_of_persons
from discreet.errors import ArgumentError, printed
from discreet.releases.document import Release
from discreet.releases.seen import Seen, printed_cells, tables_seen
from discreet.statistics.other_words import EARLIER

if TYPE_CHECKING:
    import polars as pl

    from discreet.releases.consistent import Constraint
    from discreet.totals.laminar import Fact

__all__ = ["consistent", "view_deviations"]

_PARTS = 2**30
"""Shares of an unknown number of rows are whole multiples of 1 over this number."""


def consistent(release: Release, statistic: str | None = None) -> pl.DataFrame:
    """Counts or shares of a release as non-negative numbers that add up to everything that is public about them.

    The group columns, the numbers as they were published, and the view:

    * counts, and the bins of a histogram: `<name>_consistent`, non-negative integers near the published counts in least
      squares, whose sums are the exact totals and the public number of rows, or at most these, and lie in the published
      ranges (rounded and suppressed totals, classes of size, lower bounds);
    * shares: `share_consistent`, which add up to 1; if the release has counts of rows, the shares of the consistent counts;
    * one of several tables of `tables`: `count_consistent`, non-negative integers near the counts. They agree in the number
      of rows of every group that two tables share, and of combinations of groups if such integers are found. A document of
      0.1.0 has its least-squares counts under this name; there the integers are `count_whole`;
    * one of the tables of `agreeing_areas`: `count_consistent`, non-negative integers of which all areas add up.

    Args:
        release: with at least one count, share, histogram or table of counts.
        statistic: the name of a statistic or of a frame of `Release.tables`; left out: the first count of rows, or
            whatever of these is first.

    Raises:
        ArgumentError: no such numbers in the release, one of bounded persons, shares of which null groups are not printed,
            or totals for which the solver found no table.
    """
    if not isinstance(release, Release):
        raise ArgumentError(f"release={printed(release)}: must be a Release")
    if release.in_files:
        raise ArgumentError(
            "consistent(): the tables of areas are in files; write_whole(release, folder) writes whole numbers"
        )
    if release.parts:
        raise ArgumentError(
            "consistent(): the release has too many groups; ask for fewer, or add up the rows of release.scan()"
        )
    document = release.document
    one_row = document["plan"]["neighbours"].get("each") == "row"
    if (
        is_of_persons(document["guarantee"]["relation"]) and not one_row
    ):  # weighted numbers of persons are not counts of a table
        raise ArgumentError(
            "consistent(): the release counts persons as they are bounded, whose numbers add up to nothing; "
            "take a release of a table of rows"
        )
    found = {view.name: view for view in _views(document)}
    chosen = statistic if statistic is not None else _first(list(found.values()))
    if not isinstance(chosen, str) or chosen not in found:
        shown = ", ".join(found) if found else "none; ask for count(), share(), histogram(…) or tables(…)"
        raise ArgumentError(f"statistic={printed(statistic)}: the release has these counts and shares: {shown}")
    view = found[chosen]
    if view.line["statistic"] == "share":
        if _has_dropped(document, [group["column"] for group in document["plan"]["group_by"]]):
            raise ArgumentError(f"statistic={printed(chosen)}: null groups are not printed: shares do not add up to 1")
        values: NDArray[Any] = _shares(document, view, list(found.values()))
    elif view.line["statistic"] == "agreeing_areas":
        values = _whole_in_areas(document, view, list(found.values()))
    else:
        values = _whole_in_tables(document, view, list(found.values()))
    return _frame_with(release, view, values)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """Numbers that can be seen otherwise: a column of the main table or a frame.

    Args:
        name: of the statistic or of the frame.
        line: what the document says of the statistic.
        place: which table of the statistic it is, and `tables` how many there are; 0 for none.
        source: the part of the document with its columns and public sums.
        column: which of the columns holds the numbers.
    """

    name: str
    line: Mapping[str, Any]
    place: int
    tables: int
    source: Mapping[str, Any]
    column: str

    @property
    def cells(self) -> Seen:
        """The printed cells: the least-squares estimate where a document of 0.1.0 has it, else what was published."""
        names = [one["name"] for one in self.source["columns"]]
        column = "count_consistent" if self.tables and "count_consistent" in names else self.column
        return printed_cells(self.source, column, len(self.line["tables"][self.place]) if "tables" in self.line else 0)


def _views(document: Mapping[str, Any]) -> Iterator[_View]:
    """The counts, shares, histograms and tables of a release; frames stand in the order of their statistics."""
    frames = iter(document.get("frames", ()))
    for line in document["statistics"]:
        if line["statistic"] in {"count", "share"}:
            yield _View(line["name"], line, 0, 0, document, line["name"])
        elif line["statistic"] == "counted_in_full":
            next(frames, None)  # no view is about it
        elif line["statistic"] in {"histogram", "tables", "agreeing_areas", *EARLIER}:
            tables = len(line.get("tables", (None,)))
            for place, frame in zip(range(tables), frames, strict=False):
                yield _View(frame["name"], line, place, tables, frame, "count")


def _first(views: Sequence[_View]) -> str | None:
    rows = [view.name for view in views if _counts_rows(view)]
    return next(iter([*rows, *(view.name for view in views)]), None)


def _counts_rows(view: _View) -> bool:
    """True if it is a count of all rows of the groups."""
    return view.line["statistic"] == "count" and (view.line["column"] is None or view.line.get("counts") == "rows")


def _frame_with(release: Release, view: _View, values: NDArray[Any]) -> pl.DataFrame:
    """The labels, the numbers as they were published, and the view next to them."""
    import polars as pl

    frame = release.tables[view.name] if view.tables else release.table
    labels = len(release.document["plan"]["group_by"]) if not view.tables else frame.columns.index("count")
    agreeing = ["count_consistent"] if view.tables and "count_consistent" in frame.columns else []
    shown = frame.select(*frame.columns[:labels], view.column, *agreeing)
    name = "count_whole" if agreeing else f"{view.column}_consistent"
    while name in shown.columns:
        name += "_view"
    return shown.with_columns(pl.Series(name, values.tolist(), dtype=pl.Float64 if values.dtype.kind == "f" else pl.Int64))


def _whole_in_areas(document: Mapping[str, Any], view: _View, views: Sequence[_View]) -> NDArray[np.int64]:
    """The whole numbers of one table of a statistic of areas, which are found for all of its tables together."""
    from discreet.releases.whole_areas import whole_areas

    block = next(one for one in document["measured"] if one["statistic"] == view.line["name"])
    frames = [other.source for other in views if other.line is view.line]
    return whole_areas(document, block, frames)[view.place]


def view_deviations(release: Release) -> pl.DataFrame:
    """How far the whole numbers of tables of areas, as `consistent` makes them, are from the unbiased counts beside them.

    Args:
        release: with tables of `agreeing_areas`, which its document holds; `write_whole` gives the same of those in files.

    Returns:
        For each table, and the counts of each size beside their half-widths, the number of cells, the mean of whole number
        less count, and the mean of its size.

    Raises:
        ArgumentError: no such tables, or exact totals that cross them, of which no whole numbers were found.
    """
    from discreet.releases.deviations import Deviations
    from discreet.releases.whole_areas import whole_areas

    document, found = release.document, Deviations()
    blocks = [] if release.in_files else [one for one in document.get("measured", ()) if "levels" in one]
    if not blocks:
        raise ArgumentError("view_deviations(): takes a release whose document has tables of agreeing_areas")
    for block in blocks:
        frames = [view.source for view in _views(document) if view.line["name"] == block["statistic"]]
        for frame, whole in zip(frames, whole_areas(document, block, frames), strict=True):
            columns = {one["name"]: np.array(one["values"]) for one in frame["columns"]}
            found.add(frame["name"], [columns[name] for name in ("count", "count_low", "count_high")], whole)
    return found.frame()


def _whole_in_tables(document: Mapping[str, Any], view: _View, views: Sequence[_View]) -> NDArray[np.int64]:
    """The whole numbers of a count, or of one of several tables, which are found for all of these together."""
    if "measured" in view.line or view.line["statistic"] in EARLIER:
        tables = [other for other in views if other.line is view.line]
        block = next(one for one in document["measured"] if one["statistic"] == view.line["name"])
        seen = tables_seen(block, document["noise"], [other.source for other in tables])
    elif view.tables > 1 and _agrees(document, view):
        seen = [other.cells for other in views if other.line is view.line]
    else:
        return _integer_counts(view.cells, all_rows=view.tables > 0 or _counts_rows(view))
    own = seen[view.place]
    return _reconcile(view.line["tables"], seen)[view.place][own.shown]


def _agrees(document: Mapping[str, Any], view: _View) -> bool:
    """True if the numbers of several tables of a document of 0.1.0 were made to agree, and all of them are printed."""
    groups = [group["column"] for table in view.line["tables"] for group in table]
    return any(one["name"] == "count_consistent" for one in view.source["columns"]) and not _has_dropped(document, groups)


def _integer_counts(seen: Seen, agreeing: Sequence[Constraint] = (), *, all_rows: bool = True) -> NDArray[np.int64]:
    """Non-negative integers with the public sums, which lie in the published ranges.

    A count of rows that are not null has at most the counts of all rows.
    """
    from discreet.releases.consistent import consistent_within

    noisy, exact, most = _integers(seen.numbers), list(seen.exact), list(seen.most)
    if not all_rows:
        exact, most = [], [*exact, *most]
    values = consistent_within(noisy, [*exact, *agreeing], most)
    if not seen.ranges:
        return values
    from discreet.releases.within_ranges import fit_ranges, lies_within
    from discreet.totals.laminar import Fact

    ranges = [Fact(labels, least if all_rows else least * 0, ends, ranged=True) for labels, least, ends in seen.ranges]
    if lies_within(values, ranges):
        return values
    return fit_ranges(noisy, values, [*_facts([*exact, *agreeing], most), *ranges])


def _facts(exact: Sequence[Constraint], most: Sequence[Constraint]) -> list[Fact]:
    """Sums and the largest sums, as ranges."""
    from discreet.totals.laminar import Fact

    sums = [Fact(labels, totals, totals, ranged=False) for labels, totals in exact]
    return sums + [Fact(labels, np.zeros_like(totals), totals, ranged=False) for labels, totals in most]


def _integers(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """The nearest integers; none so large that sums of them could overflow."""
    most = 2**62 // max(1, len(numbers))
    if numbers.dtype.kind == "f":
        numbers = np.rint(np.clip(numbers, -most / 2, most / 2))
    whole: NDArray[np.int64] = np.clip(numbers, -most, most).astype(np.int64)
    return whole


def _shares(document: Mapping[str, Any], view: _View, views: Sequence[_View]) -> NDArray[np.float64]:
    """Non-negative shares that add up to 1: whole numbers of rows over all of them, or over many parts of one."""
    from discreet.releases.consistent import consistent_counts

    counts = next(filter(_counts_rows, views), None)
    if counts is not None:
        rows = _integer_counts(counts.cells)
        if rows.any():
            return np.asarray(rows / rows.sum())
    seen = view.cells
    cells = len(seen.numbers)
    every = next((one["totals"][0] for one in document.get("known_sums", []) if one["labels"] is None), None)
    if every is None:
        parts = consistent_counts(_integers(seen.numbers * _PARTS), [(np.zeros(cells, np.int64), np.array([_PARTS]))]).values
        return np.asarray(parts / _PARTS)
    found = consistent_counts(_integers(seen.numbers * every), seen.exact).values
    return np.asarray(found / every)


def _has_dropped(document: Mapping[str, Any], columns: Sequence[str]) -> bool:
    """True if null groups of some column are not printed and may have rows: what is printed is then not about all rows."""
    plan = document["plan"]
    required = {column["name"] for column in plan["schema"] if column.get("required")}
    hidden = required.union(plan.get("nulls_dropped", ())).intersection(columns)
    return any(_null_counts(plan["steps"], column) for column in hidden)


def _null_counts(steps: Sequence[Mapping[str, Any]], column: str) -> bool:
    """True if a row can be null in a column and count: no condition is on it, and nothing is left imputed in it."""
    nullable = True
    for step in steps:
        if step.get("column") == column and step["step"] == "where":
            return False  # null satisfies no condition
        if step.get("column") == column:
            nullable = step["step"] == "clamp" and (nullable or "categories" in step)
    return nullable


def _reconcile(groups: Sequence[Sequence[Any]], seen: Sequence[Seen]) -> list[NDArray[np.int64]]:
    """The tables of a statistic as integers, the smallest first: each has the sums of the previous tables on their overlap.

    The overlaps of several groups may contradict each other, and then no such integers exist: the table has only the sums of
    every single group.
    """
    found: dict[int, NDArray[np.int64]] = {}
    for place in sorted(range(len(seen)), key=lambda one: len(seen[one].numbers)):
        together: list[Constraint] = []
        single: list[Constraint] = []
        for other, counts in found.items():
            shared = [group for group in groups[place] if group in groups[other]]
            both = (groups[place], seen[place]), (groups[other], seen[other])
            together.append(_margin(*both, counts, shared))
            single += [_margin(*both, counts, [group]) for group in shared]
        found[place] = _first_integer_counts(seen[place], [together, single, []])
    return [found[place] for place in range(len(seen))]


def _first_integer_counts(seen: Seen, agreeing: Sequence[Sequence[Constraint]]) -> NDArray[np.int64]:
    """The view with the first of several sets of further sums for which it is found.

    Raises:
        ArgumentError: it is not found for the last one either.
    """
    for further in agreeing[:-1]:
        with suppress(ArgumentError):
            return _integer_counts(seen, further)
    return _integer_counts(seen, agreeing[-1])


_Grouped = tuple[Sequence[Any], Seen]


def _margin(view: _Grouped, other: _Grouped, counts: NDArray[np.int64], shared: Sequence[Any]) -> Constraint:
    """The sums of another table over some groups that both have, as sums over the cells of a view."""
    sizes = [1 + max(int(_level(one, group).max(initial=0)) for one in (view, other)) for group in shared]
    labels, places = (_labels(one, shared, sizes) for one in (view, other))
    sums = np.zeros(max(int(one.max(initial=0)) for one in (labels, places)) + 1, np.int64)
    np.add.at(sums, places, counts)
    return labels, sums


def _level(one: _Grouped, group: Any) -> NDArray[np.int64]:
    groups, seen = one
    return seen.levels[list(groups).index(group)]


def _labels(one: _Grouped, shared: Sequence[Any], sizes: Sequence[int]) -> NDArray[np.int64]:
    """For each cell of a table the number of its cell in the margin of the shared groups."""
    labels = np.zeros(len(one[1].numbers), np.int64)
    for group, size in zip(shared, sizes, strict=True):
        labels = labels * size + _level(one, group)
    return labels
