"""`discreet release` and `discreet ledger extract`: the commands that spend and write.

Whatever can be refused is refused before the reservation, down to a folder that cannot be written. After it every way
out says that the charge stands, with exit code 4 unless everything is done.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from discreet.cli.exits import FAILED, leave
from discreet.cli.numbers import MOST_ROWS, number_grid
from discreet.cli.output import Answer, Grid, Spinner, write
from discreet.cli.planning import open_session
from discreet.cli.standings import Standing, standing
from discreet.domain.about import About
from discreet.engines import Limits
from discreet.errors import ArgumentError, DiscreetError, LedgerError, ReleaseFailed, SourceError
from discreet.exact.given_paths import require_writable
from discreet.exact.names import one_form
from discreet.pages.report.drawing import Artist
from discreet.plan.sizes import is_large
from discreet.planfile.read import PlanFile, load_plan
from discreet.privacy import Budget, to_json
from discreet.privacy.amounts import amount_text
from discreet.releases.document import Release
from discreet.releases.files import TABLE
from discreet.releases.frames import check_formulas, frame_of, further_frames
from discreet.releases.guarantee import guarantee_json
from discreet.releases.labelled import fitting
from discreet.releases.worded import QUALITY
from discreet.session.folders import document_in
from discreet.session.orders import Order, check_name

__all__ = [
    "extract_release",
    "folders_for",
    "release_plan",
    "rename_orders",
]

_FILES = "release.json, table.csv, table.parquet, report.html"
_LARGE_FILES = "release.json, the folder table, report.html"
_STAGES = {"snapshot": "checking whether the source has changed", "count": "counting", "draw": "drawing noise, writing"}


def release_plan(
    path: Path,
    out: Path,
    name: str | None,
    limits: Limits,
    artist: Artist,
    *,
    again: bool,
    given: Mapping[str, str] | None = None,
    formulas: str,
    as_json: bool,
) -> None:
    """Charges the releases of a plan, or finds them in the ledger, and writes them, with a summary on stdout.

    Raises:
        DiscreetError: refused; nothing was spent.
        typer.Exit: 4, something failed after the charge.
    """
    check_formulas(formulas)
    plan = load_plan(path, given)
    plan = plan if name is None else replace(plan, orders=rename_orders(plan.orders, name))
    plan = replace(plan, orders=tuple(replace(order, again=again) for order in plan.orders))
    folders = folders_for(plan.orders, out)
    plan = replace(plan, orders=tuple(_to(order, folder) for order, folder in zip(plan.orders, folders, strict=True)))
    for order, folder in zip(plan.orders, folders, strict=True):
        _check_folder(folder, plan.dataset, order.name)
    _rehearse()
    spinner = Spinner(f"releasing {', '.join(order.name for order in plan.orders)}")
    before: Standing | None = None
    try:
        with open_session(plan, limits, lambda stage: spinner.tell(_STAGES[stage])) as session:
            before = standing(plan)
            with spinner:
                answers = [*map(_apply_words, session.release_all(plan.orders), plan.orders)]
                problems = [
                    _write_release(answer, folder, artist, formulas) for answer, folder in zip(answers, folders, strict=True)
                ]
            done = [
                (answer, folder)
                for answer, folder, problem in zip(answers, folders, problems, strict=True)
                if isinstance(answer, Release) and not problem
            ]
            unshown = _try_to_show(_summarise(done, before, session.remaining, plan.budget), as_json=as_json)
    except BaseException as stop:
        said = "" if before is None else _after(plan, before, stop)
        if not said:
            if type(stop) is SourceError and (hint := _extraction(plan)):
                raise SourceError(f"{stop}{hint}") from None
            raise
        leave(said, FAILED)
    failed = [f"'{order.name}': {problem}" for order, problem in zip(plan.orders, problems, strict=True) if problem]
    failed += [f"{_quote_names([answer.name for answer, _ in done])}: {unshown}"] if unshown and done else []
    if failed:
        leave("\n".join(failed), FAILED)


def extract_release(file: Path, dataset: str, name: str, out: Path, artist: Artist, *, formulas: str) -> Answer:
    """Writes a release of a ledger to `out`, as `discreet release` wrote it: no source and no plan is needed.

    Raises:
        LedgerError: no such ledger, data set or committed release; or the ledger is damaged.
        ArgumentError: a folder that cannot be written or holds another release.
    """
    from discreet.pages.report import write_report
    from discreet.session.extracting import extract

    check_formulas(formulas)
    release = extract(file, dataset=dataset, name=name, to=out)
    _check_folder(out, one_form(release.dataset), one_form(release.name))
    release.save(out, formulas=formulas)
    write_report(release, out / "report.html", artist)
    files = [*_files_in(out), *(part.file for part in release.files)]
    lines = [f"{release.name}: the stored release; no charge", f"  {release.guarantee}", f"  in {out}: {', '.join(files)}"]
    facts = {"name": release.name, "folder": str(out), "files": files, "digest": release.digest}
    return Answer(lines, facts)


def _rehearse() -> None:
    """Loads Polars with its threads and memory. Where the system refuses them, Polars ends the process before the charge."""
    import polars as pl

    frame = pl.DataFrame({"a": range(10**5)})
    frame.write_csv(BytesIO())
    frame.write_parquet(BytesIO())


def rename_orders(orders: Sequence[Order], name: str) -> tuple[Order, ...]:
    """The orders of a repeated run: a single one is called `name`, several "name: their own name".

    Raises:
        ArgumentError: `name` is not a valid name of a release.
    """
    called = {order.name: name if len(orders) == 1 else f"{name}: {order.name}" for order in orders}
    names = {old: check_name(new, "--as") for old, new in called.items()}
    return tuple(
        replace(order, name=names[order.name], derive=tuple(one.renamed(names) for one in order.derive)) for order in orders
    )


def folders_for(orders: Sequence[Order], out: Path) -> list[Path]:
    """The folders of the results: `out` itself for a single release; for several, one folder each inside `out`."""
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


def _to(order: Order, folder: Path) -> Order:
    """The order with the folder for its files, which a large release needs before it is computed."""
    return replace(order, to=folder) if is_large(order.request) else order


def _slug(name: str) -> str:
    """Small letters, digits and dashes: a name that every file system takes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60].strip("-") or "release"


