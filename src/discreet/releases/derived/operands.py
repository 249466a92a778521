"""The operands of a derived number: a column of a release, or public constants."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

from discreet.domain.about import About
from discreet.domain.row_samples import dyadic_below
from discreet.domain.words import one_line
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.canonical import canonical
from discreet.exact.given_paths import content_of, quote_path, reason
from discreet.exact.numbers import Amount, exact, text
from discreet.plan.recorded import PREPARED
from discreet.releases.derived.linear import Linear, constant
from discreet.releases.derived.reading import LINEAR, Printed, Published, bounds_of, numbers_of, outputs_of
from discreet.releases.document import Release
from discreet.releases.labelled import unit_of

__all__ = ["Key", "Numbers", "Quantity", "check_units", "constants", "label_of", "numbers", "public_sums"]

Key = tuple[str | None, ...]
"""The labels of a group, as texts; None for the group of nulls."""

_Row = tuple[int, Published]

_MOST_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Quantity:
    """The quantity of a number: two numbers of different quantities are never subtracted or averaged.

    Args:
        dataset: the data set; empty for public constants.
        statistic: the word of the statistic, such as "sum".
        column: the column; None for rows.
        output: which number of the statistic, such as "_q50"; empty where it has one.
        prepared: which rows count in which group, and how their column is declared and prepared, as canonical text.
        random: whether rows were imputed or sampled, so that each release describes a prepared table of its own.
        unit: the unit in the words of the release; empty where it names none.
    """

    dataset: str
    statistic: str
    column: str | None
    output: str
    prepared: str
    random: bool
    unit: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.statistic} of {self.column or 'rows'}"


@dataclass(frozen=True, slots=True, repr=False)
class Numbers:
    """Numbers of one quantity for each of some groups: what `ratio`, `change` and `combine` take.

    Args:
        keys: the columns of the groups.
        cells: for each group its number.
        quantity: what is counted or summed.
        source: where the numbers come from, as JSON values.
    """

    keys: tuple[str, ...]
    cells: Mapping[Key, Published]
    quantity: Quantity
    source: Mapping[str, Any]

    def __repr__(self) -> str:
        return one_line("Numbers:", f"{self.quantity}", f"for {len(self.cells)} groups")

    def __str__(self) -> str:
        return str(self.source["words"])


def numbers(
    release: Release,
    statistic: str | None = None,
    *,
    by: Sequence[str] | None = None,
    at: Mapping[str, object] | None = None,
) -> Numbers:
    """The numbers of a statistic of a release, for every group that its table has.

    Args:
        release: a small release; of a large one, choose groups and release those.
        statistic: a column of `release.table`; left out: the first one.
        by: keep these group columns and add up over the others, which counts and sums allow.
        at: only the groups with these labels; their columns are no longer keys, so that one group is compared with many.

    Raises:
        ArgumentError: no such column, group or label, or numbers that cannot be added up.
    """
    if not isinstance(release, Release):
        raise ArgumentError(f"release={printed(release)}: must be a Release, such as Release.load('results')")
    if release.parts:
        raise ArgumentError("release: is too large to derive numbers from; release the groups that are needed by themselves")
    document = release.document
    chosen = _choose_output(document, statistic)
    keys = tuple(_labels(document))
    kept = _choose_columns(keys, by, "by") if by is not None else keys
    fixed = {name: label_of(value) for name, value in (at or {}).items()}
    _choose_columns(keys, [*fixed], "at")
    rows = _at(keys, _rows(document, chosen), fixed)
    left = tuple(name for name in keys if name not in fixed)
    if by is None:
        cells = {key: number for key, (_, number) in rows.items()}
    else:
        kept = tuple(name for name in kept if name not in fixed)
        left, cells = kept, _add_up(left, rows, kept, public_sums(document, chosen), _refusal(document, chosen))
    quantity = _quantity(document, chosen, {*kept, *fixed}, release.about)
    return Numbers(left, cells, quantity, _source(release, document, chosen, by, fixed))


def constants(values: Any, value: str | None = None) -> Numbers:
    """Numbers that are public without noise, such as the population of each area.

    Args:
        values: a single number; a frame or a mapping of its columns to lists of equal length; or the path of a CSV file in
            UTF-8 with a header.
        value: the column of the numbers; left out: the last one. All others are the labels of the groups.

    Raises:
        ArgumentError: a column that is missing, numbers that are not numbers, a group that occurs twice.
    """
    if isinstance(values, int | float | Fraction) and not isinstance(values, bool):
        return _constant_numbers((), {(): values}, "a public constant")
    columns, words = _table(values)
    if not columns:
        raise ArgumentError("constants: the table has no columns; give labels and a column of numbers")
    name = value if value is not None else next(reversed(columns))
    if name not in columns:
        raise ArgumentError(f"value={printed(name)}: is not a column of the table{did_you_mean(name, columns)}")
    keys = tuple(column for column in columns if column != name)
    rows = list(zip(*(columns[key] for key in keys), columns[name], strict=True))
    cells = {tuple(map(label_of, row[:-1])): row[-1] for row in rows}
    if len(cells) < len(rows):
        raise ArgumentError(f"constants: a group occurs twice among {', '.join(keys) or 'no labels'}; write each group once")
    return _constant_numbers(keys, cells, f"{name} of {words}")


def check_units(first: Numbers, second: Numbers) -> None:
    """Both have one unit, as far as their releases name units.

    Raises:
        ArgumentError: they name different ones.
    """
    units = first.quantity.unit, second.quantity.unit
    if all(units) and units[0] != units[1]:
        raise ArgumentError(
            f"{first} is in {printed(units[0])} and {second} in {printed(units[1])}: two units have no difference "
            "and no mean; release both in one unit, or mend the texts with Release.labelled"
        )


def label_of(value: object) -> str | None:
    """The label as text, as CSV files have it; None for null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _constant_numbers(keys: tuple[str, ...], cells: Mapping[Key, Amount], words: str) -> Numbers:
    exactly = {key: constant(exact(number, "constants")) for key, number in cells.items()}
    quantity = Quantity("", "constant", None, "", "", random=False)
    return Numbers(keys, exactly, quantity, {"constants": words, "words": words})


