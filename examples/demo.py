"""Two releases from tables of real persons: `make demo`. Writes demo-out/ with numbers, error bars, guarantees and reports.

(a) Mean income and hours by gender and employment, from 2,000 persons of the American Community Survey of 2012. The number
    of persons is confidential (AddRemove), so it is estimated first, and the table is resized to the estimate.
(b) The personnel table of the US armed forces, 1,414,593 persons, by branch, grade, race and gender. The Department of
    Defense has published the number of persons (ReplaceOne).

A second run finds both releases in the ledger and returns the stored ones, at no charge. `make clean` removes demo-out
with its ledger; with confidential data that would be wrong, because the numbers stay published.
"""

import sys
from pathlib import Path

import polars as pl

import discreet as dp
from discreet import datasets
from discreet.ledger import Ledger
from discreet.pages.report import write_report
from discreet.plan import Plan

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-out")


def incomes() -> None:
    """(a) acs12: clamp, impute and resize under pure differential privacy."""
    # All bounds are public: the questionnaire has two boxes for hours a week, and nobody is older than 110. The cap of
    # 150,000 for incomes is a choice, made without looking: it limits what a single person can add to a sum. Higher incomes
    # count as 150,000, so the means are a little low; with a higher bound the noise would grow in proportion.
    schema = dp.Schema(
        gender=dp.Category(["female", "male"]),
        employment=dp.Category(["employed", "unemployed", "not in labor force"]),
        age=dp.Number(0, 110),
        income=dp.Number(0, 500_000, step=100),
        hrs_work=dp.Number(0, 99),
    )
    with dp.Session(
        datasets.path("acs12"),
        schema,
        dataset="acs12",
        ledger=OUT / "ledger.db",
        budget=dp.PureDP(2),
        neighbours=dp.AddRemove(),
    ) as session:
        heading("(a) acs12: income and hours by gender and employment", session)
        size = session.estimate_rows(spend="0.1")
        print(f"The table has about {size.rows} rows ({size.low} to {size.high}); this number is now public and may be n.\n")

        # Income and employment are null only for children, whom `where` leaves out; their laws are for the few rows
        # that fill the table when the estimate is above the true number. Hours are null for everybody who has not worked in
        # the year, adults included: here a null means 0 hours, so it becomes 0.
        table = (
            session.table.clamp({"income": (0, 150_000)})
            .impute(
                {
                    "gender": dp.Weights({"female": 1, "male": 1}),
                    "employment": dp.Weights({"employed": 6, "unemployed": 1, "not in labor force": 3}),
                    "age": dp.Uniform(0, 90),
                    "income": dp.Uniform(0, 60_000),
                    "hrs_work": dp.Uniform(0, 0),
                }
            )
            .where({"age": (16, 110)})
            .resize(size)
        )
        request = table.group_by("gender", "employment").agg(dp.count(), dp.mean("income"), dp.mean("hrs_work"))
        publish(session, request, "1.5", "Income and hours by gender and employment", "income-and-hours")


def personnel() -> None:
    """(b) military: a contingency table of 168 cells under zero-concentrated differential privacy."""
    categories = {
        "branch": ["air force", "army", "marine corps", "navy"],
        "grade": ["enlisted", "officer", "warrant officer"],
        "race": ["ami/aln", "asian", "black", "multi", "p/i", "unk", "white"],
        "gender": ["female", "male"],
    }
    with dp.Session(
        datasets.path("military"),
        dp.Schema({name: dp.Category(values) for name, values in categories.items()}),
        dataset="military-2012",
        ledger=OUT / "ledger.db",
        budget=dp.ZCDP("0.5"),
        neighbours=dp.ReplaceOne(rows=1_414_593),
    ) as session:
        heading("(b) military: personnel by branch, grade, race and gender", session)
        # Without imputation each column could be null for all that is public, and the table would have a group
        # "not known" in every column, nearly all of it noise around 0.
        table = session.table.impute({name: dp.Weights(dict.fromkeys(values, 1)) for name, values in categories.items()})
        request = table.group_by(*categories).agg(dp.count())
        publish(session, request, "0.1", "Personnel by branch, grade, race and gender", "personnel")


def heading(title: str, session: dp.Session) -> None:
    """The title of a part, and its budget."""
    print(f"\n{title}\n{'=' * len(title)}\nBudget: {amount(session.budget)}; remaining: {amount(session.remaining)}")


def publish(session: dp.Session, request: Plan, spend: str, name: str, folder: str) -> None:
    """Quote, release, save, and print what happened."""
    before = session.remaining
    release = session.release(request, spend=spend, name=name)
    if session.remaining == before:
        print(f"'{name}' was released before: here it is again, at no charge.")
    else:
        print(f"What it costs, said before any row was read:\n{session.quote(request, spend=spend)}")
    place = release.save(OUT / folder)
    report = write_report(release, place / "report.html")
    with pl.Config(tbl_rows=8, tbl_cols=-1, tbl_width_chars=140, float_precision=1, tbl_hide_dataframe_shape=True):
        print(f"\n{release.table}\n")
    print(f"{release.table.height} groups. {release.guarantee}")
    print(f"Charged: {amount(release.guarantee.measure)}; spent so far: {amount(session.spent)}; ", end="")
    print(f"remaining: {amount(session.remaining)}")
    print(
        f"Files: {', '.join(sorted(path.name for path in place.iterdir()))} in {place}/\nReport: {report.resolve().as_uri()}"
    )


def amount(budget: object) -> str:
    """A budget in one word: ZCDP(rho=0.1)."""
    fields = {field: getattr(budget, field, None) for field in ("epsilon", "delta", "rho", "mu")}
    shown = ", ".join(f"{field}={float(value):g}" for field, value in fields.items() if value is not None)
    return f"{type(budget).__name__}({shown})"


WHAT = {"dataset": "opened", "reserve": "charged {charge}", "commit": "released", "fail": "failed"}


def print_ledger() -> None:
    """Every entry of the ledger: each charge was written before the data were opened."""
    print("\nThe ledger\n==========")
    with Ledger.open(OUT / "ledger.db") as ledger:
        for entry in (entry for dataset in ledger.datasets() for entry in ledger.entries(dataset)):
            charge = ", ".join(str(float(value)) for value in entry.charge)
            what = WHAT.get(entry.kind, entry.kind).format(charge=charge)
            print(f"{entry.sequence:3}  {entry.time}  {entry.dataset:14} {what:14} {entry.name}")
        print(f"Every entry, total and stored release is as it was written: {ledger.verify().intact}")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    incomes()
    personnel()
    print_ledger()
