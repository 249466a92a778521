"""The ledger against its specification, a few Python lists: any sequence of calls, over two objects on one file."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.builders import drawn

from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger import Identity, Ledger, Publication, Reservation

BUDGETS = {
    "one": (Fraction(1),),
    "two": (Fraction(2, 3), Fraction(1, 10**6)),
    "totals": (Fraction(1),),
    "first": (Fraction(1),),
    "second": (Fraction(3, 4),),
}
POPULATION = {"first", "second"}  # one budget above theirs
ABOVE = Fraction(5, 4)
WINDOW = Fraction(1, 2)  # of each of three months, of "first"
DECLARED = {
    "totals": '{"invariants":["n"]}',
    "second": '{"population":{"name":"all","budget":["1.25"]}}',
    "first": '{"population":{"name":"all","budget":["1.25"]},"windows":{"column":"day","each":"month","first":"2026-01-01",'
    '"last":"2026-03-31","budget":["0.5"]}}',
}
MONTHS = ("2026-01", "2026-02", "2026-03")
names = st.sampled_from(["a", "b", "c", "d", "e", "f"])
charges = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 10**18), Fraction(5e-324), Fraction(9, 10)])
datasets = st.sampled_from(sorted(BUDGETS))
spans = st.sampled_from([(), MONTHS[:1], MONTHS[1:2], MONTHS[:2], MONTHS])


def least(some: tuple[Fraction, ...], *others: Fraction) -> tuple[Fraction, ...]:
    return tuple(min(one, *others) if others else one for one in some)


class AgainstLists(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "budget.db"
        self.ledgers = [Ledger.open(self.path), Ledger.open(self.path)]
        self.charges: dict[str, list[tuple[Fraction, ...]]] = {}  # the specification
        self.months = dict.fromkeys(MONTHS, Fraction(0))
        self.states: dict[tuple[str, str], tuple[int, str, bytes]] = {}
        self.publications: dict[int, tuple[str, bytes]] = {}

    def identity(self, dataset: str) -> Identity:
        declaration = DECLARED.get(dataset, "{}")
        return Identity(dataset, declaration, "approx" if dataset == "two" else "pure", BUDGETS[dataset])

    def published(self) -> tuple[int, bytes] | None:
        found = [(number, payload) for number, (state, payload) in self.publications.items() if state == "committed"]
        assert len(found) <= 1
        return found[0] if found else None

    def total(self, dataset: str) -> tuple[Fraction, ...]:
        zero = [Fraction(0)] * len(BUDGETS[dataset])
        return tuple(sum(column, Fraction(0)) for column in zip(zero, *self.charges.get(dataset, []), strict=True))

    def remaining(self, dataset: str) -> tuple[Fraction, ...]:
        left = tuple(m - b for m, b in zip(BUDGETS[dataset], self.total(dataset), strict=True))
        return least(left, ABOVE - sum(self.total(one)[0] for one in POPULATION)) if dataset in POPULATION else left

    @rule(
        which=st.integers(0, 1),
        dataset=datasets,
        wanted=st.lists(st.tuples(names, charges), min_size=1, max_size=3),
        months=spans,
    )
    def reserve(self, which: int, dataset: str, wanted: list[tuple[str, Fraction]], months: tuple[str, ...]) -> None:
        months = months if dataset == "first" else ()
        parts = [(name, (charge, charge / 10**6)[: len(BUDGETS[dataset])]) for name, charge in wanted]
        fresh = len({name for name, _ in wanted}) == len(wanted)
        fresh = fresh and not any((dataset, name) in self.states for name, _ in wanted)
        fresh = fresh and (dataset != "totals" or self.published() is not None)
        left, together = (
            self.remaining(dataset),
            [sum(charge[i] for _, charge in parts) for i in range(len(BUDGETS[dataset]))],
        )
        fits = all(wanted <= most for wanted, most in zip(together, left, strict=True))
        touched = months or MONTHS
        fits_months = dataset != "first" or all(self.months[month] + together[0] <= WINDOW for month in touched)
        asked = [Reservation(name, charge, "plan " + name, name, windows=months) for name, charge in parts]
        try:
            numbers = self.ledgers[which].reserve(self.identity(dataset), asked)
        except LedgerError:
            assert not fresh
        except BudgetExceeded as refused:
            assert fresh
            assert not (fits and fits_months)
            assert fits or refused.remaining == left  # noqa: PT017
        else:
            assert fresh
            assert fits
            assert fits_months
            for month in touched if dataset == "first" else ():
                self.months[month] += together[0]
            self.charges.setdefault(dataset, []).extend(charge for _, charge in parts)
            for (name, _), number in zip(parts, numbers, strict=True):
                self.states[dataset, name] = (number, "reserved", b"")

    @rule(which=st.integers(0, 1))
    def publish(self, which: int) -> None:
        try:
            number = self.ledgers[which].publish(self.identity("totals"), Publication("a", "plan", b"source"))
        except LedgerError:
            assert self.published() is not None
        else:
            assert self.published() is None
            self.publications[number] = ("reserved", b"")
            self.charges.setdefault("totals", [])

    @rule(which=st.integers(0, 1), nth=st.integers(0, 3), payload=st.one_of(st.none(), st.binary(max_size=4)))
    def conclude_publication(self, which: int, nth: int, payload: bytes | None) -> None:
        number = [*self.publications, 10**6][min(nth, len(self.publications))]
        state, _ = self.publications.get(number, ("absent", b""))
        allowed = state == "reserved" and (payload is None or self.published() is None)
        try:
            self.ledgers[which].fail(number) if payload is None else self.ledgers[which].commit(number, payload)
        except LedgerError:
            assert not allowed
        else:
            assert allowed
            self.publications[number] = ("failed" if payload is None else "committed", payload or b"")

    @rule(which=st.integers(0, 1), dataset=datasets, name=names, payload=st.one_of(st.none(), st.binary(max_size=4)))
    def conclude(self, which: int, dataset: str, name: str, payload: bytes | None) -> None:
        number, state, _ = self.states.get((dataset, name), (10**6, "absent", b""))
        try:
            if payload is None:
                self.ledgers[which].fail(number)
            else:
                ledger = self.ledgers[which]
                ledger.commit(drawn(ledger, number) if state == "reserved" else number, payload)
        except LedgerError:
            assert state != "reserved"
        else:
            assert state == "reserved"
            self.states[dataset, name] = (number, "failed" if payload is None else "committed", payload or b"")

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.ledgers[which].close()
        self.ledgers[which] = Ledger.open(self.path)

    @rule(which=st.integers(0, 1), dataset=datasets, name=names)
    def give_back(self, which: int, dataset: str, name: str) -> None:
        known = self.states.get((dataset, name))
        found = self.ledgers[which].stored(self.identity(dataset), name)
        assert (found and (found.sequence, found.state, found.payload)) == known
        assert found is None or found.plan_digest == "plan " + name

    @invariant()
    def totals_are_those_of_the_lists(self) -> None:
        for ledger in self.ledgers:
            assert set(ledger.datasets()) == set(self.charges)
            found = ledger.published(self.identity("totals"))
            assert (found and (found.sequence, found.payload)) == self.published()
            for dataset in self.charges:
                assert ledger.spent(dataset) == self.total(dataset)
                assert ledger.remaining(dataset) == self.remaining(dataset)
            windows = ledger.above.windows(self.identity("first"))
            assert windows is not None
            assert {month: windows.spent(month)[0] for month in MONTHS} == self.months

    def teardown(self) -> None:
        found = self.ledgers[0].verify()
        assert found.intact
        assert dict(found.spent) == {dataset: self.total(dataset) for dataset in self.charges}
        for ledger in self.ledgers:
            ledger.close()
        self.folder.cleanup()


TestAgainstLists = AgainstLists.TestCase
TestAgainstLists.settings = settings(
    max_examples=24, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
