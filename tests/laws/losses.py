"""What a person can lose by a quote, found by trying: rows of the prepared table, several rows, copies of a resize.

What a row adds to every query comes from `every_query`, the copies of a person's rows in a sample from the literal sampling
of `literal_rows`. Of the library only the scales of the noise are taken.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

import discreet as dp
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.plan.plan import Plan, resize_of
from discreet.quotes.quote import Quote

from .every_query import contribution, is_replaced, matrix, placed
from .literal_rows import samples


def additions(quoted: Quote) -> list[np.ndarray]:
    """For each measured query what each kind of row adds; rows that add the same to all queries are one kind."""
    rows = [
        [contribution(one.query, quoted.plan, cell, row) for one in quoted.measured] for cell, row in placed(quoted.plan)
    ]
    kinds = list({tuple(frozenset(part.items()) for part in row): row for row in rows}.values())
    return [matrix([row[number] for row in kinds]) for number in range(len(quoted.measured))]


def loss(quoted: Quote, rows: int) -> Fraction:
    """The largest loss (ε, ρ or μ²) of all queries together, between prepared tables that differ in `rows` rows."""
    added = additions(quoted)
    chosen = np.array(list(combinations_with_replacement(range(len(added[0])), rows)))
    changed = [values[chosen].sum(axis=1) for values in added]
    if is_replaced(quoted.plan):
        changed = [(one[:, None] - one[None]).reshape(-1, one.shape[1]) for one in changed]
    used = [_norm(one.law, moved) for one, moved in zip(quoted.measured, changed, strict=True)]
    factors = [_factor(one.law, quoted.spend) for one in quoted.measured]
    combined = np.stack(used, axis=1)
    # Doubles find the few that can be the largest; these are added up exactly.
    rough = combined @ np.array([float(factor) for factor in factors])
    largest = np.unique(combined[rough >= rough.max() * (1 - 1e-9)], axis=0)
    return max(sum(int(d) * factor for d, factor in zip(row, factors, strict=True)) for row in largest)


def _norm(law: object, moved: np.ndarray) -> np.ndarray:
    return np.abs(moved).sum(axis=1) if isinstance(law, LaplaceNoise) else (moved**2).sum(axis=1)


def _factor(law: object, spend: object) -> Fraction:
    if isinstance(law, LaplaceNoise):
        return 1 / law.scale
    assert isinstance(law, GaussianNoise)
    return 1 / (2 * law.sigma2) if isinstance(spend, dp.ZCDP) else 1 / law.sigma2


def copies_kept(plan: Plan) -> dict[int, Fraction]:
    """The law of how many copies of one person's rows are in the sample, one by one; for the worst number of other rows."""
    resize, neighbours = resize_of(plan), plan.neighbours
    assert resize is not None
    own = neighbours.rows_per_person
    others = [neighbours.rows - own] if isinstance(neighbours, dp.ReplaceOne) else [0, 1]
    found = []
    for number in others:
        law: dict[int, Fraction] = defaultdict(Fraction)
        for kept, chance in samples([(1,)] * own * resize.copies + [(0,)] * number * resize.copies, plan):
            law[sum(label for (label,) in kept)] += chance
        found.append(dict(law))
    return max(found, key=lambda law: sum(kept * chance for kept, chance in law.items()))
