"""A stream whose function asks to end the program is a source that fails: what it would print may be a value."""

import pyarrow as pa
import pytest

import discreet as dp

TABLE = pa.table({"x": [1, 2, 3]})
VALUE = "row 2 is wrong"


def session_over(source):
    return dp.Session(
        source,
        dp.Schema(x=dp.Number(0, 9)),
        dataset="d",
        ledger=":memory:",
        budget=dp.PureDP(1),
        neighbours=dp.AddRemove(),
    )


class Exits:
    """Gives its stream as often as it is opened before, then exits, at once or after the first batch."""

    def __init__(self, opened, late):
        self.opened, self.late = opened, late

    def __call__(self):
        if self.opened:
            self.opened -= 1
            return TABLE.to_reader()
        if not self.late:
            raise SystemExit(VALUE)
        return pa.RecordBatchReader.from_batches(TABLE.schema, self.batches())

    def batches(self):
        yield from TABLE.to_batches()
        raise SystemExit(VALUE)


def asked(table, scans):
    return table.agg(dp.count(), *([dp.mean("x", nulls="skip"), dp.histogram("x", [0, 5, 9])] if scans > 1 else []))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("scans", [1, 2])
def test_a_stream_that_exits_is_the_constant_failure(late, scans, capfd):
    with session_over(Exits(1, late)) as session:
        with pytest.raises(dp.ReleaseFailed) as failed:
            session.release(asked(session.table, scans), spend="0.5", name="r")
        assert str(failed.value) == dp.ReleaseFailed.UNFINISHED
        assert failed.value.__cause__ is None
        assert session.spent == dp.PureDP("0.5")
    assert capfd.readouterr() == ("", "")


def test_a_stream_that_exits_when_it_is_opened_first_cannot_be_opened():
    with pytest.raises(dp.SourceError) as refused:
        session_over(Exits(0, late=False))
    assert "SystemExit" in str(refused.value)
    assert VALUE not in str(refused.value)


def test_whoever_presses_a_key_ends_the_program():
    source = Exits(1, late=False)
    with session_over(source) as session:

        def interrupted():
            raise KeyboardInterrupt

        source.__class__ = type("Interrupted", (Exits,), {"__call__": lambda _: interrupted()})
        with pytest.raises(KeyboardInterrupt):
            session.release(asked(session.table, 1), spend="0.5", name="r")
        assert session.spent == dp.PureDP("0.5")
