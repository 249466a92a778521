"""From noisy integers to the statistics of a request with their intervals: a pure function of public numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from discreet.domain.groups import Group, Label, printed_labels
from discreet.plan.plan import Plan
from discreet.plan.recorded import plain_name
from discreet.plan.shown import hidden_labels
from discreet.quotes.quote import Line, Quote
from discreet.releases.labels import LabelColumn, label_columns
from discreet.statistics.base import outputs
from discreet.statistics.estimate import Estimate
from discreet.statistics.recipe import Answers, CountTable

__all__ = [
    "Columns",
    "Frame",
    "Noisy",
    "answers_of",
    "columns_of_plan",
    "estimate_statistics",
    "frame_names",
    "frame_of_table",
    "frames",
    "group_columns",
    "shown_groups",
]

Noisy = Sequence[NDArray[Any]]

_COUNT_COLUMNS = ("count", "count_low", "count_high", "count_consistent", "count_whole")


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """One statistic of the table under its name: values with the ends of their intervals, one for every cell."""

    name: str
    estimate: Estimate

    def numbers(self) -> list[tuple[str, NDArray[Any]]]:
        """The values and the ends of their intervals, each under its own name."""
        one = self.estimate
        return [(self.name, one.value), (f"{self.name}_low", one.low), (f"{self.name}_high", one.high)]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table next to the main one: label columns, and counts with intervals.

    `told` are the words of a document for counts with which exact totals are published.
    """

    name: str
    labels: list[LabelColumn]
    counts: Columns
    told: Mapping[str, str]


def estimate_statistics(quote: Quote, noisy: Noisy, cells: slice | None = None) -> list[Columns]:
    """The statistics of the table of the release, in the order of the request; of some of its cells or of all of them."""
    cells = slice(0, quote.plan.layout.cells) if cells is None else cells
    found: list[Columns] = []
    for line in quote.lines:
        estimates = line.recipe.estimates(answers_of(quote, line, noisy, cells))
        found += [Columns(name, one) for name, one in zip(outputs(line.statistic), estimates, strict=True)]
    return found


def answers_of(quote: Quote, line: Line, noisy: Noisy, cells: slice | None = None) -> Answers:
    """The noisy answers as the recipe of a line sees them; of some cells or of all of them."""
    cells = slice(0, quote.plan.layout.cells) if cells is None else cells
    values = {one.asked: answer for one, answer in zip(quote.measured, noisy, strict=True)}
    return Answers(quote.noises(line), values, cells)


def frames(quote: Quote, noisy: Noisy) -> list[Frame]:
    """The histograms and tables of counts, each with the groups of the request and then its own; no two of one name."""
    tables = [(line, table) for line in quote.lines for table in line.recipe.tables(answers_of(quote, line, noisy))]
    return [
        frame_of_table(quote, name, table)
        for name, (_, table) in zip(frame_names([(line, table.groups) for line, table in tables]), tables, strict=True)
    ]


def frame_of_table(quote: Quote, name: str, table: CountTable) -> Frame:
    """A table of counts of this name, with the labels of its rows."""
    own = shown_groups(quote.plan, table.groups) if table.whole is None else [(dict([table.whole]), frozenset[int]())]
    labels = label_columns(own)
    return Frame(name, labels, Columns("count", table.counts), table.told)


def frame_names(tables: Sequence[tuple[Line, Sequence[Group]]]) -> list[str]:
    """The names of all frames, each of a statistic and of groups of its own: these are told where it has several."""
    taken: Counter[str] = Counter()
    many = Counter(line.statistic.name for line, _ in tables)
    found = []
    for line, groups in tables:
        own = [group.column for group in groups] if many[line.statistic.name] > 1 else []
        found.append(_frame_name("_".join([line.statistic.name, *own]), taken))
    return found


def _frame_name(name: str, taken: Counter[str]) -> str:
    """The name, with a number where it is taken. `taken` counts what begins so, up to any of its points."""
    found = f"{name}.{taken[name] + 1}" if taken[name] else name
    pieces = found.split(".")
    taken.update(".".join(pieces[:end]) for end in range(1, len(pieces) + 1))
    return found


def shown_groups(plan: Plan, groups: Sequence[Group]) -> list[tuple[dict[str, tuple[Label, ...]], frozenset[int]]]:
    """The columns of each group of a frame, those of the request first, no two of one name, and its hidden places."""
    taken: set[str] = set()
    return [_shown(plan, group, taken) for group in (*plan.group_by, *groups)]


def _shown(plan: Plan, group: Group, taken: set[str]) -> tuple[dict[str, tuple[Label, ...]], frozenset[int]]:
    """The columns of a group in a frame, with names that are not taken yet, and its places that are not printed."""
    found = {}
    for name in group.names:
        free = _free(plain_name(name, plan.schema), taken)
        taken.add(free)
        found[free] = printed_labels(group, name, plan.facts)
    return found, hidden_labels(plan, group)


def _free(name: str, taken: Container[str]) -> str:
    """A column may be called like the counts, or be grouped and cut into bins at once: it then needs another name."""
    while name in _COUNT_COLUMNS or name in taken:
        name += "_group"
    return name


def group_columns(quote: Quote) -> list[LabelColumn]:
    """The group columns of the release, in schema order: its rows are every cell of the public domain."""
    return columns_of_plan(quote.plan)


def columns_of_plan(plan: Plan) -> list[LabelColumn]:
    """The group columns of every release of a plan."""
    return label_columns(
        ({name: printed_labels(group, name, plan.facts) for name in group.names}, hidden_labels(plan, group))
        for group in plan.group_by
    )
