"""The command line: one thin function for each command, which loads what it needs. docs/command-line.md describes it.

Results go to stdout. stderr stays empty unless something is wrong; then it has one message, and the exit code shows
what it means for the budget (`exits`).

* `above`: The budgets of a plan beside the one of its data set: what its population and its windows have left
* `answers`: Answers in the interview of `discreet init`: asked for, checked, and written as entries of a plan file
* `approval_notes`: The notes of `discreet check` on signatures: how many a plan or its ledger demands, and how many exist
* `approving`: `discreet approve` and `discreet ledger demand`: signatures that a plan or a ledger demands
* `asking`: Who answers the questions of `discreet init`: somebody at a terminal, or nobody
* `assuming`: `discreet quote --assuming`: the whole error of each release against the table as recorded, if something is
  assumed
* `auditing`: `discreet audit`: the releases of a plan, attacked by running their noise on data sets that the audit
  makes itself
* `choosing`: `discreet choose-clamp` and `choose-bound`: the clamp or bound with the least whole error, from a histogram
* `code_lists`: The categories that somebody types in `discreet init`, or names in a file of codes and labels
* `converting`: `discreet convert`: one guarantee in the words of another
* `derive_commands`: `discreet derive` and its commands, each a thin function too
* `deriving`: `discreet derive`: ratios, changes and means of published numbers, printed, and written where that is
  wished
* `describing`: A plan in plain words, so that its author notices a wrong bound or a wrong number of rows
* `drafting`: A plan file as text: entries with their comments, and those that the custodian still has to fill in
* `effective`: `discreet effective`: the effective guarantee that an advertised one has alongside exact totals
* `effective_programme`: `discreet effective --programme`: what several plans cost one person together, by attribute, area
  and level
* `export_command`: `discreet export`: its options
* `exporting`: `discreet export`: its work, and releases in the words that somebody asks for
* `explaining`: `discreet explain`: the chain from one person's data to the noise of each release
* `folder_commands`: `discreet register` and `discreet programme`: what is made of the releases in a folder
* `guarantee_commands`: `discreet convert` and `discreet effective`: their options
* `household_rows`: `discreet rows --persons`: rows of households and of the persons in them
* `init_command`: `discreet init`: its options
* `inspecting`: `discreet inspect`: how the rows are read, in exact numbers, for the eyes of their curator alone
* `ledger_commands`: `discreet ledger` and its commands, each a thin function too
* `ledgers`: `discreet ledger show`, `discreet ledger verify` and `discreet ledger export`
* `looking`: Other looks at what `discreet release` has written: the report, views, and what can be recomputed
* `numbers`: The first rows of a release as a table for people: one cell for a number and its interval
* `one_command`: The one command that is asked for, which is built faster than all of them
* `options`: The arguments and options that several commands have
* `output`: The output of the commands: text for people, or one JSON object with the same facts
* `persons_over_time`: `discreet ledger show --population`: what one person can have lost, at any date
* `planning`: `discreet check` and `discreet quote`: everything that is known of a plan before anything is spent
* `programme_words`: The sentences of `discreet effective --programme`: each says what one change costs
* `populations`: The promise of the account of a secret sample to the population from which it was drawn
* `registering`: `discreet register`: the entry of a release for the registry of deployments, and the page of its
  evaluation
* `releasing`: `discreet release` and `discreet report`: the commands that spend and write
* `rows_command`: `discreet rows`: rows that are fitted to the agreeing tables of a release
* `sampling`: `discreet convert --sampled`, `--without-replacement` and `--proportion`: guarantees on both sides of a
  sample
* `settings`: `--set NAME=VALUE` and `--csv KEY=VALUE`: the parameters of a plan and the form of CSV files, as they were
  typed
* `standings`: What the ledger of a plan says about its data set and its releases before anything is spent
* `starting`: `discreet init`: a plan file from the header of a source and the answers of the custodian
* `starting_columns`: The columns in the interview of `discreet init`: as what each is declared, and with which bounds or
  categories
* `starting_persons`: `discreet init` where a person may have many rows: whose row is whose, tables of persons, and what a
  person counts for
* `starting_sources`: The sources of `discreet init`: what their headers say, and how a plan names them
* `test_commands`: `discreet test` and its commands, each a thin function too
* `testing`: `discreet test`: hypotheses tested on published numbers, printed
"""

from __future__ import annotations

import gc
import io
import sys
from typing import Annotated

import typer

from discreet._version import __version__
from discreet.cli.choosing import choose_bound, choose_clamp
from discreet.cli.derive_commands import derive_app
from discreet.cli.exits import exits, on_terminal
from discreet.cli.export_command import export
from discreet.cli.folder_commands import programme, register
from discreet.cli.guarantee_commands import convert, effective
from discreet.cli.init_command import init
from discreet.cli.ledger_commands import ledger_app
from discreet.cli.one_command import only_asked_for
from discreet.cli.options import (
    AsJson,
    FolderArgument,
    Formulas,
    KeyOption,
    Labels,
    Language,
    PlanArgument,
    Settings,
    WithoutSource,
    Yes,
)
from discreet.cli.output import write
from discreet.cli.rows_command import rows
from discreet.cli.settings import settings_of
from discreet.cli.test_commands import test_app
from discreet.exact.given_paths import require_path

