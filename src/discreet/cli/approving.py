"""`discreet approve` and `discreet ledger demand`: signatures that a plan or a ledger demands, made and shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from discreet.approvals.demand import Demand, missing_words
from discreet.approvals.files import approvals_folder, approvals_in, write_approval
from discreet.approvals.keys import load_public_keys
from discreet.approvals.signing import signer
from discreet.approvals.statements import ReleaseStatement, Statement, TotalsStatement, document
from discreet.cli.approval_notes import declare_for
from discreet.cli.describing import release_lines
from discreet.cli.output import Answer, Grid, align, write
from discreet.cli.releasing import rename_orders
from discreet.cli.standings import identity_of
from discreet.domain.words import column_facts, neighbours_text
from discreet.errors import ArgumentError, LedgerError, did_you_mean
from discreet.exact.given_paths import require_path, stands
from discreet.exact.names import one_form
from discreet.ledger import Ledger
from discreet.ledger.consents import demands_with
from discreet.planfile.read import PlanFile, load_plan
from discreet.planfile.tree import printable
from discreet.privacy.amounts import amount_text, budget_down
from discreet.privacy.coordinates import Budget
from discreet.quotes.groups import check_expect
from discreet.quotes.quote import Quote
from discreet.session.orders import Order, amount_of

__all__ = ["Chosen", "approve_plan", "change_demand"]


@dataclass(frozen=True, slots=True)
class _Signing:
    """The statements for a plan that may be signed, the quotes that they are about, and who must sign, as far as known."""

    plan: PlanFile
    genesis: str
    quotes: Mapping[str, Quote]
    statements: Sequence[Statement]
    demands: tuple[Demand, ...]
    ledger_is_here: bool
    reading: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """The release or totals to approve, and their plan.

    Attributes:
        path: the plan.
        given: the values of its parameters.
        release: only this release; None for all.
        name: the name of a repeated run.
        ledger: the first digest of the ledger, where it is not here.
    """

    path: Path
    given: Mapping[str, str]
    release: str | None
    name: str | None
    ledger: str | None


def approve_plan(chosen: Chosen, key: Path | None, *, yes: bool, as_json: bool) -> None:
    """Shows what is to be signed and, with a key, signs it and writes the approvals next to the plan.

    Raises:
        DiscreetError: the plan or the key cannot be used, or nobody is there to say yes.
    """
    path, plan = chosen.path, load_plan(chosen.path, chosen.given)
    plan = replace(plan, orders=_choose(plan.orders, chosen.release, chosen.name))
    found = _open_signing(plan, _check_digest(chosen.ledger), create=key is None)
    if key is None:
        write(Answer([*_lines(found), *_how_to_sign(found, path)], _facts(found, [])), as_json=as_json)
        return
    if not as_json:
        write(Answer(_lines(found), {}), as_json=False)
    _ask_for_consent(len(found.statements), yes=yes)
    sign = signer(key)
    folder = approvals_folder(path)
    written = [write_approval(sign(statement), folder) for statement in found.statements]
    write(Answer(_report_signed(found, written, folder), _facts(found, written)), as_json=as_json)


def _choose(orders: Sequence[Order], release: str | None, run: str | None) -> tuple[Order, ...]:
    """The orders, or the one that the plan calls `release`, with the names that they have in a repeated run."""
    names = [order.name for order in orders]
    if release is not None and one_form(release) not in names:
        raise ArgumentError(f"--release: the plan has no release '{release}'{did_you_mean(release, names)}")
    renamed = orders if run is None else rename_orders(orders, run)
    chosen = None if release is None else one_form(release)
    return tuple(order for name, order in zip(names, renamed, strict=True) if chosen in {None, name})


def _check_digest(ledger: str | None) -> str:
    if ledger is not None and not re.fullmatch("[0-9a-f]{64}", ledger):
        raise ArgumentError("--ledger: must be the first digest of the ledger, 64 hexadecimal digits; the one who keeps the "
                            "ledger sees it with `discreet approve PLAN`")  # fmt: skip
    return ledger or ""


# What is signed -----------------------------------------------------------------------------------------------------------


def _open_signing(plan: PlanFile, given: str, *, create: bool) -> _Signing:
    with closing(Ledger.open(plan.ledger)) as ledger:
        here = bool(ledger.board.genesis())
        if create and not here and not given:
            ledger.board.create()
            here = True
        genesis = ledger.board.genesis() or given
        if not genesis:
            raise LedgerError(
                f"ledger '{plan.ledger}': there is no such file, and an approval names the ledger that it is for, so "
                f"nothing was signed; where the ledger is to be kept, run `discreet approve {plan.path.name}` first, which "
                "makes it and prints the command that signs; anywhere else add --ledger with the digest in that command"
            )
        if given and genesis != given:
            raise LedgerError(f"--ledger: ledger '{plan.ledger}' has another first digest ({genesis}); it is another ledger")
        declared = declare_for(plan)
        orders = [order for order in plan.orders if not _is_settled(ledger, plan, order)]
        quotes = {order.name: declared.quote(order.request, _spend(ledger, plan, order, here=here)) for order in orders}
        statements: list[Statement] = []
        if plan.invariants is not None and not _has_published(ledger, plan):
            statements.append(declared.totals(genesis, plan.invariants))
        for name, quote in quotes.items():
            statements.append(declared.release(genesis, name, quote, ledger.board.reserved(plan.dataset, name)))
        demands = demands_with(ledger.board.demands(), plan.dataset, plan.demand)
    return _Signing(plan, genesis, quotes, statements, demands, here, declared.reading)


def _is_settled(ledger: Ledger, plan: PlanFile, order: Order) -> bool:
    """True if a release is given back or finished without a new charge, and so without another approval."""
    number = ledger.board.reserved(plan.dataset, order.name)
    found = next((one for one in ledger.standings(plan.dataset) if one.sequence == number), None) if number else None
    if found is None:
        return False
    return found.state == "committed" or (found.resumable and found.plan_digest == order.request.digest)


def _has_published(ledger: Ledger, plan: PlanFile) -> bool:
    if not ledger.board.genesis():
        return False
    entries = ledger.entries()
    begun = {entry.sequence for entry in entries if entry.kind == "publish" and one_form(entry.dataset) == plan.dataset}
    return any(entry.kind == "commit" and entry.reservation in begun for entry in entries)


def _spend(ledger: Ledger, plan: PlanFile, order: Order, *, here: bool) -> Budget:
    if order.error is not None:
        from discreet.quotes import spend_for_errors

        declared = declare_for(plan)
        sizes = check_expect(order.expect)
        return spend_for_errors.quote_for(order.request, order.error, plan.budget, declared.before_totals(), sizes).spend
    if order.spend is None and not here:
        raise ArgumentError(
            f"release '{order.name}': takes all that remains, which only the ledger knows; write the spend into the plan"
        )
    known = [name for name in ledger.datasets() if one_form(name) == plan.dataset] if here else []
    identity = ledger.identity(known[0]) if known else identity_of(plan)
    windows = () if plan.windows is None else plan.windows.read_by(order.request)
    _, left = ledger.left(identity, windows)
    return amount_of(order.spend, plan.budget, lambda: budget_down(plan.budget, left))


# What is shown ------------------------------------------------------------------------------------------------------------


def _lines(found: _Signing) -> Sequence[str]:
    plan = found.plan
    state = "" if found.ledger_is_here else "; it is not here: compare the digest with the one who keeps it"
    facts = [
        ("ledger", f"the one with the first digest {found.genesis}{state}"),
        ("data set", plan.dataset),
        ("neighbours", neighbours_text(plan.neighbours)),
        ("budget", amount_text(plan.budget)),
        *([("source", f"read with the options {found.reading}")] if found.reading != "{}" else []),
    ]
    lines: list[str] = [
        "What an approval of this plan says:",
        *align(facts),
        "columns",
        *align(column_facts(plan.schema)),
    ]
    for statement in found.statements:
        match statement:
            case TotalsStatement():
                lines += [
                    f"exact totals of {_totals_words(plan)}",
                    "  published without noise, once; nothing protects them",
                ]
            case ReleaseStatement():
                quote = found.quotes[statement.release]
                lines += [*release_lines(statement.release, quote), *(f"  {line}" for line in str(quote).splitlines())]
                lines += align([("quote", statement.quote)])
                if statement.replaces:
                    lines.append(f"  in place of reservation {statement.replaces}, whose charge was lost: a second charge")
            case _:
                raise ArgumentError("approve: signs releases and exact totals")
    return [printable(line) for line in lines]


def _totals_words(plan: PlanFile) -> str:
    parts = [] if plan.invariants is None else [", ".join(part.columns) for part in plan.invariants.parts]
    return "; ".join(parts)


def _how_to_sign(found: _Signing, path: Path) -> list[str]:
    if not found.statements:
        return ["The ledger has all of it; there is nothing to sign."]
    return [
        *_find_missing(found),
        f"Nothing was signed. To sign: discreet approve {path.name} --key FILE --ledger {found.genesis}",
    ]


def _find_missing(found: _Signing) -> list[str]:
    if not found.demands:
        return ["Neither the plan nor the ledger demands a signature."]
    given = approvals_in(approvals_folder(found.plan.path))
    lines = []
    for statement in found.statements:
        what = f"'{statement.release}'" if isinstance(statement, ReleaseStatement) else "the exact totals"
        lines += [f"{what}: {missing_words(demand, statement, given)}" for demand in found.demands]
    return [*map(printable, lines)]


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask_for_consent(count: int, *, yes: bool) -> None:
    if not count:
        raise ArgumentError("approve: the ledger has all releases of the plan already; there is nothing to sign")
    if yes:
        return
    if not _is_terminal():
        raise ArgumentError("approve: asks before it signs, and there is no terminal; --yes says that you have read it")
    try:
        agreed = typer.confirm("Sign this?")
    except typer.Abort:
        agreed = False
    if not agreed:
        raise ArgumentError("approve: nothing was signed")


def _report_signed(found: _Signing, written: Sequence[Path], folder: Path) -> list[str | Grid]:
    return [
        f"Signed {len(written)} {'approval' if len(written) == 1 else 'approvals'}:",
        *(f"  {path}" for path in written),
        *_find_missing(found),
        f"The one who releases needs these files in '{folder.name}' next to the plan.",
    ]


def _facts(found: _Signing, written: Sequence[Path]) -> dict[str, Any]:
    return {
        "plan": str(found.plan.path),
        "ledger": found.genesis,
        "statements": [document(statement) for statement in found.statements],
        "demands": [demand.to_json() for demand in found.demands],
        "written": [str(path) for path in written],
    }


# The demand of a ledger ---------------------------------------------------------------------------------------------------


def change_demand(
    file: Path, signatures: int, keys: Path | None, dataset: str, key: Path | None, *, yes: bool, as_json: bool
) -> None:
    """A ledger demands signatures from now on; or, with a key, such a change is signed and nothing else happens.

    Raises:
        NotApproved: keys that were demanded until now have not signed.
        DiscreetError: the ledger or the keys cannot be used.
    """
    demand = Demand(signatures, () if keys is None else load_public_keys(keys, "--keys"))
    folder = approvals_folder(file)
    scope = f"data set '{dataset}'" if dataset else "every data set of this ledger"
    facts = {"ledger": str(file), "dataset": dataset, **demand.to_json()}
    lines: list[str | Grid] = [f"{scope}: releases need {demand}", *(f"  {one}" for one in demand.keys)]
    with closing(Ledger.open(file)) as ledger:
        if key is None:
            number = ledger.board.change(dataset, demand, approvals_in(folder))
            write(Answer([*lines, f"written as entry {number}"], {**facts, "entry": number}), as_json=as_json)
            return
        if not stands(require_path(file, "FILE"), "FILE"):
            raise LedgerError(f"ledger '{file}': there is no such file; check the path")
        statement = ledger.board.change_of(dataset, demand)
    if not as_json:
        write(Answer(["What is signed:", *lines, *document(statement).splitlines()], {}), as_json=False)
    _ask_for_consent(1, yes=yes)
    place = write_approval(signer(key)(statement), folder)
    write(Answer([f"Signed: {place}"], {**facts, "written": str(place)}), as_json=as_json)
