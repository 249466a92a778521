"""The scheme of rows: a program that follows its page word by word gives the same, here and on every machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.laws.mutants import Mutant

import discreet as dp
from discreet.releases.rows import exchanges, fit
from discreet.releases.rows.fit import sweep_rows
from discreet.releases.rows.law import IMPOSSIBLE, Law, exponentials
from discreet.releases.rows.model import PARTS, Listed, Root, Start, Target, Targets
from discreet.releases.rows.start import start_rows
from discreet.releases.rows.words import Words, words_of

from . import literal


def root(name, axis, alone, *further):
    """A root with its own axis, and further ones, each with a level for each of its levels."""
    own = np.arange(len(alone))
    return Root(
        name,
        (axis, *(other for other, _ in further)),
        np.stack([own, *(np.array(codes) for _, codes in further)], axis=1),
        PARTS * np.array(alone),
    )


def table(axes, counts, weights):
    counts = np.array(counts)
    return Target(axes, PARTS * counts, np.broadcast_to(np.array(weights), counts.shape).astype(np.int64))


MADE = Targets(
    roots=(
        root("a", 0, [20, 10, 30], (4, [0, 0, 1])),
        root("b", 1, [35, 25]),
        root("c", 2, [15, 17, 14, 14]),
        root("d", 3, [60]),
    ),
    sizes=(3, 2, 4, 1, 2),
    rows=60,
    tables=(
        table((0, 1), [[20, 0], [5, 5], [10, 20]], 4095),
        table((2, 0), [[12, 0, 3], [0, 5, 12], [1, 4, 9], [7, 1, 6]], [[8000, 2000, 2000]]),
        table((1, 2, 3), np.arange(8).reshape(2, 4, 1), 17),
        table((4, 2), [[8, 9, 7, 6], [7, 8, 7, 8]], 900),
        table((3, 2), [[15, 17, 14, 14]], 0),
    ),
    lists=(Listed((1,), np.array([35, 25]), "b"),),
    voids=(),
    unit=Fraction(1, 9000),
)
APART = (Listed((1,), np.array([35, 25]), "b"), Listed((2,), np.array([15, 17, 14, 14]), "c"))
PART = (Listed((4, 1), np.array([[10, 20], [25, 5]]), "part of a, b"),)
PARTS_APART = (Listed((4,), np.array([30, 30]), "part of a"), Listed((1,), np.array([35, 25]), "b"))
OVERLAP = (
    Listed((0, 1), np.array([[20, 0], [5, 5], [10, 20]]), "a, b"),
    Listed((1, 2), np.array([[10, 5, 10, 10], [5, 12, 4, 4]]), "b, c"),
)
CASES = {
    "one list": MADE,
    "no list": replace(MADE, lists=()),
    "apart": replace(MADE, lists=APART),
    "of a part": replace(MADE, lists=PART),
    "a part apart": replace(MADE, lists=PARTS_APART),
    "overlapping": replace(MADE, lists=OVERLAP),
    "for several": replace(MADE, lists=APART, each=4),
}
SHORT = ((Fraction(1, 2), 3, 1), (Fraction(40), 7, 1))


def fitted(targets=MADE, digest="digest"):
    words = words_of(digest)
    start = start_rows(targets, words)
    return Start(sweep_rows(targets, start, words, lambda done, every: None), start.each)


def test_the_rows_of_a_digest_are_those_that_they_have_always_been():
    """Integers only: no machine and no version of NumPy may give others. Another number needs another name of the scheme."""
    found = {name: fitted(case) for name, case in CASES.items()}
    digests = {name: hashlib.sha256(one.rows.astype("<i8").tobytes()).hexdigest()[:16] for name, one in found.items()}
    assert digests == GOLDEN


GOLDEN = {
    "one list": "23d03f39ea21228d",
    "no list": "50b79d03f9e2aeeb",
    "apart": "8c108044a644c224",
    "of a part": "8bf2e38f5f386b66",
    "a part apart": "726329a06bf59cd6",
    "overlapping": "c39cc5a06debbfcd",
    "for several": "5d584f3d783132fe",
}


FROZEN = Path(__file__).with_name("frozen")
"""Documents of made-up households, of sizes up to "4+", and of their persons, with totals in areas or with crossing ones."""


def digests_together(persons):
    """The digests of the rows of households and of persons that two frozen documents give."""
    both = (dp.Release((FROZEN / f"{name}.json").read_bytes()) for name in ("homes", persons))
    found = dp.fit_households(*both, size="size", largest=6)
    rows = (json.dumps(one.frame.rows()) for one in (found.homes, found.persons))
    return tuple(hashlib.sha256(one.encode()).hexdigest()[:16] for one in rows)


@pytest.mark.parametrize("persons", ["persons", "crossing"])
def test_households_and_persons_of_two_documents_are_those_that_they_have_always_been(persons):
    """As above: what is frozen changes only with the name of the scheme."""
    assert digests_together(persons) == GOLDEN_TOGETHER[persons]


GOLDEN_TOGETHER = {
    "persons": ("54a26a83f3c3a0d5", "a334ff783a96cd09"),
    "crossing": ("5927e0bbbc687aad", "f4916ea47c29f078"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_sweeps_are_those_of_the_literal_scheme(case, monkeypatch):
    monkeypatch.setattr(fit, "_STAGES", SHORT)
    made = fitted(CASES[case])
    rows, each = literal.rows_of(CASES[case], "digest", SHORT)
    assert made.each.tolist() == each
    assert made.rows.tolist() == rows


MUTANTS = {
    "the row itself is there": (fit, "_some_costs", "costs[np.arange(len(chunk)), old] -= own", "costs[:, 0] -= 0 * own"),
    "another level of a part": (
        fit,
        "_some_costs",
        "part.own[old][:, None] == part.own",
        "old[:, None] == np.arange(len(part.own))",
    ),
    "gained for lost": (exchanges, "_cost", "state.costs[new] - state.costs[old]", "state.costs[old] - state.costs[new]"),
    "both in the same cells": (exchanges, "_cost", "(here != there) & ", ""),
    "pairs that agree in nothing": (exchanges, "paired", "for axis in axes:", "for axis in ():"),
}
WHERE = {"another level of a part": "of a part", "pairs that agree in nothing": "overlapping"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("planted", MUTANTS)
def test_another_scheme_is_noticed(planted, monkeypatch):
    monkeypatch.setattr(fit, "_STAGES", SHORT)
    Mutant(*MUTANTS[planted]).plant(monkeypatch)
    monkeypatch.setattr(fit, "paired", exchanges.paired)
    case = WHERE.get(planted, "apart")
    assert fitted(CASES[case]).rows.tolist() != literal.rows_of(CASES[case], "digest", SHORT)[0]


def test_values_are_chosen_with_their_weights():
    """All 32 bits in equal steps: each value is chosen as often as its weight says."""

    class Steps(Words):
        def draw(self, many):
            return (np.arange(many, dtype=np.int64) << 32) // many

    weights = np.array([3, 0, 5, 2, 0])
    chosen = Steps(None).choose(np.broadcast_to(np.cumsum(weights), (1000, 5)))
    found = np.bincount(chosen, minlength=5)
    assert np.abs(found - 100 * weights).max() <= 1
    assert found[[1, 4]].sum() == 0
    assert np.abs(np.bincount(Steps(None).below(np.full(1000, 5))) - 200).max() <= 1
    assert Steps(None).below(np.array([1 << 52, 1 << 52])).tolist() == [0, 1 << 51]


def test_columns_of_many_levels_have_weights_that_fit():
    law = Law(np.array([0, 1]), exponentials())
    for size in (2, 127, 128, 5000):
        assert 0 < law.cumulated(np.zeros((1, size), dtype=np.int64), np.ones(1, int))[0, -1] < 1 << 31


def test_what_is_impossible_has_no_weight_whatever_the_rest_costs():
    law = Law(np.array([0, 1]), exponentials())
    assert exponentials()[-1] == 0
    costs = np.array([[0, IMPOSSIBLE - (1 << 57)], [15 * IMPOSSIBLE, 7 * IMPOSSIBLE]])
    assert law.cumulated(costs, np.ones(2, int))[:, 0].tolist() == [1 << 24, 0]


ROOT = Path(__file__).resolve().parents[4]
PROGRAM = """
import hashlib
from tests.unit.releases.rows.test_scheme import CASES, digests_together, fitted
made = fitted(CASES["apart"])
print(hashlib.sha256(made.rows.astype("<i8").tobytes()).hexdigest()[:16], *digests_together("persons"))
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("threads", ["2", "1"])
def test_neither_features_of_a_processor_nor_threads_change_rows(threads):
    """Without the vector instructions that NumPy would choose on this machine."""
    features = np._core._multiarray_umath.__cpu_features__
    chosen = [one for one in np._core._multiarray_umath.__cpu_dispatch__ if features.get(one)]
    env = {
        **os.environ,
        "NPY_DISABLE_CPU_FEATURES": " ".join(chosen),
        "OMP_NUM_THREADS": threads,
        "POLARS_MAX_THREADS": threads,
    }
    program = [sys.executable, "-c", PROGRAM]
    shown = subprocess.run(program, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert shown.stdout.split() == [GOLDEN["apart"], *GOLDEN_TOGETHER["persons"]], shown.stderr
