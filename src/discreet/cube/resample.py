"""Impute, copy, sample and fill, drawn on the cube: the same law as row by row, at the cost of the cells.

Imputed values are independent of the data, so the number of imputed records per value is multinomial given the number of
nulls; sampling a fixed number is multivariate hypergeometric given the counts, Poisson sampling is binomial. Order of the
steps (soundness 1 and 2): impute, then copy (the copies of a record share its imputed value), then sample, then fill with
all-null rows sent through the same imputations with fresh draws (docs/proofs/cube.md, Q1). Nothing but the cube leaves this
module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cube.cube import Cube, compact, join, row_count, sum_dtype
from discreet.cube.value_paths import KeyAxis, Moment, axis_law
from discreet.domain.codes import NULL
from discreet.domain.row_samples import SampleEach, SampleRows, dyadic_below
from discreet.domain.steps import Resize, RowDraw
from discreet.errors import InternalError
from discreet.noise.bits import Bits
from discreet.noise.counts.counts import binomial, categorical, multinomial_rows, multivariate_hypergeometric

__all__ = ["impute", "resample"]

_BLOCK = 4_000_000  # numbers drawn at once when cells are split, to keep memory flat
_FEW = 4  # records that cost about as much one by one as this many codes of a cell counted


def resample(
    cube: Cube,
    axes: Sequence[KeyAxis],
    moments: Sequence[Moment],
    *,
    drawing: RowDraw | None,
    rows: int | None,
    bits: Bits,
) -> Cube:
    """The cube of the prepared table: every mark replaced by a draw, and rows drawn as the step says that draws them.

    Args:
        cube: the engine's answer for these axes and moments.
        axes: the keys of the cube.
        moments: the value columns of the cube; only where no key is imputed and the number of copies is constant.
        drawing: the one resize, after which there are exactly `drawing.rows` rows, or the one sample, or None.
        rows: the public number of rows of the source under ReplaceOne, None under AddRemove.
        bits: where the randomness comes from.
    """
    full = impute(cube, axes, moments, bits)
    if drawing is None:
        return full
    if not isinstance(drawing, Resize):
        return compact(_joint(full, _keep_sampled(full.rows, drawing, bits)))
    kept = _sample(full, drawing, rows, bits)
    filled = drawing.rows - row_count(kept)
    fresh = impute(_null_rows(axes, moments, filled), axes, moments, bits)
    return join([kept, fresh])


def impute(cube: Cube, axes: Sequence[KeyAxis], moments: Sequence[Moment], bits: Bits) -> Cube:
    """The same rows with every mark `mark_imputed(j)` replaced by an independent draw from law j of its path."""
    for position, axis in enumerate(axes):
        for source in range(len(axis.path.laws)):
            cube = _split(cube, position, -2 - source, axis_law(axis, source), bits)
    for position, moment in enumerate(moments):
        if moment.path.drawn:
            cube = _complete(cube, position, moment, bits)
    return compact(cube)


def _split(cube: Cube, position: int, mark: int, law: tuple[NDArray[np.int64], NDArray[np.int64]], bits: Bits) -> Cube:
    """Cells with `mark` on one axis become one cell for each label drawn."""
    marked = np.flatnonzero(cube.keys[:, position] == mark)
    if not len(marked):
        return cube
    if cube.nonnull.shape[1]:
        raise InternalError("an imputed key together with a column of sums: the split of the sum is not determined")
    labels, weights = law
    untouched = np.flatnonzero(cube.keys[:, position] != mark)
    keys, rows = [cube.keys[untouched]], [cube.rows[untouched]]
    for where, which, numbers in _multinomial(cube.rows[marked], weights.tolist(), bits):
        split = cube.keys[marked[where]]
        split[:, position] = labels[which]
        keys.append(split)
        rows.append(numbers)
    count = sum(map(len, rows))
    return Cube(np.concatenate(keys), np.concatenate(rows), np.zeros((count, 0), np.int64), np.zeros((count, 0), np.int64))


def _complete(cube: Cube, position: int, moment: Moment, bits: Bits) -> Cube:
    """The nulls of one value column become draws: the sum grows by theirs, no value is null any more."""
    law = moment.path.laws[0]
    drawn_codes = np.flatnonzero(law)
    # Exact integers of a type that cannot overflow: at most ROW_LIMIT draws, each of at most the column's width.
    offsets: NDArray[Any] = drawn_codes.astype(sum_dtype([moment.path.high - moment.path.low]))
    nulls = cube.rows - cube.nonnull[:, position]
    sums = cube.sums.copy()
    for where, which, numbers in _multinomial(nulls, law[drawn_codes].tolist(), bits):
        np.add.at(sums[:, position], where, offsets[which] * numbers)
    nonnull = cube.nonnull.copy()
    nonnull[:, position] = cube.rows
    return Cube(cube.keys, cube.rows, nonnull, sums)


Drawn = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def _multinomial(records: NDArray[np.int64], weights: list[int], bits: Bits) -> Iterator[Drawn]:
    """Every cell's records distributed over the codes, in parts: places of cells, codes, and how many records.

    Cells with few records draw them one by one, the others the numbers of all codes. Both have the multinomial law, so
    which way a cell goes shows in nothing but the time, which never costs more than the records and the codes together.
    """
    few = records * _FEW < len(weights)
    yield from _one_by_one(np.flatnonzero(few), records, weights, bits)
    cells = np.flatnonzero(~few)
    block = max(1, _BLOCK // len(weights))
    for start in range(0, len(cells), block):
        some = cells[start : start + block]
        numbers = multinomial_rows(records[some], weights, bits)
        where, which = np.nonzero(numbers)
        yield some[where], which, numbers[where, which]


def _one_by_one(cells: NDArray[np.int64], records: NDArray[np.int64], weights: list[int], bits: Bits) -> Iterator[Drawn]:
    ends = np.cumsum(records[cells])
    start = 0
    while start < len(cells):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        where = np.repeat(cells[start:stop], records[cells[start:stop]])
        if len(where):
            yield where, categorical(len(where), weights, bits), np.ones(len(where), dtype=np.int64)
        start = stop


def _keep_sampled(rows: NDArray[np.int64], sample: SampleEach | SampleRows, bits: Bits) -> NDArray[np.int64]:
    """The number of rows of each cell that are in the sample (docs/proofs/samples.md, W5)."""
    if isinstance(sample, SampleEach):
        return binomial(rows, dyadic_below(sample.rate), bits)
    return multivariate_hypergeometric(rows, min(sample.rows, int(rows.sum())), bits)


def _joint(cube: Cube, kept: NDArray[np.int64]) -> Cube:
    """The cells with as many rows as are kept.

    Raises:
        InternalError: the cube has columns of sums, which do not say what the kept rows add up to.
    """
    if cube.nonnull.shape[1]:
        raise InternalError("sampling needs the joint cube, without columns of sums")
    return Cube(cube.keys, kept, cube.nonnull, cube.sums)


def _sample(cube: Cube, resize: Resize, rows: int | None, bits: Bits) -> Cube:
    """As many copies of every record as the resize says, sampled to at most `resize.rows`."""
    copies = resize.copies
    copied = cube.rows * copies
    if rows is not None:
        sample = min(resize.proportion.numerator * rows // resize.proportion.denominator, resize.rows)
        if sample == copies * rows:
            # Every copy is kept: constant K, the one case in which sums can be carried along (soundness 1).
            return Cube(cube.keys, copied, cube.nonnull * copies, cube.sums * copies)
        kept = multivariate_hypergeometric(copied, sample, bits)
    else:
        kept = binomial(copied, dyadic_below(resize.rate), bits)
        over = int(kept.sum()) - resize.rows
        if over > 0:
            kept = multivariate_hypergeometric(kept, resize.rows, bits)
    return _joint(cube, kept)


def _null_rows(axes: Sequence[KeyAxis], moments: Sequence[Moment], count: int) -> Cube:
    widths = [moment.path.high - moment.path.low for moment in moments]
    keys = np.array([[axis.path.null_target for axis in axes]], dtype=np.int64).reshape(1, len(axes))
    if any(key == NULL and not axis.path.laws for key, axis in zip(keys[0], axes, strict=True)):
        raise InternalError("a column without imputation law cannot fill rows")
    return Cube(
        keys,
        np.array([count], dtype=np.int64),
        np.zeros((1, len(moments)), dtype=np.int64),
        np.zeros((1, len(moments)), dtype=sum_dtype(widths)),
    )
