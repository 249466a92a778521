"""Mutation testing of the charge path: how many small defects, planted one at a time, do the tests notice?

    .venv/bin/python scripts/mutate.py record                         which test runs which line (about ten minutes, once)
    .venv/bin/python scripts/mutate.py run --sample 450 --seed 7      plant a random sample of defects, one at a time
    .venv/bin/python scripts/mutate.py run --only survivors           the survivors of the last run again
    .venv/bin/python scripts/mutate.py table                          what happened, as Markdown

A mutant is the package with one small change, written into a private copy that stands first on the path. Only tests that
run the changed line are run, the fastest first, each mutant in a fresh process. It is killed when a test fails, when it
cannot be imported, or when the tests take many times their usual time. A mutant that survives those is tried once more with
all tests that run any line of the changed function. The default suite only: nothing that is marked slow.

Not changed: texts (and so SQL and messages), annotations, `__all__`, decorators, and what only puts a quote into words.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "discreet"
TARGETS = (
    "exact/balls.py",
    "exact/gaussian_sums.py",
    "privacy",
    "ledger",
    "mechanisms",
    "cube/queries",
    "statistics",
    "quotes/allocate.py",
    "quotes/primitives.py",
    "quotes/certainty.py",
    "quotes/quote.py",
    "session/orders.py",
    "session/session.py",
    "releases/evaluate.py",
    "noise/single/exponential.py",
)
TESTS = (
    "tests/unit",
    "tests/laws",
    "tests/golden",
    *(f"tests/hostile/test_ledger_{what}.py" for what in ("damage", "disks", "faults", "kills", "races")),
    *(f"tests/hostile/test_release_{what}.py" for what in ("disks", "faults", "processes")),
)
WORDING = {"__str__", "_choice_text"}
"""Functions of quotes/quote.py that decide nothing."""
FIRST = 30
"""How many tests are tried before all the others: most mutants are killed by these."""
CALLS = 300
"""While recording, calls of one function in one test that are followed line by line."""

CHANGED_ANYWAY = ast.Compare | ast.UnaryOp | ast.BoolOp | ast.Constant
HEAVY = (
    "cryptography.hazmat.primitives.ciphers", "duckdb", "flint", "hypothesis.strategies", "jinja2", "mpmath", "numpy.random",
    "polars", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "sqlite3", "typer.testing",
)  # fmt: skip


# Mutants ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: `old` at this place becomes `new`; `first` to `last` are the lines of the function around it."""

    file: str
    line: int
    column: int
    operator: str
    old: str
    new: str
    start: int
    end: int
    first: int
    last: int

    @property
    def name(self) -> str:
        """Where and what, in one line."""
        return f"{self.file}:{self.line}:{self.column} {self.operator}: {self.old} -> {self.new}"


COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "minimum": "maximum",
         "maximum": "minimum", "lower": "upper", "upper": "lower"}  # fmt: skip


def other_name(name: str) -> str | None:
    """The name that rounds to the other side, or takes the other end."""
    if name in NAMES:
        return NAMES[name]
    for end, other in (("_up", "_down"), ("_down", "_up")):
        if name.endswith(end):
            return name.removesuffix(end) + other
    return None


