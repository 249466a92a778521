"""Requests on a table of persons: what is refused, and the scan that answers the others (docs/proofs/persons.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Protocol

from discreet.cube.person_numbers import PersonNumber, Total
from discreet.cube.persons import InFull, PersonKey, PersonScan, PersonSpread, PersonValue
from discreet.cube.tables import Beside, PersonCodes
from discreet.cube.value_paths import CategoryPath, KeyAxis, NumberPath, Path, path_of
from discreet.domain.bounds import MOST_GROUPS
from discreet.domain.codes import NULL
from discreet.domain.columns import Date
from discreet.domain.discovery import Keys
from discreet.domain.groups import BinGroup, Group, group_labels
from discreet.domain.neighbours import Neighbours, OfPersons, no_persons, person_of
from discreet.domain.person_relations import base_of, check_base, of_table
from discreet.domain.schema import Schema
from discreet.domain.steps import CategoryFacts, Impute, NumberFacts, TableFacts, Where, WhereIn, conditions_of, facts_of
from discreet.errors import InternalError, PlanError
from discreet.plan.keys import key_scan
from discreet.plan.layout import Layout, Request
from discreet.plan.recorded import Original
from discreet.plan.shown import hidden_labels
from discreet.plan.sizes import MOST_WHOLE_CELLS
from discreet.statistics.base import Statistic
from discreet.statistics.counts import Count
from discreet.statistics.in_full import InFull as AskedInFull
from discreet.statistics.person_counting import Spread
from discreet.statistics.person_recipes import counts_rows, numbers_of, of_persons, spreads_of
from discreet.statistics.quantile import Median, Quantiles
from discreet.statistics.quantile_intervals import Chosen
from discreet.statistics.sums import Sum
from discreet.statistics.variances import BOX, Std, Variance

__all__ = ["check_persons", "condition_axis", "person_layout", "tables_beside"]


class Asking(Request, Protocol):
    """A request that says whose null groups it drops, and whether it is about the table as recorded."""

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """The statistics that are asked for."""

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns whose null groups this request drops."""

    @property
    def target(self) -> Original | None:
        """The wish for intervals of the table as recorded."""

    @property
    def keys(self) -> Keys | None:
        """The groups that nobody listed."""


def check_persons(request: Asking, facts: TableFacts) -> None:
    """Checks that a request on a table of persons is one whose answers have a proved bound for each person.

    Raises:
        PlanError: a bound is missing, or stands on a table of rows; a step, a statistic or intervals that have no such
            bound yet. The message names what to write instead.
    """
    check_base(request.neighbours)
    person = person_of(request.neighbours)
    if person is None:
        if facts.bound is not None:
            why = no_persons(request.neighbours, "leave the bound out")
            raise PlanError(f"bound(): bounds what one person counts for, and {why}")
        if request.schema.joined:
            raise PlanError(
                f"join('{next(iter(request.schema.joined))}'): joins by the person, and the table does not say whose row is "
                'whose; declare AddRemove(person="…") with an Identifier in the schema'
            )
        return
    _check_steps(request)
    for statistic in request.statistics:
        _check_statistic(statistic, facts)
    _check_bound(request, facts, person)
    cells = 1
    for group in request.group_by:
        cells *= len(group_labels(group, facts))
    if cells > MOST_WHOLE_CELLS:
        raise PlanError(
            f"group_by: {cells} cells of persons are more than {MOST_WHOLE_CELLS}, the most for a table of persons; "
            "group by fewer columns, or by coarser bins"
        )


def _check_steps(request: Asking) -> None:
    for step in request.steps:
        if isinstance(step, Impute):
            raise PlanError(
                f"impute('{step.column}'): draws values row by row, and a person may have any number of rows; leave it "
                "out: null is a group of its own"
            )
    if request.facts.drawn is not None:
        raise PlanError(
            "resize(), sample(): draw rows, and what is protected here are all rows of a person; leave the step out, and "
            "bound what one person counts for: bound(groups=…, rows=…)"
        )
    if request.target is not None:
        raise PlanError("original(): has no intervals for a table of persons; leave it out")


_ANSWERED = (
    "persons(), share(), count(), mean, variance, std, histogram, median and quantiles of rows, and sum, mean, variance and "
    "std of what each person has, with per_person=(low, high)"
)
"""What a table of persons answers."""