__all__ = ["app", "main"]

app = typer.Typer(
    help="Publish statistics from confidential tables. The usual order: init writes a plan, check and quote show what it "
    "means and costs, release charges it and writes the results, ledger shows what was spent. Exit codes: 0 done, "
    "2 the request is wrong (nothing was spent), "
    "3 the budget does not allow it (nothing was spent), 4 failed after spending (the ledger records it), "
    "5 an audit has refuted a claim (nothing was spent).",
    epilog="Try it: discreet init example:acs12 --out plan.toml",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,  # it would print local variables
)
app.add_typer(ledger_app, name="ledger")
app.add_typer(derive_app, name="derive")
app.add_typer(test_app, name="test")

_RARELY = 200_000  # new objects between two searches for garbage: modules and plans are none, and to search took a tenth


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    gc.set_threshold(_RARELY)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal without Greek letters must not turn a release that was charged into a failure.
            stream.reconfigure(errors="backslashreplace")
    only_asked_for(app, sys.argv)(prog_name="discreet")


def _version(*, asked: bool) -> None:
    if asked:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=lambda asked: _version(asked=asked), is_eager=True),
    ] = False,
) -> None:
    """The options before a command."""


app.command(epilog="Example: discreet init persons.parquet --out plan.toml")(init)


@app.command(epilog="Example: discreet check plan.toml")
def check(
    plan: PlanArgument,
    settings: Settings = None,
    *,
    without_source: WithoutSource = False,
    as_json: AsJson = False,
) -> None:
    """Check a plan and report what is wrong. Spends nothing, writes nothing.

    Reads the header of the source and, under replace-one, compares its number of rows and its published totals, which are
    public. Under add-remove it reads no rows.
    """
    from discreet.cli.planning import check_plan

    with exits(str if as_json else on_terminal):
        write(check_plan(plan, settings_of(settings), without_source=without_source), as_json=as_json)


@app.command(epilog="Example: discreet inspect plan.toml")
def inspect(
    plan: PlanArgument,
    settings: Settings = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before the first look at a data set.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Refused: what it shows is confidential.", hidden=True)] = False,
) -> None:
    """Show, on a terminal only, how the rows are read: nulls, values moved or not understood, and the most frequent.

    CONFIDENTIAL: exact numbers, outside every guarantee. The ledger records that it was done, and later releases
    say so. Spends nothing. A plan with inspect = "never" refuses it.
    """
    from discreet.cli.inspecting import inspect_plan

    with exits():
        write(inspect_plan(plan, settings_of(settings), yes=yes, as_json=as_json), as_json=False)


@app.command(epilog="Example: discreet quote plan.toml --html planner.html")
def quote(
    plan: PlanArgument,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write a page with sliders for spends, n, p and totals instead."),
    ] = None,
    settings: Settings = None,
    assuming: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN:NAME=VALUE",
            help="Public facts, as in 'income: nulls=0.1, above=0.06': adds the whole error against the table as recorded.",
        ),
    ] = None,
    *,
    language: Annotated[str, typer.Option(metavar="TAG", help="The language of the page: en or de.")] = "en",
    without_source: WithoutSource = False,
    as_json: AsJson = False,
) -> None:
    """Show what the releases of a plan cost and how exact they will be. Reads no rows, spends nothing.

    Where the source is not here, its header is not compared. --html writes a planner: one file that needs no network, in
    which errors and costs follow the sliders.
    """
    from discreet.cli.assuming import assumptions_of
    from discreet.cli.planning import planner_page, quote_plan

    with exits():
        given, assumed = settings_of(settings), assumptions_of(assuming)
        if html is None:
            answer = quote_plan(plan, given, without_source=without_source, assuming=assumed)
        else:
            place = require_path(html, "--html")
            answer = planner_page(plan, place, given, without_source=without_source, language=language)
        write(answer, as_json=as_json)


@app.command(epilog='Example: discreet explain plan.toml --release "wages by state"')
def explain(
    plan: PlanArgument,
    release: Annotated[str | None, typer.Option(metavar="NAME", help="Only this release.")] = None,
    settings: Settings = None,
    *,
    without_source: WithoutSource = False,
    as_json: AsJson = False,
) -> None:
    """Explain the noise of each release: the compared tables, the effect of each step, and what one row can change.

    Reads no rows, spends nothing. Where the source is not here, its header is not compared.
    """
    from discreet.cli.explaining import explain_plan

    with exits():
        write(explain_plan(plan, release, settings_of(settings), without_source=without_source), as_json=as_json)


