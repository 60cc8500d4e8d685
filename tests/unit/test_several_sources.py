"""Definitions over several sources: what is refused, what names a state, and how far time is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from muntin import Limits, Pipeline, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import BEFORE_ALL
from muntin.definition.several_sources import Watermarking
from muntin.errors import DefinitionError
from muntin.jobs.state.definition_note import described, differences
from muntin.jobs.state.fingerprint import fingerprint
from muntin.timeline.batches import Batches
from muntin.timeline.closing import watermarks
from tests.several.shop import START

CLICKS = sources.files("clicks/{start:%H}.parquet", event_time="at")
ORDERS = sources.kafka(
    "broker:9092", "orders", value="json", columns={"t": "BIGINT", "amount": "BIGINT"}, event_time=sources.at("t", unit="ms")
)


def pipeline(**other: Any) -> Pipeline:
    right: dict[str, Any] = {
        "name": "shop",
        "source": {"clicks": CLICKS, "orders": ORDERS},
        "schedule": "1h",
        "start": START,
        "windows": {"hour": windows.tumbling("1h")},
        "aggregates": {"n": agg.count(), "spent": agg.sum("amount", source="orders")},
    }
    return Pipeline(**(right | other))


UPSTREAM = Pipeline(
    name="up", source=CLICKS, schedule="1h", start=START, windows={"hour": windows.tumbling("1h")}, aggregates={"n": agg.count()}
)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"source": {"clicks": CLICKS}}, "1 sources by name; give two to 9"),
        ({"source": {f"s{n}": CLICKS for n in range(10)}}, "10 sources by name"),
        ({"source": {"the clicks": CLICKS, "orders": ORDERS}}, "'the clicks' cannot name a source"),
        ({"source": {"clicks": CLICKS, "orders": "orders.csv"}}, r"source\['orders'\]: 'orders.csv' is not a source"),
        (
            {"source": {"clicks": CLICKS, "orders": sources.windows(UPSTREAM, "hour")}},
            "windows of another pipeline cannot be one of several",
        ),
        ({"source": {"clicks": CLICKS, "orders": sources.files("{start:%Y}.csv", event_time="t")}}, "source 'orders': path: neighbouring"),
        (
            {"source": {"clicks": CLICKS, "orders": replace(ORDERS, dedupe=("id",), dedupe_within_us=1)}},
            r"source\['orders'\]: within= of rows is for a pipeline with one source",
        ),
        ({"source": {"a": ORDERS, "b": ORDERS}, "aggregates": {"n": agg.count()}}, "two sources read the topic 'orders'"),
        ({"aggregates": {"n": agg.count(), "m": agg.max("x", source="order")}}, "no source 'order'; the sources are 'clicks', 'orders'"),
        ({"aggregates": {"m": agg.max("x", source="orders")}}, "no aggregate takes rows of 'clicks'"),
        ({"source": CLICKS}, "no source 'orders'; the only source has no name"),
        ({"source": CLICKS, "aggregates": {"n": agg.count()}, "limits": Limits(idle_after="2h")}, "idle_after is for several sources"),
        ({"limits": Limits(idle_after="2h")}, 'idle_after is for watermark="events"'),
        ({"where": {"carts": "x > 0"}}, "where: 'carts' is not possible; choose from 'clicks', 'orders'"),
        ({"where": {"clicks": " "}}, r"where\['clicks'\]: ' ' is not a SQL condition"),
        ({"source": CLICKS, "aggregates": {"n": agg.count()}, "where": {"clicks": "x > 0"}}, "is not a SQL condition"),
        ({"windows": {"minute": windows.arrival(windows.by_time("1m"))}}, "their times of arrival go back"),
        (
            {
                "source": {"clicks": sources.files("{start:%H}.csv", event_time="at", arrival_time="came"), "orders": ORDERS},
                "windows": {"ten": windows.arrival(windows.by_count(10))},
            },
            r"source\['orders'\]: other sources have arrival_time=",
        ),
    ],
)
def test_what_is_refused(other: dict[str, Any], told: str) -> None:
    with pytest.raises(DefinitionError, match=told):
        pipeline(**other)


@pytest.mark.parametrize(
    "outer", [lambda inner: agg.by("page", inner), lambda inner: agg.elementwise("xs", inner)], ids=["by", "elementwise"]
)
def test_the_source_is_said_outside(outer: Any) -> None:
    with pytest.raises(DefinitionError, match=r"say source='clicks' in \w+\(\.\.\.\) itself"):
        outer(agg.count(source="clicks"))


def test_every_aggregate_may_name_a_source() -> None:
    """And is another field then, which says so."""
    assert str(agg.sum("amount", source="orders", where="amount > 5")) == "sum(amount) of orders where amount > 5"
    plain, own = agg.sum("amount"), agg.sum("amount", source="orders")
    assert [field.stem for field in own.fields] == ["count_amount_of_orders", "sum_amount_of_orders"]
    assert {field.facts for field in plain.fields}.isdisjoint(field.facts for field in own.fields)
    assert agg.count("page", distinct=True, source="clicks").source == "clicks"


def test_order_names_and_conditions_are_part_of_the_state() -> None:
    """The rows of a batch arrive source by source, so that another order is another state; idleness changes windows alone."""
    named = {
        fingerprint(each)
        for each in (
            pipeline(),
            pipeline(source={"orders": ORDERS, "clicks": CLICKS}),
            pipeline(source={"visits": CLICKS, "orders": ORDERS}),
            pipeline(where={"clicks": "page <> 'x'"}),
        )
    }
    assert len(named) == 4
    assert fingerprint(pipeline(watermark="events")) == fingerprint(pipeline(watermark="events", limits=Limits(idle_after="2h")))


def test_a_change_is_told_source_by_source() -> None:
    local = sources.files("clicks/{start:%H}.parquet", event_time=sources.at("at", timezone="Europe/Vienna"))
    now = pipeline(
        source={"clicks": local, "orders": ORDERS}, watermark="events", limits=Limits(idle_after="2h"), where={"clicks": "page > 1"}
    )
    assert differences(described(pipeline()), described(now)) == [
        "where: '' is now {'clicks': 'page > 1'}",
        "event_time: 'clicks' was at, is now at Europe/Vienna",
        "watermark: 'interval' is now 'events, idle after 2h'",
    ]


# batches     0   1   2   3   4
# ends       10  20  30  40  50
# clicks      9  19   -  39  49
# orders      5   -   -   -  44
@pytest.mark.parametrize(
    ("idle", "expected"),
    [
        (None, [5, 5, 5, 5, 44]),  # orders hold back
        (30, [5, 5, 5, 39, 44]),  # after batch 3 orders are 35 behind
        (25, [5, 5, 5, 39, 44]),  # after batch 2 exactly 25: not further
        (15, [5, 5, 19, 39, 44]),
        (14, [5, 19, 19, 39, 44]),
        (10, [5, 19, 19, 39, 44]),  # after batch 2 both are idle: the largest of all
        (4, [9, 19, 19, 39, 49]),
    ],
)
def test_a_silent_source_holds_nothing_back(idle: int | None, expected: list[int]) -> None:
    none = BEFORE_ALL
    newest = np.array([(9, 5), (19, none), (none, none), (39, none), (49, 44)])
    plain = Batches.of((10 * at, 10 * at + 10, at, max(row), 0, 0, 1) for at, row in enumerate(newest.tolist()))
    batches = replace(plain, newest_by_source=newest)
    assert watermarks(batches, Watermarking("events", 2, idle)).tolist() == expected


# batches     0   1   2
# ends       10  20  30
# clicks      9   -   -
# orders      -   -  29
@pytest.mark.parametrize(("idle", "expected"), [(None, [BEFORE_ALL, BEFORE_ALL, 9]), (100, [9, 9, 9]), (20, [9, 9, 29])])
def test_a_source_without_an_event_so_far(idle: int | None, expected: list[int]) -> None:
    """It is idle if anybody may be; else nothing is known."""
    none = BEFORE_ALL
    newest = np.array([(9, none), (none, none), (none, 29)])
    plain = Batches.of((10 * at, 10 * at + 10, at, max(row), 0, 0, 1) for at, row in enumerate(newest.tolist()))
    batches = replace(plain, newest_by_source=newest)
    assert watermarks(batches, Watermarking("events", 2, idle)).tolist() == expected


def test_batches_of_one_source_and_of_several_are_joined() -> None:
    """As where a batch was empty."""
    one = Batches.of([(0, 10, 1, 5, 0, 0, 1)])
    two = replace(Batches.of([(10, 20, 2, 15, 0, 0, 1)]), newest_by_source=np.array([[12, 15]]))
    joined = Batches.joined([two, one])
    assert joined.newest_by_source.tolist() == [[BEFORE_ALL, BEFORE_ALL], [12, 15]]
    assert [joined.newest_of(number).tolist() for number in (1, 2)] == [[BEFORE_ALL, 15], [BEFORE_ALL, BEFORE_ALL]]
    assert joined.take(slice(1, 2)).newest_by_source.tolist() == [[12, 15]]
