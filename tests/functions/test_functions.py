"""`sources.function`: rows are asked for once, kept as they came, and asked for again where somebody says so."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from muntin import Retain, forget, plan, run, sources
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError
from muntin.files.paths import sizes_below
from muntin.jobs.inspect.status import status
from muntin.jobs.upkeep.maintain import maintain
from muntin.sources import at as read_at
from muntin.tasks import Local
from tests.end_to_end.hourly import START, hour, times
from tests.functions.world import World, hourly, number, rows, table

ROWS = {0: [(1, "Graz", 1.5), (59, "Linz", 2.0)], 1: [(2, "Graz", 3.0)], 2: [(3, "Linz", 0.5)], 3: [(0, "Graz", 9.0)]}


@pytest.fixture
def world(tmp_path: Path, request: pytest.FixtureRequest) -> World:
    world = World(request.node.nodeid, tmp_path)
    world.hours.update(ROWS)
    return world


def kept(world: World) -> list[Path]:
    return sorted(Path(path) for path, *_ in sizes_below(world.root / "asked" / "rows") if path.suffix == ".parquet")


def test_in_bulk_and_stepwise_and_in_any_order(world: World, tmp_path: Path) -> None:
    world.run(0, 3)
    assert world.asked() == [0, 1, 2, 3]
    bulk = world.rows()
    assert bulk == [(0, "Graz", 1, 1.5), (1, "Graz", 1, 3.0), (3, "Graz", 1, 9.0), (0, "Linz", 1, 2.0), (2, "Linz", 1, 0.5)]
    stepwise = World(world.name, tmp_path / "stepwise")
    for at in (2, 0, 3, 1):
        stepwise.run(at, at)
    assert stepwise.asked() == [2, 0, 3, 1]
    assert stepwise.rows() == bulk


def test_a_batch_that_is_named_is_asked_for_again_and_replaced(world: World) -> None:
    world.run(0, 3)
    world.asked()
    world.hours[1] = [(2, "Graz", 4.0), (3, "Graz", 5.0)]
    report = world.run(1, 1)
    assert world.asked() == [1]
    assert [batch.source_changed for batch in report.batches] == [True]
    assert (1, "Graz", 2, 9.0) in world.rows()
    assert len(kept(world)) == 5  # another run may be reading what was replaced
    maintain(world.pipeline, root=world.root, older_than_us=1, now=hour(24 * 365 * 100))
    assert len(kept(world)) == 4
    world.run(None, 3)
    assert world.asked() == []


def test_what_is_derived_again_does_not_ask_again(world: World, tmp_path: Path) -> None:
    world.run(0, 3)
    world.asked()
    before = world.rows()
    world.hours[0] = [(1, "Wien", 7.0)]  # nobody asks
    other = World(
        world.name, tmp_path, other={"aggregates": {"n": agg.count(), "x": agg.sum("x"), "first": agg.first("x"), "most": agg.max("x")}}
    )
    other.run(None, 3)
    assert other.asked() == []
    assert other.rows() == before
    assert other.run(None, 3).batches == ()
    assert other.asked() == []


def test_what_is_not_there_yet_waits(world: World) -> None:
    del world.hours[2]
    with pytest.raises(SourceError, match=r"sources\.function: .*fetch\(2024-01-01T02:00, 2024-01-01T03:00\) gives None"):
        world.run(0, 3)
    assert world.asked() == [0, 1, 2, 3]
    report = world.run(None, 3)  # what is there goes on
    assert [number(batch.interval_start) for batch in report.batches] == [0, 1, 3]
    assert {each[0] for each in world.rows()} == {0, 1}
    world.hours[2] = [(1, "Graz", 1.0)]
    world.asked()
    world.run(None, 3)
    assert world.asked() == [2]
    assert {each[0] for each in world.rows()} == {0, 1, 2, 3}


def test_a_batch_without_rows_is_empty_and_known_to_be(world: World) -> None:
    world.hours[1] = []
    report = world.run(0, 3)
    assert [batch.rows_read for batch in report.batches] == [2, 0, 1, 1]
    world.asked()
    assert world.run(None, 3).batches == ()
    assert world.asked() == []


def test_a_frame_without_rows_need_have_no_types(tmp_path: Path) -> None:
    GIVEN["refused"] = pl.DataFrame({"at": [], "city": [], "x": []})
    pipeline = hourly(sources.function(give_refused, event_time="at"))
    assert [each.rows_read for each in run(pipeline, root=tmp_path, start=START, end=hour(2), spark=Local(2)).batches] == [0, 0]


def test_allow_missing_takes_a_batch_that_is_not_there_as_empty(world: World) -> None:
    del world.hours[1]
    report = world.run(0, 3, allow_missing=True)
    assert [batch.rows_read for batch in report.batches] == [2, 0, 1, 1]


@pytest.mark.parametrize("version", ["text", "function"])
def test_another_version_is_read_again_by_the_next_run(world: World, tmp_path: Path, version: str) -> None:
    def versioned(now: int) -> World:
        given = str(now) if version == "text" else lambda start, _end: str(now if number(start) == 1 else 0)
        return World(world.name, tmp_path, source={"version": given})

    versioned(1).run(0, 2)
    world.asked()
    world.hours[1] = [(2, "Graz", 4.0)]
    versioned(1).run(3, 3)
    assert world.asked() == [3]
    report = versioned(2).run(3, 3)
    others = [0, 1, 2, 3] if version == "text" else [1]
    assert world.asked() == others  # no other is asked for, though the run names one: its version is the same
    assert [number(batch.interval_start) for batch in report.batches] == sorted({*others, 3})
    assert (1, "Graz", 1, 4.0) in versioned(2).rows()
    versioned(2).run(None, 3)
    assert world.asked() == []
    world.hours[1] = [(2, "Graz", 5.0)]
    planned = plan(versioned(3).pipeline, root=world.root, start=hour(1), end=hour(2)).batches
    assert [(number(each.interval_start), each.reading) for each in planned] == [(at, "changed") for at in others]
    assert status(versioned(3).pipeline, root=world.root)
    versioned(3).run(None, 3)
    assert (1, "Graz", 1, 5.0) in versioned(3).rows()


def test_look_back_bounds_the_versions_that_are_compared(world: World, tmp_path: Path) -> None:
    asked: dict[int, None] = {}

    def version(start: datetime, _end: datetime) -> str:
        asked[number(start)] = None
        return "1"

    limited = World(world.name, tmp_path, source={"version": version, "look_back": "2h"})
    limited.run(0, 3)
    asked.clear()
    limited.run(3, 3)
    assert set(asked) == {2, 3}


def test_an_error_stops_the_run_and_names_the_function_and_the_batch(world: World) -> None:
    def broken(start: datetime, _end: datetime) -> object:
        if number(start) == 1:
            raise ConnectionError("no route to host")
        return table(ROWS[number(start)], number(start))

    pipeline = hourly(sources.function(broken, event_time="at"))
    with pytest.raises(SourceError, match=r"broken\(2024-01-01T01:00, .*\) failed: ConnectionError: no route to host; mend the function"):
        run(pipeline, root=world.root, start=START, end=hour(3), spark=Local(2))
    assert not (world.root / "asked" / "windows").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([{"at": 1}], "builtins.list has no stream of Arrow; give a table"),
        (pl.LazyFrame({"at": [1]}), r"has no stream of Arrow; collect\(\) it first"),
        (pa.table({"time": [1]}), r"no column 'at' \(event_time\) in its rows; there are time"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["at", "at"]), "two columns are called 'at'"),
        (pa.table({"at": times(1), "d": pa.array([1], pa.duration("s"))}), "column 'd' is of type duration"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, given: object, says: str) -> None:
    GIVEN["refused"] = given
    pipeline = hourly(sources.function(give_refused, event_time="at"))
    with pytest.raises(SourceError, match=says):
        run(pipeline, root=tmp_path, start=START, end=hour(1), spark=Local(2))


GIVEN: dict[str, object] = {}


def give_refused(_start: datetime, _end: datetime) -> object:
    return GIVEN["refused"]


COLUMNS = pa.table({"at": pa.array(times(1, 2), pa.timestamp("us", "UTC")), "city": ["Graz", "Linz"], "x": [0.1, 0.2]})
FORMS: dict[str, Callable[[], object]] = {
    "table": lambda: COLUMNS,
    "reader": COLUMNS.to_reader,
    "polars": lambda: pl.from_arrow(COLUMNS),
    "pandas": COLUMNS.to_pandas,
    "duckdb": lambda: duckdb.connect().from_arrow(COLUMNS),
    "dictionary": lambda: COLUMNS.set_column(1, "city", COLUMNS["city"].dictionary_encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_whatever_has_a_stream(tmp_path: Path, form: str) -> None:
    def give(_start: datetime, _end: datetime) -> object:
        return FORMS[form]()

    pipeline = hourly(sources.function(give, event_time="at"))
    run(pipeline, root=tmp_path, start=START, end=hour(1), spark=Local(2))
    assert rows(pipeline, tmp_path) == [(0, "Graz", 1, 0.1), (0, "Linz", 1, 0.2)]


def test_types_arrive_unchanged(tmp_path: Path) -> None:
    values: dict[str, pa.Array] = {
        "at": pa.array(times(1), pa.timestamp("us", "UTC")),
        "large": pa.array([Decimal("12345678901234567890.123456789")], pa.decimal128(38, 9)),
        "unsigned": pa.array([2**64 - 1], pa.uint64()),
        "small": pa.array([-7], pa.int8()),
        "bytes": pa.array([b"\x00\xff"], pa.large_binary()),
        "name": pa.array(["Ä"], pa.string_view()),
        "day": pa.array([datetime(2024, 2, 29)], pa.date32()),  # noqa: DTZ001 - a day has no zone
        "nested": pa.array([[{"n": 1, "t": "x"}]], pa.large_list(pa.struct([("n", pa.int16()), ("t", pa.large_string())]))),
        "id": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([UUID(int=5).bytes], pa.binary(16))),
        "zoned": pa.array(times(2), pa.timestamp("ns", "America/New_York")),
        "local": pa.array([datetime(2024, 5, 1)], pa.timestamp("us")),  # noqa: DTZ001 - it has no zone
    }
    GIVEN["refused"] = pa.table(values)
    last = {name: agg.last(name) for name in values if name != "at"}
    pipeline = hourly(sources.function(give_refused, event_time="at"), keys=[], aggregates=last)
    run(pipeline, root=tmp_path, start=START, end=hour(1), spark=Local(2))
    from muntin import read

    (row,) = read(pipeline, "hour", root=tmp_path).to_pylist()
    assert row["large"] == Decimal("12345678901234567890.123456789")
    assert (row["unsigned"], row["small"], row["bytes"], row["name"]) == (2**64 - 1, -7, b"\x00\xff", "Ä")
    assert (str(row["day"]), row["nested"], str(row["id"])) == ("2024-02-29", [{"n": 1, "t": "x"}], str(UUID(int=5)))
    assert row["zoned"] == START + timedelta(minutes=2)


def test_rows_of_forgotten_keys_are_not_kept(world: World) -> None:
    world.run(0, 2)
    done = forget(world.pipeline, [{"city": "Graz"}], root=world.root, spark=Local(2))
    assert done.done, done.left
    assert kept(world) == []
    world.run(3, 3)
    world.run(0, 0)
    assert kept(world) == []
    assert {each[1] for each in world.rows()} == {"Linz"}


def test_maintenance_removes_rows_of_batches_that_are_gone(world: World, tmp_path: Path) -> None:
    short = World(world.name, tmp_path, other={"retain": Retain(states="2h")})
    short.run(0, 3)
    (kept(short)[0].parent / "00000_half.parquet").write_bytes(b"of a killed run")
    maintain(short.pipeline, root=short.root, older_than_us=1, now=hour(24 * 365 * 100))
    assert 0 < len(kept(short)) < 4
    assert "00000_half.parquet" not in {path.name for path in kept(short)}


def test_several_sources(world: World, tmp_path: Path) -> None:
    both = hourly({"one": world.pipeline.source, "two": World(world.name, tmp_path).pipeline.source},
                  aggregates={"n": agg.count(source="one"), "x": agg.sum("x", source="two")})  # fmt: skip
    run(both, root=world.root, start=START, end=hour(4), spark=Local(2))
    assert world.asked() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert (0, "Graz", 1, 1.5) in rows(both, world.root)


def test_definitions_that_cannot_be() -> None:
    make: Any = sources.function
    for arguments, says in [
        (("rows.csv",), "fetch: 'rows.csv' is no function"),
        ((print, 1), "version: 1 is neither"),
        ((print, None, sources.events(id="n", operation="op", within="1d")), r"sources.events\(id=...\) is for files"),
    ]:
        with pytest.raises(DefinitionError, match=says):
            make(arguments[0], event_time="at", **dict(zip(("version", "rows"), arguments[1:], strict=False)))
    with pytest.raises(DefinitionError, match=r"event_time: .. is not the name of a column"):
        make(print, event_time="")
    assert sources.function(print, event_time=read_at("at", timezone="Europe/Berlin")).timezone == "Europe/Berlin"