def _check_folder(folder: Path, dataset: str, name: str) -> None:
    """Checks, by writing, that `folder` is writable and holds neither another release nor a folder in a file's place."""
    require_writable(folder, "--out")
    for file in _FILES.split(", "):
        place = folder / file
        if place.is_dir() and not place.is_symlink():
            raise ArgumentError(
                f"--out: '{place}' is a folder where a file must be written; move it, or choose another folder"
            )
    there = document_in(folder, "--out")
    if there is not None and (one_form(there.dataset), one_form(there.name)) != (dataset, name):
        raise ArgumentError(f"--out: '{folder}' holds another release, which is not overwritten; choose another folder")


def _write_release(answer: Release | ReleaseFailed, folder: Path, artist: Artist, formulas: str) -> str:
    """The message on a release that failed; empty when its files are in `folder`."""
    if isinstance(answer, ReleaseFailed):
        return str(answer)
    try:
        from discreet.pages.report import write_report

        answer.save(folder, formulas=formulas)
        write_report(answer, folder / "report.html", artist)
    except Exception as error:  # noqa: BLE001 (whatever it is, the charge stands, and the ledger has the release)
        again = "the same command again" if answer.files else "the same command with another --out"
        return (
            f"was charged, but could not be written to '{folder}' ({type(error).__name__}). The ledger has it: "
            f"run {again}, at no charge"
        )
    return ""


def _apply_words(answer: Release | ReleaseFailed, order: Order) -> Release | ReleaseFailed:
    """The release in the words of the plan, which may have been mended since a stored one was made."""
    if isinstance(answer, ReleaseFailed) or not order.about:
        return answer
    about = order.about if isinstance(order.about, About) else order.about[0]
    return answer.labelled(fitting(answer.document, about))  # the plan's words are for all of its releases


def _try_to_show(answer: Answer, *, as_json: bool) -> str:
    """The message on a failed summary; empty when it is on stdout. A closed pipe or a full disk does not undo a release."""
    try:
        write(answer, as_json=as_json)
    except OSError as error:
        return (
            f"was charged and written to its folder; only this summary could not be printed ({type(error).__name__}). "
            "`discreet ledger show` has the charge"
        )
    return ""


def _files_in(folder: Path) -> list[str]:
    return [path.name for path in sorted(folder.iterdir()) if path.is_file()]


