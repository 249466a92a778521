"""The recipe "To add a measure" of docs/architecture.md, carried out: one file and one line, and the measure is in use.

The measure is the cost κ = Δ₂²/σ² of Gaussian noise, which is twice the ρ of zCDP. It joins the laws that hold of every
measure; one that lies is caught by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.builders import plan_text

import discreet as dp
from discreet.errors import ArgumentError
from discreet.exact.numbers import Amount, exact, sqrt_down, text
from discreet.pages.explain import explain
from discreet.pages.report.page import render
from discreet.pages.report.promise import measure_words
from discreet.pages.words import english
from discreet.planfile.read import load_plan
from discreet.privacy import ZCDP, convert, measures
from discreet.privacy.base import Copies, NoiseMeasure, Root, Sampling, Sized
from discreet.quotes.allocate import quote

from .every_measure import assert_adds, assert_converts, assert_hidden, assert_sampled, assert_shared, assert_written, hides

pytestmark = pytest.mark.usefixtures("one_artist")

# The file that is added -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cost:
    """κ: what Gaussian noise of variance Δ₂²/κ guarantees, which is zCDP with ρ = κ/2."""

    kappa: Fraction

    word: ClassVar[str] = "cost"
    fields: ClassVar[tuple[str, ...]] = ("kappa",)
    symbols: ClassVar[tuple[str, ...]] = ("κ",)
    coordinate_symbols: ClassVar[tuple[str, ...]] = ("κ",)
    long_name: ClassVar[str] = "cost of Gaussian noise"
    amplified: ClassVar[bool] = False
    power: ClassVar[int] = 2
    norm: ClassVar[str] = "Δ₂²"
    formulas: ClassVar[Mapping[str, str]] = {"variance": "σ² = Δ₂² / κ", "range": "range² = 4κ / Δ₂²"}
    from_pair: ClassVar[str] = "(ε, δ) never becomes a κ."

    def __init__(self, kappa: Amount) -> None:
        object.__setattr__(self, "kappa", exact(kappa, "kappa"))

    @property
    def zcdp(self) -> ZCDP:
        return ZCDP(self.kappa / 2)

    def epsilon_at(self, delta: Amount) -> float:
        return self.zcdp.epsilon_at(delta)

    def delta_at(self, epsilon: Amount) -> float:
        return self.zcdp.delta_at(epsilon)

    def explain(self) -> str:
        return f"At most the evidence of Gaussian noise with κ = {text(self.kappa)}."

    def to_json(self) -> dict[str, Any]:
        return {"kappa": text(self.kappa)}

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Cost:
        return cls(document["kappa"])

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        return (self.kappa,)

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> Cost:
        return cls(*coordinates)

    @property
    def pair(self) -> None:
        return None

    def reported_at(self, delta: Fraction) -> Fraction:
        return delta

    def part(self, spend: object) -> Cost:
        return type(self)(exact(spend, "spend"))  # type: ignore[arg-type]

    @staticmethod
    def epsilons(amounts: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
        return convert.zcdp_epsilon(amounts / 2, delta)

    def drawn_to(self, delta: Fraction) -> Fraction:
        return self.zcdp.drawn_to(delta)

    def totals_words(self, part: Fraction, a: int) -> str:
        return ""

    def through(self, copies: Copies) -> Cost:
        return type(self)((len(copies) - 1) ** 2 * self.kappa)

    def functional(self, copies: Copies) -> Cost:
        return type(self)(self.kappa / max(1, len(copies) - 1) ** 2)

    @staticmethod
    def size(change: Sized) -> int:
        return change.l2_squared

    @classmethod
    def implying(cls, spend: Any, sampled: Sampling | None, *, totals: bool) -> tuple[Cost, ...]:
        if not isinstance(spend, Cost):
            return ()
        return (spend if sampled is None else spend.functional(sampled.law),)

    def each_of(self, rows: int) -> Cost:
        return type(self)(self.kappa / rows**2)

    def profile_on(self, sampled: Sampling) -> None:
        return None

    def as_pair(self, delta: Fraction, sampled: Sampling | None) -> Any:
        return (self if sampled is None else self.through(sampled.law)).zcdp.to_approx(delta)

    def laplace_scale(self, l1: int) -> None:
        return None

    def gaussian_variance(self, l2_squared: int) -> Fraction | None:
        return l2_squared / self.kappa

    def lattice_variance(self, l2_squared: int) -> Fraction | None:
        return l2_squared / self.kappa

    def choice_range(self, l1: int, l2_squared: int) -> Fraction:
        return sqrt_down(4 * self.kappa / l2_squared)

    def resized_words(self, spend: Any, most: int) -> str:
        return f"Not amplified: κ' = {most**2}·κ"


class Quiet(Cost):
    """Says that a third of the noise is enough."""

    def gaussian_variance(self, l2_squared: int) -> Fraction | None:
        return l2_squared / (3 * self.kappa)


class Eager(Cost):
    """Spends the whole amount on a sample that may hold a record twice."""

    def functional(self, copies: Copies) -> Cost:
        return self


class Generous(Cost):
    """Gives each row of a person the whole."""

    def each_of(self, rows: int) -> Cost:
        return self


class Rounded(Cost):
    """Makes more of a share than it is."""

    @classmethod
    def of_coordinates(cls, coordinates: Sequence[Fraction], root: Root) -> Cost:
        return cls(coordinates[0] * Fraction(101, 100))


# What then holds without another line -----------------------------------------------------------------------------------

NEW: type[NoiseMeasure] = Cost
SCHEMA = dp.Schema(g=dp.Category(["x", "y"]))
COUNTS = dp.Table(SCHEMA, dp.AddRemove()).group_by("g").agg(dp.count())


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the registry."""
    for registry in ("_BUDGETS", "_NOISES"):
        monkeypatch.setattr(measures, registry, (*getattr(measures, registry), NEW))


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("kappa", ["0.2", "2"])
def test_it_joins_the_laws_of_every_measure(kappa: str) -> None:
    one = Cost(kappa)
    for law in (assert_written, assert_converts, assert_adds, assert_sampled, assert_shared, assert_hidden):
        law(one)


