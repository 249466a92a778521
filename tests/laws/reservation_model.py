"""All that a few processes can do with the reservations of one command, one step after the other, with a crash anywhere.

A world is the entries of a ledger and, for each process, where it is. The steps are the transactions of `discreet.ledger`
and what happens between them; what a transaction decides is decided by the library's own rules, and what its entries mean by
its own book. `explore` visits every world that can be reached and asserts docs/proofs/attempts.md in each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger import Identity, Reservation, attempts, book
from discreet.ledger.book import Book, Standing
from discreet.ledger.datasets import fresh_account
from discreet.ledger.records import Attempt

CHARGE = (Fraction(1),)
WHO = Identity("d", "{}", "pure", (Fraction(1000),))
INSIDE = {"reading", "draw", "draw!", "drawn", "commit"}
"""Where a process is within an attempt, and so holds its lock."""

Written = tuple[str, str, int, int, str]
"""Kind, name, reservation, attempt and holder of an entry."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the exploration changes to see whether it would be noticed."""

    in_one_transaction: bool = True
    alive_is_known: bool = True


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs the command: its step, the release it is at, the numbers of its reservations, and its attempt."""

    step: str = "dead"
    at: int = 0
    numbers: tuple[int, ...] = ()
    attempt: Attempt | None = None
    life: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """The ledger, the processes, the reservations for which something was drawn, and the wishes for a new charge so far."""

    entries: tuple[Written, ...]
    processes: tuple[Process, ...]
    lives: int
    draws: tuple[int, ...] = ()
    wishes: int = 0


@cache
def book_of(entries: tuple[Written, ...]) -> Book:
    """The library's book of these entries; refuses what no ledger may hold."""
    found = Book("", accounts={"d": fresh_account(Book(""), WHO)})
    for place, (kind, name, reservation, attempt, holder) in enumerate(entries, start=1):
        fields: dict[str, Any] = {"dataset": "d", "name": name, "charge": ["1"], "plan_digest": "p", "protocol": 1}
        fields |= {"reservation": reservation, "attempt": attempt, "holder": holder, "payload_digest": "x"}
        book._MEANINGS[kind](found, place, fields)
    return found


def standing_of(world: World, name: str) -> Standing | None:
    found = book_of(world.entries)
    return book.standing(found, found.accounts["d"].releases.get(name, 0))


def alive_in(world: World, rules: Rules) -> attempts.Alive:
    def alive(holder: str) -> bool | None:
        if not holder:
            return False
        if not rules.alive_is_known:
            return False  # a lock that says of the living that they are dead
        place, life, at = map(int, holder.split("."))
        one = world.processes[place]
        return one.step in INSIDE and (one.life, one.at) == (life, at)

    return alive


