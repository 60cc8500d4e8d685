"""States of sessions alone are runs: windows are those of frames, in bulk, one by one and after a replaced batch."""

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
from muntin.jobs.published.pending import accumulated
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from muntin.windows.kinds.session import Session

START, HOUR = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1)
HERE = Local(1)
EVENTS = 400


def write(folder: Path, hours: Sequence[int], seed: int = 0) -> None:
    """Events within an hour, some of them late by up to half an hour."""
    folder.mkdir(parents=True, exist_ok=True)
    for hour in hours:
        dice, at = np.random.default_rng((seed, hour)), START + hour * HOUR
        seconds = dice.integers(0, 3_600, EVENTS) - np.where(dice.random(EVENTS) < 0.1, dice.integers(0, 1_800, EVENTS), 0)
        columns = {
            "at": pa.array(int(at.timestamp()) * 1_000_000 + seconds * 1_000_000).cast(pa.timestamp("us", tz="UTC")),
            "k": dice.choice(["a", "b", "c", "d", None], EVENTS),
            "x": pa.array(dice.integers(-9, 99, EVENTS), mask=dice.random(EVENTS) < 0.2),
            "y": dice.random(EVENTS),
        }
        pq.write_table(pa.table(columns), folder / f"{at:%Y%m%dT%H}.parquet")


def pipeline(folder: Path, **more: object) -> Pipeline:
    given = Pipeline(
        name="visits",
        source=sources.files(f"{folder}/data/{{start:%Y%m%dT%H}}.parquet", event_time="at"),
        schedule="1h",
        start=START,
        keys=["k"],
        windows={"short": windows.session("1m", grace="5m"), "long": windows.session("2m", touching="split")},
        aggregates={"n": agg.count(), "total": agg.sum("x"), "high": agg.max("y"), "mean": agg.mean("y"), "spread": agg.stddev("y")},
    )
    return dataclasses.replace(given, **more)


def ran(what: Pipeline, root: Path, first: int, end: int) -> None:
    run(what, root=root, start=START + first * HOUR, end=START + end * HOUR, spark=HERE)


def of_frames(what: Pipeline, root: Path, first: int, end: int) -> None:
    """Run it with a state for each frame."""
    with mock.patch.object(Session, "run_us", 0):
        ran(what, root, first, end)


def tables(root: Path) -> set[str]:
    return {path.name for path in root.glob("visits/*/frames/*")}


def rows(what: Pipeline, root: Path, window: str) -> list[dict[str, object]]:
    return sorted(read(what, window, root=root).to_pylist(), key=lambda row: (str(row["k"]), row["window_start"]))


def counted(root: Path) -> int:
    return sum(pq.read_metadata(path).num_rows for path in root.rglob("frames/**/*.parquet"))


@pytest.mark.parametrize("window", ["short", "long"])
def test_runs_give_the_windows_of_frames(tmp_path: Path, window: str) -> None:
    write(tmp_path / "data", range(6))
    asked = pipeline(tmp_path)
    of_frames(asked, tmp_path / "frames", 0, 6)
    ran(asked, tmp_path / "runs", 0, 6)
    assert (tables(tmp_path / "frames"), tables(tmp_path / "runs")) == ({"1m"}, {"1m_runs_1m"})
    assert counted(tmp_path / "runs") < counted(tmp_path / "frames") * 3 / 4
    ours, theirs = (rows(asked, tmp_path / root, window) for root in ("runs", "frames"))
    assert len(ours) > 100
    exact = [name for name in ours[0] if name not in ("mean", "spread")]
    assert [[row[name] for name in exact] for row in ours] == [[row[name] for name in exact] for row in theirs]
    for name in ("mean", "spread"):
        np.testing.assert_allclose(
            *([np.nan if row[name] is None else row[name] for row in found] for found in (ours, theirs)), rtol=1e-12, atol=1e-12
        )