def _after(plan: PlanFile, before: Standing, stop: BaseException) -> str:
    """The message on a command that `stop` has ended; empty when nothing was charged."""
    word = "interrupted" if isinstance(stop, KeyboardInterrupt) else "failed"
    try:
        now = standing(plan)
    except (LedgerError, OSError, KeyboardInterrupt):
        why = f" ({stop})" if isinstance(stop, DiscreetError) else ""
        asked = _quote_names([order.name for order in plan.orders])
        return (
            f"{word}{why}: {asked} may have been charged, and the ledger cannot be read just now. "
            "Once it can be read, `discreet ledger show` lists the charges; every charge that it lists stands"
        )
    became = {
        order.name: now.became[now.reserved[order.name].sequence] for order in plan.orders if order.name in now.reserved
    }
    charged = [name for name, found in became.items() if found.sequence > before.head]
    touched = [name for name, found in became.items() if found != before.became.get(found.sequence)]
    if not touched:
        return ""
    said = f"{word} while {_quote_names(touched)} was being finished"
    if charged:
        were = "was charged; the charge stands" if len(charged) == 1 else "were charged; the charges stand"
        it = "it" if len(charged) == 1 else "them"
        said = f"{word} after {_quote_names(charged)} {were} and the ledger records {it}"
    open_ = [name for name in touched if became[name].resumable]
    lost = [name for name in touched if became[name].state in {"drawing", "failed"}]
    said += f". The same command finishes {_quote_names(open_)} at no further charge" if open_ else ""
    return said + (f". {_quote_names(lost)} can only be made with a new charge: add --again" if lost else "")


def _extraction(plan: PlanFile) -> str:
    """The next step where the source is gone and the ledger has releases of the plan."""
    try:
        names = standing(plan).given_back
    except (LedgerError, OSError):
        return ""
    if not names:
        return ""
    return (
        f". The ledger has {_quote_names(sorted(names))}: `discreet ledger extract {shlex.quote(str(plan.ledger))} "
        f"--dataset {shlex.quote(plan.dataset)} --release NAME --out DIR` writes a release without its source"
    )


def _quote_names(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _further_tables(release: Release) -> list[str | Grid]:
    """The first rows of each further histogram and table, below the name of its files."""
    lines: list[str | Grid] = []
    for one in further_frames(release.shown(0)) if not release.parts else ():
        frame = frame_of(one["columns"])
        if "count_low" in frame.columns or "derived" in one:
            lines += [f"  {one['name']}.csv:", *number_grid(frame, words=_titles(release, frame.columns))]
    return lines


def _titles(release: Release, columns: Sequence[str]) -> dict[str, str]:
    """The words for columns, where the release has any; classes of quality have a short one."""
    about = release.about
    words = {column: about.column(column).label or about.statistic(column).label for column in columns}
    return {column: "quality" if column.endswith(QUALITY) else words[column] for column in columns}


def _tell_cost(release: Release, before: Standing) -> str:
    """The cost of the release: a charge of this command, or an older one that was finished now or before."""
    number, measure = release.document["ledger"]["sequence"], amount_text(release.guarantee.measure)
    if number > before.head:
        return f"charged {measure}"
    found = before.became.get(number)
    if found is not None and found.state != "committed":
        return f"finished what entry {number} had reserved ({measure}); no further charge"
    return f"the stored release of entry {number} ({measure}); the source was not looked at; no new charge"


def _summarise(done: Sequence[tuple[Release, Path]], before: Standing, remaining: Budget, budget: Budget) -> Answer:
    """The charges, guarantees and files, the first rows of each release, and the remaining budget."""
    lines: list[str | Grid] = []
    facts = []
    for release, folder in done:
        charge, guarantee, parts = release.document["ledger"], release.guarantee, release.parts
        fresh = charge["sequence"] > before.head
        files = _LARGE_FILES if release.files else _FILES
        lines += [f"{release.name}: {_tell_cost(release, before)}", f"  {guarantee}", f"  in {folder}: {files}"]
        table = frame_of(release.shown(MOST_ROWS)["columns"])
        every = sum(part.rows for part in parts) or None
        lines += number_grid(table, height=every, words=_titles(release, table.columns)) if table.width else []
        lines += _further_tables(release)
        lines += [f"  {name}: {rows:,} rows in {folder / TABLE}" for name, rows in release.in_files.items()]
        facts.append(
            {
                "name": release.name,
                "folder": str(folder),
                "files": [*_files_in(folder), *(part.file for part in release.files)],
                "charged": fresh,
                "guarantee": guarantee_json(guarantee),
                "ledger": charge,
                "digest": release.digest,
            }
        )
    lines.append(f"remaining: {amount_text(remaining)} of {amount_text(budget)}")
    return Answer(lines, {"releases": facts, "budget": to_json(budget), "remaining": to_json(remaining)})
