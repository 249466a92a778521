"""`discreet convert`: one guarantee in the words of another, also for a population and through a resize."""

from __future__ import annotations

from discreet.cli.output import Answer
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact, text
from discreet.privacy import GDP, ZCDP, PureDP
from discreet.privacy.coordinates import amount_of

__all__ = ["conversions"]


def conversions(
    *,
    rho: str | None,
    mu: str | None,
    epsilon: str | None,
    delta: str | None,
    sampled: str | None = None,
    without_replacement: str | None = None,
    proportion: str | None = None,
) -> Answer:
    """The given parameters in other measures; every answer is rounded to the safe side.

    Raises:
        ArgumentError: a combination from which nothing follows, or parameters outside their domain.
    """
    if rho is not None and mu is not None:
        raise ArgumentError("--rho and --mu: give one of them")
    if rho is None and mu is None and epsilon is None:
        raise ArgumentError("convert: give --rho, --mu or --epsilon, for example --rho 0.213 --delta 1e-10")
    guarantee = None if rho is None and mu is None else _total(rho, mu)
    ways = {"--sampled": sampled, "--without-replacement": without_replacement, "--proportion": proportion}
    given = {way: value for way, value in ways.items() if value is not None}
    if given:
        from discreet.cli.sampling import through_sample

        return through_sample(given, guarantee, epsilon, delta)
    if guarantee is None:
        return _of_target(epsilon or "", delta)
    if isinstance(guarantee, GDP) and epsilon is None and delta is None:
        return _of_mu(guarantee)
    return _of_guarantee(guarantee, epsilon, delta)


def _total(rho: str | None, mu: str | None) -> ZCDP | GDP:
    return GDP(exact(mu, "--mu")) if mu is not None else ZCDP(exact(rho or "", "--rho"))


def _of_guarantee(guarantee: ZCDP | GDP, epsilon: str | None, delta: str | None) -> Answer:
    amount = text(amount_of(guarantee))
    given = f"{guarantee.symbols[0]} = {amount}"
    facts = {guarantee.fields[0]: amount}
    if epsilon is not None and delta is not None:
        raise ArgumentError("--epsilon and --delta: give one of them; the other is the answer")
    if delta is not None:
        found = guarantee.epsilon_at(exact(delta, "--delta"))
        return Answer([f"{given} implies ε = {found!r} at δ = {delta}"], {**facts, "delta": delta, "epsilon": found})
    if epsilon is not None:
        found = guarantee.delta_at(exact(epsilon, "--epsilon"))
        return Answer([f"{given} implies δ = {found!r} at ε = {epsilon}"], {**facts, "epsilon": epsilon, "delta": found})
    raise ArgumentError("--rho: give --delta to learn ε, or --epsilon to learn δ")


def _of_mu(guarantee: GDP) -> Answer:
    mu, rho = text(guarantee.mu), text(guarantee.to_zcdp().rho)
    return Answer([f"μ = {mu} implies ρ = {rho}"], {"mu": mu, "rho": rho})


def _of_target(epsilon: str, delta: str | None) -> Answer:
    target = exact(epsilon, "--epsilon")
    if delta is None or exact(delta, "--delta") == 0:
        rho = text(PureDP(target).to_zcdp().rho)
        return Answer([f"ε = {epsilon} (pure) implies ρ = {rho}"], {"epsilon": epsilon, "rho": rho})
    chance = exact(delta, "--delta")
    rho, mu = text(ZCDP.for_approx(target, chance).rho), text(GDP.for_approx(target, chance).mu)
    lines = [
        f"ε = {epsilon} at δ = {delta} is implied by",
        f"  ρ = {rho} (zcdp)",
        f"  μ = {mu} (gdp)",
        "and by everything smaller",
    ]
    return Answer(lines, {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu})
