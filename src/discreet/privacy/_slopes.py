"""The slopes α_k of Theorems R1 and R2: found in doubles, then used exactly.

A family describes a mechanism at distance k: δ_k(α) = sup_E P(E) − αQ(E), symmetric in the two data sets. `forward`
and `public_size` bound δ(ε) by Σ w_k δ_k(α_k) with Σ w_k α_k = e^ε, `reverse` by Σ v_k δ_k(e^ε w_k/v_k) with Σ v_k = 1,
which is the same search for β_k = v_k e^−ε/w_k. One slope, or the scale of all, is what is left of the sum, so that the
condition holds exactly however rough the search was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log

from discreet.exact.balls import Ball, ball, enclose, upper
from discreet.exact.precision import ORDINARY_BITS, with_precision
from discreet.privacy import _gaussian

Law = Sequence[Fraction]
Masses = list[tuple[Fraction, Ball]]
_MOST_EPSILON = Fraction(500)  # beyond, δ(ε) is replaced by δ(500), which is larger
_MOST_LOSS = 600


@dataclass(frozen=True, slots=True)
class Plan:
    """The end of the search on a block of copies: `level` orders the blocks, larger meaning a more probable event."""

    level: float
    exponents: dict[int, Fraction]  # log α_k where it is prescribed
    rest: int  # the k whose slope is what is left; −1: all but k = 0 are scaled together; −2: all slopes are equal


_EQUAL = Plan(0.0, {}, -2)


@dataclass(frozen=True, slots=True)
class Normal:
    """Gaussian noise: distance k is N(kμ, 1) against N(0, 1), with slope e^{kμt − k²μ²/2} at the threshold t."""

    mu: Fraction

    def delta(self, k: int, alpha: Ball) -> Ball:
        """δ_k(α) for α > 0."""
        if k == 0 or self.mu == 0:
            return _positive(1 - alpha)
        distance = k * ball(self.mu)
        place = alpha.log() / distance + distance / 2
        return _gaussian.upper_tail(place - distance) - alpha * _gaussian.upper_tail(place)

    def plan(self, ks: Sequence[int], law: Law, log_total: float) -> Plan:
        """The threshold t with Σ w_k e^{kμt − k²μ²/2} = e^log_total Σ w_k, by bisection."""
        if ks[-1] == 0 or self.mu * ks[-1] > 1000 or self.mu * 10**150 < 1:
            return _EQUAL if ks[-1] else Plan(-inf, {}, 0)
        mu = float(self.mu)
        terms = [(k * mu, log(law[k].numerator) - log(law[k].denominator)) for k in ks]
        goal = log_total + _log_sum([weight for _, weight in terms])
        low, high = -1e3 / mu, (goal + 1e3) / mu + ks[-1] * mu
        while low < (middle := (low + high) / 2) < high and high - low > 1e-13 * (1 + abs(high)):
            if _log_sum([w + m * middle - m * m / 2 for m, w in terms]) < goal:
                low = middle
            else:
                high = middle
        exponents = {k: Fraction(k * mu * high - (k * mu) ** 2 / 2) for k in ks if k}
        return Plan(-high, exponents, -1)


@dataclass(frozen=True, slots=True)
class Steps:
    """Discrete Laplace noise: distance k is the law at shift k·sensitivity; δ_k is piecewise linear."""

    scale: Fraction
    sensitivity: int

    def delta(self, k: int, alpha: Ball) -> Ball:
        """δ_k(α): the sum of (p − αq)⁺ over the outcomes."""
        return _stepwise(self._masses(k), alpha)

    def _masses(self, k: int) -> Masses:
        """(loss, Q-mass) of the outcomes 0 … shift, both tails on the ends."""
        shift = k * self.sensitivity
        if shift == 0:
            return [(Fraction(0), ball(1))]
        r = (-1 / ball(self.scale)).exp()
        powers = [(-Fraction(y) / self.scale, 1 if y in (0, shift) else 1 - r) for y in range(shift + 1)]
        masses = [ball(place).exp() * width / (1 + r) for place, width in powers]
        return [((2 * Fraction(y) - shift) / self.scale, mass) for y, mass in enumerate(masses)]

    def plan(self, ks: Sequence[int], law: Law, log_total: float) -> Plan:
        """The slopes that lower Σ w_k δ_k(α_k) fastest."""
        if ks[-1] * self.sensitivity > _MOST_LOSS * self.scale or log_total > _MOST_LOSS:
            return _EQUAL
        return _fill(with_precision(ORDINARY_BITS, lambda: {k: self._masses(k) for k in ks}), law, log_total)


@dataclass(frozen=True, slots=True)
class Chain:
    """The worst (ε, δ) mechanism: at distance k its G is the k-fold iterate of g (Theorem D3), piecewise linear."""

    epsilon: Fraction
    step: Fraction  # δ

    def delta(self, k: int, alpha: Ball) -> Ball:
        """δ_k(α) = G_k(0) + the sum of width·(slope − α)⁺ over the pieces of G_k."""
        revealed, masses = self._pieces(k)
        return _positive(revealed + _stepwise(masses, alpha))

    def _pieces(self, k: int) -> tuple[Ball, Masses]:
        """G_k(0) and (log slope, width) of the pieces, steepest last; where δ is too large for them, G_k = 1."""
        if k == 0:
            return ball(0), [(Fraction(0), ball(1))]
        growth, step = ball(self.epsilon).exp(), ball(self.step)
        kink = (1 - step) / (1 + growth)
        ends, at = [1 - step], kink
        for _ in range(k - 1):  # where the iterate reaches 1: the preimages of 1 − δ on the flat branch
            ends.append(1 - step - growth * (1 - ends[-1]))
        if not ends[-1] > kink:
            return ball(1), []
        edges = [kink]
        for _ in range(k - 1):
            at = (at - step) / growth
            if not at > 0:
                break
            edges.append(at)
        # Between edges[i] and edges[i − 1] the first i iterations are steep and the others flat.
        masses = [(-k * self.epsilon, ends[-1] - kink)]
        masses += [((2 * i - k) * self.epsilon, edges[i - 1] - edges[i]) for i in range(1, len(edges))]
        return 1 - ends[-1], [*masses, ((2 * len(edges) - k) * self.epsilon, edges[-1])]

    def plan(self, ks: Sequence[int], law: Law, log_total: float) -> Plan:
        """The slopes that lower Σ w_k δ_k(α_k) fastest."""
        if ks[-1] * self.epsilon > _MOST_LOSS or log_total > _MOST_LOSS:
            return _EQUAL
        return _fill(with_precision(ORDINARY_BITS, lambda: {k: self._pieces(k)[1] for k in ks}), law, log_total)


Family = Normal | Steps | Chain


def _stepwise(masses: Masses, alpha: Ball) -> Ball:
    return sum((mass * _positive(ball(loss).exp() - alpha) for loss, mass in masses), start=ball(0))


def _fill(pieces: dict[int, Masses], law: Law, log_total: float) -> Plan:
    """Raise the slopes from 0, always the one that lowers Σ w_k δ_k(α_k) fastest, until Σ w_k α_k is reached."""
    segments: list[tuple[float, int, Fraction, float]] = []
    for k, masses in pieces.items():
        left, start = sum(float(mass.mid()) for _, mass in masses), 0.0
        for loss, mass in masses:
            segments.append((-left, k, loss, exp(loss) - start))
            left, start = max(0.0, left - float(mass.mid())), exp(loss)
        segments.append((0.0, k, Fraction(0), inf))
    segments.sort(key=lambda segment: segment[0])
    missing = exp(log_total) * float(sum(law[k] for k in pieces))
    exponents: dict[int, Fraction] = {}
    for steepness, k, loss, length in segments:
        missing -= float(law[k]) * length
        if missing <= 0:
            exponents.pop(k, None)
            return Plan(-steepness, exponents, k)
        exponents[k] = loss
    return _EQUAL


def _positive(value: Ball) -> Ball:
    """An enclosure of max(0, x) for x in the ball."""
    if value > 0:
        return value
    return ball(0) if value <= 0 else ball(0).union(value.upper())


def _log_sum(exponents: list[float]) -> float:
    top = max(exponents)
    return top + log(sum(exp(e - top) for e in exponents))


def _slopes(plan: Plan, ks: Sequence[int], law: Law, mean: Ball) -> dict[int, Ball]:
    """The slopes of the plan, with Σ w_k α_k = mean·Σ w_k as an identity."""
    if plan.rest == -2:
        return dict.fromkeys(ks, mean)
    whole = mean * ball(sum((law[k] for k in ks), start=Fraction(0)))
    if plan.rest == -1:
        slopes = {k: ball(exponent).exp() for k, exponent in plan.exponents.items()}
        least = {0: ball(1)} if ks[0] == 0 else {}
        room = whole - (ball(law[0]) if least else 0)
        scale = room / sum((ball(law[k]) * slope for k, slope in slopes.items()), start=ball(0))
        return least | {k: slope * scale for k, slope in slopes.items()}
    slopes = {k: ball(plan.exponents[k]).exp() if k in plan.exponents else ball(0) for k in ks if k != plan.rest}
    used = sum((ball(law[k]) * slope for k, slope in slopes.items()), start=ball(0))
    return slopes | {plan.rest: (whole - used) / ball(law[plan.rest])}


def _support(law: Law) -> list[int]:
    return [k for k, weight in enumerate(law) if weight]


def forward(family: Family, law: Law, epsilon: Fraction) -> float:
    """R2, data with the record against data without it: any slopes with Σ w_k α_k = e^ε."""
    at = min(epsilon, _MOST_EPSILON)
    ks = _support(law)
    plan = family.plan(ks, law, float(at))

    def compute() -> Ball:
        slopes = _slopes(plan, ks, law, ball(at).exp())
        return sum((ball(law[k]) * family.delta(k, slope) for k, slope in slopes.items()), start=ball(0))

    return _bound(compute)


def reverse(family: Family, law: Law, epsilon: Fraction) -> float:
    """R2, data without the record against data with it: v_k = e^ε w_k β_k, and any β with Σ w_k β_k = e^−ε."""
    at = min(epsilon, _MOST_EPSILON)
    if float(law[0]) * exp(float(at)) >= 1 + 1e-9:
        return 0.0  # v_0 = 1 meets the condition
    ks = _support(law)
    plan = family.plan(ks, law, -float(at))

    def compute() -> Ball:
        slopes = _slopes(plan, ks, law, (-ball(at)).exp())
        total = ball(0)
        for k, slope in slopes.items():
            if slope > 0:  # v δ(αw/v) tends to 0 with v; a slope that is not certainly positive is bounded by v itself
                total += ball(law[k]) * slope * family.delta(k, 1 / slope)
            else:
                total += ball(law[k]) * _positive(slope)
        return total * ball(at).exp()

    return _bound(compute)


def public_size(family: Family, law: Law, epsilon: Fraction) -> float:
    """R1: slopes whose weighted tails are at least the tails of a constant, by pooling adjacent violators."""
    at = min(epsilon, _MOST_EPSILON)
    blocks: list[tuple[list[int], Plan]] = []
    for k in _support(law):
        block, plan = [k], family.plan([k], law, float(at))
        # The events must not grow with k: a block that is less probable than the next is pooled with it.
        while blocks and blocks[-1][1].level < plan.level:
            block = blocks.pop()[0] + block
            plan = family.plan(block, law, float(at))
        blocks.append((block, plan))

    def compute() -> Ball:
        mean, total = ball(at).exp(), ball(0)
        for block, plan in blocks:
            slopes = _slopes(plan, block, law, mean)
            if not _has_heavy_tails(slopes, block, law, mean):
                slopes = dict.fromkeys(block, mean)
            total += sum((ball(law[k]) * family.delta(k, slope) for k, slope in slopes.items()), start=ball(0))
        return total

    return _bound(compute)


def _has_heavy_tails(slopes: dict[int, Ball], block: list[int], law: Law, mean: Ball) -> bool:
    """True if Σ_{j ≥ k} w_j (α_j − mean) ≥ 0 for every k inside the block; at its ends it is 0 by construction."""
    tail = ball(0)
    for k in reversed(block[1:]):
        tail += ball(law[k]) * (slopes[k] - mean)
        if not tail >= 0:
            return False
    return True


def _bound(compute: Callable[[], Ball]) -> float:
    return min(1.0, upper(enclose(compute, relative_bits=60, bits=192)))


__all__ = ["Chain", "Family", "Normal", "Steps", "forward", "public_size", "reverse"]
