"""The table as recorded beside the prepared one: which statistics are computed of it, under which names.

The original value of a statistic is its value on the *stripped plan*: the same schema, groups, conditions and statistics,
without clamp, impute and resize, nulls skipped (O0 of docs/proofs/original.md; by O3 no clamp makes a certified interval of
it narrow). With any answer of those who gave none it is every value that the statistic can have once all nulls are known
(O10). A column that the steps change is then read a second time, as "income as recorded": another column to every query, the
same one to the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, Protocol, get_args

from discreet.cube.value_paths import Path, path_of
from discreet.domain.groups import Group, Label, is_complete
from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.domain.steps import ROW_DRAWS, CategoryFacts, Impute, Resize, Step, TableFacts, conditions_of, facts_of
from discreet.errors import PlanError, printed
from discreet.statistics.base import Need, Originals, Statistic, Twin, groupings_of, statistic_json
from discreet.statistics.outer import Outer

__all__ = [
    "ANYWHERE",
    "ORIGINAL",
    "PREPARED",
    "READINGS",
    "WITH_NULLS",
    "Original",
    "Request",
    "answered_by",
    "check_original",
    "covered_by",
    "facts_with_recorded",
    "needs_of_parts",
    "originals_of",
    "path_called",
    "plain_name",
    "recorded_name",
    "shown_statistic",
    "stripped_steps",
    "target_words",
    "untwinned",
]

Reading = Literal["recorded", "anywhere"]
"""A null has no part in the original value; or it stands for any value, and for a label for any one."""

READINGS: tuple[str, ...] = get_args(Reading)
"""The words, in the order in which messages list them."""

ORIGINAL = "_original"
"""After the name of a statistic: the same of the table as recorded."""

_CLAMPED = " as clamped"
"""After the name of a column that is imputed as well: its values after its clamps, nulls as they are."""

ANYWHERE = "anywhere"
"""The reading in which an interval holds with any answer of those who gave none."""

PREPARED = "prepared"
"""The table after its steps, in documents."""

_RECORDED = " as recorded"
"""After the name of a column that the steps change: its values before them."""

WITH_NULLS = " with its nulls"
"""After the name of a column that is imputed: what queries call it where its nulls are counted as such."""

_TOLD = {
    "recorded": "the value of the table as recorded, within the bounds of the schema, nulls left out",
    ANYWHERE: (
        "the value of the table with any answer of those who gave none, within the bounds of the schema; the numbers "
        "themselves leave nulls out"
    ),
}
"""The values that an original interval holds, in words."""


@dataclass(frozen=True, slots=True)
class Original:
    """The wish for intervals that hold the value of the table as recorded.

    Args:
        nulls: what a null stands for.
        prepared: whether the statistics of the prepared table are released as well.
    """

    nulls: str
    prepared: bool

    def to_json(self) -> dict[str, object]:
        """The wish as a plan holds it."""
        return {"nulls": self.nulls, "prepared": self.prepared}


class Request(Protocol):
    """A request on a table. A plan is one."""

    @property
    def schema(self) -> Schema:
        """The public columns."""

    @property
    def neighbours(self) -> Neighbours:
        """The neighbouring relation."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that prepare the table."""

    @property
    def group_by(self) -> tuple[Group, ...]:
        """The groups of the release."""

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """The statistics of each group, as they were asked for."""

    @property
    def facts(self) -> TableFacts:
        """The facts of the table after the steps."""

    @property
    def answered(self) -> tuple[Statistic, ...]:
        """The statistics of each group that are computed: the declared ones, and the ones of the table as recorded."""

    @property
    def target(self) -> Original | None:
        """The wish for intervals of the table as recorded; None where there is none."""


def check_original(nulls: object, prepared: object) -> Original:
    """The wish. Raises PlanError for another word."""
    if not isinstance(nulls, str) or nulls not in READINGS:
        raise PlanError(f"original({printed(nulls)}): must be one of {', '.join(map(repr, READINGS))}")
    if not isinstance(prepared, bool):
        raise PlanError(f"original(prepared={printed(prepared)}): must be True or False")
    return Original(nulls, prepared)


def recorded_name(column: str) -> str:
    """The name under which queries ask for the column as recorded."""
    return column + _RECORDED


def plain_name(called: str, schema: Schema) -> str:
    """The column of the schema that is called so."""
    if called in schema.columns or called in schema.texts:
        return called
    return called.removesuffix(WITH_NULLS).removesuffix(_RECORDED).removesuffix(_CLAMPED)


