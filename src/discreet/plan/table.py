"""The table as a program sees it: immutable, without rows. Every call checks its arguments and returns a new table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from discreet.domain.bounds import bound_step
from discreet.domain.completion import complete_step
from discreet.domain.conditions import nearest_condition
from discreet.domain.discovery import Discover, Keys, keys_of, with_keys
from discreet.domain.groups import BinGroup, Bins, CategoryGroup, Group, group_of, merge_groups
from discreet.domain.imputation import ImputationLaw
from discreet.domain.neighbours import Neighbours
from discreet.domain.of_persons import OfRows
from discreet.domain.row_samples import sampling_step
from discreet.domain.schema import Schema
from discreet.domain.steps import (
    Step,
    TableFacts,
    after,
    clamp_step,
    impute_step,
    resize_step,
    step_json,
    where_step,
)
from discreet.domain.words import card, declared_facts, neighbours_text, one_line
from discreet.errors import PlanError, did_you_mean, printed
from discreet.exact.numbers import Amount
from discreet.plan.keys import one_discover
from discreet.plan.person_table import PersonTable, person_table
from discreet.plan.plan import Plan, table_facts
from discreet.plan.shown import check_nulls
from discreet.statistics.base import Statistic

__all__ = ["Grouped", "Nulls", "Table"]

Nulls = Literal["show", "drop"] | Mapping[str, Literal["show", "drop"]]
"""The treatment of null groups: one for all columns, or one for each column that is named."""


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table and the steps that prepare it. Nothing is read until a release."""

    schema: Schema
    neighbours: Neighbours
    steps: tuple[Step, ...] = ()
    persons: PersonTable | None = None
    """What the table is made of, where it has one row for each person."""
    beside: tuple[tuple[str, Schema], ...] = ()
    """The tables of persons of the same data set, by their names, whose columns `join` puts on the rows."""

    def __repr__(self) -> str:
        done = [
            f"{step['step']} {step.get('column', '')}".strip()
            for step in (step_json(one, self.schema) for one in self.steps)
        ]
        columns = f"of {', '.join(self.schema.columns)}"
        return one_line(
            "Table", columns, f"({neighbours_text(self.neighbours)})", f"after {', '.join(done)}" if done else ""
        )

    def _repr_html_(self) -> str:
        return card("Table", declared_facts(self.schema, self.neighbours, self.steps))

    @property
    def facts(self) -> TableFacts:
        """The facts after the steps: bounds, categories, nullability, public n, copies c and rate s."""
        return table_facts(self.schema, self.neighbours, self.steps)

    def clamp(self, to: Mapping[str, object]) -> Table:
        """Numbers outside (lower, upper) are moved to the nearest bound; other categories become null; nulls stay null.

        Args:
            to: for each column a pair (lower, upper) on its grid, or a list of categories.

        Raises:
            PlanError: undeclared column, reversed bounds or bounds off the grid, unknown categories.
        """
        return self._with_each(to, "clamp", clamp_step)

    def impute(self, laws: Mapping[str, ImputationLaw]) -> Table:
        """Nulls are replaced by independent draws; the columns can no longer be null.

        Args:
            laws: for each column Uniform() or Normal(mean, sd) for numbers, Weights({category: weight}) for categories.

        Raises:
            PlanError: undeclared column, or a law that does not fit the column.
        """
        return self._with_each(laws, "impute", impute_step)

    def complete(self, values: Mapping[str, object]) -> Table:
        """Nulls become a given value of their column, and the columns can no longer be null: nothing is drawn.

        It says that these columns are never null, and what happens to a row that breaks this.

        Args:
            values: for each column one of its categories, or a number on its grid.

        Raises:
            PlanError: undeclared column, no category of it, a number outside its bounds or off the grid, a date.
        """
        return self._with_each(values, "complete", complete_step)

    def where(self, conditions: Mapping[str, object]) -> Table:
        """Rows that fail a condition, or are null in its column, contribute 0 to every statistic; no row is dropped.

        Args:
            conditions: for each column a pair (lower, upper), both included, or a list of categories.

        Raises:
            PlanError: undeclared column, reversed bounds or bounds off the grid, unknown categories.
        """
        return self._with_each(conditions, "where", where_step)

    def resize(self, rows: object, *, proportion: Amount = 1) -> Table:
        """The table has exactly `rows` rows, of which at most `proportion` times the original number are real.

        The other rows are imputed: every column that a request uses needs an imputation law. `rows` is public: a number
        known to everybody, or the result of `Session.estimate_rows`.

        Raises:
            PlanError: rows below 1, a proportion outside (0, 1000], or a second resize.
        """
        step = resize_step(rows, proportion)
        after(step, self.facts)  # the chain rule raises if there is a resize already
        return replace(self, steps=(*self.steps, step))

    def sample(self, rate: Amount | None = None, *, rows: object = None) -> Table:
        """Each row is kept with probability `rate`, or `rows` rows are: statistics are of these, and nothing is filled in.

        It saves time, and makes pure and approximate guarantees stronger (W5 of docs/proofs/samples.md); totals become less
        accurate all the same (W6). `before_sampling` has intervals for the table before.

        Args:
            rate: above 0 and below 1; each row is kept independently of the others.
            rows: a fixed number of rows, drawn without replacement; all rows of a table that has fewer.

        Raises:
            PlanError: both or none are given, they are out of range, or the table was sampled or resized already.
        """
        step = sampling_step(rate, rows)
        after(step, self.facts)  # the chain rule raises if rows were drawn already
        return replace(self, steps=(*self.steps, step))

    def bound(self, *, groups: object = None, rows: object = None, weight: str | None = None) -> Table:
        """A person counts fully in up to `groups` groups of the request, with up to `rows` rows in each; the last step.

        Nobody is sampled. A person who is in more groups counts in each of them with less weight: in g groups with the root
        of groups/g, or with groups/g where the noise is that of pure differential privacy. The groups are those that the
        request asks for, after where, clamp and bins. Of the rows of a person in one group the first `rows` count, whichever
        they are, for only their number matters.

        Args:
            groups: from 1 to 4,096; needed where the request has groups. A person in more than 4,096 does not count.
            rows: from 1 to a million; needed where rows are counted.
            weight: a column of whole numbers from 0 to at most a million, for how many rows a row of the source stands:
                views of a page, items of a bill. Then these are what is bounded, counted and added up. A row counts with the
                number of its column after `clamp`, and not at all where it is null or 0.

        Raises:
            PlanError: neither is given, one is out of range, the weight is not such a column, or the table was bounded,
                resized or sampled already.
        """
        step = bound_step(groups, rows, weight)
        after(step, self.facts)  # the chain rule raises if the table was bounded already
        return replace(self, steps=(*self.steps, step))

    def join(self, table: str) -> Table:
        """Each row has the columns of a table of persons too: the values of the person whose row it is.

        A person has one value in each column, that on which all rows of this person there agree; null where they do not, and
        on rows of persons that the other table does not have. So no row becomes two, and none is lost. Clamps and conditions
        come after it, and the bound counts the groups of the request.

        Args:
            table: a name in `beside` of the session.

        Raises:
            PlanError: there is no such table, it is joined already, or both tables have a column of one name.
        """
        known = dict(self.beside)
        if self.facts.bound is not None or self.persons is not None:
            raise PlanError(f"join({printed(table)}): puts columns on rows; it stands before bound() and per_person()")
        if not isinstance(table, str) or table not in known:
            none = "; name it in beside={…} of the session" if not known else did_you_mean(str(table), known)
            raise PlanError(f"join({printed(table)}): is not a table of persons of this data set{none}")
        if table in self.schema.joined:
            raise PlanError(f"join('{table}'): was joined already; leave the second one out")
        return replace(self, schema=self.schema.join(table, known[table]))

    def per_person(self, **made: OfRows) -> Table:
        """A table with one row for each person, on which everything is asked as on any table of rows.

        Its columns are made of all rows of a person that fulfil the conditions so far: `visits=rows(0, 50)`,
        `spent=total("amount", 0, 500)`, `shops=distinct("shop", most=40)`, `last=latest("day")`, `first=earliest("day")`,
        `home=only("state")`. A person without such a row is not in it. No bound is needed: one person has one row.

        Args:
            made: the columns by their names.

        Raises:
            PlanError: the table does not say whose row is whose; it was imputed, drawn or bounded; a column does not fit.
        """
        found = person_table(self.schema, self.neighbours, self.steps, made)
        return Table(found.columns, found.relation, (), found)

    def group_by(self, *by: str | Bins | Discover, nulls: Nulls = "show") -> Grouped:
        """The groups of the request, in the order of the result: categories, `bins(column, edges)`, one `Discover(column)`.

        Args:
            by: the groups.
            nulls: "drop" to print no null group, neither of these columns nor of the tables and histograms that are asked
                for; or "drop" or "show" for each column that is named. Quote, charge and noise stay the same.

        Raises:
            PlanError: undeclared column, a number without bins, edges that do not fit.
        """
        discover = one_discover(by)
        keys = None if discover is None else keys_of(discover, self.schema)
        facts = with_keys(self.facts, keys)
        groups = [group_of(one.column if isinstance(one, Discover) else one, facts) for one in by]
        return Grouped(self, merge_groups(groups, facts), nulls, keys)

    def agg(self, *statistics: Statistic) -> Plan:
        """The request for statistics of the whole table."""
        return self.group_by().agg(*statistics)

    def _meant(self, name: str, given: object) -> str:
        """The end of the message about a condition that was given as text."""
        near = nearest_condition(given, self.schema) if name == "where" and isinstance(given, str) else None
        return f"; write where({{{near.column!r}: {near.python}}})" if near else ""

    def _with_each(
        self, per_column: Mapping[str, object], name: str, make: Callable[[TableFacts, str, object], Step]
    ) -> Table:
        if not isinstance(per_column, Mapping) or not per_column:
            rule = f"must map at least one column, such as {{'age': …}}{self._meant(name, per_column)}"
            raise PlanError(f"{name}({printed(per_column)}): {rule}")
        steps, facts = list(self.steps), self.facts
        for column, argument in per_column.items():
            steps.append(make(facts, column, argument))
            facts = after(steps[-1], facts)  # the chain rule raises if the step is not allowed here
        return replace(self, steps=tuple(steps))


