"""The guarantee for a population of which the file is a secret sample: one conversion of the total (docs/proofs/samples.md).

Charges, noise and refusals are as for the file. What they promise to everybody from whom the file was drawn follows once,
from the total of all releases (W1, W2): converting every release by itself and adding up the results is too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, decimal_up, exact, float_up, text
from discreet.privacy._resampled import Sampled
from discreet.privacy.amounts import amount_text
from discreet.privacy.base import Copies
from discreet.privacy.measures import ApproxDP, Budget, PureDP, is_budget

__all__ = ["CONDITION", "PopulationGuarantee", "for_file"]

CONDITION = (
    "This holds as long as who was drawn is secret and stays so. It is one conversion of the total: what single releases "
    "cost cannot be converted one by one and added up."
)
"""The condition that accompanies every guarantee for a population."""


@dataclass(frozen=True, slots=True)
class PopulationGuarantee:
    """The guarantee of a total for everybody from whom the file was drawn, as long as who was drawn is secret (W2).

    It is (ε, δ) for pure and approximate totals, and a curve of (ε, δ) under ZCDP and GDP: for a population no ρ and no μ
    follows from the draw.

    Args:
        total: the guarantee of all releases together for the rows of the file; a budget, or the sum of all charges.
        rate: the largest probability with which a person was drawn, above 0 and at most 1.
    """

    total: Budget
    rate: Fraction

    def __init__(self, total: Budget, rate: Amount) -> None:
        if not is_budget(total):
            raise ArgumentError(f"total={type(total).__name__}: must be PureDP, ApproxDP, ZCDP or GDP")
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "rate", _read_rate(rate))

    def epsilon_at(self, delta: Amount) -> float:
        """An ε that holds with `delta` for the population, rounded up: the conversion of the ε of the file at δ/rate."""
        return Sampled(self.total, self.rate).epsilon_at(delta)

    def delta_at(self, epsilon: Amount) -> float:
        """A δ that holds with `epsilon` for the population, rounded up."""
        return Sampled(self.total, self.rate).delta_at(epsilon)

    def words(self, report_delta: Amount) -> str:
        """(ε, δ) in a few words: "ε = 0.0171", or "ε = 0.0416 at δ = 1e-6", rounded up."""
        epsilon, delta = self.pair(report_delta)
        return f"ε = {decimal_up(epsilon, 4)}{f' at δ = {decimal_up(delta)}' if delta else ''}"

    def promise(self, report_delta: Amount) -> str:
        """The promise to the population in a sentence, where the total is a whole budget."""
        whole = f"up to their whole budget ({amount_text(self.total)} for the rows of the file)"
        return (
            f"All releases about the persons of this draw together, {whole}, give everybody in the population from which "
            f"the file was drawn, whether drawn or not, {self.words(report_delta)}. {CONDITION}"
        )

    def pair(self, report_delta: Amount) -> tuple[float, Fraction]:
        """(ε, δ) for the population, ε rounded up; δ is `report_delta` where each δ has its own ε (ZCDP and GDP)."""
        if self.total.pair is None:
            delta = self.total.reported_at(exact(report_delta, "report_delta"))
            return self.epsilon_at(delta), delta
        converted = self.total.through(_copies_of(self.rate)).pair
        epsilon, delta = converted or self.total.pair  # a measure that is stated in (ε, δ) stays one
        return float_up(epsilon), delta


def for_file(target: Budget, rate: Amount) -> PureDP | ApproxDP:
    """The largest budget found for the file that gives `target` for the population, rounded down and verified (W3).

    It is (log(1 + (e^ε − 1)/rate), δ/rate). Under ZCDP and GDP give (ε, δ), convert it, and take the ρ or μ of the result:
    `ZCDP.for_approx(found.epsilon, found.delta)`.

    Raises:
        ArgumentError: the target is not (ε, δ), or the rate is not above 0 and at most 1.
    """
    if not isinstance(target, PureDP | ApproxDP):
        raise ArgumentError(
            f"target={type(target).__name__}: must be PureDP or ApproxDP: a population has no ρ and no μ. State (ε, δ); "
            "`discreet convert --epsilon E --delta D --sampled RATE` prints the ρ and μ for the file"
        )
    return target.functional(_copies_of(_read_rate(rate)))


def _copies_of(rate: Fraction) -> Copies:
    """A person is in the file once, or not at all."""
    return (1 - rate, rate)


def _read_rate(value: Amount) -> Fraction:
    rate = exact(value, "rate")
    if not 0 < rate <= 1:
        raise ArgumentError(f"rate={text(rate)}: must be above 0 and at most 1: the largest probability of being drawn")
    return rate
