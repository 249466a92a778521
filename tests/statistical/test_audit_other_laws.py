"""Draws of another law than the quote's are found, also where they break no guarantee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import discreet as dp
from discreet.audit import audit_quote
from discreet.cube import resample as resampling
from discreet.cube.cube import join, row_count
from discreet.cube.resample import _null_rows, _sample, impute
from discreet.domain.steps import Resize
from discreet.mechanisms import _runs
from discreet.noise.bits import Bits
from discreet.noise.single import exponential
from discreet.releases import evaluate

from .audited import ADDED, CHOSEN, FEW, FILLED, MANY, QUARTERS, REPLACED, audits, quick
from .planted_defects import DOUBLED, drawn_with


def wrong_side(stretches, target, node):
    """A candidate is off by the smaller of two numbers of records, so that codes far away win."""
    runs = WHOLE(stretches, target, node)
    wanted, ahead = target[stretches.owner], stretches.ahead
    loss = np.minimum(node.unit * ahead - wanted, wanted - node.unit * (ahead + stretches.heap))
    return replace(runs, loss=loss)


def without_the_heap(stretches, target, node):
    """The records at a candidate itself are left out of its loss."""
    runs = WHOLE(stretches, target, node)
    wanted = target[stretches.owner]
    return replace(runs, loss=np.abs(node.unit * stretches.ahead - wanted))


def imputed_per_copy(cube, axes, moments, *, drawing, rows, bits):
    """The copies of a record draw imputed values of their own."""
    if drawing is None:
        return impute(cube, axes, moments, bits)
    kept = _sample(cube, drawing, rows, bits)
    nulls = _null_rows(axes, moments, drawing.rows - row_count(kept))
    return impute(join([kept, nulls]), axes, moments, bits)


def never_drawn_again(bits, bound, size):
    """Uniform integers below a bound as the rest of some bits: those that are too large are not drawn again."""
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    return ((bits.words(size) >> shift) % np.uint64(bound)).astype(np.int64)


def first_of_the_gap(bounds, bits):
    """Of codes that are equally good always the first."""
    return np.zeros(len(bounds), dtype=np.int64)


def half_dropped(cube, resize, rows, bits):
    """Rows are dropped before they are copied, so that the copies of a row come and go together."""
    once = Resize(max(1, resize.rows // resize.copies), resize.proportion / resize.copies)
    kept = _sample(cube, once, rows, bits)
    return replace(kept, rows=kept.rows * resize.copies)


WHOLE = _runs._whole


BIASED = (Bits, "below_array", never_drawn_again)


PER_COPY = (evaluate, "resample", imputed_per_copy)


RESIZED = {
    "public": REPLACED.impute(FILLED).resize(60, proportion="0.6"),
    "private": ADDED.impute(FILLED).resize(30, proportion="0.5"),
    "copies": REPLACED.impute(FILLED).resize(150, proportion="1.5"),
    "private copies": ADDED.impute(FILLED).resize(30, proportion="1.5"),
}


OTHER_LAWS = {
    "the wrong side of a loss": drawn_with((_runs, "_whole", wrong_side), ADDED.agg(dp.median("v", **CHOSEN)), dp.PureDP(1)),
    "a loss without the heap": drawn_with(
        (_runs, "_whole", without_the_heap), REPLACED.agg(dp.quantiles("v", QUARTERS, **CHOSEN)), dp.ZCDP("0.5")
    ),
    "always the first code of a gap": drawn_with(
        (exponential, "below_each", first_of_the_gap), ADDED.agg(dp.median("v", **CHOSEN)), dp.PureDP(1)
    ),
    "imputed per copy, whole copies": drawn_with(PER_COPY, DOUBLED.group_by("g").agg(dp.count()), dp.PureDP(1)),
    "imputed per copy": drawn_with(PER_COPY, RESIZED["copies"].group_by("g").agg(dp.mean("v")), dp.ApproxDP(1, "1e-6")),
    "imputed per copy, a private number": drawn_with(
        PER_COPY, RESIZED["private copies"].agg(dp.median("v", interval=0)), dp.PureDP(1)
    ),
    "biased integers, a public sample": drawn_with(BIASED, RESIZED["public"].group_by("g").agg(dp.count()), dp.PureDP(1)),
    "biased integers, a private sample": drawn_with(BIASED, RESIZED["private"].group_by("g").agg(dp.count()), dp.PureDP(1)),
    "biased integers, copies": drawn_with(BIASED, RESIZED["copies"].group_by("g").agg(dp.count()), dp.ZCDP(1)),
    "biased integers, imputed values": drawn_with(
        BIASED, REPLACED.impute(FILLED).group_by("g").agg(dp.mean("v")), dp.ZCDP(1)
    ),
    "copies that come and go together": drawn_with(
        (resampling, "_sample", half_dropped),
        RESIZED["private copies"].group_by("g").agg(dp.count()),
        dp.PureDP(1),
    ),
}

FOUND_BEFORE = "imputed per copy", "biased integers, a public sample", "biased integers, copies"
"""Errors that other requests of the default run have too: left to the slow tests."""


@pytest.mark.slow
@pytest.mark.one_in(10)
@pytest.mark.parametrize("name", [name for name in quick(OTHER_LAWS) if name not in FOUND_BEFORE])
def test_draws_of_another_law_are_found(name, monkeypatch):
    defect = OTHER_LAWS[name](monkeypatch)
    found = next((one for one in audits(defect, FEW) if one.unlike), None)
    assert found is not None
    assert found.refuted


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", OTHER_LAWS)
def test_draws_of_another_law_are_found_by_a_million_runs(name, monkeypatch):
    defect = OTHER_LAWS[name](monkeypatch)
    assert audit_quote(defect.quote, runs=MANY, kernel=defect.kernel).unlike
