"""Every registered neighbour relation, and the recipe "To add a neighbour relation" carried out on one more.

The relation of the recipe replaces one row, like replace-one, under another word; the one that lies says that its rows
appear, which would halve the noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from tests.builders import plan_text

import discreet as dp
from discreet.domain import neighbours
from discreet.domain.draws import Poisson, WithoutReplacement, draws
from discreet.domain.neighbours import AddRemove, ReplaceOne, find_relation, relations
from discreet.errors import ArgumentError
from discreet.pages.report.page import render
from discreet.pages.report.promise import comparison_words, detection_words, figures_of
from discreet.pages.words import english
from discreet.planfile.read import load_plan
from discreet.privacy import PureDP
from discreet.privacy.amplify import Resampling
from discreet.quotes.allocate import quote
from discreet.releases.publish import noise_json

from .every_relation import Moves, appearing, assert_changes, assert_copies, assert_written, replaced

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(g=dp.Category(["x", "y"]))
DRAWN: dict[type, Any] = {
    AddRemove: AddRemove(2, sampled=Poisson("1/9")),
    ReplaceOne: ReplaceOne(5, sampled=WithoutReplacement(of=9, draw="w")),
}
EXAMPLES: dict[type, tuple[Any, Moves]] = {AddRemove: (AddRemove(2), appearing), ReplaceOne: (ReplaceOne(5, 2), replaced)}


@dataclass(frozen=True, slots=True)
class Moved:
    """Two tables of exactly `rows` rows are neighbours when one row is another one."""

    rows: int
    rows_per_person: int = 1
    sampled: None = None

    word: ClassVar[str] = "moved"
    needed: ClassVar[tuple[str, ...]] = ("rows",)
    about: ClassVar[str] = "everybody knows the number of rows"
    appears: ClassVar[bool] = False
    allows_totals: ClassVar[bool] = True
    change: ClassVar[str] = "moved elsewhere"
    compared: ClassVar[str] = "moved elsewhere"
    guess: ClassVar[str] = "where one person was"
    holds: ClassVar[str] = "one person moved"

    def of_size(self, rows: int) -> Moved:
        return Moved(rows)

    def to_json(self) -> dict[str, object]:
        return {"relation": self.word, "rows": self.rows, "rows_per_person": self.rows_per_person}

    def size_words(self) -> str:
        return f"It has {self.rows} rows"

    def text(self) -> str:
        return f"{self.word}: {self.rows} rows"


class Hidden(Moved):
    """Says that a row appears, where it is replaced."""

    appears = True


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line in the registry."""
    monkeypatch.setattr(neighbours, "_RELATIONS", (*relations(), Moved))


@pytest.mark.parametrize("kind", relations())
def test_every_relation_has_words_changes_and_copies(kind: type) -> None:
    one, moves = EXAMPLES[kind]
    assert_written(one)
    assert_changes(one, moves)
    assert_copies(one)


def test_every_relation_has_an_example_and_words_of_its_own() -> None:
    assert set(EXAMPLES) == set(relations())
    for words in ("word", "about", "change", "compared", "guess", "holds"):
        assert len({getattr(kind, words) for kind in relations()}) == len(relations())
    assert [find_relation(kind.word) for kind in relations()] == list(relations())


@pytest.mark.parametrize("kind", relations())
def test_a_draw_changes_neither_sensitivities_nor_copies(kind: type) -> None:
    """Charges and noise are those of the file (W2 of docs/proofs/samples.md), and the draw is part of the declaration."""
    one, (_, moves) = DRAWN[kind], EXAMPLES[kind]
    plain = kind(**{key: value for key, value in one.to_json().items() if key not in {"relation", "sampled"}})
    assert_written(one)
    assert_changes(one, moves)
    assert_copies(one)
    assert Resampling(4, "1/2", one).law == Resampling(4, "1/2", plain).law
    assert one.rows_per_person == plain.rows_per_person
    assert one != plain
    assert {**plain.to_json(), "sampled": one.sampled.to_json()} == one.to_json()
    table, other = (dp.Table(SCHEMA, each).group_by("g").agg(dp.count()) for each in (one, plain))
    assert noise_json(quote(table, PureDP(1))) == noise_json(quote(other, PureDP(1)))


def test_every_relation_has_a_draw_and_every_draw_one_relation() -> None:
    assert set(DRAWN) == set(relations())
    assert {type(one.sampled) for one in DRAWN.values()} == set(draws())
    for one in DRAWN.values():
        for kind in relations():
            if type(one) is not kind:
                with pytest.raises(ArgumentError, match="declare "):
                    replace(EXAMPLES[kind][0], sampled=one.sampled)


def test_an_unknown_word_is_never_another_relation() -> None:
    with pytest.raises(ArgumentError, match="relation='replace-two' is unknown"):
        find_relation("replace-two")


# The recipe -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("registered")
def test_a_new_one_joins_the_laws() -> None:
    assert_written(Moved(5))
    assert_changes(Moved(5), replaced)
    assert_copies(Moved(5))


def test_one_that_lies_is_caught() -> None:
    with pytest.raises(AssertionError):
        assert_changes(Hidden(5), replaced)
    with pytest.raises(AssertionError):
        assert_changes(AddRemove(), replaced)


@pytest.mark.usefixtures("registered")
def test_a_release_is_made_and_worded_in_it(tmp_path: Path) -> None:
    asked: Any = dp.Table(SCHEMA, Moved(30)).group_by("g").agg(dp.count())  # type: ignore[arg-type]
    assert quote(asked, PureDP(1)).measured[0].sensitivity.l1 == 2
    rows = pl.DataFrame({"g": ["x"] * 30})
    options: dict[str, Any] = {"dataset": "d", "neighbours": Moved(30), "ledger": tmp_path / "ledger.db"}
    with dp.Session(rows, SCHEMA, budget=PureDP(1), **options) as session:
        release = session.release(asked, spend=1, name="r")
    words = (
        comparison_words(release.guarantee, english()),
        detection_words(release.guarantee, english()),
        figures_of(release.guarantee, english()),
    )
    for said, word in zip(words, (Moved.compared, Moved.guess, Moved.holds), strict=True):
        assert word in str(said)
    assert "It has 30 rows" in render(release)


@pytest.mark.usefixtures("registered")
def test_a_plan_file_can_have_it(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    text = plan_text("counted").replace('"count"', '{ count = "g" }')
    plan.write_text(text.replace('"add-remove"', '"moved"\nrows = 30'))
    assert load_plan(plan).neighbours == Moved(30)


def test_without_the_line_nothing_takes_it() -> None:
    with pytest.raises(ArgumentError, match="must be AddRemove"):
        dp.Session(pl.DataFrame({"g": ["x"]}), SCHEMA, dataset="d", ledger=":memory:", budget=PureDP(1), neighbours=Moved(1))  # type: ignore[arg-type]
