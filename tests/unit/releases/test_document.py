"""How a release becomes bytes: each part is written once, with the bytes that writing the whole twice would give."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet as dp
from discreet._version import __version__
from discreet.errors import ArgumentError
from discreet.exact.canonical import canonical, digest, seal
from discreet.plan.plan import table_facts
from discreet.releases.document import Release, make_release
from discreet.releases.frames import column_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
BODIES = st.dictionaries(st.text().filter(lambda name: name != "digest"), VALUES, max_size=6)


@pytest.mark.slow
@given(BODIES)
@example({})
@example({"é": 1, "z": [1.5, None], "\ud800": {"b": {}, "a": ()}, "dig": 0, "digestion": 1, "digesu": 2})
def test_a_sealed_document_is_the_canonical_text_of_the_body_with_its_digest(body: dict[str, Any]) -> None:
    assert seal(body) == canonical({**body, "digest": digest(body)})


def test_a_release_has_the_bytes_of_its_canonical_document() -> None:
    content = {"name": "r", "dataset": "d", "guarantee": {"epsilon": 0.1}, "columns": [column_json("n", [1, None])]}
    body = {"format": 1, "library": f"discreet {__version__}", **content}
    assert make_release(content).payload == canonical({**body, "digest": digest(body)}).encode("ascii")


class Part(dict[str, int]):
    """A part of a document that can be watched."""


def test_the_parts_of_an_iterator_are_written_one_by_one_and_never_held_together() -> None:
    content: dict[str, Any] = {"name": "r", "dataset": "d", "guarantee": {}, "columns": []}
    made: list[ref[Part]] = []

    def parts() -> Iterator[Part]:
        for number in range(5):
            assert sum(one() is not None for one in made) <= 1  # the last one may still be a variable of who writes it
            part = Part(n=number)
            made.append(ref(part))
            yield part
            del part

    whole = make_release({**content, "frames": [{"n": number} for number in range(5)]})
    assert make_release({**content, "frames": parts()}).payload == whole.payload


def _of_two_kinds() -> Iterator[object]:
    yield column_json("mixed", [1, "one"])


def test_what_is_wrong_with_a_part_is_said_when_it_is_written() -> None:
    content = {"name": "r", "dataset": "d", "guarantee": {}, "columns": []}
    for wrong, said in ((_of_two_kinds(), "column 'mixed': has values of several"), (iter([{1: 2}]), "a name that is not")):
        with pytest.raises(ArgumentError, match=said):
            make_release({**content, "frames": wrong})


@pytest.mark.parametrize("wrong", [{"x": float("nan")}, {"x": {9: 1, 10: 2}}])
def test_what_could_not_be_read_again_is_no_release(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        make_release({"name": "r", "dataset": "d", "guarantee": {}, "columns": [], **wrong})


def test_a_digest_of_other_text_is_refused() -> None:
    payload = make_release({"name": "r", "dataset": "d", "guarantee": {}, "columns": []}).payload
    with pytest.raises(ArgumentError, match="its digest does not match"):
        Release(payload.replace(b'"name":"r"', b'"name":"s"'))


# Columns --------------------------------------------------------------------------------------------------------------


def kind_by_value(value: object) -> str:
    """The reference: one value after the other."""
    for kind, types in (("boolean", bool), ("integer", int), ("real", float), ("text", str)):
        if isinstance(value, types):
            return kind
    raise ArgumentError("no kind")


class Rank(IntEnum):
    """An integer of a type of its own."""

    FIRST = 1


@given(st.lists(st.sampled_from([None, True, 1, Rank.FIRST, 2.5, np.float64(0.5), "a", np.str_("b"), b"c", np.int64(1)])))
@example([None])
@example([True, 1])
@example([1, Rank.FIRST, None])
@example([2.5, np.float64(0.5)])
def test_the_kind_of_a_column_is_that_of_every_value(values: list[Any]) -> None:
    try:
        kinds = {kind_by_value(value) for value in values if value is not None}
    except ArgumentError:
        kinds = {"none", "of them"}
    if len(kinds) > 1:
        with pytest.raises(ArgumentError):
            column_json("c", values)
    else:
        assert column_json("c", values) == {"name": "c", "kind": next(iter(kinds), "text"), "values": values}


# What a plan knows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", [dp.AddRemove(), dp.ReplaceOne(rows=50)])
def test_a_plan_knows_what_its_steps_leave(neighbours: Any) -> None:
    table = dp.Table(dp.Schema(sex=dp.Category(["F", "M"]), wage=dp.Number(0, 100)), neighbours)
    laws = {"sex": dp.Weights({"F": 1, "M": 1}), "wage": dp.Uniform()}
    steps = (table, table.clamp({"wage": (10, 60)}), table.where({"wage": (10, 60)}), table.impute(laws).resize(rows=40))
    for one in steps:
        plan = one.group_by("sex").agg(dp.count())
        assert plan.facts == table_facts(plan.schema, plan.neighbours, plan.steps)
    assert len({repr(one.group_by("sex").agg(dp.count()).facts) for one in steps}) == len(steps)
