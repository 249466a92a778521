"""Imputed columns that are counted with their nulls, because the public law of the nulls is applied to the noisy counts.

The expected number of rows in a cell, over the values that are drawn for nulls, is a linear function of the numbers of rows
before anything is drawn. A statistic whose estimates are unbiased and linear can have it without a draw: so its tables share
no draws, and need no joint table (docs/proofs/effects.md, "Nulls that a law fills").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from math import gcd
from types import MappingProxyType

from discreet.cube.value_paths import NumberPath, Path, path_of
from discreet.domain.codes import NULL
from discreet.domain.groups import BinGroup, Group, covering
from discreet.domain.neighbours import person_of
from discreet.domain.steps import CategoryFacts, TableFacts, conditions_of, facts_of
from discreet.errors import InternalError, PlanError, printed
from discreet.plan.recorded import WITH_NULLS, Request
from discreet.statistics.base import Filling, Need

__all__ = ["facts_with_filled", "filled_columns", "filled_name", "fillings_of", "needs_of_whole_columns"]


def filled_name(column: str) -> str:
    """What queries call the column where its nulls are counted."""
    return column + WITH_NULLS


def filled_columns(request: Request, *, constant: bool) -> dict[str, Path]:
    """The imputed columns whose nulls the statistics of a request count, by name, each with its path before a draw.

    None where all statistics must be of the same draws: rows are sampled, or chosen by a drawn value. A column of which
    values are drawn from several laws, or may be null afterwards, is drawn as well.

    Args:
        request: the request.
        constant: whether every row has the same, public number of copies.
    """
    wished = dict.fromkeys(name for need in _wished(request) for name in need.columns)
    if not wished or not constant or request.target is not None or person_of(request.neighbours) is not None:
        return {}
    start = facts_of(request.schema, request.neighbours)
    taken = next((name for name in request.schema.columns if name.endswith(WITH_NULLS)), None)
    if taken is not None:
        raise PlanError(f"tables(): column {printed(taken)} has the name of another one with its nulls; rename it")
    if any(path_of(step.column, request.steps, start).drawn for step in conditions_of(request.steps)):
        return {}
    paths = ((name, _with_nulls(path_of(name, request.steps, start))) for name in wished)
    return {name: replace(path, called=filled_name(name)) for name, path in paths if path is not None}


def _wished(request: Request) -> list[Need]:
    return [need for one in request.answered for need in one.kind.reads.needs(one) if need.how == "filled"]


def _with_nulls(path: Path) -> Path | None:
    """The path on which null stays null, as what would be drawn; None where one law does not say what that becomes."""
    if not path.null_target < NULL:
        return None
    if isinstance(path, NumberPath):
        return replace(path, null_target=NULL)
    law = path.laws[-2 - path.null_target]
    if any(target not in (path.null_target, *range(len(law))) for target in path.targets) or law[-1]:
        return None  # another law, or a value that is null at the end
    return replace(path, targets=tuple(max(target, NULL) for target in path.targets), null_target=NULL, laws=(law,))


def needs_of_whole_columns(needs: Iterable[Need], filled: Mapping[str, Path], facts: TableFacts) -> list[Need]:
    """The needs; where every row has to have a group, bins cover their column, and nulls that are filled are there.

    Columns with these have other names.
    """
    return [one if one.how != "filled" else _whole(one, filled, facts) for one in needs]


def _whole(need: Need, filled: Mapping[str, Path], facts: TableFacts) -> Need:
    each = (covering(one, facts) for one in need.groups)
    groups = tuple(replace(one, column=filled_name(one.column)) if one.column in filled else one for one in each)
    return Need("groups", tuple(group.column for group in groups), groups)


def facts_with_filled(facts: TableFacts, filled: Iterable[str]) -> TableFacts:
    """The facts, with those of each of these columns as it is before its nulls are drawn."""
    further = {filled_name(name): replace(facts[name], nullable=True) for name in filled}
    return replace(facts, columns=MappingProxyType({**facts.columns, **further})) if further else facts


def fillings_of(filled: Mapping[str, Path], facts: TableFacts) -> dict[str, Filling]:
    """For each of these columns what recipes have to know of its nulls."""
    return {name: Filling(filled_name(name), _Law(path, facts)) for name, path in filled.items()}


class _Law:
    """The law of a column, in integer weights of any groups of it.

    Args:
        path: of the column with its nulls.
        facts: of the prepared table.
    """

    def __init__(self, path: Path, facts: TableFacts) -> None:
        self._path, self._facts = path, facts

    def __call__(self, group: Group) -> tuple[int, ...]:
        """The chance of each group of the column, as coprime integers; every value is in one of the groups."""
        found = self._weights(group)
        if not sum(found) or sum(found) != int(sum(map(int, self._path.laws[0]))):
            raise InternalError(f"the groups of '{group.column}' leave out what its law draws")
        shrink = gcd(*found)
        return tuple(one // shrink for one in found)

    def _weights(self, group: Group) -> list[int]:
        law = [int(one) for one in self._path.laws[0]]
        if isinstance(self._path, NumberPath) and isinstance(group, BinGroup):
            cuts = [min(max(edge - self._path.low, 0), len(law)) for edge in group.edges]
            return [sum(law[start:stop]) for start, stop in pairwise(cuts)]
        facts = self._facts[group.column]
        return [law[code] for code in facts.kept] if isinstance(facts, CategoryFacts) else []
