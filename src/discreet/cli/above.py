"""The budgets of a plan beside the one of its data set: what its population and its windows have left."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.cli.standings import Standing
from discreet.exact.figures import plural
from discreet.exact.numbers import text
from discreet.ledger.amounts import least, minus, plus
from discreet.ledger.windows import WindowedAccount
from discreet.planfile.read import PlanFile
from discreet.privacy.amounts import amount_text, budget_down

if TYPE_CHECKING:
    from discreet.pages.planner.document import Limit

__all__ = ["above_facts", "above_json", "after_lines", "limits_of"]

Amounts = tuple[Fraction, ...]


def above_facts(plan: PlanFile, now: Standing) -> list[tuple[str, str]]:
    """What the population and the windows of a plan have left, for `discreet check`."""
    facts = []
    if plan.population is not None and now.population is not None:
        others = [one for one in now.population.members if one != plan.dataset]
        shared = f", shared with {', '.join(others)}" if others else ""
        whole, left = amount_text(plan.population.budget), _show(plan, now.population.left)
        said = f"'{plan.population.name}', {whole} for one person in all its data sets{shared}, of which {left} remains"
        facts.append(("population", said))
    if plan.windows is not None and now.windows is not None:
        names, each = [*now.windows.starts], plan.windows.each
        which = f"{len(names)} {plural(each, len(names))} of '{plan.windows.column}' ({names[0]} to {names[-1]})"
        said = f"{which}, {amount_text(plan.windows.budget)} for each; the budget is for all of them together"
        facts += [("windows", said), *(("", line) for line in _window_words(plan, now.windows))]
    return facts


def _window_words(plan: PlanFile, windows: WindowedAccount) -> list[str]:
    """The windows that have less left than their whole budget."""
    some = [f"{name} has {_show(plan, windows.left((name,)))} left" for name in windows.starts if name in windows.own]
    if any(windows.every) and len(some) < len(windows.starts):
        left = _show(plan, minus(windows.terms.budget, windows.every))
        some.append(f"each {'other ' if some else ''}window has {left} left")
    return some


def after_lines(plan: PlanFile, now: Standing, charges: Mapping[str, Amounts]) -> list[str]:
    """What a quote takes from the population and from each window, and what they have before and after it."""
    lines = []
    if now.population is not None:
        total = _sum(now.population.left, [*charges.values()])
        after = minus(now.population.left, total)
        lines.append(
            f"population '{now.population.terms.name}': the charge {_show(plan, total)} is charged to it too; remaining now "
            f"{_show(plan, now.population.left)}, afterwards {_show(plan, after)}."
        )
    if now.windows is not None:
        lines += _windows_after(plan, now, now.windows, charges)
    return lines


def _windows_after(plan: PlanFile, now: Standing, windows: WindowedAccount, charges: Mapping[str, Amounts]) -> list[str]:
    after = windows.copied()
    for name, charge in charges.items():
        after.take(now.reads[name], charge)
    touched = {window: None for name in charges for window in now.reads[name]}
    lines = [
        f"window {name}: remaining now {_show(plan, windows.left((name,)))}, afterwards {_show(plan, after.left((name,)))}."
        for name in windows.starts
        if name in touched
    ]
    if any(not now.reads[name] for name in charges):
        left = least([after.left((name,)) for name in windows.starts])
        lines.append(f"A release of all rows is charged to every window; each has at least {_show(plan, left)} afterwards.")
    return lines


def above_json(plan: PlanFile, now: Standing) -> dict[str, Any]:
    """The same for programs; nothing where nothing is declared."""
    found: dict[str, Any] = {}
    if plan.population is not None and now.population is not None:
        left = [text(value) for value in now.population.left]
        members = [*now.population.members]
        found["of_population"] = {"name": plan.population.name, "remaining": left, "datasets": members}
    if now.windows is not None:
        windows = now.windows
        found["windows"] = {name: [text(value) for value in windows.left((name,))] for name in windows.starts}
    return found


def limits_of(plan: PlanFile, now: Standing) -> tuple[Limit, ...]:
    """The budgets beside that of the data set that the releases of a plan are charged to, for the planner."""
    from discreet.pages.planner.document import Limit  # which no other command needs

    names = [order.name for order in plan.orders]
    found = []
    if now.population is not None:
        every = tuple(range(len(names)))
        found.append(Limit("population", f"'{now.population.terms.name}'", now.population.left, every))
    if now.windows is None:
        return tuple(found)
    read = [now.reads.get(name, ()) for name in names]
    touched = {window for windows in read for window in windows}
    for window in now.windows.starts:
        if window in touched:
            reading = tuple(place for place, windows in enumerate(read) if not windows or window in windows)
            found.append(Limit("window", window, now.windows.left((window,)), reading))
    others = [window for window in now.windows.starts if window not in touched]
    all_rows = tuple(place for place, windows in enumerate(read) if not windows)
    if others and all_rows:
        found.append(Limit("others", "", least([now.windows.left((window,)) for window in others]), all_rows))
    return tuple(found)


def _sum(like: Amounts, amounts: list[Amounts]) -> Amounts:
    total: Amounts = (Fraction(0),) * len(like)
    for one in amounts:
        total = plus(total, one)
    return total


def _show(plan: PlanFile, amounts: Amounts) -> str:
    return amount_text(budget_down(plan.budget, amounts))
