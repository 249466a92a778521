"""Bodies and digests: what a third party needs to follow the chain, pinned."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.builders import drawn

from discreet.ledger import Entry, Identity, Ledger, Reservation, entry_body, entry_digest
from discreet.ledger import amounts as amounts_module
from discreet.ledger.amounts import Meter, amounts_from, amounts_text, show, spent_after
from discreet.ledger.records import entry_from, fields_from, fields_of_all

ENTRY = Entry(
    sequence=7,
    dataset="wages",
    kind="reserve",
    time="2026-01-02T03:04:05+00:00",
    user="erika",
    nonce="n",
    name="löhne",
    charge=(Fraction(1, 10), Fraction(1, 3)),
    plan_digest="p",
    details='{"a":1}',
)
BODY = (
    r'{"charge":["0.1","1/3"],"dataset":"wages","details":"{\"a\":1}","kind":"reserve","name":"l\u00f6hne",'
    r'"nonce":"n","plan_digest":"p","sequence":7,"time":"2026-01-02T03:04:05+00:00","user":"erika"}'
)


def test_the_format_of_an_entry_is_pinned() -> None:
    assert entry_body(ENTRY) == BODY
    assert entry_digest("00", BODY) == hashlib.sha256(b"00" + BODY.encode()).hexdigest()
    assert entry_from(BODY, "d") == Entry(**{**{f: getattr(ENTRY, f) for f in Entry.__slots__}, "digest": "d"})


positive = st.fractions(min_value=0, max_value=10**6)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    st.builds(
        Entry,
        sequence=st.integers(1, 2**62),
        dataset=words,
        kind=words,
        time=words,
        user=words,
        nonce=words,
        name=words,
        reservation=st.integers(0, 2**62),
        charge=st.lists(positive, max_size=3).map(tuple),
        plan_digest=words,
        details=words,
        payload_digest=words,
    )
)
@example(ENTRY)
def test_an_entry_is_read_as_it_was_written(entry: Entry) -> None:
    body = entry_body(entry)
    assert entry_from(body, "") == entry
    assert body == json.dumps(json.loads(body), sort_keys=True, separators=(",", ":"))


@given(st.lists(st.fractions(), max_size=3).map(tuple))
@example((Fraction("1e-1000"), Fraction(5e-324), Fraction(-1, 4), Fraction(10**40)))
def test_amounts_are_read_as_they_were_written(amounts: tuple[Fraction, ...]) -> None:
    assert amounts_from(amounts_text(amounts)) == amounts


@pytest.mark.parametrize("written", ["1/0", "1/-3", "x", "", "0.x", "1/2/3"])
def test_what_is_no_amount_is_not_read(written: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - int's messages are its own
        amounts_from([written])
    with pytest.raises(ValueError):  # noqa: PT011
        spent_after(Meter(1, 0, 1), written)


small = st.fractions(min_value=Fraction(-1, 20), max_value=1, max_denominator=30)


@given(st.fractions(min_value=0, max_value=9), st.lists(small, max_size=40), st.sampled_from([2, 1000]))
def test_a_meter_counts_like_fractions(budget: Fraction, charges: list[Fraction], steps: int) -> None:
    meter, spent = Meter(budget.denominator, 0, budget.numerator), Fraction(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(amounts_module, "_MAX_STEPS", steps)
        for charge in charges:
            (written,) = amounts_text((charge,))
            if charge < 0 or spent + charge > budget:
                with pytest.raises(ValueError, match=r"negative charge|more than the budget"):
                    spent_after(meter, written)
            else:
                meter.spent = spent_after(meter, written)
                spent += charge
            assert Fraction(meter.spent, meter.denominator) == spent
            assert Fraction(meter.budget, meter.denominator) == budget


def test_a_meter_forgets_denominators_that_the_total_no_longer_has() -> None:
    meter = Meter(1, 0, 10**6)
    for odd in range(3, 2003, 2):
        meter.spent = spent_after(meter, f"1/{odd}")
        meter.spent = spent_after(meter, f"{odd - 1}/{odd}")
    assert Fraction(meter.spent, meter.denominator) == 1000
    assert meter.denominator < 2003


def test_a_meter_remembers_a_thousand_charges_at_most() -> None:
    meter = Meter(1, 0, 10**6)
    for number in range(1, 2502):
        meter.spent = spent_after(meter, f"{number}/10007")
    assert Fraction(meter.spent, meter.denominator) == Fraction(2501 * 2502 // 2, 10007)
    assert len(meter.steps) == 501


@pytest.mark.parametrize("body", ["{}", "[]", "5", "", "{", '{"sequence":1}', BODY.replace("user", "users"), "null"])
def test_what_is_no_entry_is_not_read(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - JSON's messages are its own
        entry_from(body, "")


def test_amounts_are_shown_shortly() -> None:
    assert show((Fraction(1, 10),)) == "0.1"
    assert show((Fraction(1, 10), Fraction(1, 3))) == "(0.1, 1/3)"
    assert show((Fraction(123, 10**400),)) == "about 1230e-401"
    for value in (Fraction(1, 3) ** 200, Fraction(10**300, 7), Fraction(5e-324)):
        near = Fraction(show((value,)).removeprefix("about "))
        assert abs(near / value - 1) < Fraction(1, 50)


def test_the_chain_can_be_followed_from_the_entries_alone() -> None:
    with Ledger.open(":memory:") as ledger:
        previous = ledger.head()
        who = Identity("wages", "{}", "pure", (Fraction(1),))
        for name in "ab":
            (number,) = ledger.reserve(who, [Reservation(name, (Fraction(1, 10),), "plan", b"")])
            ledger.commit(drawn(ledger, number), b"x")
        for entry in ledger.entries("wages"):
            assert entry.digest == entry_digest(previous, entry_body(entry))
            previous = entry.digest
        assert previous == ledger.head()


def test_bodies_mean_the_same_alone_and_together():
    """Text after an object, or an object that reaches into the next body, is refused wherever it stands."""
    first, second = '{"charge":["0.1"]}', '{"charge":["0.9"]}'
    crafted = [first + ',{"charge":["0"],"x":[{}', second + "]}"], ['{"x":"y","a":[1', '2]},{"kind":"y"}'], [first + " "]
    for bodies in crafted:
        assert fields_of_all(bodies) == []
        with pytest.raises(ValueError, match="is not a JSON object"):
            fields_from(bodies[0])
    assert fields_of_all([first, second]) == [fields_from(first), fields_from(second)]
