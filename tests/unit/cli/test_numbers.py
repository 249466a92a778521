"""The first rows of a release on a terminal."""

from __future__ import annotations

import polars as pl

from discreet.cli.numbers import number_grid

COUNTS = {"count": [1, 2], "count_low": [0, 1], "count_high": [2, 3]}


def test_a_long_label_is_cut_so_that_the_numbers_stay_in_sight() -> None:
    (grid,) = number_grid(pl.DataFrame({"k": ["L" * 200, "s" * 60], **COUNTS}), words={"count": "C" * 200})
    assert [row[0] for row in grid.rows] == ["L" * 59 + "…", "s" * 60]
    assert grid.header == ["k", "C" * 59 + "…"]
    assert grid.right == {"C" * 59 + "…"}


def test_an_unbounded_interval_is_said_to_be_one() -> None:
    (grid,) = number_grid(pl.DataFrame({"x": [None, 2.0], "x_low": [None, 1.0], "x_high": [None, 3.0]}))
    assert [row[0] for row in grid.rows] == ["unbounded", "2.0 (1.0 – 3.0)"]
