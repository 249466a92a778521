"""Every engine is compared with the reference by tests that are named here."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from discreet import engines
from discreet.cube.cube import Cube
from discreet.engines import own
from discreet.engines.base import ColumnType
from discreet.engines.progress import Telling
from discreet.engines.reference import ReferenceEngine
from discreet.engines.registry import ENGINES

from .test_every_member import ASKED

CONFORMS = {
    "ReferenceEngine": "tests/laws/test_plan_is_row_level.py",
    "_FrameEngine": "tests/unit/engines/test_conformance.py",
    "_RelationEngine": "tests/unit/engines/test_conformance.py",
    "_DuckdbFileEngine": "tests/unit/engines/test_databases.py",
    "_DuckdbViewEngine": "tests/unit/engines/test_views.py",
    "_SurveyEngine": "tests/unit/engines/surveys/test_surveys.py",
    "_SheetEngine": "tests/unit/engines/workbooks/test_workbooks.py",
    "_CsvEngine": "tests/unit/engines/test_conformance.py",
    "_ParquetEngine": "tests/unit/engines/test_conformance.py",
    "_SqliteEngine": "tests/unit/engines/test_databases.py",
    "_StreamEngine": "tests/unit/engines/duckdb/test_streams.py",
    "SparkEngine": "tests/spark/test_conformance.py",
    "JoinedEngine": "tests/unit/engines/test_joins.py",
    "Combining": "tests/laws/test_combinations.py",
    "Telling": "tests/laws/test_every_engine.py",
    "AbsentSource": "tests/laws/test_every_engine.py",
}
"""Where each engine meets the rows that the reference meets; `Combining`, `JoinedEngine` and `Telling` pass on what others
say, and `AbsentSource` stands for a source that is elsewhere, whose rows nobody can ask for."""


def test_every_engine_is_named_with_the_tests_that_compare_it() -> None:
    folder = Path(engines.__file__).parent
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name != "Engine":
                methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
                found |= {(path.parent.name, node.name)} if "aggregate" in methods else set()
    assert {name for _, name in found} == set(CONFORMS)
    assert {place for place, _ in found} == {kind.name for kind in ENGINES if kind is not own.ENGINE} | {"engines"}
    for name, place in CONFORMS.items():
        compared = (Path(__file__).parents[2] / place).read_text("utf-8")
        assert name in compared or "check_engine(" in compared


def test_plan_files_and_the_command_line_name_no_engine() -> None:
    names = [kind.name for kind in ENGINES if kind is not own.ENGINE]
    source = Path(engines.__file__).parents[1]
    texts = {path: path.read_text("utf-8").lower() for room in ("planfile", "cli") for path in (source / room).rglob("*.py")}
    assert len(texts) > 10
    assert [(path.name, name) for path, text in texts.items() for name in names if name in text] == []
    assert all(name in (source / "engines" / name / "__init__.py").read_text("utf-8") for name in names)


def test_an_engine_that_tells_of_its_progress_answers_what_the_other_one_answers() -> None:
    header = {"g": ColumnType("text", "text"), "v": ColumnType("integer", "BIGINT")}
    engine = ReferenceEngine(header, [("x", 1), ("y", None), (None, 3)])
    (part,) = ASKED.plan.layout.scans
    stages: list[str] = []
    told = Telling(engine, stages.append).aggregate(part.axes, part.moments)
    assert all((getattr(told, name) == one).all() for name, one in vars_of(engine.aggregate(part.axes, part.moments)))
    assert stages


def vars_of(cube: Cube) -> list[tuple[str, Any]]:
    return [(name, getattr(cube, name)) for name in ("keys", "rows", "nonnull", "sums")]
