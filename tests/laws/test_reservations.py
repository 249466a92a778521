"""At most one draw for a charge, nothing lost but in drawing: every order of the steps of some processes, with crashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.ledger import attempts, book, records

from . import reservation_model as model
from .reservation_model import Rules, explore

MOST = 2


@pytest.fixture(autouse=True)
def few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two attempts in place of eight: what happens at the limit is within reach."""
    monkeypatch.setattr(attempts, "MOST_ATTEMPTS", MOST)
    monkeypatch.setattr(book, "MOST_ATTEMPTS", MOST)
    monkeypatch.setattr(records, "MOST_ATTEMPTS", MOST)
    model.book_of.cache_clear()


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("names", "processes", "lives"),
    [
        (("a",), 2, 3),
        (("a", "b"), 1, 3),
        pytest.param(("a", "b"), 2, 2, marks=pytest.mark.exhaustive),
        pytest.param(("a",), 2, 4, marks=pytest.mark.exhaustive),
        pytest.param(("a",), 3, 4, marks=pytest.mark.exhaustive),
        pytest.param(("a", "b"), 2, 3, marks=pytest.mark.exhaustive),
    ],
)
def test_every_order_of_steps_and_crashes_keeps_the_law(names: tuple[str, ...], processes: int, lives: int) -> None:
    assert explore(names, processes, lives, Rules(), MOST) > 1000


@pytest.mark.slow
@pytest.mark.parametrize(("names", "lives"), [(("a",), 3), pytest.param(("a", "b"), 2, marks=pytest.mark.exhaustive)])
def test_a_lock_that_says_of_the_living_that_they_are_dead_costs_charges_and_draws_nothing_twice(
    names: tuple[str, ...], lives: int
) -> None:
    """Privacy does not rest on the lock: on a file system that loses locks nothing is drawn for a second time."""
    assert explore(names, 2, lives, Rules(alive_is_known=False), MOST) > 1000


Patch = Callable[[pytest.MonkeyPatch], Any]


def draws_unchecked(patch: pytest.MonkeyPatch) -> None:
    """Drawing without a look at the last entry, which the book refuses; here it does not."""
    patch.setattr(attempts, "may_draw", lambda *_: True)
    patch.setitem(book._MEANINGS, "drawing", _always("drawing"))


def retries_after_drawing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attempts, "require_attempt", lambda *_: None)
    patch.setitem(book._MEANINGS, "reading", _always("reading"))


def attempts_uncounted(patch: pytest.MonkeyPatch) -> None:
    for module in (attempts, book, records):
        patch.setattr(module, "MOST_ATTEMPTS", 99)


def commits_after_failure(patch: pytest.MonkeyPatch) -> None:
    """A process that was taken for dead commits all the same."""
    patch.setitem(model._STEPS, "commit", _commits_always)


def charges_without_a_wish(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attempts, "_require_given_up", lambda *_: None)
    patch.setattr(attempts, "find_renewed", lambda book, account, asked: [])
    patch.setattr(book, "_is_free", lambda *_: True)


def fails_what_was_not_drawn(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attempts, "is_lost", lambda found, alive: alive(found.holder) is False)


def forgets_to_fail(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(attempts, "is_lost", lambda *_: False)


def never_goes_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(book.Standing, "resumable", property(lambda _: False))


def draws_before_it_says_so(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(model._STEPS, "reading", model.drawn)


def _always(state: str) -> Callable[..., None]:
    def take_in(found: book.Book, sequence: int, fields: dict[str, Any]) -> None:
        found.progress[fields["reservation"]] = (state, fields["attempt"], fields["holder"], sequence)

    return take_in


def _commits_always(world: model.World, place: int, names: tuple[str, ...], _: Rules) -> Any:
    one = world.processes[place]
    assert one.attempt is not None
    written = ("commit", names[one.at], one.attempt.sequence, 0, "")
    yield model.with_process(world, place, model.replace(one, step="read", at=one.at + 1, attempt=None), written)


@pytest.mark.parametrize(
    ("mutant", "rules"),
    [
        (draws_unchecked, Rules(alive_is_known=False)),
        (retries_after_drawing, Rules()),
        (attempts_uncounted, Rules()),
        (commits_after_failure, Rules(alive_is_known=False)),
        (charges_without_a_wish, Rules()),
        (fails_what_was_not_drawn, Rules()),
        (forgets_to_fail, Rules()),
        (never_goes_on, Rules()),
        (draws_before_it_says_so, Rules()),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_rule_that_is_left_out_is_noticed(monkeypatch: pytest.MonkeyPatch, mutant: Patch, rules: Rules) -> None:
    mutant(monkeypatch)
    model.book_of.cache_clear()
    with pytest.raises((AssertionError, ValueError)):
        explore(("a",), 2, 3, rules, MOST)
    model.book_of.cache_clear()


def test_a_look_and_an_entry_in_two_transactions_are_noticed() -> None:
    """Between the two another process, which took this one for dead, has drawn or given up: the book refuses the entry."""
    with pytest.raises((AssertionError, ValueError)):
        explore(("a",), 2, 3, Rules(in_one_transaction=False, alive_is_known=False), MOST)