def _table(values: Any) -> tuple[dict[str, list[Any]], str]:
    """The columns of a frame, of a mapping or of a CSV file, and what to call it."""
    if isinstance(values, str | Path):
        try:
            rows = list(csv.reader(StringIO(content_of(Path(values)).decode("utf-8-sig"), newline="")))
        except (OSError, ValueError, csv.Error) as wrong:
            why = reason(wrong) if isinstance(wrong, OSError | ValueError) else "is not a CSV file"
            raise ArgumentError(f"constants: {quote_path(values)}: {why}; give a CSV file in UTF-8 with a header") from None
        if not rows or any(len(row) != len(rows[0]) for row in rows):
            raise ArgumentError(f"constants: {quote_path(values)}: every line must have as many cells as the header")
        return {name: [row[place] or None for row in rows[1:]] for place, name in enumerate(rows[0])}, Path(values).name
    if hasattr(values, "columns"):
        return {str(name): list(values[name]) for name in values.columns}, "a public table"
    if isinstance(values, Mapping):
        columns = {str(name): list(column) for name, column in values.items()}
        if len({len(column) for column in columns.values()}) > 1:
            raise ArgumentError("constants: the columns of the table must have equal lengths")
        return columns, "a public table"
    raise ArgumentError(f"constants={printed(values)}: must be a number, a table or the path of a CSV file")


def _choose_output(document: Mapping[str, Any], statistic: str | None) -> str:
    known = outputs_of(document)
    if statistic is None and known:
        return next(iter(known))
    if not isinstance(statistic, str) or statistic not in known:
        hint = did_you_mean(statistic, known) if known else "; it has frames only"
        raise ArgumentError(
            f"statistic={printed(statistic)}: is not a column of numbers of release '{document['name']}'{hint}"
        )
    return statistic


