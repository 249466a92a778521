"""A chi-square test with an exact law behind it, for the samplers of noise."""

from collections.abc import Callable

import numpy as np
import pytest

ALPHA = 1e-9
"""By the law of chi-square. Where cells expect ten, the tail of the statistic is longer: the error of one acceptance is 5e-7
at most, and that of all acceptances of all tests, added up from the Poisson laws of their cells, is below 3e-6."""


def upper_chi_square(statistic: float, freedom: int) -> float:
    """P(X > statistic) for X chi-square with that many degrees of freedom."""
    from flint import arb

    return float((arb(statistic) / 2).gamma_upper(arb(freedom) / 2, regularized=1))


def law_edges(law: object, size: int, cells: int = 64) -> np.ndarray:
    """Integers e where P(Y ≤ e) runs through `cells` quantiles, denser in the tails, every cell expecting ≥ 25."""
    least = max(25 / size, 1e-12)
    outer = np.geomspace(least, 1 / cells, 8)
    magnitudes = sorted({law.half_width(round(1 - 2 * p, 12)) for p in [*outer, *np.arange(1, cells // 2) / cells]})
    return np.array([-m - 1 for m in reversed(magnitudes)] + magnitudes)


def cdf(law: object, k: int) -> float:
    """P(Y ≤ k) of a symmetric law."""
    return 1 - law.tail(k)[0] / 2 if k >= 0 else law.tail(-k - 1)[0] / 2


class Counter:
    """Pearson's chi-square for a law on its `law_edges`, for samples that arrive in parts."""

    def __init__(self, law: object, size: int) -> None:
        self.edges = law_edges(law, size)
        below = np.array([0.0, *(cdf(law, int(e)) for e in self.edges), 1.0])
        self.expected = np.diff(below) * size
        self.observed = np.zeros(self.edges.size + 1)

    def add(self, sample: np.ndarray) -> None:
        """Counts a part of the sample."""
        cells = np.searchsorted(self.edges, sample, side="left")
        self.observed += np.bincount(cells, minlength=self.edges.size + 1)

    def p_value(self) -> float:
        """Cells that expect less than 10 are joined with the next one."""
        expected, observed = [0.0], [0.0]
        for e, o in zip(self.expected, self.observed, strict=True):
            expected[-1] += e
            observed[-1] += o
            if expected[-1] >= 10:
                expected.append(0.0)
                observed.append(0.0)
        last_e, last_o = expected.pop(), observed.pop()
        expected[-1] += last_e
        observed[-1] += last_o
        e, o = np.array(expected), np.array(observed)
        return 1.0 if e.size == 1 else upper_chi_square(float(((o - e) ** 2 / e).sum()), e.size - 1)


def p_value(sample: np.ndarray, law: object) -> float:
    """The p-value of a sample under a law."""
    counter = Counter(law, sample.size)
    counter.add(sample)
    return counter.p_value()


def counts_p_value(observed: np.ndarray, probabilities: np.ndarray) -> float:
    """Pearson's chi-square for a finite law; cells of probability 0 must be empty."""
    observed, probabilities = np.asarray(observed, dtype=float), np.asarray(probabilities, dtype=float)
    assert observed[probabilities == 0].sum() == 0
    expected = probabilities * observed.sum()
    rare = expected < 10  # joined into one cell, itself left out when it expects too little
    expected = np.append(expected[~rare], expected[rare].sum())
    observed = np.append(observed[~rare], observed[rare].sum())
    if expected[-1] < 10:
        expected[-2:] = [expected[-2] + expected[-1], 1]
        observed[-2:] = [observed[-2] + observed[-1], 1]
    return upper_chi_square(float(((observed - expected) ** 2 / expected).sum()), expected.size - 1)


@pytest.fixture
def fits() -> Callable[[np.ndarray, object], bool]:
    """Whether a sample is compatible with a law; wrong with probability below 1e-9 when it is drawn from it."""
    return lambda sample, law: p_value(sample, law) > ALPHA


@pytest.fixture
def counts_fit() -> Callable[[np.ndarray, np.ndarray], bool]:
    """Whether observed counts are compatible with finitely many probabilities; error below 1e-9."""
    return lambda observed, probabilities: counts_p_value(observed, probabilities) > ALPHA


@pytest.fixture
def chi_square_counts() -> type[Counter]:
    """A chi-square test for samples that do not fit into memory at once."""
    return Counter
