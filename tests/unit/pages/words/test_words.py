"""The files of the languages: one has what the other has, numbers are written as in the language, and names stay."""

from __future__ import annotations

import re
import string
import tomllib
from time import process_time

import pytest
from tests.builders import MOMENT

from discreet.errors import ArgumentError
from discreet.pages.words import catalogue, languages, words_in
from discreet.plan.recorded import _CLAMPED, _RECORDED, WITH_NULLS

OTHERS = [language for language in languages() if language != catalogue.MAIN]


def places(text):
    forms = text if isinstance(text, tuple) else (text,)
    return [{field for _, field, _, _ in string.Formatter().parse(form) if field} for form in forms]


def test_english_and_german_are_there():
    assert {"en", "de"} <= set(languages())


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_keys_and_placeholders(language):
    own, main = words_in(language).texts, words_in(catalogue.MAIN).texts
    assert set(own) == set(main)
    many = [key for key in main if isinstance(main[key], tuple) and key != "form.months"]
    assert all(len(own[key]) == len(main[key]) == 2 for key in many)
    differing = [
        key for key in main if key != "form.months" and set.union(*places(own[key])) != set.union(*places(main[key]))
    ]
    assert differing == []
    assert len(own["form.months"]) == 12


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_of_the_library_keeps_what_it_names(language):
    file = catalogue._FOLDER / f"{language}.toml"
    pairs = tomllib.loads(file.read_text(encoding="utf-8"))["library"]["sentences"]
    assert [one for one, own in pairs if {f[1] for f in catalogue._PLACE.finditer(one)} != places(own)[0]] == []
    assert len({one for one, _ in pairs}) == len(pairs), "the first one that fits holds, and a second one never would"
    counted = sum(len(re.findall(r"\{(\w+):?\w?\}", one)) for one, _ in pairs)
    assert counted == sum(len(set(re.findall(r"\{(\w+):?\w?\}", one))) for one, _ in pairs), "each place once"


def test_numbers_and_days_are_written_as_in_the_language():
    english, german = words_in("en"), words_in("de")
    assert (english.number(-1414.5, 1), german.number(-1414.5, 1)) == ("−1,414.5", "−1.414,5")
    assert (english.interval(0.25, 1e3, 1), german.interval(0.25, 1e3, 1)) == ("0.2 – 1,000.0", "0,2 – 1.000,0")
    assert (english.day("2026-11-23T10:00:00Z"), german.day("2026-11-23")) == ("23 November 2026", "23. November 2026")
    assert german.day("a day") == "a day"
    assert [german.many("report.numbers.groups", n) for n in (1, 2000)] == ["1 Gruppe", "2.000 Gruppen"]
    assert [german.name(one) for one in (None, True, "not known")] == ["unbekannt", "wahr", "not known"]


def test_a_language_is_found_by_its_first_part_and_otherwise_it_is_english():
    assert words_in("de-AT") is words_in("de")
    assert words_in("ja") is words_in("en")
    with pytest.raises(ArgumentError, match=r"language='ja': pages have no words in it; known: de, en$"):
        words_in("ja", demanded=True)


def test_a_sentence_of_the_library_is_translated_and_its_names_are_not():
    german = words_in("de")
    assert german.said("Mean of number of rows") == "Mittelwert von number of rows"
    assert german.said("2 categories: “rows” and “1,000.5”") == "2 Kategorien: „rows“ und „1,000.5“"
    assert german.said("Only rows with k equal to “salt and pepper” count; all others contribute nothing.") == (
        "Nur Zeilen mit k gleich „salt and pepper“ zählen; alle anderen tragen nichts bei."
    )
    assert german.said("12 categories: “a”, “b” and 10 more; −1 and “x” mean not known") == (
        "12 Kategorien: „a“, „b“ und 10 weitere; −1 und „x“ bedeuten nicht bekannt"
    )
    assert german.said(
        "k: a value that is not known is replaced by one of “a” (33.3 %) and “b” (66.7 %), whatever the other data are."
    ) == (
        "k: Ein nicht bekannter Wert wird ersetzt durch einen von „a“ (33,3 %) und „b“ (66,7 %), unabhängig von den anderen "
        "Daten."
    )
    assert german.said("1 category: “a “quoted” one”") == "1 Kategorie: “a “quoted” one”"
    assert german.said("numbers from −1,500.5 to 2 in steps of 0.1") == "Zahlen von −1.500,5 bis 2 in Schritten von 0,1"
    assert german.said("Nobody has said this before.") == "Nobody has said this before."
    assert words_in("en").said("Mean of wage") == "Mean of wage"


def test_columns_as_queries_call_them_have_their_names_and_german_words_beside_them():
    english, german = words_in("en"), words_in("de")
    assert [english(f"form.{key}") for key in ("nulls", "clamped", "recorded")] == [WITH_NULLS, _CLAMPED, _RECORDED]
    assert german.said("effect of sex, age with its nulls") == "Effekt von sex, age mit fehlenden Werten"
    assert (
        german.said("effect of age with its nulls, rows by state") == "Effekt von age mit fehlenden Werten, rows nach state"
    )
    assert german.said("table by age with its nulls, rows") == "Tabelle nach age mit fehlenden Werten, rows"
    assert german.said("excess of v as recorded over v as clamped") == (
        "Überschuss von v wie erfasst über v nach dem Begrenzen"
    )


def test_a_long_hostile_name_does_not_make_the_search_long():
    start = process_time()
    for name in (
        "numbers from " + " to " * 10_000,
        ": values are moved into the range from " * 1_000,
        "the " * 12_000,
        "1 category: " + "“" * 20_000,
    ):
        words_in("de").said(name)
    assert process_time() - start < MOMENT
