"""All tables with given totals, and what the literal definitions say about them."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import ceil, floor

import numpy as np

import discreet as dp
from discreet.totals.adjacency import semi_adjacency
from discreet.totals.cells import cell_at, domain_size, levels
from discreet.totals.published import totals_of_counts
from discreet.totals.rules import Bands, Rounding, Suppression
from discreet.totals.statements import (
    FloorStatement,
    ImpossibleStatement,
    LinearStatement,
    OccupiedStatement,
    RangesStatement,
    TotalsStatement,
)

# The null level is a level like any other, so a category of one value has two levels: x0 and null.
SCHEMA = dp.Schema(
    {f"{name}{size}": dp.Category([f"x{i}" for i in range(size - 1)]) for name in "abcd" for size in (2, 3, 4)}
)


def x(*codes):
    """Labels of the levels 0, 1, …; -1 is null."""
    return tuple(None if code < 0 else f"x{code}" for code in codes)


def published(invariants, cells):
    """What the invariants say about rows in these cells, read off their definition; None where one is impossible."""
    columns = invariants.columns
    said = []
    for part in invariants.parts:
        seen = Counter(tuple(cell[columns.index(name)] for name in part.columns) for cell in cells)
        match part:
            case TotalsStatement(only=only):
                said.append(frozenset((cell, k) for cell, k in seen.items() if only is None or cell in only))
            case OccupiedStatement(only=only):
                said.append(frozenset(cell for cell in seen if only is None or cell in only))
            case ImpossibleStatement(cells=never):
                if any(cell in seen for cell in never):
                    return None
            case RangesStatement(only=only, rule=rule):
                shown = {cell: printed(rule, k) for cell, k in seen.items() if only is None or cell in only}
                said.append(frozenset(pair for pair in shown.items() if pair[1] != printed(rule, 0)))
            case FloorStatement(only=only, rows=least):
                known = [[one for one in levels(SCHEMA[name]) if one is not None] for name in part.columns]
                if any(seen[cell] < least for cell in (product(*known) if only is None else only)):
                    return None
            case LinearStatement(rows=rows):
                said.append(tuple(sum(dict(row).get(cell, 0) * k for cell, k in seen.items()) for row in rows))
    return tuple(said)


def printed(rule, count):
    """What a rule publishes for a count, from its words alone."""
    match rule:
        case Rounding(base=base, to="nearest"):
            return base * floor(Fraction(count, base) + Fraction(1, 2))
        case Rounding(base=base, to=to):
            return base * (floor if to == "down" else ceil)(Fraction(count, base))
        case Suppression(below=below, zeros=zeros):
            return "few" if (1 if zeros == "shown" else 0) <= count < below else count
        case Bands(starts=starts):
            return max(start for start in starts if start <= count)


def domain(invariants):
    columns = invariants.columns
    return [cell_at(index, columns, SCHEMA) for index in range(domain_size(columns, SCHEMA))]


def fibres(invariants, n):
    """The histograms of all tables of n rows, grouped by what is published of them."""
    cells = domain(invariants)
    found = defaultdict(list)
    for chosen in combinations_with_replacement(range(len(cells)), n):
        said = published(invariants, [cells[c] for c in chosen])
        if said is not None:
            found[said].append(np.bincount(chosen, minlength=len(cells)))
    return [np.array(fibre) for fibre in found.values()]


def costs(fibre):
    """c(h, x, x') of Lemma 0 for all histograms h of the fibre; 0 where x' = x, or one of the two is not to be had."""
    there = fibre > 0
    found = np.zeros((len(fibre), fibre.shape[1], fibre.shape[1]), dtype=np.int64)
    for number, h in enumerate(fibre):
        moved = fibre - h
        base = np.abs(moved).sum(axis=1)[:, None, None]
        leave = np.where(moved < 0, -1, 1)[:, :, None]
        enter = np.where(moved > 0, -1, 1)[:, None, :]
        cost = 1 + (base + leave + enter) // 2
        cost = np.where(there[:, None, :], cost, 10**6).min(axis=0)
        cost[~there[number], :] = 0
        cost[:, ~there.any(axis=0)] = 0
        np.fill_diagonal(cost, 0)
        found[number] = cost
    return found


def largest_cost(fibre):
    """a(t) with a free attribute: at least 1."""
    return max(1, int(costs(fibre).max()))


def moves(fibre, a):
    """S(t) at distance a as a set of vectors."""
    found = set()
    for h in fibre:
        for moved in fibre - h:
            if np.abs(moved).sum() <= 2 * a:
                found.add(tuple(moved.tolist()))
    return found


def norms(vectors):
    """The size of S, its largest ℓ₁, ℓ₂² and ℓ∞ norms and its rank."""
    array = np.array(list(vectors))
    size = np.abs(array)
    return (
        len(array),
        int(size.sum(1).max()),
        int((size**2).sum(1).max()),
        int(size.max()),
        int(np.linalg.matrix_rank(array)),
    )


def computed(invariants, fibre):
    """What the library says from the published totals of a table of the fibre."""
    totals = totals_of_counts(invariants, SCHEMA, fibre[0])
    return semi_adjacency(invariants, SCHEMA, totals, int(fibre[0].sum()))


def checked(invariants, sizes):
    """The library against the maximum over every fibre: (fibres, of which exact, sum of what a bound is above)."""
    count = exact = above = 0
    everything = semi_adjacency(invariants, SCHEMA)
    for n in sizes:
        for fibre in fibres(invariants, n):
            told, truth = computed(invariants, fibre), largest_cost(fibre)
            assert told.a >= truth, (invariants, n, fibre[0], told, truth)
            assert told.a == truth or not told.exact, (invariants, n, fibre[0], told, truth)
            assert everything.a >= truth
            assert told.a <= max(n, 1)
            count, exact, above = count + 1, exact + told.exact, above + told.a - truth
    return count, exact, above


def sizes_for(invariants, most):
    """As many rows as keep the number of histograms below `most`."""
    cells = domain_size(invariants.columns, SCHEMA)
    sizes, histograms = [], 1
    for n in range(1, 9):
        histograms = histograms * (cells + n - 1) // n
        if histograms > most:
            break
        sizes.append(n)
    return sizes
