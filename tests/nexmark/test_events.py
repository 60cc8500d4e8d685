"""The generator's events are those of Apache Beam's, which printed a million of them: its first lines stand here, of the others a digest.

Beam 2.60.0 (`beam-sdks-java-nexmark`), `NexmarkConfiguration.DEFAULT` from 2015-07-15, in order, and with `outOfOrderGroupSize = 1000`.
"""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.nexmark.events import Clock, auctions, bids, of_auctions, of_bids, of_persons, persons

EVENTS = 1_000_000
FIRST = {
    "person": ["1436918400000", "1000", "Peter Jones", "nhd@xcat.com", "7241 7320 9143 4888", "Portland", "WY"],
    "auction": ["1436918400010", "1000", "wkx mgee", "eszpqxtdxrvwmmywkmogoahf", "28873", "29448", "1436918409425", "1000", "13"],
}
IN_ORDER, SHUFFLED = Clock(), Clock(group=1000)
PRINTED = {
    IN_ORDER: {"person": "c21510820cdd69cb", "auction": "d050f2e83cc5c4a1", "bid": "7e500b8f0a6f3cfa"},
    SHUFFLED: {"person": "6d4abaa8401fc6ba", "auction": "b81ff66ad8e990d3", "bid": "5648b6b814c4b219"},
}


def tables(clock: Clock) -> dict[str, pa.Table]:
    numbers = clock.numbers(0, EVENTS)
    return {
        "person": persons(of_persons(numbers), clock),
        "auction": auctions(of_auctions(numbers), clock),
        "bid": bids(of_bids(numbers), clock).drop_columns("channel"),
    }


def digest(table: pa.Table) -> str:
    """The same for the same values, in the same order: of numbers as 64 bits, of texts as lines."""
    found = hashlib.sha256()
    for column in table.columns:
        if pa.types.is_string(column.type):
            found.update("\n".join(column.to_pylist()).encode())
        else:
            found.update(np.ascontiguousarray(_numbers(column)).tobytes())
    return found.hexdigest()[:16]


def _numbers(column: pa.ChunkedArray) -> Any:
    whole = column.cast(pa.int64())
    return whole.to_numpy() // 1000 if pa.types.is_timestamp(column.type) else whole.to_numpy()


@pytest.mark.parametrize("clock", [IN_ORDER, SHUFFLED], ids=["in order", "shuffled"])
def test_a_million_events_are_those_of_java(clock: Clock) -> None:
    assert {kind: digest(table) for kind, table in tables(clock).items()} == PRINTED[clock]


def test_auctions_of_a_hundred_generators_last_as_long_as_at_a_hundredth_of_the_pace() -> None:
    numbers = of_auctions(IN_ORDER.numbers(0, 5_000))
    one, many = (auctions(numbers, clock) for clock in (IN_ORDER, Clock(IN_ORDER.every_us // 100, generators=100)))
    lasts = [pc.subtract(table["expires"], table["dateTime"]) for table in (one, many)]
    assert lasts[0].equals(lasts[1])


def test_the_first_person_and_the_first_auction_as_java_prints_them() -> None:
    numbers = IN_ORDER.numbers(0, 50)
    found = {"person": persons(of_persons(numbers), IN_ORDER), "auction": auctions(of_auctions(numbers), IN_ORDER)}
    order = {
        "person": ["dateTime", "id", "name", "emailAddress", "creditCard", "city", "state"],
        "auction": ["dateTime", "id", "itemName", "description", "initialBid", "reserve", "expires", "seller", "category"],
    }
    for kind, names in order.items():
        first = found[kind].select(names).slice(0, 1)
        plain = [_numbers(column)[0] if pa.types.is_timestamp(column.type) else column[0].as_py() for column in first.columns]
        assert [*map(str, plain)] == FIRST[kind]
