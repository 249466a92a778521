"""Texts and labels: what is refused, how languages stand in for one another."""

from __future__ import annotations

import pickle

import pytest

import discreet as dp
from discreet.domain.about import about_in, check_about, language_tag


@pytest.mark.parametrize(
    ("given", "tag"),
    [
        ("en", "en"),
        ("DE", "de"),
        ("pt-br", "pt-BR"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("sl-rozaj", "sl-rozaj"),
        ("de-CH-x-AMT", "de-CH-x-amt"),
    ],
)
def test_a_tag_is_written_as_bcp_47_writes_it(given: str, tag: str) -> None:
    assert language_tag(given) == tag


@pytest.mark.parametrize("wrong", ["", "deutsch", "e", "de_DE", "de-", "12", "en us", "de-DE-", None, 1, "x" * 100, "dé"])
def test_what_is_not_a_tag_is_refused(wrong: object) -> None:
    with pytest.raises(dp.ArgumentError, match="BCP 47"):
        language_tag(wrong)


def test_the_tag_that_was_meant_is_named() -> None:
    with pytest.raises(dp.ArgumentError, match="did you mean 'de-DE'"):
        dp.About("de_DE")


@pytest.mark.parametrize(
    "hidden",
    ["\x00", "\x1b[31m", "\n", "\r", "\t", "\u202e", "\u2066", "\u200f", "\u200b", "\ufeff", "\u2028", "\ud800", "\ue000"],
)
def test_characters_that_cannot_be_seen_are_refused_and_named(hidden: str) -> None:
    point = f"U\\+{ord(hidden[0]):04X}"
    for make in (
        lambda text: dp.About(title=text),
        dp.Labels,
        lambda text: dp.Labels(categories={"a": text}),
        lambda text: dp.Labels(unit=text),
        lambda text: dp.Labels(unknown=text),
    ):
        with pytest.raises(dp.ArgumentError, match=point):
            make(f"a{hidden}b")


def test_a_description_and_notes_have_lines_and_scripts_have_joiners_and_spaces() -> None:
    about = dp.About(description="one\ntwo", notes=["a\nb"], title="10\u00a0%, می\u200cخواهم", universe="=1+1")
    assert (about.description, about.notes, about.universe) == ("one\ntwo", ("a\nb",), "=1+1")


def test_texts_are_compared_in_one_form_of_unicode() -> None:
    assert dp.About(title="e\u0301") == dp.About(title="\u00e9")
    assert dp.Labels(categories={"e\u0301": "x"}).categories == {"\u00e9": "x"}


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "wrong",
    [
        {"title": 1},
        {"title": "x" * 501},
        {"description": "x" * 20_001},
        {"description": "x" * 1_000_000},
        {"notes": "one text"},
        {"notes": [1]},
        {"notes": ["x" * 20_000] * 51},
        {"columns": {"a": "label"}},
        {"columns": [("a", dp.Labels("x"))]},
        {"statistics": {1: dp.Labels("x")}},
        {"releases": {"r": dp.Labels("x")}},
        {"columns": {"a": dp.Labels(categories={str(n): "x" * 100 for n in range(10_000)})}},
    ],
)
def test_what_is_no_text_or_too_much_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(dp.ArgumentError):
        dp.About(**wrong)


MAIN = dp.About(
    title="Income",
    publisher="Office",
    notes=["n"],
    columns={"sex": dp.Labels("Sex", categories={1: "male", 2: "female"}), "age": dp.Labels("Age", "years")},
    releases={"r": dp.About(title="Income of r")},
)
GERMAN = dp.About(
    "de", title="Einkommen", columns={"sex": dp.Labels("Geschlecht", categories={1: "männlich"}, unknown="unbekannt")}
)


def test_what_a_language_lacks_is_taken_from_the_other() -> None:
    both = GERMAN.over(MAIN)
    assert (both.language, both.title, both.publisher, both.notes) == ("de", "Einkommen", "Office", ("n",))
    assert both.column("sex") == dp.Labels("Geschlecht", "", {1: "männlich", 2: "female"}, "unbekannt")
    assert both.column("age").label == "Age"
    assert both.column("other") == dp.Labels()


def test_a_release_has_its_own_texts_and_the_common_ones() -> None:
    assert (MAIN.of("r").title, MAIN.of("r").publisher) == ("Income of r", "Office")
    assert (MAIN.of("s").title, MAIN.of("s").releases) == ("Income", {})
    assert MAIN.of("r").only({"age"}).columns.keys() == {"age"}


def test_texts_survive_a_document_and_a_pickle() -> None:
    for about in (MAIN.of("r"), GERMAN, dp.About()):
        assert about_in(about.to_json()) == about
        assert pickle.loads(pickle.dumps(about)) == about
    assert pickle.loads(pickle.dumps(MAIN)) == MAIN


def test_words_for_what_is_not_there_are_refused_with_the_nearest_name() -> None:
    columns, names = {"sex": ["1", "2"], "age": ["[0, 9)"]}, ["count", "mean_age"]
    check_about(MAIN, columns, names)
    check_about(dp.About(columns={"age": dp.Labels(categories={"[0, 9)": "young"})}), columns, names)
    for about, near in (
        (dp.About(columns={"sx": dp.Labels()}), "did you mean 'sex'"),
        (dp.About(columns={"sex": dp.Labels(categories={3: "x"})}), "'3' is not a category of 'sex'; known: 1, 2"),
        (dp.About(statistics={"mean_aeg": dp.Labels()}), "did you mean 'mean_age'"),
        (dp.About(releases={"r": dp.About(columns={"ag": dp.Labels()})}), "did you mean 'age'"),
    ):
        with pytest.raises(dp.ArgumentError, match=near):
            check_about(about, columns, names)
