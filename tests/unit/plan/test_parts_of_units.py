"""People who share an identifier: every text about the guarantee says that each of them is protected."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import plan_text, run, session_over

import discreet as dp
from discreet.domain.neighbours import AddRemoveParts, neighbours_of
from discreet.errors import ArgumentError, LedgerError
from discreet.pages.explain import explain
from discreet.pages.registry.page import render_evaluation
from discreet.pages.report.page import render
from discreet.quotes.allocate import quote

pytestmark = pytest.mark.usefixtures("one_artist")

SCHEMA = dp.Schema(home=dp.Identifier(), shop=dp.Category(["a", "b"]))
PARTS = dp.AddRemove(person="home", part=True)
SAID = "each of several people who share one value of the identifier, such as the members of a household"
SAID_SHORT = "each of several people who share the value is protected"
GERMAN = "jeden von mehreren Menschen mit derselben Kennung"
FRAME = pl.DataFrame({"home": [1, 1, 2, 3] * 9, "shop": ["a", "b"] * 18})


def asked(relation: Any) -> Any:
    return dp.Table(SCHEMA, relation).bound(groups=1, rows=2).group_by("shop").agg(dp.persons(), dp.count())


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_the_relation_is_another_one_and_is_read_back() -> None:
    assert type(PARTS) is AddRemoveParts
    assert neighbours_of(PARTS.to_json()) == PARTS == pickle.loads(pickle.dumps(PARTS)) != dp.AddRemove(person="home")
    assert dp.AddRemove(person="home", part=False) == dp.AddRemove(person="home")


def test_counts_have_twice_the_variance() -> None:
    one, other = (quote(asked(relation), dp.ZCDP(1)) for relation in (PARTS, dp.AddRemove(person="home")))
    assert [found.law.sigma2 for found in one.measured] == [2 * found.law.sigma2 for found in other.measured]


def test_every_text_about_the_guarantee_says_it() -> None:
    with session_over(FRAME, SCHEMA, neighbours=PARTS, budget=dp.ZCDP(1)) as session:
        release = session.release(asked(PARTS), spend="0.3", name="by shop")
        each = session.release(session.table.per_person(visits=dp.rows(0, 9)).agg(dp.count()), spend="0.3", name="visits")
        told = [str(session.quote(asked(PARTS), spend="0.1")), str(explain(session.quote(asked(PARTS), spend="0.1")))]
    for one in (release, each):
        told += [str(one.guarantee), words(render(one)), words(render_evaluation(one))]
        assert GERMAN in words(render(one, language="de"))
        assert SAID not in words(render(one, language="de"))
    assert all(SAID in text for text in told)


def test_no_text_says_that_the_compared_tables_differ_in_whole_persons() -> None:
    """Such a sentence would be true of fewer tables than are compared; in German nothing is left in English."""
    with session_over(FRAME, SCHEMA, neighbours=PARTS, budget=dp.ZCDP(1)) as session:
        rows = asked(PARTS)
        each = session.table.per_person(visits=dp.rows(0, 9)).agg(dp.count())
        releases = [session.release(one, spend="0.3", name=name) for one, name in ((rows, "by shop"), (each, "visits"))]
        told = [str(explain(session.quote(rows, spend="0.1"))), words(render(releases[0]))]
    assert "differ in any rows of one person" in told[0]
    assert "any rows of one person changed, added or removed" in told[0]
    for text in told:
        assert "when any rows of one person differ." in text
        assert not re.search(r"all rows of one person|with all (their )?rows|appears", text)
    assert "the other one is added" in words(render(releases[1]))
    assert "among the 2 rows of a person" not in words(render(releases[1]))
    for release in releases:
        german = words(render(release, language="de"))
        assert "Wenn beliebige Zeilen einer Person in beliebiger Weise geändert werden, hinzukommen oder wegfallen" in german
        assert "any rows" not in german


def test_persons_who_are_whole_are_not_told_so() -> None:
    whole = dp.AddRemove(person="home")
    with session_over(FRAME, SCHEMA, neighbours=whole, budget=dp.ZCDP(1)) as session:
        release = session.release(asked(whole), spend="0.3", name="by shop")
    assert all(
        SAID not in text for text in (str(release.guarantee), words(render(release)), words(render_evaluation(release)))
    )


def test_a_ledger_takes_a_data_set_of_units_for_another_one(tmp_path: Path) -> None:
    options = {"dataset": "d", "ledger": tmp_path / "budget.db", "budget": dp.ZCDP(1)}
    with dp.Session(FRAME, SCHEMA, neighbours=PARTS, **options) as session:
        session.release(asked(PARTS), spend="0.3", name="by shop")
    with pytest.raises(LedgerError), dp.Session(FRAME, SCHEMA, neighbours=dp.AddRemove(person="home"), **options):
        pass


@pytest.mark.parametrize("given", [{"part": True}, {"person": "home", "part": 1}, {"person": "home", "part": "yes"}])
def test_what_is_no_part_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="part="):
        dp.AddRemove(**given)


def test_a_plan_says_it(tmp_path: Path) -> None:
    text = plan_text("persons").replace('person = "visitor"', 'person = "visitor"\npart = true')
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    for command, said in ((["check", "--without-source"], SAID_SHORT), (["quote"], SAID)):
        shown = run(*command, str(tmp_path / "plan.toml"))
        assert said in " ".join(shown.output.split()), shown.output