def _no_statistic(given: object) -> PlanError:
    said = "; give the statistics one by one, agg(count(), mean('wage'))" if isinstance(given, list | tuple) else ""
    return PlanError(f"agg({printed(given)}): must be a statistic such as count() or mean('wage'){said}")


@dataclass(frozen=True, slots=True)
class Grouped:
    """A table with its groups, waiting for statistics."""

    table: Table
    groups: tuple[Group, ...]
    nulls: Nulls = "show"
    keys: Keys | None = None

    def agg(self, *statistics: Statistic) -> Plan:
        """The request: these statistics for every cell of the public domain of the groups.

        Raises:
            PlanError: no statistic, colliding names, a statistic that its column does not allow, too many cells.
        """
        for statistic in statistics:
            if not isinstance(statistic, Statistic):
                raise _no_statistic(statistic)
        checked = tuple(self._with_groups(statistic) for statistic in statistics)
        dropped = check_nulls(self.nulls, self.groups, checked)
        table = self.table
        own, each, keys = (table.schema, table.neighbours, table.steps), table.persons, self.keys
        return Plan(*own, self.groups, checked, dropped=dropped, persons=each, keys=keys)

    def _with_groups(self, statistic: Statistic) -> Statistic:
        """The statistic with its own groups, if it has any, checked against the columns."""
        facts = self.table.facts

        def check(group: str | Bins | Group) -> Group:
            return group if isinstance(group, BinGroup | CategoryGroup) else group_of(group, facts)

        return statistic.kind.shape.prepare(statistic, check, facts, grouped=bool(self.groups))
