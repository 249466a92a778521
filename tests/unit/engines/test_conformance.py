"""The shipped suite: the engines pass it, and engines with known faults of DP software do not."""

from __future__ import annotations

import datetime as dt
import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from tests.laws.mutants import Mutant

from discreet.audit.engines.conformance import (
    ConformanceError,
    OpenEngine,
    check_engine,
    check_junk,
    check_table,
    first_difference,
)
from discreet.audit.engines.hostile import hostile_tables
from discreet.audit.engines.persons import check_persons
from discreet.cube import person_numbers
from discreet.cube.combinations import Combinations
from discreet.cube.cube import Cube
from discreet.cube.persons import NOWHERE, InFull, PersonScan, PersonSpread
from discreet.cube.value_paths import KeyAxis, Moment
from discreet.engines import reference as reference_module
from discreet.engines import reference_persons
from discreet.engines.reference import ReferenceEngine
from discreet.errors import ArgumentError

Rows = Sequence[Sequence[object]]
TABLES = {table.name: table for table in hostile_tables()}
# Arrow and its relatives have no 128-bit integers; a CSV cell has no type but text, and no line breaks.
WIDE = {"128-bit integers", "missing codes in 128-bit integers"}
# Tables that only vary a type of which another table is always tried; the slow run tries them all.
VARIED = {f"decimals of {width} digits, {scale} after the point" for width, scale in ((9, 2), (18, 0), (18, 18), (38, 2))}
VARIED |= {"small integers", "unsigned integers", "single floats"}
TEXTS = {n for n, t in TABLES.items() if {k.kind for k in t.header.values()} == {"text"}}
NOT_CSV = {*TABLES} - TEXTS | {"control characters in text"}
MOST = {*TABLES} - {*list(TABLES)[::4]}
"""Tables that the slow run tries."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "without"),
    [
        ("parquet", WIDE | VARIED | MOST | TEXTS - {"words", "control characters in text"}),
        pytest.param("comma_separated", NOT_CSV | MOST, marks=pytest.mark.slow),
        pytest.param("comma_separated", NOT_CSV, marks=pytest.mark.slow),
        pytest.param("relation", set(TABLES) - WIDE, marks=pytest.mark.slow),
        pytest.param("parquet", WIDE | VARIED | {"column names"}, marks=pytest.mark.slow),
        pytest.param("relation", set(), marks=pytest.mark.exhaustive),
        pytest.param("parquet", WIDE, marks=pytest.mark.exhaustive),
        pytest.param("polars", WIDE, marks=pytest.mark.exhaustive),
        pytest.param("arrow", WIDE, marks=pytest.mark.exhaustive),
        pytest.param("pandas", WIDE, marks=pytest.mark.exhaustive),
    ],
)
def test_every_kind_of_source_conforms(openers: Mapping[str, OpenEngine], source: str, without: set[str]) -> None:
    assert check_engine(openers[source], without=without) > 10 * (len(TABLES) - len(without))


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        *((source, 5_000) for source in ("parquet", "comma_separated", "polars")),
        *(
            pytest.param(source, 10**6, marks=pytest.mark.exhaustive)
            for source in ("parquet", "comma_separated", "polars", "relation")
        ),
    ],
)
def test_many_different_texts_are_one_cell(openers: Mapping[str, OpenEngine], source: str, rows: int) -> None:
    assert check_junk(openers[source], rows) == 4


@pytest.mark.parametrize(
    "source", ["parquet", *(pytest.param(one, marks=pytest.mark.slow) for one in ("comma_separated", "polars", "relation"))]
)
def test_persons_are_added_up_by_every_kind_of_source(openers: Mapping[str, OpenEngine], source: str) -> None:
    assert check_persons(openers[source]) == 153


def test_an_engine_without_persons_is_not_asked_for_them() -> None:
    class Without(ReferenceEngine):
        def can_add_persons(self) -> bool:
            return False

    assert check_persons(Without) == 0


TRAPS: dict[str, tuple[Any, str, Any]] = {
    "groups are counted for all persons together": (
        reference_persons,
        "weight",
        lambda weighting, cells, groups, every: WEIGHT(weighting, every, groups, every),
    ),
    "weights are rounded up": (
        reference_persons,
        "weight",
        lambda weighting, cells, groups, every: WEIGHT(weighting, cells, groups, every) + (cells > groups),
    ),
    "rows without an id are somebody's": (reference_persons, "identity", lambda value: value or "nobody"),
    "rows of weight 0 count": (reference_persons, "times_of", lambda scan, row, code: TIMES_OF(scan, row, code) or 1),
    "rows of a bin are rounded up": (PersonScan, "share", lambda scan, rows, of: SHARE(scan, rows, of) + (of > scan.rows)),
    "rows outside all bins are not the person's": (
        PersonSpread,
        "place",
        lambda one, label: _in_a_bin(one, PLACE(one, label)),
    ),
    "values are rounded to the nearest": (
        person_numbers,
        "_of_rows",
        lambda total, known, most, fine, coarse: known and (fine * total * min(known, most) + known) // (known * coarse),
    ),
    "a combination is known by all its parts but one": (
        Combinations,
        "label",
        lambda known, codes: LABEL(known, [*codes[:-1], 0]),
    ),
    "combinations that are not listed are the last one": (
        Combinations,
        "label",
        lambda known, codes: known.targets[-1] if (found := LABEL(known, codes)) == known.others else found,
    ),
    "too many rows are all": (InFull, "holds_in", lambda full, rows, parts: True),
    "ids are trimmed": (reference_persons, "identity", lambda value: value.strip() if isinstance(value, str) else value),
}
SHARE, PLACE, LABEL = PersonScan.share, PersonSpread.place, Combinations.label
CELL_OF, WEIGHT, TIMES_OF = reference_persons.cell_of, reference_persons.weight, reference_persons.times_of


def _in_a_bin(spread: PersonSpread, place: int) -> int:
    return NOWHERE if place == spread.bins else place


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_of_persons_are_noticed(trap: str, openers: Mapping[str, OpenEngine], monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference has the fault: what an engine without it answers is not the same."""
    owner, name, wrong = TRAPS[trap]
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(ConformanceError, match="persons with"):
        check_persons(openers["polars"])


