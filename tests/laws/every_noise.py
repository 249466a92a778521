"""What must hold of every noise, worked out from its law alone: its guarantee, its half-widths, its words, its draws.

A noise that is defined in a test is held to the same (`test_a_mechanism_of_ones_own`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from discreet.mechanisms import Noise, noise_text
from discreet.noise import Law
from discreet.noise.bits import system_bits
from discreet.pages.report.appendix import laws_of, noises_of
from discreet.privacy import GDP, ZCDP, PureDP

Measure = PureDP | ZCDP | GDP

_ORDERS = (1.5, 2.0, 4.0, 16.0)
_FAR = Fraction(1, 10**12)
_ROUNDING = 1e-9


def guarantees(law: Law, shift: int, measure: Measure) -> bool:
    """Whether noise of this law hides a change of one cell by `shift` as the measure says, point by point."""
    reach = 2 * law.half_width(1 - _FAR) + 17 * shift
    p = np.array([law.pmf(k)[0] for k in range(-reach, reach + 1)])
    p, q = p[shift:], p[: len(p) - shift]
    seen = (p > 1e-290) & (q > 1e-290)
    p, q = p[seen], q[seen]
    match measure:
        case PureDP(epsilon=epsilon):
            return bool(np.abs(np.log(p / q)).max() <= float(epsilon) * (1 + _ROUNDING))
        case ZCDP(rho=rho):
            logs = [(order, order * np.log(p) + (1 - order) * np.log(q)) for order in _ORDERS]
            divergences = [(order, np.logaddexp.reduce(terms) / (order - 1)) for order, terms in logs]
            return all(found <= float(rho) * order * (1 + _ROUNDING) + _ROUNDING for order, found in divergences)
        case GDP():
            at = [Fraction(n, 4) for n in range(1, 12)]
            deltas = [(one, np.maximum(p - np.exp(float(one)) * q, 0.0).sum()) for one in at]
            return all(delta <= measure.delta_at(one) + _ROUNDING for one, delta in deltas)


def assert_half_widths(noise: Noise, cells: np.ndarray, chances: np.ndarray, excess: int = 2) -> None:
    """They cover, and none is `excess` too wide; `cells` are vectors of noise, shape (points, cells), with their chances."""
    for level in (Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)):
        widths = np.broadcast_to(np.asarray(noise.half_widths(level)), cells.shape[1:])
        inside = chances @ (np.abs(cells) <= widths)
        nearer = chances @ (np.abs(cells) <= widths - excess)
        assert (inside >= float(level) - _ROUNDING).all()
        assert (nearer < float(level)).all()


def points_of(basis: np.ndarray, weight: Callable[[np.ndarray], np.ndarray], reach: int) -> tuple[np.ndarray, np.ndarray]:
    """All vectors of a lattice within a box, and their chances for exp(-weight)."""
    points = np.array(list(product(range(-reach, reach + 1), repeat=len(basis)))) @ basis
    chances = np.exp(-weight(points))
    return points, chances / chances.sum()


def assert_described(noise: Noise, measure: str, formula: str) -> None:
    """Canonical JSON, a name, a sentence for the appendix, and how the parameter follows from the guarantee."""
    written = noise.to_json()
    assert json.loads(json.dumps(written)) == written
    assert written["noise"] == noise.words.name
    assert noise_text(noise).startswith(f"{noise.words.name}, {noise.words.parameter} ")
    field = {"pure-dp": "epsilon", "zcdp": "rho", "gdp": "mu"}[measure]
    measured: dict[str, Any] = {
        **written,
        "query": "rows",
        "share": "1",
        "l1_sensitivity": "2",
        "l2_squared_sensitivity": "2",
        "guarantee": json.dumps({"kind": measure, field: "1"}),
    }
    (shown,) = noises_of({"noise": [measured]})
    ((name, meaning),) = laws_of({"noise": [measured]})
    assert shown.formula == formula
    assert shown.parameter
    assert written["noise"] in name
    assert "P(" in meaning or "normal" in meaning


def assert_added(noise: Noise, size: int) -> None:
    """Values that are far from 0 keep their type and their number, and cells without noise stay as they are."""
    values = np.arange(size, dtype=np.int64) * 10**6
    drawn = np.stack([noise.apply(values.copy(), system_bits()) - values for _ in range(200)])
    moved = drawn.any(axis=0)
    assert moved.any()
    if noise.held is not None:
        assert set(np.flatnonzero(moved)) <= set(noise.held.tolist())
    assert (np.abs(drawn) <= np.max(noise.half_widths(1 - _FAR))).all()
