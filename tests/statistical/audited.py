"""The tables and requests that are audited."""

from __future__ import annotations

import discreet as dp
from discreet.audit import audit_quote
from discreet.quotes.allocate import quote
from discreet.totals.exact_totals import exact_totals_of

ROWS = 100


SCHEMA = dp.Schema(g=dp.Category(["x", "y"]), f=dp.Category(["p", "q"]), v=dp.Number(0, 10))


ADDED = dp.Table(SCHEMA, dp.AddRemove())


REPLACED = dp.Table(SCHEMA, dp.ReplaceOne(rows=ROWS))


FILLED = {"g": dp.Weights({"x": 1, "y": 1}), "v": dp.Uniform()}


SKIP = {"nulls": "skip"}


FEW = 100_000


MANY = 1_000_000


CHOSEN = {**SKIP, "interval": 0}


QUARTERS = ["0.25", "0.5", "0.75"]


EIGHTHS = ["0.1", "0.2", "0.3", "0.5", "0.7", "0.8", "0.9"]


def beside_totals(invariants, rows=ROWS):
    return exact_totals_of(invariants, SCHEMA, None, rows)


def quoted(case):
    request, invariants, spend = case
    return quote(request, spend, None if invariants is None else beside_totals(invariants))


DEEP = "of several depths", "outer quantiles", "not added up", "charged as an added one", "without the heap", "the ends"
"""Several quantiles take many runs of several choices each: left to the slow tests, but for one."""


def quick(cases):
    return [name for name in cases if not any(word in name for word in DEEP)]


def audits(defect, runs):
    """Some audits, one after the other: in so few runs one may miss a defect that nine of ten find; an honest kernel is
    refuted by all together with a probability of at most 5e-9."""
    return (audit_quote(defect.quote, runs=runs, kernel=defect.kernel) for _ in range(5))
