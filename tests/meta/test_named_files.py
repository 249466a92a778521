"""Every file that a script or a benchmark names is there: one that has moved would be passed over without a word."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "discreet"
PROGRAMS = sorted(path for folder in ("scripts", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
# Pages about the examples are pages of the site only.
PATHS = re.compile(r"\b(?:(?:src|tests|docs|scripts|benchmarks|requirements)/[\w./-]*\w|examples/\w+\.py)")
MODULES = re.compile(r"""["']([\w/]+\.py)["']""")


def missing(text: str, beside: Path) -> list[str]:
    """The paths from the root of the repository, and the quoted names of modules, that lead nowhere.

    A name may begin at the root, at the package, or beside the program; a path that goes on in braces is a beginning.
    """
    paths = {found for found in PATHS.findall(text) if not any(ROOT.glob(found + "*"))}
    named = {name for name in MODULES.findall(text) if not any((at / name).exists() for at in (ROOT, PACKAGE, beside))}
    return sorted(paths | named)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_program_names_exists(program: Path) -> None:
    assert missing(program.read_text(encoding="utf-8"), program.parent) == []


def test_a_file_that_is_gone_would_be_noticed() -> None:
    text = 'file == "quotes.py" or "quotes/quote.py", tests/unit/gone/test_it.py, tests/hostile/test_ledger_{what}.py'
    assert missing(text, ROOT) == ["quotes.py", "tests/unit/gone/test_it.py"]


def test_what_mutation_testing_changes_leaves_alone_and_runs_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("discreet_mutate", ROOT / "scripts" / "mutate.py")
    mutate = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, mutate)  # dataclasses look their module up
    spec.loader.exec_module(mutate)
    assert [name for name in mutate.TARGETS if not (PACKAGE / name).exists()] == []
    assert [name for name in mutate.TESTS if not (ROOT / name).exists()] == []
    worded = (PACKAGE / "quotes" / "quote.py").read_text(encoding="utf-8")
    assert [name for name in mutate.WORDING if f"def {name}(" not in worded] == []
