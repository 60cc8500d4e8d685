"""A table with one row for each key: the newest window that is closed, whatever is corrected, and the same that a look-up finds."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, as_of, run, sinks, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from tests.sinks.places import REACH
from tests.storage.three_batches import HERE, HOUR, START

MINUTE = timedelta(minutes=1)
Visits = Sequence[tuple[str | None, float]]


def pipeline(folder: Path, **other: Any) -> Pipeline:
    definition: dict[str, Any] = {
        "name": "visits",
        "source": sources.files(str(folder / "data/{start:%H}.parquet"), event_time="t", missing="empty"),
        "schedule": "1h",
        "start": START,
        "keys": ["k"],
        "windows": {"visit": windows.session("10m")},
        "aggregates": {"n": agg.count()},
        "to": sinks.postgres("env:WAREHOUSE", table="newest", latest=True),
    }
    return Pipeline(**definition | other)


def ran(folder: Path, hour: int, visits: Visits) -> None:
    """An hour's file, its run, and what is sent."""
    (folder / "data").mkdir(exist_ok=True)
    at = [START + hour * HOUR + minute * MINUTE for _, minute in visits]
    rows = pa.table({"k": pa.array([key for key, _ in visits], pa.string()), "t": pa.array(at, pa.timestamp("us", "UTC"))})
    pq.write_table(rows, folder / f"data/{hour:02d}.parquet")
    run(pipeline(folder, to=()), root=folder / "state", start=START + hour * HOUR, end=START + (hour + 1) * HOUR, spark=HERE)
    (sent,) = send(bind(pipeline(folder), folder / "state"), REACH)
    assert not sent.failed


def held(database: str) -> dict[str | None, tuple[float, int]]:
    """Key -> start of its window in minutes, and its count."""
    with psycopg.connect(database, options="-c TimeZone=UTC") as connection:
        rows = connection.execute("SELECT k, window_start, n FROM newest").fetchall()
    assert len({key for key, _, _ in rows}) == len(rows)
    return {key: ((start - START) / MINUTE, n) for key, start, n in rows}


def test_the_newest_window_of_each_key(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    hours   0                1                2
    ann     5 6              65, then none    .
    bob     7                .                .       7, then 7 8
    null    .                .                120
    """
    monkeypatch.setenv("WAREHOUSE", database)
    ran(tmp_path, 0, [("ann", 5), ("ann", 6), ("bob", 7)])
    ran(tmp_path, 1, [("ann", 5)])
    ran(tmp_path, 2, [(None, 0)])
    assert held(database) == {"ann": (65, 1), "bob": (7, 1), None: (120, 1)}
    ran(tmp_path, 0, [("ann", 5), ("bob", 7), ("bob", 8)])  # an older window of ann is corrected, too
    assert held(database) == {"ann": (65, 1), "bob": (7, 2), None: (120, 1)}
    ran(tmp_path, 1, [])  # the newest window of ann is gone
    assert held(database) == {"ann": (5, 1), "bob": (7, 2), None: (120, 1)}
    asked = pa.table({"k": ["ann", "bob", None], "seen": pa.array([START + 3 * HOUR] * 3, pa.timestamp("us", "UTC"))})
    found = as_of(pipeline(tmp_path), "visit", asked, at="seen", root=tmp_path / "state")
    told = {row["k"]: ((row["window_start"] - START) / MINUTE, row["n"]) for row in found.to_pylist()}
    assert told == held(database)
    ran(tmp_path, 0, [("ann", 5)])  # bob was never there
    assert held(database) == {"ann": (5, 1), None: (120, 1)}


def test_a_pipeline_without_keys_has_no_row_a_key(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="latest=True keeps a row for each key, and window 'visit' has no keys"):
        pipeline(tmp_path, keys=[])
