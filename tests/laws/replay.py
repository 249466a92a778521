"""Releases that are recorded with one table and replayed with another."""

from __future__ import annotations

import hashlib
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet.cube.cube import Cube, compact, sum_dtype
from discreet.cube.scans import Scan
from discreet.cube.value_paths import KeyAxis
from discreet.domain.codes import NULL
from discreet.domain.steps import CategoryFacts, facts_of
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.mechanisms.registry import NOISES
from discreet.noise.bits import Bits
from discreet.plan.plan import resize_of, table_facts, used_columns
from discreet.releases import evaluate
from discreet.releases.assemble import estimate_statistics, frames

LIBRARY = str(Path(dp.__file__).parent)


SPENDS = [dp.PureDP("0.5"), dp.ApproxDP("0.5", "1e-6"), dp.ZCDP("0.1"), dp.GDP(1)]


@dataclass(frozen=True, eq=False)
class Kernel:
    """From a table after resampling to noisy integers: what a release does, or what a planted error does instead."""

    exact: Callable = evaluate.exact_answers
    noisy: Callable = evaluate.noisy_answers


@dataclass(frozen=True)
class Recorded:
    """One run: laws and lengths of the noises, bytes that were asked for, lines, dtypes and lengths of the results."""

    noises: tuple
    reads: tuple
    lines: tuple
    shapes: tuple


def replayed_bits(reads: list[int]) -> Bits:
    """Always the same stream; every request is written down."""

    def read(count: int) -> bytes:
        reads.append(count)
        return hashlib.shake_128(b"replay" + len(reads).to_bytes(8, "big")).digest(count)

    return Bits(read)


