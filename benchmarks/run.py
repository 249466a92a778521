"""All benchmarks, one after the other; each compares with its reference in its own process and prints ratios."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Every bench_*.py beside this file, in order of name."""
    for script in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"== {script.name}", flush=True)
        subprocess.run([sys.executable, str(script)], check=True)


if __name__ == "__main__":
    main()