def test_in_bulk_one_by_one_and_replaced_are_the_same_to_the_last_bit(tmp_path: Path) -> None:
    write(tmp_path / "data", [0, 2, 3, 4, 5])
    write(tmp_path / "data", [1], seed=1)
    asked = pipeline(tmp_path)
    ran(asked, tmp_path / "replaced", 0, 6)
    write(tmp_path / "data", [1])
    ran(asked, tmp_path / "replaced", 1, 2)
    ran(asked, tmp_path / "bulk", 0, 6)
    for hour in (0, 1, 4, 2, 5, 3):
        ran(asked, tmp_path / "one_by_one", hour, hour + 1)
    for window in asked.windows:
        clean = rows(asked, tmp_path / "bulk", window)
        assert rows(asked, tmp_path / "one_by_one", window) == clean
        assert rows(asked, tmp_path / "replaced", window) == clean


# batch 0     |- run -----------------|      frames 0:58, 0:59, 1:00: the run lies in the first, and reaches to the last
def test_batches_say_how_far_their_runs_reach_whether_read_together_or_alone(tmp_path: Path) -> None:
    write(tmp_path / "data", range(6))
    asked = dataclasses.replace(pipeline(tmp_path), keys=[])
    ran(asked, tmp_path / "together", 0, 6)
    for hour in range(6):
        ran(asked, tmp_path / "alone", hour, hour + 1)
    together, alone = (facts(asked, tmp_path / root) for root in ("together", "alone"))
    assert together == alone
    minute = 60_000_000
    assert [high for _, _, high in alone] == [
        max(at.timestamp() * 1_000_000 // minute * minute for at in pq.read_table(file)["at"].to_pylist())
        for file in sorted((tmp_path / "data").iterdir())
    ]


def facts(asked: Pipeline, root: Path) -> list[tuple[int, int, int]]:
    """Version, first and last frame of each batch."""
    bound = bind(asked, root)
    (frames,) = bound.frame_sets
    batches = accumulated(bound, frames.table)
    return list(zip(batches.version.tolist(), batches.low_us.tolist(), batches.high_us.tolist(), strict=True))


def test_a_state_of_frames_goes_on_with_frames(tmp_path: Path) -> None:
    write(tmp_path / "data", range(6))
    asked = pipeline(tmp_path)
    of_frames(asked, tmp_path / "state", 0, 4)
    (tmp_path / "data").rename(tmp_path / "gone")
    write(tmp_path / "data", range(4, 6))
    ran(asked, tmp_path / "state", 4, 6)
    assert tables(tmp_path / "state") == {"1m"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"aggregates": {"last": agg.last("x")}}, {"1m"}),  # of events at one time the later counts: runs would not tell
        ({"aggregates": {"by": agg.by("k", agg.first("x"))}}, {"1m"}),
        ({"windows": {"short": windows.session("1m"), "minutes": windows.tumbling("1m")}}, {"1m"}),
        ({"windows": {"short": windows.session("1m"), "ever": windows.all_time()}}, {"1m"}),
        ({"windows": {"short": windows.session("1m"), "cut": windows.session("1m", max_length="1h")}}, {"1us", "1m_runs_1m"}),
        ({"windows": {"short": windows.session("1m", touching="split")}}, {"1m_runs_59999999us"}),
        ({"windows": {"short": windows.session("2m"), "long": windows.session("1h")}}, {"2m_runs_2m"}),
    ],
)
def test_which_states_are_runs(tmp_path: Path, more: dict[str, object], expected: set[str]) -> None:
    write(tmp_path / "data", [0])
    ran(pipeline(tmp_path, **more), tmp_path / "state", 0, 1)
    assert tables(tmp_path / "state") == expected


def test_another_aggregate_is_added_to_runs(tmp_path: Path) -> None:
    """Runs are cut by all rows, whatever is kept of them: those of before and those of the new field are the same."""
    write(tmp_path / "data", range(4))
    asked = pipeline(tmp_path)
    ran(asked, tmp_path / "state", 0, 4)
    more = dataclasses.replace(asked, aggregates={**asked.aggregates, "low": agg.min("y"), "few": agg.count_if("x < 9")})
    ran(more, tmp_path / "state", 0, 4)
    ran(more, tmp_path / "clean", 0, 4)
    for window in asked.windows:
        assert rows(more, tmp_path / "state", window) == rows(more, tmp_path / "clean", window)
    assert tables(tmp_path / "state") == {"1m_runs_1m"}
