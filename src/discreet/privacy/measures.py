"""Privacy guarantees as exact values: how strong they are, how they add up, what they mean in (ε, δ). And their registry.

::

    PureDP(ε)        P(M(x) ∈ S) ≤ e^ε P(M(x') ∈ S)
    ApproxDP(ε, δ)   P(M(x) ∈ S) ≤ e^ε P(M(x') ∈ S) + δ
    ZCDP(ρ)          D_α(M(x) ‖ M(x')) ≤ ρα for every order α > 1
    GDP(μ)           telling M(x) from M(x') is at least as hard as telling N(0, 1) from N(μ, 1)
    ApproxZCDP(ρ, δ), ApproxGDP(μ, δ)   the same apart from an event of probability δ
    RDP(curve)       D_α(M(x) ‖ M(x')) ≤ τ for each (α, τ) of the curve

for all neighbouring x, x' and all sets S of outputs; `domain.neighbours` defines neighbours. Parameters are Fractions.
Equal measures add (sequential, also adaptive composition) and scale by integers; different ones are converted first, by
name. Theorems M1 (composition) and M2 (groups) in docs/proofs/privacy.md.
"""

from __future__ import annotations

from typing import TypeGuard

from discreet.errors import ArgumentError, InternalError, did_you_mean
from discreet.privacy.approx import ApproxDP
from discreet.privacy.approx_gdp import ApproxGDP
from discreet.privacy.approx_zcdp import ApproxZCDP
from discreet.privacy.base import NoiseMeasure, SpentMeasure, WrittenMeasure
from discreet.privacy.gdp import GDP
from discreet.privacy.pure import PureDP
from discreet.privacy.rdp import RDP
from discreet.privacy.zcdp import ZCDP

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "ApproxDP",
    "ApproxGDP",
    "ApproxZCDP",
    "Budget",
    "Measure",
    "PureDP",
    "Target",
    "budgets",
    "find_budget",
    "find_measure",
    "find_noise_measure",
    "is_budget",
    "is_target",
    "noise_measures",
]

Measure = PureDP | ApproxDP | ZCDP | GDP | ApproxZCDP | ApproxGDP | RDP
Budget = PureDP | ApproxDP | ZCDP | GDP | ApproxZCDP | ApproxGDP
Target = PureDP | ZCDP | GDP
"""A guarantee that one mechanism can have by itself."""

_BUDGETS: tuple[type[Budget], ...] = (PureDP, ApproxDP, ZCDP, GDP, ApproxZCDP, ApproxGDP)
"""The measures of a budget, in the order in which messages list them."""
_OTHERS: tuple[type[WrittenMeasure], ...] = (RDP,)
_NOISES: tuple[type[Target], ...] = (PureDP, GDP, ZCDP)
"""The measures that noise can guarantee: of equal variances the first is taken."""


def budgets() -> tuple[type[Budget], ...]:
    """Every measure that a budget can have."""
    return _BUDGETS


def noise_measures() -> tuple[type[Target], ...]:
    """Every measure that noise can guarantee by itself."""
    return _NOISES


def is_budget(value: object) -> TypeGuard[Budget]:
    """True if it is a guarantee that can be spent."""
    return type(value) in _BUDGETS


def is_target(value: object) -> TypeGuard[Target]:
    """True if it is a guarantee that noise can have by itself."""
    return type(value) in _NOISES


def find_measure(word: str) -> type[WrittenMeasure]:
    """The measure of this name.

    Raises:
        ArgumentError: there is none.
    """
    known = {kind.word: kind for kind in (*_BUDGETS, *_OTHERS)}
    if word not in known:
        raise ArgumentError(f"measure: kind='{word}' is unknown{did_you_mean(word, known)}")
    return known[word]


def find_budget(word: str) -> type[SpentMeasure]:
    """The measure of this name, which the library has written itself.

    Raises:
        InternalError: there is none, or it is not a budget.
    """
    for kind in _BUDGETS:
        if kind.word == word:
            return kind
    raise InternalError(f"no budget has the measure '{word}'")


def find_noise_measure(word: str) -> type[NoiseMeasure]:
    """The measure of this name, in which a document states the guarantee of its noise.

    Raises:
        ArgumentError: there is none, or no noise has it.
    """
    known = {kind.word: kind for kind in _NOISES}
    if word not in known:
        raise ArgumentError(f"measure: kind='{word}' is not a measure of noise{did_you_mean(word, known)}")
    return known[word]
