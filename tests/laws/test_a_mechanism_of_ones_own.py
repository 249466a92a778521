"""The recipe "To add a mechanism" of docs/architecture.md, carried out: one file and one line, and the noise is in use.

The noise is the discrete Gaussian of independent cells. It joins the laws that hold of every noise; one that claims more
than it does is caught by them, and by an audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.audit import audit_quote
from discreet.exact.numbers import text
from discreet.mechanisms import (
    Mechanism,
    Noise,
    NoiseWords,
    Sensitivity,
    SomeChanges,
    Vector,
    candidates,
    law_of_cell,
    registry,
)
from discreet.mechanisms.adding import add_noise
from discreet.mechanisms.base import Answer, Audited, Guarantee, Integers
from discreet.mechanisms.held import restrict_to_held
from discreet.mechanisms.losses import audit_cells, squared_loss
from discreet.noise import DiscreteGaussian
from discreet.noise.bits import Bits
from discreet.privacy import ZCDP
from discreet.quotes.allocate import quote
from discreet.releases.publish import noise_json

from .every_noise import assert_added, assert_described, assert_half_widths, guarantees, points_of

# The file that is added -------------------------------------------------------------------------------------------------

WORDS = NoiseWords(
    name="discrete Gaussian",
    parameter="variance",
    sentence="P(k) ∝ exp(−k² / (2σ²)) for every integer k, in each group by itself.",
)


@dataclass(frozen=True, slots=True)
class Toy:
    """P(k) ∝ exp(-k²/(2 sigma2)) in every cell, independently."""

    sigma2: Fraction
    words: ClassVar[NoiseWords] = WORDS
    everywhere: ClassVar[bool] = True
    held: ClassVar[None] = None
    keeps_totals: ClassVar[bool] = False

    @property
    def independent(self) -> DiscreteGaussian:
        return DiscreteGaussian(self.sigma2)

    def apply(self, values: Integers, bits: Bits) -> Integers:
        return add_noise(values, self.independent, bits)

    def half_widths(self, level: Fraction) -> int:
        return self.independent.half_width(level)

    def rank_error(self, _level: Fraction) -> None:
        return None

    def variance(self) -> float:
        return self.independent.variance()

    def part_of_guarantee(self, changes: SomeChanges, guarantee: Guarantee) -> Fraction:
        return changes.ratio(guarantee)

    def to_json(self) -> dict[str, str]:
        return {"noise": WORDS.name, WORDS.parameter: text(self.sigma2)}

    def prepare_audit(self) -> Audited:
        return audit_cells(self, squared_loss(self.variance()), squared=True, is_gdp=False)


def offered(share: Fraction) -> Mechanism:
    """The mechanism; with a share below 1 one that lies, because its noise has only that share of the variance it needs."""

    def found(answer: Answer, sensitivity: Sensitivity, guarantee: Guarantee) -> Iterator[Noise]:
        sigma2 = guarantee.lattice_variance(sensitivity.l2_squared)
        if isinstance(answer, Vector) and sigma2 is not None:
            yield restrict_to_held(answer, Toy(share * sigma2))

    return Mechanism((WORDS,), found)


HONEST, LYING = offered(Fraction(1)), offered(Fraction(1, 3))

# What then holds without another line ---------------------------------------------------------------------------------

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]))
COUNTS = dp.Table(SCHEMA, dp.AddRemove()).group_by("g").agg(dp.count())
CHANGE = Sensitivity(2, 4)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the registry."""
    monkeypatch.setattr(registry, "MECHANISMS", (*registry.MECHANISMS, HONEST))


@pytest.mark.parametrize("rho", ["0.1", "2"])
def test_it_has_the_guarantee_that_it_is_offered_for_and_one_that_lies_has_not(rho: str, monkeypatch) -> None:
    for one, holds in ((HONEST, True), (LYING, False)):
        monkeypatch.setattr(registry, "MECHANISMS", (one,))
        ((_, noise),) = candidates(Vector(1), CHANGE, ZCDP(rho))
        assert guarantees(law_of_cell(noise), 2, ZCDP(rho)) == holds


def test_its_half_widths_are_those_of_its_law_and_it_is_added() -> None:
    assert_half_widths(Toy(Fraction(9)), *points_of(np.eye(1, dtype=np.int64), lambda k: (k[:, 0] ** 2) / 18, 60))
    assert_added(Toy(Fraction(9)), 5)


@pytest.mark.usefixtures("registered")
def test_pages_have_words_and_a_formula_for_it() -> None:
    assert_described(Toy(Fraction(9)), "zcdp", "σ² = Δ₂² / (2ρ)")


@pytest.mark.usefixtures("registered")
def test_it_is_chosen_where_it_is_the_least_noise_and_a_release_says_so(tmp_path: Path) -> None:
    asked = quote(COUNTS, ZCDP(2))
    (one,) = asked.measured
    assert isinstance(one.law, Toy)
    assert [other.mechanism for other in one.alternatives] == ["discrete Gaussian", "rounded Gaussian"]
    assert "noise discrete Gaussian, variance 0.25" in str(asked)
    assert noise_json(asked)[0]["noise"] == "discrete Gaussian"
    rows = pl.DataFrame({"g": ["x"] * 30})
    options = {"dataset": "d", "budget": ZCDP(2), "neighbours": dp.AddRemove(), "ledger": tmp_path / "ledger.db"}
    with dp.Session(rows, SCHEMA, **options) as session:
        release = session.release(COUNTS, spend=ZCDP(2), name="r")
    assert release.document["noise"][0]["variance"] == "0.25"
    assert release.table["count"].to_list() != [0, 0, 0]


@pytest.mark.usefixtures("registered")
def test_an_audit_draws_it_and_finds_one_that_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = quote(COUNTS, ZCDP("0.5"))
    assert not audit_quote(honest, runs=40_000).refuted
    monkeypatch.setattr(registry, "MECHANISMS", (LYING,))
    lying = quote(COUNTS, ZCDP("0.5"))
    assert isinstance(lying.measured[0].law, Toy)
    assert audit_quote(lying, runs=40_000).leaks
    quiet = replace(honest, measured=tuple(replace(one, law=Toy(one.law.sigma2 / 3)) for one in honest.measured))
    assert audit_quote(quiet, runs=40_000).leaks
