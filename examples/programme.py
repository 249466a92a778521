"""A programme of 30 tables for the nation, its states and their areas, in one release and on one page: they all add up.

    python examples/programme.py acs2019_persons.parquet [FOLDER]

reads 44,163 persons of the American Community Survey of 2019 (docs/accuracy.md says where the file is from), asks for the
number of persons in all, by each of eight columns and by 21 pairs of them, in the nation and in every state and area, and
writes FOLDER/report.html with 90 tables, each cell with its interval. A table has the same total as every other one, states
add up to the nation and areas to their states. `dp.verify` computes all of it again from the measured integers.
"""

import sys
from itertools import combinations
from pathlib import Path

import polars as pl

import discreet as dp
from discreet.pages.report import write_report

COLUMNS = ("SEX", "RAC1P", "HISP", "OWN_RENT", "MSP", "EDU", "DPHY", "HOUSING_TYPE")
TABLES = [[], *([name] for name in COLUMNS), *map(list, combinations(COLUMNS, 2))][:30]


def main(source: Path, out: Path) -> None:
    """Makes the release and its page."""
    persons = pl.read_parquet(source, columns=["PUMA", *COLUMNS]).rename({"PUMA": "area"}).cast(pl.String)
    out.mkdir(exist_ok=True)
    # With data that are confidential, areas and categories come from their official lists, never from the data.
    areas = persons["area"].unique().sort()
    pl.DataFrame({"state": areas.str.head(2), "area": areas}).write_csv(out / "areas.csv")
    groups = {name: dp.Category(persons[name].drop_nulls().unique().sort().to_list()) for name in COLUMNS}
    schema = dp.Schema(area=dp.Hierarchy(out / "areas.csv", levels=["state", "area"]), **groups)
    session = dp.Session(
        persons,
        schema,
        dataset="acs-2019",
        ledger=out / "ledger.db",
        budget=dp.ZCDP("0.5"),
        neighbours=dp.AddRemove(),
    )
    request = session.table.agg(dp.agreeing_areas("area", by=TABLES))
    release = session.release(request, spend="0.5", name="persons in areas")
    release.save(out)
    report = write_report(release, out / "report.html")

    tables = [frame for frame in release.tables.values() if "count" in frame.columns]
    print(f"{len(tables)} tables with {sum(frame.height for frame in tables):,} cells; all persons: {tables[0].row(0)}")
    print(dp.verify(release))
    print(f"Report: {report.resolve().as_uri()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "programme"))
