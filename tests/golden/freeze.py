"""What 0.1.0 gives for some ninety requests, written down: `python -m tests.golden.freeze` writes it anew.

Every request is quoted and released from the same bits, in every measure, under both relations, with and without exact
totals. `frozen/README.md` says which files may ever be written anew, and when.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MemberDescriptorType, ModuleType
from typing import Any

from typer.testing import CliRunner

import discreet as dp
from discreet import audit, datasets, invariants, ledger, noise, privacy
from discreet.audit.engines import conformance
from discreet.cli import app
from discreet.engines import reference
from discreet.exact.canonical import canonical
from discreet.ledger import Ledger, entry_body
from discreet.noise.bits import Bits
from discreet.pages import planner, report
from discreet.plan.plan import plan_json
from discreet.plan.table import Grouped
from discreet.quotes.quote import Quote
from discreet.releases.document import RowEstimate
from discreet.releases.publish import details_json
from discreet.session.session import Order

from .frozen_cases import PAGES, SCHEMA, Case, cases, rows_of_people

FOLDER = Path(__file__).resolve().parent / "frozen"


# The fixed bits ---------------------------------------------------------------------------------------------------------


def fixed_bits(seed: str) -> Bits:
    """One stream of bytes for each seed, however it is cut into requests. Only here: the library has no seed."""
    left, block = b"", 0

    def read(count: int) -> bytes:
        nonlocal left, block
        while len(left) < count:
            left += hashlib.shake_256(f"{seed}/{block}".encode()).digest(1 << 16)
            block += 1
        drawn, left = left[:count], left[count:]
        return drawn

    return Bits(read)


def seeded(session: dp.Session, seed: str) -> dp.Session:
    """The session, whose releases draw from fixed bits: the one place that knows where a session has its source."""
    if not hasattr(session, "_bits"):
        raise AttributeError("a session keeps its source of bits elsewhere now: change this line, not what is frozen")
    session._bits = lambda: fixed_bits(seed)
    return session


def session_of(name: str, case: Case, file: Path) -> dp.Session:
    """The session in which a case is released."""
    opened = dp.Session(
        case.rows,
        SCHEMA,
        dataset=name,
        ledger=file,
        budget=case.budget,
        neighbours=case.relation,
        invariants=case.invariants,
    )
    return seeded(opened, name)


# What is kept of it -----------------------------------------------------------------------------------------------------


def rounded(value: Any) -> Any:
    """Floats to twelve digits, so that another machine's logarithms change nothing."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def document_text(payload: bytes) -> str:
    """A release document as canonical JSON without time, library version, digest, and the nonce that heads hold."""
    document = json.loads(payload)
    if canonical(document).encode() != payload:
        raise AssertionError("a release document is not canonical JSON")
    del document["time"], document["library"], document["digest"], document["ledger"]["head"]
    return canonical(rounded(document))


def entries_of(file: Path, dataset: str) -> list[str]:
    """The bodies of a data set's entries, without time, user, nonce, lock and digests of documents with versions."""
    with Ledger.open(file) as opened:
        bodies = [json.loads(entry_body(entry)) for entry in opened.entries(dataset)]
    for body in bodies:
        for key in ("time", "user", "nonce", "payload_digest", "holder"):
            body.pop(key, None)
    return [canonical(body) for body in bodies]


def quote_record(quote: Quote) -> dict[str, Any]:
    """Everything exact about a quote."""
    return {
        "spend": privacy.to_json(quote.spend),
        "advertised": privacy.to_json(quote.advertised),
        "charge": [str(value) for value in privacy.coordinates(quote.spend)],
        "group": quote.group,
        "joint": str(quote.joint),
        "shares": [str(one.share) for one in quote.measured],
        "guarantees": [privacy.to_json(one.guarantee) for one in quote.measured],
        "expected": rounded([list(pair) for pair in quote.expected]),
        "details": details_json(quote),
    }


def plan_record(plan: dp.Plan) -> dict[str, str]:
    """Digest and canonical JSON."""
    return {"digest": plan.digest, "json": canonical(plan_json(plan))}


def case_record(name: str, case: Case, folder: Path) -> dict[str, Any]:
    """What every kind of file keeps of a case, by kind."""
    file = folder / f"{name}.db"
    with session_of(name, case, file) as session:
        # Beside exact totals the first quote speaks of all totals that there could be.
        before = session.quote(case.request, spend=case.spend) if case.invariants else None
        release = session.release(case.request, spend=case.spend, name="r")
        quote = session.quote(case.request, spend=case.spend)
        left = [str(value) for value in privacy.coordinates(session.remaining)]
    texts = [*str(before or "").splitlines(), *str(quote).splitlines()]
    return {
        "plans": plan_record(quote.plan),
        "quotes": {**quote_record(quote), "remaining": left},
        "documents": document_text(release.payload),
        "ledgers": entries_of(file, name),
        "quote_texts": [*texts, str(release.guarantee)],
        **({"pages": page_digest(release)} if name in PAGES else {}),
    }


