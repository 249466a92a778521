"""`discreet choose-clamp` and `choose-bound`: the clamp or the bound with the least whole error, from a histogram."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, FolderArgument, PlanArgument
from discreet.cli.output import Answer, write
from discreet.errors import ArgumentError, did_you_mean, printed
from discreet.exact.given_paths import require_path

__all__ = ["choose_bound", "choose_clamp"]


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


def choose_bound(
    plan: PlanArgument,
    folder: FolderArgument,
    release: Annotated[str, typer.Option(help="The release of the plan whose bound on groups is chosen.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Choose the bound on groups for the least whole error: noise, and what the bound leaves out. Spends nothing.

    DIR has a release of one histogram, without groups, of the number of groups that each person is in.
    """
    with exits():
        write(_bound_answer(plan, folder, release), as_json=as_json)


def _bound_answer(path: Path, folder: str, name: str) -> Answer:
    from discreet.cli.planning import quote_all, review
    from discreet.planfile.read import load_plan
    from discreet.releases.choosing_bounds import choose_bound as choose
    from discreet.releases.document import Release

    groups = Release.load(require_path(folder, "choose-bound"))
    quotes, _ = quote_all(review(load_plan(path), without_source=True))
    if name not in quotes:
        raise ArgumentError(f"--release={printed(name)}: the plan has no such release{did_you_mean(name, quotes)}")
    found = choose(groups, quotes[name].plan, spend=quotes[name].spend)
    return Answer([*str(found).splitlines(), "Nothing was spent."], found.to_json())
