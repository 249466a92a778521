"""Files of SPSS, Stata and SAS: what their cells become, what their headers say, and files that are damaged."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import math
import os
import random
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.builders import session_over
from tests.survey_files import DAY, write_survey

import discreet as dp
from discreet.audit.engines.conformance import check_table
from discreet.audit.engines.hostile import HostileTable, hostile_tables
from discreet.engines import header_of, open_source, outline_of
from discreet.engines.base import CodeList, ColumnType, Engine, Header
from discreet.engines.resources import NO_LIMITS
from discreet.engines.sources import open_known
from discreet.engines.surveys import driver, outline
from discreet.errors import ReleaseFailed, SourceError

pyreadstat = pytest.importorskip("pyreadstat", reason="needs the extra `surveys`")

ENDINGS = [".sav", ".zsav", ".dta", ".xpt"]
TEXT, DOUBLE, DATE = ColumnType("text", "VARCHAR"), ColumnType("float", "DOUBLE"), ColumnType("date", "DATE")
HEADER = {"sex": TEXT, "age": DOUBLE, "born": DATE}
ROWS: list[tuple[Any, ...]] = [
    ("F", 30.0, dt.date(1990, 1, 31)),
    ("M", -8.0, dt.date(1980, 2, 29)),
    ("é", None, None),
    ("", 200.0, dt.date(1500, 1, 1)),
]
SCHEMA = dp.Schema(
    sex=dp.Category(["F", "M", "é"]), age=dp.Number(0, 110, missing=[-8]), born=dp.Date("1900-01-01", "2026-12-31")
)

# sample.sas7bdat of pyreadstat 1.3 (Apache License 2.0), packed: nothing else writes such files.
SAS = (
    r"ABzY8000000t4;U&x@30902h5-"
    r"5qr*Nf+i|5Hwie9%|WjmQ5jWMs`zSw}hQTg8f)sO=(9#G+YSUpo0gYA9yJ`bm$KVyhIe49`a^nhrkZip@VcV3{6wFdEa^G*VAq;ribeDf#-"
    r"eZ`<>_eKF>SPGc!@tcKYHQFP$v(o%{UVe01MeL&w)VvbwLdHY%0ko}sugq!2~DaaX<+KU#_kg{asYH}5l9nJhlNZG3F9GO>Mpta!&pE7eNUC-"
    r"+>p_o4jD?_8)f`*fn>XXSREOdm&a)NSLy;PBwkL}`5gfg?vd^6Lji21@In7}+>7FtlOd$$_9OI=W%x#gXB5oXq=5|EslT3&(%6<xHh>oe=;400"
    r"0000000000000000000000000000000000000000000000000000000000000000000000000z`xA-EoUkV<xgDBUi1{ARrT(>8;!8Pw|m^FEW"
    r"akG-*>&yKiAWp|M*&?|D>6S8{N(<Uk&nK|K8}22l-"
    r"=Jeru55n&r#Edh(0p&t6?Pe{7Nb)<yF9Me=8_{Cz%He)Rr(iC;G*ujkHvTQ8f7P9D6F?a`%8oqhR-AIno&T`6_Bk>CIQsrt^WdiK+wzKpu3Py6"
    r"EYzm<1oiM@%<Z=G8BbTsG7x0b)Vvu^K|FVf&#l*}{tbN}+w-ScJZocX0Z-"
    r"92C9{af?%U48I;Nq&#7C;$Ke00000000000000000000000000000000000000000000000000000000000000000000000C&NyKju?mz7X}Mt"
    r"?k1oSHFIcUT<H&vfheanYYu*<9A#?msY;E#QH>kS2Ppl>(}Y@di(nOv({FPme;T2>Ge+5Urty4)DqVpXRU28jUNxPw;JX1!_nE-qxAiT710Crk"
    r"t?!jd21(^)pK#Z>P9f*jqE;0TeG#-5#@SX<I+zr7q>peX1qFx*937fi2H-"
    r"MQ?``(ax3##_Nfoo*Pj^8;+<K1IE&xR;uFCxMbXXdo*#AOih<EewK7>9+g_X9y>IGJGHavNW)B>x)%(q3lhvfvW~ZkP?}?%vJ0>PZN8A1M;r+E"
    r"e$?7WAvFf&ovC1<$MysRMiQ4SU)UKJ%`h$n2yYAO0Olp$0(8e^^oonsyy|Hpd_j!n0C#d5*bi_A<ak*ezF4)t!bq>47Eep<b96V<jXJ4E7+da?"
    r"qC62qc#Bu)>SLzlzM_22T{!$kA1@HF_u1)(5!M=sU`!;`<)^+{DwY`w*J}2}4v;Fv|&TlzWxf}Os?n+M(KN!TTgSZgH`Fr-"
    r"H`Hp|kLdQHS)7K9#apqiorSV_>C2Fl(FI)VhN&N{RIVpz#00IC"
)


@pytest.fixture(params=ENDINGS)
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def cells(source: str, name: str) -> list[tuple[object, int]]:
    engine: Any = open_known(source, (), NO_LIMITS).engine
    found = [one for _, some in engine.cells([name]) for one in some]
    engine.close()
    return sorted(found, key=str)


# Cells ------------------------------------------------------------------------------------------------------------------

_LARGEST = {".sav": 1e308, ".zsav": 1e308, ".dta": 8e307, ".xpt": 1e75}


def storable(table: HostileTable, ending: str) -> HostileTable:
    """The rows that the format can hold as they are: no blanks at the end, no NUL, no infinity, null for NaN."""
    rows = [tuple(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row) for row in table.rows]
    return replace(table, rows=tuple(row for row in rows if all(_fits(cell, ending) for cell in row)))


def _fits(cell: object, ending: str) -> bool:
    if isinstance(cell, str):
        return not cell.endswith(" ") and "\0" not in cell and len(cell.encode()) < 200
    if isinstance(cell, float):
        return abs(cell) <= _LARGEST[ending] and (cell == 0 or abs(cell) >= 1e-75)
    return not (isinstance(cell, int) and ending == ".dta" and cell > 100)


TABLES = [
    table
    for table in hostile_tables()
    if {kind.shown for kind in table.header.values()} in ({"VARCHAR"}, {"DOUBLE"}, {"DATE"}) and table.name != "column names"
]
TABLES.sort(key=lambda table: len(table.header) * len(table.rows))  # short ones run by default


@pytest.mark.one_in(35)
@pytest.mark.parametrize("table", TABLES, ids=[table.name for table in TABLES])
def test_every_format_equals_the_reference(tmp_path: Path, ending: str, table: HostileTable) -> None:
    def open_engine(header: Header, rows: Any) -> Engine:
        path = tmp_path / f"{len([*tmp_path.iterdir()])}{ending}"
        return open_known(write_survey(path, header, rows), (), NO_LIMITS).engine

    kept = storable(table, ending)
    assert len(kept.rows) > 4
    assert isinstance(open_engine(kept.header, kept.rows), driver._SurveyEngine)
    assert check_table(open_engine, kept) > 4


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["small integers", "single floats", "missing codes in single floats"])
def test_integers_and_single_floats_of_stata_keep_their_type(tmp_path: Path, name: str) -> None:
    (table,) = [one for one in hostile_tables() if one.name == name]
    single = name != "small integers"
    rows = [row for row in table.rows if None not in row and not any(map(math.isnan, row))]
    rows = [row for row in rows if all(abs(cell) < (1e38 if single else 100) for cell in row)]

    def open_engine(header: Header, rows: Any) -> Engine:
        path = tmp_path / f"{len([*tmp_path.iterdir()])}.dta"
        frame = pd.DataFrame(rows, columns=[*header], dtype="float32" if single else "int8")
        frame.to_stata(path, write_index=False, version=118)  # pyreadstat writes other types
        return open_known(path, (), NO_LIMITS).engine

    assert check_table(open_engine, replace(table, rows=tuple(rows))) > 4
    assert {kind.shown for kind in header_of(str(tmp_path / "0.dta")).values()} == {"FLOAT" if single else "TINYINT"}


def test_a_release_counts_every_format_alike(tmp_path: Path, ending: str) -> None:
    source = write_survey(tmp_path / f"a{ending}", HEADER, ROWS)
    table = dp.Table(SCHEMA, dp.ReplaceOne(rows=4)).group_by("sex").agg(dp.count(), dp.mean("age", nulls="skip"))
    with session_over(source, SCHEMA, neighbours=dp.ReplaceOne(rows=4), budget=dp.PureDP(10**6)) as session:
        release = session.release(table, spend=10**6, name="r")
    assert release.table["count"].to_list() == [1, 1, 1, 1]


def test_days_are_days_whatever_the_time(tmp_path: Path) -> None:
    moments = np.array([0.0, 86_399.5, 86_400.0, -0.5, np.nan, 1e18, -1e18])
    pyreadstat.write_sav(pd.DataFrame({"a": moments}), tmp_path / "a.sav", variable_format={"a": "DATETIME20"})
    assert header_of(str(tmp_path / "a.sav")) == {"a": ColumnType("date", "DATETIME20 of SPSS")}
    found = dict(cells(str(tmp_path / "a.sav"), "a"))
    assert {"1582-10-14": 2, "1582-10-15": 1, "1582-10-13": 1, None: 1}.items() <= found.items()
    assert (
        sorted(str(day)[:6] for day in found if "1582" not in str(day)) == ["271821", "275760", "None"][:3]
        or len(found) == 6
    )


def test_times_of_the_day_are_numbers(tmp_path: Path) -> None:
    pyreadstat.write_sav(pd.DataFrame({"a": [60.0]}), tmp_path / "a.sav", variable_format={"a": "TIME8"})
    pyreadstat.write_dta(pd.DataFrame({"a": [60.0]}), tmp_path / "a.dta", variable_format={"a": "%tm"})
    assert {header_of(str(tmp_path / f"a.{one}"))["a"].shown for one in ("sav", "dta")} == {"DOUBLE"}


def test_sas7bdat_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sample.sas7bdat"
    path.write_bytes(gzip.decompress(base64.b85decode(SAS)))
    assert {name: kind.shown for name, kind in header_of(path).items()} == {
        "mychar": "text", "mynum": "DOUBLE", "mydate": "YYMMDD10 of SAS", "dtime": "DATETIME of SAS", "mylabl": "DOUBLE",
        "myord": "DOUBLE", "mytime": "DOUBLE",
    }  # fmt: skip
    assert (None, 1) in cells(str(path), "mydate")
    assert ("1880-05-06", 1) in cells(str(path), "mydate")
    assert cells(str(path), "dtime") == cells(str(path), "mydate")
    assert cells(str(path), "mychar") == [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)]


# Missing codes ----------------------------------------------------------------------------------------------------------


def test_missing_codes_of_spss_are_values_until_the_declaration_says_so(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 9.0, -5.0], "t": ["x", "z", "y"]})
    ranges = {"a": [9, {"lo": -9, "hi": -1}], "t": ["z"]}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", missing_ranges=ranges)
    pyreadstat.write_sav(frame, tmp_path / "b.sav")
    for name in ("a", "t"):
        assert cells(str(tmp_path / "a.sav"), name) == cells(str(tmp_path / "b.sav"), name)


def test_missing_values_of_stata_are_null_whatever_their_letter(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Series([1, "a", "z", None], dtype=object)})
    pyreadstat.write_dta(frame, tmp_path / "a.dta", missing_user_values={"a": ["a", "z"]})
    assert cells(str(tmp_path / "a.dta"), "a") == [(1, 1), (None, 3)]


def test_the_header_says_what_codes_mean(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0], "t": ["x", "y"]})
    labels = {"a": {1: "yes", 2: "no", 9: "refused"}, "t": {"x": "X"}}
    ranges = {"a": [9, {"lo": -9, "hi": -1}]}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels, missing_ranges=ranges)
    _, codes = outline_of(str(tmp_path / "a.sav"))
    assert codes == {
        "a": CodeList({1: "yes", 2: "no", 9: "refused"}, (9,), ((-9, -1),)),
        "t": CodeList({"x": "X"}),
    }


def test_labels_of_missing_letters_are_left_out(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": pd.Series([1, 2, "a"], dtype=object)})
    options: Any = {"variable_value_labels": {"a": {1: "yes", "a": "refused"}}, "missing_user_values": {"a": ["a"]}}
    pyreadstat.write_dta(frame, tmp_path / "a.dta", **options)
    assert outline_of(str(tmp_path / "a.dta"))[1] == {"a": CodeList({1: "yes"})}


# Texts ------------------------------------------------------------------------------------------------------------------


def test_a_text_that_is_not_valid_ends_no_reading(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    write_survey(path, {"t": TEXT}, [("abé",), ("secret",), ("abé",)])
    content = path.read_bytes()
    if ending == ".zsav":
        pytest.skip("its rows are packed")
    assert content.count("abé".encode()) == 2
    path.write_bytes(content.replace("abé".encode(), b"ab\xff\xff", 1))
    assert cells(str(path), "t") == sorted([("ab��", 1), ("abé", 1), ("secret", 1)])


def test_texts_are_decoded_as_the_header_says(tmp_path: Path) -> None:
    pyreadstat.write_dta(pd.DataFrame({"t": ["é"]}), tmp_path / "old.dta", version=13)
    content = (tmp_path / "old.dta").read_bytes()
    assert content.count("é".encode()) == 1
    (tmp_path / "old.dta").write_bytes(content.replace("é".encode(), b"\xe9\0"))
    assert cells(str(tmp_path / "old.dta"), "t") == [("é", 1)]


def test_long_texts_are_whole(tmp_path: Path, ending: str) -> None:
    long = "é" * 400 if ending != ".xpt" else "é" * 90
    source = write_survey(
        tmp_path / f"a{ending}", {"t": TEXT, "ü": TEXT} if ending != ".xpt" else {"t": TEXT, "u": TEXT}, [(long, "a")]
    )
    assert cells(source, "t") == [(long, 1)]


# Files ------------------------------------------------------------------------------------------------------------------


def test_parts_of_a_file_are_one_source(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_survey(tmp_path / f"a{ending}", HEADER, ROWS * 5)
    whole = cells(source, "sex")
    monkeypatch.setattr(driver, "_CELLS", 3)
    monkeypatch.setattr(driver, "_LEAST_ROWS", 3)
    engine: Any = open_source(source, SCHEMA)
    parts = [one for _, some in engine.cells(["sex"]) for one in some]
    assert len(parts) > len(whole)
    assert pl.DataFrame(parts, ["cell", "n"], orient="row").group_by("cell").sum().sort("cell").rows() == sorted(whole)
    assert engine.count_rows() == 20


def test_a_part_that_is_left_out_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_survey(tmp_path / "a.sav", HEADER, ROWS * 5)
    monkeypatch.setattr(driver, "_CELLS", 3)
    monkeypatch.setattr(driver, "_LEAST_ROWS", 3)
    read = driver.read_rows
    monkeypatch.setattr(driver, "read_rows", lambda file, names, first, most: read(file, names, first + (first > 0), most))
    assert open_source(source, SCHEMA).count_rows() != 20  # type: ignore[attr-defined]


def test_files_of_a_glob_have_the_same_columns(tmp_path: Path, ending: str) -> None:
    for name in "ab":
        write_survey(tmp_path / f"{name}{ending}", HEADER, ROWS)
    assert open_source(str(tmp_path / f"*{ending}"), SCHEMA).count_rows() == 8  # type: ignore[attr-defined]
    write_survey(tmp_path / f"c{ending}", {"sex": TEXT}, [("F",)])
    with pytest.raises(SourceError, match=r"c\..*: its columns and types differ .* it has no column 'age'"):
        open_source(str(tmp_path / f"*{ending}"), SCHEMA)


def test_a_hard_link_is_not_another_file(tmp_path: Path) -> None:
    write_survey(tmp_path / "a.sav", HEADER, ROWS)
    os.link(tmp_path / "a.sav", tmp_path / "b.sav")
    with pytest.raises(SourceError, match="is the same file as"):
        open_source(str(tmp_path / "*.sav"), SCHEMA)


def test_a_file_that_changes_while_it_is_read_discards_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_survey(tmp_path / "a.dta", HEADER, ROWS)
    read = driver.read_rows

    def changed(*arguments: Any) -> Any:
        os.utime(source, ns=(1, 1))
        return read(*arguments)

    monkeypatch.setattr(driver, "read_rows", changed)
    with (
        session_over(source, SCHEMA, neighbours=dp.AddRemove(), budget=dp.PureDP(1)) as session,
        pytest.raises(ReleaseFailed),
    ):
        session.release(dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count()), spend=1, name="r")


def test_a_file_that_was_written_again_is_looked_at_again_before_anything_is_spent(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    source, request = write_survey(path, HEADER, ROWS), dp.Table(SCHEMA, dp.AddRemove()).agg(dp.count())
    with session_over(source, SCHEMA, neighbours=dp.AddRemove(), budget=dp.PureDP(2000)) as session:
        write_survey(path, HEADER, ROWS * 2)
        os.utime(path, ns=(1, 1))
        assert session.release(request, spend=1000, name="more rows").table["count"].item() == 2 * len(ROWS)
        write_survey(
            path, {name: HEADER[name] for name in reversed(HEADER)} | {"more": TEXT}, [(*row[::-1], "") for row in ROWS]
        )
        os.utime(path, ns=(2, 2))
        with pytest.raises(SourceError, match="was written again with other columns, types or encoding since it was opened"):
            session.release(request, spend=1000, name="other columns")
        assert session.spent == dp.PureDP(1000)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("turns", [40, pytest.param(150, marks=pytest.mark.slow)])
def test_a_damaged_file_is_refused_or_ends_in_the_constant_failure(
    tmp_path: Path, ending: str, turns: int, capfd: pytest.CaptureFixture[str]
) -> None:
    path, rng = tmp_path / f"a{ending}", random.Random(7)  # noqa: S311
    write_survey(path, HEADER, [("secret", 1.0, dt.date(2000, 1, 1))] * 50)
    whole, outcomes = path.read_bytes(), set()
    for turn in range(turns):
        damaged = bytearray(whole[: rng.randrange(len(whole))] if turn % 2 else whole)
        for _ in range(rng.choice([0, 3, 30]) if damaged else 0):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            engine: Any = open_known(str(path), (), NO_LIMITS).engine
            for name in engine.header:
                list(engine.cells([name]))
            outcomes.add("read")
        except SourceError as refused:
            outcomes.add("secret" if "secret" in str(refused) else "header" if "readable" in str(refused) else "rows")
    assert "secret" not in outcomes
    # The header of a Stata file ends after its rows, and a transport file does not say how many rows it has.
    assert outcomes >= ({"header", "read"} if ending in {".dta", ".xpt"} else {"header", "rows", "read"})
    assert capfd.readouterr() == ("", "")


def xpt(path: Path, columns: dict[str, Any], version: int = 5, name: str = "A") -> bytes:
    pyreadstat.write_xport(pd.DataFrame(columns), path, file_format_version=version, table_name=name)
    return path.read_bytes()


TEXTS = {"s": pd.Series(["a", *[""] * 40], dtype=object)}


def test_transport_files_of_version_5_with_texts_only_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xpt"
    xpt(path, TEXTS)
    with pytest.raises(
        SourceError, match=r"of version 5 with columns of text only, .*; write it as version 8 or as Parquet"
    ):
        header_of(str(path))
    numbers = np.full(41, np.nan)  # missing, and yet not blank
    for columns, version in ((TEXTS, 8), ({**TEXTS, "x": numbers}, 5), ({"x": numbers}, 5)):
        xpt(path, columns, version)
        assert open_known(str(path), (), NO_LIMITS).engine.count_rows() == 41  # type: ignore[attr-defined]


def test_transport_files_of_version_8_that_state_0_rows_end_like_those_of_version_5(tmp_path: Path) -> None:
    for columns, refused in ((TEXTS, True), ({**TEXTS, "x": np.full(41, np.nan)}, False)):
        stated = xpt(tmp_path / "a.xpt", columns, 8)
        unknown = re.sub(rb"(OBSV8   HEADER RECORD!{7} +)41", rb"\1 0", stated)
        assert len(unknown) == len(stated)
        assert unknown != stated
        (tmp_path / "a.xpt").write_bytes(unknown)
        if refused:
            with pytest.raises(SourceError, match="that states no number of rows, with columns of text only"):
                header_of(str(tmp_path / "a.xpt"))
        else:
            assert open_known(str(tmp_path / "a.xpt"), (), NO_LIMITS).engine.count_rows() == 41  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", [5, 8])
@pytest.mark.parametrize("rows", [3, 10, 20_000])  # a block of the file and more than one
def test_transport_files_with_two_data_sets_are_refused(tmp_path: Path, version: int, rows: int) -> None:
    one = xpt(tmp_path / "a.xpt", {f"z{i}": np.ones(rows) for i in range(10)}, version)
    two = xpt(tmp_path / "b.xpt", {"x": np.zeros(5)}, version, "B")
    assert header_of(str(tmp_path / "a.xpt"))
    (tmp_path / "c.xpt").write_bytes(one + two[240:])
    with pytest.raises(SourceError, match="has more than one data set; write each into a file of its own"):
        header_of(str(tmp_path / "c.xpt"))


def test_a_text_like_a_header_counts_only_at_the_place_of_a_record(tmp_path: Path) -> None:
    text = "HEADER RECORD*******MEMBER  HEADER RECORD!!!!!!!000000000000000001600000000140"
    kept = xpt(tmp_path / "a.xpt", {"x": np.zeros(1), "s": pd.Series([text], dtype=object)})
    assert header_of(str(tmp_path / "a.xpt"))
    assert kept.count(text[:48].encode()) == 2


def test_a_file_that_is_something_else_is_refused_before_anything_is_spent(tmp_path: Path) -> None:
    for ending, package in ((".sav", "SPSS"), (".dta", "Stata"), (".sas7bdat", "SAS"), (".xpt", "SAS transport")):
        (tmp_path / f"a{ending}").write_bytes(b"PK\3\4 nothing of the kind" * 40)
        with pytest.raises(SourceError, match=rf"a\{ending}': is not a readable {package} file; restore it"):
            header_of(tmp_path / f"a{ending}")


def test_an_unknown_encoding_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_survey(tmp_path / "a.sav", HEADER, ROWS)
    monkeypatch.setattr(outline.codecs, "lookup", lambda name: (_ for _ in ()).throw(LookupError))
    with pytest.raises(SourceError, match="the encoding of its texts is not known; write it as UTF-8"):
        header_of(source)


def test_without_the_extra_the_message_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_survey(tmp_path / "a.dta", HEADER, ROWS)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(SourceError, match=r"Stata files need the package 'pyreadstat'; pip install 'discreet\[surveys\]'"):
        header_of(source)


def test_the_format_of_csv_files_means_nothing_here(tmp_path: Path) -> None:
    source = write_survey(tmp_path / "a.sav", HEADER, ROWS)
    with pytest.raises(SourceError, match="is not a CSV file"):
        open_source(dp.CsvFiles(source, decimal=","), SCHEMA)


def test_days_have_the_origin_of_their_package() -> None:
    assert {ending: first.isoformat() for ending, (_, first) in DAY.items()}[".sav"] == "1582-10-14"
