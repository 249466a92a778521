"""Tables of persons beside rows on Spark: the integers of the reference, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from tests.spark.test_conformance import ODD, STRICT

from discreet.audit.engines.conformance import OpenEngine
from discreet.audit.engines.joins import JOINED_SCHEMAS, Source, check_joins
from discreet.engines import open_sources
from discreet.engines.base import Engine
from discreet.engines.joined import JoinedEngine
from discreet.engines.spark.joined import join_frames
from discreet.errors import SourceError

SCHEMA = {"id": pl.Int64, "town": pl.String, "age": pl.Float64, "since": pl.Date}
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")]


def opener(openers: Mapping[str, OpenEngine], source: str) -> Any:
    def open_both(visits: Source, people: Source) -> Engine:
        engine, other = (openers[source](*one) for one in (visits, people))
        joiner = join_frames(engine, {"people": other})
        assert joiner is not None
        return JoinedEngine(engine, {"people": other}, joiner)

    return open_both


@pytest.mark.parametrize("settings", [{}, ODD, STRICT], ids=["as it is", "odd", "strict"])
def test_spark_joins_as_the_reference(openers: Mapping[str, OpenEngine], set_to: Any, settings: dict[str, str]) -> None:
    with set_to(settings):
        assert check_joins(opener(openers, "frame")) == (2 + 5 + 2) * 15


def test_frames_are_opened_together_and_other_sources_are_refused(session: Any) -> None:
    visits = session.createDataFrame([(1, "a", 1.0)], "visitor long, shop string, amount double")
    people = session.createDataFrame([(1, "n", 3.0, None)], "id long, town string, age double, since date")
    beside = {"people": (people, JOINED_SCHEMAS[1])}
    engine = open_sources(visits, JOINED_SCHEMAS[0], beside)
    assert isinstance(engine, JoinedEngine)
    assert not engine.can_keep_keys()
    with pytest.raises(SourceError, match="cannot be put together by persons"):
        open_sources(visits, JOINED_SCHEMAS[0], {"people": (pl.DataFrame(schema=SCHEMA), JOINED_SCHEMAS[1])})
