"""Replacements decide exactly which category a text is: against the library's own normalisation."""

from __future__ import annotations

import sys
import unicodedata
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.engines import spellings as module
from discreet.engines.spellings import every_spelling, replace_all, spellings
from discreet.errors import SourceError

# Letters with one and two marks, marks of three classes, a character of marks alone, Hangul, signs that compose without a
# class, characters equal to one other, and what only looks alike.
ALPHABET = "aeouKÅ\u212a\u212b\u037e;`\u1fef\u0300\u0301\u0308\u0323\u031b\u0338\u0344\u0345ếừ\u1ea5가각힣각が\u3099か"
ALPHABET += "\u09c7\u09be\u09cb\u0958\u0915\u093c<≮ᾳΰ\u03b1\u2126Ωﬁf\U0001d15e\U0001d157\U0001d165\u0f73\u0f71\u0f72"
TEXTS = st.text(alphabet=ALPHABET, min_size=1, max_size=6)


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@settings(max_examples=40)
@given(st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.randoms(use_true_random=False))
@example(["Thừa Thiên Huế"], "Thu\u0300\u031ba Thie\u0302n Hue\u0302\u0301", None)
@example(["K;`"], "\u212a\u037e\u1fef", None)
@example(["a\u0323\u0308\u031b\u0301"], "a\u0301\u031b\u0308\u0323", None)
@example(["각가"], "ᄀ\u1161ᆨ\uac00", None)
def test_a_text_becomes_a_category_exactly_when_it_is_one(categories, text, random):
    known = spellings([nfc(category) for category in categories])
    decomposed = {unicodedata.normalize("NFD", category): nfc(category) for category in categories}
    tried = [text, *categories]
    for category in categories:
        marks = list(unicodedata.normalize("NFD", category))
        if random is not None:
            random.shuffle(marks)
        tried += ["".join(marks), unicodedata.normalize("NFD", category), "".join(marks[:2]) + nfc("".join(marks[2:]))]
    for one in tried:
        assert decomposed.get(replace_all(one, known) or "") == (nfc(one) if nfc(one) in decomposed.values() else None)


@pytest.mark.exhaustive
def test_no_character_is_forgotten():
    """One category for each decomposition there is, and every character of Unicode as a text."""
    decomposed = {c: unicodedata.normalize("NFD", c) for c in map(chr, range(sys.maxunicode + 1))}
    equal = {c: text for c, text in decomposed.items() if text != c}
    assert max(map(ord, equal)) < module._PLANES
    assert {c: text for c, text in equal.items() if text.isascii()} == module._ASCII
    for c in list(equal)[::20]:
        assert replace_all(c, spellings([nfc(c)])) == equal[c]


def test_other_characters_do_not_become_a_category():
    starts, _ = module._decompositions()
    others = [c for pairs in starts.values() for c, text in pairs[::7] if text[0] not in "eu"]
    known = spellings(["é", "e", "ẽ", "ǘ"])
    assert len(others) > 500
    assert not {replace_all(c, known) for c in others} & {"e\u0301", "e", "e\u0303"}


@pytest.mark.parametrize("part", ["_compose", "_exchanges"])
def test_every_part_is_needed(part, monkeypatch):
    monkeypatch.setattr(module, part, lambda *_: iter(()))
    known = spellings(["Thừa"])
    assert replace_all("Thừa" if part == "_compose" else "Thu\u0300\u031ba", known) != unicodedata.normalize("NFD", "Thừa")


def test_ascii_needs_nothing_and_marks_are_limited():
    assert spellings(["F", "M", "unknown"]).replacements == ()
    assert spellings(["K"]).replacements == (("\u212a", "K"),)
    marks = [c for c in map(chr, range(0x300, 0x370)) if unicodedata.combining(c)]
    with pytest.raises(SourceError, match="too many combining marks"):
        spellings([nfc("a" + "".join(marks))])
    assert len(spellings([nfc("São Tomé"), nfc("Thừa Thiên Huế")]).replacements) < 40


def test_every_spelling_of_ascii_is_listed() -> None:
    """All texts over what decomposes into these letters, and over two characters that do not."""
    categories = ["K;", "`K", "a", "OK"]
    found = every_spelling(categories)
    alphabet = ["K", ";", "`", "a", "O", *module._ASCII, "\u00c5", "\u0300"]
    texts = ["".join(text) for many in (1, 2) for text in product(alphabet, repeat=many)]
    expected = [(text, categories.index(nfc(text))) for text in texts if nfc(text) in categories]
    assert found is not None
    assert sorted(found) == sorted(expected)
    assert len(expected) == 4 + 4 + 1 + 2


def test_where_spellings_are_many_texts_are_normalised() -> None:
    assert every_spelling(["a", "é"]) is None
    assert every_spelling(["K" * 11]) is None
    assert len(every_spelling(["K" * 10]) or ()) == 1024
    assert every_spelling([f"a{i}" for i in range(3)]) == [("a0", 0), ("a1", 1), ("a2", 2)]
