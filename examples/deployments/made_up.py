"""Plans of known deployments, and made-up data for them: `python made_up.py FOLDER` writes both into a folder.

The data are made up and small; the bounds, spends and units of the plans are those of the deployments (docs/deployments.md).
"""

import datetime as dt
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

HERE = Path(__file__).resolve().parent
MONDAY, NEW_YEAR = dt.date(2026, 3, 2), dt.date(2026, 1, 5)
STATES = {"10": ("10001", "10003", "10005"), "44": ("44001", "44003", "44005", "44007", "44009")}
COUNTIES = [county for counties in STATES.values() for county in counties]
URLS = [f"page-{number}.example" for number in range(1, 5)]
COURSES = [
    f"{school},{degree},{field}"
    for school in ("003656", "003658", "009741")
    for degree in ("05", "07")
    for field in ("11", "27", "45", "52")
    if (school, field) != ("009741", "27") and (degree, field) != ("07", "45")
]
ZIP_CODES = [f"{number:05}" for number in range(19701, 19741)]


def page_views(chosen: random.Random) -> Iterator[dict[str, object]]:
    """Devices with up to twenty views on a day, of pages and countries that are asked and others."""
    pages, countries = ["Bread", "Cheese", "Rain", "River", "Salt", "Wind", "Rare"], ["DE", "FR", "IT", "PL", "VA"]
    for device in range(3_000):
        day, home = MONDAY + dt.timedelta(days=chosen.randrange(7)), chosen.choice(countries)
        for _ in range(chosen.randrange(1, 21)):
            country = home if chosen.random() < 0.9 else chosen.choice(countries)
            yield {"device": device, "day": day, "page": chosen.choice(pages), "country": country}


def editors(chosen: random.Random) -> Iterator[dict[str, object]]:
    """One row of each account and month."""
    for account in range(2_000):
        day = dt.date(2026, chosen.randrange(1, 13), 1)
        activity = chosen.choices(["1 to 4", "5 to 99", "100 or more"], [6, 3, 1])[0]
        status = chosen.choice(["anonymous", "temporary", "permanent"])
        yield {"account": f"a{account}", "day": day, "activity": activity, "status": status}


def geoeditors(chosen: random.Random) -> Iterator[dict[str, object]]:
    """One row of each editor of a project in a country, and month, with the number of edits."""
    for editor in range(3_000):
        project, country = chosen.choice(["de", "en", "fr"]), chosen.choice(["AT", "CA", "CH", "US"])
        edits = 1 + int(chosen.expovariate(1 / 20))
        activity = "1 to 4" if edits < 5 else "5 to 99" if edits < 100 else "100 or more"
        day = dt.date(2026, chosen.randrange(1, 4), 1)
        known = {"project": project, "country": country, "activity": activity, "edits": edits}
        yield {"editor": f"{editor} {project} {country}", "day": day, **known}


def speeds(chosen: random.Random) -> Iterator[dict[str, object]]:
    """One device of each user."""
    for user in range(8_000):
        speed = chosen.choice(["below 25 Mbps", "25 Mbps or more"])
        yield {"user": user, "zip": chosen.choice(ZIP_CODES), "speed": speed}


def services(chosen: random.Random) -> Iterator[dict[str, object]]:
    """One device of each user."""
    for user in range(8_000):
        yield {"user": user, "zip": chosen.choice(ZIP_CODES), "services": chosen.choice(["used", "not used"])}


def mobility(chosen: random.Random) -> Iterator[dict[str, object]]:
    """Users at home, at work and at up to six other places, on two days of which the second has fewer visits."""
    for user in range(6_000):
        county = chosen.choice(COUNTIES)
        for day, most in ((NEW_YEAR, 7), (NEW_YEAR + dt.timedelta(weeks=5), 4)):
            of_user = {"user": user, "day": day, "area": county}
            yield {**of_user, "place": "home", "hours": chosen.randrange(32, 97) / 4}
            if chosen.random() < 0.5:
                yield {**of_user, "place": "work", "hours": chosen.randrange(2, 40) / 4}
            for _ in range(chosen.randrange(most)):
                place = chosen.choice(["grocery", "parks", "retail", "transit"])
                there = county if chosen.random() < 0.8 else chosen.choice(COUNTIES)
                yield {**of_user, "area": there, "place": place, "hours": chosen.randrange(1, 9) / 4}


def searches(chosen: random.Random) -> Iterator[dict[str, object]]:
    """Users with up to eight searches on a day; most of them are for no symptom."""
    symptoms = ["anxiety", "cough", "fever", "headache", "rash", None, None, None]
    for user in range(30_000):
        day, county = MONDAY + dt.timedelta(days=chosen.randrange(2)), chosen.choice(COUNTIES)
        for _ in range(chosen.randrange(1, 9)):
            yield {"user": user, "day": day, "area": county, "symptom": chosen.choice(symptoms)}


def actions(chosen: random.Random) -> Iterator[dict[str, object]]:
    """Accounts that do this and that with the pages that they see, often more than once."""
    ages, genders = ["18-24", "25-34", "35-44", "45-54", "55-64", "65+", "unknown"], ["F", "M", "other"]
    some = ["click", "click", "like", "like", "share", "comment", "wow", "spam"]
    for user in range(2_000):
        known = {"country": chosen.choice(["BR", "DE"]), "age": chosen.choice(ages), "gender": chosen.choice(genders)}
        for _ in range(chosen.randrange(12)):
            there = {"url": chosen.choice(URLS), "month": chosen.choice(["2019-06", "2019-07"])}
            yield {"user": user, **there, **known, "action": chosen.choice(some)}


def graduates(chosen: random.Random) -> Iterator[dict[str, object]]:
    """Graduates with their earnings; some have two degrees."""
    for graduate in range(20_000):
        earnings = min(round(chosen.lognormvariate(11.00255, 0.75275)), 614_597)
        for course in chosen.sample(COURSES, 2 if chosen.random() < 0.1 else 1):
            school, degree, field = course.split(",")
            yield {"graduate": graduate, "school": school, "degree": degree, "field": field, "earnings": earnings}


SOURCES = {
    "actions": actions,
    "graduates": graduates,
    "pageviews": page_views,
    "editors": editors,
    "geoeditors": geoeditors,
    "speeds": speeds,
    "services": services,
    "mobility": mobility,
    "searches": searches,
}


def write(folder: Path) -> None:
    """The plans, the lists of areas and ZIP codes, and the data are in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for plan in sorted(HERE.glob("*.toml")):
        shutil.copy(plan, folder)
    areas = [f"US,{state},{county}" for state, counties in STATES.items() for county in counties]
    (folder / "areas.csv").write_text("\n".join(["country,state,county", *areas, ""]), encoding="utf-8")
    courses = "\n".join(["school,degree,field", *COURSES, ""])
    (folder / "courses.csv").write_text(courses, encoding="utf-8")
    (folder / "urls.txt").write_text("\n".join([*URLS, ""]), encoding="utf-8")
    (folder / "zip-codes.txt").write_text("\n".join([*ZIP_CODES, ""]), encoding="utf-8")
    for name, rows in SOURCES.items():  # made-up rows need no secrets
        pl.DataFrame(list(rows(random.Random(1)))).write_parquet(folder / f"{name}.parquet")  # noqa: S311


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "deployments"))
