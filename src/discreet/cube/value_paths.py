"""The way of one value of a column through the steps, as a public table.

A path sends every code of the schema, and null, to a *target*: a final code (0 or more), `NULL`, or `mark_imputed(j)`, which
means "to be drawn from the j-th law of this path". The laws are already pushed through the clamps that come after the
imputation, so that engines only look up and `resample` only draws. A law of one category sends values there without a draw.
Imputed values are independent of the data and of each other; a record's imputed value is drawn once, before it is copied
(soundness 1 and 2).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.domain.codes import NULL
from discreet.domain.columns import Category, Date, Number, listed_category
from discreet.domain.imputation import integer_weights, law_weights
from discreet.domain.origins import Origin
from discreet.domain.steps import Clamp, ClampCategories, Impute, NumberFacts, Step, TableFacts, after
from discreet.errors import InternalError

__all__ = [
    "CategoryPath",
    "KeyAxis",
    "Moment",
    "NumberPath",
    "Path",
    "axis_law",
    "axis_size",
    "mark_imputed",
    "path_of",
    "paths_read",
    "renamed",
]


def mark_imputed(source: int) -> int:
    """The target that marks a value to be drawn from the law number `source` of the path."""
    return -2 - source


@dataclass(frozen=True, slots=True, eq=False)
class NumberPath:
    """Codes of the schema are moved into [low, high]; null goes to `null_target`.

    `laws` has at most one entry: integer weights of the final codes low, …, high; what is null by then is drawn from it,
    or is null where `null_target` says so. `called` is the name under which queries ask for it; empty where that is `name`,
    the column of the source. `table` is the table of persons that has the column; empty for the table of rows.
    """

    name: str
    column: Number | Date
    low: int
    high: int
    null_target: int
    laws: tuple[NDArray[np.int64], ...]
    called: str = ""
    table: str = ""

    @property
    def drawn(self) -> bool:
        """True if some values are to be drawn."""
        return self.null_target < NULL


@dataclass(frozen=True, slots=True, eq=False)
class CategoryPath:
    """Code k of the column of the source goes to `targets[k]`; null goes to `null_target`.

    Each law has one integer weight for every final code that the schema declares and a last one for null. `called` and
    `table` as for numbers. A derived column has the codes of the column that it comes from, and its own final codes; but in
    a table of persons codes of its own, of which each person has one.
    """

    name: str
    column: Category
    targets: tuple[int, ...]
    null_target: int
    laws: tuple[NDArray[np.int64], ...]
    called: str = ""
    table: str = ""

    @property
    def drawn(self) -> bool:
        """True if some values are to be drawn: a law of one value needs no draw."""
        return any(target < NULL for target in (self.null_target, *self.targets))


Path = NumberPath | CategoryPath


def paths_read(path: Path) -> tuple[Path, ...]:
    """How each column of the source is read that the path needs: its own, or the codes of each column of a list."""
    if isinstance(path, NumberPath) or path.column.parts is None:
        return (path,)
    parts = zip(path.column.parts.columns, path.column.parts.values, strict=True)
    return tuple(CategoryPath(name, Category(values), tuple(range(len(values))), NULL, ()) for name, values in parts)


def renamed(path: Path, names: Mapping[str, str]) -> Path:
    """The same path over a source whose columns have these names."""
    if isinstance(path, NumberPath) or path.column.parts is None:
        return replace(path, name=names[path.name])
    parts = replace(path.column.parts, columns=tuple(names[name] for name in path.column.parts.columns))
    return replace(path, column=listed_category(path.column.values, parts))


def path_of(name: str, steps: tuple[Step, ...], start: TableFacts) -> Path:
    """The path of one column through the steps, for a table that starts with the facts `start`."""
    own = tuple(step for step in steps if isinstance(step, Clamp | ClampCategories | Impute) and step.column == name)
    column, table = start[name].column, start.tables.get(name, "")
    if isinstance(column, Category):
        path = _category_path(name, column, own)
        if table:
            return replace(path, table=table)
        return path if column.origin is None else _derived_path(path, column.origin, start)
    return replace(_number_path(name, column, own, start), table=table)


def _number_path(name: str, column: Number | Date, steps: tuple[Step, ...], start: TableFacts) -> NumberPath:
    facts = start
    law: NDArray[np.int64] | None = None
    for step in steps:
        before = _number_facts(facts, name)
        facts = after(step, facts)
        now = _number_facts(facts, name)
        if isinstance(step, Impute) and before.nullable:
            law = law_weights(step.law, column, before.low, before.high)
        elif law is not None:
            law = _clamp_law(law, before.low, now.low, now.high)
    end = _number_facts(facts, name)
    laws = () if law is None else (law,)
    return NumberPath(name, column, end.low, end.high, mark_imputed(0) if laws else NULL, laws)


def _number_facts(facts: TableFacts, name: str) -> NumberFacts:
    found = facts[name]
    if not isinstance(found, NumberFacts):
        raise InternalError(f"column '{name}' is not numeric")
    return found


def _clamp_law(law: NDArray[np.int64], first: int, low: int, high: int) -> NDArray[np.int64]:
    moved = np.zeros(high - low + 1, dtype=np.int64)
    np.add.at(moved, np.clip(np.arange(first, first + len(law)), low, high) - low, law)
    return moved


def _category_path(name: str, column: Category, steps: tuple[Step, ...]) -> CategoryPath:
    """Targets by walking each code; laws backwards, because a drawn category may be clamped away and drawn again."""
    imputations = [position for position, step in enumerate(steps) if isinstance(step, Impute)]
    null_target = _walk(None, steps, 0, imputations)
    targets = tuple(_walk(code, steps, 0, imputations) for code in range(column.size))
    shares: dict[int, list[Fraction]] = {}
    for source in reversed(range(len(imputations))):
        step = steps[imputations[source]]
        if not isinstance(step, Impute):
            raise InternalError("an imputation was expected here")
        drawn = law_weights(step.law, column, 0, column.size - 1)
        shares[source] = [Fraction(0)] * (column.size + 1)
        for code in range(column.size):
            weight = Fraction(int(drawn[code]), int(drawn.sum()))
            target = _walk(code, steps, imputations[source] + 1, imputations)
            _deposit(shares[source], weight, target, shares)
    laws = tuple(integer_weights(shares[source]) for source in range(len(imputations)))
    settled = {mark: _only_code(law, mark) for mark, law in zip(map(mark_imputed, range(len(laws))), laws, strict=True)}
    null_target, *moved = (settled.get(target, target) for target in (null_target, *targets))
    return CategoryPath(name, column, tuple(moved), null_target, laws)


def _only_code(law: NDArray[np.int64], mark: int) -> int:
    """The code to which a law sends every value, where it has one: nothing is drawn then; else the mark of the law."""
    (codes,) = np.nonzero(law)
    return mark if len(codes) > 1 else NULL if codes[0] == len(law) - 1 else int(codes[0])


def _derived_path(path: CategoryPath, origin: Origin, start: TableFacts) -> CategoryPath:
    """The same path from the codes of the column of the source: through the public map, and then through the steps (K1)."""
    source = start[origin.of].column
    if not isinstance(source, Category):
        raise InternalError(f"column '{origin.of}' is not categorical")
    targets = tuple(path.null_target if code == NULL else path.targets[code] for code in origin.codes)
    return CategoryPath(origin.of, source, targets, path.null_target, path.laws, called=path.name)


def _walk(code: int | None, steps: tuple[Step, ...], first: int, imputations: list[int]) -> int:
    """The final code of a code, or of null, before step number `first`."""
    for position in range(first, len(steps)):
        step = steps[position]
        if isinstance(step, ClampCategories) and code is not None and code not in step.kept:
            code = None
        if isinstance(step, Impute) and code is None:
            return mark_imputed(imputations.index(position))
    return NULL if code is None else code


def _deposit(into: list[Fraction], weight: Fraction, target: int, laws: dict[int, list[Fraction]]) -> None:
    if target >= 0:
        into[target] += weight
    elif target == NULL:
        into[-1] += weight
    else:
        for code, share in enumerate(laws[-2 - target]):
            into[code] += weight * share


@dataclass(frozen=True, slots=True, eq=False)
class KeyAxis:
    """A column used as a key of the cube, coarsened to what the request needs.

    Its labels are final codes, or with `cuts` the number of cuts ≤ code: a column that is only grouped or filtered
    by ranges needs no finer key. The negative targets of the path stay as they are.
    """

    path: Path
    cuts: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """The column of the source."""
        return self.path.name

    @property
    def called(self) -> str:
        """The name under which queries ask for it."""
        return self.path.called or self.path.name


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A column of which a cube cell carries the number of non-null values and the sum of (final code - low)."""

    path: NumberPath

    @property
    def name(self) -> str:
        """The column of the source."""
        return self.path.name

    @property
    def called(self) -> str:
        """The name under which queries ask for it."""
        return self.path.called or self.path.name


