"""The audit of a quote: every pair of data sets is attacked, and the result is compared with the claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

from discreet.audit.attack import Aim, Compared, Found, run_attack
from discreet.audit.canaries import canary_counts
from discreet.audit.checks import Check, Counted, bound_events, noise_counts
from discreet.audit.choice_law import choice_counts
from discreet.audit.choices import choice_pairs, intervals_around, is_choice
from discreet.audit.choosing import MOST_ATTACKS, choice_attack, most_telling
from discreet.audit.claims import Claim, claim_of, grid_of
from discreet.audit.draws import KERNEL, Kernel
from discreet.audit.interval_law import interval_counts
from discreet.audit.pairs import neighbouring_tables
from discreet.audit.persons import canary_pairs
from discreet.domain.neighbours import whole_number
from discreet.errors import ArgumentError, PlanError, printed
from discreet.exact.numbers import Amount, exact, text
from discreet.invariants import Invariants
from discreet.noise.bits import Bits, system_bits
from discreet.plan.plan import Plan
from discreet.privacy import Budget, to_json
from discreet.privacy.amounts import check_budget
from discreet.quotes.allocate import quote
from discreet.quotes.quote import Measured, Quote
from discreet.totals.checking import check_invariants
from discreet.totals.exact_totals import exact_totals_of
from discreet.totals.given import read_totals
from discreet.totals.published import PublishedTotals

__all__ = ["ERROR", "RUNS", "Attack", "Audit", "Point", "audit", "audit_quote"]

RUNS = 1_000_000
ERROR = Fraction(1, 10**9)
"""The chance that an audit reports anything false: all attacks, both directions, all events together."""

_MOST_RUNS = 20_000_000
_LEAST_EPSILON = Fraction(1, 2)
_DELTA = Fraction(1, 100)
"""The δ at which ε is stated for measures without their own δ: some hundred thousand runs show nothing near 1e-9."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One pair of data sets, in both directions.

    Args:
        what: how the two data sets differ.
        runs: how many runs of the kernel were made for each of them.
        epsilon: the largest ε that was shown at the δ of the audit; a lower bound.
        deltas: for each ε of the audit the largest δ that was shown; lower bounds.
        statistic: the function that distinguished the outputs, for `epsilon`.
    """

    what: str
    runs: int
    epsilon: float
    deltas: tuple[float, ...]
    statistic: str


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the profile: the claimed upper bound, the shown lower bound, and the number of the attack."""

    epsilon: Fraction
    claimed: float
    found: float
    attack: int

    @property
    def refuted(self) -> bool:
        """True if more was shown than is claimed."""
        return self.found > self.claimed


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit. With a probability of at least `confidence` every bound in it is true.

    Args:
        plan_digest: the plan that was audited.
        spend: what it claims to cost.
        confidence: of all lower bounds together.
        delta: where `epsilon` is stated.
        claimed: the ε that is claimed at `delta`, rounded up.
        epsilon: the largest ε that was shown at `delta`; the true one is at least that.
        points: the profile, claimed and found.
        attacks: one for each pair of data sets.
        not_audited: the queries that were left out, in words.
        checks: events of the noise, of choices, copies and imputed values: what was declared, and what was drawn.
    """

    plan_digest: str
    spend: Budget
    confidence: Fraction
    delta: Fraction
    claimed: float
    epsilon: float
    points: tuple[Point, ...]
    attacks: tuple[Attack, ...]
    not_audited: tuple[str, ...]
    checks: tuple[Check, ...] = ()

    @property
    def leaks(self) -> bool:
        """True if the claim was shown to be false: an observer can learn more."""
        return self.epsilon > self.claimed or any(point.refuted for point in self.points)

    @property
    def unlike(self) -> tuple[Check, ...]:
        """The checks that show draws of another law than the declared one, of which the proofs speak."""
        return tuple(check for check in self.checks if check.refuted)

    @property
    def refuted(self) -> bool:
        """True if the claim, or a declared law, was shown to be wrong."""
        return self.leaks or bool(self.unlike)

    def to_json(self) -> dict[str, Any]:
        """The audit as JSON values."""
        points = [
            {"epsilon": text(one.epsilon), "delta_claimed": one.claimed, "delta_found": one.found, "attack": one.attack}
            for one in self.points
        ]
        attacks = [
            {"data_sets": one.what, "runs": one.runs, "epsilon_found": one.epsilon, "delta_found": list(one.deltas),
             "statistic": one.statistic}
            for one in self.attacks
        ]  # fmt: skip
        checks = [
            {"event": one.what, "runs": one.runs, "declared": one.declared, "at_least": one.low, "at_most": one.high}
            for one in self.checks
        ]
        return {
            "plan_digest": self.plan_digest,
            "spend": to_json(self.spend),
            "refuted": self.refuted,
            "confidence": text(self.confidence),
            "delta": text(self.delta),
            "epsilon_claimed": None if self.claimed == inf else self.claimed,
            "epsilon_found": self.epsilon,
            "profile": points,
            "attacks": attacks,
            "laws_refuted": len(self.unlike),
            "checks": checks,
            "not_audited": list(self.not_audited),
        }


def audit(
    request: Plan,
    spend: Budget,
    *,
    invariants: Invariants | None = None,
    totals: PublishedTotals | Mapping[object, object] | None = None,
    runs: int = RUNS,
    epsilons: Sequence[Amount] | None = None,
) -> Audit:
    """Lower bounds of what a request leaks, found by attacking the code that would answer it. Reads no data, spends nothing.

    The audit makes the data sets itself. What it shows is true with a probability of at least 1 - 1e-9; a claim that is not
    refuted is not proved by that.

    Args:
        request: made with `agg`.
        spend: what the request would cost: PureDP, ApproxDP, ZCDP or GDP.
        invariants: the exact totals that are published with it.
        totals: the published numbers, such as `session.totals`; without them the noise is that from before they are known.
        runs: how often the kernel runs for each data set; a hundredth of it where each run draws a table anew.
        epsilons: where the privacy profile is tested, each at least 1/2; chosen from the claim if left out.

    Raises:
        ArgumentError: not a plan, not a budget, fewer than 1,000 runs, or an ε below 1/2.
        PlanError: what `quote` refuses, or a request of which nothing can be audited.
    """
    if not isinstance(request, Plan):
        raise ArgumentError(f"request={printed(request)}: must be a request made with table.agg(…)")
    check_budget(spend)
    check_runs(runs)
    grid = None if epsilons is None else check_epsilons(epsilons)
    declared = check_invariants(invariants, request.schema, request.neighbours)
    stands = None
    rows = request.neighbours.rows
    if declared is not None and rows is not None:
        known = None if totals is None else read_totals(declared, request.schema, totals, rows)
        stands = exact_totals_of(declared, request.schema, known, rows)
    elif totals is not None:
        raise ArgumentError("totals: are given without invariants; name the invariants that they belong to")
    return audit_quote(quote(request, spend, stands), runs=runs, epsilons=grid)


def check_runs(runs: object) -> int:
    """The number of runs itself.

    Raises:
        ArgumentError: no whole number, fewer than 1,000 or more than 20 million.
    """
    number = whole_number(runs, "runs", least=1000)
    if number > _MOST_RUNS:
        raise ArgumentError(f"runs={number}: must be at most {_MOST_RUNS}, which are kept in memory")
    return number


def check_epsilons(epsilons: Sequence[Amount]) -> tuple[Fraction, ...]:
    """The ε, exact and in order.

    Raises:
        ArgumentError: none, more than 100, or one that is below 1/2 or above 100.
    """
    if isinstance(epsilons, str) or not isinstance(epsilons, Sequence) or not 1 <= len(epsilons) <= 100:
        raise ArgumentError(f"epsilons={printed(epsilons)}: must be a list of 1 to 100 numbers")
    found = sorted({exact(one, "epsilons") for one in epsilons})
    for one in found:
        if not _LEAST_EPSILON <= one <= 100:
            raise ArgumentError(f"epsilons={text(one)}: must be between 1/2 and 100; below, sampling hides the difference")
    return tuple(found)


def audit_quote(
    quoted: Quote,
    *,
    runs: int = RUNS,
    epsilons: tuple[Fraction, ...] | None = None,
    kernel: Kernel = KERNEL,
    bits: Bits | None = None,
    error: Fraction = ERROR,
) -> Audit:
    """The audit of a quote, made as `discreet.quotes.allocate.quote` makes it, or with a defect to see whether it is found.

    Args:
        quoted: the claim (plan, spend) and the way to carry it out (queries, noises).
        runs: how often the kernel runs for each data set.
        epsilons: where the profile is tested.
        kernel: the functions to run.
        bits: where the randomness comes from; the operating system.
        error: the chance of anything false in the audit.

    Raises:
        PlanError: nothing of the request can be audited.
    """
    if quoted.plan.keys is not None:
        raise PlanError(
            "audit(): attacks requests whose groups are public, and these are found in the data; docs/proofs/discovery.md "
            "proves what is charged; ask for an audit with a public list of groups"
        )
    choices = {number: choice_pairs(kernel, quoted, one) for number, one in enumerate(quoted.measured) if is_choice(one)}
    attacked = [quoted.measured[number] for number, pairs in choices.items() if pairs]
    attacked += [other for one in attacked for other in intervals_around(quoted, one)]
    audited, left_out = _separate_known(quoted, attacked)
    claim = claim_of(quoted, (*audited.measured, *attacked))
    stream = system_bits() if bits is None else bits
    pairs = _tables(kernel, audited, stream) if audited.measured else []
    attacks = len(pairs) + sum(min(len(some), MOST_ATTACKS) for some in choices.values())
    if not attacks:
        raise PlanError("no two data sets that the guarantee compares were found; nothing can be audited")
    delta = quoted.spend.reported_at(_DELTA)
    # Half of the error belongs to the attacks, in both directions; the other half belongs to the checks of laws.
    aim = Aim(epsilons or grid_of(claim), delta, runs, float(error) / (4 * attacks))
    found = [(pair.what, run_attack(kernel, audited, pair, aim, stream)) for pair in pairs]
    for some in choices.values():
        telling = most_telling(kernel, quoted, some, claim, aim, stream)
        found += [(pair.what, choice_attack(kernel, quoted, pair, aim, stream)) for pair in telling]
    checks = bound_events(list(_counts(kernel, quoted, audited, runs, stream)), float(error) / 2)
    return _result(quoted, claim, aim, tuple(_attack(what, both, aim) for what, both in found), checks, left_out, error)


def _tables(kernel: Kernel, audited: Quote, bits: Bits) -> Sequence[Compared]:
    if audited.plan.layout.persons is not None:
        return canary_pairs(kernel, audited)
    return neighbouring_tables(kernel, audited, bits)


def _counts(kernel: Kernel, quoted: Quote, audited: Quote, runs: int, bits: Bits) -> Iterator[Counted]:
    """Events with a declared probability: of the noise, of the choices, and of what happens to rows before them."""
    yield from noise_counts(kernel, audited, runs, bits)
    for one in quoted.measured:
        yield from choice_counts(kernel, quoted, one, runs, bits)
        yield from interval_counts(kernel, quoted, one, runs, bits)
    yield from canary_counts(kernel, quoted, runs, bits)


def _separate_known(quoted: Quote, choices: Sequence[Measured]) -> tuple[Quote, tuple[str, ...]]:
    """The quote for the queries to which noise is added, and the others in words.

    Args:
        quoted: the quote.
        choices: the queries of quantiles, and of intervals around them, for which there are tables to attack.
    """
    measured = tuple(one for one in quoted.measured if one.law.prepare_audit() is not None)
    left = [one for one in quoted.measured if one not in measured and one not in choices]
    said = tuple(f"not audited: {_name(one)}" for one in left)
    if len(left) == len(quoted.measured):
        raise PlanError(f"nothing of the request can be audited; {'; '.join(said)}")
    return replace(quoted, measured=measured), said


def _name(one: Measured) -> str:
    return one.query.words()


def _attack(what: str, both: tuple[Found, Found], aim: Aim) -> Attack:
    shown_at = [(event.epsilon_at(aim.delta), name) for found in both for event, name in _name_events(found)]
    epsilon, statistic = max(shown_at)
    deltas = tuple(max(event.delta_at(one) for found in both for event in found.events) for one in aim.epsilons)
    return Attack(what, both[0].runs, epsilon, deltas, statistic)


def _name_events(found: Found) -> Iterator[tuple[Any, str]]:
    return zip(found.events, found.names, strict=True)


def _result(  # noqa: PLR0917 (all parts of the result)
    quoted: Quote,
    claim: Claim,
    aim: Aim,
    attacks: tuple[Attack, ...],
    checks: tuple[Check, ...],
    left_out: tuple[str, ...],
    error: Fraction,
) -> Audit:
    points = []
    for place, epsilon in enumerate(aim.epsilons):
        found, number = max((attack.deltas[place], -number) for number, attack in enumerate(attacks, start=1))
        points.append(Point(epsilon, claim.delta_at(epsilon), found, -number))
    return Audit(
        plan_digest=quoted.plan.digest,
        spend=quoted.spend,
        confidence=1 - error,
        delta=aim.delta,
        claimed=claim.epsilon_at(aim.delta),
        epsilon=max(attack.epsilon for attack in attacks),
        points=tuple(points),
        attacks=attacks,
        not_audited=left_out,
        checks=checks,
    )