@app.command(epilog="Example: discreet audit plan.toml --runs 100000")
def audit(
    plan: PlanArgument,
    runs: Annotated[int, typer.Option(metavar="N", help="How often the noise is drawn for each data set.")] = 1_000_000,
    settings: Settings = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Attack the releases of a plan on made-up data, to find lower bounds of ε and δ. Reads no data, spends nothing.

    The exit code is 5 if more leaks than the plan claims, and 0 if that was not shown.
    """
    from discreet.cli.auditing import audit_plan

    with exits():
        audit_plan(plan, runs, settings_of(settings), as_json=as_json)


@app.command(epilog="Example: discreet release plan.toml --out results. The same again is free; a new run needs --as NAME.")
def release(
    plan: PlanArgument,
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder for the results.")],
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="A name for a repeated run.")] = None,
    settings: Settings = None,
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Make the releases whose charge was lost once more: same name, new charge.")
    ] = False,
    memory: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The memory that the driver may use, such as 500MB.")
    ] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", help="The number of threads that may count.")] = None,
    spill: Annotated[str | None, typer.Option(metavar="DIR", help="The folder for data that exceed the memory.")] = None,
    formulas: Formulas = "escape",
    as_json: AsJson = False,
) -> None:
    """Charge the releases of a plan, all or none, and write them to DIR: JSON, CSV, Parquet and an HTML report.

    One release is written to DIR itself; each of several gets a folder inside DIR. A release that the ledger already
    has for the same plan is written again at no charge. A release that was interrupted before any noise was drawn is
    finished at no further charge.
    """
    from discreet.pages.report.drawing import begin_drawing

    told = str if as_json else on_terminal
    with exits(told), begin_drawing() as artist:  # which loads while the other modules do
        from discreet.cli.releasing import release_plan
        from discreet.engines.resources import Limits

        limits = Limits(memory, threads, spill)
        folder, given = require_path(out, "--out"), settings_of(settings)
        release_plan(plan, folder, name, limits, artist, again=again, given=given, formulas=formulas, as_json=as_json)


@app.command(epilog="Example: discreet approve plan.toml --key ~/.ssh/id_ed25519. Without --key it signs nothing.")
def approve(
    plan: PlanArgument,
    key: KeyOption = None,
    release: Annotated[str | None, typer.Option(metavar="NAME", help="Only this release.")] = None,
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="The name of a repeated run.")] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", metavar="DIGEST", help="The first digest of the ledger, where it is not here.")
    ] = None,
    *,
    settings: Settings = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Sign the releases of a plan, after showing in words what is signed. Reads no source, spends nothing.

    The signatures are files in a folder next to the plan, PLAN.approvals, where `release` looks for them.
    """
    from discreet.cli.approving import Chosen, approve_plan

    with exits():
        where = None if key is None else require_path(key, "--key")
        chosen = Chosen(plan, settings_of(settings), release, name, ledger)
        approve_plan(chosen, where, yes=yes, as_json=as_json)


@app.command(epilog="Example: discreet report results")
def report(folder: FolderArgument, labels: Labels = None, language: Language = None, *, as_json: AsJson = False) -> None:
    """Write report.html again, next to each release.json in DIR."""
    from discreet.pages.report.drawing import begin_drawing

    with exits(), begin_drawing() as artist:
        from discreet.cli.exporting import Words
        from discreet.cli.looking import report_folder

        write(report_folder(require_path(folder, "report"), artist, Words(labels, language)), as_json=as_json)


app.command(epilog="Example: discreet register results --published 2026-11-23")(register)
app.command(epilog="Example: discreet programme results --ledger budget.ledger")(programme)


@app.command(epilog="Example: discreet consistent results --statistic count")
def consistent(
    folder: FolderArgument,
    statistic: Annotated[
        str | None, typer.Option(metavar="NAME", help="The count, share, histogram or table to use.")
    ] = None,
    *,
    formulas: Formulas = "escape",
    as_json: AsJson = False,
) -> None:
    """Write consistent.csv: counts as non-negative integers that add up to what is public. Biased; for readers only."""
    from discreet.cli.looking import consistent_folder

    with exits():
        write(consistent_folder(require_path(folder, "consistent"), statistic, formulas), as_json=as_json)


@app.command(epilog="Example: discreet verify results")
def verify(folder: FolderArgument, *, as_json: AsJson = False) -> None:
    """Recompute agreeing tables and their intervals from the measured integers of each release.json in DIR."""
    from discreet.cli.looking import verify_folder

    with exits():
        write(verify_folder(require_path(folder, "verify")), as_json=as_json)


app.command(epilog="Example: discreet export results --to xlsx --out income.xlsx")(export)


app.command(epilog="Example: discreet rows results/tables --out rows.parquet")(rows)
app.command("choose-bound", epilog='Example: discreet choose-bound plan.toml results/habits --release "by shop"')(
    choose_bound
)
app.command("choose-clamp", epilog="Example: discreet choose-clamp results --spend 0.4")(choose_clamp)
app.command(epilog="Example: discreet convert --rho 0.213 --delta 1e-10")(convert)
app.command(epilog="Example: discreet effective --rho 0.213 --delta 1e-10 --invariant totals")(effective)
