"""A population: the persons that several data sets of a ledger hold, with one budget for all of these data sets."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import ArgumentError, printed
from discreet.exact.numbers import text
from discreet.privacy.amounts import check_budget
from discreet.privacy.coordinates import Budget, coordinates

__all__ = ["Population"]


@dataclass(frozen=True, slots=True)
class Population:
    """The persons of a data set under a name that other data sets of the same ledger share, and the budget for all of them.

    Months, years or offices about the same persons are data sets of one population: each charge of one is charged to the
    population too (Q1 of docs/proofs/populations.md). The first data set fixes unit, measure and budget for good.

    Args:
        name: the name of the population in the ledger.
        budget: all that may ever be spent on its data sets together, in their measure.

    Raises:
        ArgumentError: not a name, or not a budget.
    """

    name: str
    budget: Budget

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError(f"population={printed(self.name)}: must have a name")
        check_budget(self.budget)

    def to_json(self) -> dict[str, object]:
        """The population in the declaration of a data set; the budget in the coordinates in which the ledger adds."""
        return {"name": self.name, "budget": [text(amount) for amount in coordinates(self.budget)]}
