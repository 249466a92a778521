"""One number for each output, large where the first data set is the more likely one.

* loss: the logarithm of the likelihood ratio of the declared noise, the best statistic where the noise is as declared.
* linear: the output along the difference of the answers, which sees what the declared law hides, such as other tails.
* beside: the part of the output that the noise of the first data set was never seen to move. It
  recognises outputs that only one of the data sets can have.

Any function of the output is a valid statistic: the choice here decides how much is found, never whether it is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.audit.draws import prepare_audit
from discreet.quotes.quote import Measured

__all__ = ["Statistic", "constant_statistics", "drawn_statistics"]

_Floats = NDArray[np.float64]

Statistic = tuple[str, Callable[[_Floats], _Floats]]
"""A name, and the function of noisy answers, shape (runs, cells), that gives one number for each run."""

_MOST_CELLS = 300
_PILOTS = 4000


def constant_statistics(
    measured: Sequence[Measured], widths: Sequence[int], answers: tuple[_Floats, _Floats], pilot: _Floats
) -> list[Statistic]:
    """The statistics for data sets whose exact answers are the same in every run.

    Args:
        measured: the queries, with their declared noises.
        widths: how many cells of each query are looked at.
        answers: the exact answers of both data sets, side by side.
        pilot: some noisy answers of the first.
    """
    centre, move = answers[0], answers[1] - answers[0]
    found: list[Statistic] = [("linear", _linear(centre, move * _weights(measured, widths)))]
    if any(known.loss and not known.squared for known in map(prepare_audit, measured)) and np.count_nonzero(move) > 0:
        found.append(("loss", _loss(measured, widths, centre, move)))
    rest = _find_unmoved(pilot[:_PILOTS] - centre, move)
    return found if rest is None else [*found, ("beside", _linear(centre, rest))]


def drawn_statistics(
    measured: Sequence[Measured],
    widths: Sequence[int],
    typical: _Floats,
    hint: _Floats | None,
    pilots: tuple[_Floats, _Floats],
) -> list[Statistic]:
    """The statistics for data sets that are resampled or imputed anew in every run.

    Args:
        measured: the queries, with their declared noises.
        widths: how many cells of each query are looked at.
        typical: what the exact answers of the first data set often are.
        hint: by how much a row should change the answers, if it is known.
        pilots: some noisy answers of both.
    """
    centre = pilots[0].mean(axis=0)
    weights = _weights(measured, widths)
    found: list[Statistic] = [("mean", _linear(centre, (pilots[1].mean(axis=0) - centre) * weights))]
    if hint is None:
        return found
    return [*found, ("linear", _linear(centre, hint * weights)), ("loss", _loss(measured, widths, typical, hint))]


def _linear(centre: _Floats, direction: _Floats) -> Callable[[_Floats], _Floats]:
    places = np.flatnonzero(direction)
    return lambda outputs: -((outputs[:, places] - centre[places]) @ direction[places])


def _loss(
    measured: Sequence[Measured], widths: Sequence[int], centre: _Floats, move: _Floats
) -> Callable[[_Floats], _Floats]:
    """The sum of the losses of the noises whose law is known, over the cells that move."""
    known, end = [], 0
    for one, width in zip(measured, widths, strict=True):
        places, loss = end + np.flatnonzero(move[end : end + width]), prepare_audit(one).loss
        end += width
        if loss is not None:
            known.append((places, loss))

    def value(outputs: _Floats) -> _Floats:
        total = np.zeros(len(outputs))
        for places, loss in known:
            total += loss(outputs[:, places] - centre[places], move[places])
        return total

    return value


def _find_unmoved(noise: _Floats, move: _Floats) -> _Floats | None:
    """The part of the difference that no noise of the pilot has moved; None where there is next to none."""
    if noise.shape[1] > _MOST_CELLS or not np.isfinite(noise).all():
        return None
    _, values, basis = np.linalg.svd(noise, full_matrices=False)
    span = basis[values > 1e-9 * max(float(values.max(initial=0.0)), 1.0)]
    rest: _Floats = move - span.T @ (span @ move)
    return rest if np.linalg.norm(rest) > 1e-6 * np.linalg.norm(move) else None


def _weights(measured: Sequence[Measured], widths: Sequence[int]) -> _Floats:
    """The inverse variance of the noise in each cell."""
    each = [1 / max(one.law.variance(), 1e-300) for one in measured]
    return np.repeat(np.array(each), widths)
