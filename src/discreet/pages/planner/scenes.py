"""A plan file as the planner sees it: the exact totals that can be left out, and its text with slots for the controls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from discreet.errors import DiscreetError
from discreet.exact.figures import name
from discreet.pages.planner.document import Chosen, Limit, Scene, Written
from discreet.planfile.invariants import invariants_of
from discreet.planfile.read import PlanFile
from discreet.planfile.tree import Node, read_toml
from discreet.planfile.write import toml_key, toml_value
from discreet.privacy import Budget
from discreet.privacy.amounts import spend_of
from discreet.privacy.measures import find_budget
from discreet.quotes.quote import Quote
from discreet.totals.exact_totals import ExactTotals, exact_totals_of

__all__ = ["planned_file"]

_MOST_SWITCHES = 3

Entry = tuple[str, Any]
"""A line of the invariants: the word of its list, and the value."""


def planned_file(
    plan: PlanFile,
    quotes: Mapping[str, Quote],
    *,
    remaining: tuple[Fraction, ...],
    frozen: bool,
    limits: tuple[Limit, ...] = (),
) -> Chosen:
    """The facts that the releases of a plan file share.

    Args:
        plan: the plan, as it was read.
        quotes: the quotes of its releases.
        remaining: its remaining budget, in additive coordinates.
        frozen: whether the ledger holds the data set.
        limits: further budgets that the releases are charged to.

    Raises:
        PlanError: the file has changed since it was read, and is not a valid plan any more.
    """
    root = read_toml(plan.path)
    switches = _switches(root.value.get("invariants", {}))
    first = next(iter(quotes.values())).beside
    return Chosen(
        dataset=plan.dataset,
        neighbours=plan.neighbours,
        budget=plan.budget,
        remaining=remaining,
        frozen=frozen,
        report_delta=plan.report_delta,
        totals=tuple(_words(switch) for switch in switches),
        scenes=tuple(_scenes(plan, switches, first, root, frozen=frozen)),
        kind="toml",
        written=tuple(_merge(_write_text({**root.value, **_stated(plan, root.value)}, switches))),
        file=name(plan.path.name),
        limits=limits,
    )


def _switches(section: Mapping[str, Any]) -> list[list[Entry]]:
    """The switches of the page: one for each entry while the entries are few, else one for all of them."""
    entries = [(word, value) for word, values in section.items() for value in values]
    if len(entries) > _MOST_SWITCHES:
        return [entries]
    return [[entry] for entry in entries]


def _words(entries: list[Entry]) -> str:
    return "; ".join(f"{name(word)}: {_entry_words(value)}" for word, value in entries)


def _entry_words(value: Any) -> str:
    columns = value if isinstance(value, list) else value.get("columns", [])
    more = "" if isinstance(value, list) else " (some of them)"
    return " × ".join(name(column) for column in columns) + more


def _scenes(
    plan: PlanFile, switches: list[list[Entry]], first: ExactTotals | None, root: Node, *, frozen: bool
) -> Iterator[Scene]:
    """The scene of the plan, then the others; only the first where the ledger holds the data set."""
    whole = "1" * len(switches)
    yield Scene(whole, first)
    if frozen:
        return
    for digits in product("01", repeat=len(switches)):
        on = "".join(digits)
        if on != whole:
            entries = [entry for digit, switch in zip(on, switches, strict=True) if digit == "1" for entry in switch]
            yield _scene(plan, on, entries, root)


def _scene(plan: PlanFile, on: str, entries: list[Entry], root: Node) -> Scene:
    if not entries or plan.neighbours.rows is None:
        return Scene(on, None)
    try:
        found = invariants_of(Node(_section(entries), ("invariants",), root.file, ""), plan.schema, plan.neighbours)
        return Scene(on, exact_totals_of(found, plan.schema, None, plan.neighbours.rows))
    except DiscreetError as refused:
        return Scene(on, None, name(refused))


def _section(entries: list[Entry]) -> dict[str, list[Any]]:
    section: dict[str, list[Any]] = {}
    for word, value in entries:
        section.setdefault(word, []).append(value)
    return section


# The text of the plan -------------------------------------------------------------------------------------------------


def _stated(plan: PlanFile, tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Budget and releases, stated for the file and release by release, also where they are for a population or split."""
    budget = {key: value for key, value in tree["budget"].items() if key not in {"of", "spends"}}
    whole = plan.budget.to_json() if "of" in tree["budget"] else {}
    if tree["budget"].get("spends") != "split":
        return {"budget": {**budget, **whole}}
    releases = [
        {
            **{key: value for key, value in release.items() if key != "share"},
            "spend": _amounts(spend_of(order.spend, plan.budget)),
        }
        for release, order in zip(tree["release"], plan.orders, strict=True)
    ]
    return {"budget": {**budget, **whole}, "release": releases}


def _amounts(spend: Budget) -> list[str] | str:
    stated = [spend.to_json()[field] for field in spend.fields]
    return stated if len(stated) > 1 else stated[0]


def _write_text(tree: Mapping[str, Any], switches: list[list[Entry]]) -> Iterator[Written]:
    """The file, written anew: the same keys and values, with slots where the controls of the page decide."""
    yield "[data]\n" + _entries(tree["data"])
    for column, value in tree["columns"].items():
        yield f"\n[columns.{toml_key(column)}]\n{_entries(value)}"
    for table, value in tree.get("beside", {}).items():
        heading = f"beside.{toml_key(table)}"
        yield f"\n[{heading}]\n{_entries({key: one for key, one in value.items() if key != 'columns'})}"
        yield f"\n[{heading}.columns]\n{_entries(value['columns'])}"
    if "invariants" in tree:
        lists = [[word, toml_value(value), place] for place, switch in enumerate(switches) for word, value in switch]
        yield {"slot": "invariants", "entries": lists}
    if "parameters" in tree:
        yield "\n[parameters]\n" + _entries(tree["parameters"])
    yield "\n[budget]\n"
    changed = find_budget(tree["budget"]["measure"]).fields[0]
    for key, value in tree["budget"].items():
        line = _entries({key: value})
        yield {"slot": "budget", "key": key, "was": line} if key == changed else line
    for place, release in enumerate(tree["release"]):
        yield from _release(place, release)
    for section, value in tree.items():
        if section not in _WITH_SLOTS:
            yield from _section_text(section, value)


_WITH_SLOTS = ("data", "columns", "beside", "invariants", "parameters", "budget", "release")
"""The sections that stand at places of their own; the others follow as they are."""


def _section_text(section: str, value: Any) -> Iterator[str]:
    """A section as it stands: a table, or several of one name."""
    tables, brackets = (value, "[[{}]]") if isinstance(value, list) else ([value], "[{}]")
    for table in tables:
        yield f"\n{brackets.format(toml_key(section))}\n{_entries(table)}"


def _release(place: int, release: Mapping[str, Any]) -> Iterator[Written]:
    yield "\n[[release]]\n"
    for key, value in release.items():
        line = _entries({key: value})
        if key == "resize":
            yield {"slot": "resize", "release": place, "was": line}
        elif key not in {"spend", "error"}:
            yield line
    spends = {key: release[key] for key in ("spend", "error") if key in release}
    yield {"slot": "spend", "release": place, "was": _entries(spends)}


def _entries(table: Mapping[str, Any]) -> str:
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in table.items())


def _merge(pieces: Iterator[Written]) -> Iterator[Written]:
    """The pieces with neighbouring texts put together."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            continue
        if text:
            yield text
        text = ""
        yield piece
    if text:
        yield text
