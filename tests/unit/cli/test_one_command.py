"""`only_asked_for`: the command that is asked for is the only one that is built, and says what it says in the whole app."""

from __future__ import annotations

import pytest
import typer.main
from typer.testing import CliRunner

from discreet.cli import app
from discreet.cli.one_command import only_asked_for

WHOLE = typer.main.get_command(app)
RUNNER = CliRunner()


@pytest.mark.one_in(16)
@pytest.mark.parametrize("name", [*WHOLE.commands])  # type: ignore[attr-defined]
def test_every_command_is_found_by_its_name_and_says_the_same(name: str) -> None:
    narrow = only_asked_for(app, ["discreet", name])
    assert list(typer.main.get_command(narrow).commands) == [name]  # type: ignore[attr-defined]
    for words in ([name, "--help"], [name, "--no-such-option"], [name], ["--version"]):
        told, expected = (RUNNER.invoke(one, words, prog_name="discreet") for one in (narrow, app))
        assert (told.exit_code, told.output) == (expected.exit_code, expected.output)


@pytest.mark.parametrize("words", [["discreet"], ["discreet", "--help"], ["discreet", "quot"], []])
def test_without_the_name_of_a_command_there_are_all(words: list[str]) -> None:
    assert only_asked_for(app, words) is app
