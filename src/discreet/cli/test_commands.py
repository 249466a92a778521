"""`discreet test` and its commands: one thin function for each, which loads what it needs."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.derive_commands import At, Results
from discreet.cli.exits import exits
from discreet.cli.options import AsJson
from discreet.cli.output import write

__all__ = ["test_app"]

test_app = typer.Typer(
    help="Tests of hypotheses on published numbers, valid with their noise. Reads releases only; spends nothing.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

Statistic = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column of counts; left out: the first one of the table.")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME", help="The two group columns; counts are added up over others. Several times: tests together."
    ),
]
One = Annotated[str | None, typer.Option("--by", metavar="NAME", help="The column of the groups.")]
Of = Annotated[
    list[str] | None, typer.Option(metavar="NAME=LABEL", help="The rows whose share is tested, by one label or several.")
]
OneOf = Annotated[
    list[str] | None,
    typer.Option("--of", metavar="NAME=LABEL", help="The label whose share is compared. Several times: tests together."),
]
Totals = Annotated[list[str], typer.Option(metavar="COLUMN", help="The column of sums. Several times: tests together.")]
In = Annotated[str | None, typer.Option("--language", metavar="TAG", help="The language of what is printed: en or de.")]
Alternative = Annotated[str, typer.Option(metavar="SIDE", help="two-sided, greater or less.")]


@test_app.command("independence", epilog="Example: discreet test independence results --by gender,disability")
def test_independence(  # noqa: PLR0917 (options have names)
    results: Results,
    statistic: Statistic = None,
    by: By = None,
    at: At = None,
    alternative: Alternative = "two-sided",
    draws: Annotated[
        int, typer.Option(metavar="NUMBER", help="Tables drawn where exact margins of more than two levels are given.")
    ] = 9999,
    language: In = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Are two columns independent? From counts by both, beside exact margins or without."""
    from discreet.cli.testing import Asked, answer_independence

    with exits():
        asked = Asked(results, statistic, by, at, alternative, language)
        write(answer_independence(asked, draws), as_json=as_json)


@test_app.command("proportion", epilog="Example: discreet test proportion results --of disability=yes --share 0.1")
def test_proportion(  # noqa: PLR0917 (options have names)
    results: Results,
    share: Annotated[str, typer.Option(metavar="NUMBER", help="The share under the hypothesis.")],
    of: Of = None,
    rows: Annotated[int | None, typer.Option(metavar="NUMBER", help="The public number of rows, if there is one.")] = None,
    statistic: Statistic = None,
    at: At = None,
    alternative: Alternative = "two-sided",
    language: In = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Is the share of rows with some labels a given number?"""
    from discreet.cli.testing import Asked, answer_proportion

    with exits():
        asked = Asked(results, statistic, None, at, alternative, language)
        write(answer_proportion(asked, share, of, rows), as_json=as_json)


@test_app.command("difference", epilog="Example: discreet test difference results --of disability=yes --by gender")
def test_difference(  # noqa: PLR0917 (options have names)
    results: Results,
    by: Annotated[str, typer.Option(metavar="NAME", help="The column of the groups.")],
    of: OneOf = None,
    groups: Annotated[
        str | None, typer.Option(metavar="LABEL,LABEL", help="Two of its labels; left out: the only two.")
    ] = None,
    statistic: Statistic = None,
    at: At = None,
    alternative: Alternative = "two-sided",
    language: In = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Is the share of rows with a label the same in two groups?"""
    from discreet.cli.testing import Asked, answer_difference

    with exits():
        asked = Asked(results, statistic, None, at, alternative, language)
        write(answer_difference(asked, of, by, groups), as_json=as_json)


@test_app.command("means", epilog="Example: discreet test means results --total sum_hrs_work --by gender")
def test_means(  # noqa: PLR0917 (options have names)
    results: Results,
    total: Totals,
    over: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The counts of the same column; left out: those of the release.")
    ] = None,
    by: One = None,
    at: At = None,
    deviation: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="What the standard deviation is publicly known not to exceed.")
    ] = None,
    alternative: Alternative = "two-sided",
    language: In = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Is the mean of a column the same in all groups? From sums and counts; nothing but bounds is assumed."""
    from discreet.cli.testing import Asked, answer_means

    with exits():
        asked = Asked(results, None, None, at, alternative, language)
        write(answer_means(asked, total, over, by, deviation), as_json=as_json)


@test_app.command("anova", epilog="Example: discreet test anova results --total sum_hrs_work --by gender")
def test_anova(  # noqa: PLR0917 (options have names)
    results: Results,
    total: Totals,
    by: One = None,
    groups: Annotated[str | None, typer.Option(metavar="LABEL,…", help="Two or more of its labels; left out: all.")] = None,
    deviation: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="What the standard deviation is publicly known not to exceed.")
    ] = None,
    at: At = None,
    language: In = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Is the mean of a column the same in all groups? From sums, counts and variances of values that are about normal."""
    from discreet.cli.testing import Asked, answer_anova

    with exits():
        asked = Asked(results, None, None, at, "two-sided", language)
        write(answer_anova(asked, total, by, groups, deviation), as_json=as_json)


@test_app.command("coefficient", epilog="Example: discreet test coefficient results --coefficient regression_wage_age")
def test_coefficient(
    results: Results,
    coefficient: Annotated[
        list[str], typer.Option(metavar="COLUMN", help="The column of the coefficient. Several times: tests together.")
    ],
    at: At = None,
    language: In = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Is a coefficient of a regression 0 in the population? From an interval that is stated for the population."""
    from discreet.cli.testing import Asked, answer_coefficient

    with exits():
        asked = Asked(results, None, None, at, "two-sided", language)
        write(answer_coefficient(asked, coefficient), as_json=as_json)
