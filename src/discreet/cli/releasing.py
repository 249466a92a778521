"""`discreet release` and `discreet report`: the commands that spend and write.

Whatever can be refused is refused before the reservation, down to a folder that cannot be written. After it every way
out says that the charge stands, with exit code 4 unless all is done.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from discreet.cli.exits import FAILED, leave
from discreet.cli.output import busy
from discreet.cli.planning import Standing, opened, standing
from discreet.errors import ArgumentError, LedgerError, ReleaseFailed
from discreet.planfile import PlanFile, load_plan
from discreet.release import Release
from discreet.spend import Order, amount_text, checked_name
from discreet.views import consistent

__all__ = ["consistent_folder", "folders_for", "release_plan", "renamed", "report_folder"]

_FILES = "release.json, table.csv, table.parquet, report.html"


def release_plan(path: Path, out: Path, name: str | None) -> None:
    """The releases of a plan are charged, or found in the ledger, and written; a summary is on stdout.

    Raises:
        DiscreetError: refused; nothing was spent.
        typer.Exit: 4, something failed after the charge.
    """
    plan = load_plan(path)
    plan = plan if name is None else replace(plan, orders=renamed(plan.orders, name))
    folders = folders_for(plan.orders, out)
    for order, folder in zip(plan.orders, folders, strict=True):
        _check_folder(folder, plan.dataset, order.name)
    with opened(plan) as session:
        before = standing(plan)
        try:
            with busy(f"releasing {', '.join(order.name for order in plan.orders)}"):
                answers = session.release_all(plan.orders)
                problems = [_written(answer, folder) for answer, folder in zip(answers, folders, strict=True)]
            for answer, folder, problem in zip(answers, folders, problems, strict=True):
                if isinstance(answer, Release) and not problem:
                    typer.echo(_summary(answer, folder, before))
            typer.echo(f"remaining: {amount_text(session.remaining)} of {amount_text(plan.budget)}")
        except BaseException as stop:
            charged = _charged(plan, before)
            if not charged:
                raise
            word = "interrupted" if isinstance(stop, KeyboardInterrupt) else "failed"
            leave(f"{word} after {_quoted(charged)} was charged; the charge stands and the ledger says so", FAILED)
    failed = [f"'{order.name}': {problem}" for order, problem in zip(plan.orders, problems, strict=True) if problem]
    if failed:
        leave("\n".join(failed), FAILED)


def report_folder(folder: Path) -> None:
    """report.html stands beside the release.json in `folder`, or beside each one in its sub-folders.

    Raises:
        ArgumentError: no release there, or a folder that cannot be written.
    """
    from discreet.report import write_report

    for place in _release_folders(folder, "report"):
        typer.echo(write_report(Release.load(place), place / "report.html"))


def consistent_folder(folder: Path, statistic: str | None) -> None:
    """consistent.csv and consistent.parquet stand beside the release.json in `folder`, or beside each in its sub-folders.

    Raises:
        ArgumentError: no release there, no such numbers in it, or a folder that cannot be written.
    """
    for place in _release_folders(folder, "consistent"):
        table = consistent(Release.load(place), statistic)
        try:
            table.write_csv(place / "consistent.csv")
            table.write_parquet(place / "consistent.parquet")
        except OSError as wrong:
            raise ArgumentError(f"consistent '{place}': cannot be written ({wrong.strerror}); copy it elsewhere") from None
        typer.echo(place / "consistent.csv")


def _release_folders(folder: Path, command: str) -> list[Path]:
    found = [folder] if (folder / "release.json").exists() else sorted(path.parent for path in folder.glob("*/release.json"))
    if not found:
        raise ArgumentError(f"{command} '{folder}': no release.json there; give the folder that `discreet release` wrote")
    return found


def renamed(orders: Sequence[Order], name: str) -> tuple[Order, ...]:
    """The orders of a repeated run: a single one is called `name`, several "name: their own name".

    Raises:
        ArgumentError: a name that no release can have.
    """
    if len(orders) == 1:
        return (replace(orders[0], name=checked_name(name, "--as")),)
    return tuple(replace(order, name=checked_name(f"{name}: {order.name}", "--as")) for order in orders)


def folders_for(orders: Sequence[Order], out: Path) -> list[Path]:
    """Where the results go: `out` itself for a single release, a folder each inside `out` for several."""
    if len(orders) == 1:
        return [out]
    taken: list[str] = []
    for order in orders:
        slug, number = _slug(order.name), 1
        candidate = slug
        while candidate in taken:
            number += 1
            candidate = f"{slug}-{number}"
        taken.append(candidate)
    return [out / name for name in taken]


def _slug(name: str) -> str:
    """Small letters, digits and dashes: a name that every file system takes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "release"


def _check_folder(folder: Path, dataset: str, name: str) -> None:
    """`folder` can be written, as far as can be told without writing, and holds no other release."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists() or path.is_symlink())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ArgumentError(
            f"--out: '{folder}' cannot be written, because '{existing}' is no folder that can be; choose another"
        )
    if not (folder / "release.json").exists():
        return
    try:
        there = Release.load(folder)
        same = (there.dataset, there.name) == (dataset, name)
    except (ArgumentError, KeyError):
        same = False
    if not same:
        raise ArgumentError(f"--out: '{folder}' holds another release, which is not overwritten; choose another folder")


def _written(answer: Release | ReleaseFailed, folder: Path) -> str:
    """What went wrong with a release, empty when its files stand in `folder`."""
    if isinstance(answer, ReleaseFailed):
        return str(answer)
    try:
        from discreet.report import write_report

        answer.save(folder)
        write_report(answer, folder / "report.html")
    except Exception as error:  # noqa: BLE001 (whatever it is, the charge stands, and the ledger has the release)
        return (
            f"was charged, but could not be written to '{folder}' ({type(error).__name__}). The ledger has it: "
            "run the same command with another --out, at no charge"
        )
    return ""


def _charged(plan: PlanFile, before: Standing) -> list[str]:
    """The releases of the plan that were reserved since `before`; all of them when the ledger cannot tell."""
    try:
        reserved = standing(plan).reserved
    except LedgerError:
        return [order.name for order in plan.orders]
    return [order.name for order in plan.orders if order.name in reserved and reserved[order.name].sequence > before.head]


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _summary(release: Release, folder: Path, before: Standing) -> str:
    sequence = release.document["ledger"]["sequence"]
    measure = amount_text(release.guarantee.measure)
    charged = f"charged {measure}" if sequence > before.head else f"given back from the ledger ({measure}), no new charge"
    return f"{release.name}: {charged}\n  {release.guarantee}\n  in {folder}: {_FILES}"
