"""What a command must not load, in place of times: structure does not depend on who else uses the machine."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders import plan_text

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "discreet"
PLAN = plan_text("by-gender")
STANDARD = ["asyncio", "multiprocessing", "unittest", "http", "ssl"]
ENGINES = [
    *(f"discreet.engines.duckdb.{name}" for name in ("csv_files", "csv_lines", "database_files", "relations", "streams")),
    "discreet.engines.spark.driver",
    "discreet.engines.sqlite.driver",
    "discreet.engines.surveys.driver",
    "discreet.engines.workbooks.driver",
]
PAGES = ["discreet.pages.explain", "discreet.pages.planner", "discreet.pages.registry", "discreet.releases.derived"]
NEVER = ["scipy", "pandas", "pyarrow", "pyspark", "altair", "vl_convert", "discreet.audit", *STANDARD]
QUOTE = [*NEVER, *ENGINES, *PAGES, "polars", "jinja2", "cryptography", "rich", "discreet.pages", "discreet.releases.publish"]
RELEASE = [*NEVER, *ENGINES, *PAGES, "rich", "discreet.releases.exports.registry"]
HELP = [
    *NEVER,
    *ENGINES,
    *PAGES,
    "numpy",
    "duckdb",
    "flint",
    "polars",
    "discreet.session",
    "discreet.quotes",
    "discreet.plan",
]
CALL = """
import sys
sys.argv = ["discreet", *{arguments}]
from discreet.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print([name for name in {names} if name in sys.modules])
"""
EARLY = """
import sys
from discreet.pages.report import drawing
began = drawing.subprocess.Popen
def popen(*args, **kwargs):
    print([name for name in ("numpy", "duckdb", "discreet.planfile.read", "discreet.session") if name in sys.modules])
    return began(*args, **kwargs)
drawing.subprocess.Popen = popen
"""


@pytest.mark.parametrize("name", sorted({name for name in {*QUOTE, *RELEASE, *HELP} if name.startswith("discreet.")}))
def test_what_must_not_be_loaded_is_there(name):
    """A module that has moved is not loaded under its old name, whatever a command needs."""
    place = PACKAGE.joinpath(*name.split(".")[1:])
    assert place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def run(code, folder):
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--help"], HELP),
        (["quote", "plan.toml"], QUOTE),
        (["check", "plan.toml"], QUOTE),
        (["release", "plan.toml", "--out", "out"], RELEASE),
    ],
    ids=["help", "quote", "check", "release"],
)
def test_a_command_loads_nothing_that_it_does_not_need(arguments, names, tmp_path):
    assert ast.literal_eval(run(CALL.format(arguments=arguments, names=names), tmp_path)[-1]) == []


@pytest.mark.slow
def test_the_process_that_draws_begins_before_anything_heavy_is_loaded(tmp_path):
    pytest.importorskip("vl_convert")
    code = EARLY + CALL.format(arguments=["release", "plan.toml", "--out", "out"], names=[])
    assert run(code, tmp_path)[0] == "[]"


@pytest.mark.slow
def test_a_source_loads_its_own_engine_and_no_other(tmp_path):
    (tmp_path / "rows.csv").write_text("gender\n" + "female\n" * 2000, encoding="utf-8")
    code = CALL.format(arguments=["check", "plan.toml"], names=ENGINES)
    (tmp_path / "plan.toml").write_text(PLAN.replace("example:acs12", "rows.csv"), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert ast.literal_eval(done.stdout.splitlines()[-1]) == [
        "discreet.engines.duckdb.csv_files",
        "discreet.engines.duckdb.csv_lines",
    ]