def stripped_steps(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps of the stripped plan: its conditions."""
    return tuple(conditions_of(steps))


def path_called(called: str, steps: tuple[Step, ...], start: TableFacts) -> Path:
    """The path of what is called so: of a column through the steps, or of one as recorded past them."""
    if called in start.columns:
        return path_of(called, steps, start)
    if called.endswith(_CLAMPED):
        clamps = tuple(step for step in steps if not isinstance(step, Impute))
        return replace(path_of(called.removesuffix(_CLAMPED), clamps, start), called=called)
    return replace(path_of(called.removesuffix(_RECORDED), (), start), called=called)


def facts_with_recorded(plan: Request, facts: TableFacts) -> TableFacts:
    """The facts of the prepared table, with those of each column as recorded that the steps change."""
    names, start = _changed_columns(plan, facts), facts_of(plan.schema, plan.neighbours)
    if not names:
        return facts
    before = {names[name]: start[name] for name in names}
    clamped = {name + _CLAMPED: replace(facts[name], nullable=True) for name in names if not facts[name].nullable}
    return replace(facts, columns=MappingProxyType({**facts.columns, **before, **clamped}))


def originals_of(plan: Request, labels: Sequence[Sequence[Label]]) -> Originals | None:
    """The facts that recipes need about a request for originals whose groups have these labels; None for any other one."""
    if plan.target is None:
        return None
    sizes, nullable = tuple(map(len, labels)), tuple(one[-1] is None for one in labels)
    outer = Outer(sizes, nullable, all(is_complete(group, plan.facts) for group in plan.group_by))
    completed = tuple(one for one in plan.answered if covered_by(plan, one) == ANYWHERE)
    names, twins = _changed_columns(plan, plan.facts), [one for one in plan.answered if one not in plan.statistics]
    extended = tuple(one for one in twins if _is_extended(one, names, plan.facts))
    return Originals(_twins(plan), completed, extended, outer)


def _is_extended(one: Statistic, names: Mapping[str, str], facts: TableFacts) -> bool:
    """True if the statistic of a column as recorded follows from that of the clamped column, where nulls stay (O12)."""
    return bool(one.kind.extended) and one.column in names and facts[str(one.column)].nullable


def _twins(plan: Request) -> tuple[Twin, ...]:
    return tuple(_twin(plan, *names) for names in _changed_columns(plan, plan.facts).items())


def needs_of_parts(plan: Request, needs: Sequence[Need]) -> list[Need]:
    """For each changed column of which a sum is needed, all its names in one scan: sums in parts are of the same draws."""
    summed = {name for need in needs if need.how == "sums" for name in need.columns}
    named = [
        tuple(dict.fromkeys((one.recorded, one.clamped, one.prepared))) for one in _twins(plan) if one.clamped is not None
    ]
    return [Need("sums", names) for names in named if not summed.isdisjoint(names)]


def _twin(plan: Request, prepared: str, recorded: str) -> Twin:
    after, before = plan.facts[prepared], plan.facts[recorded]
    if isinstance(after, CategoryFacts):
        return Twin(prepared, recorded, None)  # a clamp of categories makes some of them null
    if after.nullable:
        return Twin(prepared, recorded, prepared)
    needs = (need for one in plan.answered for need in one.kind.reads.needs(one))
    if any(need.how != "sums" and prepared in need.columns for need in needs):
        return Twin(prepared, recorded, None)
    unclamped = replace(after, nullable=before.nullable) == before
    return Twin(prepared, recorded, recorded if unclamped else prepared + _CLAMPED)


def answered_by(plan: Request, facts: TableFacts) -> tuple[Statistic, ...]:
    """The statistics that are computed for a plan.

    Those that were asked for; and after them, of each that reads a changed column, the same of the columns as recorded.
    Without the prepared table all are those of the stripped plan.

    Raises:
        PlanError: the table as recorded has other groups or rows than the prepared one, or a statistic has no such form.
    """
    if plan.target is None:
        return plan.statistics
    if plan.target.nulls == ANYWHERE:
        _check_completions(plan)
    if not plan.target.prepared:
        return tuple(replace(one, name=one.name + ORIGINAL) for one in plan.statistics)
    names = _changed_columns(plan, facts)
    _check_outer(plan, names)
    touched = [one for one in plan.statistics if _is_twinned(plan, one)]
    named = ((one, {} if _is_extended(one, names, facts) else names) for one in touched)
    twins = (replace(one.kind.reads.recorded(one, own), name=one.name + ORIGINAL) for one, own in named)
    return (*plan.statistics, *twins)


def untwinned(plan: Request, one: Statistic) -> Statistic:
    """The statistic with the columns of the schema in the place of those as recorded."""
    names = {called: plain for called in _columns_of(one) if (plain := plain_name(called, plan.schema)) != called}
    return one.kind.reads.recorded(one, names) if names else one


def shown_statistic(plan: Request, one: Statistic) -> dict[str, object]:
    """A computed statistic as canonical JSON values, of the columns of the schema; beside originals with what it covers."""
    covers = {} if plan.target is None else {"covers": covered_by(plan, one)}
    return {**statistic_json(untwinned(plan, one)), **covers}


def target_words(plan: Request) -> list[str]:
    """Sentences on what the two kinds of columns hold; none where nobody asks for originals."""
    if plan.target is None:
        return []
    recorded = _TOLD[plan.target.nulls]
    if not plan.target.prepared:
        return [f"the intervals hold {recorded}; nothing is clamped, imputed or resized"]
    twins = {one.name for one in plan.answered} - {one.name for one in plan.statistics}
    same = [one.name for one in plan.answered if covered_by(plan, one) != PREPARED and one.name not in twins]
    told = [f"columns with {ORIGINAL} hold {recorded}; the others hold the value of the prepared table"] if twins else []
    shared = f"same table: the steps change nothing that {', '.join(same)} read, so that one interval holds for both tables"
    return [*told, shared] if same else told


def covered_by(plan: Request, one: Statistic) -> str:
    """The table whose value the intervals of a computed statistic hold: "prepared", or the reading of nulls."""
    if plan.target is None or (plan.target.prepared and one in plan.statistics and _is_twinned(plan, one)):
        return PREPARED
    return plan.target.nulls


def _is_twinned(plan: Request, one: Statistic) -> bool:
    """True if a statistic has another value in the prepared table than in the original one.

    It reads a column that the steps change, or nulls in it or in the groups stand for something that nobody recorded.
    """
    if plan.target is not None and plan.target.nulls == ANYWHERE and (plan.group_by or _columns_of(one)):
        return True
    return not _changed_columns(plan, plan.facts).keys().isdisjoint(_columns_of(one))


def _check_completions(plan: Request) -> None:
    """Checks that intervals can hold with any answer of those who gave none.

    Raises:
        PlanError: a condition, which a row without an answer may pass or not, or a statistic without such a form.
    """
    instead = "ask for nulls='recorded'"
    condition = next(iter(conditions_of(plan.steps)), None)
    if condition is not None:
        raise PlanError(
            f"original('anywhere'): rows are chosen by '{condition.column}', and one in which it is not known may be chosen "
            f"or not; group by it in the place of where, or {instead}"
        )
    for one in plan.statistics:
        if not one.kind.completed:
            raise PlanError(
                f"original('anywhere'): '{one.name}' has no interval for any answer of those who gave none; {instead}"
            )


def _changed_columns(plan: Request, facts: TableFacts) -> Mapping[str, str]:
    """The columns that the steps change, each with its name as recorded; none where nobody asks for these.

    Raises:
        PlanError: a column of the schema has such a name.
    """
    if plan.target is None or not plan.target.prepared:
        return {}
    start = facts_of(plan.schema, plan.neighbours)
    names = {name: recorded_name(name) for name in plan.schema.columns if facts[name] != start[name]}
    taken = next((name for name in plan.schema.columns if name.endswith((_RECORDED, _CLAMPED))), None)
    if names and taken is not None:
        raise PlanError(f"original(): column {printed(taken)} has the name of another one as recorded; rename it")
    return names


def _check_outer(plan: Request, names: Mapping[str, str]) -> None:
    """Checks that the table as recorded has the rows and the groups of the prepared one.

    Raises:
        PlanError: rows are sampled or filled, or a group or a condition is on a changed column.
    """
    instead = "ask for prepared=False, which releases the table as recorded alone"
    if any(isinstance(step, ROW_DRAWS) for step in plan.steps):
        drawn = "resized" if any(isinstance(step, Resize) for step in plan.steps) else "sampled"
        raise PlanError(f"original(): the table is {drawn}, so that the two tables do not have the same rows; {instead}")
    outer = [*(group.column for group in plan.group_by), *(step.column for step in conditions_of(plan.steps))]
    changed = next((name for name in outer if name in names), None)
    if changed is not None:
        raise PlanError(
            f"original(): '{changed}' is clamped or imputed, and rows are grouped or chosen by it, so that the two tables "
            f"do not have the same groups; {instead}"
        )


def _columns_of(one: Statistic) -> tuple[str, ...]:
    own = (group.column for grouping in groupings_of(one) for group in grouping)
    return (*one.kind.reads.columns(one), *own)
