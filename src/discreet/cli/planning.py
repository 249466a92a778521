"""`discreet check` and `discreet quote`: everything that is known of a plan before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path
from types import MappingProxyType

from discreet.approvals.files import approvals_folder
from discreet.cli.above import above_facts, above_json, after_lines, limits_of
from discreet.cli.approval_notes import approval_notes
from discreet.cli.assuming import Assumptions, with_whole_errors
from discreet.cli.describing import declaration_lines, derived_facts, derived_lines, note_lines, release_facts, release_lines
from discreet.cli.output import Answer
from discreet.cli.standings import Standing, standing
from discreet.domain.neighbours import counted_rows
from discreet.domain.reading import CsvFiles
from discreet.engines import NO_LIMITS, Limits, Progress, header_faults
from discreet.engines.absent import AbsentSource
from discreet.engines.sources import is_absent, is_view
from discreet.errors import ArgumentError, BudgetExceeded, DiscreetError, PlanError, RowsDiffer, SourceError, without_secrets
from discreet.exact.given_paths import stands
from discreet.exact.numbers import text
from discreet.ledger import why_lost
from discreet.ledger.amounts import fits, plus
from discreet.ledger.windows import require_room_in
from discreet.planfile.faults import faults_of
from discreet.planfile.read import PlanFile, load_plan
from discreet.planfile.tree import read_toml
from discreet.privacy import coordinates, from_coordinates, to_json
from discreet.privacy.amounts import amount_text, budget_down, in_words
from discreet.quotes.quote import Quote
from discreet.session.beside import Persons
from discreet.session.orders import charge_of, check_tested
from discreet.session.session import Session

__all__ = [
    "Review",
    "check_plan",
    "open_session",
    "planner_page",
    "quote_all",
    "quote_plan",
    "review",
    "source_of",
]

Amounts = tuple[Fraction, ...]

_VIEW = (
    "note: the source is a view, and its rows are what is protected: one row of it must be computed from the data of one "
    "person, and nobody may have more of them than rows_per_person"
)


def source_of(plan: PlanFile) -> str | CsvFiles:
    """The source as the plan says that it is read."""
    return plan.source if plan.csv is None else CsvFiles(plan.source, **asdict(plan.csv))


def open_session(
    plan: PlanFile, limits: Limits = NO_LIMITS, progress: Progress | None = None, *, source: AbsentSource | None = None
) -> Session:
    """The session of a plan, whose source has a fitting header and whose ledger agrees with the declared data set.

    Raises:
        As `Session`.
    """
    return Session(
        source_of(plan) if source is None else source,
        plan.schema,
        dataset=plan.dataset,
        ledger=plan.ledger,
        budget=plan.budget,
        neighbours=plan.neighbours,
        invariants=plan.invariants,
        report_delta=plan.report_delta,
        limits=limits,
        progress=progress,
        demand=plan.demand,
        approvals=approvals_folder(plan.path),
        population=plan.population,
        windows=plan.windows,
        beside=_beside(plan, here=source is None),
    )


def _beside(plan: PlanFile, *, here: bool) -> dict[str, Persons] | None:
    """The tables of persons of a plan; sources that are elsewhere are stood in for."""
    found = {name: one if here else one.elsewhere() for name, one in plan.beside.tables.items()}
    return found or None


def _find_absent(plan: PlanFile) -> bool:
    """True if any source of the plan is not here at all."""
    return any(map(is_absent, _sources(plan)))


def _sources(plan: PlanFile) -> list[str]:
    """The sources of the plan by name, that of the rows first."""
    return [plan.source, *plan.beside.names]


@dataclass(frozen=True, slots=True)
class Review:
    """The things that a plan is checked against: all that it names, or what of it is here.

    Attributes:
        plan: the plan; in place of a ledger that is elsewhere it has an empty one.
        source: what is opened in place of a source that is elsewhere; None where the source of the plan is opened.
        remarks: what was not compared.
    """

    plan: PlanFile
    source: AbsentSource | None = None
    remarks: tuple[str, ...] = ()

    @property
    def header(self) -> str:
        """The extent to which the columns were compared with the columns of the source."""
        return "its header fits the columns" if self.source is None else "not opened"

    def session(self) -> Session:
        """As `open_session`."""
        return open_session(self.plan, source=self.source)


def review(plan: PlanFile, *, without_source: bool) -> Review:
    """The plan with its source, or without: because that is wanted, or because no such file is here.

    A board that approves a plan must not have the data, and need not have the ledger.
    """
    if not without_source and not _find_absent(plan):
        return Review(plan)
    compared = "its header was" if counted_rows(plan.neighbours) is None else "its header and its number of rows were"
    where = "was not opened" if without_source else "is not here"
    remarks = [f"note: the source {where}; {compared} not compared"]
    if not plan.ledger.parent.is_dir():
        plan = replace(plan, ledger=Path(":memory:"))
        remarks.append("note: the folder of the ledger is not here; the whole budget is taken to remain")
    return Review(plan, AbsentSource(plan.schema, plan.csv), tuple(remarks))


def check_plan(path: Path, given: Mapping[str, str] | None = None, *, without_source: bool = False) -> Answer:
    """The meaning of a plan, after every check has passed.

    Raises:
        DiscreetError: whatever `discreet release` would refuse before it spends; without the source, as far as that can be
            known.
    """
    plan = _read_plan(path, given)
    seen = review(plan, without_source=True) if without_source else Review(plan)
    try:
        with seen.session() as session:
            quotes, now = _quotes(seen.plan, session)
            if seen.source is None and not now.given_back >= quotes.keys():  # else nothing is read (soundness 35)
                session.check_source()
            _require_room(plan, _charges(plan, quotes, now), now)
    except SourceError as wrong:
        raise _with_all_faults(wrong, plan) from None
    views = [_VIEW] if seen.source is None and any(map(is_view, _sources(plan))) else []
    notes = [*seen.remarks, *views, *approval_notes(seen.plan, quotes, now.paid), *_notes(plan, quotes, now)]
    remaining = amount_text(from_coordinates(type(plan.budget), now.remaining))
    lines = [
        f"{path.name} is in order. Nothing was spent.",
        *declaration_lines(plan, seen.header, remaining, above_facts(plan, now)),
        *(line for name, quote in quotes.items() for line in (*release_lines(name, quote), *derived_lines(plan, name))),
        *notes,
    ]
    facts = {
        "plan": str(path),
        "dataset": plan.dataset,
        "source": without_secrets(plan.source),
        "ledger": str(plan.ledger),
        "neighbours": plan.neighbours.to_json(),
        "invariants": [] if plan.invariants is None else plan.invariants.to_json(),
        "schema": plan.schema.to_json(),
        **({"beside": plan.beside.to_json()} if plan.beside.tables else {}),
        "budget": to_json(plan.budget),
        "remaining": [text(value) for value in now.remaining],
        "releases": [{**release_facts(name, quote), **derived_facts(plan, name)} for name, quote in quotes.items()],
        "notes": notes,
        **({"parameters": dict(plan.parameters)} if plan.parameters else {}),
        **above_json(plan, now),
    }
    return Answer(lines, facts)


def _read_plan(path: Path, given: Mapping[str, str] | None) -> PlanFile:
    """The plan.

    Raises:
        PlanError: it cannot be read; the message has a line for each fault.
    """
    try:
        return load_plan(path, given)
    except PlanError as fault:
        if not fault.keys:  # no faults can be told apart
            raise
        raise PlanError("\ndiscreet: ".join(map(str, faults_of(read_toml(path), given)))) from None


def _with_all_faults(wrong: SourceError, plan: PlanFile) -> SourceError:
    """The error of a source, after a line for what is refused whatever the source is.

    Where columns do not fit the source, the message has a line for each of them.
    """
    absent = _find_absent(plan)
    tables = [] if absent else [(source_of(plan), plan.schema), *plan.beside.sources.values()]
    faults = [fault for source, schema in tables for fault in header_faults(source, schema)]
    said = faults if len(faults) > 1 else [f"{wrong}{'; --without-source checks everything else' * absent}"]
    text = "\ndiscreet: ".join([*_find_refusal(plan), *said])
    return RowsDiffer(text, wrong.declared, wrong.found) if isinstance(wrong, RowsDiffer) else SourceError(text)


def _find_refusal(plan: PlanFile) -> list[str]:
    """The refusal of a plan whose source is taken to fit; none where there is none."""
    try:
        quote_all(Review(plan, AbsentSource(plan.schema, plan.csv)))
    except DiscreetError as refused:
        return [str(refused)]
    return []


def quote_plan(
    path: Path,
    given: Mapping[str, str] | None = None,
    *,
    without_source: bool = False,
    assuming: Assumptions = MappingProxyType({}),
) -> Answer:
    """The costs of the releases of a plan, and their expected errors; with assumptions also their whole errors.

    Raises:
        DiscreetError: as `check_plan`; or an assumption is wrong.
    """
    plan = load_plan(path, given)
    seen = review(plan, without_source=without_source)
    quotes, now = quote_all(seen)
    notes = [*seen.remarks, *_notes(plan, quotes, now)]
    charges = _charges(plan, quotes, now)
    charge = _total(plan, charges)
    after = tuple(left - spent for left, spent in zip(now.remaining, charge, strict=True))
    shown = [amount_text(from_coordinates(type(plan.budget), part)) for part in (charge, now.remaining, after)]
    lines = []
    for name, quote in quotes.items():
        lines += [f"{name} ({amount_text(quote.spend)})", *(f"  {line}" for line in str(quote).splitlines())]
        lines += [*derived_lines(plan, name), ""]
    lines += [f"charge {shown[0]}; remaining now {shown[1]}, afterwards {shown[2]}. Nothing was spent."]
    lines += [*after_lines(plan, now, charges), *notes]
    facts = {
        "budget": to_json(plan.budget),
        "charge": [text(value) for value in charge],
        "remaining": [text(value) for value in now.remaining],
        **above_json(plan, now),
        "releases": [
            {**release_facts(name, quote), "expected_error": dict(quote.expected), **derived_facts(plan, name)}
            for name, quote in quotes.items()
        ],
        "notes": notes,
    }
    return with_whole_errors(Answer(lines, facts), quotes, assuming)


def planner_page(
    path: Path,
    out: Path,
    given: Mapping[str, str] | None = None,
    *,
    without_source: bool = False,
    language: str = "en",
) -> Answer:
    """Writes the planner of a plan to `out`: its quotes, with sliders, in this language.

    Raises:
        DiscreetError: as `quote_plan`, but for releases that do not fit; or the page cannot be written.
    """
    from discreet.pages.planner import Planned, planned_file, write_planner

    if stands(out, "--html") and not (out.is_file() or out.is_dir()):
        raise ArgumentError(f"--html: '{out}' is not a regular file, and the page would replace it; choose another path")
    plan = load_plan(path, given)
    seen = review(plan, without_source=without_source)
    with seen.session() as session:
        quotes, now = _quotes(seen.plan, session)
    limits = limits_of(plan, now)
    chosen = planned_file(plan, quotes, remaining=now.remaining, frozen=now.declared, limits=limits)
    releases = [Planned(name, quote, name in now.given_back) for name, quote in quotes.items()]
    written = write_planner(chosen, releases, out, language=language)
    lines = [f"{written} was written: open it in a browser. No row was read, and nothing was spent."]
    return Answer([*lines, *seen.remarks], {"planner": str(written), "releases": list(quotes), "notes": [*seen.remarks]})


def quote_all(seen: Review) -> tuple[dict[str, Quote], Standing]:
    """The quotes of all releases; those that are not stored yet fit into what remains, together."""
    with seen.session() as session:
        quotes, now = _quotes(seen.plan, session)
    _require_room(seen.plan, _charges(seen.plan, quotes, now), now)
    return quotes, now


def _quotes(plan: PlanFile, session: Session) -> tuple[dict[str, Quote], Standing]:
    """The quotes of all releases, whether they fit or not."""
    quotes, now = {}, standing(plan)
    for order in plan.orders:
        spend = order.spend
        if spend is None and order.error is None and order.name in now.paid:
            # It was charged everything that remained then, and is returned or finished for that charge.
            spend = budget_down(plan.budget, now.reserved[order.name].charge)
        quotes[order.name] = session.quote(order.request, spend=spend, error=order.error, expect=order.expect)
        if order.name not in now.given_back:
            check_tested([order], [quotes[order.name]], plan.dataset, plan.report_delta)
    return quotes, now


def _charges(plan: PlanFile, quotes: Mapping[str, Quote], now: Standing) -> dict[str, Amounts]:
    """The charges of the releases that are neither stored nor reserved yet, by name."""
    wanted = {name: quote for name, quote in quotes.items() if name not in now.paid or now.paid_otherwise(plan, name, quote)}
    return {name: charge_of(quote.spend, now.room(name)) for name, quote in wanted.items()}


def _total(plan: PlanFile, charges: Mapping[str, Amounts]) -> Amounts:
    """The sum of the charges."""
    return reduce(plus, charges.values(), (Fraction(0),) * len(coordinates(plan.budget)))


def _require_room(plan: PlanFile, charges: Mapping[str, Amounts], now: Standing) -> None:
    """Checks that the charges fit, coordinate by coordinate, as the ledger will compare them: equal is accepted."""
    total = _total(plan, charges)
    try:
        if not fits(total, now.remaining):
            raise BudgetExceeded("", total, now.remaining)  # noqa: TRY301 (in words below)
        if now.windows is not None:
            require_room_in(now.windows, plan.dataset, [(now.reads[name], charge) for name, charge in charges.items()])
    except BudgetExceeded as refused:
        raise in_words(plan.dataset, plan.budget, refused) from None


def _notes(plan: PlanFile, quotes: Mapping[str, Quote], now: Standing) -> Sequence[str]:
    notes = note_lines(plan, quotes)
    if now.inspected:
        notes.append(f"note: the rows were inspected (entry {now.inspected} of the ledger), and every later release says so")
    for name, quote in quotes.items():
        given_back = name in now.given_back
        if given_back and now.paid_otherwise(plan, name, quote):
            was = amount_text(from_coordinates(type(plan.budget), now.reserved[name].charge))
            notes.append(
                f"note: '{name}' is in the ledger, made with {was}, and is not made again under that name with another "
                "spend; ask for that one, or name this run with `discreet release --as NAME`"
            )
        elif given_back:
            notes.append(f"note: '{name}' is in the ledger and is returned at no charge; the source is not looked at")
        elif name in now.reserved:
            notes.append(_explain_reservation(plan, name, quote, now))
    return notes


def _explain_reservation(plan: PlanFile, name: str, quote: Quote, now: Standing) -> str:
    """The meaning of a reservation of this name for the release: finished by it, lost, or of another plan."""
    found = now.became[now.reserved[name].sequence]
    if name in now.goes_on and not now.paid_otherwise(plan, name, quote):
        return (
            f"note: '{name}' is reserved, and nothing was drawn for it: `discreet release` with this plan finishes it at no "
            "further charge"
        )
    if found.state == "committed" or found.resumable:
        return (
            f"note: the name '{name}' is used in the ledger, by another plan or spend; choose another, or name this run "
            "with `discreet release --as NAME`"
        )
    return f"note: '{name}': {why_lost(found)}; `discreet release --again` makes it with a new charge"
