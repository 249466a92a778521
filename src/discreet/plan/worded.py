"""The columns, categories, bins, numbers and frames that can have words in the releases of some requests."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from discreet.domain.about import About, check_about, key_of
from discreet.domain.categories import Value
from discreet.domain.columns import Category, Column
from discreet.domain.groups import BinGroup, Group, group_labels
from discreet.domain.schema import Schema
from discreet.plan.plan import Plan
from discreet.statistics.base import groupings_of, outputs

__all__ = ["check_texts"]


def check_texts(about: About, schema: Schema, requests: Collection[Plan], derived: Iterable[str] = ()) -> None:
    """Checks that everything that has words is in the schema or in one of the requests, or is derived from them.

    A request has columns of its own where it is about persons: those that are made of their rows, or joined.

    Raises:
        ArgumentError: a column, a category, a bin or a statistic that is not there, with the nearest that is.
    """
    every = {name: one for own in (*(request.schema for request in requests), schema) for name, one in own.columns.items()}
    columns = {name: [*map(key_of, _categories(column))] for name, column in every.items()}
    for name, labels in _bins(requests).items():
        columns[name] += labels
    check_about(about, columns, [*(name for request in requests for name in _names(request)), *derived])


def _categories(column: Column) -> tuple[Value, ...]:
    return column.values if isinstance(column, Category) else ()


def _bins(requests: Iterable[Plan]) -> dict[str, list[str]]:
    """The labels of all bins that the releases have, by column."""
    found: dict[str, list[str]] = {}
    for request in requests:
        for group in _groups(request):
            if isinstance(group, BinGroup):
                found.setdefault(group.column, []).extend(str(one) for one in group_labels(group, request.facts) if one)
    return found


def _groups(request: Plan) -> list[Group]:
    own = (group for one in request.statistics for groups in groupings_of(one) for group in groups)
    return [*request.group_by, *own]


def _names(request: Plan) -> list[str]:
    """The columns of numbers in the table of a release, and the names of its further frames."""
    return [name for one in request.answered for name in (*outputs(one), one.name)]
