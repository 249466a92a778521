"""Speed and tightness of the privacy calculus, as ratios within one run: `python benchmarks/bench_privacy.py`.

Peers (OpenDP, dp-accounting) are timed beside it where they can be imported; otherwise their column stays empty. Times are
processor time, the best of several repetitions on one core.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.privacy import GDP
from discreet.privacy.calculus.compose import compose
from discreet.privacy.calculus.profile import DiscreteGaussian, DiscreteLaplace
from discreet.privacy.convert import gaussian_delta, zcdp_delta, zcdp_epsilon, zcdp_rho


def best(call: Callable[[], Any], repetitions: int, loops: int = 1) -> float:
    """Seconds a call, the best of `repetitions` rounds of `loops` calls."""
    times = []
    for _ in range(repetitions):
        start = time.process_time()
        for _ in range(loops):
            call()
        times.append((time.process_time() - start) / loops)
    return min(times)


def peer(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def line(what: str, ours: float, theirs: float | None, unit: str, scale: float) -> None:
    beside = f"{theirs * scale:12.2f} {unit}   {theirs / ours:8.1f} x" if theirs else f"{'not installed':>12}"
    print(f"{what:58s} {ours * scale:10.3f} {unit}   {beside}")


def conversions() -> None:
    print("\nconversions, a call (peer: OpenDP)")
    combinators = peer("opendp.combinators")
    to_delta = to_epsilon = None
    if combinators is not None:
        dp, measurements = peer("opendp.prelude"), peer("opendp.measurements")
        dp.enable_features("contrib")
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        profile = combinators.make_zCDP_to_approxDP(measurements.make_gaussian(*space, scale=1.0)).map(1.0)
        to_delta = best(lambda: profile.delta(1.0), 3, 20)
        to_epsilon = best(lambda: profile.epsilon(1e-6), 3, 5)
    line("zcdp_delta(0.5, 1.0)", best(lambda: zcdp_delta(0.5, 1.0), 7, 20_000), to_delta, "µs", 1e6)
    line("zcdp_delta(0.1, 1.0)", best(lambda: zcdp_delta(0.1, 1.0), 7, 20_000), None, "µs", 1e6)
    line("zcdp_epsilon(0.5, 1e-6)", best(lambda: zcdp_epsilon(0.5, 1e-6), 7, 20_000), to_epsilon, "µs", 1e6)
    line("zcdp_rho(1.0, 1e-6)", best(lambda: zcdp_rho(1.0, 1e-6), 5, 5_000), None, "µs", 1e6)
    line("gaussian_delta(1.0, 1.0)", best(lambda: gaussian_delta(1.0, 1.0), 5, 500), None, "µs", 1e6)
    random = np.random.default_rng(1)
    count = 10**6
    rho = 10 ** random.uniform(-3, 0, count)
    epsilon = rho + 2 * np.sqrt(rho * random.uniform(0.5, 25, count))
    delta = 10 ** random.uniform(-12, -3, count)
    line("zcdp_delta on 10^6 pairs, an element", best(lambda: zcdp_delta(rho, epsilon), 3) / count, None, "µs", 1e6)
    line("zcdp_epsilon on 10^6 pairs, an element", best(lambda: zcdp_epsilon(rho, delta), 3) / count, None, "µs", 1e6)


def mixes() -> dict[str, list[tuple[Any, int]]]:
    random = np.random.default_rng(7)
    scales = [Fraction(int(k), 10) for k in random.integers(150, 900, 50)]
    variances = [Fraction(int(k), 10) for k in random.integers(3_000, 90_000, 50)]
    hundred: list[tuple[Any, int]] = [(DiscreteLaplace(s), 10) for s in scales]
    hundred += [(DiscreteGaussian(v), 10) for v in variances]
    thousand: list[tuple[Any, int]] = [
        (DiscreteLaplace(Fraction(int(k), 1000)), 1) for k in random.integers(15_000, 90_000, 500)
    ]
    thousand += [(DiscreteGaussian(Fraction(int(k), 1000)), 1) for k in random.integers(300_000, 9_000_000, 500)]
    return {"1,000 mechanisms, 100 distinct": hundred, "1,000 mechanisms, all distinct": thousand}


def peer_epsilons(parts: list[tuple[Any, int]], deltas: tuple[float, ...]) -> tuple[float, list[float]] | None:
    pld = peer("dp_accounting.pld.privacy_loss_distribution")
    if pld is None:
        return None
    start = time.process_time()
    total = None
    for part, count in parts:
        if isinstance(part, DiscreteLaplace):
            one = pld.from_discrete_laplace_mechanism(float(1 / part.scale), sensitivity=part.sensitivity)
        else:
            one = pld.from_discrete_gaussian_mechanism(float(part.sigma2) ** 0.5, sensitivity=part.sensitivity)
        many = one.self_compose(count) if count > 1 else one
        total = many if total is None else total.compose(many)
    found = [total.get_epsilon_for_delta(delta) for delta in deltas]
    return time.process_time() - start, found


def composition() -> None:
    print("\ncertified composition, ε at δ (peer: dp-accounting's PLD)")
    deltas = (1e-6, 1e-14)
    for name, parts in mixes().items():
        theirs = peer_epsilons(parts, deltas)
        total = compose(parts)
        ours = best(lambda total=total: total.epsilon_at(1e-6), 3)  # type: ignore[misc]
        line(name, ours, theirs[0] if theirs else None, "s", 1)
        for place, delta in enumerate(deltas):
            low, high = total.epsilon_at(delta)
            other = f"peer {theirs[1][place]:.6f}" if theirs else ""
            print(f"    δ = {delta:g}: [{low:.6f}, {high:.6f}], width {high / low - 1:.1e}   {other}")
    closed, computed = (1000 * GDP("0.03")).epsilon_at(1e-6), compose([(GDP("0.03"), 1000)]).epsilon_at(1e-6)
    print(f"    1,000 Gaussians against the closed form: {abs(computed.upper / closed - 1):.1e} relative")


if __name__ == "__main__":
    print(f"{'':58s} {'discreet':>13}   {'peer':>15}   {'ratio':>8}")
    conversions()
    composition()
