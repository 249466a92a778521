"""Lines taken apart all together are those taken apart one by one, and the tests of that notice what can go wrong."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from discreet.engines.duckdb import csv_cells, csv_lines
from discreet.engines.duckdb.csv_lines import split_line

FIELDS = 3
PIECES = (",", '"', '""', '","', '",', ',"', "x", "é", "x" * 40, '"x"', '""x', "\n", ',"a,b",', '"""')


def short_lines() -> list[str]:
    """Every line of at most seven characters of each kind."""
    return ["".join(letters) for length in range(8) for letters in product(',"x', repeat=length)]


def long_lines() -> list[str]:
    """Lines of many runs of quotes of many lengths, from fixed random numbers: some thousand bytes each."""
    chance = random.Random(20261122)  # noqa: S311
    texts = ["".join(chance.choices(PIECES, k=chance.randrange(300))) for _ in range(300)]
    runs = ["a," + "x" * (i % 7) + '"' * i + "," * (i % 3) + '"' * j + ",b" for i in range(70) for j in (0, 1, 2, 63, 64)]
    return "\n".join([*texts, *runs]).split("\n")


def together(lines: Sequence[str]) -> Counter[object]:
    rows = csv_lines._rows("".join(line + "\n" for line in lines).encode(), FIELDS)
    found: Counter[object] = Counter(tuple(row.split("\0")) for row in rows.text.decode().split("\n")[:-1])
    assert found.total() == rows.count
    return +(found + Counter({None: rows.nulls}))


def one_by_one(lines: Sequence[str]) -> Counter[object]:
    cells = (split_line(line, FIELDS) for line in lines if line)
    return Counter(row if row is None else tuple(row) for row in cells)


@pytest.mark.parametrize("lines", [short_lines, long_lines])
def test_lines_are_what_each_of_them_is(lines: Callable[[], list[str]]) -> None:
    all_ = lines()
    wanted = one_by_one(all_)
    assert wanted[None] > 100
    assert wanted.total() - wanted[None] > 100
    assert together(all_) == wanted


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 63, 64, 65, 1000])
def test_lines_are_the_same_in_blocks_of_any_size(size: int) -> None:
    lines = long_lines()
    parts = [together(lines[at : at + size]) for at in range(0, min(len(lines), 40 * size), size)]
    assert sum(parts, Counter()) == one_by_one(lines[: 40 * size])


def only_next(quotes: int, firsts: int) -> int:
    """The byte behind the first quote, however long its run is."""
    return firsts << 1 & ~quotes


def ignoring_state(closing: int, opening: int, swapping: int) -> int:
    """Quotes that are taken in turns, with line ends between them."""
    return csv_cells._parity(closing | opening | swapping, (1 << closing.bit_length()) - 1)


def first_only(closing: int, opening: int, swapping: int) -> int:
    """One of two openings in one stretch is lost: the carry of the second is not set again."""
    free = closing ^ ((1 << closing.bit_length()) - 1)
    return ((free + opening) ^ free) & free ^ csv_cells._parity(swapping, free | closing)


def short_parity(bits: int, every: int) -> int:
    """The parity of the last 64 places."""
    for shift in (1, 2, 4, 8, 16, 32):
        bits ^= bits << shift & every
    return bits


def lone(quotes: int, firsts: int) -> int:
    """Runs of which only the first quote is one."""
    return quotes & firsts


DEFECTS: dict[str, tuple[str, object]] = {
    "runs of one quote": ("_behind", only_next),
    "runs that are never whole": ("_whole", lone),
    "quotes that take turns": ("_inside", ignoring_state),
    "a second opening is lost": ("_inside", first_only),
    "quotes between commas do nothing": ("_parity", lambda _bits, _every: 0),
    "parity that goes 64 bytes far": ("_parity", short_parity),
    "all quotes are spare": ("_kept", lambda *_: 0),
    "a quote is a character like any other": ("_QUOTE", np.uint8(1)),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_planted_defects_are_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    what, wrong = DEFECTS[name]
    lines = short_lines() + long_lines()
    assert together(lines) == one_by_one(lines)
    monkeypatch.setattr(csv_cells, what, wrong)
    assert together(lines) != one_by_one(lines)


def test_bits_are_truths_in_their_order() -> None:
    for count in (1, 7, 8, 9, 64, 65, 1000):
        bits = random.Random(count).getrandbits(count)  # noqa: S311
        seen = csv_cells._truths(bits, count)
        assert [bool(bits >> i & 1) for i in range(count)] == seen.tolist()
        assert csv_cells._bits(seen) == bits


def test_a_carriage_return_in_a_line_is_a_fault() -> None:
    """None is there, since it ended the line before; bytes that are left out are deleted as carriage returns."""
    assert together(["a\r,b,c", '"a\r",b,c', "a,b,c"]) == Counter({None: 2, ("a", "b", "c"): 1})
