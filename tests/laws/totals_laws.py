"""All small tables with given totals, how any two of them differ, and the laws of the noise, written down again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product

import numpy as np
from flint import arb, fmpq
from scipy.linalg import block_diag

import discreet as dp
from discreet.cube.queries import NonNullCount, RowCount
from discreet.exact.lattices import hermite, independent_rows, kernel_basis
from discreet.mechanisms.correlated_lattice import CorrelatedLattice
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.held import HeldCells
from discreet.mechanisms.k_norm import KNormLaplace
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.lattice_gaussian import LatticeGaussian
from discreet.mechanisms.lattice_laplace import LatticeLaplace
from discreet.mechanisms.one_sign_laplace import OneSignLaplace
from discreet.mechanisms.projected_laplace import ProjectedLaplace
from discreet.mechanisms.rounded_lattice import RoundedLattice
from discreet.mechanisms.sum_zero import PairedLaplace, SumZeroLaplace
from discreet.mechanisms.vector_laplace import VectorLaplace
from discreet.quotes import allocate
from discreet.totals.adjacency import SemiAdjacency, semi_adjacency
from discreet.totals.published import PublishedTotals, totals_of_counts
from discreet.totals.structure import Blocks, Kernel, Tables, margin_equations

ROWS = 3


SMALL = dp.Schema(g=dp.Category(["x"]), f=dp.Category(["p"]), v=dp.Number(0, 1))


SIGNED = dp.Schema(g=dp.Category(["x"]), f=dp.Category(["p"]), v=dp.Number(-1, 1, step=2))


WIDE = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]))


FREE = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p"]), h=dp.Category(["m"]))


LEVELS = {
    FREE: {"g": ["x", "y", None], "f": ["p", None], "h": ["m", None]},
    SMALL: {"g": ["x", None], "f": ["p", None], "v": [0, 1, None]},
    SIGNED: {"g": ["x", None], "f": ["p", None], "v": [0, 1, None]},
    WIDE: {"g": ["x", "y", None], "f": ["p", "q", None]},
}


INFINITE = Fraction(10**9)


def small(request):
    return request(dp.Table(SMALL, dp.ReplaceOne(rows=ROWS)))


def signed(request):
    return request(dp.Table(SIGNED, dp.ReplaceOne(rows=ROWS)))


def wide(request):
    return request(dp.Table(WIDE, dp.ReplaceOne(rows=ROWS)))


def free(request):
    return request(dp.Table(FREE, dp.ReplaceOne(rows=ROWS)))


def counted(table):
    return table.group_by("g", "f").agg(dp.count())


def counted_and_summed(table):
    return table.group_by("g", "f").agg(dp.count(), dp.sum("v", nulls="skip"))


# name: invariants, request, how many of the largest fibres are tried
CASES = {
    "partition": (dp.Totals("g"), small(counted_and_summed), 3),
    "partition, not shown": (dp.Totals("g"), small(lambda t: t.group_by("f").agg(dp.count(), dp.count("v"))), 3),
    "partition, a condition": (dp.Totals("g"), small(lambda t: t.where({"f": ["p"]}).group_by("g").agg(dp.count())), 3),
    "partition, a mean": (dp.Totals("g"), small(lambda t: t.group_by("g").agg(dp.mean("v", nulls="skip"))), 3),
    "partition, sums of both signs": (
        dp.Totals("g"),
        signed(lambda t: t.group_by("g", "f").agg(dp.sum("v", nulls="skip"))),
        3,
    ),
    "some groups": (dp.Totals("g", only=["x"]), small(counted), 3),
    "margins of 2 x 2": (dp.Margins("g", "f"), small(counted_and_summed), 3),
    "one of two margins": (dp.Margins("g", "f"), small(lambda t: t.group_by("g").agg(dp.sum("v", nulls="skip"))), 3),
    "occupied": (dp.Occupied("g"), small(counted_and_summed), 3),
    "suppressed": (dp.Suppressed("g", "f", below=2), small(counted_and_summed), 3),
    "totals, and rounded within": (dp.Totals("g") + dp.Rounded("g", "f", base=2), small(counted_and_summed), 3),
    "margins, and suppressed cells": (dp.Margins("g", "f") + dp.Suppressed("g", "f", below=3), small(counted), 3),
    "at least one in each group": (dp.AtLeast("g", rows=1), small(counted), 3),
    "an impossible cell": (dp.Totals("g") + dp.Impossible("g", "f", cells=[("x", "p")]), small(counted_and_summed), 3),
    "partition of three": (dp.Totals("g"), wide(counted), 2),
    "margins of 3 x 3": (dp.Margins("g", "f"), wide(counted), 3),
    "margins and a free column": (dp.Margins("g", "f"), free(lambda t: t.group_by("g", "f", "h").agg(dp.count())), 3),
    "a weighted sum": (dp.LinearInvariant("g", {"s": {"x": 1, "y": 2}}), wide(counted), 2),
    "partition and a sum": (dp.Totals("g") + dp.Sums("v", SMALL), small(counted_and_summed), 3),
    "partition and a sum in each group": (dp.Totals("g") + dp.Sums("v", SMALL, by="g"), small(counted), 3),
    "margins and a weighted sum": (
        dp.Totals("g") + dp.Totals("h") + dp.LinearInvariant("f", {"s": {"p": 2}}),
        free(lambda t: t.group_by("g", "h").agg(dp.count())),
        2,
    ),
}


def records(schema):
    return list(product(*LEVELS[schema].values()))


def histograms(schema):
    size = len(records(schema))
    chosen = np.array(list(combinations_with_replacement(range(size), ROWS)))
    found = np.zeros((len(chosen), size), dtype=np.int64)
    for column in chosen.T:
        found[np.arange(len(chosen)), column] += 1
    return found


@dataclass(frozen=True)
class Fibre:
    """All tables with the same totals, a(t) by brute force, and the differences of all pairs that are compared."""

    totals: PublishedTotals
    tables: np.ndarray
    a: int
    differences: np.ndarray


@cache
def fibres(name):
    """The largest fibres of a case; a table with a row in an impossible cell is none."""
    invariants, plan, most = CASES[name]
    levels = LEVELS[plan.schema]
    keys = np.array(
        [
            [levels[column].index(record[list(levels).index(column)]) for column in invariants.columns]
            for record in records(plan.schema)
        ]
    )
    found = defaultdict(list)
    for table in histograms(plan.schema):
        try:
            found[totals_of_counts(invariants, plan.schema, (keys[table > 0], table[table > 0]))].append(table)
        except dp.InternalError:
            continue
    largest = sorted(found.items(), key=lambda item: -len(item[1]))[:most]
    return [fibre_of(totals, np.array(tables)) for totals, tables in largest]


def fibre_of(totals, tables):
    a = literal_a(tables)
    differences = (tables[:, None] - tables[None]).reshape(-1, tables.shape[1])
    near = differences[np.abs(differences).sum(axis=1) <= 2 * a]
    return Fibre(totals, tables, a, np.unique(near, axis=0))


def literal_a(tables):
    """max over tables, rows and feasible values of the rows that must change: Algorithm 1 on one whole fibre.

    Rows have no order, so that the other rows of two tables can be matched as well as their histograms overlap.
    """
    differences = tables[:, None] - tables[None]
    changed = np.abs(differences).sum(axis=2)
    most = 1
    for old, new in permutations(range(tables.shape[1]), 2):
        has, can = tables[:, old] > 0, tables[:, new] > 0
        if has.any() and can.any():
            one, other = differences[..., old], differences[..., new]
            rest = changed - np.abs(one) - np.abs(other) + np.abs(one - 1) + np.abs(other + 1)
            most = max(most, 1 + int(rest[np.ix_(has, can)].min(axis=1).max()) // 2)
    return most


def contributions(query, plan):
    """What a record adds to each cell of the request: int64, shape (cells, records)."""
    names = list(LEVELS[plan.schema])
    labels = [LEVELS[plan.schema][group.column] for group in plan.group_by]
    cells = {cell: number for number, cell in enumerate(product(*labels))}
    found = np.zeros((len(cells), len(records(plan.schema))), dtype=np.int64)
    for number, record in enumerate(records(plan.schema)):
        values = dict(zip(names, record, strict=True))
        if any(values[step.column] != "p" for step in plan.steps):
            continue  # the one condition that is used here
        cell = cells[tuple(values[group.column] for group in plan.group_by)]
        match query:
            case RowCount():
                found[cell, number] = 1
            case NonNullCount(column):
                found[cell, number] = values[column] is not None
            case _:
                found[cell, number] = 0 if values["v"] is None else query.first + query.slope * values["v"]
    return found


def equations(structure):
    match structure:
        case Blocks(sizes=sizes):
            return np.repeat(np.eye(len(sizes), dtype=np.int64), sizes, axis=1), structure.order
        case Tables(tables=tables):
            parts = [margin_equations(table) for table in tables]
            return block_diag(*parts), np.concatenate([table.order.ravel() for table in tables])
    return structure.equations, structure.order


def on_support(law, u):
    """Whether noise can make up for u: outside, one table could be told from the other for certain."""
    if isinstance(law, HeldCells):
        return not np.delete(u, law.held).any()
    if law.everywhere:
        return True
    if isinstance(law, OneSignLaplace | VectorLaplace):
        return not np.delete(u, law.structure.order).any()
    matrix, order = equations(law.structure)
    return not (matrix @ u[order]).any() and not np.delete(u, order).any()


def ratio(law, u):
    """The largest log-ratio of two shifts by u, exactly: the law is exp(-norm), and the norm is attained at one of them."""
    if not on_support(law, u):
        return INFINITE
    l1 = int(np.abs(u).sum())
    match law:
        case HeldCells(noise=inner):
            return ratio(inner, u)
        case LaplaceNoise(scale=scale) | SumZeroLaplace(scale=scale):
            return Fraction(l1) / scale
        case PairedLaplace(scale=scale):
            return Fraction(l1) / (2 * scale)
        case OneSignLaplace(structure=blocks, scale=scale):
            found, ends = Fraction(0), np.cumsum(blocks.sizes)
            for start, end in zip(ends - blocks.sizes, ends, strict=True):
                part = u[blocks.order[start:end]]
                found += Fraction(2 * max(int(part[part > 0].sum()), -int(part[part < 0].sum()))) / scale
            return found
        case VectorLaplace(structure=blocks, scale=scale):
            vectors = np.abs(u[blocks.order]).reshape(len(blocks.sizes), -1)
            return Fraction(int(vectors.max(axis=1).sum())) / scale
        case LatticeLaplace(scale=scale) | ProjectedLaplace(scale=scale):
            return Fraction(l1) / scale  # of a projection it is the loss of what is projected: a bound
        case KNormLaplace(points=points, epsilon=epsilon):
            inside = not u.any() or (points == u[equations(law.structure)[1]]).all(axis=1).any()
            return epsilon if inside else INFINITE  # a point of the hull has a norm of at most 1
    raise AssertionError(law)


def squared(law, u):
    """|u|²/σ², or the same of both parts of u: 2ρ and μ² of one shift by u."""
    if not on_support(law, u):
        return INFINITE
    inner = law.noise if isinstance(law, HeldCells) else law
    if isinstance(inner, CorrelatedLattice):
        structure = inner.structure
        kernel = isinstance(structure, Kernel)
        parts = [u[structure.order].reshape(-1, structure.depth)] if kernel else [u[one.order] for one in structure.tables]
        between = sum(Fraction(int((part.sum(axis=-1) ** 2).sum()), part.shape[-1]) for part in parts)
        return (int((u * u).sum()) - between) / inner.within + between / inner.between
    assert isinstance(inner, LatticeGaussian | RoundedLattice | GaussianNoise)
    return Fraction(int((u * u).sum())) / inner.sigma2


def fraction(value):
    return arb(fmpq(value.numerator, value.denominator))


def box(law, reach):
    """The points of the law's lattice whose pivot coordinates are at most `reach` in size, and where they stand."""
    matrix, cells = equations(law.structure)
    independent = [matrix[i].tolist() for i in independent_rows(matrix.tolist())]
    basis = np.array(hermite(kernel_basis(independent, matrix.shape[1])), dtype=np.int64)
    pivots = [int(np.flatnonzero(row)[0]) for row in basis]
    assert (basis[:, pivots] == np.eye(len(pivots))).all()  # so that the pivot coordinates tell the points apart
    grid = np.meshgrid(*[np.arange(-reach, reach + 1)] * len(pivots), indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, len(pivots)) @ basis, cells


def covered(quoted):
    """What the charge allows for, as ε or |u|²/σ²."""
    made = [one.guarantee for one in quoted.measured]
    match quoted.spend, made[0]:
        case dp.PureDP() | dp.ApproxDP(), dp.PureDP():
            return quoted.spend.epsilon
        case dp.ZCDP(), dp.ZCDP():
            return 2 * quoted.spend.rho
        case dp.GDP(), dp.GDP():
            return quoted.spend.mu**2
        case dp.ApproxDP(epsilon=epsilon, delta=delta), dp.ZCDP():
            return 2 * dp.ZCDP.for_approx(epsilon, delta).rho
        case dp.ApproxDP(epsilon=epsilon, delta=delta), dp.GDP():
            return dp.GDP.for_approx(epsilon, delta).mu ** 2
    raise AssertionError(made)


def quote_of(plan, spend, known):
    try:
        return allocate.quote(plan, spend, known)
    except dp.PlanError as refused:
        if "already" not in str(refused):
            raise
        return None


SPENDS = [dp.PureDP("0.75"), dp.ZCDP("0.75")]


def one_row_too_few(*arguments):
    found = semi_adjacency(*arguments)
    return SemiAdjacency(max(1, found.a - 1), found.exact, found.reason)