def _check_statistic(statistic: Statistic, facts: TableFacts) -> None:
    kind = statistic.kind
    if type(kind) not in of_persons():
        further = f"write sum('{statistic.column}', per_person=(low, high))" if isinstance(kind, Sum) else _ONE_ROW
        raise PlanError(
            f"statistic '{statistic.name}': {kind.word} has no bound for all rows of a person; a table with person= answers "
            f"{_ANSWERED}; {further}"
        )
    if isinstance(kind, Count) and statistic.column is not None and not _has_numbers(statistic.column, facts):
        raise PlanError(
            f"{kind.word}('{statistic.column}'): of the rows of a person those with a value are counted for columns of "
            f"numbers; group by '{statistic.column}' and ask for {kind.word}()"
        )
    if (isinstance(kind, Variance | Std) and kind.interval != BOX) or (
        isinstance(kind, Median | Quantiles) and isinstance(kind.interval, Chosen)
    ):
        raise PlanError(
            f"{kind.word}('{statistic.column}'): has no interval of this kind on a table of persons; leave interval out"
        )


_ONE_ROW = "ask for it on a table with one row of each person: table.per_person(…)"


def _has_numbers(column: str, facts: TableFacts) -> bool:
    known = facts[column]
    return isinstance(known, NumberFacts) and not isinstance(known.column, Date)


def _check_bound(request: Asking, facts: TableFacts, person: str) -> None:
    weight = "" if facts.bound is None else facts.bound.weight or ""
    if weight in facts.tables:
        raise PlanError(
            f"bound(weight='{weight}'): is a column of '{facts.tables[weight]}', and a weight says for how many rows each "
            "row stands; name a column of the rows"
        )
    bound, of_rows = facts.bound, any(counts_rows(one) for one in request.statistics)
    missing = [*_missing(bound is None or bound.groups is None, bool(request.group_by), "groups=8")]
    missing += _missing(bound is None or bound.rows is None, of_rows, "rows=3")
    if missing:
        raise PlanError(
            f"bound(): one '{person}' can have any number of rows in any number of groups; state what one person counts for "
            f"before group_by() or agg(), such as bound({', '.join(missing)})"
        )


def _missing(lacks: bool, needs: bool, example: str) -> Iterator[str]:  # noqa: FBT001
    if lacks and needs:
        yield example


# The scan -----------------------------------------------------------------------------------------------------------------


def person_layout(request: Asking, person: str) -> Layout:
    """The one scan of a request on a table of persons."""
    labels = tuple(group_labels(group, request.facts) for group in request.group_by)
    if request.keys is None:
        scan = _scan_of(request, person, request.group_by)
        return Layout((), labels, scan.cells, "", scan)
    rest = _scan_of(request, person, [one for one in request.group_by if one.column != request.keys.discover.column])
    whole = replace(rest, keys=(), sizes=tuple(map(len, labels)), tests=())
    return Layout((), labels, whole.cells, "", whole, keys=key_scan(request, request.keys, rest))


def _scan_of(request: Asking, person: str, groups: Sequence[Group]) -> PersonScan:
    bound = request.facts.bound
    rows = 1 if bound is None or bound.rows is None else bound.rows
    numbers = numbers_of(request.statistics, rows, request.facts)
    sizes = tuple(len(group_labels(group, request.facts)) for group in groups)
    strides = [prod(sizes[place:]) for place in range(1, len(sizes) + 1)]
    scan = PersonScan(
        person=person,
        keys=tuple(_key(request, group, stride) for group, stride in zip(groups, strides, strict=True)),
        sizes=sizes,
        tests=tuple(condition_axis(step, _path(request, step.column)) for step in conditions_of(request.steps)),
        groups=MOST_GROUPS if bound is None or bound.groups is None else bound.groups,
        rows=rows,
        values=_values(request, numbers),
        numbers=numbers,
        spreads=tuple(_spread(request, one) for one in spreads_of(request.statistics)),
        in_full=_in_full(request, numbers),
        weight=None if bound is None or bound.weight is None else _number_path(request, bound.weight),
    )
    if bound is None and scan.cells > 1:
        raise InternalError("a request with groups has a bound")
    return replace(scan, beside=tables_beside(scan.paths, request.neighbours, request.schema.joined))


def _in_full(request: Asking, numbers: Iterable[PersonNumber]) -> InFull | None:
    """When a person is counted in full, if that is asked; who is in more than the most groups never is."""
    if not any(isinstance(one.kind, AskedInFull) for one in request.statistics):
        return None
    bound = request.facts.bound
    groups = MOST_GROUPS if bound is None or bound.groups is None else bound.groups
    rows = None if bound is None or not any(counts_rows(one) for one in request.statistics) else bound.rows
    found = InFull(groups, rows, tuple(one for one in numbers if isinstance(one, Total)))
    cells = prod(len(group_labels(group, request.facts)) for group in request.group_by)
    if request.keys is None and groups >= cells and rows is None and not found.totals:
        raise PlanError("counted_in_full(): no bound of the request cuts anybody; leave it out")
    return found


