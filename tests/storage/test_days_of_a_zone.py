"""Days of a time zone are made of frames of days. A state of hours goes on with hours."""

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local
from muntin.windows.kind import Window
from muntin.windows.kinds.tumbling import Tumbling

START, DAY = datetime(2024, 3, 8, tzinfo=UTC), timedelta(days=1)  # New York's clocks change on the 10th
HERE = Local(1)


def write(folder: Path, days: Sequence[int], seed: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for day in days:
        dice, at = np.random.default_rng((seed, day)), START + day * DAY
        times = int(at.timestamp()) * 1_000_000 + dice.integers(0, 86_400_000_000, 300)
        columns = {"at": pa.array(times).cast(pa.timestamp("us", tz="UTC")), "k": dice.integers(0, 3, 300), "x": dice.integers(0, 99, 300)}
        pq.write_table(pa.table(columns), folder / f"{at:%Y-%m-%d}.parquet")


def pipeline(folder: Path, **more: Window) -> Pipeline:
    return Pipeline(
        name="local",
        source=sources.files(f"{folder}/data/{{start:%Y-%m-%d}}.parquet", event_time="at"),
        schedule="@daily",
        start=START,
        keys=["k"],
        windows={"days": windows.tumbling("1d", timezone="America/New_York"), **more},
        aggregates={"n": agg.count(), "total": agg.sum("x"), "last": agg.last("x")},
    )


def ran(what: Pipeline, root: Path, first: int, end: int) -> None:
    run(what, root=root, start=START + first * DAY, end=START + end * DAY, spark=HERE)


def tables(root: Path) -> list[set[str]]:
    """The tables of frames of each state, oldest state first."""
    states = sorted((path for path in root.glob("local/*/frames")), key=lambda path: path.stat().st_mtime_ns)
    return [{table.name for table in state.iterdir()} for state in states]


def of_hours(what: Pipeline, root: Path, first: int, end: int) -> None:
    """Run it with frames of hours."""
    with mock.patch.object(Tumbling, "cycle", None):
        ran(what, root, first, end)


def rows(what: Pipeline, root: Path) -> list[dict[str, object]]:
    table = read(what, "days", root=root)
    return table.sort_by([("k", "ascending"), ("window_start", "ascending")]).to_pylist()


def test_days_are_those_of_frames_of_hours(tmp_path: Path) -> None:
    write(tmp_path / "data", range(6))
    asked = pipeline(tmp_path)
    of_hours(asked, tmp_path / "hours", 0, 6)
    ran(asked, tmp_path / "days", 0, 6)
    assert (tables(tmp_path / "hours"), tables(tmp_path / "days")) == ([{"1h"}], [{"1d_at_4h_5h"}])
    assert rows(asked, tmp_path / "days") == rows(asked, tmp_path / "hours")
    states = {
        root: sum(pq.read_metadata(path).num_rows for path in (tmp_path / root).rglob("frames/**/*.parquet")) for root in ("hours", "days")
    }
    assert states["days"] * 7 < states["hours"]


def test_a_state_of_hours_goes_on_though_its_source_is_gone(tmp_path: Path) -> None:
    write(tmp_path / "data", range(6))
    asked, root = pipeline(tmp_path), tmp_path / "state"
    of_hours(asked, root, 0, 4)
    before = rows(asked, root)
    (tmp_path / "data").rename(tmp_path / "gone")
    write(tmp_path / "data", range(4, 6))
    ran(asked, root, 4, 6)
    assert tables(root) == [{"1h"}]
    fewer = dataclasses.replace(asked, aggregates={"n": agg.count()})
    counts = [row["n"] for row in rows(asked, root)]
    assert len(counts) > len(before) > 0
    ran(fewer, root, 5, 6)
    assert [row["n"] for row in rows(fewer, root)] == counts
    assert tables(root) == [{"1h"}, {"1h"}]


def test_a_replaced_batch_of_a_state_of_hours(tmp_path: Path) -> None:
    write(tmp_path / "data", range(6))
    asked, root = pipeline(tmp_path), tmp_path / "state"
    of_hours(asked, root, 0, 6)
    write(tmp_path / "data", [1], seed=1)
    ran(asked, root, 1, 2)
    ran(asked, tmp_path / "clean", 0, 6)
    assert (tables(root), tables(tmp_path / "clean")) == ([{"1h"}], [{"1d_at_4h_5h"}])
    assert rows(asked, root) == rows(asked, tmp_path / "clean")


def test_what_a_pipeline_had_decides_what_another_definition_gets(tmp_path: Path) -> None:
    """Hours stay hours, since their states may be taken over; days stay days."""
    write(tmp_path / "data", range(3))
    days, both = pipeline(tmp_path), pipeline(tmp_path, hours=windows.tumbling("1h"))
    more = dataclasses.replace(days, aggregates={"most": agg.max("x")})
    for root, first, second, expected in [
        ("hours", both, days, [{"1h"}]),
        ("days", days, more, [{"1d_at_4h_5h"}, {"1d_at_4h_5h"}]),
        ("more", days, both, [{"1d_at_4h_5h"}, {"1h"}]),
    ]:
        ran(first, tmp_path / root, 0, 3)
        ran(second, tmp_path / root, 0, 3)
        assert tables(tmp_path / root) == expected


@pytest.mark.parametrize("size", ["1mo", "1w"])
def test_longer_windows_share_the_frames_of_days(tmp_path: Path, size: str) -> None:
    write(tmp_path / "data", range(40))
    asked = pipeline(tmp_path, long=windows.tumbling(size, timezone="America/New_York"))
    ran(asked, tmp_path / "days", 0, 40)
    of_hours(asked, tmp_path / "hours", 0, 40)
    assert tables(tmp_path / "days") == [{"1d_at_4h_5h"}]
    for window in ("days", "long"):
        ours, theirs = (read(asked, window, root=tmp_path / root).to_pylist() for root in ("days", "hours"))
        assert sorted(ours, key=repr) == sorted(theirs, key=repr)
