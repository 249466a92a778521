"""Analysis of variance on a release: are the means of several groups equal? From sums, counts and variances by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf

from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.numbers import Amount, exact, rational_gcd
from discreet.noise.single.laws import DiscreteLaplace, RoundedGaussian
from discreet.releases.derived.linear import Cell, Linear
from discreet.releases.derived.operands import Key, Numbers, label_of, numbers
from discreet.releases.derived.reading import bounds_of, outputs_of
from discreet.releases.document import Release
from discreet.releases.hypotheses.crossed import check_facts, check_labels, check_rows
from discreet.releases.hypotheses.means import check_deviation, count_of_column, group_column, sum_line
from discreet.releases.hypotheses.one_variance import NOISES, OneVariance, Sample
from discreet.releases.hypotheses.result import Tested, rounded_up
from discreet.releases.hypotheses.search import smallest_rejected

__all__ = ["test_anova"]

_MOST_GROUPS = 60
_METHOD = (
    "the smallest level at which no variance, mean and numbers of rows that the release leaves possible explain the means, "
    "by the χ² law of their weighted squared distances; without noise and with many rows it is the F test"
)
_ROUNDING = Fraction(1, 10**12)  # of the largest possible sum of squares: more than a printed variance is rounded by


def test_anova(
    release: Release,
    total: str,
    *,
    over: str | None = None,
    variance: str | None = None,
    by: str | None = None,
    groups: Sequence[object] | None = None,
    at: Mapping[str, object] | None = None,
    deviation: Amount | None = None,
) -> Tested:
    """Tests whether a column has one mean in all groups, where its values are normal with one variance in all of them.

    The p-value is valid in this model for every number of rows and with the noise of the release. Where the model is in
    doubt, `test_means` assumes bounds alone, and has less power.

    Args:
        release: sums, counts and variances of the column, by groups; with `deviation` variances may be missing.
        total: the column of sums, such as "sum_wage".
        over: the counts of the same column, such as "count_wage"; left out: the one that the release has.
        variance: the variances of the same column, such as "variance_wage"; left out: the one that the release has.
        by: the group column; left out: the only one that `at` does not fix.
        groups: two or more of its labels, such as a category and its reference; left out: all.
        at: only the groups with these labels.
        deviation: what is publicly known to be at least the standard deviation of the column in each group.

    Raises:
        ArgumentError: not sums, counts and variances of one column, noise whose law is not known here, too few or too many
            groups, or rows that are not independent.
    """
    check_rows(release)
    check_labels(at, "at")
    line = sum_line(release, total)
    counted, most = count_of_column(release, line["column"], over), check_deviation(deviation)
    spread = _variance_name(release, line["column"], variance, deviation)
    name = group_column(release, by, at or {})
    if len(release.document["plan"]["group_by"]) != 1 + len(at or {}):
        raise ArgumentError(f"by={printed(name)}: variances cannot be added up over other columns; fix these by at=")
    bounds = bounds_of(release.document, line)
    if bounds is None or bounds[0] == bounds[1]:
        raise ArgumentError(f"total={printed(total)}: the bounds of {line['column']} are not known from the release")
    read = [numbers(release, one, at=at) for one in (total, counted, spread) if one is not None]
    scale = _Scale(bounds, None if spread is None else _noise_of_squares(release, line["column"]))
    keys = _check_groups(read[0], groups, name)
    check_facts(release, [name, *(at or {})])
    found = OneVariance(
        [scale.sample(read, key, place) for place, key in enumerate(keys)],
        float(scale.reach),
        (most / float(scale.unit)) ** 2,
    )
    return Tested(
        test="anova",
        hypothesis=f"the mean of {line['column']} is the same in {len(keys)} groups of {name} in the population of the rows",
        alternative="two-sided",
        statistic=found.statistic(),
        statistic_words="the mean square of the published means over the one that rows and noise let expect (about F)",
        p_value=rounded_up(smallest_rejected(found.rejects, 0.0)),
        method=_METHOD,
        assumptions=(
            "the rows of the table are independent draws from the populations of their groups",
            f"the values of {line['column']} are normal with one variance in all groups, and their bounds cut hardly any",
            *([f"the standard deviation of {line['column']} is at most {most:g} in each population"] if most < inf else []),
        ),
        source=read[0].source,
        details={"groups": len(keys)},
    )


test_anova.__test__ = False  # type: ignore[attr-defined]


def _variance_name(release: Release, column: str, variance: str | None, deviation: Amount | None) -> str | None:
    """The name of the variances of a column; None where the release has none and a deviation is known."""
    known = [
        name
        for name, line in outputs_of(release.document).items()
        if line["statistic"] == "variance" and line["column"] == column and name == line["name"]
    ]
    if variance is None and not known and deviation is not None:
        return None
    if variance not in known and not (variance is None and known):
        raise ArgumentError(
            f"variance={printed(variance)}: is not a variance of {column} in release '{release.document['name']}'; release "
            f'sum("{column}"), count("{column}") and variance("{column}") together'
        )
    return str(variance or known[0])


def _noise_of_squares(release: Release, column: str) -> DiscreteLaplace | RoundedGaussian:
    """The law of the noise of the sums of squares, as the document says it."""
    written = [one for one in release.document["noise"] if one["query"] == f"sum of squares of {column}"]
    if len(written) != 1 or "lattice" in written[0] or written[0]["noise"] not in _LAWS:
        raise ArgumentError(
            f"release '{release.document['name']}': the noise of the sum of squares of {column} is not known to the test; "
            f'release sum("{column}"), count("{column}") and variance("{column}") together, without imputed rows'
        )
    law, key = _LAWS[written[0]["noise"]]
    return law(exact(written[0][key], key))


_LAWS: Mapping[str, tuple[type[DiscreteLaplace] | type[RoundedGaussian], str]] = {
    "discrete Laplace": (DiscreteLaplace, "scale"),
    "rounded Gaussian": (RoundedGaussian, "variance"),
}


def _check_groups(found: Numbers, groups: Sequence[object] | None, name: str) -> list[Key]:
    """The keys of the groups. Raises ArgumentError for labels that are none, and for too few or too many."""
    known: list[Key] = [key for key in found.cells if key != (None,)]
    if groups is not None and not isinstance(groups, list | tuple):
        raise ArgumentError(f"groups={printed(groups)}: must be a list of labels of {name}")
    keys: list[Key] = known if groups is None else [(label_of(one),) for one in groups]
    for key in keys:
        if key not in known:
            near = did_you_mean(str(key[0]), [str(label) for (label,) in known])
            raise ArgumentError(f"groups: {printed(key[0])} is not a label of {name}{near}")
    if len(set(keys)) != len(keys) or not 2 <= len(keys) <= _MOST_GROUPS:
        raise ArgumentError(f"groups: are {len(keys)} of {name}; a test takes 2 to {_MOST_GROUPS} different ones")
    return keys


class _Scale:
    """Values in whole steps from the middle of their bounds, as the sums behind a variance have them."""

    def __init__(self, bounds: tuple[Fraction, Fraction, Fraction], law: DiscreteLaplace | RoundedGaussian | None) -> None:
        lower, upper, step = bounds
        self.middle = (lower + upper) / 2
        self.unit = rational_gcd(lower - self.middle, step)
        self.reach = (upper - self.middle) / self.unit
        self.shift = self.reach**2 // 2
        self.law = law

    def sample(self, read: Sequence[Numbers], key: Key, place: int) -> Sample:
        """The sums of a group."""
        total, count, *spreads = (one.cells.get(key) for one in read)
        if not isinstance(total, Linear) or not isinstance(count, Linear):
            raise _unknown(read[0])
        centred = total.plus(-self.middle, count).times(1 / self.unit)
        known = all(len(part.terms) <= 1 for part in (centred, count))
        if not known or any(
            cell.tied or type(cell.law) not in NOISES for part in (centred, count) for _, cell in part.terms
        ):
            raise _unknown(read[0])
        (spread,) = spreads or (None,)
        squares = count.times(self.reach**2 - self.shift)  # of values at their bounds
        if spread is not None and self.law is not None:
            squares = self._squares(centred, count, spread.value, place)
        return Sample(centred, count, squares, float(self.shift))

    def _squares(self, total: Linear, count: Linear, variance: Fraction, place: int) -> Linear:
        """The noisy sum of squares that a printed variance was computed of, or a little more.

        A variance that was cut at 0 is of a smaller sum; one that was cut at its greatest says nothing but the bounds.
        """
        rows, steps = max(count.value, Fraction(1)), variance / self.unit**2
        if steps >= self.reach**2 * (1 - _ROUNDING):
            return count.times(self.reach**2 - self.shift)
        found = rows * (steps - self.shift + (total.value / rows) ** 2)
        size = rows * self.reach**2 + total.value**2 / rows
        noise = Cell("", "squares", place, self.law, tied=False)  # type: ignore[arg-type]
        return Linear(found + _ROUNDING * size, ((Fraction(1), noise),))


def _unknown(found: Numbers) -> ArgumentError:
    return ArgumentError(
        f"{found}: the law of the noise of these numbers is not known to the test; release sums, counts and variances by "
        "these groups without exact totals"
    )
