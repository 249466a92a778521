"""The spent part of the budget of each data set: by its ledger where one is given, else by the documents of a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.privacy import Budget, coordinates, from_json
from discreet.privacy.amounts import budget_down
from discreet.privacy.coordinates import from_coordinates
from discreet.privacy.measures import is_budget
from discreet.releases.document import Release
from discreet.session.accounts import Account

__all__ = ["Spending", "spendings_of"]


@dataclass(frozen=True, slots=True)
class Spending:
    """The budget of one data set.

    Args:
        dataset: its name.
        source: "ledger", "documents" (the newest of them says what remained after it) or "sum" (of the releases, because
            no document says what remained: others may have spent more).
        budget: all that may ever be spent; None where nobody says.
        spent: the sum of all charges.
        left: what remains; None where nobody says.
        releases: how many releases of the folder are of this data set.
        elsewhere: the releases of the ledger that are not in the folder.
        lost: the releases that were charged and never committed.
        unknown: the places of releases of the folder that the ledger does not have.
    """

    dataset: str
    source: str
    budget: Budget | None
    spent: Budget
    left: Budget | None
    releases: int
    elsewhere: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    unknown: tuple[int, ...] = ()

    @property
    def part(self) -> float:
        """The spent part of the budget, in the coordinate of which most is spent: from 0 to 1."""
        if self.budget is None:
            return 1.0
        pairs = zip(coordinates(self.spent), coordinates(self.budget), strict=True)
        parts = [spent / of if of else Fraction(1) for spent, of in pairs]
        return min(1.0, float(max(parts)))


def spendings_of(releases: Sequence[Release], accounts: Sequence[Account] = ()) -> tuple[Spending, ...]:
    """One for each data set of the releases, in the order of their names; accounts of other data sets are left out."""
    known = {one.dataset: one for one in accounts}
    by_dataset: dict[str, list[int]] = {}
    for place, release in enumerate(releases):
        by_dataset.setdefault(release.dataset, []).append(place)
    return tuple(
        spending
        for name, places in sorted(by_dataset.items())
        for spending in (
            [_by_ledger(known[name], releases, places)] if name in known else _by_documents(name, releases, places)
        )
    )


def _by_ledger(account: Account, releases: Sequence[Release], places: Sequence[int]) -> Spending:
    digests = {place: hashlib.sha256(releases[place].payload).hexdigest() for place in places}
    here, committed = set(digests.values()), set(account.committed.values())
    return Spending(
        account.dataset,
        "ledger",
        account.budget,
        account.spent,
        account.remaining,
        len(places),
        tuple(name for name, digest in account.committed.items() if digest not in here),
        account.lost,
        tuple(place for place, digest in digests.items() if digest not in committed),
    )


def _by_documents(dataset: str, releases: Sequence[Release], places: Sequence[int]) -> Iterator[Spending]:
    """By the document with the highest number of a ledger; a data set that had two measures has two lines."""
    by_kind: dict[type[Budget], list[tuple[int, Release, Mapping[str, Any]]]] = {}
    for place in places:
        release = releases[place]
        kind = type(release.guarantee.effective)
        by_kind.setdefault(kind, []).append((_sequence(release), release, release.document.get("budget") or {}))
    for kind, ones in by_kind.items():
        _, _, stated = max(ones, key=lambda one: (bool(one[2]), one[0]))
        whole, left = (_budget(stated.get(key), kind) for key in ("whole", "remaining"))
        if whole is None or left is None:
            yield Spending(dataset, "sum", None, _sum(kind, [one for _, one, _ in ones]), None, len(ones))
            continue
        spent = tuple(max(of - rest, Fraction(0)) for of, rest in zip(coordinates(whole), coordinates(left), strict=True))
        down = budget_down(whole, coordinates(left))
        yield Spending(dataset, "documents", whole, from_coordinates(kind, spent), down, len(ones))


def _sequence(release: Release) -> int:
    """The number of the entry of its ledger; 0 where it names none."""
    shown = release.document.get("ledger")
    number = shown.get("sequence") if isinstance(shown, dict) else None
    return number if isinstance(number, int) else 0


def _budget(stated: Any, kind: type[Budget]) -> Budget | None:
    found = None if stated is None else from_json(stated)
    return found if is_budget(found) and type(found) is kind else None


def _sum(kind: type[Budget], releases: Sequence[Release]) -> Budget:
    parts = zip(*(coordinates(one.guarantee.effective) for one in releases), strict=True)
    return from_coordinates(kind, tuple(sum(part, Fraction(0)) for part in parts))
