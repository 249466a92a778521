"""Canaries: rows whose copies and imputed values are counted after imputing, copying, sampling and filling.

The guarantee of a resized table rests on the law of how many copies of a person are in it, and the answers on one imputed
value for all copies of a row. Both are public laws, and both show in small tables with the steps, laws and proportion of the
plan: how many rows of the resized table have a value that only the canaries can have, or draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

from discreet.audit.checks import Counted
from discreet.audit.draws import Kernel
from discreet.audit.tables import Table, cubes_of
from discreet.cube.value_paths import CategoryPath, Path, path_of
from discreet.domain.codes import NULL
from discreet.domain.neighbours import AddRemove, OfPersons, ReplaceOne
from discreet.domain.steps import ROW_DRAWS, CategoryFacts, Resize, Step, Where, WhereIn, facts_of
from discreet.errors import DiscreetError
from discreet.noise.bits import Bits
from discreet.plan.layout import used_columns
from discreet.plan.plan import Plan, resize_of
from discreet.plan.table import Table as Steps
from discreet.privacy import PureDP
from discreet.quotes.allocate import row_quote
from discreet.quotes.quote import Quote
from discreet.statistics.counts import count
from discreet.statistics.quantile import quantiles

__all__ = ["canary_counts", "count_law"]

_LEAST_RUNS, _SHARE = 1000, 400
_MOST_COPIES = 16
_MOST_ROWS = 4000
_NULLS, _MANY_NULLS = 2, 50_000
_KEPT, _SAMPLED = 22, 5
_LEAST_CHANCE = 1e-3
_NEVER = 1e-14
"""Less than the slack of a check: a number of successes that is left out of a law."""

_Law = dict[int, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """An imputed column with a set of values to look for.

    Args:
        name: the column.
        path: what becomes of its values.
        inside: the final codes that are looked for.
        share: the probability that an imputed value is one of them.
        known: a code of the schema that ends inside, and one that does not; None where there is none.
    """

    name: str
    path: Path
    inside: range
    share: Fraction
    known: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class _Small:
    """A small table: its number of rows, its number of canaries, and its resize."""

    rows: int
    canaries: int
    resize: Resize | None


def canary_counts(kernel: Kernel, quote: Quote, runs: int, bits: Bits) -> Iterator[Counted]:
    """The counts of rows with a value that canaries have, or draw, for one imputed column of each kind."""
    times = max(_LEAST_RUNS, runs // _SHARE)
    resize, public = resize_of(quote.plan), quote.plan.neighbours.rows is not None
    for number, column in enumerate(_columns(quote.plan)):
        yield from _impute_at_once(kernel, quote.plan, column, bits)
        for small, drawn in _tables(resize, column, public=public):
            probe = _probe(quote.plan, column, small) if drawn or not number else None  # one column shows the copies
            if probe is not None:
                law = count_law(small.resize, small.rows, small.canaries, column.share, public=public, drawn=drawn)
                yield from _count(kernel, probe, column, small, law, drawn=drawn, runs=times, bits=bits)


def _columns(plan: Plan) -> list[_Column]:
    """The first imputed category and the first imputed number that the plan uses."""
    found: dict[type, _Column] = {}
    for name in used_columns(plan):
        path = path_of(name, plan.steps, facts_of(plan.schema, plan.neighbours))
        if path.null_target < NULL and type(path) not in found:
            column = _column(plan, name, path)
            if column is not None:
                found[type(path)] = column
    return list(found.values())


def _column(plan: Plan, name: str, path: Path) -> _Column | None:
    """The codes below one at about half of the law; None where every value is alike."""
    weights = path.laws[-2 - path.null_target]
    first = 0 if isinstance(path, CategoryPath) else path.low
    upto = np.cumsum(weights)
    if isinstance(path, CategoryPath):
        facts = plan.facts[name]
        if not isinstance(facts, CategoryFacts) or facts.nullable:
            return None
        weights = weights[:-1]
        place = int(np.argmax(np.minimum(weights, upto[-1] - weights)))
        inside = range(place, place + 1)
        share = Fraction(int(weights[place]), int(upto[-1]))
        ends = [(code, path.targets[code]) for code in range(len(path.targets)) if path.targets[code] >= 0]
    else:
        place = int(np.argmax(np.minimum(upto, upto[-1] - upto)))
        inside = range(first, first + place + 1)
        share = Fraction(int(upto[place]), int(upto[-1]))
        ends = [(code, min(max(code, path.low), path.high)) for code in (0, path.column.size - 1)]
    within = next((code for code, end in ends if end in inside), None)
    without = next((code for code, end in ends if end not in inside), None)
    return None if without is None else _Column(name, path, inside, share, (within, without))


def _tables(resize: Resize | None, column: _Column, *, public: bool) -> Iterator[tuple[_Small, bool]]:
    """Small tables, and whether their canaries are nulls, which are drawn."""
    if resize is None:
        yield _Small(_NULLS + 1, _NULLS, None), True
        return
    if resize.copies > _MOST_COPIES:
        return
    rows = _small_rows(resize)
    if rows <= _MOST_ROWS and column.known[0] is not None:
        small = replace(resize, rows=max(1, int(resize.proportion * rows)) if public else resize.copies * rows)
        yield _Small(rows, 1, small), False
        yield _half(resize, rows, public=public), False
    # Of one row with a private number of copies the rest is filled in; with a public one two rows are needed to vary it.
    alone = 2 if public else 1
    yield _Small(alone, 1, replace(resize, rows=max(1, int(2 * resize.proportion) if public else resize.copies))), True


def _half(resize: Resize, rows: int, *, public: bool) -> _Small:
    """A table of which half of the rows are canaries, resized to a few of them: rows that are favoured are seen at once."""
    many = rows if public else min(_MOST_ROWS, round(_KEPT / resize.proportion) + 1)
    return _Small(many, many // 2, replace(resize, rows=_SAMPLED))


def _small_rows(resize: Resize) -> int:
    """The least number of rows that gives a sample, and whose copies are about two thirds of a power of 2 in number.

    Uniform integers below such a number, drawn without drawing again what is too large, would favour half of them the most.
    """
    rows = max(5, 20 // resize.copies)
    while rows <= _MOST_ROWS:
        share = Fraction(resize.copies * rows, 1 << (resize.copies * rows - 1).bit_length())
        if resize.proportion * rows >= _SAMPLED and Fraction(5, 8) <= share <= Fraction(3, 4):
            break
        rows += 1
    return rows


def _probe(plan: Plan, column: _Column, small: _Small) -> Quote | None:
    """A request for how often every value of the column is there; None where there is none."""
    steps: list[Step] = [step for step in plan.steps if not isinstance(step, (Where, WhereIn, *ROW_DRAWS))]
    steps += [] if small.resize is None else [small.resize]
    own = plan.neighbours
    # Rows that were made of persons are rows here: the law of their copies is the same.
    public = ReplaceOne(small.rows) if isinstance(own, OfPersons) else own.of_size(small.rows)
    neighbours = AddRemove() if own.rows is None else public
    table = Steps(plan.schema, neighbours, tuple(steps))
    try:
        if isinstance(column.path, CategoryPath):
            return row_quote(table.group_by(column.name).agg(count()), PureDP(1))
        return row_quote(table.agg(quantiles(column.name, ["0.5"], interval=0)), PureDP(1))
    except DiscreetError:
        return None


def _impute_at_once(kernel: Kernel, plan: Plan, column: _Column, bits: Bits) -> Iterator[Counted]:
    """The number of nulls, of very many, that draw one of the values: each by itself, without a resize."""
    small = _Small(_MANY_NULLS, _MANY_NULLS, None)
    probe = _probe(plan, column, small)
    if probe is not None:
        answers = kernel.exact(probe, cubes_of(probe.plan, (column.name,), (((None,), _MANY_NULLS),)), bits)
        hits, share = _inside(answers[0], probe.plan, column), float(column.share)
        yield Counted(f"a null of '{column.name}' drawn among {_MANY_NULLS}", hits, _MANY_NULLS, (share, share))


def _count(
    kernel: Kernel, probe: Quote, column: _Column, small: _Small, law: _Law, *, drawn: bool, runs: int, bits: Bits
) -> Iterator[Counted]:
    canary = None if drawn else column.known[0]
    table: Table = (((canary,), small.canaries), ((column.known[1],), small.rows - small.canaries))
    cubes = cubes_of(probe.plan, (column.name,), tuple(item for item in table if item[1]))
    seen = [_inside(kernel.exact(probe, cubes, bits)[0], probe.plan, column) for _ in range(runs)]
    what = "imputed" if drawn else "copied"
    words, upto = f"{small.canaries} of {small.rows} rows {what}, found with '{column.name}'", Fraction(0)
    for number, chance in sorted(law.items()):
        if chance >= _LEAST_CHANCE:
            yield Counted(f"{words}: {number}", seen.count(number), runs, (float(chance), float(chance)))
        upto += chance
        if _LEAST_CHANCE <= upto <= 1 - _LEAST_CHANCE:
            hits = sum(found <= number for found in seen)
            yield Counted(f"{words}: at most {number}", hits, runs, (float(upto), float(upto)))
    yield Counted(f"{words}: an impossible number", sum(found not in law for found in seen), runs, (0.0, 0.0))


def _inside(answer: Sequence[object] | np.ndarray[tuple[int, ...], np.dtype[np.int64]], plan: Plan, column: _Column) -> int:
    """The number of rows that have one of the values that are looked for."""
    values = np.asarray(answer)
    if isinstance(column.path, CategoryPath):
        facts = plan.facts[column.name]
        kept = facts.kept if isinstance(facts, CategoryFacts) else ()
        return int(values[kept.index(column.inside.start)])
    codes = values[:, 1] + column.path.low
    return int(values[(codes >= column.inside.start) & (codes < column.inside.stop), 2].sum())


# The law ----------------------------------------------------------------------------------------------------------------


def count_law(resize: Resize | None, rows: int, canaries: int, share: Fraction, *, public: bool, drawn: bool) -> _Law:
    """The probability that this many rows of the resized table have the value that is looked for, exactly.

    Of the rows that fill it up each has it with the probability `share`. All copies of a canary have it or, where it is
    drawn, all of them together with that probability; more than one canary is drawn only where there is no resize.

    Args:
        resize: the resize, or None.
        rows: of the table.
        canaries: how many of them are canaries; the others never have the value.
        share: the probability that an imputed value is one that is looked for.
        public: true if the number of rows is public, so that a fixed number of copies is sampled.
        drawn: true if the canaries are nulls.
    """
    if resize is None:
        return _binomial(canaries, share) if drawn else {canaries: Fraction(1)}
    found: _Law = {}
    for (kept, filled), chance in _weigh_copies(resize, rows, canaries, public=public).items():
        shown = {kept: share, 0: 1 - share} if drawn and kept else {kept if not drawn else 0: Fraction(1)}
        for (own, one), (others, other) in product(shown.items(), _binomial(filled, share).items()):
            found[own + others] = found.get(own + others, Fraction(0)) + chance * one * other
    return {number: chance for number, chance in found.items() if chance}


def _weigh_copies(resize: Resize, rows: int, canaries: int, *, public: bool) -> dict[tuple[int, int], Fraction]:
    """The probability that this many copies of the canaries are in the table, and this many rows are filled in."""
    own, all_copies = resize.copies * canaries, resize.copies * rows
    if public:
        sample = min(int(resize.proportion * rows), resize.rows)
        return {(kept, resize.rows - sample): p for kept, p in _hypergeometric(all_copies, own, sample).items()}
    found: dict[tuple[int, int], Fraction] = {}
    rest = _binomial(all_copies - own, resize.rate)
    for (mine, one), (others, other) in product(_binomial(own, resize.rate).items(), rest.items()):
        total = min(mine + others, resize.rows)
        for kept, p in _hypergeometric(mine + others, mine, total).items():
            key = kept, resize.rows - total
            found[key] = found.get(key, Fraction(0)) + one * other * p
    return found


def _binomial(trials: int, share: Fraction) -> _Law:
    """Binomial(trials, share) without what next to never happens."""
    law = {k: comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(trials + 1)}
    return {k: chance for k, chance in law.items() if chance > _NEVER}


def _hypergeometric(population: int, marked: int, drawn: int) -> _Law:
    ways = comb(population, drawn)
    law = {k: Fraction(comb(marked, k) * comb(population - marked, drawn - k), ways) for k in range(min(marked, drawn) + 1)}
    return {k: chance for k, chance in law.items() if chance}
