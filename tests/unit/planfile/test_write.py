from __future__ import annotations

import datetime as dt
import tomllib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import InternalError
from discreet.planfile.tree import Decimal
from discreet.planfile.write import toml_key, toml_value, toml_visible

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.one_of(TEXT, st.booleans(), st.integers(-(2**63), 2**63 - 1), st.dates(), st.times(), st.datetimes()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40)
@given(TEXT, VALUES)
@example('"', "\x7f\u202e\U000e0001\\\n")
@example("", {})
def test_the_parser_reads_back_what_was_written(key, value):
    written = f"{toml_key(key)} = {toml_value(value)}\n"
    assert tomllib.loads(written) == {key: value}
    assert written[:-1].isprintable()


def test_decimals_stay_as_they_were_written():
    assert toml_value([Decimal("1e-9"), Decimal("0.10"), 3]) == "[1e-9, 0.10, 3]"
    assert toml_value({"a b": dt.date(2025, 1, 31)}) == '{ "a b" = 2025-01-31 }'


def test_text_and_keys():
    assert (toml_key("a-b_1"), toml_key("a.b"), toml_visible("é")) == ("a-b_1", '"a.b"', '"é"')


def test_what_no_file_holds_is_an_internal_error():
    with pytest.raises(InternalError):
        toml_value(None)
