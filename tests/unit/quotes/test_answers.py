"""What a mechanism is told of an answer follows from the way in which a row counts in the query."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import discreet as dp
from discreet.cube.queries import QuantileCodes, RowCount
from discreet.cube.queries.base import Changed, Row
from discreet.domain.steps import TableFacts
from discreet.mechanisms.base import Codes, Vector
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.quotes import allocate
from discreet.quotes.primitives import Asked

SCHEMA = dp.Schema(age=dp.Number(0, 9), sex=dp.Category(["F", "M"]))


@dataclass(frozen=True, slots=True)
class Lowest(QuantileCodes):
    """A query that the library does not know: a value that is chosen."""

    def change(self, row: Row[Changed], facts: TableFacts) -> Changed:
        return row.chooses(self.size, self.at, nullable=facts[self.column].nullable)


def asked() -> Asked:
    plan = dp.Table(SCHEMA, dp.AddRemove()).group_by("sex").agg(dp.count())
    return Asked(plan, plan.facts, None)


def test_what_is_chosen_is_never_given_added_noise_whoever_wrote_the_query() -> None:
    lowest = Lowest("age", low=0, size=10, at=(Fraction(0),))
    assert allocate._answer(asked(), lowest, Sensitivity(1, 1), Fraction(1)) == Codes(10, 3, (Fraction(0),))


def test_what_is_added_up_is_a_vector_of_all_cells() -> None:
    answer = allocate._answer(asked(), RowCount(), Sensitivity(1, 1), Fraction(1))
    assert isinstance(answer, Vector)
    assert (answer.size, answer.held, answer.lattice) == (3, None, None)
