"""Requests with groups that nobody listed: what is refused, and how many groups can be found (docs/proofs/discovery.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from discreet.cube.keys import KeyScan
from discreet.cube.persons import PersonScan
from discreet.domain.discovery import Discover, Keys
from discreet.domain.groups import CategoryGroup, Group, group_labels
from discreet.domain.neighbours import Neighbours, person_of
from discreet.domain.steps import TableFacts
from discreet.errors import InternalError, PlanError
from discreet.plan.sizes import MOST_WHOLE_CELLS

__all__ = ["KeyRequest", "check_keys", "key_scan", "most_found", "one_discover"]


class KeyRequest(Protocol):
    """A request that may have groups which nobody listed."""

    @property
    def neighbours(self) -> Neighbours:
        """The declared relation."""

    @property
    def group_by(self) -> tuple[Group, ...]:
        """The groups."""

    @property
    def keys(self) -> Keys | None:
        """The groups that nobody listed."""

    @property
    def facts(self) -> TableFacts:
        """The facts after the steps."""


def one_discover(by: Sequence[object]) -> Discover | None:
    """The one `Discover` among groups, or None.

    Raises:
        PlanError: there are two.
    """
    found = [one for one in by if isinstance(one, Discover)]
    if len(found) > 1:
        names = " and ".join(f"'{one.column}'" for one in found)
        raise PlanError(f"group_by(): has Discover for {names}; one request finds the groups of one column")
    return found[0] if found else None


def check_keys(request: KeyRequest) -> None:
    """Checks that groups which nobody listed are asked for where their charge is proved.

    Raises:
        PlanError: the relation does not say whose row is whose, or the other groups leave no room for any that is found.
    """
    keys = request.keys
    if keys is None:
        return
    name = keys.discover.column
    if person_of(request.neighbours) is None:
        raise PlanError(
            f"Discover('{name}'): finds groups on a table that says whose row is whose; declare AddRemove(person=\"…\") "
            "with an Identifier in the schema, also where each person has one row"
        )
    if most_found(request) < 1:
        raise PlanError(
            f"Discover('{name}'): the other groups and the known texts leave no room below {MOST_WHOLE_CELLS} cells; group "
            "by fewer columns, or by coarser bins"
        )


def most_found(request: KeyRequest) -> int:
    """How many groups may be found: as many as are asked for, and as the table of a release has room for."""
    keys = request.keys
    if keys is None:
        raise InternalError("no groups are looked for")
    public = len(keys.discover.known) + keys.discover.other + 1  # and the null group
    room = MOST_WHOLE_CELLS // _cells_of_others(request, keys) - public
    return room if keys.discover.most is None else min(room, keys.discover.most)


def _cells_of_others(request: KeyRequest, keys: Keys) -> int:
    cells = 1
    for group in _others(request, keys):
        cells *= len(group_labels(group, request.facts))
    return cells


def _others(request: KeyRequest, keys: Keys) -> list[Group]:
    return [group for group in request.group_by if group.column != keys.discover.column]


def key_scan(request: KeyRequest, keys: Keys, rest: PersonScan) -> KeyScan:
    """The reading that keeps the texts of the column: `rest` is that of the other groups.

    Raises:
        InternalError: the request does not group by the column.
    """
    places = [i for i, one in enumerate(request.group_by) if one == CategoryGroup(keys.discover.column)]
    if len(places) != 1:
        raise InternalError("the column of texts is not a group")
    inner = 1
    for group in request.group_by[places[0] + 1 :]:
        inner *= len(group_labels(group, request.facts))
    return KeyScan(keys.discover.column, keys.max_length, rest, inner)