def _labels(document: Mapping[str, Any]) -> list[str]:
    """The label columns of the main table, which come first."""
    return [one["name"] for one in document["columns"][: len(document["plan"]["group_by"])]]


def _choose_columns(keys: Sequence[str], wanted: Iterable[str], argument: str) -> tuple[str, ...]:
    if isinstance(wanted, str):
        raise ArgumentError(f"{argument}={printed(wanted)}: must be a list of group columns")
    for name in (wanted := list(wanted)):
        if name not in keys:
            raise ArgumentError(
                f"{argument}: {printed(name)} is not a group column of the release{did_you_mean(name, keys)}"
            )
    return tuple(name for name in keys if name in wanted)


def _rows(document: Mapping[str, Any], chosen: str) -> dict[Key, _Row]:
    """For each row of the table its place and its number, by its labels."""
    columns = document["columns"][: len(document["plan"]["group_by"])]
    found = numbers_of(document, chosen)
    if len(found) > _MOST_ROWS:
        raise ArgumentError(f"release: has {len(found)} groups; numbers are derived for at most {_MOST_ROWS}")
    labels = zip(*(map(label_of, one["values"]) for one in columns), strict=True) if columns else [()]
    return dict(zip(labels, enumerate(found), strict=True))


def _at(keys: Sequence[str], rows: Mapping[Key, _Row], fixed: Mapping[str, str | None]) -> dict[Key, _Row]:
    """The rows with the fixed labels, by their other labels."""
    for name, label in fixed.items():
        known = dict.fromkeys(key[keys.index(name)] for key in rows)
        if label not in known:
            shown = did_you_mean(label, [one for one in known if one is not None])
            raise ArgumentError(f"at: {name} has no group {printed(label)} in the table{shown}")
    chosen = {}
    for key, row in rows.items():
        named = dict(zip(keys, key, strict=True))
        if all(named[name] == label for name, label in fixed.items()):
            chosen[tuple(label for name, label in named.items() if name not in fixed)] = row
    return chosen


def _add_up(
    keys: tuple[str, ...],
    rows: Mapping[Key, _Row],
    kept: tuple[str, ...],
    public: Mapping[frozenset[int], int],
    refusal: str,
) -> dict[Key, Published]:
    """The sums over all rows with the same labels in the columns that are kept; a public sum is a constant.

    Numbers that cannot be added up are refused with these words.
    """
    places = [keys.index(name) for name in kept]
    parts: dict[Key, list[_Row]] = {}
    for key, row in rows.items():
        parts.setdefault(tuple(key[place] for place in places), []).append(row)
    return {key: _sum(ones, public, refusal) for key, ones in parts.items()}


def _refusal(document: Mapping[str, Any], chosen: str) -> str:
    """Why numbers of which the document shows intervals alone cannot be added up."""
    line = outputs_of(document)[chosen]
    if line["statistic"] not in LINEAR:
        return "by: only counts and sums can be added up; name every group column, or use another statistic"
    tied = "is tied by exact totals" if document["invariants"] is not None else "cannot be read from its document"
    return (
        f"by: the noise of {chosen} in release '{document['name']}' {tied}, so its groups cannot be added up; name every "
        "group column, or release the sum over the others by itself"
    )


def _sum(rows: Sequence[_Row], public: Mapping[frozenset[int], int], refusal: str) -> Linear:
    total = public.get(frozenset(place for place, _ in rows))
    if total is not None:
        return constant(Fraction(total))
    added = Linear(Fraction(0))
    for _, one in rows:
        if isinstance(one, Printed):
            raise ArgumentError(refusal)
        added = Linear(added.value + one.value, (*added.terms, *one.terms))  # noises of several cells differ
    return added


