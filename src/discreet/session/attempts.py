"""A reserved release on its way: reading, drawing, commit; or a failure of one constant text.

Until the ledger has announced that something is drawn, nothing random exists, so an attempt that ends before is made again
by the same command. After it there is this attempt or none (soundness 35, docs/proofs/attempts.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.domain.neighbours import Neighbours
from discreet.engines.base import Engine
from discreet.errors import InternalError, ReleaseFailed
from discreet.exact.clock import utc_now
from discreet.exact.files import Draft, discard
from discreet.exact.numbers import text
from discreet.noise.bits import Bits
from discreet.plan.layout import named_columns
from discreet.privacy.amounts import budget_down
from discreet.privacy.coordinates import Budget, to_json
from discreet.releases.document import Release
from discreet.session.approving import approvals_json
from discreet.session.discovering import answer_found
from discreet.session.folders import give_back, put_in_place
from discreet.session.inspecting import inspection_facts
from discreet.session.orders import Order, promise_to_population, texts_of

if TYPE_CHECKING:
    from discreet.cube.cube import Cube
    from discreet.ledger import Identity, Ledger, StoredRelease
    from discreet.quotes.quote import Quote
    from discreet.session.totals import ExactRequest
    from discreet.totals.published import PublishedTotals

__all__ = ["Job", "Workshop", "carry_out"]


@dataclass(frozen=True, slots=True)
class Workshop:
    """The means with which the releases of one command are made.

    Attributes:
        engine: the source.
        ledger: where they are reserved.
        identity: the data set.
        budget: all that may ever be spent on it.
        report_delta: the δ at which ε is stated.
        bits: gives a fresh source of random bits.
        snapshot: the source's, before anything was read.
        exactly: the exact totals that are counted in the same reading; None where there are none.
        totals: the published totals; None without invariants.
        began: the time in UTC before anything was read. Documents have this one, for how long reading takes may depend on
            rows.
    """

    engine: Engine
    ledger: Ledger
    identity: Identity
    budget: Budget
    report_delta: Fraction
    bits: Callable[[], Bits]
    snapshot: str
    exactly: ExactRequest | None
    totals: PublishedTotals | None
    began: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True)
class Job:
    """One release to be made: what was ordered and quoted, its reservation, and where its files are drafted.

    Without a number its charge was lost before, as the ledger had `found`.
    """

    order: Order
    quoted: Quote
    sequence: int
    draft: Draft | None
    found: StoredRelease | None


def carry_out(workshop: Workshop, job: Job, others: Mapping[str, Release]) -> Release | ReleaseFailed:
    """The committed release, or a constant failure. Whatever happens in here, the charge stands.

    Args:
        workshop: the means.
        job: the release.
        others: the releases of the same command that are there, by their names, for what is derived from several.
    """
    if not job.sequence:
        return _tell_loss(job)
    ledger, announced = workshop.ledger, False
    release, state = None, "committed"
    try:
        with ledger.attempt(job.sequence) as attempt:

            def draw() -> Bits:
                nonlocal announced
                _require_unchanged(workshop)
                announced = True
                ledger.draw(attempt)
                return workshop.bits()

            release = _derive(_compute(workshop, job, draw), job, others)
            _require_unchanged(workshop)
            ledger.commit(job.sequence, release.payload)
    except (KeyboardInterrupt, SystemExit):
        _settle(ledger, job)
        raise
    except BaseException:  # noqa: BLE001 (what went wrong may depend on rows; a panic of a driver is not an Exception)
        state = _settle(ledger, job) or ("drawing" if announced else "reading")
    # Outside the except block the failure carries no traceback into frames that hold private numbers.
    if state == "committed" and release is not None:
        return put_in_place(release, job.draft, job.order)
    return _of_another(workshop, job) or ReleaseFailed(_TEXTS.get(state, ReleaseFailed.TEXT))


_TEXTS = {
    "reserved": ReleaseFailed.UNFINISHED,
    "reading": ReleaseFailed.UNFINISHED,
    "committed": ReleaseFailed.ELSEWHERE,
}


def _of_another(workshop: Workshop, job: Job) -> Release | ReleaseFailed | None:
    """The release that another process has made of the reservation, or word that one is at work on it; None for neither.

    The attempt of this process has ended, so that whoever lives is another.
    """
    with suppress(Exception):  # as in `_settle`
        found = workshop.ledger.stored(workshop.identity, job.order.name)
        if found is not None and (found.alive is True or found.state == "committed"):
            discard(job.draft)
            return give_back(Release(found.payload), job.order) if found.payload else ReleaseFailed(ReleaseFailed.ELSEWHERE)
    return None


def _tell_loss(job: Job) -> ReleaseFailed:
    from discreet.ledger.attempts import ASK_AGAIN

    discard(job.draft)
    why = "" if job.found is None else f"{job.found.lost}; "
    return ReleaseFailed(why + ASK_AGAIN)


def _settle(ledger: Ledger, job: Job) -> str:
    """The state of the reservation, in words; empty where the ledger cannot be used just now."""
    state = ""
    with suppress(Exception):  # an error let out here would be another answer than the constant one
        state = ledger.settle(job.sequence)
        if state != "committed":
            discard(job.draft)
    return state


def _require_unchanged(workshop: Workshop) -> None:
    """A source that changed while it was read has no release.

    Raises:
        InternalError: it has changed.
    """
    if workshop.engine.snapshot() != workshop.snapshot:
        raise InternalError("the source has changed")


def _compute(workshop: Workshop, job: Job, draw: Callable[[], Bits]) -> Release:
    from discreet.releases.publish import publish

    if job.order.request.keys is not None:
        quoted, cubes, draw = answer_found(workshop.engine, job.quoted, draw)
    else:
        quoted, cubes = job.quoted, _read_cubes(workshop, job)
    head, left = workshop.ledger.left(workshop.identity)
    budget = workshop.budget
    content = {
        "name": job.order.name,
        "dataset": workshop.identity.dataset,
        "time": workshop.began,
        "ledger": {"sequence": job.sequence, "head": head},
        "budget": {"whole": to_json(budget), "remaining": to_json(budget_down(budget, left))},
        **_describe_draw(workshop, job.order.request.neighbours),
        **_describe_order(job.order),
        **approvals_json(workshop.ledger, job.sequence),
        **inspection_facts(workshop.ledger, workshop.identity.dataset),
    }
    place = None if job.draft is None else job.draft.path
    return publish(quoted, cubes, draw, report_delta=workshop.report_delta, content=content, draft=place)


def _read_cubes(workshop: Workshop, job: Job) -> Iterator[Cube]:
    """The cubes of the request, read with those of the exact totals, which are as they were published."""
    from discreet.releases.evaluate import run_scans
    from discreet.session.totals import require_totals, totals_scan

    exactly = [] if workshop.exactly is None else [workshop.exactly]
    cubes = run_scans(workshop.engine, job.order.request.layout, *map(totals_scan, exactly))
    for request in exactly:
        require_totals(next(cubes), request, workshop.totals)
    return cubes


def _derive(release: Release, job: Job, others: Mapping[str, Release]) -> Release:
    """The release with what is derived from it and from others, and with its tests."""
    if job.order.derive:
        from discreet.releases.derived.in_documents import with_derived  # most plans derive nothing

        release = with_derived(release, job.order.derive, others)
    if job.order.tests:
        from discreet.releases.hypotheses.in_documents import with_tests

        release = with_tests(release, job.order.tests)
    return release


def _describe_draw(workshop: Workshop, neighbours: Neighbours) -> dict[str, Any]:
    """The promise of the whole budget to the population; empty where the file is not declared as a secret sample."""
    promised = promise_to_population(workshop.budget, neighbours)
    if promised is None:
        return {}
    epsilon, delta = promised.pair(workshop.report_delta)
    facts = {"rate": text(promised.rate), "epsilon": epsilon, "delta": text(delta)}
    said = promised.promise(workshop.report_delta)
    return {"population": {"sampled": neighbours.to_json()["sampled"], **facts, "words": said}}


def _describe_order(order: Order) -> dict[str, Any]:
    """The texts of the release and the rule of its quality; nothing where it has none."""
    used, texts = named_columns(order.request), texts_of(order)
    about = {"about": [one.of(order.name).only(used).to_json() for one in texts]} if texts else {}
    return about if order.quality is None else {**about, "quality": order.quality.to_json()}
