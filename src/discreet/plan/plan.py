"""A plan: schema, neighbours, steps and one request. Data without behaviour, with one canonical JSON form and digest.

A plan has a `layout`, the scans that the engine runs for it. Everything that is wrong with a request is found here, before
any budget is spent and any data are opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from discreet.cube.value_paths import path_of
from discreet.domain.discovery import Keys, with_keys
from discreet.domain.groups import Group, groups_json
from discreet.domain.neighbours import Neighbours, person_of
from discreet.domain.schema import Schema
from discreet.domain.steps import Resize, Step, TableFacts, facts_of, step_json
from discreet.domain.words import card, declared_facts, one_line, request_text
from discreet.errors import InternalError, PlanError, printed
from discreet.exact.canonical import canonical, digest
from discreet.plan.families import check_families
from discreet.plan.filled import facts_with_filled
from discreet.plan.keys import check_keys, most_found
from discreet.plan.layout import Layout, filled_of, layout_of, resize_of, table_facts, used_columns
from discreet.plan.person_table import PersonTable, check_person_table, person_rows
from discreet.plan.persons import check_persons, person_layout
from discreet.plan.recorded import ANYWHERE, Original, answered_by, check_original, facts_with_recorded, stripped_steps
from discreet.plan.shown import check_nulls
from discreet.plan.sizes import check_cubes, check_release
from discreet.plan.used import cut_persons, cut_to_used
from discreet.statistics.base import Statistic, groupings_of, outputs, statistic_json

__all__ = [
    "INTERVALS",
    "Plan",
    "plan_json",
    "resize_of",
    "table_facts",
    "used_columns",
]

Intervals = Literal["each", "simultaneous"]
"""The event that has probability at least 95 %: each interval by itself, or all intervals of a release together."""

INTERVALS: tuple[str, ...] = get_args(Intervals)
"""The two words, in the order in which messages list them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One request on one table. `Table.group_by(…).agg(…)` makes it.

    `intervals` determines what holds with probability 95 %: "each" interval by itself, or all of them together
    ("simultaneous"). `dropped` names the columns whose null groups are not printed; `target` is the wish for intervals of
    the table as recorded; `persons` says what a table with one row for each person is made of; `keys` are groups that nobody
    listed, before or after they were found. The rest determines `facts`, the facts of the table after its steps, `answered`,
    the statistics that are computed, and `layout`, its scans.

    Raises:
        PlanError: no statistic, names that collide, a statistic that its column does not allow, too many cells.
    """

    schema: Schema
    neighbours: Neighbours
    steps: tuple[Step, ...]
    group_by: tuple[Group, ...]
    statistics: tuple[Statistic, ...]
    intervals: Intervals = "each"
    dropped: tuple[str, ...] = ()
    target: Original | None = None
    persons: PersonTable | None = None
    keys: Keys | None = None
    facts: TableFacts = field(init=False, repr=False, compare=False)
    answered: tuple[Statistic, ...] = field(init=False, repr=False, compare=False)
    layout: Layout = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.intervals not in INTERVALS:
            raise PlanError(f"intervals={printed(self.intervals)}: must be one of {', '.join(INTERVALS)}")
        facts = with_keys(table_facts(self.schema, self.neighbours, self.steps), self.keys)
        object.__setattr__(self, "facts", facts_with_recorded(self, facts))
        nulls = dict.fromkeys(self.dropped, "drop")
        object.__setattr__(self, "dropped", check_nulls(nulls, self.group_by, self.statistics))
        if not self.statistics:
            raise PlanError("agg(): has no statistic; name at least one, such as count()")
        check_person_table(self.neighbours, self.persons, self.schema)
        check_keys(self)
        check_persons(self, facts)
        for statistic in self.statistics:
            statistic.kind.reads.check(statistic, facts)
        check_families(self)
        object.__setattr__(self, "answered", answered_by(self, facts))
        _check_names(self)
        object.__setattr__(self, "facts", facts_with_filled(self.facts, filled_of(self)))
        check_release(self)
        person = person_of(self.neighbours)
        found = layout_of(self) if person is None else person_layout(self, person)
        if self.persons is not None:
            found = replace(found, each=person_rows(self.persons, used_columns(self)))
        object.__setattr__(self, "layout", found)
        check_cubes(self, self.layout)
        if isinstance(facts.drawn, Resize):
            _check_resize(self, facts)

    def __reduce__(self) -> tuple[type[Plan], tuple[object, ...]]:
        # A pickle holds the request, which is checked when it is read; the rest is computed from it.
        asked = self.schema, self.neighbours, self.steps, self.group_by, self.statistics, self.intervals, self.dropped
        said = (self.target, self.persons, self.keys)
        return Plan, (*asked, *said[: max((i + 1 for i, one in enumerate(said) if one is not None), default=0)])

    def __repr__(self) -> str:
        return one_line("Plan for", request_text(self.group_by, [statistic.name for statistic in self.statistics]))

    def _repr_html_(self) -> str:
        asked = request_text(self.group_by, [statistic.name for statistic in self.statistics])
        facts = [("asks for", asked), *declared_facts(self.schema, self.neighbours, self.steps), ("digest", self.digest)]
        return card("Plan", facts)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the plan, in hexadecimal. Groups that were found are no part of what is asked."""
        return digest(plan_json(self.asked()))

    def asked(self) -> Plan:
        """The plan before anybody has looked for groups that nobody listed."""
        if self.keys is None or self.keys.found is None:
            return self
        return replace(self, keys=replace(self.keys, found=None))

    @property
    def most_found(self) -> int:
        """How many of the groups that nobody listed may be found."""
        return most_found(self)

    def with_found(self, found: Sequence[str]) -> Plan:
        """The plan with these groups of the column of texts, in this order, beside the known ones.

        Raises:
            InternalError: the plan looks for no groups.
        """
        if self.keys is None:
            raise InternalError("no groups are looked for")
        return replace(self, keys=replace(self.keys, found=tuple(found)))

    @property
    def used_digest(self) -> str:
        """The digest of what the release depends on: the plan without the columns that it does not use (soundness 17).

        A stored release is recognised by it, so that the schema of a data set can grow.
        """
        return digest(self._used(plan_json(self.asked())))

    def asks_as(self, written: Mapping[str, Any]) -> bool:
        """True if the plan that `plan_json` has written asks the same of the columns that this one uses."""
        return canonical(self._used(written)) == canonical(self._used(plan_json(self.asked())))

    def _used(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """What `plan_json` has written, without the columns that this plan does not use."""
        used = used_columns(self)
        found = cut_to_used(written, used)
        if self.persons is None or "persons" not in written:
            return found
        return found | {"persons": cut_persons(written["persons"], used)}

    def simultaneous(self) -> Plan:
        """The same request with wider intervals: all intervals of the release hold together with probability 95 %."""
        return replace(self, intervals="simultaneous")

    def original(self, nulls: str = "recorded", *, prepared: bool = True) -> Plan:
        """The same request with intervals that hold the values of the table as recorded, before clamp, impute and resize.

        They stand in columns of their own, such as `mean_income_original_low`, and rest on noisy queries of the recorded
        values in the same reading, within the same spend. The numbers leave nulls out; so do the intervals for "recorded".
        Those for "anywhere" hold with any answer of those who gave none, and no group of these is printed.

        Args:
            nulls: "recorded" or "anywhere".
            prepared: False leaves out the prepared table, so that all of the spend is for the table as recorded.

        Raises:
            PlanError: another word; with the prepared table: a resize, or a changed column in groups or conditions; with
                "anywhere": a condition, or a statistic without such a form.
        """
        target = check_original(nulls, prepared)
        groups = (*self.group_by, *(group for one in self.statistics for own in groupings_of(one) for group in own))
        dropped = tuple(sorted({one.column for one in groups})) if target.nulls == ANYWHERE else self.dropped
        if prepared:
            return replace(self, dropped=dropped, target=target)
        statistics = tuple(one.kind.reads.recorded(one, {}) for one in self.statistics)
        return replace(self, steps=stripped_steps(self.steps), statistics=statistics, dropped=dropped, target=target)


def plan_json(plan: Plan) -> dict[str, object]:
    """The plan as canonical JSON values. Everything in it is public."""
    shown: dict[str, object] = {
        "schema": plan.schema.to_json(),
        "neighbours": plan.neighbours.to_json(),
        "steps": [step_json(step, plan.schema) for step in plan.steps],
        "group_by": [_with_discovery(one, plan.keys) for one in groups_json(plan.group_by, plan.facts)],
        "statistics": [statistic_json(statistic) for statistic in plan.statistics],
    }
    # The default is left out, so that a plan keeps the digest that ledgers hold.
    shown |= {} if plan.intervals == "each" else {"intervals": plan.intervals}
    shown |= {} if plan.target is None else {"original": plan.target.to_json()}
    shown |= {} if plan.persons is None else {"persons": plan.persons.to_json()}
    return shown | ({"nulls_dropped": list(plan.dropped)} if plan.dropped else {})


def _with_discovery(group: dict[str, object], keys: Keys | None) -> dict[str, object]:
    """A group as a plan writes it, with what is asked of a column whose groups nobody listed."""
    if keys is None or group["column"] != keys.discover.column:
        return group
    return {**group, "discover": keys.discover.to_json()}


def _check_names(plan: Plan) -> None:
    taken: dict[str, str] = {}
    for column in (name for group in plan.group_by for name in group.names):
        if column in taken:
            raise PlanError(f"group_by('{column}'): the column is named twice")
        taken[column] = "a group column"
    for statistic in plan.answered:
        if groupings_of(statistic):
            if statistic.name == "table":
                raise PlanError("statistic 'table': is the name of the main frame of a release; use .alias(…)")
            names = [statistic.name]
        else:
            names = [f"{name}{end}" for name in outputs(statistic) for end in ("", "_low", "_high")]
        for name in names:
            if name in taken:
                raise PlanError(f"statistic '{statistic.name}': column '{name}' is {taken[name]} already; use .alias(…)")
            taken[name] = f"a column of statistic '{statistic.name}'"


def _check_resize(plan: Plan, facts: TableFacts) -> None:
    imputable = {
        name for name in used_columns(plan) if path_of(name, plan.steps, facts_of(plan.schema, plan.neighbours)).laws
    }
    missing = [name for name in used_columns(plan) if name not in imputable]
    if missing:
        raise PlanError(
            f"resize(rows={facts.rows}): column '{missing[0]}' has no imputation law, which the rows that fill the table "
            f"need; add impute({{'{missing[0]}': …}}) before resize"
        )
