"""The dialect of Spark as text, and the door to Spark where there is none: nothing here needs the driver."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.audit.engines.conformance import _requests
from discreet.audit.engines.hostile import hostile_tables
from discreet.cube.cube import ROW_LIMIT
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.spark import driver as module
from discreet.engines.spark.dialect import LIMB_BITS, SPARK, limbs
from discreet.engines.sql import aggregate_sql
from discreet.plan.table import Table

PERSONS = dp.Schema(sex=dp.Category(["F", "M"]), age=dp.Number(0, 110))
TEXT, LONG = ColumnType("text", "string"), ColumnType("integer", "long")


def statement(schema: dp.Schema, header: dict[str, ColumnType], plan: Any) -> str:
    wanted = plan.layout.scans[0]
    return aggregate_sql(SPARK, "rows", header, wanted.axes, wanted.moments)


def test_a_count_and_a_sum_by_category_to_the_letter() -> None:
    plan = Table(PERSONS, dp.AddRemove()).group_by("sex").agg(dp.count(), dp.sum("age", nulls="skip"))
    words, targets, line = "X'460a4d'", "X'300a31'", "CAST(X'0a' AS STRING)"
    assert statement(PERSONS, {"sex": TEXT, "age": LONG}, plan) == (
        f"SELECT coalesce(get(CAST(split(CAST({targets} AS STRING), {line}) AS ARRAY<BIGINT>), "
        f"CAST(array_position(split(CAST({words} AS STRING), {line}), c0) AS INT) - 1), -1) AS k0, "
        "count(*) AS n, count(v0) AS n0, coalesce(sum((v0 - 0)), 0) AS s0_0 "
        "FROM (SELECT CASE WHEN octet_length(`sex`) <= 1 THEN `sex` END AS c0, "
        "(CASE WHEN `age` IS NULL THEN NULL WHEN `age` < 0 THEN 0 WHEN `age` > 110 THEN 110 ELSE `age` END) AS v0 "
        "FROM rows) GROUP BY c0"
    )


def test_categories_that_are_many_or_have_to_be_normalised_are_joined() -> None:
    words, targets, line = "X'65cc810a4d'", "X'300a31'", "CAST(X'0a' AS STRING)"
    joined = (
        " LEFT JOIN (SELECT /*+ BROADCAST */ w0, t0 FROM (SELECT inline(arrays_zip("
        f"CAST(split(CAST({words} AS STRING), {line}) AS ARRAY<BINARY>), "
        f"CAST(split(CAST({targets} AS STRING), {line}) AS ARRAY<BIGINT>))) AS (w0, t0))) AS d0 ON c0 = w0 GROUP BY t0"
    )
    assert grouped_by(["é", "M"]).endswith(joined)
    for categories, is_joined in ((255, False), (256, True)):
        assert ("LEFT JOIN" in grouped_by([f"w{i}" for i in range(categories)])) == is_joined
    kelvin = grouped_by(["K"])  # the sign of kelvin, of three bytes, is the letter
    assert "array_position(split(CAST(X'4b0ae284aa' AS STRING), CAST(X'0a' AS STRING)), c0)" in kelvin
    assert "CASE WHEN octet_length(`a`) <= 3 THEN `a` END" in kelvin


def test_groups_by_text_are_merged_before_the_driver_has_them() -> None:
    """Only groups of texts that are looked up afterwards; the hint keeps Spark from making one grouping of the two."""
    plan = Table(PERSONS, dp.AddRemove()).group_by("sex").agg(dp.count(), dp.sum("age", nulls="skip"))
    wanted = plan.layout.scans[0]
    assert module._merge_groups("SELECT 1", wanted.axes, wanted.moments) == (
        "SELECT k0, sum(n) AS n, sum(n0) AS n0, sum(s0_0) AS s0_0 "
        "FROM (SELECT /*+ REPARTITION(k0) */ * FROM (SELECT 1)) GROUP BY k0"
    )
    for column in (dp.Category(["é", "M"]), dp.Category([1, 2]), dp.Category([f"w{i}" for i in range(256)])):
        schema = dp.Schema(a=column)
        other = Table(schema, dp.AddRemove()).group_by("a").agg(dp.count()).layout.scans[0]
        assert module._merge_groups("SELECT 1", other.axes, other.moments) == "SELECT 1"


def grouped_by(categories: list[str]) -> str:
    schema = dp.Schema(a=dp.Category(categories))
    return statement(schema, {"a": TEXT}, Table(schema, dp.AddRemove()).group_by("a").agg(dp.count()))


def statements() -> Iterator[str]:
    few = {
        "words",
        "column names",
        "dates as text",
        "timestamps",
        "small integers",
        "decimals of 38 digits, 20 after the point",
    }
    for table in (table for table in hostile_tables() if table.name in few):
        header = {f"x{i}": kind for i, kind in enumerate(table.header.values())}
        columns = {f"x{i}": table.schema[name] for i, name in enumerate(table.header)}
        schema = dp.Schema(columns)
        renamed = type(table)(table.name, schema, header, table.rows)
        for _, plan in list(_requests(renamed))[::3]:
            yield statement(schema, header, plan)


def test_no_statement_can_be_read_in_two_ways() -> None:
    """No text of a schema stands in quotes, no cast can fail on a text, nothing is random, and no brace is a placeholder."""
    seen = 0
    for text in statements():
        seen += 1
        literals = re.findall(r"(X?)'([^']*)'", text)
        assert all(re.fullmatch(r"[-+0-9a-f.:e ]*|[ ,]|Infinity", inner) for kind, inner in literals if not kind)
        assert all(re.fullmatch(r"[0-9a-f]*", inner) for kind, inner in literals if kind)
        assert not re.search(r"[{}\\;$\"]|--|GROUP BY ALL|rand|uuid|nfc_normalize|HUGEINT|//", text)
        assert not re.search(r"(?<!TRY_)CAST\((?:split_part|trim)", text)
    assert seen > 40


def test_limbs_carry_every_sum() -> None:
    for width in (0, 1, 2**22 - 1, 2**22, 2**44 - 1, 2**44, 2**52 - 1):
        assert (2**LIMB_BITS - 1) * ROW_LIMIT < 2**62
        assert width < 2 ** (LIMB_BITS * limbs(width))
    assert [limbs(width) for width in (2**22 - 1, 2**22, 2**44 - 1, 2**44, 2**52 - 1)] == [1, 2, 2, 3, 3]


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "pyspark":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(dp.SourceError, match=r"'spark:db.t': needs the extra: pip install 'discreet\[spark\]'"):
        open_source("spark:db.t", PERSONS)


JAVAS = {
    "none": (None, "none was found"),
    "old": ('java version "1.8.0_202"', "version 8 was found"),
    "eleven": ('openjdk version "11.0.2" 2019-01-15', "version 11 was found"),
    "silent": ("", "none was found"),
    "new": ('openjdk version "21" 2023-09-19', None),
}


@pytest.mark.parametrize("name", JAVAS)
def test_java_is_looked_at_before_it_is_started(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says, words = JAVAS[name]
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if says is not None:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "java").write_text(f"#!/bin/sh\necho '{says}' >&2\n")
        (tmp_path / "bin" / "java").chmod(0o755)
    if words is None:
        module._check_java("spark:t")
    else:
        with pytest.raises(dp.SourceError, match=f"needs Java 17 or newer, and {words}; set JAVA_HOME"):
            module._check_java("spark:t")


def test_empty_names_are_refused_and_nothing_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for name in ("spark:", "spark:  "):
        with pytest.raises(dp.SourceError, match="name a table or a path"):
            open_source(name, PERSONS)


def test_marks_beyond_measure_are_refused_by_name() -> None:
    from discreet.engines.spark.dialect import check_spellings

    marks = "".join(chr(c) for c in range(0x300, 0x370))
    with pytest.raises(dp.SourceError, match="column 'a', categories: carry too many combining marks"):
        check_spellings(dp.Schema(a=dp.Category(["a" + marks])))
    check_spellings(dp.Schema(a=dp.Category(["é"]), b=dp.Category([1]), c=dp.Number(0, 1)))