def test_groups_that_are_put_together_after_the_bound_are_noticed(
    openers: Mapping[str, OpenEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person is in twice as many finer groups as in groups of the request."""
    right = "Counter(person for person, _ in counted.rows)"
    Mutant(reference_persons, "add_counted", right, f"Counter([*{right}.elements()] * 2)").plant(monkeypatch)
    with pytest.raises(ConformanceError, match="one group"):
        check_persons(openers["polars"])


def test_junk_that_is_left_out_is_noticed() -> None:
    with pytest.raises(ConformanceError, match="different texts"):
        check_junk(lambda header, rows: ReferenceEngine(header, rows[1:]), 100)
    with pytest.raises(ConformanceError, match="different texts"):
        check_junk(lambda header, rows: ReferenceEngine(header, [(a, b.removesuffix("th")) for a, b in rows]), 100)


def test_unknown_tables_cannot_be_left_out() -> None:
    with pytest.raises(ArgumentError, match="did you mean 'doubles'"):
        check_engine(ReferenceEngine, without=["double"])


def test_the_catalogue_has_names_that_stay() -> None:
    assert len(TABLES) == len(hostile_tables())
    assert all(len(row) == len(table.header) for table in TABLES.values() for row in table.rows)
    assert all(set(table.schema.columns) == set(table.header) for table in TABLES.values())


def _mapped(change: Callable[[Any], object]) -> OpenEngine:
    """An engine that reads every value as `change` of it."""
    return lambda header, rows: ReferenceEngine(header, [[change(value) for value in row] for row in rows])


def _typed(kind: type, change: Callable[[Any], object]) -> OpenEngine:
    return _mapped(lambda value: change(value) if type(value) is kind else value)


MUTANTS: dict[str, tuple[str, OpenEngine]] = {
    "NaN is 0": ("doubles", _typed(float, lambda x: 0.0 if math.isnan(x) else x)),
    "infinities are clamped": ("doubles", _typed(float, lambda x: math.copysign(1e308, x) if math.isinf(x) else x)),
    "doubles pass through single floats": (
        "doubles",
        _typed(float, lambda x: float(np.float32(x)) if abs(x) < 1e38 else x),
    ),
    "one ulp up": ("doubles", _typed(float, lambda x: math.nextafter(x, math.inf))),
    "integers pass through doubles": ("64-bit integers", _typed(int, lambda n: int(float(n)) if abs(n) < 2**62 else n)),
    "integers wrap": ("128-bit integers", _typed(int, lambda n: (n + 2**63) % 2**64 - 2**63)),
    "unsigned integers are signed": ("unsigned integers", _typed(int, lambda n: n - 2**64 if n >= 2**63 else n)),
    "decimals pass through doubles": ("decimals of 38 digits, 20 after the point", _typed(Decimal, float)),
    "decimals lose a digit": ("decimals of 9 digits, 2 after the point", _typed(Decimal, lambda d: round(d, 1))),
    "blanks are stripped": ("words", _typed(str, str.strip)),
    "case is folded": ("words", _typed(str, str.casefold)),
    "texts are taken apart": ("words", _typed(str, lambda s: unicodedata.normalize("NFKC", s))),
    "the empty text is a category": ("words", _typed(str, lambda s: s or "F")),
    "text ends at NUL": ("control characters in text", _typed(str, lambda s: s.split("\0")[0])),
    "text ends at a line break": ("control characters in text", _typed(str, lambda s: s.split("\n")[0])),
    "underscores in numbers": ("numbers as text", _typed(str, lambda s: s.replace("_", ""))),
    "hexadecimal numbers": ("numbers as text", _typed(str, lambda s: str(int(s, 16)) if s == "0x1F" else s)),
    "full-width digits": ("numbers as text", _typed(str, lambda s: unicodedata.normalize("NFKC", s))),
    "any digits": ("numbers as text", _typed(str, lambda s: str(int(s)) if s.isdecimal() and len(s) < 9 else s)),
    "huge numbers are clamped": ("numbers as text", _typed(str, lambda s: "1e308" if s == "1e999" else s)),
    "a point needs digits": ("numbers as text", _typed(str, lambda s: None if s == "7." else s)),
    "other blanks are blanks": ("numbers as text", _typed(str, str.strip)),
    "one is true": ("booleans as text", _typed(str, lambda s: {"1": "true", "0": "false"}.get(s, s))),
    "long s folds": ("booleans as text", _typed(str, lambda s: s.replace("ſ", "s"))),
    "timestamps round to days": (
        "timestamps",
        _typed(dt.datetime, lambda t: t + dt.timedelta(hours=12) if t.year < 9999 else t),
    ),
    "any ISO date": ("dates as text", _typed(str, lambda s: "2020-01-31" if s == "20200131" else s)),
    "null is 0": ("small integers", _mapped(lambda value: 0 if value is None else value)),
    "null is a category": ("words", _mapped(lambda value: "F" if value is None else value)),
    "the last row is lost": ("words", lambda header, rows: ReferenceEngine(header, rows[:-1])),
    "equal rows are one": ("words", lambda header, rows: ReferenceEngine(header, list(dict.fromkeys(map(tuple, rows))))),
    "a column is exchanged": ("column names", lambda header, rows: ReferenceEngine(header, [row[::-1] for row in rows])),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", MUTANTS)
def test_faulty_engines_are_rejected(name: str) -> None:
    table, engine = MUTANTS[name]
    with pytest.raises(ConformanceError, match=f"table '{table}'.*reference has"):
        check_table(engine, TABLES[table])


def test_rounding_half_away_from_zero_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    class Away(ReferenceEngine):
        def aggregate(self, axes: Sequence[KeyAxis], moments: Sequence[Moment]) -> Cube:
            with monkeypatch.context() as patched:
                patched.setattr(reference_module, "round", lambda x: math.floor(x + type(x)(1) / 2), raising=False)
                return super().aggregate(axes, moments)

    for name in ("doubles", "ties as text", "decimals of 9 digits, 2 after the point"):
        with pytest.raises(ConformanceError, match="reference has"):
            check_table(Away, TABLES[name])


@pytest.mark.parametrize(
    ("method", "behaviour", "message"),
    [
        (
            "snapshot",
            lambda self: str(object.__hash__(object())) + str(np.random.default_rng().random()),
            "nothing has changed",
        ),
        ("aggregate", lambda self, axes, moments: 1 / 0, "engine failed .ZeroDivisionError"),
        ("aggregate_all", lambda self, scans: iter(()), "0 cubes for"),
        (
            "aggregate_all",
            lambda self, scans: (self.aggregate(*scan) for scan in reversed(scans)),
            "scan 0 of several: ",
        ),
        ("__init__", lambda self, header, rows: 1 / 0, "engine failed .ZeroDivisionError"),
    ],
)
def test_engines_that_fail_or_hide_changes_are_rejected(method: str, behaviour: Any, message: str) -> None:
    engine = type("Faulty", (ReferenceEngine,), {method: behaviour})
    with pytest.raises(ConformanceError, match=message):
        check_table(engine, TABLES["booleans"])


def test_differences_are_told_apart() -> None:
    def cube(keys: list[list[int]], rows: list[int], sums: list[list[int]], kind: type = np.int64) -> Cube:
        shape = (len(keys), 1)
        return Cube(np.array(keys), np.array(rows), np.array(rows).reshape(shape), np.array(sums, dtype=kind).reshape(shape))

    same = cube([[0], [3]], [1, 2], [[5], [7]])
    assert first_difference(same, cube([[0], [3]], [1, 2], [[5], [7]])) is None
    assert "cell (3,) is (2, [2], [8])" in str(first_difference(same, cube([[0], [3]], [1, 2], [[5], [8]])))
    assert "cell (3,) is no such cell" in str(first_difference(same, cube([[0]], [1], [[5]])))
    assert "cell (4,)" in str(first_difference(same, cube([[0], [3], [4]], [1, 2, 1], [[5], [7], [0]])))
    assert "'sums' is an array of object" in str(first_difference(same, cube([[0], [3]], [1, 2], [[5], [7]], object)))
    assert "order" in str(first_difference(same, cube([[3], [0]], [2, 1], [[7], [5]])))
