"""`read(columns=, start=, end=, keys=)` gives what a filter over everything gives."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.tasks import Local

START = datetime(2024, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def flow(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pipeline, Path]:
    """Three days of hours of three keys, one of them null."""
    folder = tmp_path_factory.mktemp("selection")
    defined = Pipeline(
        name="flow",
        source=sources.files(str(folder / "{start:%d}.parquet"), event_time="t"),
        schedule="@daily",
        start=START,
        keys=["k", "number"],
        windows={"hours": windows.sliding("2h", step="1h"), "visits": windows.session("2h")},
        aggregates={"n": agg.count(), "total": agg.sum("v")},
    )
    for day in range(3):
        hours = [day * 24 + hour for hour in range(0, 24, 3)]
        rows = [{"t": START + hour * HOUR, "k": ["a", "b", None][hour % 5 % 3], "number": hour % 2, "v": hour} for hour in hours]
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{day + 1:02d}.parquet")
    session: Any = Local(1)
    run(defined, root=folder / "state", start=START, end=START + 72 * HOUR, spark=session)
    return defined, folder / "state"


WAYS: list[dict[str, Any]] = [
    {},
    {"provisional": True},
    {"dense": True},
    {"dense": True, "provisional": True},
]


@pytest.mark.parametrize("way", WAYS)
def test_a_stretch_of_time(flow: tuple[Pipeline, Path], way: dict[str, Any]) -> None:
    whole = read(flow[0], "hours", root=flow[1], **way)
    low, high = START + 20 * HOUR, START + 50 * HOUR
    mask = pc.and_(pc.greater_equal(whole["window_start"], low), pc.less_equal(whole["window_end"], high))
    found = read(flow[0], "hours", root=flow[1], start=low, end=high, **way)
    assert 0 < len(found) < len(whole)
    assert found.equals(whole.filter(mask).combine_chunks())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("keys", "kept"),
    [
        ({"k": "a"}, lambda row: row["k"] == "a"),
        ({"k": ["a", None]}, lambda row: row["k"] in ("a", None)),
        ({"k": None}, lambda row: row["k"] is None),
        ({"number": "1"}, lambda row: row["number"] == 1),
        ({"k": ["b", "nobody"], "number": 0}, lambda row: row["k"] == "b" and row["number"] == 0),
    ],
)
def test_keys(flow: tuple[Pipeline, Path], way: dict[str, Any], keys: dict[str, Any], kept: Any) -> None:
    whole = read(flow[0], "hours", root=flow[1], **way).to_pylist()
    found = read(flow[0], "hours", root=flow[1], keys=keys, **way).to_pylist()
    assert found == [row for row in whole if kept(row)]
    assert found


@pytest.mark.parametrize("way", WAYS)
def test_columns_in_their_order(flow: tuple[Pipeline, Path], way: dict[str, Any]) -> None:
    whole = read(flow[0], "hours", root=flow[1], **way)
    names = ["total", "k", *(["provisional"] if "provisional" in way else [])]
    assert read(flow[0], "hours", root=flow[1], columns=names, **way).equals(whole.select(names))


def test_windows_by_silence(flow: tuple[Pipeline, Path]) -> None:
    whole = read(flow[0], "visits", root=flow[1])
    found = read(flow[0], "visits", root=flow[1], columns=["n"], start=START + 24 * HOUR, keys={"k": "a"})
    wanted = [row["n"] for row in whole.to_pylist() if row["k"] == "a" and row["window_start"] >= START + 24 * HOUR]
    assert found["n"].to_pylist() == wanted
    assert wanted


def test_before_the_first_run_there_is_nothing(flow: tuple[Pipeline, Path], tmp_path: Path) -> None:
    assert len(read(flow[0], "hours", root=tmp_path, keys={"k": "a"}, start=START, columns=["n"], provisional=True)) == 0


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"columns": ["totl"]}, "columns: there is no 'totl'.*did you mean 'total'"),
        ({"columns": ["provisional"]}, "columns: there is no 'provisional'"),
        ({"keys": {"city": "a"}}, "keys: there is no 'city'; there are k, number"),
        ({"keys": {"number": "many"}}, "keys: 'many' cannot be read as int64"),
        ({"start": datetime(2024, 1, 1)}, "start"),  # noqa: DTZ001 - no zone is what is wrong
    ],
)
def test_what_is_not_there_is_told(flow: tuple[Pipeline, Path], asked: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        read(flow[0], "hours", root=flow[1], **asked)
