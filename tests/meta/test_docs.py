"""What README and docs show is executed: Python blocks, `discreet` commands, and the output they claim."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import __version__
from discreet.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]


def run_python(block: Block, page: Path, namespace: dict) -> str:
    out = io.StringIO()
    # Empty lines in front keep the line numbers of a traceback those of the page.
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    with contextlib.redirect_stdout(out):
        exec(code, namespace)  # noqa: S102
    return out.getvalue()


def run_console(block: Block) -> str:
    out = ""
    for line in block.text.splitlines():
        command = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ ") else []
        if command[:1] == ["make"]:
            assert re.search(rf"^{command[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE), line
        elif command[:1] == ["discreet"]:
            # In this process: a fresh interpreter for each of some thirty commands would take longer than all else.
            done = CliRunner().invoke(app, command[1:], env={"COLUMNS": "200", "NO_COLOR": "1"})
            expected = re.search(r"# exit code (\d)", line)
            assert done.exit_code == int(expected[1] if expected else 0), f"{line}\n{done.output}"
            out += done.output
        elif command:
            pytest.fail(f"{line}: only make and discreet can be shown in a console block")
    return out


def test_the_command_of_the_console_blocks_is_the_module():
    done = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"discreet {__version__}\n", "")


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("one_artist")
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_block_of_a_page_runs_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "page"}
    output = ""
    for block in blocks(page):
        if block.kind == "python":
            output = run_python(block, page, namespace)
        elif block.kind == "console":
            output = run_console(block)
        elif block.kind == "toml" and (named := re.match(r"# ([\w-]+\.toml)\n", block.text)):
            (tmp_path / named[1]).write_text(block.text, encoding="utf-8")
        elif block.kind == "text" and output:
            # Tables hold noise; every other output that a page shows is what comes out.
            if "│" not in block.text:
                assert squeezed(block.text) in squeezed(output), f"{page}:{block.line}"
            output = ""


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_and_named_files_and_tests_exist(page):
    text = page.read_text(encoding="utf-8")
    prose = FENCE.sub("", text)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        if not target.startswith(("https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
    for path, test in re.findall(r"`((?:src|tests|examples|scripts|benchmarks)/[\w./-]+)(?:::(\w+))?", prose):
        found = ROOT / path
        assert found.exists(), f"{page.name}: {path}"
        if test:
            assert f"def {test}(" in found.read_text(encoding="utf-8"), f"{page.name}: {path}::{test}"


def test_every_page_is_in_the_index():
    listed = set(re.findall(r"\]\(([\w/-]+\.md)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    there = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    assert listed == there


def test_the_shortest_program_is_short_and_the_one_in_examples():
    (program,) = [block.text for block in blocks(ROOT / "README.md") if block.kind == "python"]
    assert len([line for line in program.splitlines() if line.strip()]) < 12
    assert (ROOT / "examples" / "shortest.py").read_text(encoding="utf-8").endswith(program)


def rooms() -> list[Path]:
    package = ROOT / "src" / "discreet"
    return [path for path in package.iterdir() if (path / "__init__.py").exists()]


def unnamed(folder: Path) -> list[str]:
    """The files of a package that its docstring does not name."""
    told = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    files = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    return sorted(path.stem for path in files if not path.name.startswith("__") and f"`{path.stem}`" not in told)


def test_every_room_has_its_row_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [path.name for path in rooms() if f"| `{path.name}/` |" not in text] == []
    assert len(text.splitlines()) <= 200


def test_every_package_names_its_files():
    packages = [path.parent for room in rooms() for path in room.rglob("__init__.py") if room.name != "datasets"]
    assert {str(one.relative_to(ROOT)): unnamed(one) for one in packages if unnamed(one)} == {}


def test_a_file_that_no_docstring_names_would_be_noticed(tmp_path):
    (tmp_path / "__init__.py").write_text('"""Two files: `here` is one."""\n', encoding="utf-8")
    for name in ("here", "there", "_hidden"):
        (tmp_path / f"{name}.py").touch()
    assert unnamed(tmp_path) == ["_hidden", "there"]


def test_the_floor_plan_is_that_of_the_import_contract():
    command = [sys.executable, str(ROOT / "scripts" / "floor_plan.py"), "--check"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    assert len((ROOT / ".importlinter").read_text(encoding="utf-8").splitlines()) <= 100


def test_every_dependency_has_its_line():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    for requirement in wanted:
        name = re.match(r"[\w-]+", requirement)[0]
        assert name == "discreet" or name in text, name


def test_the_changelog_has_the_version():
    assert re.search(
        rf"^## {re.escape(__version__)} ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("```python\n1 / 0\n```\n", ZeroDivisionError),
        ("```python\nprint('a')\n```\n\n```text\nb\n```\n", AssertionError),
        ("```console\n$ discreet no-such-command\n```\n", AssertionError),
        ("```console\n$ make no-such-target\n```\n", AssertionError),
    ],
)
def test_a_wrong_page_would_be_noticed(text, wrong, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(wrong):
        test_every_block_of_a_page_runs_in_order(page, tmp_path, monkeypatch)


def test_a_dead_link_would_be_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[a](nowhere.md)", encoding="utf-8")
    with pytest.raises(AssertionError):
        test_links_and_named_files_and_tests_exist(page)
