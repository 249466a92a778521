"""The scans of a request: the cubes that the engine fills for it, with their keys and sums.

A *scan* is one reading of the source that fills one cube. Several scans have the law of one joint cube if every record
has the same number of copies and no imputed column is in two of them (docs/proofs/cube.md, Q2; soundness 1). The scans,
and everything else in this module, are a function of plan and schema alone (soundness 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from discreet.cube.keys import KeyScan
from discreet.cube.person_rows import PersonRows
from discreet.cube.persons import PersonScan
from discreet.cube.scans import Scan
from discreet.cube.value_paths import KeyAxis, Moment, NumberPath, Path, axis_size
from discreet.domain.groups import BinGroup, Group, Label, group_labels
from discreet.domain.neighbours import Neighbours
from discreet.domain.schema import Schema
from discreet.domain.steps import ROW_DRAWS, Resize, RowDraw, Step, TableFacts, Where, after, conditions_of, facts_of
from discreet.errors import InternalError
from discreet.exact.figures import plural
from discreet.plan.area_reading import AreaReading, reading_of
from discreet.plan.covering import cover
from discreet.plan.filled import filled_columns, needs_of_whole_columns
from discreet.plan.in_files import areas_in_files
from discreet.plan.recorded import Request, needs_of_parts, path_called
from discreet.statistics.agreeing_areas import AgreeingAreas
from discreet.statistics.base import Need, Statistic, groupings_of

__all__ = [
    "JOINT_CELLS",
    "Layout",
    "Request",
    "drawing_of",
    "draws_rows",
    "filled_of",
    "layout_of",
    "named_columns",
    "resize_of",
    "table_facts",
    "used_columns",
]

JOINT_CELLS = 2**12
"""A joint cube of at most this many cells costs less than a scan for each statistic (benchmarks/bench_wide.py)."""

_MANY = 64
"""More tables than these share larger cubes: every scan reads and labels all rows (benchmarks/tables.py)."""
_SHARED_CELLS = 2**20
"""Of such a cube, which has no more cells than the source has different rows: some tens of MB at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The scans of a request, one or several, and the reason for them.

    Args:
        scans: one cube each.
        labels: the public labels of each group of the release.
        joint: the number of cells of one joint cube of all columns.
        because: the reason for these scans, in words; empty if there is no choice.
        persons: the one scan of a table of persons, beside which there is no other; None for a table of rows.
        keys: the reading in its place that keeps the texts of a column whose groups nobody listed; None without any.
        each: the scan that makes one row of each person, of which the others read the result; None for a table as it is.
        areas: the reading of areas in slices, beside which there are no scans; None for any other request.
    """

    scans: tuple[Scan, ...]
    labels: tuple[tuple[Label, ...], ...]
    joint: int
    because: str
    persons: PersonScan | None = None
    each: PersonRows | None = None
    keys: KeyScan | None = None
    areas: AreaReading | None = None

    @property
    def cells(self) -> int:
        """The number of rows of the release: the product of the sizes of its group domains."""
        return prod(len(labels) for labels in self.labels)

    def __str__(self) -> str:
        """A sentence that says how often the source is read, for tables of how many cells, and why."""
        if self.areas is not None:
            return f"the source is read {len(self.areas.slices)} times, for some areas of a level each time"
        if self.keys is not None:
            return f"the source is read once, person by person, with the texts of '{self.keys.column}'"
        if self.persons is not None:
            return f"the source is read once, person by person, for one table of {self.joint:,} {plural('cell', self.joint)}"
        if self.each is not None:
            cells = " and ".join(f"{part.domain:,}" for part in self.scans)
            return f"the source is read once, person by person, and the table of one row of each for tables of {cells} cells"
        because = f", because {self.because}" if self.because else ""
        sizes = [f"{part.domain:,}" for part in self.scans]
        if len(self.scans) == 1:
            return f"the source is read once, for one table of {sizes[0]} {plural('cell', self.joint)}{because}"
        tables = f"{', '.join(sizes[:-1])} and {sizes[-1]} cells{because}"
        return (
            f"the source is read {len(sizes)} times, for tables of {tables}; one joint table would have {self.joint:,} cells"
        )


def table_facts(schema: Schema, neighbours: Neighbours, steps: tuple[Step, ...]) -> TableFacts:
    """The facts of the table after all its steps: the chain rule, applied to one step after the other."""
    facts = facts_of(schema, neighbours)
    for step in steps:
        facts = after(step, facts)
    return facts


def resize_of(request: Request) -> Resize | None:
    """The resize of the request, or None if it has none."""
    return next((step for step in request.steps if isinstance(step, Resize)), None)


def drawing_of(request: Request) -> RowDraw | None:
    """The step of the request that draws rows, a resize or a sample, or None if it has none."""
    return next((step for step in request.steps if isinstance(step, ROW_DRAWS)), None)


def draws_rows(request: Request, scans: Sequence[Scan]) -> bool:
    """True if the prepared table is random: values are imputed or rows sampled. The plan alone decides."""
    return drawing_of(request) is not None or any(scan.imputed for scan in scans)


def filled_of(request: Request) -> dict[str, Path]:
    """The imputed columns whose nulls are counted as such, each with its path before a draw."""
    return filled_columns(request, constant=_constant_copies(request))


def used_columns(request: Request) -> list[str]:
    """The columns that the request reads, each once."""
    return _read_columns(request, request.statistics)


def named_columns(request: Request) -> list[str]:
    """The columns that the request reads, and those that show its groups, each once."""
    printed = (name for group in request.group_by for name in group.names)
    return list(dict.fromkeys([*used_columns(request), *printed]))


def _read_columns(request: Request, statistics: Sequence[Statistic]) -> list[str]:
    bound = request.facts.bound
    named = [*_outer(request), *([] if bound is None or bound.weight is None else [bound.weight])]
    named += [column for one in statistics for column in one.kind.reads.columns(one)]
    tabled = (group.column for one in statistics for grouping in groupings_of(one) for group in grouping)
    return list(dict.fromkeys([*named, *tabled]))


def layout_of(request: Request) -> Layout:
    """The scans of a request, from the plan alone.

    Statistics that must use the same draws are in one scan. The others share a scan as long as the joint cube stays small,
    because one scan then costs less than two; otherwise they are read separately.
    """
    known = _gather(request)
    needs = _needs(known)
    filed = areas_in_files(request.answered, request.facts)
    if filed is not None:
        return _layout_of_areas(known, filed)
    tied = _explain_tie(request, known)
    components = [needs] if tied else _share(known, _components(needs, known.paths))
    scans = _pack(known, components)
    _require_the_joint_law(scans, tied)
    because = ""
    if len(scans) > 1:
        because = "no rows are sampled, and no imputed column is in two of them"
    elif len(components) > 1:
        because = "a table this small costs less than several"
    elif needs and tied:
        because = tied
    elif len(needs) > 1:
        because = "the statistics share imputed columns, whose values are drawn once"
    return Layout(tuple(scans), known.labels, _scan_for(known, needs).domain, because)


def _layout_of_areas(known: _Known, one: Statistic) -> Layout:
    """The slices of a statistic of areas, which is the only one of its request."""
    needs = one.kind.reads.needs(one)
    groups = tuple(dict.fromkeys(group for need in needs for group in need.groups))
    base = _scan_for(known, [Need("groups", tuple(group.column for group in groups), groups)])
    if not isinstance(one.kind, AgreeingAreas):
        raise InternalError(f"statistic '{one.name}' has no areas")
    levels = one.kind.levels
    reading = reading_of(one, levels, base, [known.paths[level] for level in levels], known.request.facts)
    return Layout((), known.labels, base.domain, "", areas=reading)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """A request, what its statistics need, the path of each of its columns, and the columns that are keys of every scan."""

    request: Request
    needs: Sequence[Need]
    paths: Mapping[str, Path]
    sizes: Mapping[str, int]
    outer: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...]


def _gather(request: Request) -> _Known:
    start = facts_of(request.schema, request.neighbours)
    filled = filled_of(request)
    needs = needs_of_whole_columns(_needs_of(request), filled, request.facts)
    names = [*_read_columns(request, request.answered), *(name for need in needs for name in need.columns)]
    with_nulls = {path.called: path for path in filled.values()}
    paths = {name: with_nulls.get(name) or path_called(name, request.steps, start) for name in dict.fromkeys(names)}
    labels = tuple(group_labels(group, request.facts) for group in request.group_by)
    sizes = {name: axis_size(KeyAxis(path)) for name, path in paths.items()}
    return _Known(request, needs, paths, sizes, tuple(dict.fromkeys(_outer(request))), labels)


def _outer(request: Request) -> list[str]:
    """The columns by which rows are grouped or excluded. They are keys of every scan."""
    return [*(group.column for group in request.group_by), *(step.column for step in conditions_of(request.steps))]


def _needs(known: _Known) -> list[Need]:
    """The needs of the statistics, each once: first the columns that must be keys, then sums, which fit any keys."""
    keyed: list[Need] = []
    summed: list[Need] = []
    for need in known.needs:
        numbers = all(isinstance(known.paths[name], NumberPath) for name in need.columns)  # a category has no sum to bring
        (summed if need.how in ("sums", "nulls") and numbers else keyed).append(need)
    return list(dict.fromkeys([*keyed, *summed]))


def _needs_of(request: Request) -> list[Need]:
    needs = [need for one in request.answered for need in one.kind.reads.needs(one)]
    return [*needs, *needs_of_parts(request, needs)]


def _explain_tie(request: Request, known: _Known) -> str:
    """The reason why all statistics must be answered from the same draws; empty if they need not be."""
    if not _constant_copies(request):
        return "rows are sampled, and all statistics must use the same sample"
    drawn = next((name for name in known.outer if known.paths[name].drawn), None)
    return f"'{drawn}' is imputed, and all statistics must use the same draws" if drawn is not None else ""


def _constant_copies(request: Request) -> bool:
    """True if every record has the same, public number of copies in the prepared table."""
    resize = drawing_of(request)
    if resize is None:
        return True
    if not isinstance(resize, Resize):
        return False
    known = facts_of(request.schema, request.neighbours).rows
    whole = resize.proportion.denominator == 1
    return known is not None and whole and resize.rows >= resize.proportion * known


def _components(needs: Sequence[Need], paths: Mapping[str, Path]) -> list[list[Need]]:
    """The connected components of needs that share an imputed column."""
    found: list[list[Need]] = []
    for need in needs:
        drawn = {name for name in need.columns if paths[name].drawn}
        if not drawn:
            found.append([need])
            continue
        linked = [one for one in found if drawn & {name for other in one for name in other.columns}]
        found = [one for one in found if one not in linked]
        found.append([*(other for one in linked for other in one), need])
    return found


def _share(known: _Known, components: list[list[Need]]) -> list[list[Need]]:
    """Many tables without imputed columns in few components, each of one cube; the others as they are."""

    def is_plain(component: Sequence[Need]) -> bool:
        return (
            len(component) == 1
            and component[0].how == "groups"
            and not any(known.paths[n].drawn for n in component[0].columns)
        )

    tables = [component[0] for component in components if is_plain(component)]
    if len(tables) <= _MANY:
        return components
    whole = _scan_for(known, tables)
    sizes = {axis.called: axis_size(axis) for axis in whole.axes}
    outer = prod(sizes[name] for name in known.outer)
    inner = [frozenset(need.columns).difference(known.outer) for need in tables]
    groups = cover(inner, sizes, max(1, _SHARED_CELLS // outer))
    return [*([tables[place] for place in group] for group in groups), *(one for one in components if not is_plain(one))]


def _pack(known: _Known, components: Iterable[Sequence[Need]]) -> list[Scan]:
    """The scans of the components: each joins the smallest scan for which one joint scan is cheaper than two."""
    packed: list[tuple[list[Need], Scan]] = []
    for component in components:
        alone = _scan_for(known, component)
        for place in sorted(range(len(packed)), key=lambda place: packed[place][1].domain):
            needs, part = packed[place]
            if _is_too_large(known, part, alone):
                continue
            both = [*needs, *component]
            together = _scan_for(known, both)
            if _is_cheaper(together, part, alone):
                packed[place] = (both, together)
                break
        else:
            packed.append((list(component), alone))
    return [part for _, part in packed] or [_scan_for(known, ())]


def _is_too_large(known: _Known, one: Scan, other: Scan) -> bool:
    """True if the keys of two scans without sums make a joint one too large to be cheaper: it need not be laid out."""
    axes = (*one.axes, *other.axes)
    if one.moments or other.moments or any(axis.cuts is not None for axis in axes):
        return False
    return prod(known.sizes[name] for name in {axis.called for axis in axes}) > max(JOINT_CELLS, one.domain, other.domain)


def _is_cheaper(together: Scan, one: Scan, other: Scan) -> bool:
    """True if one scan for both costs less than two: its cube is small, or not larger than the larger one of theirs."""
    if together.domain <= JOINT_CELLS:
        return True
    if together.domain > max(one.domain, other.domain):
        return False
    return not together.moments or one.domain == other.domain  # sums in very many cells cost more than a scan


def _scan_for(known: _Known, needs: Sequence[Need]) -> Scan:
    """The scan for these needs.

    A summed column is a moment and not a key only if no key is imputed and the number of copies is constant (soundness 1).
    """
    paths = known.paths
    keyed = [need for need in needs if need.how in ("codes", "groups") or not isinstance(paths[need.columns[0]], NumberPath)]
    keys = dict.fromkeys([*known.outer, *(name for need in keyed for name in need.columns)])
    coded = {name for need in needs if need.how == "codes" for name in need.columns}
    summed = [name for need in needs if need.how == "sums" for name in need.columns]
    values = dict.fromkeys([*(name for need in needs for name in need.columns if name not in keys), *summed])
    if not _constant_copies(known.request) or any(paths[name].drawn for name in keys):
        keys, values, coded = keys | values, {}, coded.union(summed)
    groups = [*known.request.group_by, *(group for need in needs for group in need.groups)]
    axes = tuple(KeyAxis(paths[name], None if name in coded else _cuts(known, paths[name], groups)) for name in keys)
    # A column in bins that is also summed needs no finer key: the cube has its sum in each bin, as for any other column.
    moments = tuple(Moment(path) for name in values if name not in coded and isinstance(path := paths[name], NumberPath))
    domain = prod(known.sizes[axis.called] if axis.cuts is None else axis_size(axis) for axis in axes)
    return Scan(axes, moments, known.labels, domain)


def _cuts(known: _Known, path: Path, groups: Sequence[Group]) -> tuple[int, ...] | None:
    """The codes at which a numeric key is cut: the edges of its bins and conditions. None for a category."""
    if not isinstance(path, NumberPath):
        return None
    cuts: set[int] = set()
    for group in groups:
        if isinstance(group, BinGroup) and group.column == (path.called or path.name):
            cuts.update(group.edges)
    for step in conditions_of(known.request.steps):
        if isinstance(step, Where) and step.column == (path.called or path.name):
            cuts.update((step.low, step.high + 1))
    return tuple(sorted(cuts))


def _require_the_joint_law(scans: Sequence[Scan], tied: str) -> None:
    """Checks that the scans have the law of one joint cube (Q2).

    Raises:
        InternalError: two scans would both draw values that must be drawn once.
    """
    imputed = [name for one in scans for name in one.imputed]
    if len(scans) > 1 and (tied or len(set(imputed)) < len(imputed)):
        raise InternalError("parts of a layout share draws")
