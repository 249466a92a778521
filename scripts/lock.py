"""Writes requirements/*.lock anew: every package of development and continuous integration, in one version, with its hashes.

    python scripts/lock.py            the newest versions that pyproject.toml allows

Needs `uv` on the PATH. One resolution holds for Python 3.11 to 3.13 on every system; the hashes are
those of the package index for all files of a version. Settings of the machine, such as other indexes, have no part in it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
FIRST = "dev"
"""Installed by every target of the Makefile; the others add to it, so they are made to agree with it."""

OTHERS = ("docs", "spark", "browser", "datasets")
_BUILDING = ("editables>=0.5",)  # what hatchling asks for when it installs a checkout
_FOREIGN = ("UV_", "PIP_")


def requirements_of(project: dict[str, Any], extra: str) -> Iterator[str]:
    """The requirements of an extra; those of `discreet[…]` in the place of it."""
    for one in project["optional-dependencies"][extra]:
        if own := re.fullmatch(r"discreet\[(.+)\]", one):
            for name in own[1].split(","):
                yield from requirements_of(project, name.strip())
        else:
            yield one


def asked(pyproject: dict[str, Any], extra: str) -> list[str]:
    """What the lock of an extra is made from."""
    project = pyproject["project"]
    first = [*project["dependencies"], *pyproject["build-system"]["requires"], *_BUILDING] if extra == FIRST else []
    return [*first, *requirements_of(project, extra)]


def main() -> int:
    """All locks are new; 1 if one cannot be made."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    machine = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
    FOLDER.mkdir(exist_ok=True)
    for extra in (FIRST, *OTHERS):
        beside = [] if extra == FIRST else ["--constraints", f"requirements/{FIRST}.lock"]
        command = ["uv", "--no-config", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--upgrade"]
        command += ["--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]
        wanted = "\n".join(asked(pyproject, extra))
        done = subprocess.run(  # noqa: S603
            [*command, *beside, "-"], input=wanted, cwd=ROOT, env=machine, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            return 1
        head = f"# Written by scripts/lock.py from pyproject.toml: what `{extra}` installs. Do not edit.\n"
        (FOLDER / f"{extra}.lock").write_text(head + done.stdout, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
