"""All benchmarks, one after the other; each compares with its reference in its own process and prints ratios."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Every bench_*.py beside this file, in order of name; 1 if one of them fails or misses what is promised."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    failed = []
    for script in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"== {script.name}", flush=True)
        if subprocess.run([sys.executable, str(script)], check=False).returncode:
            failed.append(script.name)
    print(f"== failed or missed: {', '.join(failed)}" if failed else "== all done")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
