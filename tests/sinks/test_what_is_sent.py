"""What is sent is what was published: types that change, targets that people changed, runs that end.

One table for all sinks, `PLACES`; real servers. Values that sinks refuse: test_refused_values.py.
"""

import itertools
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin.jobs.sending.notes import Patience, standings
from muntin.jobs.sending.send import send
from tests.case_counts import long, paired
from tests.sinks.places import PLACES, REACH, Place, Table
from tests.sinks.shop import Shop, differences


@pytest.fixture(params=PLACES, ids=lambda kind: kind.__name__)
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    return PLACES[request.param](request, monkeypatch)


D10, D12 = pa.decimal128(10, 2), pa.decimal128(12, 4)
CHANGES = {  # type and value of the first batch, of the second
    "decimals": (D10, Decimal("1.23"), D12, Decimal("1.2345")),
    "float to double": (pa.float32(), 0.5, pa.float64(), 16777217.123),
    "short to int": (pa.int16(), 5, pa.int32(), 70_000),
    "int to bigint": (pa.int32(), 5, pa.int64(), 2**40),
    "bigint to decimal": (pa.int64(), 2**53 + 1, D12, Decimal("5.5")),
    "unsigned to decimal": (pa.uint64(), 2**64 - 1, D12, Decimal("5.5")),
}
RETYPED = {  # type and value; the value, and how another definition spells it
    "to text": (pa.int64(), 5, "v || ' pieces'"),
    "to a number": (pa.string(), "5", "v::bigint"),
    "to true or false": (pa.int64(), 5, "v > 4"),
    "to a day": (pa.string(), "2024-02-29", "v::date"),
    "to a list": (pa.float64(), 0.5, "[v, null]"),
    "to fewer digits": (pa.float64(), 0.1, "v::decimal(3, 1)"),
}


@pytest.mark.parametrize(("place", "change"), paired(PLACES, CHANGES), indirect=["place"])
def test_a_type_that_widens_in_the_files(tmp_path: Path, place: Place, change: str) -> None:
    old, before, new, after = CHANGES[change]
    shop = Shop(tmp_path, place.sink())
    shop.write(0, old, {"a": before, "b": before})
    shop.ran(0)
    shop.write(1, new, {"a": after})
    sent = shop.ran(1)
    assert (sent.failed, differences(shop.published(), place.held())) == ("", [])
    if isinstance(place, Table):
        assert "all windows, since column v was " in sent.line
    assert shop.sent().rows == 0


# hour 0: a, b    hour 1: a, an event of hour 0 that comes late
def test_a_late_row_corrects_what_was_sent(tmp_path: Path, place: Place) -> None:
    shop = Shop(tmp_path, place.sink(), lateness="5h")
    shop.write(0, pa.float64(), {"a": 0.5, "b": 0.5})
    shop.ran(0)
    shop.write(1, pa.float64(), {"a": 0.75}, of=0)
    sent = shop.ran(1)
    assert (sent.failed, {k: v for (k, _), v in shop.published().items()}) == ("", {"a": 0.75, "b": 0.5})
    assert differences(shop.published(), place.held()) == []


@pytest.mark.parametrize(("place", "change"), paired(PLACES, RETYPED), indirect=["place"])
def test_a_type_of_another_definition(tmp_path: Path, place: Place, change: str) -> None:
    kind, value, expression = RETYPED[change]
    shop = Shop(tmp_path, place.sink())
    shop.write(0, kind, {"a": value, "b": value})
    shop.ran(0)
    shop.value = expression
    assert shop.ran(0).failed == ""
    assert differences(shop.published(), place.held()) == []
    assert shop.sent().rows == 0


def test_a_first_batch_without_rows(tmp_path: Path, place: Place) -> None:
    shop = Shop(tmp_path, place.sink())
    shop.write(0, pa.int64(), {})
    shop.run(0)
    assert (shop.sent().failed, shop.sent().rows) == ("", 0)
    shop.write(1, pa.int64(), {"a": 1})
    assert (shop.ran(1).failed, differences(shop.published(), place.held())) == ("", [])
    shop.write(1, pa.int64(), {})
    assert (shop.ran(1).failed, place.held()) == ("", {})


