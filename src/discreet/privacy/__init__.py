"""Privacy guarantees: exact values, their composition, conversion, amplification and calibration.

Every number that leaves this package is on the safe side of the truth: δ and ε upper bounds, ρ, μ and what may be spent
lower bounds. The theorems are proved in docs/proofs/privacy.md and docs/proofs/samples.md.

* `_checks`: The checks that the parameters and arguments of every measure pass
* `_copies`: The law of K, the number of a person's copies in the sample, and the closed forms of Theorem R3 over it
* `_digits`: Numbers with short texts, rounded in a stated direction
* `_gaussian`: The exact (ε, δ) profile of μ-GDP (Theorem G1), certified by interval arithmetic, and its two inverses
* `_profiles`: What (ε, δ)-DP implies at other ε' and δ', exactly (Theorem P1), and how the guarantees are worded
* `_resampled`: Profiles δ(ε) after sampling: BBG18 Theorems 8 and 9 (S1) for any profile, R1 and R2 for Gaussian and
  Laplace noise
* `_search`: Roots that are verified: what these functions return was itself seen to meet the target
* `_slack`: A δ beside a guarantee: the chance of an event that the guarantee says nothing about
* `_slopes`: The slopes α_k of Theorems R1 and R2: found in doubles, then used exactly
* `_zcdp`: Certified scalar kernels of Theorem C1: ρ-zCDP (or one RDP order) to (ε, δ) and back, in doubles with an
  error bound
* `_zcdp_arrays`: The kernels of `_zcdp` over arrays of doubles, in chunks that stay in the cache
* `amounts`: The amounts of spends: in the budget's measure, always for the original data, with their texts
* `amplify`: The effect of sampling before a mechanism: amplification, and the resize step with its copies
* `approx`: Approximate differential privacy: (ε, δ)
* `approx_gdp`: Gaussian differential privacy with a δ beside it
* `approx_zcdp`: Zero-concentrated differential privacy with a δ beside it
* `base`: The base of every measure of privacy: that it is written, that it is spent, that noise guarantees it
* `bounded_range`: What a mechanism of bounded range costs: one whose log-ratios of probabilities neighbours change by
  at most `reach`
* `calculus`: Profiles, composition and calibration of mechanisms: the public calculus, which no release needs
* `convert`: Conversions between ρ-zCDP, Rényi curves, μ-GDP and (ε, δ), each rounded to the safe side
* `coordinates`: Guarantees as the ledger sees them: coordinates that add, shares of a spend, and canonical JSON
* `gdp`: Gaussian differential privacy: μ
* `measures`: Privacy guarantees as exact values: how strong they are, how they add up, what they mean in (ε, δ). And their
  registry
* `population`: The guarantee for a population of which the file is a secret sample: one conversion of the total
  (docs/proofs/samples.md)
* `pure`: Pure differential privacy: ε
* `rdp`: Rényi differential privacy at finitely many orders: for conversion and accounting, not as a budget
* `subsample`: The account of a sample of rows that fills nothing: how many of the rows that differ are in it
* `zcdp`: Zero-concentrated differential privacy: ρ
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.exact.on_demand import turn_to_load
from discreet.privacy.coordinates import Budget, coordinates, from_coordinates, from_json, kind_name, scale, to_json
from discreet.privacy.measures import GDP, RDP, ZCDP, ApproxDP, ApproxGDP, ApproxZCDP, Measure, PureDP

if TYPE_CHECKING:
    from discreet.privacy import amplify, convert, population
    from discreet.privacy.calculus import calibrate, compose, profile

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
    "amplify",
    "calibrate",
    "compose",
    "convert",
    "coordinates",
    "from_coordinates",
    "from_json",
    "kind_name",
    "population",
    "profile",
    "scale",
    "to_json",
]

_ON_DEMAND = MappingProxyType(
    {
        "amplify": "amplify",
        "calibrate": "calculus.calibrate",
        "compose": "calculus.compose",
        "convert": "convert",
        "population": "population",
        "profile": "calculus.profile",
    }
)


def __getattr__(name: str) -> Any:
    """The calculus is loaded when it is first used: `import discreet` stays light."""
    if name in _ON_DEMAND:
        return turn_to_load(f"{__name__}.{_ON_DEMAND[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
