"""Which data sets hold the same persons, and so have one budget above their own (Q1 of docs/proofs/populations.md).

A declaration names its population and the budget of that. Each charge of a data set is a charge of its population too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import ArgumentError
from discreet.exact.canonical import canonical
from discreet.exact.names import one_form
from discreet.ledger.amounts import Amounts, amounts_from, minus, require_amounts
from discreet.ledger.records import Identity, lists_invariants, require_text
from discreet.ledger.windows import window_terms

__all__ = ["PopulationAccount", "PopulationTerms", "new_population", "population_of", "require_population", "unit_of"]


@dataclass(frozen=True, slots=True)
class PopulationTerms:
    """The facts that all data sets of one population share, which its first one fixes.

    Attributes:
        name: the population, in the form in which names are compared.
        unit: who is one person, and what changes between neighbours: canonical JSON.
        measure: the measure in which amounts add.
        budget: all that may be spent on all of them together.
    """

    name: str
    unit: str
    measure: str
    budget: Amounts


@dataclass(slots=True)
class PopulationAccount:
    """The charges of all data sets of a population, and the names of these data sets in the order of their declaration."""

    terms: PopulationTerms
    spent: Amounts
    members: list[str] = field(default_factory=list)

    @property
    def left(self) -> Amounts:
        """Budget minus charges."""
        return minus(self.terms.budget, self.spent)


@lru_cache(maxsize=8)  # every operation reads the declaration, nearly always the same one, and it may be long
def _find_population(declaration: str) -> Mapping[str, Any] | None:
    """The population as a declaration states it; None where it has none."""
    written = json.loads(declaration).get("population")
    if written is None:
        return None
    if not isinstance(written, dict) or written.keys() != {"name", "budget"} or not isinstance(written["budget"], list):
        raise ArgumentError("declaration: its population must have a name and a budget")
    return written


def population_of(identity: Identity) -> PopulationTerms | None:
    """The population of a data set, with its terms; None where it declares none.

    Raises:
        ArgumentError: it is not written as populations are.
    """
    written = _find_population(identity.declaration)
    if written is None:
        return None
    require_text(written["name"], "population")
    try:
        budget = amounts_from(written["budget"])
    except (ValueError, TypeError, AttributeError):
        raise ArgumentError("declaration: the budget of its population must be a list of amounts") from None
    require_amounts(budget, "the budget of a population")
    return PopulationTerms(one_form(written["name"]), unit_of(identity), identity.measure, budget)


def unit_of(identity: Identity) -> str:
    """Who is one person in a data set: the relation without its public number of rows, and the kind of identifier.

    The identifier has the name that it has in each table; how its values are read and compared must be the same. Whether
    tables of persons stand beside a data set is its own matter: her rows in them are part of what it protects.
    """
    whole = json.loads(identity.declaration)
    relation = whole.get("neighbours")
    if not isinstance(relation, dict):
        return canonical(relation)
    person, columns = relation.get("person"), whole.get("schema")
    kept = {key: value for key, value in relation.items() if key not in {"rows", "persons", "person", "beside", "of"}}
    found = [one for one in columns if _is_named(one, person)] if isinstance(columns, list) else []
    kinds = [{key: value for key, value in one.items() if key != "name"} for one in found]
    return canonical([kept, person is not None, kinds])


def _is_named(column: object, name: object) -> bool:
    return isinstance(column, dict) and name is not None and column.get("name") == name


def require_population(identity: Identity) -> None:
    """What a data set declares about its population and its windows can be kept (Q1 to Q3).

    Raises:
        ArgumentError: other coordinates than the budget of the data set, a secret draw, or exact totals beside windows.
    """
    terms, whole = population_of(identity), json.loads(identity.declaration)
    declared = [word for word in ("population", "windows") if whole.get(word) is not None]
    if not declared:
        return
    windows = window_terms(identity.declaration)
    budgets = [one.budget for one in (terms, windows) if one is not None]
    if any(len(budget) != len(identity.budget) for budget in budgets):
        raise ArgumentError("budget: those of a population and of windows must have the measure of the data set's")
    relation = whole.get("neighbours")
    if isinstance(relation, dict) and relation.get("sampled"):
        raise ArgumentError(
            f"{declared[0]}: a secret sample has no {declared[0]}, because what its budget promises to those from whom it "
            "was drawn is proved for one draw alone; leave `sampled` out, and the guarantee is for the rows of the file"
        )
    if windows is not None and lists_invariants(identity.declaration):
        raise ArgumentError(
            "windows: a data set with exact totals has no windows: where one person's rows change, others of any window "
            "change with them so that the totals stay; leave the windows or the invariants out"
        )


def new_population(terms: PopulationTerms) -> PopulationAccount:
    """The account of a population to which nothing is charged yet."""
    return PopulationAccount(terms, (Fraction(0),) * len(terms.budget))
