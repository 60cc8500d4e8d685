"""Columns of Iceberg are found by their numbers: names that Avro does not allow, and names that are, or were, of other columns."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.types import LongType

from muntin import Pipeline, read, sources, windows
from muntin import aggregates as agg
from muntin.errors import SourceError
from muntin.testing import run_here
from tests.case_counts import at_length, cases, some
from tests.source_options import grouped
from tests.tables.iceberg_tables import Lake

START, HOUR = datetime(2024, 5, 1, tzinfo=UTC), timedelta(hours=1)
NAMES = ["a b", "a-b", "a.b", "a/b", "a:b", "1a", "ä-ö", "a'b", 'a"b', "-", "über", "a_x2Db", "A-b", "select"]
_APART = [name for name in NAMES if name not in ("a_x2Db", "A-b")]
"""Names that go together: a file calls a-b a_x2Db."""


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    lake = Lake(tmp_path)
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", lake.uri)
    return lake


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def rows(**more: Any) -> pa.Table:
    return pa.table({"at": pa.array([START, START + HOUR / 2], pa.timestamp("us", "UTC")), "x": [1.0, 2.0], **more})


def result(folder: Path, source: Any, **more: Any) -> list[Mapping[str, Any]]:
    """The windows of two hours."""
    known = {"windows": {"hour": windows.tumbling("1h")}, "aggregates": {"n": agg.count()}}
    pipeline = Pipeline(name="p", source=source, schedule="1h", start=START, **{**known, **more})
    run_here(pipeline, root=folder / "state", start=START, end=START + 2 * HOUR)
    return read(pipeline, "hour", root=folder / "state").sort_by("window_start").to_pylist()


def both(lake: Lake, tmp_path: Path, table: pa.Table, source: Mapping[str, Any] | None = None, **more: Any) -> list[Mapping[str, Any]]:
    """The windows of rows in Iceberg, which are those of the same rows in files."""
    lake.append(table, START)
    pq.write_table(table, tmp_path / "00.parquet")
    pq.write_table(table.slice(0, 0), tmp_path / "01.parquet")
    told = {"event_time": "at", **(source or {})}
    wanted = result(tmp_path / "files", sources.files(f"{tmp_path}/{{start:%H}}.parquet", **grouped(**told)), **more)
    found = result(tmp_path, sources.iceberg("lake", "shop.orders", **grouped(**told)), **more)
    assert found == wanted
    return found


@pytest.mark.parametrize("name", [*some(NAMES), "a-b"])
def test_a_column_is_read_whatever_its_name(lake: Lake, tmp_path: Path, name: str) -> None:
    table, column = rows(**{name: [3, 4]}), quoted(name)
    aggregates = {"total": agg.sum(column), "some": agg.count_if(f"{column} > 3"), "last": agg.last(column)}
    [found] = both(lake, tmp_path, table, {"types": {name: "DOUBLE"}}, aggregates=aggregates, where=f"{column} < 5")
    assert (found["total"], found["some"], found["last"]) == (7, 1, 4)


@pytest.mark.parametrize("name", ["a-b", "1a"])
@pytest.mark.parametrize("place", ["key", "event_time", "dedupe", "order"])
def test_in_whatever_place(lake: Lake, tmp_path: Path, name: str, place: str) -> None:
    values = {"key": ["k", None], "event_time": [START, START], "dedupe": [7, 7], "order": [2, 1]}[place]
    kind = pa.timestamp("us", "UTC") if place == "event_time" else None
    source = {"event_time": {"event_time": name}, "dedupe": {"dedupe": name}, "order": {"arrival_order": name}}.get(place, {})
    more: dict[str, Any] = {"aggregates": {"n": agg.count(), "last": agg.last("x")}, "keys": [name] if place == "key" else []}
    assert both(lake, tmp_path, rows(**{name: pa.array(values, kind)}), source, **more)


def test_in_structs_lists_and_maps(lake: Lake, tmp_path: Path) -> None:
    deep = [{"c-d": 1, "e": [{"f g": 2}, None]}, None]
    table = rows(**{"s-t": deep, "m": pa.array([[("k", {"v-w": 5})], None], pa.map_(pa.string(), pa.struct([("v-w", pa.int64())])))})
    aggregates = {
        "c": agg.sum('"s-t"."c-d"'),
        "f": agg.sum('list_sum(list_transform("s-t".e, lambda each: each."f g"))'),
        "v": agg.sum('map_values(m)[1]."v-w"'),
        "none": agg.count_if('"s-t" IS NULL'),
    }
    [found] = both(lake, tmp_path, table, aggregates=aggregates)
    assert [found[name] for name in aggregates] == [1, 2, 5, 1]


def test_in_a_dimension(lake: Lake, tmp_path: Path) -> None:
    pq.write_table(pa.table({"at": [START], "currency": ["EUR"], "x": [2.0]}), tmp_path / "00.parquet")
    since = pa.array([START - HOUR], pa.timestamp("us", "UTC"))
    lake.append(pa.table({"valid-from": since, "cur-rency": ["EUR"], "ra-te": [1.5]}), START)
    lookup = sources.lookup(sources.iceberg("lake", "shop.orders"), keys={"currency": "cur-rency"}, since="valid-from")
    source = sources.files(f"{tmp_path}/{{start:%H}}.parquet", event_time="at", missing="empty")
    [found] = result(tmp_path, source, lookups={"rates": lookup}, aggregates={"total": agg.sum('x * rates."ra-te"')})
    assert found["total"] == 3


def columns(lake: Lake, tmp_path: Path, *names: str) -> list[Any]:
    aggregates = {f"c{at}": agg.sum(quoted(name)) for at, name in enumerate(names)}
    [found] = result(tmp_path, sources.iceberg("lake", "shop.orders", event_time="at"), aggregates=aggregates)
    return [found[name] for name in aggregates]


def test_a_column_that_was_renamed(lake: Lake, tmp_path: Path) -> None:
    lake.append(rows(amount=[1, 2]), START)
    with lake.table().update_schema() as schema:
        schema.rename_column("amount", "total-1")
    lake.append(rows(**{"total-1": [4, 8]}), START)
    assert columns(lake, tmp_path, "total-1") == [15]


def test_columns_that_changed_their_names(lake: Lake, tmp_path: Path) -> None:
    lake.append(rows(a=[1, 2], b=[10, 20]), START)
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        with lake.table().update_schema() as schema:
            schema.rename_column(old, new)
    lake.append(rows(a=[40, 80], b=[4, 8]), START)
    assert columns(lake, tmp_path, "a", "b") == [150, 15]


def test_a_column_that_was_dropped_and_came_again_is_another(lake: Lake, tmp_path: Path) -> None:
    lake.append(rows(a=[1, 2]), START)
    with lake.table().update_schema(allow_incompatible_changes=True) as schema:
        schema.delete_column("a")
    with lake.table().update_schema() as schema:
        schema.add_column("a", LongType())
    lake.append(rows(a=[4, 8]), START)
    assert columns(lake, tmp_path, "a") == [12]


def test_an_event_time_that_was_renamed(lake: Lake, tmp_path: Path) -> None:
    times = pa.array([START - 5 * HOUR] * 2, pa.timestamp("us", "UTC"))
    lake.append(rows(other=times), START)
    for old, new in (("at", "when"), ("other", "at"), ("when", "other")):
        with lake.table().update_schema() as schema:
            schema.rename_column(old, new)
    [found] = result(tmp_path, sources.iceberg("lake", "shop.orders", event_time="other"))
    assert (found["window_start"], found["n"]) == (START, 2)


def test_a_file_that_the_table_took_over_is_known_by_the_names_that_it_has(lake: Lake, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(rows(**{"a-b": [1, 2]}), path)
    lake.make(rows(**{"a-b": [1, 2]}).schema)
    lake.table().add_files([str(path)])
    with lake.table().update_schema() as schema:
        schema.rename_column("a-b", "c-d")
    lake.dated(START)
    assert columns(lake, tmp_path, "c-d") == [3]


def test_two_columns_of_one_name_but_for_capitals_are_refused(lake: Lake, tmp_path: Path) -> None:
    lake.append(rows(ab=[1, 2], aB=[4, 8]), START)
    with pytest.raises(SourceError, match=r"parquet: 'ab', which is 'ab' in the table, has the name of another column"):
        columns(lake, tmp_path, "ab")


@at_length
@pytest.mark.parametrize("seed", range(cases(1000)))
def test_a_table_that_changes_is_read_as_iceberg_reads_it(lake: Lake, tmp_path: Path, seed: int) -> None:
    dice = random.Random(f"names {seed}")
    names = dice.sample([*_APART, "c", "d", "e"], 3)
    for _ in range(dice.randint(1, 4)):
        lake.append(rows(**{name: [dice.randint(0, 99) for _ in range(2)] for name in names}), START)
        free = [name for name in _APART if name.lower() not in {each.lower() for each in names}]
        what, at = dice.choice(["rename", "rename", "drop", "add", ""]), dice.randrange(len(names))
        with lake.table().update_schema(allow_incompatible_changes=True) as schema:
            if what == "rename":
                schema.rename_column((names[at],), new := dice.choice(free))
                names[at] = new
            elif what == "add":
                schema.add_column((new := dice.choice(free),), LongType())
                names.append(new)
            elif what == "drop" and len(names) > 1:
                schema.delete_column((names.pop(at),))
    wanted = lake.table().scan().to_arrow()
    lake.dated(START)
    found = columns(lake, tmp_path, *names)
    assert found == [pa.compute.sum(wanted[name]).as_py() for name in names]
