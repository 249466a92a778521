"""Groups that nobody listed, found in the texts of a table: which names leave the program, in the order of what is kept."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from discreet.cube.keys import is_key
from discreet.domain.discovery import OTHER, Keys
from discreet.domain.groups import CategoryGroup, group_labels
from discreet.engines.texts import KeyTable, Places
from discreet.errors import InternalError
from discreet.mechanisms.thresholds import Threshold
from discreet.noise.bits import Bits
from discreet.plan.plan import Plan

__all__ = ["find_keys", "places_of"]


def find_keys(table: KeyTable, keys: Keys, rounds: Sequence[Threshold], bits: Bits, most: int) -> list[str]:
    """The names of the groups that are found, `most` at most, in the order of their bytes. Public from here on.

    Those of earlier rounds are kept first, in each round those with the greatest noisy weights (D5).
    """
    found: list[str] = []
    for one in rounds:
        gone = [*keys.discover.known, *found]
        places, noisy = one.found(table.candidates(gone, one.at_least), bits)
        names = table.names(places)
        if len(names) != len(places):
            raise InternalError("a found group has no name")
        order = sorted(range(len(names)), key=lambda place: (-int(noisy[place]), names[place]))
        found += [names[place] for place in order]
    printable = [name for name in dict.fromkeys(found) if _can_be_a_group(name, keys)]
    return sorted(printable[:most], key=str.encode)


def _can_be_a_group(name: str, keys: Keys) -> bool:
    """True if a category can have this name. It is public: whatever is asked of it here costs nothing."""
    taken = name in keys.discover.known or (keys.discover.other and name == OTHER)
    return not taken and is_key(name, keys.max_length) and unicodedata.normalize("NFC", name) == name


def places_of(plan: Plan) -> Places:
    """The places of the texts among the groups of a plan whose groups were found.

    Raises:
        InternalError: the plan looks for no groups.
    """
    keys = plan.keys
    if keys is None:
        raise InternalError("no groups are looked for")
    labels = group_labels(CategoryGroup(keys.discover.column), plan.facts)
    named = {name: place for place, name in enumerate(keys.listed)}
    other = labels.index(OTHER) if keys.discover.other else None
    # Rows whose null group is not printed count nowhere, and not as a group of their person either.
    null = None if keys.discover.column in plan.dropped else labels.index(None)
    return Places(named, other, null, len(labels))
