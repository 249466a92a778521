"""The only orchestrator: what is stored → quote → reserve → make (`attempts`).

Before the reservation every error is precise and nothing is spent. After it there is a release, or a failure of constant
text while the charge stands: nothing about a row can raise, log or print (soundness 4, 5 and 9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.approvals.demand import Demand
from discreet.approvals.statements import ReleaseStatement
from discreet.domain.about import About
from discreet.domain.neighbours import Neighbours, counted_rows, is_relation
from discreet.domain.person_relations import base_of
from discreet.domain.reading import CsvFiles
from discreet.domain.schema import Schema
from discreet.domain.steps import facts_of
from discreet.domain.words import one_line
from discreet.engines import NO_LIMITS, Limits, Progress, open_sources
from discreet.engines.absent import AbsentSource
from discreet.engines.base import snapshot_before
from discreet.errors import ArgumentError, LedgerError, PlanError, ReleaseFailed, printed
from discreet.exact.numbers import Amount
from discreet.invariants import Invariants
from discreet.plan.plan import Plan
from discreet.plan.table import Table
from discreet.plan.together import Requests, one_request
from discreet.privacy.amounts import Spend, amount_text, check_budget, report_delta_of
from discreet.privacy.coordinates import Budget
from discreet.quotes.groups import Expect
from discreet.releases.document import Release, RowEstimate
from discreet.releases.quality import Quality
from discreet.session.approving import Approvals, Approving, Declared, reading_text
from discreet.session.attempts import Job, Workshop, carry_out
from discreet.session.beside import Persons, check_beside
from discreet.session.charging import Charging
from discreet.session.declaring import Declaration
from discreet.session.folders import check_folders, drafts_for, give_back
from discreet.session.in_use import InUse
from discreet.session.loading import load_rooms
from discreet.session.orders import (
    Errors,
    Order,
    check_name,
    check_names,
    check_order,
    check_request,
    check_rows_private,
    check_tested,
    check_told,
    promise_to_population,
    recognises,
)
from discreet.session.populations import Population
from discreet.session.windows import Windows
from discreet.statistics.counts import count
from discreet.totals.checking import check_invariants

if TYPE_CHECKING:
    # Loaded when they are first used, so that `import discreet` stays light.
    from discreet.privacy.population import PopulationGuarantee
    from discreet.quotes.quote import Quote
    from discreet.totals.published import PublishedTotals

__all__ = ["Order", "Session"]


class Session:
    """A data set, its schema, its budget and its ledger.

    Opening reads the header of the source, which is public. Before a release is reserved no row is read, except that under
    ReplaceOne the number of rows and published totals are compared. Threads may share a session; a forked child that
    cannot read the source is refused before anything is charged.

    Args:
        source: files, folders, tables of databases, frames, relations, streams or Spark (docs/data-formats.md lists them).
        schema: the public columns.
        dataset: the declared name of the data set in the ledger. Next month's data are another data set.
        ledger: the path of the ledger file, or ":memory:", which must be written out.
        budget: all that may ever be spent on this data set: PureDP, ApproxDP, ZCDP or GDP.
        neighbours: AddRemove() or ReplaceOne(rows=…); with sampled= where the source is a secret sample.
        invariants: published exactly, such as Totals("state"); fixed for good; needs ReplaceOne with one row per person.
        report_delta: the δ at which ε is reported under ZCDP and GDP.
        limits: the resources that the driver may use. Not for a relation, which follows its own connection.
        progress: called with "snapshot", "count" or "draw" as each begins; never with anything about rows.
        demand: the signatures that releases of the data set need from the first reservation on, for good.
        approvals: what has been signed, or the folder that has it.
        query: a row-wise "SELECT … FROM source" that computes columns of the schema from columns of the source.
        population: the persons that other data sets of the ledger hold too, and the budget for all of these; fixed for good.
        windows: the windows of a date column, each with a budget below this one; fixed for good.
        beside: tables of persons by their names, as Persons(…); which tables there are is fixed for good.

    Raises:
        SourceError: the source does not fit the schema.
        LedgerError: the ledger cannot be used, or knows the data set with another declaration.
        ArgumentError: a budget of 0, or arguments of the wrong type.
        PlanError: invariants that do not fit or leave nothing to protect; a query that is not row-wise or does not fit.
    """

    def __init__(
        self,
        source: Any,
        schema: Schema,
        *,
        dataset: str,
        ledger: str | Path,
        budget: Budget,
        neighbours: Neighbours,
        invariants: Invariants | None = None,
        report_delta: Amount = "1e-9",
        limits: Limits = NO_LIMITS,
        progress: Progress | None = None,
        demand: Demand | None = None,
        approvals: Approvals = (),
        query: str | None = None,
        population: Population | None = None,
        windows: Windows | None = None,
        beside: Mapping[str, Persons] | None = None,
    ) -> None:
        load_rooms()
        if not isinstance(schema, Schema):
            raise ArgumentError(f"schema={type(schema).__name__}: must be a Schema")
        if not is_relation(neighbours):
            raise ArgumentError(f"neighbours={printed(neighbours)}: must be AddRemove() or ReplaceOne(rows=…)")
        facts_of(schema, neighbours)  # raises where the relation and the identifiers of the schema do not fit
        self._beside = check_beside(beside)
        neighbours = self._beside.relation(neighbours)
        schema = schema.read_as(source.format if isinstance(source, CsvFiles | AbsentSource) else None).select(query)
        self._schema, self._neighbours, self._budget = schema, neighbours, check_budget(budget)
        self._invariants = check_invariants(invariants, schema, neighbours)
        self._report_delta = report_delta_of(report_delta)
        from discreet.ledger import Ledger
        from discreet.noise.bits import system_bits
        from discreet.session.public_facts import PublicFacts
        from discreet.session.totals import ExactRequest

        declared = Declaration(schema, neighbours, self._invariants, budget, population, windows, self._beside.schemas)
        self._identity = declared.identity(check_name(dataset, "dataset"))
        self._bits = system_bits
        self._engine = open_sources(source, schema, self._beside.sources, limits, progress, counted=base_of(neighbours))
        try:
            self._ledger = Ledger.open_for(ledger, self._identity)
        except BaseException:
            self._engine.close()
            raise
        reading = reading_text(source, self._beside.sources)
        stated = Declared(self._identity.dataset, schema, neighbours, self._invariants, reading)
        approving = Approving(stated, demand, approvals)
        self._charging = Charging(self._ledger, self._identity, budget, approving, windows)
        self._in_use = InUse(self._engine, self._ledger)
        exactly = None if self._invariants is None else ExactRequest(self._invariants, schema, neighbours)
        self._public = PublicFacts(self._ledger, self._identity, counted_rows(neighbours), exactly, base_of(neighbours))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        left = "closed"
        with suppress(LedgerError):
            left = f"{amount_text(self.remaining)} left of {amount_text(self.budget)}"
        return one_line("Session:", f"data set '{self._identity.dataset}',", left)

    def close(self) -> None:
        """The source and the ledger are closed as soon as the releases of other threads are done."""
        self._in_use.end()

    @property
    def table(self) -> Table:
        """The declared table, before any step."""
        return Table(self._schema, self._neighbours, beside=tuple(self._beside.schemas.items()))

    @property
    def beside(self) -> Mapping[str, Table]:
        """The tables of persons, each with one row of each person, before any step; `table.join` puts them on rows."""
        return self._beside.as_tables(self._neighbours)

    @property
    def budget(self) -> Budget:
        """All that may ever be spent on this data set."""
        return self._budget

    def window(self, *names: str) -> Table:
        """The declared table of which only the rows of these windows, such as "2026-03", count; several follow one another.

        Its requests are charged to these windows, those of `table` to all. PlanError where the session has none of them.
        """
        return self._charging.within(self.table, names)

    @property
    def spent(self) -> Budget:
        """All charges so far; for GDP rounded up."""
        return self._charging.spent()

    @property
    def remaining(self) -> Budget:
        """The amount that may still be spent, and that its population has left; for GDP rounded down."""
        return self._charging.remaining()

    @property
    def population_guarantee(self) -> PopulationGuarantee | None:
        """The promise of the whole budget to the population; None without a draw. Charges are for the rows of the file."""
        return promise_to_population(self._budget, self._neighbours)

    @property
    def invariants(self) -> Invariants | None:
        """The declared exact totals and other exact statements, or None."""
        return self._invariants

    @property
    def totals(self) -> PublishedTotals | None:
        """The published totals; None without invariants, and before the first release or `publish_totals`."""
        return self._public.totals

    def publish_totals(self) -> PublishedTotals:
        """The exact totals, published and unprotected: the first entry of the data set in the ledger, at no charge.

        The first release publishes them too. Once they are published, they are returned from the ledger and nothing is read.

        Raises:
            PlanError: the session declares no invariants.
            LedgerError: the ledger cannot be written.
            RowsDiffer: the source has another number of rows; nothing is fixed.
            ReleaseFailed: the source has a row in an impossible cell, changed, or cannot be read.
        """
        if self._public.exactly is None:
            raise PlanError("publish_totals(): the session declares no invariants; give them when it is opened")
        return self._public.publish(self._engine, self._charging.approving.exact_request(self._ledger, self._public.exactly))

    def quote(self, request: Requests, *, spend: Spend = None, error: Errors = None, expect: Expect = None) -> Quote:
        """The cost of the request and the expected errors of its statistics. Spends nothing and sees no rows.

        If invariants are declared but not yet published, everything that depends on them is bounded over all totals.

        Args:
            request: made from `session.table` with `agg`; or a list of several, as for `release`.
            spend: as for `release`.
            error: instead of a spend, the largest error of some statistics by name. The quote is for the smallest spend of
                three digits that meets all of them: in groups of `expect` rows, whatever these are; else as `expected`.
            expect: the rows, null ones aside, that a group is expected to have; a list for several groups.

        Raises:
            PlanError: not a request of this session's table, or all its numbers are public, or no spend meets the errors.
            ArgumentError: the spend is not a positive amount of the session's measure, or both are given.
        """
        self._check(asked := one_request(request))
        from discreet.quotes.spend_for_errors import quote_asked

        given = self._charging.given(asked, spend, error)
        return quote_asked(asked, given, self._budget, self._public.exact_totals(), expect)

    def statement(
        self, request: Requests, *, spend: Spend = None, error: Errors = None, name: str, expect: Expect = None
    ) -> ReleaseStatement:
        """The statement that `discreet.approve` signs for a release, where that is demanded; the ledger gets its file."""
        order = check_order(Order(one_request(request), spend, name, error, expect=expect))
        return self._charging.approving.statement(self._ledger, order, self._quote_order(order).spend)

    def release(
        self,
        request: Requests,
        *,
        spend: Spend = None,
        error: Errors = None,
        name: str,
        to: str | Path | None = None,
        again: bool = False,
        about: About | Sequence[About] = (),
        quality: Quality | None = None,
        expect: Expect = None,
    ) -> Release:
        """The request is answered with noise and charged to the ledger.

        A second call with the same name, request and spend returns the stored release at no charge and reads nothing. A
        release that was charged, and for which nothing was drawn yet, is finished at no further charge.

        Args:
            request: made from `session.table` with `agg`; or a list of some that count, which are measured together.
            spend: an amount of the session's measure for the original data; None means all that remains.
            error: instead of a spend, the largest errors as for `quote`: the smallest spend that meets them is charged.
            expect: as for `quote`.
            name: unique in the data set.
            to: the folder of a large release, one with more than `plan.sizes.MOST_WHOLE_CELLS` rows; otherwise None.
            again: charge anew for a name whose charge was lost; no effect on what can be returned or finished.
            about: texts and labels for readers, the main language first; a stored release keeps its own.
            quality: the rule for reliable numbers; a stored release keeps its own.

        Raises:
            PlanError, ArgumentError: the request, the spend or the folder is wrong; nothing was spent.
            BudgetExceeded: the spend does not fit; nothing was spent.
            SourceError: the source has other rows than declared (`RowsDiffer`) or other totals than published; nothing was
                spent.
            LedgerError: the name is taken or in work, its charge or its files are lost, or the ledger cannot be written.
            ReleaseFailed: the release failed after the reservation; the charge stands, and the text says if it is lost.
        """
        answer = self.release_all([Order(one_request(request), spend, name, error, to, again, about, quality, expect)])[0]
        if isinstance(answer, ReleaseFailed):
            raise answer
        return answer

    def release_all(self, orders: Sequence[Order]) -> list[Release | ReleaseFailed]:
        """Several releases are reserved together or not at all, then answered one by one.

        If a release fails after the reservation, the list has the failure in its place, and the others go on.

        Raises:
            DiscreetError: the cases of `release`, before anything is spent.
        """
        with self._in_use:
            return self._release_orders([check_order(order) for order in orders])

    def _release_orders(self, orders: Sequence[Order]) -> list[Release | ReleaseFailed]:
        stored = [self._find_stored(order) for order in orders]
        fresh = [order for order, found in zip(orders, stored, strict=True) if found is None]
        if not fresh:
            return [*filter(None, stored)]
        check_names(fresh)
        check_folders(fresh)
        check_told(fresh, orders, self._check, self._schema, self._identity.dataset)
        snapshot = snapshot_before(self._engine)
        if self._invariants is not None and self.totals is None:
            # Whatever can be refused is refused before the totals are published.
            self._charging.check(fresh, [self._quote_order(order).spend for order in fresh])
            self.publish_totals()
        known = [self._charging.stored(order.name) for order in fresh]
        fresh = [self._charging.fix_spend(order, found) for order, found in zip(fresh, known, strict=True)]
        quotes = [self._quote_order(order) for order in fresh]
        check_tested(fresh, quotes, self._identity.dataset, self._report_delta)
        self._public.compare(self._engine, snapshot)
        with drafts_for(fresh, self._ledger) as drafts:
            sequences = self._charging.reserve(fresh, quotes, known, snapshot, alone=len(fresh) == len(orders))
        workshop = self._workshop(snapshot)
        jobs = [Job(*one) for one in zip(fresh, quotes, sequences, drafts, known, strict=True)]
        there = {found.name: found for found in stored if found is not None}
        answers: list[Release | ReleaseFailed] = []
        for job in jobs:
            answer = carry_out(workshop, job, there)
            answers.append(answer)
            if isinstance(answer, Release):
                there[job.order.name] = answer
        made = iter(answers)
        return [next(made) if found is None else found for found in stored]

    def check_source(self) -> None:
        """The source can be read now and, under ReplaceOne, has the declared rows and the published totals.

        A release checks the same before anything is charged. Nothing is spent, and under AddRemove nothing is looked at.

        Raises:
            RowsDiffer: it has another number of rows; the error has both numbers apart from its message.
            SourceError: it has other totals, or cannot be read.
        """
        with self._in_use:
            self._public.compare(self._engine, snapshot_before(self._engine))

    def estimate_rows(self, *, spend: Spend, name: str = "number of rows", again: bool = False) -> RowEstimate:
        """A noisy number of rows, charged like any release: a way to choose n if nothing is public (seed 001, 4.6).

        The noise is two-sided geometric under PureDP. The result can be the n of a resize, but never ReplaceOne(rows=…).

        Raises:
            PlanError: under ReplaceOne the number of rows is public already.
            DiscreetError: the cases of `release`.
        """
        check_rows_private(self._neighbours)
        release = self.release(self.table.agg(count()), spend=spend, name=name, again=again)
        value, low, high = release.table.row(0)
        return RowEstimate(max(1, int(value)), int(low), int(high), release)

    def _check(self, request: Plan) -> None:
        check_request(request, self._schema, self._neighbours, self._beside.schemas)

    def _find_stored(self, order: Order) -> Release | None:
        """The stored release. Comparing its source with the present one would test rows for free (soundness 17)."""
        self._check(order.request)
        found = self._charging.stored(order.name)
        if found is None or not recognises(found, order.request):
            return None  # if another request has the name, the reservation refuses it
        release = Release(found.payload)
        asked = None if order.spend is None else self._charging.amount(order.spend, order.request)
        if order.error is not None:
            asked = self._quote_order(order).spend
        if asked is not None and release.guarantee.measure != asked:
            raise LedgerError(
                f"release '{order.name}': was made with another spend; give that spend, or another name for a new release"
            )
        return give_back(release, order)

    def _quote_order(self, order: Order) -> Quote:
        return self.quote(order.request, spend=order.spend, error=order.error, expect=order.expect)

    def _workshop(self, snapshot: str) -> Workshop:
        ledger, identity, delta, exactly = self._ledger, self._identity, self._report_delta, self._public.exactly
        return Workshop(self._engine, ledger, identity, self._budget, delta, self._bits, snapshot, exactly, self.totals)