def swaps(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The operators that apply to an expression: their name and what stands there afterwards."""
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    changed = copy.deepcopy(node)
                    changed.ops[at] = other()
                    yield "comparison", changed
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            yield "arithmetic", ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.UnaryOp(op=ast.USub() | ast.Not() as op, operand=inner):
            yield "minus dropped" if isinstance(op, ast.USub) else "not dropped", inner
        case ast.BoolOp(op=op, values=values):
            yield "and/or", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.Constant(value=bool(value)):
            yield "True/False", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", ast.Constant(value + 1)
            yield "constant", ast.Constant(value - 1)
        case ast.Constant(value=float(value)):
            yield "constant", ast.Constant(2 * value if value else 1.0)
        case ast.Call(func=func) if (other := other_name(getattr(func, "id", getattr(func, "attr", "")))) is not None:
            changed = copy.deepcopy(node)
            setattr(changed.func, "id" if isinstance(func, ast.Name) else "attr", other)
            yield "rounding" if other.endswith(("_up", "_down")) else "other end", changed
        case ast.IfExp(test=test, body=body, orelse=orelse) if not isinstance(test, ast.Compare):
            yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)


def statements(node: ast.stmt, *, last: bool) -> Iterator[tuple[str, ast.AST]]:
    """The operators that apply to a statement; `last` says that it ends its function."""
    match node:
        case ast.Raise():
            yield "raise dropped", ast.Pass()
        case ast.Return() if not last:
            yield "return dropped", ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield "call dropped", ast.Pass()
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in ARITHMETIC:
            yield "arithmetic", ast.AugAssign(target, ARITHMETIC[type(op)](), value)
        case ast.Break():
            yield "break/continue", ast.Continue()
        case ast.Continue():
            yield "break/continue", ast.Break()


def mutants(file: str) -> list[Mutant]:
    """All mutants of one module, in the order of its text."""
    text = (SOURCE / file).read_bytes()
    offsets = [0]
    for line in text.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    found = []
    for node, operator, changed, function in changes(ast.parse(text), None, file=file, last=False):
        start, end = offsets[node.lineno - 1] + node.col_offset, offsets[node.end_lineno - 1] + node.end_col_offset
        old, new = text[start:end].decode(), ast.unparse(ast.fix_missing_locations(changed))
        is_atom = isinstance(changed, ast.Constant | ast.Call | ast.Name) and not new.startswith("-")
        new = f"({new})" if isinstance(node, ast.expr) and not is_atom else new
        around = function or node
        place = (file, node.lineno, node.col_offset, operator, old, new, start, end)
        found.append(Mutant(*place, around.lineno, around.end_lineno))
    return found


def changes(node: Any, function: Any, *, file: str, last: bool) -> Iterator[tuple[Any, str, ast.AST, Any]]:
    """A node, an operator, what stands there afterwards, and the function around it: for `node` and all below."""
    if is_left_alone(node, file):
        return
    function = node if isinstance(node, ast.FunctionDef) else function
    for operator, changed in statements(node, last=last) if isinstance(node, ast.stmt) else swaps(node):
        yield node, operator, changed, function
    if isinstance(node, ast.If | ast.While) and not isinstance(node.test, CHANGED_ANYWAY):
        yield node.test, "condition", ast.UnaryOp(ast.Not(), node.test), function
    for name, value in ast.iter_fields(node):
        if name not in {"annotation", "returns", "decorator_list", "type_params"}:
            children = value if isinstance(value, list) else [value]
            for child in children:
                if isinstance(child, ast.AST):
                    ends = isinstance(node, ast.FunctionDef) and name == "body" and child is children[-1]
                    yield from changes(child, function, file=file, last=ends)


def is_left_alone(node: ast.AST, file: str) -> bool:
    """Whether nothing is changed there: see the first lines of this file."""
    if isinstance(node, ast.FunctionDef):
        return file == "quotes/quote.py" and node.name in WORDING
    if isinstance(node, ast.Assign):
        return any(isinstance(one, ast.Name) and one.id == "__all__" for one in node.targets)
    return isinstance(node, ast.JoinedStr | ast.arg | ast.Import | ast.ImportFrom | ast.MatchValue)


def all_mutants() -> list[Mutant]:
    """All mutants of the charge path."""
    return [one for file in target_files() for one in mutants(file)]


def target_files() -> list[str]:
    """The modules of the charge path, as paths within the package."""
    files: list[Path] = []
    for target in TARGETS:
        place = SOURCE / target
        files += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    return [str(file.relative_to(SOURCE)) for file in files]


def written(one: Mutant) -> bytes:
    """The module with the change; an error of its syntax is an error of this tool."""
    text = (SOURCE / one.file).read_bytes()
    changed = text[: one.start] + one.new.encode() + text[one.end :]
    ast.parse(changed)
    return changed


# Which test runs which line ----------------------------------------------------------------------------------------------


class Recorder:
    """A plugin of pytest that notes for every test its time and the lines of the charge path that it ran."""

    def __init__(self) -> None:
        """Nothing is noted yet."""
        self.files = {str(SOURCE / file): file for file in target_files()}
        self.lines: dict[str, set[int]] = defaultdict(set)
        self.calls: Counter[int] = Counter()
        self.tests: dict[str, dict[str, Any]] = {}
        self.failed: list[str] = []

    def follow(self, frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
        """The global trace function: only calls of the charge path are followed."""
        code = frame.f_code
        file = self.files.get(code.co_filename)
        if file is None:
            return None
        self.calls[id(code)] += 1
        if self.calls[id(code)] > CALLS:
            return None
        ran = self.lines[file]
        ran.add(frame.f_lineno)

        def line(frame: FrameType, _event: str, _argument: object) -> Callable[..., Any]:
            ran.add(frame.f_lineno)
            return line

        return line

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:  # noqa: ARG002
        """One test with its fixtures."""
        self.lines, self.calls = defaultdict(set), Counter()
        started = time.perf_counter()
        threading.settrace(self.follow)
        sys.settrace(self.follow)
        try:
            return (yield)  # type: ignore[return-value]
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            ran = {file: sorted(lines) for file, lines in self.lines.items()}
            self.tests[item.nodeid] = {"seconds": time.perf_counter() - started, "lines": ran}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails without any mutant can kill none."""
        if report.failed:
            self.failed.append(report.nodeid)


def record(place: Path, tests: Sequence[str]) -> None:
    """`place` holds for every test its time and its lines; named tests are added to those that it holds already."""
    recorder = Recorder()
    os.chdir(ROOT)
    pytest.main(["-p", "no:cacheprovider", "-q", *tests], plugins=[recorder])
    for name in recorder.failed:
        recorder.tests.pop(name, None)
    before = json.loads(place.read_text(encoding="utf-8")) if place.exists() and tests is not TESTS else {}
    place.write_text(json.dumps({**before, **recorder.tests}), encoding="utf-8")
    print(f"{len(recorder.tests)} tests recorded, {len(recorder.failed)} failed and are left out: {recorder.failed}")


@dataclass(frozen=True, slots=True)
class Coverage:
    """The tests of each line, and the time of each test."""

    seconds: dict[str, float]
    lines: dict[tuple[str, int], set[str]]
    modules: dict[str, set[str]]

    def of_line(self, one: Mutant) -> set[str]:
        """The tests that run the changed line; where it is run at import only, all tests that run the module."""
        found = self.lines.get((one.file, one.line), set())
        return found or self.of_function(one)

    def of_function(self, one: Mutant) -> set[str]:
        """The tests that run any line of the function around the change."""
        found: set[str] = set()
        for line in range(one.first, one.last + 1):
            found |= self.lines.get((one.file, line), set())
        return found or self.modules.get(one.file, set())

    def ordered(self, names: set[str]) -> list[str]:
        """The fastest first."""
        return sorted(names, key=lambda name: (self.seconds[name], name))


def coverage(place: Path) -> Coverage:
    """What was recorded."""
    tests = json.loads(place.read_text(encoding="utf-8"))
    lines: dict[tuple[str, int], set[str]] = defaultdict(set)
    modules: dict[str, set[str]] = defaultdict(set)
    for name, test in tests.items():
        for file, ran in test["lines"].items():
            modules[file].add(name)
            for line in ran:
                lines[file, line].add(name)
    return Coverage({name: test["seconds"] for name, test in tests.items()}, dict(lines), dict(modules))


# Running -----------------------------------------------------------------------------------------------------------------


class Chosen:
    """A plugin of pytest: only the tests of these names, in this order; remembers what failed."""

    def __init__(self, names: Sequence[str]) -> None:
        """No test was run yet."""
        self.position = {name: at for at, name in enumerate(names)}
        self.killer = ""
        self.ran = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The others are left out."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.position), key=lambda item: self.position[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The first failure is the killer."""
        self.ran += report.when == "call"
        if report.failed and not self.killer:
            self.killer = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A mutant that cannot be imported is killed."""
        if report.failed and not self.killer:
            self.killer = f"import of {report.nodeid}"


def import_heavy_modules() -> None:
    """What every test imports, but nothing of the package: done once, before the processes are forked."""
    for name in HEAVY:
        import_module(name)
    unwanted = [name for name in sys.modules if name.split(".")[0] == "discreet"]
    if unwanted:
        raise RuntimeError("the package is imported before it is changed")


def run_tests(names: Sequence[str], package: Path, seconds: float) -> str:
    """What killed the mutant in `package`, or nothing: the tests are run in a child of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _child(names, package, writing)
    os.close(writing)
    deadline, status = time.monotonic() + seconds, None
    try:
        while status is None and time.monotonic() < deadline:
            done, ended = os.waitpid(child, os.WNOHANG)
            status = ended if done else None
            time.sleep(0.02)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(
                child, signal.SIGKILL
            )  # the child and whatever its tests left behind: they have a session of their own
        if status is None:
            os.waitpid(child, 0)
    told = os.read(reading, 4096).decode() if status is not None else "=time"
    os.close(reading)
    return told[1:] if told else f"death of the process ({status})"


def _child(names: Sequence[str], package: Path, writing: int) -> None:
    """Does not return: runs the tests against `package` and writes the killer into the pipe."""
    scratch = package.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    os.environ.update(PYTHONPATH=str(package.parent), PYTHONDONTWRITEBYTECODE="1", TMPDIR=str(scratch))
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    sys.path[:] = [str(package.parent), *(place for place in sys.path if place != str(ROOT / "src"))]
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.chdir(ROOT)
    chosen = Chosen(names)
    files = sorted({name.split("::")[0] for name in names})
    arguments = ["-p", "no:cacheprovider", "-x", "-q", "--tb=no", "--no-header", "--no-summary"]
    arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning", *files]  # hypothesis is imported already
    code = pytest.main(arguments, plugins=[chosen])
    import discreet

    if not str(Path(discreet.__file__)).startswith(str(package)):
        chosen.killer = "ERROR: the wrong package was tested"
    if not chosen.killer and int(code) != 0:
        chosen.killer = f"pytest ended with {int(code)} after {chosen.ran} tests"
    os.write(writing, ("=" + chosen.killer).encode()[:4000])
    os._exit(0)


def outcome(one: Mutant, known: Coverage, package: Path, most: float) -> dict[str, Any]:
    """What became of a mutant: killed by what, after how many seconds; an empty killer is a survivor."""
    started = time.monotonic()
    place = package / one.file
    compiled = list((place.parent / "__pycache__").glob(f"{place.stem}.*.pyc"))
    for file in compiled:
        file.unlink()  # a stale one has the same time and size as the mutant
    place.write_bytes(written(one))
    exact, around = known.of_line(one), known.of_function(one)
    ordered = known.ordered(exact)
    killer, tried = "", 0
    try:
        for names in (
            ordered[:FIRST],
            within(ordered[FIRST:], known, most),
            within(known.ordered(around - exact), known, most),
        ):
            if names and not killer:
                killer = run_tests(names, package, 10 + 3 * sum(known.seconds[name] for name in names))
                tried += len(names)
    finally:
        place.write_bytes((SOURCE / one.file).read_bytes())
    took = time.monotonic() - started
    return {**asdict(one), "killer": killer, "tried": tried, "of": len(exact | around), "seconds": round(took, 2)}


def within(names: Sequence[str], known: Coverage, most: float) -> list[str]:
    """As many of the fastest tests as fit into so many seconds."""
    chosen, used = [], 0.0
    for name in names:
        used += known.seconds[name]
        if used > most:
            break
        chosen.append(name)
    return chosen


def private_copy(folder: Path) -> Path:
    """The package in a folder of its own."""
    package = folder / "discreet"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    import compileall

    compileall.compile_dir(package, quiet=2)
    return package


def run(chosen: Sequence[Mutant], known: Coverage, log: Path, most: float) -> None:
    """Every mutant is tried; `log` gets one line of JSON for each."""
    import_heavy_modules()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that no test is left running
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        package = private_copy(Path(folder))
        quick = [name for name in known.ordered(set(known.seconds)) if known.seconds[name] < 1]
        sane = run_tests(quick[:: max(1, len(quick) // 60)], package, 300)
        if sane:
            raise SystemExit(f"without any mutant: {sane}")
        for at, one in enumerate(chosen, 1):
            result = outcome(one, known, package, most)
            with log.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(result) + "\n")
            print(f"{at}/{len(chosen)} {result['seconds']:5.1f} s {result['killer'] or 'SURVIVED'}: {one.name}", flush=True)


# Results -----------------------------------------------------------------------------------------------------------------


def results(log: Path) -> list[dict[str, Any]]:
    """The last outcome of every mutant."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return list({(one["file"], one["start"], one["end"], one["new"]): one for one in lines}.values())


def table(log: Path) -> str:
    """Killed and surviving mutants by module, and the survivors."""
    found = results(log)
    lines = ["| module | mutants | killed | survived |", "|---|---:|---:|---:|"]
    for file in sorted({one["file"] for one in found}):
        here = [one for one in found if one["file"] == file]
        killed = sum(bool(one["killer"]) for one in here)
        lines.append(f"| `{file}` | {len(here)} | {killed} | {len(here) - killed} |")
    killed = sum(bool(one["killer"]) for one in found)
    lines.append(f"| all | {len(found)} | {killed} | {len(found) - killed} |")
    for one in found:
        if not one["killer"]:
            lines.append(f"- `{one['file']}:{one['line']}` {one['operator']}: `{one['old']}` → `{one['new']}`")
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "list", "run", "table"])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "discreet-mutants")
    parser.add_argument("--sample", type=int, default=450)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", default="", help="'survivors', or a part of a mutant's name")
    parser.add_argument("--most", type=float, default=60.0, help="seconds of tests for each round after the first")
    parser.add_argument("--skip", type=int, default=0, help="so many mutants of the sample were done before")
    parser.add_argument("tests", nargs="*", default=[])
    given = parser.parse_intermixed_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    recorded, log = given.folder / "coverage.json", given.folder / "outcomes.jsonl"
    if given.what == "record":
        record(recorded, given.tests or TESTS)
        return
    if given.what == "table":
        print(table(log))
        return
    every = all_mutants()
    sample = random.Random(given.seed).sample(every, min(given.sample, len(every)))  # noqa: S311 (no secret)
    if given.only == "survivors":
        alive = {(one["file"], one["start"], one["end"], one["new"]) for one in results(log) if not one["killer"]}
        sample = [one for one in every if (one.file, one.start, one.end, one.new) in alive]
    elif given.only:
        sample = [one for one in sample if given.only in one.name]
    sample = sample[given.skip :]
    if given.what == "list":
        print(f"{len(every)} mutants; the sample:", *(one.name for one in sample), sep="\n")
        return
    run(sample, coverage(recorded), log, given.most)


if __name__ == "__main__":
    main()
