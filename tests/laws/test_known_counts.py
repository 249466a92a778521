"""Counts that published ranges leave as they are: the same in every table with these facts, of all tables of three rows."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.totals import known_counts
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.known_counts import atoms_of_known_counts
from discreet.totals.published import totals_of_counts

from .mutants import Mutant

ROWS = 3
SCHEMA = dp.Schema(a=dp.Category(["x", "y"]), b=dp.Category(["p"]))
CELLS = np.array(list(product(range(3), range(2))))
FACTS = {
    "small counts are suppressed": dp.Suppressed("a", "b", below=2),
    "small counts are suppressed, not zeros": dp.Suppressed("a", "b", below=3, zeros="shown"),
    "rounded within totals": dp.Totals("a") + dp.Rounded("a", "b", base=2),
    "rounded up beside totals": dp.Totals("b") + dp.Rounded("a", base=3, to="up"),
    "one size class ends at 1": dp.SizeClasses("a", starts=[2]),
}


def fibres(invariants):
    """The tables with the same facts, as numbers of rows of each cell."""
    found = defaultdict(list)
    for chosen in combinations_with_replacement(range(len(CELLS)), ROWS):
        table = np.bincount(np.array(chosen), minlength=len(CELLS))
        keys = CELLS[table > 0][:, [("a", "b").index(name) for name in invariants.columns]]
        found[totals_of_counts(invariants, SCHEMA, (keys, table[table > 0]))].append(table)
    return found


def moved(invariants):
    """How often a count that is said to be known is another one in some table; how many are said to be known."""
    wrong, known = 0, 0
    for published, tables in fibres(invariants).items():
        atoms = atoms_of_known_counts(exact_totals_of(invariants, SCHEMA, published, ROWS), SCHEMA, ("a", "b"))
        if atoms is not None:
            for table in tables:
                counts = np.bincount(atoms.labels.ravel(), table, minlength=len(atoms.totals))
                wrong += int((counts != atoms.totals).sum())
                known += len(counts)
    return wrong, known


@pytest.mark.parametrize("name", FACTS)
def test_a_count_that_is_known_is_the_same_in_every_table_with_these_facts(name):
    wrong, known = moved(FACTS[name])
    assert wrong == 0
    assert known > 0 or name in {"rounded up beside totals", "one size class ends at 1"}  # which leave no class known


def test_a_count_of_one_more_possible_number_would_be_noticed(monkeypatch):
    Mutant(known_counts, "_split", "np.flatnonzero(least == most)", "np.flatnonzero(least >= most - 1)").plant(monkeypatch)
    assert sum(moved(FACTS[name])[0] for name in FACTS) > 0
