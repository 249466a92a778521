"""requirements/*.lock: every requirement of pyproject.toml in a version that satisfies it, with hashes, for any machine."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
_SPEC = importlib.util.spec_from_file_location("lock", ROOT / "scripts" / "lock.py")
lock = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(lock)
LOCKS = [lock.FIRST, *lock.OTHERS]
INSTALLED = {
    "excel",
    "postgresql",
    "surveys",
    "xlsx",
    "zstd",
    "pandas",
    "adbc",
    "plot",
}  # extras of users: the lock of `dev` has them


def entries(extra):
    """Name, version and hashes of each entry."""
    text = (ROOT / "requirements" / f"{extra}.lock").read_text(encoding="utf-8")
    for entry in text.replace("\\\n", " ").splitlines():
        if not entry.startswith("#"):
            found = re.fullmatch(r"([a-z0-9-]+)==(\S+)( +;[^#]*?)?((?: +--hash=sha256:[0-9a-f]{64})+) *", entry)
            assert found, entry
            yield found[1], Version(found[2]), found[4].split()


def required():
    yield from ((lock.FIRST, one) for one in [*PROJECT["dependencies"], *PYPROJECT["build-system"]["requires"]])
    for extra, asked in PROJECT["optional-dependencies"].items():
        assert extra in {*LOCKS, *INSTALLED}
        for one in asked:
            if not one.startswith("discreet["):
                yield (lock.FIRST if extra in INSTALLED else extra), one


@pytest.mark.parametrize(("extra", "requirement"), list(required()))
def test_every_requirement_is_locked_in_a_version_that_satisfies_it(extra, requirement):
    asked = Requirement(requirement)
    versions = [version for name, version, _ in entries(extra) if name == canonicalize_name(asked.name)]
    assert versions, f"{asked.name}: not in {extra}.lock; run scripts/lock.py"
    assert all(asked.specifier.contains(version) for version in versions)


@pytest.mark.parametrize("extra", LOCKS)
def test_every_entry_has_hashes_and_the_file_nothing_of_a_machine(extra):
    assert all(hashes for _, _, hashes in entries(extra))
    text = (ROOT / "requirements" / f"{extra}.lock").read_text(encoding="utf-8")
    assert not re.search(r"://| @ |--(?!hash=sha256:)|/(?!lock\.py)", text)


@pytest.mark.parametrize("extra", lock.OTHERS)
def test_what_is_added_agrees_with_what_is_there(extra):
    first = {(name, version) for name, version, _ in entries(lock.FIRST)}
    both = {name for name, _ in first}
    assert {(name, version) for name, version, _ in entries(extra) if name in both} <= first


def test_the_makefile_installs_from_the_locks_alone():
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    installs = [line for line in rules.splitlines() if line.startswith("\t@$(INSTALL)")]
    assert len(installs) == 3
    assert all("--require-hashes -r" in line or "--no-deps --no-build-isolation -e ." in line for line in installs)
    assert rules.count("pip install") == 2  # the two forms of INSTALL
