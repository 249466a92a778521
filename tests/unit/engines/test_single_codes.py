"""Bins of one code each are numbered without looking for the cut: the cube is that of the reference all the same."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from discreet.audit.engines.conformance import first_difference
from discreet.domain.columns import Number
from discreet.domain.groups import bins
from discreet.domain.neighbours import AddRemove
from discreet.domain.schema import Schema
from discreet.engines import open_source
from discreet.engines.reference import ReferenceEngine
from discreet.plan.table import Table
from discreet.statistics import count

SCHEMA = Schema(age=Number(-3, 40))
ROWS = pl.DataFrame({"age": [*range(-9, 50), None, None]})


@pytest.mark.parametrize(
    "edges", [range(-3, 41), range(2, 9), range(-3, 3), [0, 1, 2, 3, 5, 6], range(0, 40, 5), [7, 8], range(30, 41)], ids=str
)
def test_bins_of_single_codes_have_the_cube_of_the_reference(edges: Sequence[int]) -> None:
    part = Table(SCHEMA, AddRemove()).group_by(bins("age", edges)).agg(count()).layout.scans[0]
    engine = open_source(ROWS, SCHEMA)
    found = engine.aggregate(part.axes, part.moments)
    assert first_difference(ReferenceEngine(engine.header, ROWS.rows()).aggregate(part.axes, part.moments), found) is None
