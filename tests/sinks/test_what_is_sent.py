"""What is sent is what was published: types that change, values that a sink refuses, targets that people changed, runs that end.

One table for all sinks, `PLACES`; real servers.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sinks, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.sending.catch_up import Sent
from muntin.jobs.sending.patience import Patience
from muntin.jobs.sending.send import send
from muntin.jobs.sending.standing import standings
from muntin.jobs.state.bound import Bound, bind
from tests.sinks.places import PLACES, REACH, Held, Place, Table, Topic, alike
from tests.storage.three_batches import HERE, HOUR, START


@dataclass
class Shop:
    """Windows of an hour with one result; they go to one sink."""

    folder: Path
    to: Any
    value: str = "v"

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="shop",
            source=sources.files(str(self.folder / "data/{start:%H}.parquet"), event_time="t", missing="empty"),
            schedule="1h",
            start=START,
            keys=["k"],
            windows={"hour": windows.tumbling("1h")},
            aggregates={"v": agg.last(self.value)},
            to=self.to,
        )

    @property
    def bound(self) -> Bound:
        return bind(self.pipeline, self.folder / "state")

    def write(self, at: int, kind: pa.DataType, rows: Mapping[str, Any]) -> None:
        (self.folder / "data").mkdir(exist_ok=True)
        columns = [
            pa.repeat(pa.scalar(START + at * HOUR, pa.timestamp("us", tz="UTC")), len(rows)),
            pa.array(rows),
            pa.array([*rows.values()], kind),
        ]
        pq.write_table(pa.table(columns, ["t", "k", "v"]), self.folder / f"data/{at:02d}.parquet")

    def ran(self, *batches: int) -> Sent:
        """Run some batches without sinks, then send."""
        to, self.to = self.to, ()
        for at in batches:
            run(self.pipeline, root=self.folder / "state", start=START + at * HOUR, end=START + (at + 1) * HOUR, spark=HERE)
        self.to = to
        return self.sent()

    def sent(self) -> Sent:
        (one,) = send(self.bound, REACH)
        return one

    def published(self) -> Held:
        rows = read(self.pipeline, "hour", root=self.folder / "state").to_pylist()
        return {(row["k"], row["window_start"]): row["v"] for row in rows}


def differences(published: Held, held: Held) -> list[Any]:
    """The windows that a sink has otherwise than they are published."""
    return [
        (place, published.get(place), held.get(place))
        for place in published.keys() | held.keys()
        if place not in held or place not in published or not alike(published[place], held[place])
    ]


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


@pytest.mark.parametrize("change", CHANGES)
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


@pytest.mark.parametrize("change", RETYPED)
def test_a_type_of_another_definition(tmp_path: Path, place: Place, change: str) -> None:
    kind, value, expression = RETYPED[change]
    shop = Shop(tmp_path, place.sink())
    shop.write(0, kind, {"a": value, "b": value})
    shop.ran(0)
    shop.value = expression
    assert shop.ran(0).failed == ""
    assert differences(shop.published(), place.held()) == []
    assert shop.sent().rows == 0


def hostile() -> Iterator[Any]:
    for kind, name in ((each, name) for each in PLACES for name in each.refuses):
        yield pytest.param(kind, name, id=f"{kind.__name__}-{name}")


@pytest.mark.parametrize(("kind", "name"), hostile())
@pytest.mark.parametrize("choice", ["quarantine", "replace", "stop"])
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


def damages() -> Iterator[Any]:
    for kind, what in ((each, what) for each in PLACES for what in each.damages):
        yield pytest.param(kind, what, id=f"{kind.__name__}-{what[:40]}")


@pytest.mark.parametrize("more", [True, False], ids=["with changes", "without changes"])
@pytest.mark.parametrize(("kind", "what"), damages())
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


def test_a_run_that_ends_anywhere(tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each sign of life of the sink in turn, while a type widens and a key does not fit."""
    bad = next((key for key, _, column in place.refuses.values() if column == "k"), "fine")
    shop, alive = Shop(tmp_path, place.sink()), Patience.alive
    for at in range(10):
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
        assert {key for (key, _), *_ in differences(shop.published(), place.held())} == ({bad} if place.refuses else set())
        assert [one.misfits for one in standings(shop.bound)] == [sent.misfits]
        assert len(sent.misfits) == (1 if place.refuses else 0)


