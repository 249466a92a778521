"""The error of the same statistics at the same guarantee: discreet beside four other libraries.

    python benchmarks/accuracy/run.py                      everything; the answers are kept in build/accuracy
    python benchmarks/accuracy/run.py --library opendp     one of them; several --library and --data are allowed
    python benchmarks/accuracy/run.py --write              nothing is run: docs/accuracy.md from the answers that are kept

Each peer gets an environment of its own under --environments, with pinned versions. One that cannot be installed is
left out, and the page says why. The second data set is left out where its file, --persons, is absent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
from asked import INCOME_STEP, INCOME_TOP
from page import written

from discreet import datasets

sys.path.append(str(Path(__file__).resolve().parents[1]))  # beside this folder is what benchmarks share
from environments import Library, environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "accuracy"
LIBRARIES = {
    "discreet": Library("ask_discreet.py"),
    "opendp": Library("ask_opendp.py", ("opendp[polars,mbi]==0.16.0",)),
    "diffprivlib": Library("ask_diffprivlib.py", ("diffprivlib==0.6.6", "scikit-learn==1.8.0")),
    "smartnoise-sql": Library("ask_smartnoise.py", ("smartnoise-sql==1.0.10", "setuptools<81")),
    "tmlt-analytics": Library("ask_tmlt.py", ("tmlt-analytics==0.21.0", "setuptools<81"), needs="java"),
}


def acs12() -> tuple[pl.DataFrame, str]:
    """The persons of acs12 who have an income, and the column of the groups."""
    frame = pl.read_parquet(datasets.path("acs12")).filter(pl.col("income").is_not_null())
    return frame.select("race", "gender", "edu", "married", "age", "income"), "race"


def acs2019(persons: Path) -> tuple[pl.DataFrame, str]:
    """The persons of the excerpts of the ACS of 2019 who have an income, and the column of the groups."""
    frame = pl.read_parquet(persons).filter(pl.col("PINCP").is_not_null())
    names = {"MSP": "marital", "SEX": "sex", "RAC1P": "race", "HISP": "hispanic", "AGEP": "age", "PINCP": "income"}
    return frame.select(*names).rename(names), "marital"


def prepared(name: str, frame: pl.DataFrame, by: str) -> Path:
    """The data as every library reads them: incomes within the bounds and on the grid, so that all have the same truth."""
    income = (pl.col("income").clip(0, INCOME_TOP) / INCOME_STEP).round().cast(pl.Int64) * INCOME_STEP
    frame = frame.with_columns(income, pl.col("age").cast(pl.Int64))
    categories = [column for column in frame.columns if column not in ("age", "income")]
    frame = frame.with_columns(pl.col(column).cast(pl.String) for column in categories)
    if frame.null_count().sum_horizontal().item():
        raise SystemExit(f"{name}: has nulls after the preparation")
    target = BUILD / f"{name}.csv"
    frame.write_csv(target)
    levels = {column: sorted(frame[column].unique().to_list()) for column in categories}
    target.with_suffix(".json").write_text(json.dumps({"levels": levels, "by": by}), encoding="utf-8")
    return target


def ask(name: str, library: Library, python: Path | str, data: Path, asked: argparse.Namespace) -> None:
    """The answers of a library into a file of their own."""
    target = BUILD / f"{data.stem}.{name}.answers"
    if isinstance(python, str):
        print(f"{name}: skipped: {python}")
        target.write_text(json.dumps({"skipped": python}), encoding="utf-8")
        return
    limits = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [python, HERE / library.program, data, target, str(asked.times), str(asked.seconds), *asked.kinds]
    subprocess.run(command, check=True, env={**os.environ, **limits})


def main() -> None:
    parser = argparse.ArgumentParser(description="The error of the same statistics at the same guarantee.")
    parser.add_argument("--library", action="append", choices=LIBRARIES)
    parser.add_argument("--data", action="append", choices=("acs12", "acs2019"))
    parser.add_argument("--kinds", action="append", default=[], help="only these kinds of statistic, such as mean,sum")
    parser.add_argument("--times", type=int, default=200, help="releases of each task")
    parser.add_argument("--seconds", type=float, default=60, help="after which a task is left, with 20 releases at least")
    parser.add_argument("--environments", type=Path, default=BUILD / "environments")
    parser.add_argument("--persons", type=Path, default=ROOT.parent / "shared/data/tutorial/acs2019_persons.parquet")
    parser.add_argument("--write", action="store_true", help="put the answers that are kept into docs/accuracy.md")
    asked = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    if asked.write:
        written(ROOT / "docs", BUILD, list(LIBRARIES))
        return
    sources = {"acs12": acs12()}
    if asked.persons.exists():
        sources["acs2019"] = acs2019(asked.persons)
    else:
        print(f"acs2019: skipped: {asked.persons.name} is absent")
    paths = [prepared(name, *source) for name, source in sources.items() if name in (asked.data or sources)]
    for name in asked.library or LIBRARIES:
        python = environment(name, LIBRARIES[name], asked.environments)
        for path in paths:
            ask(name, LIBRARIES[name], python, path, asked)


if __name__ == "__main__":
    main()
