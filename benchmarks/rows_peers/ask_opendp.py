"""Rows by a contingency table of OpenDP: `python ask_opendp.py AIM PERSONS.csv DOMAIN.json ROWS.csv OPTIONS`.

OPTIONS is an object of JSON with the arguments of `dp.mbi.AIM` or `dp.mbi.MST`, and "rho" if it is not 1/2. Beside
ROWS.csv, ROWS.drawn.csv has rows by `synthesize(method="sample")`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import opendp.prelude as dp
import polars as pl
from charge import RHO

dp.enable_features("contrib")


def watched(*given: object, **named: object) -> object:
    """The default estimator, which says when it has fitted."""
    fitted = dp.mbi.mirror_descent(*given, **named)
    sizes = sorted((len(one) for one in fitted.cliques), reverse=True)
    print(f"{time.process_time():.0f} s: fitted to {len(given[1])} tables, cliques of {sizes[:9]} columns", flush=True)
    return fitted


def main(kind: str, persons: str, domain: str, target: Path, options: dict[str, object]) -> None:
    """Rows of its own number; keys are public, and what is not among them is null."""
    frame, rho = pl.scan_csv(persons), options.pop("rho", RHO)
    context = dp.Context.compositor(data=frame, privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(rho=rho))
    keys = {name: [*range(many)] for name, many in json.loads(Path(domain).read_text(encoding="utf-8")).items()}
    algorithm = getattr(dp.mbi, kind)(estimator=watched, **options)
    query = context.query(rho=rho).select(*keys).contingency_table(keys=keys, algorithm=algorithm)
    table = query.release()
    table.synthesize().write_csv(target)
    table.synthesize(method="sample").write_csv(target.with_suffix(".drawn.csv"))


if __name__ == "__main__":
    main(*sys.argv[1:4], Path(sys.argv[4]), json.loads(sys.argv[5]))
