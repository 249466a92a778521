"""An empty path, as an unset variable of a shell gives it, is not the current folder."""

import pytest
from tests.builders import plan_text
from typer.testing import CliRunner

from discreet.cli import app

PLAN = plan_text("by-gender")
COMMANDS = {
    "init": (["init", "example:acs12", "--out", ""], "--out"),
    "quote": (["quote", "plan.toml", "--html", ""], "--html"),
    "release": (["release", "plan.toml", "--out", ""], "--out"),
    "spill": (["release", "plan.toml", "--out", "out", "--spill", ""], "spill"),
    "report": (["report", ""], "report"),
    "consistent": (["consistent", ""], "consistent"),
    "register": (["register", ""], "register"),
    "programme": (["programme", ""], "programme"),
    "derive": (["derive", "ratio", ""], "derive"),
    "verify": (["ledger", "verify", "budget.db", "--releases", ""], "--releases"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_path_is_refused_in_one_sentence(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    arguments, named = COMMANDS[command]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith(f"discreet: {named}=''")
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


def test_the_current_folder_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    done = CliRunner().invoke(app, ["release", "plan.toml", "--out", "."])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "release.json").is_file()