def test_more_misfits_than_values_can_be_to_blame_for_stop_the_sink(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = PLACES[Table](request, monkeypatch)
    shop = Shop(tmp_path, place.sink())
    shop.write(0, pa.string(), {f"k{at}": "\0" for at in range(120)})
    sent = shop.ran(0)
    assert sent.blocked
    assert "more than 100 windows do not fit, the first of them: {" in sent.failed


class TestTables:
    """What people may have made of a table."""

    @pytest.fixture
    def shop(self, tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> Shop:
        monkeypatch.setenv("WAREHOUSE", database)
        shop = Shop(tmp_path, Table(database).sink())
        shop.write(0, pa.int64(), {"a": 1, "bb": 2})
        return shop

    @pytest.mark.parametrize(
        ("kinds", "altered"),
        [
            ("k text, v bigint", ()),
            ("k varchar(2), v smallint", ()),
            ("k varchar(1), v smallint", ("column k was character varying(1), and the windows have text",)),
            ("k text, v boolean", ("column v was boolean, and the windows have bigint",)),
            ("k char(1), v date", ("column k was character(1), and", "column v was date, and")),
        ],
    )
    def test_columns_of_somebody_are_altered_where_they_would_lose_a_value(
        self, shop: Shop, database: str, kinds: str, altered: tuple[str, ...]
    ) -> None:
        made = f"CREATE TABLE t ({kinds}, window_start timestamptz, window_end timestamptz, UNIQUE (k, window_start, window_end))"
        Table(database).damage(made)
        sent = shop.ran(0)
        assert (sent.failed, differences(shop.published(), Table(database).held())) == ("", [])
        assert [words in sent.line for words in altered] == [True] * len(altered)
        assert ("all windows" in sent.line) == bool(altered)

    def test_a_column_that_cannot_be_altered_is_named_with_both_types(self, shop: Shop, database: str) -> None:
        shop.ran(0)
        Table(database).damage("CREATE VIEW on_top AS SELECT v FROM t")
        shop.write(1, D12, {"a": Decimal("1.2345")})
        sent = shop.ran(1)
        assert sent.blocked
        assert (
            "column v of table t is bigint, the windows have numeric(23,4), values would be lost, and it cannot be altered (" in sent.failed
        )
        assert differences({("a", START): 1, ("bb", START): 2}, Table(database).held()) == []
        Table(database).damage("DROP VIEW on_top")
        assert (shop.sent().failed, differences(shop.published(), Table(database).held())) == ("", [])

    def test_rows_of_somebody_in_a_table_that_was_made_again_stay(self, shop: Shop, database: str) -> None:
        shop.ran(0)
        Table(database).damage("DROP TABLE t; CREATE TABLE t AS SELECT 'ours' k, now() window_start, 1 v")
        sent = shop.sent()
        assert sent.blocked
        assert "has rows that Muntin did not write" in sent.failed
        assert list(Table(database).held().values()) == [1]

    def test_a_check_of_somebody_leaves_one_window_out(self, shop: Shop, database: str) -> None:
        shop.ran(0)
        Table(database).damage("ALTER TABLE t ADD CONSTRAINT small CHECK (v < 5)")
        shop.write(1, pa.int64(), {"a": 3, "b": 7})
        sent = shop.ran(1)
        ((misfit),) = sent.misfits
        assert (misfit.column, "small" in misfit.why) == ("v", True)
        assert [key for (key, start), *_ in differences(shop.published(), Table(database).held())] == ["b"]

    def test_a_server_that_is_down_is_no_error_of_data(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WAREHOUSE", "postgresql://muntin@127.0.0.1:9/nowhere")
        sent = shop.ran(0)
        assert (bool(sent.failed), sent.needs_a_person) == (True, False)


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
            replace(named, to=sinks.jdbc("warehouse", table="t"))
        assert replace(named, to=sinks.kafka("b:9092", "t")).to

    def test_a_table(self) -> None:
        with pytest.raises(DefinitionError, match="has 64 bytes"):
            sinks.jdbc("warehouse", table="reports." + "t" * 64)
