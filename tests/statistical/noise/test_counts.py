"""Counts against their exact laws on small cases: binomial, multinomial, hypergeometric. Error 1e-9 per test."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from discreet.noise.bits import system_bits
from discreet.noise.counts import counts
from discreet.noise.single import _coins

SIZE = 400_000


@pytest.mark.one_in(3)
@pytest.mark.parametrize("small_cells", [0, 64])
@pytest.mark.parametrize("rate", ["1/3", "0.02", "0.9", "1/2", "12345/65536"])
def test_binomial(rate, small_cells, counts_fit, monkeypatch) -> None:
    monkeypatch.setattr(_coins, "_SMALL_CELLS", small_cells)
    n, p = 9, Fraction(rate)

    def law(p: Fraction) -> np.ndarray:
        return np.array([float(comb(n, k) * p**k * (1 - p) ** (n - k)) for k in range(n + 1)])

    drawn = counts.binomial(np.full(SIZE, n), p, system_bits())
    observed = np.bincount(drawn, minlength=n + 1)
    assert counts_fit(observed, law(p))
    assert not counts_fit(observed, law(p + Fraction(15 * float(p * (1 - p) / (n * SIZE)) ** 0.5)))


@pytest.mark.parametrize("many_rows", [1, 10**9])
def test_multinomial_rows(many_rows, counts_fit, monkeypatch) -> None:
    monkeypatch.setattr(counts, "_MANY_ROWS", many_rows)
    weights = [3, 0, 1, 5, 2]
    drawn = counts.multinomial_rows(np.full(SIZE, 2), weights, system_bits())
    code = (drawn * [1, 3, 9, 27, 81]).sum(axis=1)
    law = np.zeros(243)
    for i in range(5):
        for j in range(5):
            law[3**i + 3**j] += weights[i] * weights[j] / 121
    assert counts_fit(np.bincount(code, minlength=243), law)
    wrong = [3, 0, 1, 5.1, 1.9]
    law = np.zeros(243)
    for i in range(5):
        for j in range(5):
            law[3**i + 3**j] += wrong[i] * wrong[j] / 121
    assert not counts_fit(np.bincount(code, minlength=243), law)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("cells", "m"), [((3, 5, 2), 4), ((1, 1, 8), 7), ((30, 40, 0), 2), ((4, 0, 6), 5)])
def test_multivariate_hypergeometric(cells, m, counts_fit) -> None:
    bits, size = system_bits(), 2000
    codes = np.zeros((max(cells) + 1) ** 2, dtype=int)
    base = max(cells) + 1
    for _ in range(size):
        a, b, _c = counts.multivariate_hypergeometric(np.array(cells), m, bits)
        codes[a * base + b] += 1
    law = np.zeros(base**2)
    for a in range(cells[0] + 1):
        for b in range(cells[1] + 1):
            c = m - a - b
            if 0 <= c <= cells[2]:
                law[a * base + b] = comb(cells[0], a) * comb(cells[1], b) * comb(cells[2], c) / comb(sum(cells), m)
    assert counts_fit(codes, law)


@pytest.mark.slow
def test_the_fix_up_of_large_subsets_has_the_exact_law(counts_fit, monkeypatch) -> None:
    monkeypatch.setattr(counts, "_FEW", 3)
    # 100 records in two cells, 40 drawn: many draws go through rate, surplus and shortage alike.
    cells, m, size = np.array([50, 50]), 40, 3000
    bits = system_bits()
    drawn = np.array([counts.multivariate_hypergeometric(cells, m, bits)[0] for _ in range(size)])
    law = np.array([comb(50, k) * comb(50, 40 - k) / comb(100, 40) for k in range(41)])
    inner = slice(12, 29)
    observed = np.bincount(drawn, minlength=41)
    pooled = np.append(observed[inner], size - observed[inner].sum())
    assert counts_fit(pooled, np.append(law[inner], 1 - law[inner].sum()))
    binomial = np.array([comb(40, k) / 2.0**40 for k in range(41)])  # sampling with replacement is wider
    assert not counts_fit(pooled, np.append(binomial[inner], 1 - binomial[inner].sum()))
