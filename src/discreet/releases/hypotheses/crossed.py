"""The table of noisy counts that a test reads in a release: its cells, the law of their noise, and the sums that are exact.

Only what the document says is used, so that a test works on a file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain.neighbours import is_of_persons
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.noise.single.laws import Law
from discreet.releases.derived.linear import Linear
from discreet.releases.derived.operands import Key, Numbers, label_of, numbers, public_sums
from discreet.releases.derived.reading import outputs_of
from discreet.releases.document import Release

__all__ = [
    "ROWS",
    "Cells",
    "Margins",
    "check_facts",
    "check_labels",
    "check_rows",
    "count_column",
    "independent_laws",
    "margins_of",
    "read_cells",
]

ROWS = "the rows of the table are independent draws from a population (or its levels were assigned at random)"

_MOST_COUNT = 2**40
_ROWS = ("add-remove", "replace-one")
"""The relations under which a row is a person; under others a person may have several."""

_NOT_ROWS = {
    "impute": "imputes a column, so that some of its values are drawn and not recorded",
    "resize": "repeats or leaves out rows, so that rows are not independent",
    "sample": "samples the rows, so that the exact totals are those of other rows",
}


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Noisy counts for each pair of a level of one column and a level of another.

    Args:
        names: the two columns; the second is empty for a table of one column.
        levels: the labels of each.
        published: the numbers, by their labels.
        chosen: the column of the release that they are in.
        source: where they come from, as JSON values.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str | None, ...], ...]
    published: Mapping[Key, Any]
    chosen: str
    source: Mapping[str, Any]

    @property
    def values(self) -> NDArray[np.int64]:
        """The noisy counts, in the shape of the levels."""
        found = np.array([int(one.value) for one in self.published.values()], dtype=np.int64)
        return found.reshape([len(one) for one in self.levels])


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """The sums of a table that are public without noise; None where one is not.

    Args:
        rows: the sum of each row.
        columns: the sum of each column.
        whole: of all cells.
        rows_first: whether the document lists the sums of rows before those of columns.
    """

    rows: NDArray[np.int64] | None
    columns: NDArray[np.int64] | None
    whole: int | None
    rows_first: bool


def read_cells(
    release: Release,
    statistic: str | None,
    by: Sequence[str] | None,
    at: Mapping[str, object] | None,
    *,
    nulls: bool = False,
) -> Cells:
    """The counts of a release by two columns; with `nulls` also those of rows without a value.

    Raises:
        ArgumentError: other columns or statistics, rows that a test says nothing about, or a table with too few levels.
    """
    check_rows(release)
    check_labels(at, "at")
    chosen = count_column(release.document, statistic)
    names = _check_names(release.document, by, at or {}, 2)
    found = numbers(release, chosen, by=None if _is_whole(release.document, names) else names, at=at)
    seen = (dict.fromkeys(key[found.keys.index(name)] for key in found.cells) for name in names)
    levels = tuple(tuple(label for label in each if nulls or label is not None) for each in seen)
    cells = {key: found.cells.get(_placed(found, names, key)) for key in _product(levels)}
    if any(one is None for one in cells.values()) or any(abs(one.value) >= _MOST_COUNT for one in cells.values() if one):
        raise ArgumentError(f"{chosen}: the table of {' and '.join(names)} has cells that are missing or too large to test")
    return Cells(tuple(names), levels, cells, chosen, found.source)


def check_rows(release: Release) -> None:
    """The prepared rows are rows of the data, at most one of each person.

    Raises:
        ArgumentError: not a release, or a step or a unit for which rows are not independent draws.
    """
    if not isinstance(release, Release):
        raise ArgumentError(f"release={printed(release)}: must be a Release, such as Release.load('results')")
    plan = release.document["plan"]
    for step in plan["steps"]:
        if step["step"] in _NOT_ROWS:
            raise ArgumentError(
                f"release '{release.document['name']}': {_NOT_ROWS[step['step']]}; a test says nothing about such rows: "
                f"release the statistics without {step['step']}"
            )
    if plan["neighbours"]["relation"] not in _ROWS or plan["neighbours"].get("rows_per_person", 1) != 1:
        raise ArgumentError(
            f"release '{release.document['name']}': a person may have several rows, which are not independent; "
            "release counts of a table with one row for each person"
        )


def check_facts(release: Release, *given: Collection[str]) -> None:
    """Each exact fact beside the release is about columns whose values the test takes as given, one of these lists of them.

    Exact facts decide in which cells there is noise, and how much. So the noise is independent of what is tested only where
    they say nothing of it (theorem T0 of docs/proofs/tests.md). What everyone knows is not among them.

    Raises:
        ArgumentError: another fact.
    """
    parts = [] if release.document["invariants"] is None else release.document["invariants"]["totals"]["parts"]
    for part in parts:
        if not any(set(part["columns"]) <= {*names} for names in given):
            raise ArgumentError(
                f"release '{release.document['name']}': its noise depends on the exact facts about "
                f"{', '.join(part['columns'])}, which tell more than the test takes as given; release the statistics from a "
                "data set without these facts"
            )


def check_labels(given: object, argument: str) -> None:
    """Raises ArgumentError for what is not labels by their columns."""
    if given is not None and not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
        raise ArgumentError(f'{argument}={printed(given)}: must be labels by their columns, such as {{"sex": "f"}}')


def independent_laws(cells: Cells) -> tuple[tuple[Law, ...], ...] | None:
    """For each cell, in order, the laws of the noises that are added up in it; None where not all are independent."""
    laws = []
    for one in cells.published.values():
        if not isinstance(one, Linear) or any(cell.tied or factor != 1 for factor, cell in one.terms):
            return None
        laws.append(tuple(cell.law for _, cell in one.terms))
    return tuple(laws)  # type: ignore[arg-type]


def margins_of(release: Release, cells: Cells, at: Mapping[str, object] | None) -> Margins:
    """The sums over rows and columns of the table that the document says exactly."""
    document = release.document
    sums = public_sums(document, cells.chosen)
    places = _places(document, cells, at or {})
    by_row, by_column = ([sums.get(one) for one in _sets(places, axis)] for axis in (0, 1))
    whole = sums.get(frozenset(p for each in places.values() for p in each))
    known = [_all_known(by_row), _all_known(by_column)]
    for each in known:
        whole = int(each.sum()) if whole is None and each is not None else whole
    order = list(sums)
    firsts = [
        min((order.index(one) for one in each if one in sums), default=len(order))
        for each in (_sets(places, 0), _sets(places, 1))
    ]
    return Margins(known[0], known[1], whole, firsts[0] <= firsts[1])


def _sets(places: Mapping[tuple[int, int], Sequence[int]], axis: int) -> list[frozenset[int]]:
    """For each level of a column the rows of the published table that are in it."""
    found: dict[int, set[int]] = {}
    for key, each in places.items():
        found.setdefault(key[axis], set()).update(each)
    return [frozenset(found[level]) for level in sorted(found)]


def _all_known(found: Sequence[int | None]) -> NDArray[np.int64] | None:
    return None if any(one is None for one in found) else np.array(found, dtype=np.int64)


def _places(document: Mapping[str, Any], cells: Cells, at: Mapping[str, object]) -> dict[tuple[int, int], list[int]]:
    """For each cell of the test the rows of the published table that are added up in it."""
    columns = document["columns"][: len(document["plan"]["group_by"])]
    labels = {one["name"]: [label_of(value) for value in one["values"]] for one in columns}
    fixed = {name: label_of(value) for name, value in at.items()}
    found: dict[tuple[int, int], list[int]] = {}
    for place in range(len(columns[0]["values"]) if columns else 1):
        here = [labels[name][place] for name in cells.names]
        inside = all(label in levels for label, levels in zip(here, cells.levels, strict=True))
        if inside and all(labels[name][place] == label for name, label in fixed.items()):
            key = [levels.index(label) for label, levels in zip(here, cells.levels, strict=True)]
            found.setdefault((key[0], key[1]), []).append(place)
    return found


def count_column(document: Mapping[str, Any], statistic: str | None) -> str:
    """The column of counts that is meant, or the first. Raises ArgumentError where it is not one."""
    if is_of_persons(document["guarantee"]["relation"]):
        raise ArgumentError(
            f"release '{document['name']}': counts persons with weights, which are not counts of a table, and this test has "
            "no law for them; take a release of a table of rows"
        )
    known = [name for name, line in outputs_of(document).items() if line["statistic"] == "count" and name == line["name"]]
    if statistic is None and known:
        return known[0]
    if statistic not in known:
        hint = did_you_mean(statistic, known) if known else "; it has no counts"
        raise ArgumentError(
            f"statistic={printed(statistic)}: is not a column of counts of release '{document['name']}'{hint}; "
            "release count()"
        )
    return str(statistic)


def _check_names(document: Mapping[str, Any], by: Sequence[str] | None, at: Mapping[str, object], axes: int) -> list[str]:
    keys = [one["name"] for one in document["columns"][: len(document["plan"]["group_by"])]]
    if by is not None and (not isinstance(by, list | tuple) or not all(isinstance(name, str) for name in by)):
        raise ArgumentError(f"by={printed(by)}: must be a list of group columns")
    names = [name for name in keys if name not in at] if by is None else list(by)
    if len(names) != axes or len(set(names)) != axes or any(name not in keys or name in at for name in names):
        raise ArgumentError(
            f"by={printed(', '.join(names))}: name {axes} different group {'columns' if axes > 1 else 'column'} of the "
            f"release out of {', '.join(map(printed, keys)) or 'none'}; the others are added up, or fixed by at="
        )
    return names


def _is_whole(document: Mapping[str, Any], names: Sequence[str]) -> bool:
    """True if nothing has to be added up."""
    return len(document["plan"]["group_by"]) == len(names)


def _product(levels: tuple[tuple[str | None, ...], ...]) -> list[Key]:
    keys: list[Key] = [()]
    for each in levels:
        keys = [(*key, level) for key in keys for level in each]
    return keys


def _placed(found: Numbers, names: Sequence[str], key: Key) -> Key:
    """The key in the order of the release."""
    named = dict(zip(names, key, strict=True))
    return tuple(named[name] for name in found.keys)
