"""Several requests that count rows as one: their tables are measured together, and agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from discreet.domain.groups import Group
from discreet.domain.neighbours import person_of
from discreet.errors import PlanError, printed
from discreet.plan.plan import Plan
from discreet.statistics.base import Statistic
from discreet.statistics.count_tables import Tables, tables_of
from discreet.statistics.counts import Count

__all__ = ["Requests", "one_request"]

Table = tuple[tuple[Group, ...], Fraction, Fraction | None]
"""The groups of a table, how much its variances count, and its error."""


Requests = Plan | Sequence[Plan]
"""A request, or a list of several that count rows of one prepared table."""


def one_request(given: Requests) -> Plan:
    """The request itself; of several in a list one that asks for the tables of all of them, as `tables` does.

    Each counts rows of one prepared table, with `count()` or `tables(…)`. So their tables agree, and are measured once. The
    weights of statistics count among them.

    Whether something that is not in a list is a request is checked elsewhere, with what a session says of it.

    Raises:
        PlanError: a list of something else than requests that count rows of one prepared table.
    """
    if not isinstance(given, list | tuple):
        return cast("Plan", given)
    requests = [one for one in given if isinstance(one, Plan)]
    if not requests or len(requests) < len(given):
        said = "is an empty list" if not given else f"[{', '.join(type(one).__name__ for one in given)}]"
        raise PlanError(f"request: {said}; a list must hold requests that count, such as table.group_by('a').agg(count())")
    first = requests[0]
    if len(requests) == 1:
        return first
    if any(person_of(one.neighbours) is not None for one in requests):
        raise PlanError(
            "request: is a list, which is measured together, and that has no bound for all rows of a person; make a release "
            "of each request, or ask on a table with one row of each person: table.per_person(…)"
        )
    for place, one in enumerate(requests):
        _check_alike(place, one, first)
    found: dict[tuple[Group, ...], tuple[Fraction, Fraction | None]] = {}
    for place, one in enumerate(requests):
        for groups, weight, error in _tables(place, one):
            if groups in found:
                named = ", ".join(group.column for group in groups) or "no column"
                raise PlanError(f"request[{place}]: the table by {named} is asked for twice; ask for it once")
            found[groups] = weight, error
    weights, errors = zip(*found.values(), strict=True)
    return replace(first, group_by=(), statistics=(tables_of(tuple(found), weights, errors),), dropped=())


def _check_alike(place: int, one: Plan, first: Plan) -> None:
    """Raises PlanError where a request is of another table than the first one, or asks for what tables have not."""
    made = (one.schema, one.neighbours, one.persons)
    if made != (first.schema, first.neighbours, first.persons):
        raise PlanError(f"request[{place}]: is made from another table than request[0]; make a release of its own for it")
    if one.steps != first.steps:
        raise PlanError(
            f"request[{place}]: its table is prepared in other steps than that of request[0]; requests that are measured "
            "together count the same rows: prepare one table for all of them, or make a release of its own for it"
        )
    if one.intervals != first.intervals:
        raise PlanError(f"request[{place}]: simultaneous() is for all requests of a list, or for none of them")
    if one.dropped:
        raise PlanError(f"request[{place}]: nulls='drop' is not for tables; filter the null groups of the result")
    if one.target is not None:
        raise PlanError(f"request[{place}]: original() is not for requests in a list; make a release of its own for it")
    if one.keys is not None:
        raise PlanError(f"request[{place}]: groups that are found are not for requests in a list; make a release of its own")


def _tables(place: int, one: Plan) -> Iterator[Table]:
    """The tables of a request.

    Raises:
        PlanError: it asks for something else.
    """
    for statistic in one.statistics:
        if isinstance(statistic.kind, Tables):
            if statistic.name != Tables.word:
                _refuse_name(place, statistic)
            for groups, weight, error in statistic.kind.each():
                yield groups, weight * statistic.weight, error
        elif isinstance(statistic.kind, Count) and statistic.column is None:
            if statistic.name != Count.word:
                _refuse_name(place, statistic)
            yield one.group_by, statistic.weight, None
        else:
            raise PlanError(
                f"request[{place}]: asks for {printed(statistic.name)}; requests in a list are measured together where all "
                "of them count rows, with count() or tables(…); make a release of its own for it"
            )


def _refuse_name(place: int, statistic: Statistic) -> None:
    raise PlanError(
        f"request[{place}]: alias('{statistic.name}') has no place: the tables of a list are called by their groups, such "
        "as tables_a_b; leave it out"
    )