def test_one_that_lies_is_caught() -> None:
    for law, lying in ((assert_sampled, Eager), (assert_shared, Generous), (assert_adds, Rounded), (assert_hidden, Quiet)):
        law(Cost(2))
        with pytest.raises(AssertionError):
            law(lying(2))


@pytest.mark.usefixtures("registered")
def test_a_quote_a_release_and_their_words_are_in_it(tmp_path: Path) -> None:
    asked: Any = quote(COUNTS, Cost(2))  # type: ignore[arg-type]
    (one,) = asked.measured
    assert one.guarantee == Cost(2)
    assert hides(one.law.independent, 1, Cost(2))
    assert "σ² = Δ₂² / κ = 0.5" in str(explain(asked))
    rows = pl.DataFrame({"g": ["x"] * 30})
    options: dict[str, Any] = {"dataset": "d", "neighbours": dp.AddRemove(), "ledger": tmp_path / "ledger.db"}
    with dp.Session(rows, SCHEMA, budget=Cost(3), **options) as session:  # type: ignore[arg-type]
        release = session.release(COUNTS, spend=2, name="r")
        assert session.remaining == Cost(1)
    assert release.guarantee.measure == Cost(2)
    assert measure_words(release.guarantee.measure, english()) == "κ = 2 (cost of Gaussian noise)"
    assert "cost of Gaussian noise" in render(release)


@pytest.mark.usefixtures("registered")
def test_a_plan_file_can_have_it(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    text = plan_text("counted").replace('"pure-dp"\nepsilon = 1', '"cost"\nkappa = 3')
    plan.write_text(text.replace("spend = 1", 'spend = "0.5"'))
    read = load_plan(plan)
    assert read.budget == Cost(3)
    assert read.orders[0].spend == Cost("0.5")


def test_without_the_line_nothing_takes_it() -> None:
    options: dict[str, Any] = {"dataset": "d", "ledger": ":memory:", "budget": Cost(1), "neighbours": dp.AddRemove()}
    with pytest.raises(ArgumentError, match="must be PureDP, ApproxDP, ZCDP or GDP"):
        dp.Session(pl.DataFrame({"g": ["x"]}), SCHEMA, **options)
