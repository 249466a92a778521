"""The tests are laid out like the source, in files that can be read: whoever changes a module finds its tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.conftest import pytest_collection_modifyitems

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "discreet"
UNIT = ROOT / "tests" / "unit"


def rooms(folder: Path) -> set[str]:
    """The packages below a folder of the source, each with its path."""
    return {path.parent.relative_to(folder).as_posix() for path in folder.rglob("__init__.py")} - {"."}


def strangers(unit: Path, package: Path) -> list[str]:
    """The files of unit tests that are in no room of the source."""
    found = (path.relative_to(unit) for path in unit.rglob("*.py"))
    return sorted(path.as_posix() for path in found if path.parent.as_posix() not in rooms(package))


def test_unit_tests_are_in_the_rooms_of_the_source() -> None:
    assert strangers(UNIT, PACKAGE) == []


def test_no_file_of_tests_is_longer_than_five_hundred_lines() -> None:
    lengths = {str(path): len(path.read_text("utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py")}
    assert {path: length for path, length in lengths.items() if length > 500} == {}


def test_a_test_in_no_room_would_be_noticed(tmp_path: Path) -> None:
    unit, package = tmp_path / "unit", tmp_path / "package"
    for file in ("__init__.py", "room/__init__.py", "room/inner/__init__.py"):
        (package / file).parent.mkdir(parents=True, exist_ok=True)
        (package / file).touch()
    for file in (
        "test_here.py",
        "room/test_in.py",
        "room/inner/test_deep.py",
        "other/test_gone.py",
        "room/away/test_far.py",
    ):
        (unit / file).parent.mkdir(parents=True, exist_ok=True)
        (unit / file).touch()
    assert strangers(unit, package) == ["other/test_gone.py", "room/away/test_far.py", "test_here.py"]


def patches_by_text(source: str) -> list[int]:
    """The lines that patch a name of the library by its dotted text, which a module that moves leaves behind."""
    if not re.search(r"""["']discreet[.]""", source):
        return []  # to look at every call of every file takes seconds
    return [
        call.lineno
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(("setattr", "patch"))
        for first in call.args[:1]
        if ast.unparse(first).lstrip("f")[1:].startswith("discreet.") and isinstance(first, ast.Constant | ast.JoinedStr)
    ]


def test_names_of_the_library_are_patched_by_object() -> None:
    found = {str(path): patches_by_text(path.read_text("utf-8")) for path in (ROOT / "tests").rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("text", ['"discreet.cube.resample.sampled"', 'f"discreet.{name}.limit"'])
def test_a_patch_by_text_would_be_noticed(text: str) -> None:
    assert patches_by_text(f"def test(monkeypatch):\n    monkeypatch.setattr({text}, 1)\n") == [2]


def shared_generators(source: str) -> list[str]:
    """The random generators of a module that its functions draw from: a test would have other cases after other tests."""
    if not re.search(r"^\w+.* = .*\b(default_rng|Random)\(", source, re.MULTILINE):
        return []
    body = ast.parse(source).body
    made = {
        ast.unparse(name)
        for one in body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
        if ast.unparse(one.value.func).endswith(("default_rng", "Random"))
        for name in one.targets
    }
    functions = [one for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)]
    used = {one.id for function in functions for one in ast.walk(function) if isinstance(one, ast.Name)}
    return sorted(made & used)


def test_no_test_draws_from_a_generator_of_its_module() -> None:
    found = {str(path): shared_generators(path.read_text("utf-8")) for path in (ROOT / "tests").rglob("*.py")}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize("made", ["np.random.default_rng(5)", "random.Random(5)"])
def test_a_generator_of_a_module_would_be_noticed(made: str) -> None:
    assert shared_generators(f"DRAW = {made}\n\ndef cases():\n    return DRAW.random()\n") == ["DRAW"]
    assert shared_generators(f"DRAW = {made}\nCASES = [DRAW.random()]\n\ndef test():\n    assert CASES\n") == []


class Case:
    """A test that was collected, with its marks."""

    def __init__(self, nodeid: str, **marks: object) -> None:
        self.nodeid, self.marks = nodeid, marks

    def get_closest_marker(self, name: str) -> object:
        return self.marks.get(name)

    def add_marker(self, name: str) -> None:
        self.marks[name] = name


def test_every_nth_case_of_a_test_that_says_so_runs_by_default() -> None:
    third = pytest.mark.one_in(3).mark
    cases = [Case(f"test_a[{place}]", one_in=third) for place in range(7)]
    others = [Case("test_b[0]"), Case("test_b[1]"), Case("test_c[0]", one_in=third)]
    pytest_collection_modifyitems([*cases, *others])
    assert [place for place, case in enumerate(cases) if "slow" not in case.marks] == [0, 3, 6]
    assert all("slow" not in case.marks for case in others), "the first case of a test always runs"


SECTIONS = ("[data]", "[budget]", "[[release]]")


def plans_as_literals(source: str) -> list[int]:
    """The lines of literals that are a whole plan file: with data, a budget and a release."""
    if not all(section in source for section in SECTIONS):
        return []
    texts = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant | ast.JoinedStr))
    return sorted({node.lineno for node in texts if all(section in ast.unparse(node) for section in SECTIONS)})


def test_plans_are_files() -> None:
    """A plan file in `tests/plans/` is read by an editor, by a person and by every test that wants it."""
    found = {str(path): plans_as_literals(path.read_text("utf-8")) for path in (ROOT / "tests").rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize("prefix", ["", "f"])
def test_a_plan_as_a_literal_would_be_noticed(prefix: str) -> None:
    assert plans_as_literals(f"PLAN = {prefix}'{' '.join(SECTIONS)}'") == [1]
    assert plans_as_literals(f"PLAN = {prefix}'{' '.join(SECTIONS[:2])}'") == []
