"""Texts, date and labels of a release: with the document, applied later, and never in a digest of a plan."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.exact import clock as clock_module
from discreet.exact.canonical import seal
from discreet.releases import evaluate as evaluate_module
from discreet.releases.labelled import number_title, title_of, unit_of, value_label

SCHEMA = dp.Schema({"sex": dp.Category(["F", "M"]), "age": dp.Number(0, 100), "other": dp.Category(["x"])})
ROWS = pl.DataFrame({"sex": ["F", "M", None], "age": [20, 60, 30], "other": ["x", "x", "x"]})
ENGLISH = dp.About(
    title="Age by sex",
    licence="CC0-1.0",
    columns={
        "sex": dp.Labels("Sex", categories={"F": "female", "M": "male"}, unknown="not stated"),
        "age": dp.Labels("Age", "years", {"[0, 50)": "young"}),
        "other": dp.Labels("Other"),
    },
    statistics={"mean_age": dp.Labels("Mean age"), "histogram_age": dp.Labels("Persons by age")},
)
GERMAN = dp.About("de", title="Alter", columns={"sex": dp.Labels("Geschlecht", categories={"F": "weiblich"})})


def session_on(path: Path) -> dp.Session:
    given = {"dataset": "d", "ledger": path / "l.db", "budget": dp.PureDP(100), "neighbours": dp.AddRemove()}
    return dp.Session(ROWS, SCHEMA, **given)


def released(path: Path, **named: Any) -> dp.Release:
    with session_on(path) as session:
        asked = [dp.count(), dp.mean("age", nulls="skip"), dp.histogram("age", [0, 50, 100])]
        return session.release(session.table.group_by("sex").agg(*asked), spend=1, name="r", **named)


def test_a_release_has_its_texts_in_every_language_without_columns_that_it_does_not_use(tmp_path: Path) -> None:
    release = released(tmp_path, about=[ENGLISH, GERMAN])
    assert release.languages == ("en", "de")
    assert release.about == ENGLISH.only({"sex", "age"})
    german = release.labelled("de")
    assert (german.about.title, german.about.licence, german.payload) == ("Alter", "CC0-1.0", release.payload)
    assert value_label(german.about, "sex", "F") == "weiblich"
    assert value_label(german.about, "sex", "M") == "male"
    assert pickle.loads(pickle.dumps(german)).about == german.about
    with pytest.raises(dp.ArgumentError, match="known: en, de"):
        release.labelled("fr")


def test_words_are_those_of_the_texts_or_the_names(tmp_path: Path) -> None:
    release = released(tmp_path, about=ENGLISH)
    about, (count, mean, _) = release.about, release.document["statistics"]
    assert [title_of(about, name) for name in ("sex", "age", "else")] == ["Sex", "Age", "else"]
    assert [value_label(about, "sex", one) for one in ("F", None)] == ["female", "not stated"]
    assert [value_label(about, "age", one) for one in ("[0, 50)", "[50, 100]", None)] == ["young", "[50, 100]", "not known"]
    assert [number_title(about, name) for name in ("mean_age", "count")] == ["Mean age", "count"]
    assert number_title(about, "count", "histogram_age") == "Persons by age"
    assert (unit_of(about, "mean_age", mean), unit_of(about, "count", count)) == ("years", "")


def test_texts_applied_later_need_no_new_release(tmp_path: Path) -> None:
    release = released(tmp_path)
    assert "about" not in release.document
    assert (release.about, release.languages) == (dp.About(), ())
    words = release.labelled(ENGLISH)
    assert (words.about.title, words.digest) == ("Age by sex", release.digest)
    with pytest.raises(dp.ArgumentError, match="did you mean 'mean_age'"):
        release.labelled(dp.About(statistics={"mean_aeg": dp.Labels("x")}))
    with pytest.raises(dp.ArgumentError, match="'X' is not a category of 'sex'"):
        release.labelled(dp.About(columns={"sex": dp.Labels(categories={"X": "x"})}))


def test_a_mended_title_gives_the_stored_release_back(tmp_path: Path) -> None:
    first = released(tmp_path, about=dp.About(title="Agee"))
    again = released(tmp_path, about=dp.About(title="Age"), quality=dp.Quality("0.1"))
    assert again.payload == first.payload
    with session_on(tmp_path) as session:
        assert session.spent == dp.PureDP(1)


def test_the_plan_and_its_digest_know_nothing_of_texts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with_texts, without = released(tmp_path, about=ENGLISH), released(tmp_path / "a")
    assert with_texts.document["plan"] == without.document["plan"]
    assert with_texts.document["plan_digest"] == without.document["plan_digest"]


@pytest.mark.parametrize("wrong", ["x", [1], dp.Labels(), [dp.About(), dp.About()], {"en": dp.About()}])
def test_what_is_no_text_is_refused_before_anything_is_spent(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(dp.ArgumentError, match="about"):
        released(tmp_path, about=wrong)
    with session_on(tmp_path) as session:
        assert session.spent == dp.PureDP(0)


class Clock:
    """Years go by with every look."""

    real = clock_module.datetime

    def __init__(self, years: Iterable[int]) -> None:
        self.years, self.last = iter(years), 0

    def now(self, zone: Any) -> Any:
        self.last = next(self.years)
        return self.real(self.last, 1, 2, 3, 4, 5, 678, tzinfo=zone)


def test_a_stored_release_keeps_its_date_when_the_clock_jumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_module, "datetime", Clock(range(2031, 2100)))
    first = released(tmp_path)
    assert first.time[4:] == "-01-02T03:04:05+00:00"
    monkeypatch.setattr(clock_module, "datetime", Clock(range(1969, 2000)))
    assert released(tmp_path).time == first.time


def test_the_date_is_taken_before_the_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, scans, seen = Clock(range(2001, 2100)), evaluate_module.run_scans, []
    monkeypatch.setattr(evaluate_module, "run_scans", lambda *given: seen.append(clock.last) or scans(*given))
    monkeypatch.setattr(clock_module, "datetime", clock)
    assert 2001 <= int(released(tmp_path).time[:4]) <= seen[0] < clock.last


@pytest.mark.parametrize("wrong", [7, [7], [{"title": "x", "frob": 1}], [{"language": "??"}], {"a": 1}, [{"columns": 7}]])
def test_made_up_texts_are_refused(tmp_path: Path, wrong: object) -> None:
    document = released(tmp_path).document
    del document["digest"]
    release = dp.Release(seal({**document, "about": wrong}).encode())
    with pytest.raises(dp.ArgumentError):
        _ = release.about
