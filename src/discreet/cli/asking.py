"""Who answers the questions of `discreet init`: somebody at a terminal, or nobody."""

from __future__ import annotations

from collections.abc import Callable

import typer

from discreet.errors import ArgumentError
from discreet.exact.figures import name as shown_name

__all__ = ["Asker", "GoneBack", "Terminal", "nobody"]

Asker = Callable[[str, Callable[[str], object], str | None], str | None]
"""From a question, a check that raises ArgumentError for a wrong answer, and a default to the answer, None for none."""

_BACK = "<"


def nobody(question: str, check: Callable[[str], object], default: str | None) -> str | None:  # noqa: ARG001
    """The default, because nobody can answer."""
    return default


class Terminal:
    """The answers that somebody types; a question is repeated until its answer is valid, and "<" goes back to the last one.

    Going back begins the interview again with the answers that stand, so that later questions may be other ones.
    """

    def __init__(self) -> None:
        self._answers: list[str] = []
        self._place = 0

    def __call__(self, question: str, check: Callable[[str], object], default: str | None) -> str:
        """The next answer.

        Raises:
            KeyboardInterrupt: the terminal was left.
            GoneBack: the question before is asked again.
        """
        if self._place == len(self._answers):
            self._answers.append(self._prompt(question, check, default))
        self._place += 1
        return self._answers[self._place - 1]

    def _prompt(self, question: str, check: Callable[[str], object], default: str | None) -> str:
        while True:
            try:
                answer = str(typer.prompt(question, default=default or "", show_default=default is not None)).strip()
            except typer.Abort:
                raise KeyboardInterrupt from None
            if answer == _BACK and self._answers:
                self._answers.pop()
                self._place = 0
                raise GoneBack
            try:
                if not answer or answer == _BACK:
                    raise ArgumentError(f"an answer is needed; {_BACK} goes back to the question before")  # noqa: TRY301
                check(answer)
            except ArgumentError as wrong:
                typer.echo(f"  {shown_name(str(wrong))}")
            else:
                return answer


class GoneBack(Exception):
    """Somebody goes back to the question before."""
