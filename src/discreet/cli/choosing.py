"""`discreet choose-clamp`: the clamp with the least whole error, from a release with a histogram."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, FolderArgument
from discreet.cli.output import Answer, write
from discreet.exact.given_paths import require_path

__all__ = ["choose_clamp"]


def choose_clamp(
    folder: FolderArgument,
    spend: Annotated[str, typer.Option(help="What the release of the mean will cost, in the measure of the release.")],
    column: Annotated[str | None, typer.Option(help="The column, where the release has several histograms.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Choose the clamp of a mean for the least whole error: noise, and what the clamp cuts off. Spends nothing.

    DIR has a release of one histogram without groups, whose bins hold all values of the column.
    """
    with exits():
        write(_answer(folder, spend, column), as_json=as_json)


def _answer(folder: str, spend: str, column: str | None) -> Answer:
    from discreet.releases.choosing import choose_clamp as choose
    from discreet.releases.document import Release

    found = choose(Release.load(require_path(folder, "choose-clamp")), spend=spend, column=column)
    return Answer([*str(found).splitlines(), "Nothing was spent."], found.to_json())
