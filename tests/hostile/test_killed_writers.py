"""Commands that are killed while they write, links and folders that were planted where they write, and torn results.

The law: under a final name there is a whole file or what was there before; the same command again, which is free, completes
it and leaves nothing hidden behind; and a command that ends after a charge says so, or that it cannot know.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app, planning, releasing
from discreet.errors import LedgerError
from discreet.ledger import Ledger
from discreet.ledger.store import Store
from discreet.session.session import Session

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL and links"),
    pytest.mark.usefixtures("one_artist"),
]

PLAN = plan_text("gender")
# Kills its own process at the nth call that puts content or a name on disk, after it is done or before.
DIES = (
    "import itertools, os, sys\n"
    "sys.modules['vl_convert'] = None\n"  # no pictures: a process that draws would be begun and left for every kill
    "nth, calls = int(sys.argv.pop(1)), itertools.count()\n"
    "def deadly(real):\n"
    "    def call(*values, **options):\n"
    "        number = next(calls)\n"
    "        if number == nth and nth % 2: real(*values, **options)\n"
    "        if number == nth: os.kill(os.getpid(), 9)\n"
    "        return real(*values, **options)\n"
    "    return call\n"
    "for name in ('fsync', 'rename', 'replace', 'link', 'rmdir'): setattr(os, name, deadly(getattr(os, name)))\n"
    "from discreet.cli import main\n"
    "main()\n"
)
RELEASE = ["release", "plan.toml", "--out", "out"]
FILES = ["release.json", "report.html", "table.csv", "table.parquet"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that commands run in, with the plan, and a folder for temporary files of its own."""
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    Path("temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


def done(*arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(code: int, *arguments: str) -> str:
    result = CliRunner().invoke(app, [*arguments])
    assert (result.exit_code, isinstance(result.exception, SystemExit)) == (code, True), (result.output, result.exception)
    return result.stderr


def killed(nth: int, *arguments: str) -> bool:
    """Whether the command was killed at its nth call, and did not come to its end before."""
    run = subprocess.run([sys.executable, "-c", DIES, str(nth), *arguments], check=False, capture_output=True, text=True)
    assert run.returncode in {0, -signal.SIGKILL}, run.stderr
    return run.returncode != 0


def charges() -> int:
    with Ledger.open("budget.db") as ledger:
        return sum(entry.kind == "reserve" for entry in ledger.entries())


def check_whole(folder: Path) -> None:
    """Whatever bears a final name is whole."""
    for path in folder.glob("out/[!.]*"):
        assert path.name in [*FILES, "consistent.csv", "consistent.parquet"]
        if path.suffix == ".parquet":
            assert pl.read_parquet(path).height
        elif path.name == "release.json":
            assert dp.Release(path.read_bytes()).name == "r"
        elif path.suffix == ".html":
            assert path.read_bytes().rstrip().endswith(b"</html>")
        else:
            assert pl.read_csv(path).height


def hidden(folder: Path) -> list[str]:
    """All names that begin with a dot, and the private folders of drivers."""
    return [str(path) for path in folder.rglob("*") if path.name.startswith((".", "discreet-"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "some",
    [
        range(1, 40, 11),
        pytest.param(range(1, 40, 7), marks=pytest.mark.slow),
        pytest.param(range(60), marks=pytest.mark.exhaustive),
    ],
)
def test_a_release_that_is_killed_while_it_writes_is_completed_by_the_same_command(folder: Path, some: range) -> None:
    struck = 0
    for nth in some:
        for left in ("out", "budget.db"):
            shutil.rmtree(left) if Path(left).is_dir() else Path(left).unlink(missing_ok=True)
        if not killed(nth, *RELEASE):
            break
        struck += 1
        check_whole(folder)
        before = charges() if Path("budget.db").exists() else 0
        again = CliRunner().invoke(app, RELEASE)
        if again.exit_code:  # it died between the reservation and the commit: its name is used
            assert before == 1
            assert "'r'" in again.stderr
            done(*RELEASE, "--as", "again")
        assert charges() == max(before, 1) + bool(again.exit_code)
        assert sorted(path.name for path in Path("out").iterdir()) == FILES
        if hidden(folder):  # it died at the end of an attempt that had committed: the next charge removes its lock
            assert before == 1
            assert not again.exit_code
            assert [Path(path).parent for path in hidden(folder)] == [folder]
            done(*RELEASE[:2], "--out", "next", "--as", "again")
            shutil.rmtree("next")
        assert hidden(folder) == [], "the next run that writes removes what the dead left"
    assert struck >= 3


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "command", [["report", "out"], ["consistent", "out"], ["quote", "plan.toml", "--html", "out/p.html"]]
)
def test_a_command_that_is_killed_while_it_writes_leaves_what_was_there(folder: Path, command: list[str]) -> None:
    done(*RELEASE)
    done(*command)
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert killed(0, *command)
    assert {path.name: path.read_bytes() for path in Path("out").glob("[!.]*")} == before
    done(*command)
    assert hidden(folder) == []


@pytest.mark.slow
def test_init_that_is_killed_leaves_no_half_plan(folder: Path) -> None:
    for nth in range(2):
        assert killed(nth, "init", "example:acs12", "--out", "new.toml")
        assert not Path("new.toml").exists()
    done("init", "example:acs12", "--out", "new.toml")
    assert hidden(folder) == []


# Planted links and folders ----------------------------------------------------------------------------------------------

WRITTEN = {
    "release": (RELEASE, [*FILES]),
    "report": (["report", "out"], ["report.html"]),
    "consistent": (["consistent", "out"], ["consistent.csv", "consistent.parquet"]),
    "quote": (["quote", "plan.toml", "--html", "out/page.html"], ["page.html"]),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", WRITTEN)
def test_a_link_that_was_planted_where_a_file_is_written_is_replaced(folder: Path, command: str) -> None:
    if command != "release":
        done(*RELEASE)
    Path("out").mkdir(exist_ok=True)
    Path("victim").write_bytes(b"precious")
    arguments, files = WRITTEN[command]
    for file in files:
        (Path("out") / file).unlink(missing_ok=True)
        (Path("out") / file).symlink_to("../victim")
    done(*arguments)
    assert Path("victim").read_bytes() == b"precious"
    assert not any((Path("out") / file).is_symlink() for file in files)
    check_whole_of(files)


def check_whole_of(files: list[str]) -> None:
    assert all((Path("out") / file).stat().st_size > 20 for file in files)


@pytest.mark.parametrize("file", FILES)
def test_a_folder_where_a_file_has_to_stand_is_found_before_the_charge(folder: Path, file: str) -> None:
    (Path("out") / file).mkdir(parents=True)
    assert file in refused(2, *RELEASE)
    assert not Path("budget.db").exists()


def test_a_plan_is_not_written_through_a_link(folder: Path) -> None:
    Path("new.toml").symlink_to("victim")
    assert "exists already" in refused(2, "init", "example:acs12", "--out", "new.toml")
    assert not Path("victim").exists()


# Torn results -----------------------------------------------------------------------------------------------------------

TORN: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[:-10],
    "empty": lambda content: b"",
    "zeroed": lambda content: bytes(len(content)),
    "changed": lambda content: content.replace(b'"r"', b'"s"', 1),
    "text": lambda content: b"notes",
    "of another program": lambda content: b'{"branches": []}',
    "not UTF-8": lambda content: b"\xff" + content,
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("torn", TORN)
def test_a_torn_document_is_written_again_at_no_charge(folder: Path, torn: str) -> None:
    done(*RELEASE)
    place = Path("out/release.json")
    content = place.read_bytes()
    place.write_bytes(TORN[torn](content))
    assert place.read_bytes() != content
    assert "no new charge" in done(*RELEASE)
    assert place.read_bytes() == content
    assert charges() == 1


def test_a_whole_document_of_another_release_is_refused(folder: Path) -> None:
    done(*RELEASE)
    content = Path("out/release.json").read_bytes()
    assert "holds another release" in refused(2, *RELEASE, "--as", "other")
    assert Path("out/release.json").read_bytes() == content
    assert charges() == 1


# What is said of the charge ---------------------------------------------------------------------------------------------


def unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def reading(self: Store) -> Any:
        raise self.error("could not be read or written: check the disk")
        yield

    monkeypatch.setattr(Store, "reading", reading)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("stop", [KeyboardInterrupt(), OSError(5, "Input/output error"), MemoryError(), LedgerError("odd")])
@pytest.mark.parametrize("readable", [True, False])
def test_a_command_that_ends_after_a_charge_says_so_or_that_it_cannot_know(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException, *, readable: bool
) -> None:
    real = Session.release_all

    def released(self: Session, orders: Any) -> Any:
        real(self, orders)
        if not readable:
            unreadable(monkeypatch)
        raise stop

    monkeypatch.setattr(Session, "release_all", released)
    said = refused(4, *RELEASE)
    monkeypatch.undo()
    os.chdir(folder)
    assert charges() == 1
    if readable:
        assert "after 'r' was charged; the charge stands" in said
    else:
        assert "'r' may have been charged" in said
        assert "discreet ledger show" in said
    assert "nothing was spent" not in said


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), OSError(5, "Input/output error")])
def test_a_command_that_ends_before_a_charge_says_that_nothing_was_spent(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    def released(self: Session, orders: Any) -> Any:
        raise stop

    monkeypatch.setattr(Session, "release_all", released)
    assert "nothing was spent" in refused(130 if isinstance(stop, KeyboardInterrupt) else 2, *RELEASE)
    assert not Path("budget.db").exists()


def test_a_session_that_cannot_be_closed_after_a_charge_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Session.close

    def close(self: Session) -> None:
        real(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "close", close)
    assert "interrupted after 'r' was charged" in refused(4, *RELEASE)


def test_a_second_interruption_does_not_make_a_charge_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, standing = Session.release_all, releasing.standing
    stopped = []

    def released(self: Session, orders: Any) -> Any:
        real(self, orders)
        stopped.append(True)
        raise KeyboardInterrupt

    def interrupted(plan: Any) -> planning.Standing:
        if stopped:
            raise KeyboardInterrupt
        return standing(plan)

    monkeypatch.setattr(Session, "release_all", released)
    monkeypatch.setattr(releasing, "standing", interrupted)
    assert "may have been charged" in refused(4, *RELEASE)


def test_an_error_of_the_system_that_nobody_expects_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(path: Path, *more: Any, **options: Any) -> Any:
        raise OSError(28, "No space left on device", "b\udcff")

    monkeypatch.setattr(planning, "check_plan", fails)
    said = refused(2, "check", "plan.toml")
    assert said == "discreet: 'b\\udcff': No space left on device; nothing was spent\n"


# What drivers spill -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_a_killed_process_has_spilled_is_removed_by_the_next(folder: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from discreet.engines.spill import new_spill_folder\n"
        "made = new_spill_folder(); Path(made.path, 'counts').write_bytes(b'private'); print(made.path, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    left = Path(run.stdout.strip())
    assert (left / "counts").exists()
    assert left.parent == folder / "temporary"
    assert left.stat().st_mode & 0o777 == 0o700
    run = subprocess.run([sys.executable, "-m", "discreet", *RELEASE], check=True, capture_output=True, text=True)
    assert list((folder / "temporary").iterdir()) == []
    assert json.loads(Path("out/release.json").read_bytes())["name"] == "r"
