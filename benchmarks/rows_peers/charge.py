"""What every program is given: ρ = 1/2, or the ε that its own conversion takes for it. Only the standard library."""

from __future__ import annotations

from collections.abc import Callable

RHO, DELTA = 0.5, 1e-9
"""δ is what the peers have by default."""


def as_documented(rho_of: Callable[[float, float], float], rho: float = RHO) -> float:
    """The largest ε, to ten digits, for which the conversion of a library says at most ρ at `DELTA`."""
    low, high = 0.0, 100.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if rho_of(middle, DELTA) <= rho else (low, middle)
    print(f"epsilon {low}, delta {DELTA}, rho {rho_of(low, DELTA)}", flush=True)
    return low
