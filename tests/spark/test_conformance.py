"""The shipped suite on Spark: every table of the catalogue, under the settings that change what its expressions mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from discreet.audit.engines.conformance import OpenEngine, check_engine, check_table
from discreet.audit.engines.hostile import hostile_tables
from discreet.audit.engines.persons import check_persons

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]
TABLES = {table.name: table for table in hostile_tables()}
WIDE = {name for name in TABLES if "128-bit integers" in name}  # Spark has no type for them

# One reading of Spark's settings that is as far from the usual one as settings can be.
ODD = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "Pacific/Apia",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.legacy.literal.pickMinimumPrecision": "false",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.groupByAliases": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.negativeIndexInArrayInsert": "true",
    "spark.sql.legacy.statisticalAggregate": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
}
# And as strict as they can be, with the code that Spark compiles for larger tables.
STRICT = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.storeAssignmentPolicy": "STRICT",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.session.timeZone": "America/St_Johns",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
}
MIXED = [
    "numbers as text",
    "words",
    "64-bit integers",
    "doubles",
    "decimals of 38 digits, 20 after the point",
    "dates as text",
    "timestamps",
    "column names",
]


def test_every_table_conforms(openers: Mapping[str, OpenEngine]) -> None:
    assert check_engine(openers["frame"], without=WIDE) > 10 * (len(TABLES) - len(WIDE))


@pytest.mark.parametrize("name", MIXED)
def test_parquet_conforms_under_odd_settings(openers: Mapping[str, OpenEngine], set_to: Any, name: str) -> None:
    with set_to(ODD):
        assert check_table(openers["parquet"], TABLES[name])


@pytest.mark.parametrize("name", ["words", "doubles", "decimals of 30 digits, 8 after the point", "timestamps"])
def test_compiled_code_conforms_under_strict_settings(openers: Mapping[str, OpenEngine], set_to: Any, name: str) -> None:
    with set_to(STRICT):
        assert check_table(openers["frame"], TABLES[name])


@pytest.mark.parametrize("settings", [{}, ODD, STRICT], ids=["as it is", "odd", "strict"])
def test_persons_are_added_up(openers: Mapping[str, OpenEngine], set_to: Any, settings: Mapping[str, str]) -> None:
    with set_to(settings):
        assert check_persons(openers["frame"]) == 153