def run(quoted, table: Sequence[Cube], kernel: Kernel):
    """What was recorded, and the exact and the noisy answers."""
    noises, reads, lines = [], [], []
    real_noises, real_resample = {kind: kind.apply for kind in NOISES}, evaluate.resample
    resampled = iter(table)

    def apply(noise, values, bits):
        noises.append((noise, len(values), values.dtype))
        return real_noises[type(noise)](noise, values, bits)

    def trace(frame, event, _argument):
        if not frame.f_code.co_filename.startswith(LIBRARY):
            return None
        if event == "line":
            lines.append((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    for kind in NOISES:
        kind.apply = apply
    evaluate.resample = lambda *_, **__: next(resampled)
    sys.settrace(trace)
    try:
        bits = replayed_bits(reads)
        exact = kernel.exact(quoted, scanned(quoted.plan), bits)
        noisy = kernel.noisy(quoted, exact, bits)
    finally:
        sys.settrace(before)
        evaluate.resample = real_resample
        for kind, real in real_noises.items():
            kind.apply = real
    shapes = [(one.dtype, one.shape) for one in [*exact, *noisy]]
    return Recorded(tuple(noises), tuple(reads), tuple(lines), tuple(shapes)), exact, noisy


def published_shapes(quoted, noisy) -> list[tuple]:
    """Names and lengths of all columns of a release, which waits until the totals beside it are published."""
    if quoted.beside is not None and quoted.beside.totals is None:
        return []
    columns = [*estimate_statistics(quoted, noisy), *(frame.counts for frame in frames(quoted, noisy))]
    return [(one.name, *map(len, (one.estimate.value, one.estimate.low, one.estimate.high))) for one in columns]


def scanned(plan) -> list[Cube]:
    """Cubes with the declared number of rows, which stand for the source; their rows are not read."""
    rows = np.array([facts_of(plan.schema, plan.neighbours).rows or 0])
    shapes = [(np.zeros((1, len(part.axes)), int), np.zeros((1, len(part.moments)), int)) for part in plan.layout.scans]
    return [Cube(keys, rows, sums, sums) for keys, sums in shapes]


def assert_replayed(quoted, tables: Sequence[Sequence[Cube]], moved: int, kernel: Kernel | None = None) -> Recorded:
    """The second table is answered as the first was; `moved` rows differ, or all that the totals leave free.

    Raises:
        AssertionError: something depends on the table, or moves further than is declared.
    """
    kernel = Kernel() if kernel is None else kernel
    run(quoted, tables[0], kernel)  # tables of noise that are built once are built here
    (first, exact, noisy), (second, other, others) = (run(quoted, table, kernel) for table in tables)
    assert first.noises == second.noises
    assert [law for law, _, _ in first.noises] == [one.law for one in quoted.measured]
    assert first.reads == second.reads
    assert first.lines == second.lines
    assert first.shapes == second.shapes
    assert published_shapes(quoted, noisy) == published_shapes(quoted, others)
    for values, noised, others_values, others_noised in zip(exact, noisy, other, others, strict=True):
        assert (noised - values == others_noised - others_values).all()
    differences = [left.astype(object) - right.astype(object) for left, right in zip(exact, other, strict=True)]
    assert_near(quoted, differences, moved)
    return first


def assert_near(quoted, differences, moved: int):
    """Of each query alone, and of all together in the measure of the noise."""
    alone = quoted.beside is not None and resize_of(quoted.plan) is None
    times, loss, most = 1 if alone else moved, Fraction(0), Fraction(0)
    for one, difference in zip(quoted.measured, differences, strict=True):
        l1, l2_squared = sum(abs(difference), start=0), sum(difference * difference, start=0)
        assert l1 <= times * one.sensitivity.l1
        assert l2_squared <= times**2 * one.sensitivity.l2_squared
        match one.law, one.guarantee:
            case LaplaceNoise(scale=scale), dp.PureDP(epsilon=epsilon):
                loss, most = loss + l1 / scale, most + times * epsilon
            case GaussianNoise(sigma2=sigma2), dp.ZCDP(rho=rho):
                loss, most = loss + l2_squared / sigma2, most + times**2 * 2 * rho
            case GaussianNoise(sigma2=sigma2), dp.GDP(mu=mu):
                loss, most = loss + l2_squared / sigma2, most + times**2 * mu**2
    assert loss <= quoted.joint * most


def codes_of(facts, name: str) -> list[int | None]:
    """What a row can have in one column once it is imputed: codes, and null where it stays null."""
    known = facts[name]
    codes = known.kept if isinstance(known, CategoryFacts) else range(known.low, known.high + 1)
    return [*codes, *([None] if known.nullable else [])]


def cubes_of(plan, rows: Sequence[dict]) -> list[Cube]:
    """The cubes of such rows, as an engine would count them."""
    return [cube_of(part, rows) for part in plan.layout.scans]


def cube_of(part: Scan, rows: Sequence[dict]) -> Cube:
    keys = [[label(axis, row[axis.name]) for axis in part.axes] for row in rows]
    values = [[row[moment.name] for moment in part.moments] for row in rows]
    lows = [moment.path.low for moment in part.moments]
    above = [[0 if v is None else v - low for v, low in zip(one, lows, strict=True)] for one in values]
    widths = [moment.path.high - moment.path.low for moment in part.moments]
    shape = (len(rows), len(part.moments))
    return compact(
        Cube(
            np.array(keys, dtype=np.int64).reshape(len(rows), len(part.axes)),
            np.ones(len(rows), dtype=np.int64),
            np.array([[value is not None for value in one] for one in values], dtype=np.int64).reshape(shape),
            np.array(above, dtype=sum_dtype(widths)).reshape(shape),
        )
    )


def label(axis: KeyAxis, code: int | None) -> int:
    if code is None:
        return NULL
    return code if axis.cuts is None else bisect_right(axis.cuts, code)


def extreme_rows(plan) -> list[dict]:
    """Rows at the ends: in the first or the last cell, with the least or the greatest value."""
    facts = table_facts(plan.schema, plan.neighbours, plan.steps)
    ends = {name: [code for code in codes_of(facts, name) if code is not None] for name in used_columns(plan)}
    summed = [moment.name for part in plan.layout.scans for moment in part.moments]
    rows = [
        {name: codes[of if name in summed else cell] for name, codes in ends.items()}
        for cell, of in product((0, -1), (0, -1))
    ]
    return [row for place, row in enumerate(rows) if row not in rows[:place]]


def assert_noticed(quoted, tables, moved=1, kernel=None):
    with pytest.raises(AssertionError):
        assert_replayed(quoted, tables, moved, kernel)
