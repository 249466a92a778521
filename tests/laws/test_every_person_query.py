"""The declared change of every query of persons, in listed groups and in found ones, against all states of one person.

Nothing is sampled: each statistic that a table of persons answers meets each relation, each measure and each bound, beside
the rows of others. The declared norms are never below the largest change, and for each kind of query some state attains
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import Any, get_args

import numpy as np
import pytest

import discreet as dp
from discreet.cube.keys import UNIT
from discreet.cube.queries import PERSON_QUERIES, PersonSum
from discreet.domain.neighbours import AddRemoveParts, AddRemovePersons, OfPersons
from discreet.domain.person_relations import ReplacePersons, with_beside
from discreet.engines.base import ColumnType
from discreet.engines.joined import JoinedEngine
from discreet.engines.reference import ReferenceEngine
from discreet.engines.reference_joins import ReferenceJoiner
from discreet.engines.texts import keys_kept
from discreet.noise.bits import system_bits
from discreet.plan.plan import Plan
from discreet.quotes.allocate import quote
from discreet.quotes.keys import stages_of
from discreet.quotes.persons import most_apart
from discreet.quotes.quote import Quote
from discreet.releases.evaluate import exact_answers, run_scans
from discreet.releases.keys import places_of
from discreet.statistics.base import Statistic
from discreet.statistics.person_recipes import of_persons
from discreet.statistics.shares import Share

Row = tuple[object, str | None, int | None]

SHOPS = ("a", "b", "c")
LISTED = dp.Schema(visitor=dp.Identifier(), shop=dp.Category(SHOPS), amount=dp.Number(-1, 2))
NOT_LISTED = dp.Schema(visitor=dp.Identifier(), shop=dp.Text(4), amount=dp.Number(-1, 2))
HEADER = {"visitor": ColumnType("integer", ""), "shop": ColumnType("text", ""), "amount": ColumnType("integer", "")}
OTHER: list[Row] = [(2, "a", 1), (2, "b", -1), (3, "a", None), (None, "a", 2)]
STATES = [
    rows
    for size in range(3)
    for rows in combinations_with_replacement([(1, shop, one) for shop, one in product(SHOPS, (None, -1, 2))], size)
]
SKIP = {"nulls": "skip"}
EACH = {"per_person": (-1, 3)}
STATISTICS: list[Statistic] = [
    dp.persons(),
    dp.share(),
    dp.count(),
    dp.count("amount"),
    dp.sum("amount", **EACH),
    dp.mean("amount", **EACH),
    dp.variance("amount", **EACH),
    dp.std("amount", **EACH),
    dp.mean("amount", **SKIP),
    dp.variance("amount", **SKIP),
    dp.std("amount", **SKIP),
    dp.histogram("amount", [-1, 0, 2]),
    dp.median("amount", **SKIP),
    dp.quantiles("amount", ["0.25"], **SKIP),
    dp.counted_in_full(),
]
OF_FOUND = ("persons", "count", "variance_amount", "histogram_amount", "counted_in_full")
RELATIONS: list[Any] = [
    dp.AddRemove(person="visitor"),
    dp.AddRemove(person="visitor", part=True),
    with_beside(ReplacePersons(3, "visitor"), {"people": "id"}),
]
WORDS = ["whole", "parts", "replaced"]
PEOPLE = dp.Schema(id=dp.Identifier(), sex=dp.Category(["f", "m"]))
PEOPLE_HEADER = {"id": ColumnType("integer", ""), "sex": ColumnType("text", "")}
SPENDS = [dp.ZCDP(1), dp.PureDP(1)]
BOUNDS = [(1, 1), (1, 2), (2, 1)]


@dataclass(frozen=True, eq=False)
class Case:
    """A request, in the schema of listed or of found groups, and how its exact answers are found."""

    quoted: Quote
    found: tuple[str, ...] | None

    def answers(self, rows: Sequence[Row]) -> list[np.ndarray]:
        engine, plan = opened(self.quoted.plan.neighbours, rows), self.quoted.plan
        if self.found is None:
            cubes: Any = run_scans(engine, plan.layout)
        else:
            assert plan.layout.keys is not None
            assert plan.layout.persons is not None
            with keys_kept(engine, plan.layout.keys) as table:
                cubes = iter([table.totals(places_of(plan), plan.layout.persons)])
        return [np.array([int(one) for one in found]) for found in exact_answers(self.quoted, cubes, system_bits())]


def opened(relation: Any, rows: Sequence[Row]) -> Any:
    """An engine over these rows and, where the relation has it, a table of three persons of whom they are."""
    engine, people = ReferenceEngine(HEADER, rows), ReferenceEngine(PEOPLE_HEADER, [(one, "f") for one in (1, 2, 3)])
    return (
        JoinedEngine(engine, {"people": people}, ReferenceJoiner(engine, {"people": people})) if relation.beside else engine
    )


def table_of(schema: dp.Schema, relation: Any) -> dp.Table:
    """The table of these rows, with the persons beside it where the relation has them."""
    return dp.Table(schema, relation, beside=(("people", PEOPLE),) if relation.beside else ())


def cases(relation: dp.AddRemove, spend: Any) -> Iterator[Case]:
    for one, (groups, rows) in product(STATISTICS, BOUNDS):
        table = table_of(LISTED, relation).bound(groups=groups, rows=rows)
        yield Case(quote(table.group_by("shop").agg(one), spend), None)
        if one.name in ("persons", "count", "variance_amount", "histogram_amount", "counted_in_full") and (groups, rows) == (
            1,
            2,
        ):
            for other, found in product((False, True), (("a",), ("a", "b"))):
                of = dp.Discover("shop", other=other)
                plan = table_of(NOT_LISTED, relation).bound(groups=groups, rows=rows).group_by(of).agg(one)
                yield Case(_of_found(plan, spend, found), found)


def _of_found(plan: Plan, spend: Any, found: tuple[str, ...]) -> Quote:
    """The quote of a request after these groups were found, with what the answers cost."""
    given = dp.ApproxDP(1, "1e-6") if isinstance(spend, dp.PureDP) else dp.ZCDP(spend.rho, delta="1e-6")
    return quote(plan.with_found(found), given)


def norms(moved: np.ndarray) -> tuple[int, int]:
    size = np.abs(moved.astype(object))
    return int(size.sum(axis=-1).max()), int((size**2).sum(axis=-1).max())


def check(relation: dp.AddRemove, spend: Any) -> Counter[type]:
    """No state of a person changes an answer by more than declared; in how many cases of each kind one does by as much."""
    exact: Counter[type] = Counter()
    for case in cases(relation, spend):
        tables = [case.answers([*OTHER, *state]) for state in STATES]
        for place, one in enumerate(case.quoted.measured):
            every = np.stack([found[place] for found in tables])
            moved = every - every[0] if isinstance(relation, AddRemovePersons) else every[:, None, :] - every[None, :, :]
            l1, l2_squared = norms(moved)
            assert l1 <= one.sensitivity.l1, one.query.words()
            assert l2_squared <= one.sensitivity.l2_squared, one.query.words()
            exact[type(one.query)] += (l1, l2_squared)[isinstance(spend, dp.ZCDP)] == (
                (one.sensitivity.l1, one.sensitivity.l2_squared)[isinstance(spend, dp.ZCDP)]
            )
    return exact


@pytest.mark.one_in(4)
@pytest.mark.parametrize("spend", SPENDS, ids=["zcdp", "pure"])
@pytest.mark.parametrize("relation", RELATIONS, ids=WORDS)
def test_no_person_changes_any_answer_by_more_than_declared_and_some_person_by_as_much(
    relation: dp.AddRemove, spend: Any
) -> None:
    exact = check(relation, spend)
    # Every member of the union is there: a new one that nobody has tried fails here.
    assert set(exact) == set(PERSON_QUERIES)
    assert min(exact.values()) >= 3


def test_every_statistic_and_relation_of_persons_is_tried() -> None:
    assert {type(one.kind) for one in STATISTICS} == set(of_persons())
    assert {type(one) for one in RELATIONS} == {AddRemovePersons, AddRemoveParts, ReplacePersons} == {*get_args(OfPersons)}
    assert any(isinstance(one.kind, Share) for one in STATISTICS)


@pytest.mark.parametrize("relation", RELATIONS, ids=WORDS)
def test_no_person_changes_the_weights_of_keys_by_more_than_the_noise_of_rounds_hides(relation: dp.AddRemove) -> None:
    """The weights of a round are a vector over all keys, of which those are compared that others have too (D1, D6)."""
    plan = table_of(NOT_LISTED, relation).bound(groups=1).group_by(dp.Discover("shop")).agg(dp.persons())
    assert plan.layout.keys is not None
    weights = []
    for state in STATES:
        with keys_kept(opened(relation, [*OTHER, *state]), plan.layout.keys) as table:
            found = table.candidates([], 1)
            own = dict(zip(table.names(np.arange(len(found))), found.tolist(), strict=True))
        weights.append([own.get(shop, 0) for shop in SHOPS])
    every = np.array(weights)
    moved = every - every[0] if isinstance(relation, AddRemovePersons) else every[:, None, :] - every[None, :, :]
    most = most_apart(relation, UNIT**2)
    assert norms(moved)[1] == most
    stages = stages_of(dp.Discover("shop"), dp.ZCDP(1, delta="1e-6"), relation)
    rho = sum(most / (2 * one.sigma2) for one in stages.rounds) + stages.answers.coordinates[0]
    assert 0.999999 < rho <= 1


def test_a_query_that_hides_what_a_person_can_do_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    literal: Callable[..., Any] = PersonSum.change
    monkeypatch.setattr(
        PersonSum,
        "change",
        lambda own, row, facts: own.weighed.change(row, 0, 1) if own.high > 1 else literal(own, row, facts),
    )
    with pytest.raises(AssertionError):
        check(RELATIONS[0], SPENDS[0])
