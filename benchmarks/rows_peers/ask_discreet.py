"""Fitted rows: `python ask_discreet.py PERSONS.parquet PERSONS.csv DOMAIN.json ROWS.csv OPTIONS`.

The parquet file is read; of the others only the names of the columns are. All pairs of columns are released at ρ = 1/2; with
`{"more": 3}` in OPTIONS, an object of JSON, all tables of three columns besides, at the same ρ in all.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations
from pathlib import Path

import polars as pl

import discreet as dp

sys.path.append(str(Path(__file__).resolve().parents[1]))  # beside this folder is what benchmarks share
from rows import codes, released
from tables import read


def main(persons: Path, domain: Path, target: Path, options: dict[str, int]) -> None:
    """As many rows as the release says."""
    schema, frame = read(persons)
    frame = frame.select(*json.loads(domain.read_text(encoding="utf-8")))
    schema = dp.Schema(**{name: schema[name] for name in frame.columns})
    more = combinations(frame.columns, options["more"]) if "more" in options else ()
    made = released(frame, schema, [], more).rows().frame.select(frame.columns)
    pl.DataFrame(dict(zip(made.columns, codes(made, schema), strict=True))).write_csv(target)


if __name__ == "__main__":
    main(*map(Path, (sys.argv[1], *sys.argv[3:5])), json.loads(sys.argv[5]))
