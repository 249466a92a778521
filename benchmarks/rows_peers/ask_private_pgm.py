"""Rows by private-pgm: `python ask_private_pgm.py CHECKOUT/mechanisms/aim.py PERSONS.csv DOMAIN.json ROWS.csv OPTIONS`.

The mechanisms are called as they are at the end of their files. The library, mbi, is that of the checkout. OPTIONS is an
object of JSON with arguments of the class AIM; MST has none.
"""

from __future__ import annotations

import json
import runpy
import sys
from itertools import combinations
from pathlib import Path

import pandas as pd
from charge import DELTA, as_documented


def main(program: Path, persons: str, domain: Path, target: str, options: dict[str, object]) -> None:
    """Rows of its own number, from all pairs of columns."""
    sys.path[:0] = [str(program.parent), str(program.parents[1] / "src")]
    from cdp2adp import cdp_rho
    from mbi import Dataset, Domain

    known, sizes = runpy.run_path(str(program)), json.loads(domain.read_text(encoding="utf-8"))
    epsilon = as_documented(cdp_rho)
    data = Dataset(pd.read_csv(persons, usecols=[*sizes]).to_dict("list"), Domain.fromdict(sizes))
    if program.stem == "mst":
        rows = known["MST"](data, epsilon, DELTA)
    else:
        workload = [(pair, 1.0) for pair in combinations(data.domain, 2)]
        _, rows = known["AIM"](epsilon, DELTA, **options).run(data, workload)
    pd.DataFrame(rows.to_dict()).to_csv(target, index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4], json.loads(sys.argv[5]))
