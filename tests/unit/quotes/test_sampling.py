"""What a quote says of a sample of rows: what it gains, and what it costs in accuracy (W6)."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.quotes import allocate

SCHEMA = dp.Schema(wage=dp.Number(0, 20), sex=dp.Category(["a", "b"]))
RELATIONS = [dp.AddRemove(), dp.ReplaceOne(rows=500), dp.AddRemove(rows_per_person=2), dp.ReplaceOne(500, 2)]
SPENDS = [dp.PureDP("0.3"), dp.PureDP(3), dp.ZCDP("0.1"), dp.GDP(1)]


def asked(table):
    return table.group_by("sex").agg(dp.count(), dp.sum("wage", nulls="skip"), dp.mean("wage", nulls="skip"))


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("neighbours", RELATIONS, ids=str)
@pytest.mark.parametrize("sample", [("1/2", None), ("1/50", None), (None, 100)])
def test_the_noise_of_a_total_is_never_smaller_with_a_sample(neighbours, spend, sample):
    if sample[0] is None and neighbours.rows is None:
        return
    table = dp.Table(SCHEMA, neighbours)
    direct, sampled = (allocate.quote(asked(one), spend) for one in (table, table.sample(sample[0], rows=sample[1])))
    rate = sampled.plan.facts.drawn.rate_of(neighbours)
    for one, other in zip(direct.measured, sampled.measured, strict=True):
        assert other.law.variance() / float(rate) ** 2 >= one.law.variance() * (1 - 1e-9)
    assert sampled.unsampled.expected == direct.expected


def test_the_quote_says_what_the_sample_costs():
    said = str(allocate.quote(asked(dp.Table(SCHEMA, dp.AddRemove()).sample("1/10")), dp.PureDP(1)))
    assert "the sample costs accuracy; for all rows, in a group of 1,000 rows" in said
    assert "count: ±9; estimated from the sample ±30 by noise alone" in said
    assert "the error of the sample itself comes on top" in said
    assert "saves nothing" not in said


def test_the_quote_says_where_a_sample_gains_nothing():
    table = dp.Table(SCHEMA, dp.AddRemove())
    gaussian = str(allocate.quote(asked(table.sample("1/10")), dp.ZCDP(1)))
    assert "sampling saves nothing in this measure" in gaussian
    private = str(allocate.quote(asked(table.sample(rows=10)), dp.PureDP(1)))
    assert "a table with a private number of rows may have no more than are sampled" in private
    assert "estimated from the sample" not in private


def test_a_request_that_is_public_without_the_sample_has_no_comparison():
    quoted = allocate.quote(dp.Table(SCHEMA, dp.ReplaceOne(500)).sample("1/10").agg(dp.count()), dp.PureDP(1))
    assert quoted.unsampled is None
    assert "costs accuracy" not in str(quoted)


def test_a_sample_is_no_part_of_the_table_as_recorded():
    """Beside the prepared table it is refused, as a resize is; alone, the table as recorded is read whole."""
    plan = dp.Table(SCHEMA, dp.AddRemove()).sample("1/10").agg(dp.sum("wage", nulls="skip"))
    with pytest.raises(dp.PlanError, match="the table is sampled"):
        plan.original()
    assert plan.original(prepared=False).steps == ()