def damages() -> Iterator[Any]:
    """Each damage of each sink, before a run with changes or without; both at length."""
    for at, (kind, what) in enumerate((each, what) for each in PLACES for what in each.damages):
        for more in (True, False) if long() else (at % 2 == 0,):
            yield pytest.param(kind, what, more, id=f"{kind.__name__}-{what[:40]}-{'with' if more else 'without'} changes")


@pytest.mark.parametrize(("kind", "what", "more"), damages())
def test_a_target_that_somebody_changed(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: type[Place], what: str, more: bool
) -> None:
    place = PLACES[kind](request, monkeypatch)
    shop = Shop(tmp_path, place.sink())
    shop.write(0, pa.string(), {"a": "long", "b": "longer"})
    shop.ran(0)
    place.damage(what)
    shop.write(1, pa.string(), {"c": "3"})
    sent = shop.ran(*[1] * more)
    assert (sent.failed, sent.rows, differences(shop.published(), place.held())) == ("", 2 + more, [])
    assert f"all windows, since {kind.damages[what]}" in sent.line.replace(f"topic {getattr(place, 'topic', '')} ", "")
    assert shop.sent().rows == 0


@pytest.mark.parametrize(("kind", "more"), paired([each for each in PLACES if each.ledger[0]], [True, False]))
def test_a_ledger_that_went_back(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: type[Place], more: bool
) -> None:
    """It says of windows that came and went since that they never were."""
    place = PLACES[kind](request, monkeypatch)
    shop = Shop(tmp_path, place.sink())
    shop.write(0, pa.string(), {"a": "1", "b": "2"})
    shop.ran(0)
    place.damage(kind.ledger[0])
    shop.write(1, pa.string(), {"c": "3", "d": "4"})
    shop.ran(1)
    place.damage(kind.ledger[1])
    shop.write(1, pa.string(), {"d": "5"})
    sent = shop.ran(*[1] * more)
    assert (sent.failed, differences(shop.published(), place.held())) == ("", [])
    assert "since its ledger went back from version" in sent.line
    assert shop.sent().rows == 0


def test_a_ledger_that_is_gone_lets_no_rows_of_others_go(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", database)
    place = Table(database)
    shop = Shop(tmp_path, place.sink())
    shop.write(0, pa.string(), {"a": "1"})
    shop.ran(0)
    for damage in ("DELETE FROM muntin_ledger", "DROP TABLE muntin_ledger"):
        place.damage(damage)
        assert "muntin status --sinks FILE --send --anew" in shop.sent().failed
        [sent] = send(shop.bound, REACH, anew=True)
        assert (sent.failed, differences(shop.published(), place.held())) == ("", [])


def test_a_run_that_ends_anywhere(tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each sign of life of the sink in turn, while a type widens and a key does not fit."""
    refused = [key for key, _, column in place.refuses.values() if column == "k"][:1]
    bad = next(iter(refused), "fine")
    shop, alive = Shop(tmp_path, place.sink()), Patience.alive
    for at in range(8):
        number = Decimal(1).scaleb(-at)
        shop.write(at, pa.decimal128(10 + at, at), {"a": number, "b" if at else bad: number})
        signs = itertools.count()

        def ending(self: Patience, signs: Any = signs, at: int = at) -> None:
            alive(self)
            if next(signs) == at:
                raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr(Patience, "alive", ending)
            ended = shop.ran(at).failed == "MemoryError"
        sent = shop.sent()
        assert (ended or at > 3, sent.failed) == (True, "")
        assert {key for (key, _), *_ in differences(shop.published(), place.held())} == {*refused}
        assert [one.misfits for one in standings(shop.bound)] == [sent.misfits]
        assert len(sent.misfits) == len(refused)
