"""How a file was drawn: what is declared, and what is refused with its reason."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import pytest

from discreet.domain.draws import Poisson, WithoutReplacement, draw_of, draws, is_draw, refuse_design
from discreet.errors import ArgumentError

EXAMPLES: dict[type, tuple[Any, int | None, Fraction]] = {
    Poisson: (Poisson("1/100", draw="panel"), None, Fraction(1, 100)),
    WithoutReplacement: (WithoutReplacement(of=500), 100, Fraction(1, 5)),
}


@pytest.mark.parametrize("kind", draws())
def test_every_draw_is_written_read_and_has_a_rate(kind: type) -> None:
    one, rows, rate = EXAMPLES[kind]
    assert is_draw(one)
    assert draw_of(one.to_json()) == one
    assert pickle.loads(pickle.dumps(one)) == one
    one.check(rows, 1)
    assert one.rate_of(rows) == rate
    assert one.words()
    assert set(one.to_json()) == {"design", "draw", *kind.fields}  # type: ignore[attr-defined]


def test_every_draw_has_an_example() -> None:
    assert set(EXAMPLES) == set(draws())


def test_the_size_of_a_poisson_sample_is_private() -> None:
    with pytest.raises(ArgumentError, match="number of rows of such a sample is random, and rows=5 would be public"):
        Poisson("1/2").check(5, 1)


@pytest.mark.parametrize(
    ("rows", "persons", "said"),
    [
        (None, 1, r"size of such a sample is fixed and public; declare ReplaceOne\(rows=…, sampled=…\)"),
        (501, 1, "rows=501: must be at most the size of the population, of=500"),
        (100, 2, "rows_per_person=2: a sample without replacement is of persons with one row each"),
    ],
)
def test_a_sample_without_replacement_has_a_public_size(rows: int | None, persons: int, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        WithoutReplacement(of=500).check(rows, persons)


@pytest.mark.parametrize("rate", [0, "-1/2", "3/2", "x", None, True])
def test_a_rate_out_of_range_is_refused(rate: Any) -> None:
    with pytest.raises(ArgumentError, match="rate"):
        Poisson(rate)


@pytest.mark.parametrize("of", [0, -1, 2**60, "5", 5.0, True, None])
def test_a_population_without_size_is_refused(of: Any) -> None:
    with pytest.raises(ArgumentError, match="of="):
        WithoutReplacement(of)


@pytest.mark.parametrize("name", [" panel", "a\nb", "x" * 201, 5, None])
def test_a_draw_has_a_printable_name(name: Any) -> None:
    with pytest.raises(ArgumentError, match="draw="):
        Poisson("1/2", draw=name)
    with pytest.raises(ArgumentError, match="draw="):
        WithoutReplacement(5, draw=name)


def test_names_are_compared_in_one_form() -> None:
    assert Poisson("1/2", draw="Pane\u0301") == Poisson("1/2", draw="Pan\u00e9")


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        ("stratified", "change the numbers drawn from all strata at once"),
        ("cluster", "tells which of them was drawn"),
        ("size", "changes the probabilities of all others"),
        ("systematic", "moves everybody behind"),
        ("quota", "depends on who else was there"),
        ("balanced", "depends on the data of others"),
        ("multi-stage", "its first stage is a sample of clusters"),
    ],
)
def test_designs_from_which_nothing_follows_are_refused(design: str, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason) as refused:
        draw_of({"design": design, "rate": "1/10"})
    assert "declare no draw: the guarantee is then the guarantee for the rows of the file" in str(refused.value)
    assert str(refuse_design(design)) == str(refused.value)


def test_what_is_no_design_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"sampled='poison' is unknown.*poisson"):
        draw_of({"design": "poison", "rate": "1/10"})
    with pytest.raises(ArgumentError, match=r"sampled=0.1: must be Poisson\(rate\), WithoutReplacement"):
        raise refuse_design(0.1)
