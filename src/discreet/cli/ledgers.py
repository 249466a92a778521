"""`discreet ledger show`, `discreet ledger verify` and `discreet ledger export`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.cli.output import Answer, Grid, align
from discreet.cli.populations import population_facts, population_lines
from discreet.errors import ArgumentError, LedgerError
from discreet.exact.canonical import canonical
from discreet.exact.given_paths import require_path, stands
from discreet.exact.names import one_form, spellings
from discreet.exact.numbers import text
from discreet.ledger import MOST_ATTEMPTS, Demanded, Entry, Identity, Ledger, Standing, entry_body, why_lost
from discreet.ledger.declarations import amend, changes
from discreet.ledger.one_file import RESTORE
from discreet.privacy import from_coordinates
from discreet.privacy.amounts import amount_text, number_text
from discreet.releases.document import Release
from discreet.session.accounts import budget_in

__all__ = ["export_ledger", "show_ledger", "verify_ledger"]

Amounts = tuple[Fraction, ...]

_LISTED = 5  # paths in one message
_LISTED_WINDOWS = 24  # the last ones that were charged


def show_ledger(file: Path, dataset: str | None) -> Answer:
    """Budget, charges and remainder of every data set of a ledger, or of one.

    Raises:
        LedgerError: the file does not exist, is damaged, or does not have that data set.
    """
    lines: list[str | Grid] = []
    facts = []
    with _open_existing(file) as ledger:
        names = ledger.datasets() if dataset is None else (dataset,)
        for name in names:
            identity = ledger.identity(name)
            entries = ledger.entries(name)
            spent, remaining = ledger.spent(name), ledger.remaining(name)
            became = _became(ledger, name, entries)
            drawn = [*_above(ledger, identity), *population_lines(identity, spent, remaining)]
            lines += [*_account(identity, entries, became, spent, remaining), *drawn, ""]
            facts.append({**_account_facts(identity, entries, became, spent, remaining), **population_facts(identity)})
        head, demands = ledger.head(), ledger.board.demands()
        lines += [*_tell_inspected(ledger, names)] if dataset is None else []
    lines += _demand_lines(demands, dataset)
    lines.append(f"{len(names)} data set{'' if len(names) == 1 else 's'}; head {head}")
    demanded = [{"dataset": name, "entry": one.sequence, **one.demand.to_json()} for name, one in demands.items()]
    shown = {"demands": demanded} if demanded else {}
    return Answer(lines, {"ledger": str(file), "head": head, "datasets": facts, **shown})


def _demand_lines(demands: Mapping[str, Demanded], dataset: str | None) -> list[str | Grid]:
    """The demands for signatures, of the whole ledger and of each data set."""
    lines: list[str | Grid] = []
    for name, one in demands.items():
        if dataset is None or name in {"", one_form(dataset)}:
            scope = f"data set '{name}'" if name else "every data set"
            lines += [f"releases of {scope} need the approval of {one.demand} (entry {one.sequence})"]
            lines += [*(f"  {key}" for key in one.demand.keys), ""]
    return lines


def export_ledger(file: Path) -> Answer:
    """All entries of a ledger, one JSON object per line: the body from which the digest was computed, and the digest.

    Raises:
        LedgerError: the file does not exist or is damaged.
    """
    with _open_existing(file) as ledger:
        entries = [{**json.loads(entry_body(entry)), "digest": entry.digest} for entry in ledger.entries()]
    return Answer([canonical(entry) for entry in entries], {"entries": entries})


def verify_ledger(file: Path, releases: Path | None) -> Answer:
    """Checks that the ledger is sound from its first entry to its last, and has every release in the folder `releases`.

    Raises:
        LedgerError: it is not, and the message names the first broken entry; or it has not, and the message names the
            releases: the ledger is an older copy, or another.
        ArgumentError: the folder has no release, or a file was changed.
    """
    with _open_existing(file) as ledger:
        found = ledger.verify()
        entries = ledger.entries() if releases is not None and found.intact else ()
        signed = found.approvals
    if not found.intact:
        raise LedgerError(
            f"ledger '{file}' is damaged at entry {found.broken}: {found.problem}. The entries before it are sound. "
            f"{RESTORE.capitalize()}"
        )
    spent = {name: [text(value) for value in amounts] for name, amounts in found.spent}
    lines = [f"{file} is intact: {found.entries} entries", f"head {found.head}"]
    facts = {"ledger": str(file), "intact": True, "entries": found.entries, "head": found.head, "spent": spent}
    if signed:
        lines.append(
            f"{signed} {'signature' if signed == 1 else 'signatures'} of approvals: all are of what the ledger charged"
        )
        facts["signatures"] = signed
    if releases is not None:
        count = _count_contained(entries, file, releases)
        lines.append(f"{count} release{'' if count == 1 else 's'} in {releases}: all are in this ledger")
        facts["releases"] = count
    return Answer(lines, facts)


def _count_contained(entries: tuple[Entry, ...], file: Path, folder: Path) -> int:
    """The number of releases in `folder`. The ledger with these entries charged and committed each of them."""
    stands(require_path(folder, "--releases"), "--releases")
    paths = sorted(folder.rglob("release.json"))
    if not paths:
        raise ArgumentError(f"--releases: '{folder}' has no release.json in it; give a folder that `discreet release` wrote")
    heads = {entry.digest: entry.sequence for entry in entries}
    committed = {entry.reservation: entry.payload_digest for entry in entries if entry.kind == "commit"}
    missing = [path for path in paths if not _is_in(_load(path), heads, committed)]
    if missing:
        listed = ", ".join(f"'{path}'" for path in missing[:_LISTED]) + (", …" if len(missing) > _LISTED else "")
        raise LedgerError(
            f"ledger '{file}' does not have {len(missing)} of {len(paths)} releases: {listed}. It is an older copy of the "
            "ledger that they were charged to, or another ledger: restore the newest copy, and release nothing from this one"
        )
    return len(paths)


def _load(path: Path) -> Release:
    try:
        return Release.load(path)
    except ArgumentError as error:
        raise ArgumentError(f"--releases: '{path}' is not a release as it was written ({error})") from None


def _is_in(release: Release, heads: dict[str, int], committed: dict[int, str]) -> bool:
    """True if the ledger had the entry that the release names when its head was written, and committed these very bytes."""
    shown = release.document.get("ledger")
    if not isinstance(shown, dict):
        return False
    number, head = shown.get("sequence"), shown.get("head")
    if not isinstance(number, int) or not isinstance(head, str):
        return False
    return number <= heads.get(head, 0) and committed.get(number) == hashlib.sha256(release.payload).hexdigest()


def _open_existing(file: Path) -> Ledger:
    if not stands(require_path(file, "FILE"), "FILE"):
        raise LedgerError(f"ledger '{file}': there is no such file; check the path")
    return Ledger.open(file)


@dataclass(frozen=True, slots=True)
class _Became:
    """The outcome of a reservation or publication: its state, how often it was attempted, and the remark on it."""

    state: str
    attempts: int
    remark: str


def _became(ledger: Ledger, dataset: str, entries: Sequence[Entry]) -> dict[int, _Became]:
    """The outcome of every reservation (which counts as spent while it is open), publication, amendment and look at rows."""
    words = {"inspect": "rows inspected", "amend": "amended"}
    found = {entry.sequence: _Became(words[entry.kind], 0, "") for entry in entries if entry.kind in words}
    standings = [*ledger.standings(dataset)]
    newest = {one.name: one.sequence for one in sorted(standings, key=lambda one: one.sequence)}
    for one in standings:
        state = "begun" if (one.kind, one.state) == ("publish", "reserved") else one.state
        remark = _remark(one, newest[one.name], at_work=ledger.is_at_work(one))
        found[one.sequence] = _Became(state, one.attempts, remark)
    return found


def _remark(one: Standing, newest: int, *, at_work: bool) -> str:
    """The meaning of a reservation that is not committed for its charge, also where a newer one has its name; else empty."""
    if one.kind == "publish" or one.state == "committed":
        return ""
    if at_work:
        return "a process is at work on it"
    if newest > one.sequence:
        return f"{why_lost(one)}; entry {newest} was made in its place, with a charge of its own"
    if not one.resumable:
        return f"{why_lost(one)}; `discreet release --again` makes it with a new charge"
    begun = f" ({one.attempts} of {MOST_ATTEMPTS} attempts have begun)" if one.attempts else ""
    return f"not finished, and nothing was drawn: the same command finishes it at no further charge{begun}"


def _account(
    identity: Identity, entries: tuple[Entry, ...], became: Mapping[int, _Became], spent: Amounts, remaining: Amounts
) -> list[str | Grid]:
    lines: list[str | Grid] = [
        f"data set '{identity.dataset}' ({identity.measure})",
        *align([(word, _show(identity, amounts)) for word, amounts in _totals(identity, spent, remaining).items()]),
    ]
    begun = [entry for entry in entries if entry.sequence in became]
    amendments = _amendments(identity, entries)
    rows = [
        (str(entry.sequence), entry.time, entry.user, became[entry.sequence].state, _cost(identity, entry), words)
        for entry in begun
        for words in amendments.get(entry.sequence, [_name_of(entry)])
    ]
    remarks = [(entry, became[entry.sequence].remark) for entry in begun]
    told = [f"  entry {entry.sequence} '{entry.name}': {remark}" for entry, remark in remarks if remark]
    titles = ("entry", "time", "user", "state", "charge", "release")
    return [*lines, Grid(titles, rows, frozenset({"entry"})), *told] if rows else lines


def _above(ledger: Ledger, identity: Identity) -> list[str]:
    """What the population and the windows of a data set have left, where it declares them."""
    population, windows = ledger.above.population(identity), ledger.above.windows(identity)
    lines = []
    if population is not None:
        left = _show(identity, population.left)
        lines.append(f"  population '{population.terms.name}': {left} of {_show(identity, population.terms.budget)} remains")
    if windows is not None:
        used = [name for name in windows.starts if any(windows.spent(name))]
        lines += [f"  window {name}: {_show(identity, windows.left((name,)))} remains" for name in used[-_LISTED_WINDOWS:]]
        budget = _show(identity, windows.terms.budget)
        lines.append(f"  {len(windows.starts) - len(used)} of {len(windows.starts)} windows have all of {budget}")
    return lines


def _account_facts(
    identity: Identity, entries: tuple[Entry, ...], became: Mapping[int, _Became], spent: Amounts, remaining: Amounts
) -> dict[str, Any]:
    amendments = _amendments(identity, entries)
    amended = [
        {"entry": entry.sequence, "time": entry.time, "user": entry.user, "changes": amendments[entry.sequence]}
        for entry in entries
        if entry.sequence in amendments
    ]
    inspections = [{"entry": e.sequence, "time": e.time, "user": e.user} for e in entries if e.kind == "inspect"]
    return {
        "dataset": identity.dataset,
        "measure": identity.measure,
        "declaration": json.loads(identity.declaration),
        **{word: [text(value) for value in amounts] for word, amounts in _totals(identity, spent, remaining).items()},
        "publications": [_attempt_facts(entry, became) for entry in entries if entry.kind == "publish"],
        "releases": [_attempt_facts(entry, became) for entry in entries if entry.kind == "reserve"],
        **({"amendments": amended} if amended else {}),
        **({"inspections": inspections} if inspections else {}),
    }


def _name_of(entry: Entry) -> str:
    """The name of a release, with the windows that it reads."""
    if len(entry.windows) > 1:
        return f"{entry.name} ({entry.windows[0]} to {entry.windows[-1]})"
    return f"{entry.name} ({entry.windows[0]})" if entry.windows else entry.name


def _amendments(identity: Identity, entries: tuple[Entry, ...]) -> dict[int, list[str]]:
    """The changes of each amendment, in words, by the number of its entry."""
    found: dict[int, list[str]] = {}
    declared = identity.declaration
    for entry in entries:
        if entry.kind == "amend":
            details = json.loads(entry.details)
            found[entry.sequence] = [*changes(declared, details)]
            declared = amend(declared, details)
    return found


def _tell_inspected(ledger: Ledger, names: Sequence[str]) -> Iterator[str]:
    """A line for each data set whose rows were inspected, and that has no other entry."""
    seen = [entry for entry in ledger.entries() if entry.kind == "inspect" and not spellings(entry.dataset, names)]
    for name in dict.fromkeys(one_form(entry.dataset) for entry in seen):
        numbers = ", ".join(str(entry.sequence) for entry in seen if one_form(entry.dataset) == name)
        yield f"data set '{name}': rows inspected (entry {numbers}); nothing released"


def _attempt_facts(entry: Entry, became: Mapping[int, _Became]) -> dict[str, Any]:
    found = became[entry.sequence]
    return {
        "entry": entry.sequence,
        "time": entry.time,
        "user": entry.user,
        "name": entry.name,
        "state": found.state,
        "attempts": found.attempts,
        "remark": found.remark,
        "charge": [text(value) for value in entry.charge],
        "plan_digest": entry.plan_digest,
        "digest": entry.digest,
        **({"windows": [*entry.windows]} if entry.windows else {}),
    }


def _totals(identity: Identity, spent: Amounts, remaining: Amounts) -> dict[str, Amounts]:
    return {"budget": identity.budget, "spent": spent, "remaining": remaining}


def _cost(identity: Identity, entry: Entry) -> str:
    if entry.kind in {"inspect", "amend"}:
        return "no charge"
    return "exact, no charge" if entry.kind == "publish" else _show(identity, entry.charge)


def _show(identity: Identity, amounts: Amounts) -> str:
    """The amounts in the parameters of their measure, or as they add where the declaration names none."""
    budget = budget_in(identity)
    if budget is None:
        return ", ".join(number_text(value) for value in amounts)
    return amount_text(from_coordinates(type(budget), amounts))
