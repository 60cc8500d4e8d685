"""Values that a sink refuses: left out, sent with another value, or a reason to stop; the others arrive. One table for all sinks."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin import sinks
from muntin.errors import DefinitionError
from muntin.jobs.sending.notes import standings
from tests.case_counts import paired
from tests.sinks.places import PLACES, MariaTable, Place, Table, Topic
from tests.sinks.shop import Shop, differences
from tests.storage.three_batches import START


def hostile() -> Iterator[Any]:
    every = ((kind, name) for kind in PLACES for name in kind.refuses)
    for (kind, name), choice in paired(every, ["quarantine", "replace", "stop"]):
        yield pytest.param(kind, name, choice, id=f"{kind.__name__}-{name}-{choice}")


@pytest.mark.parametrize(("kind", "name", "choice"), hostile())
def test_a_value_that_the_sink_refuses(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: type[Place], name: str, choice: str
) -> None:
    place, (key, value, column) = PLACES[kind](request, monkeypatch), kind.refuses[name]
    shop = Shop(tmp_path, place.sink(on_unsupported=choice))
    shop.write(0, pa.string(), {"a": "1", key: "1" if column == "v" else value})
    shop.ran(0)
    shop.write(0, pa.string(), {"a": "2", key: value, "c": "3"})
    sent, published = shop.ran(0), shop.published()
    bad = (key, START)
    if choice == "stop":
        assert f"column {column}: " in sent.failed
        assert "no later run mends that by itself" in sent.line
        if place.takes_all_or_none:
            assert differences({(k, START): "1" for k in ("a", key) if column == "v"}, place.held()) == []
    else:
        is_replaced = choice == "replace" and column == "v"
        ((misfit,),) = (one.misfits for one in standings(shop.bound))
        assert (misfit.column, misfit.replaced, '"window_start":"2024-01-01' in misfit.key or len(key) > 200) == (column, is_replaced, True)
        assert misfit.line in sent.line
        assert sent.needs_a_person != is_replaced
        assert differences({where: v for where, v in published.items() if where != bad or is_replaced}, place.held()) == (
            [(bad, value, "x\ufffdy" if "\0" in value else None)] if is_replaced else []
        )

    shop.write(0, pa.string(), {"a": "4", **({key: "5"} if column == "v" else {})})
    sent = shop.ran(0)
    assert (sent.failed, sent.misfits, differences(shop.published(), place.held())) == ("", (), [])
    assert not shop.sent().needs_a_person


def test_more_misfits_than_values_can_be_to_blame_for_stop_the_sink(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PLACES[Table](request, monkeypatch)
    shop = Shop(tmp_path, place.sink())
    shop.write(0, pa.string(), {f"k{at}": "\0" for at in range(120)})
    sent = shop.ran(0)
    assert sent.blocked
    assert "more than 100 windows do not fit, the first of them: {" in sent.failed


@pytest.mark.parametrize("choice", ["quarantine", "replace"])
@pytest.mark.parametrize(
    ("kind", "value"), [(pa.float64(), math.nan), (pa.float32(), -math.inf), (pa.timestamp("s"), 400_000_000_000), (pa.date32(), 4_000_000)]
)
def test_numbers_and_days_that_mysql_does_not_know(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType, value: Any, choice: str
) -> None:
    place = PLACES[MariaTable](request, monkeypatch)
    shop = Shop(tmp_path, place.sink(on_unsupported=choice))
    shop.write(0, kind, {"a": 1, "bad": value})
    sent = shop.ran(0)
    ((misfit,),) = (sent.misfits,)
    assert (misfit.column, misfit.replaced, "Incorrect" in misfit.why) == ("v", choice == "replace", True)
    assert {key for key, _ in place.held()} == ({"a", "bad"} if choice == "replace" else {"a"})
    shop.write(0, kind, {"a": 1, "bad": 2})
    assert shop.ran(0).misfits == ()
    assert {key for key, _ in place.held()} == {"a", "bad"}


def test_small_messages_arrive_where_a_topic_takes_no_large_batch(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PLACES[Topic](request, monkeypatch)
    assert isinstance(place, Topic)
    place.topic = place.broker.topic(max_message_bytes="2000")
    shop = Shop(tmp_path, place.sink())
    shop.write(
        0, pa.string(), {**{f"k{at}": f"{at:01000x}" for at in range(20)}, "bad": "".join(f"{at:x}" for at in range(1_000, 9_000, 7))}
    )
    sent = shop.ran(0)
    assert [one.column for one in sent.misfits] == ["v"]
    assert {key for (key, _), *_ in differences(shop.published(), place.held())} == {"bad"}


class TestNames:
    """What PostgreSQL cannot have is refused when the definition is built."""

    @pytest.mark.parametrize("name", ["v" * 64, "ä" * 32, "ctid"])
    def test_a_result(self, tmp_path: Path, name: str) -> None:
        plain = Shop(tmp_path, ()).pipeline
        named = replace(plain, aggregates={name: agg.count()})
        with pytest.raises(DefinitionError, match=f"{name}' has 64 bytes, and PostgreSQL cuts names after 63|no column 'ctid'"):
            replace(named, to=sinks.postgres("warehouse", table="t"))
        assert replace(named, to=sinks.kafka("b:9092", "t")).to

    @pytest.mark.parametrize("name", ["v" * 65, "v "])
    def test_a_result_in_mysql(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(DefinitionError, match="MySQL can have no column"):
            replace(Shop(tmp_path, ()).pipeline, aggregates={name: agg.count()}, to=sinks.mysql("shop", table="t"))

    def test_a_table(self) -> None:
        with pytest.raises(DefinitionError, match="has 64 bytes"):
            sinks.postgres("warehouse", table="reports." + "t" * 64)