def axis_size(axis: KeyAxis) -> int:
    """The number of different labels of the axis after imputation, including null where it can be null."""
    path = axis.path
    nullable = path.null_target == NULL
    if isinstance(path, CategoryPath):
        marks = {target for target in (path.null_target, *path.targets) if target < NULL}
        laws = [path.laws[-2 - mark] for mark in marks]
        nullable = nullable or NULL in path.targets or any(law[-1] > 0 for law in laws)
        kept = {target for target in (path.null_target, *path.targets) if target >= 0}
        kept |= {int(code) for law in laws for code in law[:-1].nonzero()[0]}
        return len(kept) + nullable
    if axis.cuts is None:
        return path.high - path.low + 1 + nullable
    return bisect_right(axis.cuts, path.high) - bisect_right(axis.cuts, path.low) + 1 + nullable


def axis_law(axis: KeyAxis, source: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The labels that law number `source` can draw on this axis (NULL among them), and their integer weights."""
    law = axis.path.laws[source]
    if isinstance(axis.path, CategoryPath):
        labels = np.append(np.arange(len(law) - 1), NULL)
    else:
        labels = np.arange(axis.path.low, axis.path.high + 1)
        if axis.cuts is not None:
            labels = np.searchsorted(np.array(axis.cuts, dtype=np.int64), labels, side="right")
    distinct, positions = np.unique(labels, return_inverse=True)
    weights = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(weights, positions, law)
    return distinct[weights > 0], weights[weights > 0]