def moves(world: World, names: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """The worlds that may come next."""
    for place, one in enumerate(world.processes):
        if one.step in {"dead", "done"}:
            if world.lives:
                for again in (False, True):
                    fresh = Process("look", 0, (), None, one.life + 1, again)
                    yield with_process(replace(world, lives=world.lives - 1), place, fresh)
            continue
        yield with_process(world, place, replace(one, step="dead", attempt=None, numbers=()))
        yield from steps(world, place, names, rules)


def with_process(world: World, place: int, one: Process, *written: Written) -> World:
    processes = (*world.processes[:place], one, *world.processes[place + 1 :])
    return replace(world, processes=processes, entries=(*world.entries, *written))


def steps(world: World, place: int, names: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """The next step of one process."""
    one = world.processes[place]
    yield from _STEPS[one.step](world, place, names, rules)


def look(world: World, place: int, names: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """`find_reservation`: goes on with what can be finished; what is lost has failed."""
    one, alive = world.processes[place], alive_in(world, rules)
    found, written, number = standing_of(world, names[one.at]), (), 0
    if found is not None and found.state == "committed":
        number = -1
    elif found is not None and not found.outcome and alive(found.holder) is not True:
        if found.resumable:
            number = found.sequence
        elif attempts.is_lost(found, alive):
            written = (("fail", found.name, found.sequence, 0, ""),)
    numbers, at = (*one.numbers, number), one.at + 1
    step = "look" if at < len(names) else "reserve"
    yield with_process(world, place, replace(one, numbers=numbers, at=at if step == "look" else 0, step=step), *written)


def is_lost(world: World, name: str, rules: Rules) -> bool:
    found = standing_of(world, name)
    if found is None or found.state == "committed" or found.resumable:
        return False
    return bool(found.outcome) or alive_in(world, rules)(found.holder) is not True


def reserve(world: World, place: int, names: tuple[str, ...], rules: Rules) -> Iterator[World]:
    one, found = world.processes[place], book_of(world.entries)
    wanted = [name for name, number in zip(names, one.numbers, strict=True) if number == 0]
    if any(one.numbers) and not one.again and all(is_lost(world, name, rules) for name in wanted):
        yield with_process(world, place, replace(one, step="read", numbers=tuple(number or -1 for number in one.numbers)))
        return  # what is lost keeps nobody from finishing the rest
    asked = [Reservation(name, CHARGE, "p", b"", again=one.again) for name in wanted]
    account = found.accounts["d"]
    try:
        attempts.require_free_names(found, account, asked, alive_in(world, rules))
    except LedgerError:
        yield with_process(world, place, replace(one, step="done"))
        return
    older = attempts.find_renewed(found, account, asked)
    written = [("fail", each.name, each.sequence, 0, "") for each in older]
    first = len(world.entries) + len(written) + 1
    fresh = iter(range(first, first + len(wanted)))
    numbers = tuple(number or next(fresh) for number in one.numbers)
    known = sum(name in account.releases for name in wanted)
    after = with_process(
        world,
        place,
        replace(one, step="read", numbers=numbers),
        *written,
        *(("reserve", name, 0, 0, "") for name in wanted),
    )
    yield replace(after, wishes=world.wishes + known)


def read(world: World, place: int, names: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """`Ledger.attempt`."""
    one = world.processes[place]
    if one.at == len(names):
        yield with_process(world, place, replace(one, step="done"))
        return
    found = None if one.numbers[one.at] < 0 else book.standing(book_of(world.entries), one.numbers[one.at])
    if found is None:  # it is committed, and was given back; or it is lost
        yield with_process(world, place, replace(one, at=one.at + 1))
        return
    try:
        attempts.require_attempt(found, alive_in(world, rules))
    except LedgerError:
        yield with_process(world, place, replace(one, at=one.at + 1))
        return
    holder, number = f"{place}.{one.life}.{one.at}", found.attempts + 1
    attempt = Attempt(found.sequence, len(world.entries) + 1, number, holder)
    written = ("reading", found.name, found.sequence, number, holder)
    yield with_process(world, place, replace(one, step="reading", attempt=attempt), written)


def reading(world: World, place: int, _: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """The rows are read, or cannot be."""
    one = world.processes[place]
    yield with_process(world, place, replace(one, step="draw"))
    yield with_process(world, place, replace(one, step="settle"))


def draw(world: World, place: int, names: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """`Ledger.draw`: looks and writes in one transaction."""
    one = world.processes[place]
    assert one.attempt is not None
    if not attempts.may_draw(book.standing(book_of(world.entries), one.attempt.sequence), one.attempt):
        yield with_process(world, place, replace(one, step="settle"))
    elif rules.in_one_transaction:
        yield from draw_now(world, place, names, rules)
    else:
        yield with_process(world, place, replace(one, step="draw!"))


def draw_now(world: World, place: int, names: tuple[str, ...], _: Rules) -> Iterator[World]:
    one = world.processes[place]
    assert one.attempt is not None
    attempt = one.attempt
    written = ("drawing", names[one.at], attempt.sequence, attempt.number, attempt.holder)
    yield with_process(world, place, replace(one, step="drawn"), written)


def drawn(world: World, place: int, _: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """The noise is drawn."""
    one = world.processes[place]
    assert one.attempt is not None
    yield replace(with_process(world, place, replace(one, step="commit")), draws=(*world.draws, one.attempt.sequence))


def commit(world: World, place: int, names: tuple[str, ...], _: Rules) -> Iterator[World]:
    one = world.processes[place]
    assert one.attempt is not None
    found = book.standing(book_of(world.entries), one.attempt.sequence)
    if found is None or found.outcome or found.state != "drawing":
        yield with_process(world, place, replace(one, step="settle"))
        return
    written = ("commit", names[one.at], found.sequence, 0, "")
    yield with_process(world, place, replace(one, step="read", at=one.at + 1, attempt=None), written)


def settle(world: World, place: int, _: tuple[str, ...], rules: Rules) -> Iterator[World]:
    """`Ledger.settle` after an attempt that has ended."""
    one = world.processes[place]
    assert one.attempt is not None
    found, written = book.standing(book_of(world.entries), one.attempt.sequence), ()
    if found is not None and not found.outcome and attempts.is_lost(found, alive_in(world, rules)):
        written = (("fail", found.name, found.sequence, 0, ""),)
    yield with_process(world, place, replace(one, step="read", at=one.at + 1, attempt=None), *written)


_STEPS = {
    "look": look,
    "reserve": reserve,
    "read": read,
    "reading": reading,
    "draw": draw,
    "draw!": draw_now,
    "drawn": drawn,
    "commit": commit,
    "settle": settle,
}


# What is asserted ---------------------------------------------------------------------------------------------------------


def require_safe(world: World, names: tuple[str, ...], most: int) -> None:
    """No second draw, no commit without one, no charge that nobody wished, all or none reserved, attempts counted."""
    numbers = [place for place, (kind, *_) in enumerate(world.entries, start=1) if kind == "reserve"]
    assert len(set(world.draws)) == len(world.draws), "a second draw for one charge"
    committed = [reservation for kind, _, reservation, *_ in world.entries if kind == "commit"]
    failed = [reservation for kind, _, reservation, *_ in world.entries if kind == "fail"]
    assert set(committed) <= set(world.draws), "a commit of what was not drawn"
    assert not set(committed) & set(failed)
    assert len({*committed, *failed}) == len(committed) + len(failed), "concluded twice"
    assert len(numbers) in {0, len(names) + world.wishes}, "charged without a wish, or not all together"
    for number in numbers:
        begun = [attempt for kind, _, reservation, attempt, _ in world.entries if (kind, reservation) == ("reading", number)]
        assert begun == list(range(1, len(begun) + 1))
        assert len(begun) <= most, "an attempt too many"
        drawing = [place for place, (kind, _, of, *_) in enumerate(world.entries) if (kind, of) == ("drawing", number)]
        assert len(drawing) <= 1, "drawing is entered twice"
        assert number not in world.draws or drawing, "drawn before it was announced"


def require_finished(world: World, names: tuple[str, ...], most: int) -> None:
    """When all have died, the command alone finishes every release for which nothing was drawn, and with --again all."""
    before = {name: standing_of(world, name) for name in names}
    stuck = {name for name, found in before.items() if found is not None and not found.resumable}
    lost = {name for name in stuck if before[name].state != "committed"}  # type: ignore[union-attr]
    for name in lost:
        number = before[name].sequence  # type: ignore[union-attr]
        begun = sum(entry[:1] + entry[2:3] == ("reading", number) for entry in world.entries)
        drawn = any(entry[:1] + entry[2:3] == ("drawing", number) for entry in world.entries)
        assert drawn or begun == most, "a charge is lost before anything was drawn"
    for again in (False, True):
        after = alone(replace(world, lives=0), names, again=again)
        for name in names:
            found = standing_of(after, name)
            if again or name not in lost:
                assert found is not None
                assert found.state == "committed", "what can be finished is not"
                assert before[name] is None or name in lost or found.sequence == before[name].sequence  # type: ignore[union-attr]
            else:
                assert found is not None
                assert (found.state, found.sequence) == ("failed", before[name].sequence)  # type: ignore[union-attr]
    charges = sum(entry[0] == "reserve" for entry in alone(replace(world, lives=0), names, again=True).entries)
    assert charges == max(len(names), sum(entry[0] == "reserve" for entry in world.entries)) + len(lost)


def alone(world: World, names: tuple[str, ...], *, again: bool) -> World:
    """What one more process does to its end when nobody else is there and nothing breaks."""
    life = world.processes[0].life + 1
    world = with_process(world, 0, Process("look", 0, (), None, life, again))
    while world.processes[0].step != "done":
        world = next(steps(world, 0, names, Rules()))
    return world


def explore(names: tuple[str, ...], processes: int, lives: int, rules: Rules, most: int) -> int:
    """How many worlds there are: in each one everything holds."""
    start = World((), (Process(),) * processes, lives)
    seen, waiting = {start}, [start]
    while waiting:
        world = waiting.pop()
        require_safe(world, names, most)
        if rules.alive_is_known and all(one.step in {"dead", "done"} for one in world.processes):
            require_finished(world, names, most)
        for after in moves(world, names, rules):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return len(seen)
