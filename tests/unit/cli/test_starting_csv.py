"""`discreet init --csv KEY=VALUE`: CSV files with other separators, decimal marks and encodings."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

import discreet as dp
from discreet.cli.settings import csv_format_of
from discreet.domain.reading import CsvFormat
from discreet.errors import ArgumentError

from .commands import done, refused


@pytest.mark.parametrize(
    ("content", "form", "columns"),
    [
        (b"age;pay\n30;1,5\n", {"separator": ";"}, {"age", "pay"}),
        (b"age\tpay\n30\t1.5\n", {"separator": "\t"}, {"age", "pay"}),
        ("größe,alter\n1,2\n".encode("cp1252"), {"encoding": "windows-1252"}, {"größe", "alter"}),
        ("age,pay\n1,2\n".encode("utf-16"), {"encoding": "utf-16"}, {"age", "pay"}),
    ],
    ids=["semicolons", "tabs", "windows", "utf-16"],
)
def test_a_refusal_has_the_option_with_which_the_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, form: dict[str, str], columns: set[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_bytes(content)
    told = refused(2, "init", "rows.csv", "--out", "plan.toml")
    advice = re.search(r"(--csv \S+) in discreet init", told)
    assert advice is not None, told
    done("init", "rows.csv", "--out", "plan.toml", *shlex.split(advice[1]))
    plan = tomllib.loads(Path("plan.toml").read_text("utf-8"))
    assert plan["data"]["csv"] == form
    assert set(plan["columns"]) == columns


def test_the_form_of_files_has_the_keys_of_a_plan() -> None:
    given = csv_format_of(["separator=;", "decimal=,", "encoding=latin-1", "quote="])
    assert given == CsvFormat(separator=";", decimal=",", encoding="iso-8859-1", quote="")
    assert csv_format_of(None) == csv_format_of([]) == CsvFormat()


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        (["seperator=;"], "did you mean 'separator'?"),
        (["separator"], "must be separator, decimal, encoding or quote, = and a value"),
        (["decimal=,", "decimal=."], "'decimal' is given twice"),
        (["separator=x"], "must be one character"),
        (["separator=,", "decimal=,"], "is the decimal mark too"),
    ],
)
def test_a_wrong_form_is_refused_with_the_rule(written: list[str], rule: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(rule)):
        csv_format_of(written)


def test_what_is_not_csv_has_no_such_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "is not a CSV file" in refused(
        2, "init", str(dp.datasets.path("acs12")), "--out", "plan.toml", "--csv", "separator=;"
    )
