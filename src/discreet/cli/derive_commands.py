"""`discreet derive` and its commands: one thin function for each, which loads what it needs."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson
from discreet.cli.output import write

__all__ = ["derive_app"]

derive_app = typer.Typer(
    help="Ratios, changes and means of published numbers, with intervals. Reads releases only; spends nothing.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

Results = Annotated[str, typer.Argument(metavar="RESULTS", help="A folder with a release.")]
Statistic = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column of numbers; left out: the first one of the table.")
]
By = Annotated[
    str | None, typer.Option(metavar="NAME,NAME", help="Keep these group columns and add up over the others ('' for all).")
]
At = Annotated[list[str] | None, typer.Option(metavar="NAME=LABEL", help="Only the groups with this label.")]
UnderBy = Annotated[str | None, typer.Option(metavar="NAME,NAME", help="The same as --by, for the denominator.")]
UnderAt = Annotated[list[str] | None, typer.Option(metavar="NAME=LABEL", help="The same as --at, for the denominator.")]
Confidence = Annotated[str, typer.Option(metavar="LEVEL", help="Each interval holds with at least this probability.")]
Out = Annotated[str | None, typer.Option("--out", metavar="DIR", help="Write NAME.csv, NAME.parquet and NAME.json there.")]
Name = Annotated[str | None, typer.Option(metavar="NAME", help="The name of these files; left out: the command.")]


@derive_app.command("ratio", epilog="Example: discreet derive ratio results --over sum_wage --under count")
def derive_ratio(  # noqa: PLR0917 (options have names)
    results: Results,
    over: Annotated[str | None, typer.Option(metavar="COLUMN", help="The numerator; left out: the first column.")] = None,
    under: Annotated[str | None, typer.Option(metavar="COLUMN", help="The denominator.")] = None,
    under_in: Annotated[
        str | None, typer.Option(metavar="DIR", help="The release of the denominator; left out: the same one.")
    ] = None,
    public: Annotated[
        str | None, typer.Option(metavar="FILE.csv", help="Public denominators, one line for each group.")
    ] = None,
    by: By = None,
    at: At = None,
    under_by: UnderBy = None,
    under_at: UnderAt = None,
    per: Annotated[str, typer.Option(metavar="NUMBER", help="A factor, such as 1000 or 100.")] = "1",
    confidence: Confidence = "0.95",
    out: Out = None,
    name: Name = None,
    *,
    as_json: AsJson = False,
) -> None:
    """One number over another for each group: rates, weighted means, shares of shares, indices.

    Where the interval of the denominator contains 0, no number is given, and the interval of the ratio is unbounded.
    """
    from discreet.cli.deriving import Asked, compute_ratio

    with exits():
        top, bottom = Asked(results, over, by, at), Asked(under_in or results, under, under_by, under_at)
        write(compute_ratio(top, bottom, public, per=per, confidence=confidence, out=out, stem=name), as_json=as_json)


@derive_app.command("change", epilog="Example: discreet derive change results-2024 results-2025 --statistic count")
def derive_change(  # noqa: PLR0917 (options have names)
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A folder with the earlier release.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="A folder with the later release.")],
    statistic: Statistic = None,
    by: By = None,
    at: At = None,
    confidence: Confidence = "0.95",
    out: Out = None,
    name: Name = None,
    *,
    as_json: AsJson = False,
) -> None:
    """The difference and the relative change from one release to another, of one data set or of two."""
    from discreet.cli.deriving import Asked, compute_change

    with exits():
        asked = [Asked(folder, statistic, by, at) for folder in (before, after)]
        write(compute_change(asked, confidence=confidence, out=out, stem=name), as_json=as_json)


@derive_app.command("combine", epilog="Example: discreet derive combine first second --statistic count")
def derive_combine(  # noqa: PLR0917 (options have names)
    results: Annotated[list[str], typer.Argument(metavar="RESULTS…", help="Two or more folders with a release.")],
    statistic: Statistic = None,
    by: By = None,
    at: At = None,
    confidence: Confidence = "0.95",
    out: Out = None,
    name: Name = None,
    *,
    as_json: AsJson = False,
) -> None:
    """The mean of releases of one quantity, weighted by the inverse of their public variances."""
    from discreet.cli.deriving import Asked, compute_mean

    with exits():
        asked = [Asked(folder, statistic, by, at) for folder in results]
        write(compute_mean(asked, confidence=confidence, out=out, stem=name), as_json=as_json)


@derive_app.command("poststratified", epilog="Example: discreet derive poststratified results --sizes people.csv")
def derive_poststratified(  # noqa: PLR0917 (options have names)
    results: Results,
    sizes: Annotated[str, typer.Option(metavar="FILE.csv", help="The public size of each stratum, one line for each.")],
    statistic: Statistic = None,
    at: At = None,
    confidence: Confidence = "0.95",
    out: Out = None,
    name: Name = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Means of strata put together by the exact, public sizes of the strata: the total and the mean of all."""
    from discreet.cli.deriving import Asked, compute_poststratified

    with exits():
        asked = Asked(results, statistic, None, at)
        write(compute_poststratified(asked, sizes, confidence=confidence, out=out, stem=name), as_json=as_json)


@derive_app.command("before-sampling", epilog="Example: discreet derive before-sampling results --statistic count")
def derive_before(  # noqa: PLR0917 (options have names)
    results: Results,
    statistic: Statistic = None,
    over: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Counts of the same release to divide sums by, for a mean.")
    ] = None,
    by: By = None,
    at: At = None,
    confidence: Confidence = "0.95",
    out: Out = None,
    name: Name = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Counts, sums and means of the table before its rows were sampled: intervals for noise and sample together."""
    from discreet.cli.deriving import Asked, compute_before

    with exits():
        asked = Asked(results, statistic, by, at)
        write(compute_before(asked, over, confidence=confidence, out=out, stem=name), as_json=as_json)
