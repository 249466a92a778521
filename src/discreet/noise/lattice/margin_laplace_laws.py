"""What is certain about one cell of the ℓ₁ law of tables whose two margins are 0: its variance, and intervals that cover.

The law has no closed form, but three things are proved of it (docs/proofs/lattice-l1.md): |v|₁ has a mean of at most the
rank times the scale, and all cells are alike; the law of a cell is log-concave; and it is narrower than that of an
independent cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.exact.balls import Ball, ball, enclosure, sign
from discreet.exact.numbers import Amount
from discreet.noise._parameters import MOST_SCALE, positive
from discreet.noise.single.laws import DiscreteLaplace, check_coverage, smallest

__all__ = ["MarginLaplaceCell"]


@dataclass(frozen=True, slots=True)
class MarginLaplaceCell:
    """One cell of `margins_laplace`: symmetric about 0.

    Attributes:
        scale: an exact rational in (0, 10^17].
        share: the number of counts of the table that are free, divided by the number of its cells, in [0, 1].
    """

    scale: Fraction
    share: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive(self.scale, "scale", most=MOST_SCALE))

    @property
    def mean(self) -> Fraction:
        """E |v| is at most this."""
        return self.scale * self.share

    def variance(self) -> float:
        """At least the variance, rounded up: a² + a√(1 + a²) for a = E|v|, or that of an independent cell."""
        if not self.share:
            return 0.0

        def by_mean() -> Ball:
            a = ball(self.mean)
            return a * a + a * (1 + a * a).sqrt()

        return min(enclosure(by_mean)[1], DiscreteLaplace(self.scale).variance())

    def half_width(self, coverage: Amount) -> int:
        """A w with P(|v| ≤ w) ≥ coverage, for 0 ≤ coverage < 1: (w + 1) log(1 + c/a) ≥ log(1/(1 - c)), or that of a cell."""
        wanted = check_coverage(coverage)
        if not self.share or not wanted:
            return 0

        def enough(w: int) -> bool:
            return sign(lambda: (w + 1) * (1 + ball(wanted / self.mean)).log() + ball(1 - wanted).log()) > 0

        most = DiscreteLaplace(self.scale).half_width(wanted)
        return smallest(lambda w: w >= most or enough(w), most)