@contextlib.contextmanager
def no_pictures() -> Iterator[None]:
    """As if the extra that draws were not installed."""
    before = sys.modules.get("vl_convert")
    sys.modules["vl_convert"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["vl_convert"]
        if before is not None:
            sys.modules["vl_convert"] = before


def page_digest(release: dp.Release) -> str:
    """Of the report without pictures, its date, versions and digests."""
    with no_pictures():
        plain = report.render(release).replace(dp.__version__, "VERSION")
    plain = re.sub(r"<dt>Made \(UTC\)</dt><dd>[^<]*</dd>\n", "", plain)
    # The pages that are frozen were made on this day; a page of any other day is compared as if it were of this one.
    plain = re.sub(r"(<dt>Made on</dt><dd><bdi>)[^<]*", r"\g<1>23 November 2026", plain)
    plain = re.sub(r"[0-9a-f]{64}|[0-9a-f]{12}(?=[^0-9a-f])", "DIGEST", plain)
    return hashlib.sha256(plain.encode()).hexdigest()


# Public names -----------------------------------------------------------------------------------------------------------

SPACES: Mapping[str, ModuleType] = {
    "discreet": dp,
    "audit": audit,
    "datasets": datasets,
    "invariants": invariants,
    "ledger": ledger,
    "noise": noise,
    "planner": planner,
    "privacy": privacy,
    "report": report,
    "amplify": privacy.amplify,
    "calibrate": privacy.calibrate,
    "compose": privacy.compose,
    "convert": privacy.convert,
    "profile": privacy.profile,
}
SINGLE = (
    RowEstimate,
    Order,
    Quote,
    Grouped,
    Ledger,
    conformance.check_engine,
    conformance.check_junk,
    reference.ReferenceEngine,
)


def signatures() -> dict[str, list[str]]:
    """Public names by the space that the reference shows them in, each with its parameters, and those of its methods."""
    found: dict[str, list[str]] = {}
    for space, module in SPACES.items():
        for name in module.__all__:
            _describe(f"{space}.{name}", getattr(module, name), found)
    for one in SINGLE:
        _describe(one.__name__, one, found)
    return found


def _describe(name: str, value: Any, found: dict[str, list[str]]) -> None:
    found[name] = _call(value)
    for member, inner in _members(value).items() if inspect.isclass(value) else ():
        if not member.startswith("_"):
            plain = inner.__func__ if isinstance(inner, staticmethod | classmethod) else inner
            found[f"{name}.{member}"] = ["field"] if isinstance(plain, property | MemberDescriptorType) else _call(plain)


def _members(kind: type) -> dict[str, Any]:
    """Its own and those that it has from other classes of this library."""
    own = [vars(one) for one in reversed(kind.__mro__) if one.__module__.startswith("discreet")]
    return {name: member for members in own for name, member in members.items()}


def _call(value: Any) -> list[str]:
    """What it is, and its parameters with their kinds and whether they can be left out; annotations are for readers."""
    what = "module" if inspect.ismodule(value) else "class" if inspect.isclass(value) else "function"
    try:
        parameters = inspect.signature(value).parameters.values() if callable(value) else ()
    except (TypeError, ValueError):  # of a class without its own
        return [what]
    if not callable(value) and what == "function":
        return ["value"]
    return [what, *(f"{one.kind.name.lower()} {one.name}{'' if one.default is one.empty else ' ='}" for one in parameters)]


OPTIONAL = {f"discreet.{name}": "positional_or_keyword edges" for name in ("bins", "histogram")}
OPTIONAL |= {f"{room}.ZCDP": "positional_or_keyword rho" for room in ("discreet", "privacy")}
OPTIONAL |= {f"{room}.GDP": "positional_or_keyword mu" for room in ("discreet", "privacy")}
OPTIONAL |= {"discreet.ReplaceOne": "positional_or_keyword rows"}  # pickles make one without arguments; nobody else can
"""A parameter that 0.1.0 asked for and that may be left out today, on purpose."""


def still_called(was: list[str], now: list[str] | None) -> bool:
    """Whether every call that was right is right: new parameters can be left out and stand where no old one is moved."""
    if now is None or was[:1] != now[:1]:
        return False
    positional = [one for one in now if one in was or not one.endswith(" =")]
    by_place = [one for one in now if "positional" in one]
    return positional == was and by_place[: sum("positional" in one for one in was)] == [o for o in was if "positional" in o]


# The command line -------------------------------------------------------------------------------------------------------

COMMANDS = (FOLDER / "commands.txt").read_text(encoding="utf-8").splitlines()
"""In this order, in one folder; `broken.toml` has a source of bits that gives none."""


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """Commands run in `folder`, on plans of 0.1.0, and draw from fixed bits."""
    for file in (FOLDER / "plans").iterdir():
        shutil.copy(file, folder)
    rows_of_people().write_csv(folder / "people.csv")
    before, init = Path.cwd(), dp.Session.__init__

    def seeded_init(session: dp.Session, *given: Any, **named: Any) -> None:
        init(session, *given, **named)
        seeded(session, named["dataset"])
        if named["dataset"] == "broken":
            session._bits = broken_bits

    dp.Session.__init__ = seeded_init  # type: ignore[method-assign]
    os.chdir(folder)
    try:
        with no_pictures():
            yield
    finally:
        os.chdir(before)
        dp.Session.__init__ = init  # type: ignore[method-assign]


def broken_bits() -> Bits:
    """A source that fails after the charge."""

    def read(_: int) -> bytes:
        raise OSError("no bits")

    return Bits(read)


def command_records(folder: Path) -> dict[str, dict[str, Any]]:
    """Exit code and lines of each command."""
    found: dict[str, dict[str, Any]] = {}
    with in_folder(folder):
        for place, command in enumerate(COMMANDS):
            with contextlib.redirect_stderr(io.StringIO()):
                done = CliRunner().invoke(app, command.split(), env={"COLUMNS": "160", "NO_COLOR": "1"})
            told = {"out": plain_lines(done.stdout, folder), "err": plain_lines(done.stderr, folder)}
            if done.exception is not None and not isinstance(done.exception, SystemExit):
                raise done.exception
            found[f"{place:02} {command}"] = {"exit": done.exit_code, **told}
    return found


def plain_lines(text: str, folder: Path) -> list[str]:
    """Lines without the folder, versions, times, users, and digests, of which some hold these; numbers to ten digits."""
    text = text.replace(str(folder), "FOLDER").replace(dp.__version__, "VERSION")
    text = re.sub(r"[0-9a-f]{64}", "DIGEST", text)
    text = re.sub(r'"(time|user|nonce|head)": "[^"]*"', r'"\1": ""', text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*", "TIME", text)
    text = re.sub(r"\d+\.\d{10,}(e-?\d+)?", lambda found: f"{float(found[0]):.10g}", text)
    usage = text.startswith("Usage:")  # the words of the library that reads options
    return [] if usage else [line.rstrip() for line in text.splitlines()]


def planner_digests(folder: Path) -> dict[str, str]:
    """The document of the planner's page, part by part, for each plan file."""
    from discreet.cli.planning import planner_page

    found = {}
    with in_folder(folder):
        for name in ("totals", "over", "broken"):
            planner_page(Path(f"{name}.toml"), Path("planner.html"))
            page = Path("planner.html").read_text(encoding="utf-8")
            (data,) = re.findall(r"<script[^>]*application/json[^>]*>(.*?)</script>", page, flags=re.DOTALL)
            for key, value in json.loads(data).items():
                shown = json.dumps(coarse(value), sort_keys=True).encode()
                found[f"{name}.{key}"] = hashlib.sha256(shown).hexdigest()
    return found


def coarse(value: Any) -> Any:
    """Floats to six digits: the page has some thousand of them, from logarithms of this machine."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return {key: coarse(one) for key, one in value.items()}
    return [coarse(one) for one in value] if isinstance(value, list) else value


# The files --------------------------------------------------------------------------------------------------------------

NEVER = ("plans", "quotes", "documents", "ledgers", "names", "exits")
TEXTS = ("quote_texts", "commands", "pages", "planner")


def path_of(kind: str) -> Path:
    return FOLDER / ("never" if kind in NEVER else "texts") / f"{kind}.json"


def kept(kind: str) -> dict[str, Any]:
    """What is frozen of one kind."""
    found: dict[str, Any] = json.loads(path_of(kind).read_text(encoding="utf-8"))
    return found


def everything(folder: Path) -> dict[str, dict[str, Any]]:
    """All kinds, as this version has them."""
    found: dict[str, dict[str, Any]] = {kind: {} for kind in (*NEVER, *TEXTS)}
    for name, case in cases().items():
        for kind, value in case_record(name, case, folder).items():
            found[kind][name] = value
    (folder / "commands").mkdir()
    for command, told in command_records(folder / "commands").items():
        found["exits"][command] = told.pop("exit")
        found["commands"][command] = told
    found["names"] = signatures()
    (folder / "planner").mkdir()
    found["planner"] = planner_digests(folder / "planner")
    return found


def main() -> None:
    """Texts are written anew; with `--all` everything else too."""
    with tempfile.TemporaryDirectory() as folder:
        found = everything(Path(folder).resolve())
    for kind in (*NEVER, *TEXTS) if "--all" in sys.argv else TEXTS:
        path_of(kind).parent.mkdir(parents=True, exist_ok=True)
        path_of(kind).write_text(json.dumps(found[kind], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path_of(kind).relative_to(FOLDER)}: {len(found[kind])}")


if __name__ == "__main__":
    main()