def _spread(request: Asking, spread: Spread) -> PersonSpread:
    """The bins of a column, or its single values, of which rows without one have none."""
    path = _number_path(request, spread.column)
    if spread.by is None:
        values = path.high - path.low + 1
        return PersonSpread(KeyAxis(path), path.low, values, values, None, outside=False)
    inside, bins = len(spread.by.labels), len(group_labels(spread.by, request.facts))
    null = bins - 1 if bins > inside and bins - 1 not in hidden_labels(request, spread.by) else None
    return PersonSpread(KeyAxis(path, spread.by.edges), 1, inside, bins, null, outside=True)


def _path(request: Asking, name: str) -> Path:
    return path_of(name, request.steps, facts_of(request.schema, request.neighbours))


def _number_path(request: Asking, name: str) -> NumberPath:
    path = _path(request, name)
    if not isinstance(path, NumberPath):
        raise InternalError(f"column '{name}' is not numeric")
    return path


def _values(request: Asking, numbers: Iterable[PersonNumber]) -> tuple[PersonValue, ...]:
    """The columns that these numbers read, each once."""
    squared: dict[str, bool] = {}
    for one in numbers:
        if one.column is not None:
            squared[one.column] = one.squared or squared.get(one.column, False)
    return tuple(PersonValue(column, _number_path(request, column), both) for column, both in squared.items())


def _key(request: Asking, group: Group, stride: int) -> PersonKey:
    """The places of a group's labels. A row in a label that is not printed is in no group, and takes no weight."""
    path, known, hidden = _path(request, group.column), request.facts[group.column], hidden_labels(request, group)
    if isinstance(group, BinGroup):
        places = len(group.labels)
        null = places if known.nullable and places not in hidden else None
        return PersonKey(KeyAxis(path, group.edges), 1, places, null, stride)
    if not isinstance(path, CategoryPath) or not isinstance(known, CategoryFacts):
        raise InternalError(f"column '{group.column}' is not categorical")
    last = len(known.kept)
    place_of = {code: place for place, code in enumerate(known.kept) if place not in hidden}
    targets = tuple(NULL if target == NULL else place_of.get(target, last) for target in path.targets)
    own = replace(path, targets=targets, null_target=NULL, laws=())
    return PersonKey(KeyAxis(own), 0, last, last if known.nullable and last not in hidden else None, stride)


def condition_axis(step: Where | WhereIn, path: Path) -> KeyAxis:
    """An axis whose label is 1 exactly where the condition holds."""
    if isinstance(step, Where):
        return KeyAxis(path, (step.low, step.high + 1))
    if not isinstance(path, CategoryPath):
        raise InternalError(f"column '{step.column}' is not categorical")
    return KeyAxis(replace(path, targets=tuple(int(code in step.kept) for code in path.targets), null_target=0, laws=()))


def tables_beside(
    paths: Iterable[Path], relation: Neighbours, schemas: Mapping[str, Schema], *, every: bool = False
) -> tuple[Beside, ...]:
    """The tables of persons that a reading needs, and how it reads each of them.

    Args:
        paths: of the columns that are read.
        relation: the declared one. Where it has a table of all persons, that one is needed always.
        schemas: of the tables, by their names.
        every: whether each row of that table counts as a person, also who has no row elsewhere.

    Raises:
        PlanError: the relation does not know such a table.
    """
    if not isinstance(relation, OfPersons):
        return ()
    base = base_of(relation)
    wanted: dict[str, dict[str, None]] = {base: {}} if base else {}
    for path in paths:
        if path.table:
            wanted.setdefault(path.table, {})[path.called or path.name] = None
    known, found = dict(relation.beside), []
    for table, names in wanted.items():
        if table not in known:
            raise PlanError(f"join('{table}'): is not a table of this data set; name it in beside={{…}} of the session")
        own = tuple(_code_path(name, schemas[table], of_table(relation, table)) for name in names)
        found.append(Beside(table, PersonCodes(known[table], own, every and table == base), table == base))
    return tuple(found)


def _code_path(name: str, schema: Schema, seen: Neighbours) -> Path:
    """How a column of a table of persons is read before any step."""
    return path_of(name, (), facts_of(schema, seen))
