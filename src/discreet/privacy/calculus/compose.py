"""The exact cost of several mechanisms together: certified lower and upper bounds of δ(ε) and of ε(δ).

For a list that is fixed beforehand the privacy losses add: δ(ε) = E (1 − e^{ε−T})⁺ for the sum T of independent losses
(Theorem L1). The expectation is a contour integral of the transform of T (Theorem F1),

    δ(ε) = 1/2πi ∫ e^{K(s) − sε}/(s(s + 1)) ds   along Re s = c > 0,   K(s) = log E e^{sT},

evaluated by the trapezoidal rule. By Poisson summation the rule gives the sum of e^{cjP} δ(ε + jP) over all integers j, P
the period: all terms are positive, so the error of the rule has a known sign and a Chernoff bound. Truncation is bounded
by the kernel and rounding by an a-priori bound (F2); tilting by c, the saddle point, makes every error relative to δ
itself, so that δ = 1e-14 or 1e-200 is as safe as 1e-6. When all losses lie on one lattice the sum is finite and only
rounding remains. A ledger's adaptive totals do not use this: they add parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log

from discreet.errors import ArgumentError
from discreet.exact.balls import lower
from discreet.exact.numbers import Amount, decimal_up, exact, float_down, float_up, rational_gcd, sqrt_down, sqrt_up, text
from discreet.privacy import _gaussian
from discreet.privacy._search import first_below
from discreet.privacy.calculus._contour import Bounds, Contour, Lattice, integrate, saddle_for_delta, saddle_for_epsilon
from discreet.privacy.calculus._losses import Gaussian, Loss, Row, Theta, discrete_gaussian, discrete_laplace, stack
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.privacy.measures import GDP, ApproxDP, PureDP

__all__ = ["Bounds", "Composition", "Part", "compose"]

_FINEST = 1_000_000
_SMALLEST, _LARGEST = Fraction(1, 10**50), Fraction(10**50)  # of the losses of a part: within, doubles do not overflow
_MOST_REPETITIONS = 10**12
_MOST_DIGITS = 4_000_000  # bits of (1 − δ)^count, which is kept exactly
_FAR = 1e100  # beyond this ε nothing is left to compute

Part = PureDP | ApproxDP | GDP | DiscreteLaplace | RoundedGaussian | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class Composition:
    """The exact total of independent mechanisms, each with its number of repetitions. Made by `compose`.

    The total is exact for discrete Laplace and discrete Gaussian noise and for Gaussian noise before it is rounded (the
    lower bound of a rounded Gaussian is the bound of the unrounded one), and for PureDP and ApproxDP it is the worst case
    over all mechanisms with these guarantees.
    """

    parts: tuple[tuple[Part, int], ...]

    def delta_at(self, epsilon: Amount) -> Bounds:
        """Certified bounds of the smallest δ at this ε ≥ 0."""
        at = exact(epsilon, "epsilon")
        if not at >= 0:
            raise ArgumentError(f"epsilon={text(at)}: must not be negative")
        total = _total(self.parts)
        inner = _finite_delta(total, at)
        # δ∞ + (1 − δ∞)δ: with probability δ∞ everything is revealed.
        sure = total.revealed
        return Bounds(
            float_down(min(Fraction(1), sure + (1 - sure) * Fraction(inner.lower))),
            float_up(min(Fraction(1), sure + (1 - sure) * Fraction(inner.upper))),
        )

    def epsilon_at(self, delta: Amount) -> Bounds:
        """Certified bounds of the smallest ε at this δ; ∞ where none exists."""
        chance = exact(delta, "delta")
        if not 0 <= chance < 1:
            raise ArgumentError(f"delta={text(chance)}: must be at least 0 and less than 1")
        total = _total(self.parts)
        if chance < total.revealed:
            return Bounds(inf, inf)
        rest = (chance - total.revealed) / (1 - total.revealed)
        if rest == 0:
            most = total.most
            return Bounds(inf, inf) if most is None else Bounds(float_down(most), float_up(most))
        return _finite_epsilon(total, rest)


def compose(parts: Iterable[Part | tuple[Part, int]]) -> Composition:
    """The joint guarantee of all parts, released together or one after another in an order fixed beforehand.

    A part is a mechanism (`DiscreteLaplace`, `RoundedGaussian`, `DiscreteGaussian` with their sensitivities) or a
    guarantee (PureDP, ApproxDP, GDP), alone or as a pair with its number of repetitions.

    Raises:
        ArgumentError: for other parts (a zCDP guarantee has no exact composition: add it up instead), for counts that are
            not positive integers, and where doubles cannot follow: losses outside 1e-50 … 1e50, more than 10¹² repetitions.
    """
    counts: dict[Part, int] = {}
    for item in parts:
        part, count = _check_part(item)
        counts[part] = counts.get(part, 0) + count
    return Composition(tuple(counts.items()))


def _check_part(item: object) -> tuple[Part, int]:
    part, count = item if isinstance(item, tuple) and len(item) == 2 else (item, 1)
    if not isinstance(part, Part):
        hint = "; a guarantee that is only an average is added up: g + h, or 3 * g"
        raise ArgumentError(f"parts: {type(part).__name__} has no exact composition{hint}")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ArgumentError(f"parts: the number of repetitions must be an integer of at least 1, not {count!r}")
    if count > _MOST_REPETITIONS:
        raise ArgumentError(f"parts: {count} repetitions; at most 10**12 can be composed, add them up instead: k * g")
    size = _size(part)
    if size and not _SMALLEST <= size <= _LARGEST:
        raise ArgumentError(
            f"parts: {type(part).__name__} with losses of about {decimal_up(size, 3)}; from 1e-50 to 1e50 can be composed, "
            "add others up instead: g + h"
        )
    if isinstance(part, ApproxDP) and part.delta and count * part.delta.denominator.bit_length() > _MOST_DIGITS:
        raise ArgumentError(f"parts: {count} repetitions of a δ with too many digits; round it, or add them up: k * g")
    return part, count


def _size(part: Part) -> Fraction:
    """A rough size of a loss of the part; for Gaussian noise the mean of the loss, up to a factor of 2."""
    match part:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return epsilon
        case GDP(mu=mu):
            return mu
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return sensitivity / scale
        case RoundedGaussian() | DiscreteGaussian():
            return part.sensitivity**2 / part.sigma2


@dataclass(frozen=True, slots=True)
class _Total:
    """The parts, sorted by what their losses look like."""

    revealed: Fraction  # the probability of an infinite loss
    variance: Fraction  # μ² of all Gaussians together
    laplace: tuple[tuple[DiscreteLaplace, int], ...]
    gaussian: tuple[tuple[DiscreteGaussian, int], ...]

    @property
    def most(self) -> Fraction | None:
        """The largest finite loss; None when there is none."""
        if self.variance or self.gaussian:
            return None
        return sum((count * part.sensitivity / part.scale for part, count in self.laplace), start=Fraction(0))

    def losses(self, tilt: float) -> list[Loss]:
        rows: list[tuple[Row, int]] = [(discrete_laplace(p.scale, p.sensitivity), count) for p, count in self.laplace]
        wide: list[Loss] = []
        for part, count in self.gaussian:
            if part.sigma2 >= 4:
                wide.append(Theta(part.sigma2, part.sensitivity, count))
            else:
                rows.append((discrete_gaussian(part.sigma2, part.sensitivity, tilt), count))
        normal: list[Loss] = [Gaussian(float(self.variance))] if self.variance else []
        return [*stack(rows), *wide, *normal]

    def lattice(self) -> Lattice | None:
        """The lattice that holds all sums; None when a Gaussian fills the line."""
        if self.variance:
            return None
        spacings = [2 / part.scale for part, _ in self.laplace]
        spacings += [part.sensitivity / part.sigma2 for part, _ in self.gaussian]
        common, least = Fraction(0), min(spacings)
        for spacing in spacings:
            common = rational_gcd(common, spacing)
            if common < least / _FINEST:
                return None  # so fine that it helps nobody
        offset = sum((-count * p.sensitivity / p.scale for p, count in self.laplace), start=Fraction(0))
        offset += sum((count * p.sensitivity**2 / (2 * p.sigma2) for p, count in self.gaussian), start=Fraction(0))
        return Lattice(offset, common)


def _total(parts: Sequence[tuple[Part, int]]) -> _Total:
    kept, variance = Fraction(1), Fraction(0)
    laplace: list[tuple[DiscreteLaplace, int]] = []
    gaussian: list[tuple[DiscreteGaussian, int]] = []
    for part, count in parts:
        match part:
            case GDP(mu=mu):
                variance += count * mu**2
            case RoundedGaussian(sigma2=sigma2, sensitivity=sensitivity):
                variance += count * sensitivity**2 / sigma2
            case DiscreteGaussian():
                gaussian.append((part, count))
            case DiscreteLaplace():
                laplace.append((part, count))
            case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
                # Randomised response, discrete Laplace noise at distance 1, is the worst (Theorems P1 and D2).
                if isinstance(part, ApproxDP):
                    kept *= (1 - part.delta) ** count
                if epsilon > 0:
                    laplace.append((DiscreteLaplace(1 / epsilon), count))
    return _Total(1 - kept, variance, tuple(laplace), tuple(gaussian))


def _is_normal(total: _Total) -> bool:
    return not total.laplace and not total.gaussian


def _finite_delta(total: _Total, epsilon: Fraction) -> Bounds:
    if total.most is not None and epsilon >= total.most:
        return Bounds(0.0, 0.0)
    below, above = min(float_down(epsilon), _FAR), float_up(epsilon)
    if _is_normal(total):
        return _normal_delta(total.variance, below, above)
    contour = _contour_for_epsilon(total, below)
    return Bounds(contour.bounds(above).lower, contour.bounds(below).upper)


def _normal_delta(variance: Fraction, below: float, above: float) -> Bounds:
    low, high = float_down(sqrt_down(variance)), float_up(sqrt_up(variance))
    upper = _gaussian.delta(high, below)
    if low == 0 or above == inf or upper in (1.0, 5e-324):
        return Bounds(0.0, upper)
    return Bounds(max(0.0, lower(_gaussian.profile(low, above))), upper)


def _contour_for_epsilon(total: _Total, epsilon: float) -> Contour:
    losses, c, log_delta = _saddle(total, lambda losses: saddle_for_epsilon(losses, epsilon))
    return integrate(losses, c, epsilon, log_delta, lattice=total.lattice(), most=total.most)


def _contour_for_delta(total: _Total, log_delta: float) -> tuple[Contour, float]:
    losses, c, epsilon = _saddle(total, lambda losses: saddle_for_delta(losses, log_delta))
    return integrate(losses, c, epsilon, log_delta, lattice=total.lattice(), most=total.most), epsilon


def _saddle(total: _Total, find: Callable[[list[Loss]], tuple[float, float]]) -> tuple[list[Loss], float, float]:
    """The losses, cut where tilts up to five times the one that is found leave nothing, and what was found with them."""
    tilt = 8.0
    while True:
        losses = total.losses(tilt)
        c, other = find(losses)
        if 5 * c <= tilt or not total.gaussian:
            return losses, c, other
        tilt = min(6 * c, 4 * tilt)  # a support cut too short drives c too far: approach it


def _finite_epsilon(total: _Total, delta: Fraction) -> Bounds:
    target, above = float_down(delta), float_up(delta)
    if total.most == 0:
        return Bounds(0.0, 0.0)
    if _is_normal(total):
        largest = float_up(sqrt_up(total.variance))
        high = _gaussian.epsilon(largest, target)
        low = high if target else _gaussian.epsilon(largest, 5e-324)
        step = 1e-12 * low + 1e-300
        while low > 0 and _normal_delta(total.variance, low, low).lower < above:
            low, step = max(0.0, low - step), 2 * step
        return Bounds(low, high)
    contour, guess = _contour_for_delta(total, log(target) if target > 0 else -745.0)
    high = _upper_end(contour, target, guess)
    low = high
    step = 1e-7 * high
    while low > 0 and contour.bounds(low).lower < above:
        low, step = max(0.0, low - step), 2 * step
    return Bounds(_polish(contour, low, high, above), high)


def _upper_end(contour: Contour, target: float, guess: float) -> float:
    """The smallest ε found whose upper bound of δ meets the target; ∞ when none does."""
    high = min(max(guess, 1e-300), contour.most)
    for _ in range(200):
        if contour.bounds(high).upper <= target:
            return first_below(lambda at: contour.bounds(at).upper, target, 0.0, high)
        if high >= contour.most:
            return high
        high = min(high * 1.25, contour.most)
    return inf


def _polish(contour: Contour, low: float, high: float, above: float) -> float:
    """The largest ε found in [low, high] whose lower bound of δ is still at least `above`: the truth lies beyond it."""
    for _ in range(30):
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        if contour.bounds(middle).lower >= above:
            low = middle
        else:
            high = middle
    return low
