"""The repository keeps its own rules: imports, public names, no inexact noise, no traces of machines."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.builders import plan_text

import discreet as dp

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_imports_point_downwards():
    run = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")], check=False, capture_output=True, cwd=ROOT, text=True
    )
    assert run.returncode == 0, run.stdout[-2000:]


def test_the_public_names_are_what_the_package_exports():
    public = {name for name in dir(dp) if not name.startswith("_")}
    modules = {name for name in public if type(getattr(dp, name)).__name__ == "module"}
    assert set(dp.__all__) == (public - modules) | {"__version__"}
    assert list(dp.__all__) == sorted(dp.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n))


def test_every_public_name_is_loaded_from_where_type_checkers_see_it():
    tree = ast.parse((ROOT / "src" / "discreet" / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and isinstance(node.test, ast.Attribute)]
    seen = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(seen) == set(dp.__all__) - {"__version__"}
    for name, (module, original) in seen.items():
        assert getattr(dp, name) is getattr(importlib.import_module(module), original)
        assert importlib.util.find_spec(f"discreet.{name}") is None  # a module of that name would take its place


def in_a_new_process(code):
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return run.stdout.strip()


def test_names_are_there_however_they_are_asked_for():
    assert in_a_new_process("from discreet import *; print(sum('age').name, Schema.__name__, DiscreetError.__name__)")
    assert in_a_new_process("import discreet; print(sorted(set(discreet.__all__) - set(dir(discreet))))") == "[]"
    assert in_a_new_process(
        "import discreet; print(discreet.privacy.GDP is discreet.GDP, hasattr(discreet, 'nothing'))"
    ) == ("True False")
    written = in_a_new_process("import discreet as dp, pickle; print(pickle.dumps(dp.Number(0, 1)).hex())")
    read = in_a_new_process(f"import pickle; print(pickle.loads(bytes.fromhex('{written}')))")
    assert read == str(dp.Number(0, 1))


LIGHT = "numpy duckdb polars scipy flint cryptography jinja2 rich typer pandas pyarrow sqlalchemy altair vl_convert pyspark"


def loaded_by(code):
    """Which of the modules that take time to load a program has loaded."""
    return in_a_new_process(f"{code}\nimport sys; print(sorted(set('{LIGHT}'.split()) & set(sys.modules)))").splitlines()[-1]


@pytest.mark.slow
def test_commands_load_what_they_need_and_no_more(tmp_path):
    """Structure in place of time: each of these modules takes a tenth of a second or more to load, or has been one."""
    call = "from discreet.cli import app\napp({}, standalone_mode=False)"
    assert loaded_by("import discreet") == "[]"
    assert loaded_by("from discreet.cli import app") == "['typer']"
    assert set(ast.literal_eval(loaded_by(call.format("['--help']")))) <= {"typer", "rich"}
    plan = tmp_path / "plan.toml"
    plan.write_text(QUOTED, encoding="utf-8")
    assert loaded_by(call.format(["quote", str(plan)])) == "['duckdb', 'flint', 'numpy', 'typer']"
    assert all((ROOT / "src" / name.replace(".", "/")).with_suffix(".py").exists() for name in SAMPLERS)
    modules = [*SAMPLERS, "discreet.releases.publish", "discreet.pages.report", "discreet.audit"]
    code = call.format(["quote", str(plan)]) + f"\nimport sys; print([name for name in {modules} if name in sys.modules])"
    assert in_a_new_process(code).splitlines()[-1] == "[]"


QUOTED = plan_text("quoted")
SAMPLERS = [
    "discreet.noise.lattice.klein",
    "discreet.noise.lattice.margin_gaussian",
    "discreet.noise.lattice.sum_zero",
    "discreet.noise.single.scalar",
    "discreet.noise.counts.counts",
    "discreet.noise.counts.count_laws",
]


def nodes_with(*words: str) -> Iterator[tuple[Path, Iterator[ast.AST]]]:
    """The nodes of each source in whose text one of the words is: to parse all sources takes seconds."""
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path, ast.walk(ast.parse(text))


def test_import_discreet_is_light():
    heavy = [
        "numpy",
        "duckdb",
        "polars",
        "scipy",
        "flint",
        "cryptography",
        "jinja2",
        "rich",
        "typer",
        "pandas",
        "pyarrow",
        "sqlalchemy",
        "altair",
        "vl_convert",
    ]
    code = f"import sys, discreet; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def test_no_inexact_randomness_is_reachable():
    """Failures N1, S1: noise comes from discreet.noise.bits alone, which reads the operating system.

    The words of made-up rows are no noise: they are public, keyed with the digest of a release, and nothing else has them.
    """
    for path, nodes in nodes_with("random", "pickle", "secrets"):
        if path.parts[-3:] == ("releases", "rows", "words.py"):
            continue
        for node in nodes:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not {"random", "numpy.random", "pickle"} & set(names), path
            # The ledger names its keys and nonces with it; noise has its own source.
            assert "secrets" not in names or path.parent.name == "ledger", path
            if isinstance(node, ast.Attribute) and node.attr == "random":
                assert not (isinstance(node.value, ast.Name) and node.value.id == "np"), path
            if isinstance(node, ast.Attribute) and node.attr == "urandom":
                # `processes` marks a process with it.
                assert path.parent.name in {"noise", "ledger"} or path.name == "processes.py", path


def test_only_made_up_rows_draw_the_words_of_rows():
    users = {
        path.parent.name for path, nodes in nodes_with("rows.words") for node in nodes if isinstance(node, ast.ImportFrom)
    }
    assert users == {"rows"}


def test_one_file_sets_the_precision_of_enclosures():
    """python-flint has one precision for all threads; `discreet.exact.precision` says how it is set and put back."""
    for path, nodes in nodes_with("workprec", "workdps", "extraprec", "extradps", ".dps", ".prec"):
        if path.name == "precision.py":
            continue
        for node in nodes:
            if isinstance(node, ast.Attribute):
                assert node.attr not in {"workprec", "workdps", "extraprec", "extradps", "dps"}, path
                assert not (node.attr == "prec" and isinstance(node.ctx, ast.Store)), path


def test_releases_differ_when_other_generators_are_constant(monkeypatch):
    import random

    import numpy as np
    import polars as pl

    monkeypatch.setattr(random, "random", lambda: 0.5)
    monkeypatch.setattr(random, "getrandbits", lambda _: 0)
    monkeypatch.setattr(np.random, "default_rng", None)
    drawn = set()
    for _ in range(6):
        with dp.Session(
            pl.DataFrame({"g": ["x"]}),
            dp.Schema(g=dp.Category(["x", "y"])),
            dataset="d",
            ledger=":memory:",
            budget=dp.PureDP("1e-9"),
            neighbours=dp.AddRemove(),
        ) as session:
            drawn.add(tuple(session.release(session.table.group_by("g").agg(dp.count()), name="r").table["count"]))
    assert len(drawn) == 6


def test_no_module_is_longer_than_four_hundred_lines():
    long = {
        str(path.relative_to(ROOT)): n for path in SOURCES if (n := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


def test_the_changelog_knows_the_version():
    assert dp.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_nothing_in_the_repository_names_a_machine():
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, cwd=ROOT, text=True).stdout.split("\n")
    pattern = re.compile("|".join(["/" + "work/", "/" + "root/", "/" + "home/[a-z]"]))
    for name in filter(None, listed):
        path = ROOT / name
        if path.suffix in {".parquet", ".txt"} or not path.is_file():
            continue
        assert not pattern.search(path.read_text(encoding="utf-8", errors="replace")), name
