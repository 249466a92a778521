"""`discreet audit`: the releases of a plan, attacked by running their noise on data sets that the audit makes itself."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.cli.exits import leave
from discreet.cli.output import Answer, Spinner, align, write
from discreet.exact.numbers import decimal_text, text
from discreet.planfile.read import PlanFile, load_plan
from discreet.privacy.amounts import amount_text, number_text
from discreet.quotes.quote import Quote

if TYPE_CHECKING:
    # Loaded when it is used, so that the other commands start without it.
    from discreet.audit import Audit

__all__ = ["REFUTED", "audit_plan"]

REFUTED = 5
"""The exit code of an audit that has shown a claim to be false. Nothing was spent."""


def audit_plan(path: Path, runs: int, given: Mapping[str, str] | None = None, *, as_json: bool) -> None:
    """Prints the audit of every release of a plan; the command leaves with `REFUTED` if a claim is false.

    Raises:
        DiscreetError: the plan is wrong, or none of it can be audited.
        typer.Exit: a claim was refuted.
    """
    from discreet.audit.auditing import ERROR, audit_quote, check_runs

    check_runs(runs)
    plan = load_plan(path, given)
    quotes = _quotes(plan)
    found: dict[str, Audit] = {}
    for name, quoted in quotes.items():
        with Spinner(f"attacking '{name}'"):
            found[name] = audit_quote(quoted, runs=runs, error=ERROR / len(quotes))
    write(_answer(plan, quotes, found, confidence=1 - ERROR), as_json=as_json)
    refuted = [name for name, one in found.items() if one.refuted]
    if refuted:
        leave(f"refuted: {', '.join(refuted)}; do not release before the cause is known. Nothing was spent", REFUTED)


def _quotes(plan: PlanFile) -> dict[str, Quote]:
    """The quotes without ledger and source: exact totals count as not known yet, a spend left out as the whole budget."""
    from discreet.quotes.allocate import quote
    from discreet.totals.exact_totals import exact_totals_of

    totals = None
    if plan.invariants is not None and plan.neighbours.rows is not None:
        totals = exact_totals_of(plan.invariants, plan.schema, None, plan.neighbours.rows)
    spends = {order.name: plan.budget if order.spend is None else order.spend for order in plan.orders}
    return {order.name: quote(order.request, spends[order.name], totals) for order in plan.orders}  # type: ignore[arg-type]


def _answer(plan: PlanFile, quotes: dict[str, Quote], found: dict[str, Audit], *, confidence: Fraction) -> Answer:
    refuted = any(one.refuted for one in found.values())
    notes = _notes(plan)
    lines = [f"{plan.path.name}: the data were not read. Nothing was spent.", *notes]
    for name, one in found.items():
        lines += ["", f"{name} ({amount_text(quotes[name].spend)})", *_lines(one)]
    lines += [
        "",
        "Everything shown is true with a probability of at least 1 - 1e-9. A claim that is not refuted is not proved.",
    ]
    facts: dict[str, Any] = {
        "plan": str(plan.path),
        "refuted": refuted,
        "confidence": text(confidence),
        "releases": [{"name": name, **one.to_json()} for name, one in found.items()],
        "notes": notes,
    }
    return Answer(lines, facts)


def _notes(plan: PlanFile) -> list[str]:
    notes = []
    if plan.invariants is not None:
        notes.append("note: the exact totals are treated as not known yet, as in a quote before they are published")
    for order in plan.orders:
        if order.spend is None:
            notes.append(f"note: '{order.name}' has no spend; the whole budget is assumed")
    return notes


def _lines(one: Audit) -> list[str]:
    """The profile, the attacks and the conclusion."""
    profile = [["ε", "δ claimed", "δ shown", "attack"]]
    for point in one.points:
        mark = f"{point.attack}" if point.found else "-"
        row = [decimal_text(point.epsilon, 4), _number(point.claimed), f"{point.found:.6f}", mark]
        profile.append([*row, "REFUTED" if point.refuted else ""])
    profile[0].append("")
    attacks = [
        [f"{number}", f"ε ≥ {attack.epsilon:.4f}", f"{attack.runs} runs", attack.what]
        for number, attack in enumerate(one.attacks, start=1)
    ]
    verdict = "REFUTED: more leaks than is claimed" if one.leaks else "not refuted"
    at = f" at δ = {number_text(one.delta)}" if one.delta else ""
    return [
        f"  {verdict}: ε{at} is claimed to be at most {one.claimed:.4f}, and shown to be at least {one.epsilon:.4f}",
        *align(profile, indent="    "),
        *align(attacks, indent="    "),
        *_laws(one),
        *(f"  {line}" for line in one.not_audited),
    ]


def _laws(one: Audit) -> list[str]:
    """The comparison of the drawn noise with the declared laws."""
    if not one.unlike:
        return [f"  laws: {len(one.checks)} probabilities of what is drawn are not refuted"] if one.checks else []
    wrong = [
        [check.what, f"declared {_number(check.declared)}", f"drawn between {_number(check.low)} and {_number(check.high)}"]
        for check in one.unlike
    ]
    verdict = f"REFUTED: {len(wrong)} of {len(one.checks)} probabilities of what is drawn differ from the declared laws"
    return [f"  {verdict}", *align(wrong, indent="    ")]


def _number(value: float) -> str:
    """A δ in six decimals; a very small one by its size."""
    return f"{value:.6f}" if value >= 1e-4 or not value else f"{value:.1e}"
