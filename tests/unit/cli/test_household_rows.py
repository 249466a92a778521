"""`discreet rows --persons`: both files with the numbers of households, and what is refused before anything is fitted."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from tests.unit.cli.commands import done, refused
from tests.unit.releases.rows.homes import homes_of, people_of

import discreet as dp
from discreet.releases.rows import fit


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Where both releases are; rows are fitted in two sweeps."""
    monkeypatch.setattr(fit, "_STAGES", ((Fraction(1, 2), 20, 1), (Fraction(40), 20, 1)))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    both = homes_of(), people_of(dp.Totals("area", "sex"))
    for name, release in zip(("homes", "persons"), both, strict=True):
        release.save(name)
    return both


def test_both_files_and_pages_are_those_of_python(folders):
    asked = ["rows", "homes", "--persons", "persons", "--size", "size", "--out", "h.parquet", "--persons-out", "p.csv"]
    told = done(*asked, "--report", "h.html", "--persons-report", "p.html", "--language", "de")
    found = dp.fit_households(*folders, size="size")
    assert pl.read_parquet("h.parquet").equals(found.homes.frame)
    assert pl.read_csv("p.csv").equals(found.persons.frame)
    assert told.splitlines()[:5] == ["h.parquet", "p.csv", "p.csv-metadata.json", "h.html", "p.html"]
    assert "150 households and" in told
    page = Path("p.html").read_text(encoding="utf-8")
    assert "Größen der Haushalte" in page
    assert "die Spalte household die Nummer eines Haushalts" in page
    assert page.count(folders[0].digest) == page.count(folders[1].digest) == 1
    assert "die mit 3 veröffentlichten Tabellen übereinstimmen" in page
    assert "wie seine Größe sagt, oder mehr, wo diese die größte und nach oben offen ist" in page
    about = json.loads(pl.read_parquet_metadata("h.parquet")["discreet"])
    assert (about["digest"], about["together with"], about["size"]) == (folders[0].digest, folders[1].digest, "size")
    facts = json.loads(done(*asked, "--json"))
    assert (facts["homes"]["rows"], facts["persons"]["rows"]) == (len(found.homes.frame), len(found.persons.frame))
    assert facts["persons"]["digest"] == folders[1].digest
    assert facts["persons"]["kept"] == [*found.persons.kept] == ["totals of area, sex", "sizes of households"]
    assert facts["persons"]["left"] == []


BOTH = ("--persons", "persons", "--size", "size", "--out", "h.csv")
REFUSED = {
    "--size: goes with --persons DIR": ("--size", "size", "--out", "h.csv"),
    "--largest: goes with --persons DIR": ("--largest", "9", "--out", "h.csv"),
    "largest=2: must be at least 5": (*BOTH, "--persons-out", "p.csv", "--largest", "2"),
    "--persons-out: goes with --persons DIR": ("--persons-out", "p.csv", "--out", "h.csv"),
    "--persons-report: goes with --persons DIR": ("--persons-report", "p.html", "--out", "h.csv"),
    "--persons: needs --size COLUMN too": ("--persons", "persons", "--out", "h.csv", "--persons-out", "p.csv"),
    "--persons: needs --persons-out FILE too": BOTH,
    "not with --rows or --each; households and persons are as many": (*BOTH, "--persons-out", "p.csv", "--rows", "9"),
    "--persons-out='h.csv': is the file of --out too": (*BOTH, "--persons-out", "h.csv"),
    "--persons-report='h.html': is the file of --report too": (
        *BOTH, "--persons-out", "p.csv", "--report", "h.html", "--persons-report", "h.html",
    ),
    "--persons-out='../here/h.csv': is the file of --out too": (*BOTH, "--persons-out", "../here/h.csv"),
    "--report='h.csv-metadata.json': is the file of --out too": (
        *BOTH, "--persons-out", "p.csv", "--report", "h.csv-metadata.json",
    ),
    "--persons-report='rows.html': is the file of --report too": (
        *BOTH, "--persons-out", "p.csv", "--report", ".", "--persons-report", "rows.html",
    ),
    "rows 'p.txt': must end in .parquet or .csv": (*BOTH, "--persons-out", "p.txt"),
    "size='rooms': must be a column of the households": (
        "--persons", "persons", "--size", "rooms", "--out", "h.csv", "--persons-out", "p.csv",
    ),
    "rows 'nowhere': no release.json there": (
        "--persons", "nowhere", "--size", "size", "--out", "h.csv", "--persons-out", "p.csv",
    ),
    "persons: is the release of the households": (
        "--persons", "homes", "--size", "size", "--out", "h.csv", "--persons-out", "p.csv",
    ),
}  # fmt: skip


def test_what_does_not_go_together_is_refused_before_a_file_is_written(folders, tmp_path):
    for message, options in REFUSED.items():
        assert message in refused(2, "rows", "homes", *options)
    assert {one.name for one in (tmp_path / "here").iterdir()} == {"homes", "persons"}


def test_strict_looks_at_both_tables(folders):
    people_of(spend="1/10000").save("noise")
    asked = ["--persons", "noise", "--size", "size", "--out", "h.csv", "--persons-out", "p.csv", "--strict"]
    assert "strict=True: noise dominates in" in refused(2, "rows", "homes", *asked)
