"""Failures that other software had and bad inputs, where no other test here already tries them.

The names in comments are those of docs/known-failures.md, which says for every failure and input which test covers it.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet import noise
from discreet.cube.queries import RowCount
from discreet.engines import open_source
from discreet.engines.base import ColumnType
from discreet.engines.reference import ReferenceEngine
from discreet.mechanisms.gaussian import GaussianNoise
from discreet.mechanisms.laplace import LaplaceNoise
from discreet.noise.bits import Bits, system_bits
from discreet.noise.single.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.quotes.allocate import quote

GROUPS = [f"g{i}" for i in range(60)]
SCHEMA = dp.Schema(g=dp.Category(GROUPS), v=dp.Number(0, 1, "0.1"))


def session(source, schema=SCHEMA, **more):
    arguments = {"dataset": "d", "ledger": ":memory:", "budget": dp.PureDP(1), "neighbours": dp.AddRemove(), **more}
    return dp.Session(source, schema, **arguments)


# Noise -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [dp.PureDP("0.1"), dp.ZCDP("0.001")], ids=["Laplace", "Gaussian"])
def test_published_numbers_of_neighbours_lie_on_one_lattice(budget):
    """N1, N2, N3, D5: whatever the value was, a sum is the double next to a multiple of the step, so none betrays it."""
    seen = []
    for value in (0.0, 1.0, -0.0, 0.30000000000000004):
        frame = pl.DataFrame({"g": GROUPS[:30], "v": [value] * 30})
        with session(frame, budget=budget) as one:
            table = one.release(one.table.group_by("g").agg(dp.count(), dp.sum("v", nulls="skip")), name="r").table
        steps = [round(10 * number) for number in table["sum_v"]]
        assert table["sum_v"].to_list() == [float(Fraction(step, 10)) for step in steps]
        assert table["count"].dtype == pl.Int64
        assert "-0.0" not in table.write_csv().replace("\n", ",").split(",")
        seen.append({step % 2 for step in steps})
    assert all(parities == {0, 1} for parities in seen)  # and no part of the lattice belongs to one value


def test_a_float_lattice_would_be_noticed():
    """What N3 attacks: a double added to a double lies on the lattice of the larger one."""
    chance = np.random.default_rng(0)
    sums = [0.30000000000000004 + draw for draw in chance.laplace(0, 10, 60)]
    assert sums != [float(Fraction(round(10 * number), 10)) for number in sums]


def test_the_masses_are_those_of_integers_and_not_of_rounded_reals():
    """N5: P(0) of the discrete Laplace of scale 1 is tanh(1/2); the rounded continuous one would have 1 - exp(-1/2)."""
    low, high = DiscreteLaplace(1).pmf(0)
    assert low <= 0.46211715726000975 <= high
    assert high - low < 1e-12
    draws = noise.discrete_laplace(1, 10**5)
    # Hoeffding: the frequency is farther than 0.0105 from its mean with probability below 1e-9.
    assert abs(np.mean(draws == 0) - 0.46211715726) < 0.0105 < abs(np.mean(draws == 0) - 0.3934693402874)


@pytest.mark.parametrize("beginning", [b"\0", b"\xff", b"\x80", b"\0\xff"])
@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
@pytest.mark.parametrize("parameter", ["1e-3", "1", "1000", "1e12"])
def test_extreme_bits_give_integers(law, parameter, beginning):
    """N6: random bits that begin with zeros or ones only give finite integers of the law, never a NaN or an endless loop."""
    for length in (1, 8, 64, 4096):
        left, rest = [beginning * length], system_bits()

        def read(count, left=left, rest=rest):
            given, left[0] = left[0][:count], left[0][count:]
            return given + rest.read(count - len(given))

        drawn = law(parameter).sample(50, Bits(read))
        assert drawn.dtype == np.int64
        # Bits that are not random may reach further than a quantile, but never beyond what 4096 bytes can say.
        assert int(np.abs(drawn).max()) <= 10**4 * law(parameter).half_width("0.999999") + 10**4


def test_the_least_scale_is_no_scale_of_zero():
    """N11, bad input 34: 5e-324 and 1e-400 are positive numbers; they are charged, and never become 0."""
    assert dp.PureDP("1e-400").epsilon * 10**400 == 1
    assert dp.PureDP(5e-324).epsilon > 0
    assert dp.PureDP("1e-400").epsilon_at("0") > 0
    with pytest.raises(dp.ArgumentError, match="scale"):
        DiscreteLaplace(0)
    with session(pl.DataFrame({"g": ["g0"], "v": [0.5]})) as one:
        asked = one.quote(one.table.group_by("g").agg(dp.count()), spend="1e-15")
        assert asked.measured[0].law.scale == 10**15


def test_an_approximate_budget_without_delta_is_pure():
    """Bad input 35: Gaussian noise has no δ = 0; the budget (ε, 0) gets Laplace noise."""
    table = dp.Table(SCHEMA, dp.AddRemove())
    assert isinstance(quote(table.group_by("g").agg(dp.count()), dp.ApproxDP(1, 0)).measured[0].law, LaplaceNoise)


def test_nothing_is_spent_after_exhaustion_however_little():
    """B15: the smallest positive double and less are refused where nothing remains."""
    with session(pl.DataFrame({"g": ["g0"], "v": [0.5]})) as one:
        request = one.table.group_by("g").agg(dp.count())
        one.release(request, name="all")
        for spend in (5e-324, "1e-400", "1e-18"):
            with pytest.raises((dp.BudgetExceeded, dp.ArgumentError)):
                one.release(request, spend=spend, name="more")
        assert one.spent == dp.PureDP(1)


# Sensitivities ---------------------------------------------------------------------------------------------------------


def deviation_of_a_sum(lower, upper, neighbours):
    """Δ₁ of Σ x in units, read off the noise of a sum at ε = 1: scale = Δ₁."""
    table = dp.Table(dp.Schema(x=dp.Number(lower, upper)), neighbours).impute({"x": dp.Uniform()})
    (one,) = quote(table.agg(dp.sum("x")), dp.PureDP(1)).measured
    return one.law.scale / one.query.slope


@pytest.mark.parametrize(
    ("lower", "upper", "added", "replaced"),
    [(0, 100, 100, 100), (2, 10, 10, 8), (-5, 3, 5, 8), (-10, -1, 10, 9), (-1, 1, 1, 2)],
)
@pytest.mark.parametrize("persons", [1, 3])
def test_sums_have_the_sensitivity_of_both_bounds(lower, upper, added, replaced, persons):
    """V2, V5, A5: every bound counts once, and a replaced row is not an added one."""
    assert deviation_of_a_sum(lower, upper, dp.AddRemove(rows_per_person=persons)) == persons * added
    assert deviation_of_a_sum(lower, upper, dp.ReplaceOne(rows=9, rows_per_person=persons)) == persons * replaced


@pytest.mark.parametrize(("neighbours", "l1"), [(dp.AddRemove(), 1), (dp.ReplaceOne(rows=9), 2)])
def test_a_replaced_row_moves_two_cells_of_a_histogram(neighbours, l1):
    """V6, V9: Δ₁ and Δ₂² of a histogram, each with the noise of its own norm."""
    table = dp.Table(SCHEMA, neighbours)
    for spend in (dp.PureDP(1), dp.ZCDP(1)):
        (one,) = quote(table.group_by("g").agg(dp.count()), spend).measured
        assert (one.query, one.sensitivity.l1, one.sensitivity.l2_squared) == (RowCount(), l1, l1)
        assert one.law == (LaplaceNoise(l1) if spend == dp.PureDP(1) else GaussianNoise(Fraction(l1, 2)))


@pytest.mark.shared
def test_golden_sensitivities(shared):
    """V2, V5, V6, A5: no sensitivity is below a golden one; sums and histograms of one row meet them exactly."""
    vectors = json.loads((shared / "golden" / "sensitivity.json").read_text(encoding="utf-8"))["vectors"]
    tried = 0
    for vector in vectors:
        given = vector["inputs"]
        kind = {"add_remove": dp.AddRemove, "replace_one": lambda **more: dp.ReplaceOne(rows=9, **more)}[given["relation"]]
        neighbours = kind(rows_per_person=given.get("rows_per_unit", 1))
        if vector["function"] in {"sum_sensitivity", "mean_sensitivity_known_n"} and given["lower"] != given["upper"]:
            found = deviation_of_a_sum(given["lower"], given["upper"], neighbours) / given.get("n", 1)
            assert found == Fraction(vector["exact"])
        elif vector["function"] == "histogram_l1_sensitivity":
            (one,) = quote(dp.Table(SCHEMA, neighbours).group_by("g").agg(dp.count()), dp.PureDP(1)).measured
            assert one.law.scale == Fraction(vector["exact"])
        elif vector["function"] == "histogram_l2_sensitivity":
            (one,) = quote(dp.Table(SCHEMA, neighbours).group_by("g").agg(dp.count()), dp.ZCDP(1)).measured
            assert float(2 * one.law.sigma2) >= float(vector["expected"]) ** 2 * (1 - 1e-12)
        else:
            continue  # sums of squared deviations are not asked as such, and a column of one value is no request
        tried += 1
    assert tried >= 15


# Data ------------------------------------------------------------------------------------------------------------------

NUMBER = dp.Number(0, 100)
SPELLINGS = {
    "7": 7, "+7": 7, " 7 ": 7, "007": 7, "7.": 7, "7.0": 7, "7e0": 7, "0.7E+1": 7, "70e-1": 7, "-0": 0, "-0.0": 0,
    "5e-324": 0, "-1": 0, "1e999": None, "-1e999": None, "1e2": 100, "101": 100, "99999999999999999999": 100,
    "": None, " ": None, "NaN": None, "nan": None, "inf": None, "-inf": None, "Infinity": None, "0x1p3": None, "0x7": None,
    "1_000": None, "1,000": None, "１２": None, "٧": None, ".5": None, "7e": None, "--7": None, "7 7": None, "7\t": None,
    "\u00a07": None, "NA": None, "NULL": None, "None": None, "true": None, "=7": None, "$7": None, "7%": None, "½": None,
}  # fmt: skip
DAYS = {
    "2020-01-31": 30, "2019-12-31": 0, "9999-12-31": 365, "0001-01-01": 0, "0000-00-00": None, "0000-01-01": None,
    "2020-02-30": None, "2020-13-01": None, "2020-1-31": None, "20200131": None, "2020-01-31T00:00:00": None,
    "287000-01-01": None, "2020-06-30T23:59:60": None, "infinity": None, "today": None, "": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "codes"), [(NUMBER, SPELLINGS), (dp.Date("2020-01-01", "2020-12-31"), DAYS)], ids=["numbers", "dates"]
)
def test_every_spelling_has_the_one_code_that_is_listed(column, codes):
    """Bad inputs 13, 14 and 20: what a text means is written here, not only equal among engines."""
    schema = dp.Schema(k=dp.Category([f"k{i}" for i in range(len(codes))]), x=column)
    texts = list(codes)
    rows = [(f"k{i}", text) for i, text in enumerate(texts)]
    table = dp.Table(schema, dp.AddRemove())
    if isinstance(column, dp.Date):  # one group for each day, so that the cell says the code
        plan = table.group_by("k", dp.bins("x", [column.value(code) for code in range(column.size)])).agg(dp.count())
    else:
        plan = table.group_by("k").agg(dp.count("x"), dp.sum("x", nulls="skip"))
    (wanted,) = plan.layout.scans
    frame = pl.DataFrame(rows, schema=["k", "x"], orient="row")
    text = ColumnType("text", "VARCHAR")
    for engine in (open_source(frame, schema), ReferenceEngine({"k": text, "x": text}, rows)):
        cube = engine.aggregate(wanted.axes, wanted.moments)
        found: dict[str, int | None] = {}
        for key, nonnull, sums in zip(cube.keys.tolist(), cube.nonnull.tolist(), cube.sums.tolist(), strict=True):
            code = (key[1] - 1 if key[1] >= 0 else None) if isinstance(column, dp.Date) else sums[0] if nonnull[0] else None
            found[texts[key[0]]] = code
        engine.close()
        last = 364 if isinstance(column, dp.Date) else 100  # bins are counted from 1, and the last two days are one
        assert found == {text: None if code is None else min(code, last) for text, code in codes.items()}


def test_no_value_of_the_data_becomes_a_key(tmp_path):
    """C3, C5, bad inputs 11 and 15: keys are those of the schema, and no formula among them is one in CSV files."""
    values = ["x", "=HYPERLINK(1)", "@cmd", "738291", "x ", None]
    schema = dp.Schema(g=dp.Category(["x", "=1+1", 'a"b']))
    with session(pl.DataFrame({"g": values}), schema) as one:
        release = one.release(one.table.group_by("g").agg(dp.count()), name="r")
    assert release.table["g"].to_list() == ["x", "=1+1", 'a"b', None]
    folder = release.save(tmp_path)
    for path in folder.iterdir():
        content = path.read_bytes()
        assert not [value for value in values[1:4] if value.encode() in content], path.name
    written = (folder / "table.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rsplit(",", 3)[0] for line in written[1:4]] == ['"x"', '"\'=1+1"', '"a""b"']


def test_equal_bits_give_equal_releases_of_permuted_rows():
    """C4, D3, V8: with one stream of bits the order of rows changes nothing, to the last byte of the numbers."""
    rows = [(f"g{i % 7}", i % 11 / 10) for i in range(50)] + [(None, None)]
    released = []
    for seed in (0, 1, 2):
        shuffled = list(rows)
        random.Random(seed).shuffle(shuffled)  # noqa: S311 (an order of rows)
        with session(pl.DataFrame(shuffled, schema=["g", "v"], orient="row")) as one:
            one._bits = lambda: Bits(random.Random(5).randbytes)  # noqa: S311 (bits that repeat)
            table = one.table.impute({"v": dp.Uniform(), "g": dp.Weights(dict.fromkeys(GROUPS, 1))})
            asked = table.resize(40, proportion="1/2").group_by("g").agg(dp.count(), dp.mean("v"), dp.median("v"))
            released.append(one.release(asked, name="r").document["columns"])
    assert released[0] == released[1] == released[2]


# What happens when ------------------------------------------------------------------------------------------------------


class Watched:
    """An engine that says when it is asked for rows, and lets something happen right after."""

    def __init__(self, engine, log, after=lambda: None):
        self._engine, self._log, self._after = engine, log, after

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def aggregate(self, axes, moments):
        self._log.append("rows")
        cube = self._engine.aggregate(axes, moments)
        self._after()
        return cube


def test_rows_are_counted_after_the_charge_is_durable_and_never_without_it(tmp_path, monkeypatch):
    """C7, B16: reserve, then read; where the reservation fails, no row is counted."""
    from discreet.errors import LedgerError
    from discreet.ledger import Ledger

    log = []
    reserve = Ledger.reserve
    monkeypatch.setattr(Ledger, "reserve", lambda *given: [reserve(*given), log.append("charged")][0])
    with session(pl.DataFrame({"g": ["g0"], "v": [0.5]}), ledger=tmp_path / "l.db") as one:
        one._engine = Watched(one._engine, log)
        request = one.table.group_by("g").agg(dp.count())
        one.release(request, spend="1/2", name="r")
        assert log == ["charged", "rows"]
        with pytest.raises(dp.BudgetExceeded):
            one.release(request, spend=1, name="too much")

        def broken(*_):
            raise LedgerError("cannot be written")

        monkeypatch.setattr(Ledger, "reserve", broken)
        with pytest.raises(LedgerError):
            one.release(request, spend="1/4", name="s")
    assert log == ["charged", "rows"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("change", ["grows", "vanishes", "is replaced"])
def test_a_file_that_changes_while_it_is_read_is_the_one_failure(tmp_path, change, ending):
    """Bad inputs 8 and 9: the charge stays, and no number of the old or new file is seen."""
    path, frame = tmp_path / f"d{ending}", pl.DataFrame({"g": ["g0"] * 9, "v": [0.5] * 9})

    def write(table):
        (table.write_csv if ending == ".csv" else table.write_parquet)(path)

    changes = {
        "grows": lambda: write(pl.concat([frame, frame])),
        "vanishes": path.unlink,
        "is replaced": lambda: (write(frame), os.utime(path, (1, 1))),
    }
    write(frame)
    with session(path, budget=dp.PureDP(2)) as one:
        one._engine = Watched(one._engine, [], changes[change])
        with pytest.raises(dp.ReleaseFailed) as failed:
            one.release(one.table.group_by("g").agg(dp.count()), spend=1, name="r")
        assert str(failed.value) == dp.ReleaseFailed.UNFINISHED
        assert failed.value.__context__ is None
        assert one.spent == dp.PureDP(1)


@pytest.mark.parametrize("failing", range(3))
def test_a_full_disk_keeps_the_charge_and_the_release_can_be_written_later(tmp_path, monkeypatch, failing):
    """Bad input 39: whichever file of the result cannot be written, no part of it is left, and nothing is charged twice."""
    with session(pl.DataFrame({"g": ["g0"], "v": [0.5]}), ledger=tmp_path / "l.db") as one:
        request = one.table.group_by("g").agg(dp.count())
        release = one.release(request, name="r")
        calls, replace = itertools.count(), Path.replace

        def full(path, target):
            if next(calls) == failing:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return replace(path, target)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", full)
            with pytest.raises(dp.ArgumentError, match="No space left"):
                release.save(tmp_path / "out")
        left = sorted(path.name for path in (tmp_path / "out").iterdir())
        assert left == ["release.json", "table.csv", "table.parquet"][:failing]
        assert one.release(request, name="r") == release
        assert len(list(release.save(tmp_path / "out").iterdir())) == 3
        assert one.spent == dp.PureDP(1)


def test_no_environment_variable_fixes_the_noise(monkeypatch):
    """S3: neither PYTHONHASHSEED nor a variable that might be a test switch makes two releases equal."""
    for name in ("PYTHONHASHSEED", "SEED", "DISCREET_SEED", "DISCREET_TEST"):
        monkeypatch.setenv(name, "0")
    drawn = set()
    for _ in range(3):
        random.seed(0)
        np.random.seed(0)
        with session(pl.DataFrame({"g": ["g0"], "v": [0.5]})) as one:
            drawn.add(tuple(one.release(one.table.group_by("g").agg(dp.count()), name="r").table["count"]))
    assert len(drawn) == 3
    sources = Path(sys.modules["discreet"].__file__).parent.rglob("*.py")
    # Where Java and a remote server are, and the password of a database: none of them draws anything.
    reading = {"spark/driver.py", "engines/urls.py", "duckdb/postgresql.py"}
    names = [
        f"{path.parent.name}/{path.name}"
        for path in sources
        if "environ" in path.read_text(encoding="utf-8") and path.parent.name != "cli"
    ]
    assert set(names) <= reading


def calls_of(action):
    """How many functions were called, of Python and of C: a clock that other processes do not disturb."""
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def test_reading_and_charging_do_not_get_slower_with_every_charge(tmp_path):
    """T2: twice the entries take twice the work to verify, and the next charge takes as much as the first."""
    from discreet.ledger import Identity, Ledger, Reservation

    identity = Identity("d", "{}", "pure-dp", (Fraction(10**6),))
    numbers = itertools.count()

    def charge(ledger, times):
        ledger.reserve(
            identity,
            [Reservation(f"r{next(numbers)}", (Fraction(1, 1000),), "digest", "source", "{}") for _ in range(times)],
        )

    with Ledger.open(tmp_path / "l.db") as ledger:
        charge(ledger, 1)
        early = calls_of(lambda: charge(ledger, 1))
        charge(ledger, 300)
        with Ledger.open(tmp_path / "l.db") as other:
            fewer = calls_of(other.verify)
        charge(ledger, 300)
        with Ledger.open(tmp_path / "l.db") as other:
            more = calls_of(other.verify)
        charge(ledger, 1)  # follows the entries that were just written
        late = calls_of(lambda: charge(ledger, 1))
    assert 1.5 * fewer < more < 2.2 * fewer
    assert late < 2 * early


def parquet_with_bytes(path):
    """A text column that holds a byte which is no UTF-8."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    places = pa.py_buffer(np.array([0, 1, 2], dtype="<i4").tobytes())
    pq.write_table(pa.table({"x": pa.StringArray.from_buffers(2, places, pa.py_buffer(b"\xffx"))}), path)
    return dp.Category(["x"])


def parquet_with_milliseconds(path):
    """A timestamp that milliseconds can hold and microseconds cannot."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": pa.array([10**16, 0], pa.int64()).cast(pa.timestamp("ms"))}), path)
    return dp.Date("2020-01-01", "2020-12-31")


@pytest.mark.parametrize("write", [parquet_with_bytes, parquet_with_milliseconds])
def test_no_cell_ends_a_parquet_file(tmp_path, write):
    """C1: the driver's own reading ends at these cells; a release does not, so it tells nothing about them."""
    import duckdb

    column = write(tmp_path / "d.parquet")
    with pytest.raises(duckdb.Error):
        duckdb.sql(f"SELECT max(x) FROM '{tmp_path / 'd.parquet'}'").fetchall()
    with session(tmp_path / "d.parquet", dp.Schema(x=column)) as one:
        assert one.release(one.table.agg(dp.count("x")), name="r").table.height == 1
