"""The least noise for ε-DP with exact totals in small dimension: the K-norm of the hull of the sensitivity space.

P(v) ∝ exp(-ε‖v‖_K) on the lattice is ε-semi-DP by the triangle inequality, since every difference has norm 1 at most
(Theorem L1, docs/proofs/semi-dp.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ArgumentError, unreachable
from discreet.exact.lattices import rank
from discreet.exact.numbers import text
from discreet.mechanisms._placing import is_paired, order_of, put_in_place
from discreet.mechanisms.adding import add
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers, Mechanism, Noise, NoiseWords, Vector
from discreet.mechanisms.losses import audit_lattice
from discreet.mechanisms.sensitivity import Sensitivity, SomeChanges
from discreet.noise.bits import Bits
from discreet.totals.enumerate import differences
from discreet.totals.structure import Blocks, Kernel, Structure, Tables, describe, margin_equations

__all__ = ["K_NORM", "KNormLaplace"]

_MOST_HULL_RANK = 6

_WORDS = NoiseWords(
    name="K-norm of the hull",
    parameter="epsilon",
    sentence=(
        "P(v) ∝ exp(−ε‖v‖) for integers v that change no exact total; the unit ball of the norm is the hull of all "
        "differences of counts between the tables that are compared."
    ),
    formula="ε",
)


@dataclass(frozen=True, slots=True, eq=False)
class KNormLaplace:
    """P(v) ∝ exp(-epsilon ‖v‖_K), K the hull of the sensitivity space: the least noise for ε-semi-DP, in small dimension."""

    structure: Structure
    points: NDArray[np.int64]
    epsilon: Fraction
    words: ClassVar[NoiseWords] = _WORDS
    independent: ClassVar[None] = None
    everywhere: ClassVar[bool] = False
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = True

    def sample(self, bits: Bits) -> NDArray[Any]:
        """One draw for all cells of the request; 0 outside the structure."""
        from discreet.noise.lattice.k_norm import k_norm_noise

        return put_in_place(
            self.structure.cells, order_of(self.structure), k_norm_noise(self.points, self.epsilon, 1, bits)[0]
        )

    def apply(self, values: Integers, bits: Bits) -> Integers:
        """`values` plus noise on the lattice."""
        return add(values, self.sample(bits))

    def half_widths(self, level: Fraction) -> NDArray[Any]:
        """For each cell of the request a w with P(|v| ≤ w) ≥ level."""
        from discreet.noise.lattice.k_norm import half_widths

        return put_in_place(self.structure.cells, order_of(self.structure), half_widths(self.points, self.epsilon, level))

    def variance(self) -> float:
        """An upper bound of the mean variance of the cells."""
        from discreet.noise.lattice.k_norm import mean_variance

        return float(mean_variance(self.points, self.epsilon))

    def rank_error(self, _level: Fraction) -> None:
        """None, because this noise does not choose codes."""

    def part_of_guarantee(self, _changes: SomeChanges, _guarantee: Guarantee) -> None:
        """None: the norm of the hull is not one of those that a sensitivity has."""

    def to_json(self) -> dict[str, str]:
        """Name, exact epsilon and lattice."""
        return {"noise": self.words.name, self.words.parameter: text(self.epsilon), "lattice": describe(self.structure)}

    def prepare_audit(self) -> Audited:
        """Draws are held against the law of the first cell; the loss is not worked out."""
        from discreet.noise.lattice.cones import k_norm
        from discreet.noise.lattice.k_norm import KNormCell

        def first_cell() -> KNormCell:
            return KNormCell(k_norm(self.points), self.epsilon, 0)

        return audit_lattice(self.structure, None, lambda _window, _copies: None, squared=False, cell=first_cell)


def _candidates(answer: Answer, _sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
    """Empty where noise with its own sampler has the same norm, and where the hull has too many dimensions."""
    scale = guarantee.laplace_scale(1)  # every difference has norm 1 at most
    if not isinstance(answer, Vector) or answer.lattice is None or scale is None:
        return
    structure = answer.lattice.structure
    match structure:
        case Blocks():
            return
        case Tables() if is_paired(structure):
            return
        case Tables() | Kernel():
            if structure.rank <= _MOST_HULL_RANK:
                yield from _hull_noise(structure, 1 / scale, answer.lattice.a)
        case _:
            raise unreachable(structure)


def _hull_noise(structure: Tables | Kernel, epsilon: Fraction, a: int) -> Iterator[KNormLaplace]:
    """The K-norm of the hull of S itself, where S can be listed and its hull has few facets."""
    if isinstance(structure, Tables) and len(structure.tables) != 1:
        return
    equations = structure.equations if isinstance(structure, Kernel) else margin_equations(structure.tables[0])
    points = differences(equations, a)
    # Tables of equal totals that lie farther apart must differ within the span of S too, or noise on it would leave some
    # sum exact that the totals do not determine (soundness 18).
    if points is None or rank(points.tolist()) < structure.rank:
        return
    found = KNormLaplace(structure, points, epsilon)
    with suppress(ArgumentError):
        found.variance()
        yield found


K_NORM = Mechanism((_WORDS,), _candidates)