def public_sums(document: Mapping[str, Any], chosen: str) -> dict[frozenset[int], int]:
    """The sums over rows of the table that are public without noise, by the places of the rows; of counts of rows alone."""
    line = outputs_of(document)[chosen]
    if line["statistic"] != "count" or (line["column"] is not None and line.get("counts") != "rows"):
        return {}
    found = {}
    rows = len(document["columns"][0]["values"])
    for one in document.get("known_sums", ()):
        labels = one["labels"] or [0] * rows
        for label, total in enumerate(one["totals"]):
            found[frozenset(place for place, mine in enumerate(labels) if mine == label)] = total
    return found


def _quantity(document: Mapping[str, Any], chosen: str, used: Collection[str], texts: About) -> Quantity:
    """The numbers in words; `used` are the group columns whose labels tell them apart."""
    line, plan = outputs_of(document)[chosen], document["plan"]
    column = line.get("column")
    steps = [one for one in plan["steps"] if line.get("covers", PREPARED) == PREPARED or one["step"] == "where"]
    weighed = {key: line[key] for key in ("over", "by", "most") if key in line}
    read = {column, *(weighed.get(key) for key in ("over", "by"))}
    prepared = canonical({**_preparation({**plan, "steps": steps}, read, used), "counts": line.get("counts"), **weighed})
    random = (
        any(one["step"] in {"impute", "resize", "sample"} for one in steps)
        and "original" not in document["interval"]["covers"]
    )
    unit = unit_of(texts, chosen, line)
    return Quantity(
        document["dataset"], line["statistic"], column, chosen.removeprefix(line["name"]), prepared, random, unit
    )


def _preparation(plan: Mapping[str, Any], read: Collection[str | None], used: Collection[str]) -> dict[str, Any]:
    """The facts that decide which rows count where: the declarations and steps of what is read, of groups and conditions.

    A group column that was added up over is left out where its groups hold every row: it has no bins, and its null group
    is there.
    """
    dropped = plan.get("nulls_dropped")
    groups = [one for one in plan["group_by"] if one["column"] in used or "edges" in one or dropped]
    conditions = [one["column"] for one in plan["steps"] if one["step"] == "where"]
    asked = {*read, *conditions, *(one["column"] for one in groups)}
    declared = [one for one in plan["schema"] if one["name"] in asked]
    steps = [one for one in plan["steps"] if one["step"] in {"resize", "sample"} or one.get("column") in asked]
    made = {"persons": plan["persons"]} if "persons" in plan else {}
    return {"declared": declared, "groups": groups, "steps": steps, "dropped": dropped, **made}


def _sampling_of(document: Mapping[str, Any], chosen: str) -> dict[str, Any]:
    """The sampling of the rows and the bounds of the column; None where the rows were not sampled.

    The rate is the one that the draw uses, a multiple of 2^-64; None where the number of rows of the table is private.
    """
    plan, line = document["plan"], outputs_of(document)[chosen]
    step = next((one for one in plan["steps"] if one["step"] == "sample"), None)
    if step is None:
        return {}
    rows = plan["neighbours"].get("rows")
    rate = dyadic_below(exact(step["rate"], "rate")) if "rate" in step else rows and Fraction(step["rows"], rows)
    bounds = None if line.get("column") is None else bounds_of(document, line)
    ends = {} if bounds is None else {"lower": text(bounds[0]), "upper": text(bounds[1])}
    return {"sample": {"rate": None if rate is None else text(rate), "rows": rows, **ends}}


def _source(
    release: Release, document: Mapping[str, Any], chosen: str, by: Sequence[str] | None, fixed: Mapping[str, str | None]
) -> dict[str, Any]:
    places = "".join(f", {name} = {label}" for name, label in fixed.items())
    added = f", added up by {', '.join(by) or 'nothing'}" if by is not None else ""
    return {
        "dataset": document["dataset"],
        "release": document["name"],
        "digest": release.digest,
        "statistic": chosen,
        "by": None if by is None else list(by),
        "at": dict(fixed),
        "covers": document["interval"]["covers"],
        **_sampling_of(document, chosen),
        "words": f"{chosen} of '{document['name']}'{places}{added}",
    }
