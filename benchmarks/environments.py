"""An environment for each library that discreet is compared with, made once and kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Library:
    """A program that asks a library, what its environment holds, and a command it needs besides.

    Without requirements it is asked in the present environment.
    """

    program: str
    requirements: tuple[str, ...] = ()
    needs: str | None = None


def environment(name: str, library: Library, folder: Path) -> Path | str:
    """The interpreter of the library, installed if need be, or the reason why there is none."""
    if not library.requirements:
        return Path(sys.executable)
    if library.needs is not None and shutil.which(library.needs) is None:
        return f"needs {library.needs}, which is not on this machine"
    python, complete = folder / name / "bin" / "python", folder / name / "requirements.txt"
    wanted = "\n".join(library.requirements)
    if python.exists() and complete.exists() and complete.read_text(encoding="utf-8") == wanted:
        return python
    if not python.exists():
        venv.create(folder / name, with_pip=True)
    command = [python, "-m", "pip", "install", "--quiet", *library.requirements]
    if subprocess.run(command, check=False).returncode:
        version = ".".join(map(str, sys.version_info[:2]))
        return f"{' '.join(library.requirements)} cannot be installed on Python {version}"
    complete.write_text(wanted, encoding="utf-8")
    return python


def cache() -> Path:
    """Where what is made once is kept between runs: outside the repository."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet-benchmarks"
