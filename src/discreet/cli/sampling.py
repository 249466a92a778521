"""`discreet convert --sampled`, `--without-replacement` and `--proportion`: guarantees on both sides of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.cli.output import Answer
from discreet.domain.draws import WithoutReplacement, refuse_design
from discreet.domain.neighbours import AddRemove
from discreet.errors import ArgumentError
from discreet.exact.numbers import exact, text
from discreet.privacy import GDP, ZCDP, ApproxDP, PureDP
from discreet.privacy.amounts import amount_text
from discreet.privacy.amplify import Resampling
from discreet.privacy.base import Copies
from discreet.privacy.population import PopulationGuarantee

__all__ = ["through_sample"]


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample: the law of a person's copies in it, whom its guarantee protects inside and outside, and what is told."""

    copies: Copies
    inside: str
    outside: str
    facts: Mapping[str, Any]


def through_sample(given: Mapping[str, str], guarantee: ZCDP | GDP | None, epsilon: str | None, delta: str | None) -> Answer:
    """The guarantee outside a sample of one inside it; of (ε, δ) also the one inside that gives it outside.

    Raises:
        ArgumentError: two samples, numbers outside their domain, or a combination from which nothing follows.
    """
    if len(given) > 1:
        raise ArgumentError(f"{' and '.join(given)}: give one of them")
    ((option, value),) = given.items()
    sample = _resize(value) if option == "--proportion" else _file(option, value)
    if guarantee is None:
        return _of_pair(sample, exact(epsilon or "", "--epsilon"), exact(delta or "0", "--delta"))
    if (epsilon is None) == (delta is None):
        raise ArgumentError(
            f"--{guarantee.fields[0]}: give --delta to learn ε, or --epsilon to learn δ, and only one of them"
        )
    if option == "--proportion":
        return _of_curve(sample, guarantee, guarantee.through(sample.copies), epsilon, delta)
    return _of_curve(sample, guarantee, PopulationGuarantee(guarantee, sample.copies[1]), epsilon, delta)


def _file(option: str, value: str) -> _Sample:
    """A file that is a secret sample: who was drawn is not known to readers."""
    if value.replace("-", "").isalpha():
        raise refuse_design(value)
    rate = exact(value, option) if option == "--sampled" else _read_rate(value)
    if not 0 < rate <= 1:
        raise ArgumentError(f"{option}={value}: must be above 0 and at most 1: the largest probability of being drawn")
    who = "for the population, as long as nobody learns who was drawn"
    return _Sample((1 - rate, rate), "for the rows of the file", who, {"sampled": text(rate)})


def _read_rate(value: str) -> Fraction:
    parts = value.split(",")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise ArgumentError(f"--without-replacement={value!r}: must be two whole numbers, rows drawn and persons: 100,10000")
    drawn, persons = (int(part) for part in parts)
    if not drawn:
        raise ArgumentError("--without-replacement=0,…: at least one row must be drawn")
    return WithoutReplacement(persons).rate_of(drawn)


def _resize(value: str) -> _Sample:
    """A resize of a table with a private number of rows: K is binomial, whatever n is (Theorem R2)."""
    copies = Resampling(1, exact(value, "--proportion"), AddRemove()).law
    facts = {"proportion": text(exact(value, "--proportion"))}
    return _Sample(copies, "for a row of the resized table", "for a row of the table before the resize", facts)


def _of_pair(sample: _Sample, epsilon: Fraction, delta: Fraction) -> Answer:
    """Both directions: from inside to outside, and the most that may be spent inside for it outside."""
    stated = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    outer, inner = stated.through(sample.copies), stated.functional(sample.copies)
    lines = [
        f"{amount_text(stated)} {sample.inside} implies {_exactly(outer)} {sample.outside}",
        f"{_exactly(inner)} {sample.inside} implies {amount_text(stated)} {sample.outside}",
    ]
    facts = {**sample.facts, **stated.to_json(), "outside": outer.to_json(), "inside": inner.to_json()}
    if isinstance(inner, ApproxDP) and "sampled" in sample.facts:
        pair = inner.epsilon, inner.delta
        rho, mu = text(ZCDP.for_approx(*pair).rho), text(GDP.for_approx(*pair).mu)
        lines.append(f"  and so does ρ = {rho} (zcdp), or μ = {mu} (gdp)")
        facts |= {"rho": rho, "mu": mu}
    return Answer(lines, facts)


def _of_curve(
    sample: _Sample, guarantee: ZCDP | GDP, outer: ZCDP | GDP | PopulationGuarantee, epsilon: str | None, delta: str | None
) -> Answer:
    start = f"{amount_text(guarantee)} {sample.inside} implies"
    facts = {**sample.facts, **guarantee.to_json()}
    if delta is not None:
        at = outer.epsilon_at(exact(delta, "--delta"))
        return Answer([f"{start} ε = {at!r} at δ = {delta} {sample.outside}"], {**facts, "delta": delta, "epsilon": at})
    chance = outer.delta_at(exact(epsilon or "", "--epsilon"))
    line = f"{start} δ = {chance!r} at ε = {epsilon} {sample.outside}"
    return Answer([line], {**facts, "epsilon": epsilon, "delta": chance})


def _exactly(measure: PureDP | ApproxDP) -> str:
    return ", ".join(
        f"{symbol} = {value}" for symbol, value in zip(measure.symbols, measure.to_json().values(), strict=True)
    )
