"""The command line with the one command that is asked for: to build them all takes as long as a small quote."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import typer
from typer.main import get_command_name
from typer.models import CommandInfo

__all__ = ["only_asked_for"]


def only_asked_for(app: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """The app with no other commands, or the whole of it where the first word after the program is the name of none."""
    first = words[1] if len(words) > 1 else ""
    narrow = copy(app)
    narrow.registered_commands = [one for one in app.registered_commands if _name_of(one) == first]
    narrow.registered_groups = [one for one in app.registered_groups if one.name == first]
    return narrow if narrow.registered_commands or narrow.registered_groups else app


def _name_of(command: CommandInfo) -> str:
    return command.name or get_command_name(command.callback.__name__ if command.callback else "")
