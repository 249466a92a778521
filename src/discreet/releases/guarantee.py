"""The promise of a release to each person, in a document and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.domain.neighbours import find_relation, protected_rows, said_of
from discreet.exact.numbers import decimal_up, exact, text
from discreet.privacy.coordinates import Budget, from_json, to_json
from discreet.privacy.measures import is_budget

__all__ = ["Guarantee", "guarantee_json", "guarantee_of_json"]


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The promise of the release to each person, for the original data.

    Args:
        measure: the guarantee itself; it counts preprocessing, resampling and everything in the release.
        relation: "add-remove", "replace-one" or "add-remove-persons": the neighbouring relation.
        rows_per_person: how many rows one person can have; under "add-remove-persons" and "add-remove-parts" it
            is a factor, and a person can have any number of rows.
        report_delta: the δ at which `epsilon` is stated (0 for pure differential privacy).
        epsilon: an upper bound of ε at that δ.
        ordinary: what the same noise would be advertised as if nobody counted the exact totals; None without totals.
        semi_adjacency: a: tables with the same exact totals differ in at most a rows; None where there are no totals.
    """

    measure: Budget
    relation: str
    rows_per_person: int
    report_delta: Fraction
    epsilon: float
    ordinary: Budget | None = None
    semi_adjacency: int | None = None

    @property
    def advertised(self) -> Budget:
        """The guarantee as ordinary differential privacy states it, which does not count exact totals."""
        return self.measure if self.ordinary is None else self.ordinary

    @property
    def effective(self) -> Budget:
        """The guarantee that counts the exact totals; without totals it is the advertised one."""
        return self.measure

    def __str__(self) -> str:
        """The guarantee in plain words."""
        person = "one person" if self.rows_per_person == 1 else f"one person with up to {self.rows_per_person} rows"
        whose = protected_rows(self.relation) or f"any data of {person}"
        change = f"{whose} are {find_relation(self.relation).change}"
        if self.semi_adjacency is not None:
            more = self.semi_adjacency - 1
            others = f" and {'one other row changes' if more == 1 else f'up to {more} other rows change'}" if more else ""
            change += f"{others}, so that the exact totals stay as they are (a = {self.semi_adjacency})"
        bound = f"(ε = {decimal_up(self.epsilon, 4)} at δ = {decimal_up(self.report_delta)})" if self.report_delta else ""
        return " ".join(f"When {change}: {said_of(self.relation, self.measure.explain())} {bound}".split())


def guarantee_json(guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee as the document holds it: advertised and effective, and as (ε, δ)."""
    return {
        "measure": to_json(guarantee.measure),
        "advertised": to_json(guarantee.advertised),
        "effective": to_json(guarantee.effective),
        "relation": guarantee.relation,
        "rows_per_person": guarantee.rows_per_person,
        "semi_adjacency": guarantee.semi_adjacency,
        "report_delta": text(guarantee.report_delta),
        "epsilon": guarantee.epsilon,
        "words": str(guarantee),
    }


def guarantee_of_json(stated: Mapping[str, Any]) -> Guarantee:
    """The guarantee that a document holds.

    Raises:
        KeyError, TypeError, ValueError: discreet has not written it.
    """
    change = stated.get("semi_adjacency")
    numbers = (stated["rows_per_person"], stated["epsilon"], 1 if change is None else change)
    if not all(isinstance(one, int | float) for one in numbers):
        raise TypeError
    return Guarantee(
        _budget(stated["measure"]),
        find_relation(stated["relation"]).word,
        stated["rows_per_person"],
        exact(stated["report_delta"], "report_delta"),
        stated["epsilon"],
        _budget(stated["advertised"]) if change else None,
        change,
    )


def _budget(stated: Mapping[str, Any]) -> Budget:
    """A measure of the document in which releases are charged."""
    if not is_budget(measure := from_json(stated)):
        raise TypeError
    return measure
