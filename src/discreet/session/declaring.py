"""The declaration of a data set in its ledger: what its first charge fixes, and the columns that may change later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.errors import ArgumentError, printed
from discreet.exact.canonical import canonical
from discreet.privacy.coordinates import Budget, coordinates, kind_name, to_json
from discreet.session.populations import Population
from discreet.session.windows import Windows
from discreet.totals.description import Description

if TYPE_CHECKING:
    from discreet.ledger import Identity

__all__ = ["Declaration"]


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declared facts of a data set: all that its ledger fixes, and the columns that each plan may declare anew.

    Raises:
        ArgumentError: a population or windows that are none, or with budgets in another measure than the data set's.
    """

    schema: Schema
    neighbours: Neighbours
    invariants: Description | None
    budget: Budget
    population: Population | None = None
    windows: Windows | None = None
    beside: Mapping[str, Schema] = field(default_factory=dict)
    """The schemas of the tables of persons; the relation has their identifiers."""

    def __post_init__(self) -> None:
        if not isinstance(self.population, Population | None):
            raise ArgumentError(f"population={printed(self.population)}: must be a Population(name, budget)")
        if not isinstance(self.windows, Windows | None):
            raise ArgumentError(f"windows={printed(self.windows)}: must be Windows(column, each=…, budget=…)")
        kind = type(self.budget)
        for word, one in (("population", self.population), ("windows", self.windows)):
            if one is not None and type(one.budget) is not kind:
                found = type(one.budget).__name__
                raise ArgumentError(f"{word}: its budget must be a {kind.__name__} as the data set's, not a {found}")

    def text(self) -> str:
        """The declaration as canonical JSON. Columns that nothing in it uses may change later."""
        above = {} if self.population is None else {"population": self.population.to_json()}
        below = {} if self.windows is None else {"windows": self.windows.to_json(self.schema)}
        return canonical(
            {
                "schema": self.schema.to_json(),
                "neighbours": self.neighbours.to_json(),
                "invariants": [] if self.invariants is None else self.invariants.to_json(),
                "budget": to_json(self.budget),
                **above,
                **below,
                **({"beside": {name: one.to_json() for name, one in self.beside.items()}} if self.beside else {}),
            }
        )

    def identity(self, dataset: str) -> Identity:
        """The identity of a data set with this declaration.

        Raises:
            ArgumentError: windows of a column that is not a Date; a population or windows beside a secret draw; windows
                beside exact totals.
        """
        from discreet.ledger import Identity
        from discreet.ledger.populations import require_population

        identity = Identity(dataset, self.text(), kind_name(self.budget), coordinates(self.budget))
        require_population(identity)
        return identity
