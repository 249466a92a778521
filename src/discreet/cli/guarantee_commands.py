"""`discreet convert` and `discreet effective`: their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.exits import exits
from discreet.cli.options import AsJson, Settings
from discreet.cli.output import write
from discreet.cli.settings import settings_of
from discreet.errors import ArgumentError

__all__ = ["convert", "effective"]


def convert(  # noqa: PLR0917 (options have names)
    rho: Annotated[str | None, typer.Option(help="ρ of zero-concentrated differential privacy.")] = None,
    mu: Annotated[str | None, typer.Option(help="μ of Gaussian differential privacy.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="δ.")] = None,
    sampled: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="The file is a secret sample: each person was drawn at most at this rate."),
    ] = None,
    without_replacement: Annotated[
        str | None, typer.Option(metavar="M,N", help="The file is a secret sample: M of N persons, without replacement.")
    ] = None,
    proportion: Annotated[
        str | None, typer.Option(metavar="P", help="The guarantee is for a table that was resized at this proportion.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Convert between measures: --rho or --mu at a --delta or an --epsilon, or a target --epsilon with its --delta."""
    from discreet.cli.converting import conversions

    ways = {"sampled": sampled, "without_replacement": without_replacement, "proportion": proportion}
    with exits():
        write(conversions(rho=rho, mu=mu, epsilon=epsilon, delta=delta, **ways), as_json=as_json)


def effective(  # noqa: PLR0917 (options have names)
    plans: Annotated[
        list[str] | None, typer.Argument(metavar="[PLAN]...", help="Further plans of a --programme.", show_default=False)
    ] = None,
    rho: Annotated[str | None, typer.Option(help="The advertised ρ.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The advertised ε.")] = None,
    mu: Annotated[str | None, typer.Option(help="The advertised μ.")] = None,
    delta: Annotated[str | None, typer.Option(help="The δ of the advertised ε, or the δ at which to state ε.")] = None,
    invariant: Annotated[
        str | None, typer.Option(help="The exact totals: rows, totals, occupied, margins, or margins:K.")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="A plan file: the totals in its [invariants] are exact.")] = None,
    programme: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLAN[=rho:R]",
            help="A plan, whose releases are counted, or with an advertised guarantee (rho, epsilon or mu) in their place.",
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="TAG", help="The language of the sentences about a --programme: en or de.")
    ] = None,
    settings: Settings = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show what an advertised guarantee is worth alongside exact totals, which weaken it."""
    from discreet.cli.effective import effective_guarantee

    with exits():
        if programme:
            from discreet.cli.effective_programme import effective_programme

            others = {"--rho": rho, "--epsilon": epsilon, "--mu": mu, "--invariant": invariant, "--plan": plan}
            answer = effective_programme(
                [*programme, *(plans or ())],
                [name for name, value in others.items() if value is not None],
                settings_of(settings),
                delta=delta,
                language=language,
            )
            write(answer, as_json=as_json)
            return
        if plans or language is not None:
            what = "--language" if language is not None else " ".join(plans or ())
            raise ArgumentError(
                f"effective: {what} goes with --programme only; write --programme PLAN PLAN …, or --plan PLAN"
            )
        write(
            effective_guarantee(
                rho=rho, epsilon=epsilon, mu=mu, delta=delta, invariant=invariant, plan=plan, given=settings_of(settings)
            ),
            as_json=as_json,
        )
