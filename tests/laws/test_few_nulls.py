"""Imputing few nulls one by one has the law of imputing them row by row: enumerated exactly, as rationals."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
import discreet.cube.resample as module
from discreet.cube.cube import Cube
from discreet.cube.resample import impute, resample
from discreet.domain.steps import facts_of
from discreet.engines.reference import ReferenceEngine
from discreet.noise.bits import system_bits
from discreet.plan.layout import drawing_of

from .test_cube_is_row_level import LAWS, NUMBER, TEXT, as_rows, enumerated, plan_of, row_level

DATA = [("x", None), (None, 1), ("x", None)]


def one_record_at_a_time(size, weights, bits):
    """Branches over the cell of every record, with the chances of a multinomial of one."""
    return np.argmax(module.multinomial_rows(np.ones(size, dtype=np.int64), weights, bits), axis=1)


def always_the_first(size, weights, bits):
    """The mutant that gives every record of a call the same cell."""
    return np.repeat(one_record_at_a_time(1, weights, bits), size)


def law_of_the_cube(plan, monkeypatch):
    (brought,) = plan.layout.scans
    cube = ReferenceEngine({"a": TEXT, "b": NUMBER}, DATA).aggregate(brought.axes, brought.moments)
    known = facts_of(plan.schema, plan.neighbours).rows

    def run():
        return as_rows(resample(cube, brought.axes, brought.moments, drawing=drawing_of(plan), rows=known, bits=None))

    return enumerated(run, monkeypatch)


# With 0 every record is drawn by itself, with 1 those of small cells; blocks of one record, or of many.
WAYS = [(0, 4_000_000), (0, 1), (1, 2)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("few", "block", "resize"), [*((*way, resize) for way in WAYS for resize in (None, (4, 1))), (1, 2, (2, "1/2"))]
)
def test_records_drawn_one_by_one_have_the_law_of_the_rows(few, block, resize, monkeypatch):
    monkeypatch.setattr(module, "_FEW", few)
    monkeypatch.setattr(module, "_BLOCK", block)
    monkeypatch.setattr(module, "categorical", one_record_at_a_time)
    plan = plan_of(dp.AddRemove() if resize == (2, "1/2") else dp.ReplaceOne(rows=3), resize)
    law = law_of_the_cube(plan, monkeypatch)
    assert sum(law.values()) == 1
    assert law == row_level(DATA, LAWS, plan)


def test_records_that_share_a_draw_would_be_noticed(monkeypatch):
    monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(module, "categorical", always_the_first)
    plan = plan_of(dp.ReplaceOne(rows=3), None)
    assert law_of_the_cube(plan, monkeypatch) != row_level(DATA, LAWS, plan)


@pytest.mark.parametrize("few", [0, 4, 10**9])
def test_sums_get_every_null_exactly_once(few, monkeypatch):
    """A law of one code, in cells without nulls, with few and with many: what is added is known."""
    monkeypatch.setattr(module, "_FEW", few)
    monkeypatch.setattr(module, "_BLOCK", 50)
    top = 99
    for kind in (np.int64, np.object_):  # Python integers where another column of the cube is wide
        schema = dp.Schema(g=dp.Category(["x", "y", "z"]), v=dp.Number(0, top))
        table = dp.Table(schema, dp.AddRemove()).impute({"v": dp.Uniform(top, top)})
        (brought,) = table.group_by("g").agg(dp.sum("v")).layout.scans
        nulls = np.array([0, 3, 500])
        cube = Cube(np.arange(3).reshape(3, 1), nulls + 7, np.full((3, 1), 7), np.array([[5], [6], [7]], kind))
        full = impute(cube, brought.axes, brought.moments, system_bits())
        assert full.nonnull[:, 0].tolist() == full.rows.tolist() == [7, 10, 507]
        assert full.sums.dtype == kind
        assert full.sums[:, 0].tolist() == [5 + k + nulls[k] * top for k in range(3)]
