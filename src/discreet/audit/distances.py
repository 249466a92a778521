"""How far apart answers are, in the measure of their noise, and the pairs that are the furthest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from discreet.audit.draws import prepare_audit
from discreet.quotes.quote import Quote

__all__ = ["distances_of", "furthest_of"]

_MOST_DENSE = 2000


def distances_of(quote: Quote, vectors: Sequence[Sequence[NDArray[Any]]]) -> NDArray[np.float64]:
    """For each measured query the distance of each pair of vectors, in the measure of its noise."""
    found = []
    for place, one in enumerate(quote.measured):
        matrix = _matrix([vector[place] for vector in vectors])
        squared = prepare_audit(one).squared
        metric = "sqeuclidean" if squared else "cityblock"
        found.append(cdist(matrix, matrix, metric) / max(one.law.variance(), 1e-300) ** (1.0 if squared else 0.5))
    return np.stack(found)


def _matrix(vectors: list[NDArray[Any]]) -> NDArray[np.float64]:
    """The vectors as rows; of long ones only the places where some is not 0."""
    if len(vectors[0]) <= _MOST_DENSE:
        return np.stack([vector.astype(np.float64) for vector in vectors])
    places = np.unique(np.concatenate([np.flatnonzero(vector) for vector in vectors]))
    places = places if len(places) else np.zeros(1, dtype=np.int64)
    return np.stack([vector[places].astype(np.float64) for vector in vectors])


def furthest_of(spread: NDArray[np.float64], allowed: NDArray[np.bool_], null: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Places of the pairs: furthest over all queries, over each of them, and of a null against a value."""
    found = []

    def take(values: NDArray[np.float64]) -> None:
        place = int(np.argmax(np.where(allowed, values, -1.0)))
        one, other = np.unravel_index(place, values.shape)
        if values[one, other] > 0:
            found.append((int(one), int(other)))

    together = spread.sum(axis=0)
    take(together)
    for each in spread:
        if not found or each[found[0]] < each[allowed].max():
            take(each)
    take(np.where(null[:, None] ^ null[None, :], together, -1.0))
    return list(dict.fromkeys(found))
