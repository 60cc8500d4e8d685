"""Tiles of merged states: those of an upstream's windows, which long windows read as they read any other.

batches      |  0  |  1  |  2  |  3  |  4  |  5  |
upstream      30m   ...                             their states are rows, each with its place in the batch
downstream    fine windows of a minute, wide ones of hours: tiles are made of the states of minutes
"""

import logging
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, Retain, over, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.state.bound import bind
from muntin.jobs.tiles import tiers
from muntin.jobs.tiles.tiers import make_history_tiers
from muntin.tasks import Local
from tests.case_counts import at_length, cases

HERE, START, HOUR = Local(1), datetime(2024, 11, 3, tzinfo=UTC), timedelta(hours=1)
MERGED: dict[str, Any] = {
    "max": agg.max("n"),
    "min": agg.min("x"),
    "count": agg.count(),
    "sum": agg.sum("n"),
    "mean": agg.mean("n"),
    "range": agg.range("n"),
    "any": agg.any_of("n > 3"),
    "most": agg.max_count("n"),
    "text": agg.max("k"),
}


def written(folder: Path, seed: int, batches: int = 6) -> list[dict[str, Any]]:
    dice, rows = random.Random(seed), list[dict[str, Any]]()
    for hour in range(batches):
        at = START + hour * HOUR
        own = [
            {
                "at": at + timedelta(seconds=dice.randrange(3600)),
                "k": dice.choice("ab"),
                "n": dice.randrange(9),
                "x": float(dice.randrange(-4, 5)),
            }
            for _ in range(dice.randrange(1, 6))
        ]
        kinds = pa.schema([("at", pa.timestamp("us", "UTC")), ("k", pa.string()), ("n", pa.int64()), ("x", pa.float64())])
        pq.write_table(pa.Table.from_pylist(own, kinds), folder / f"{at:%H}.parquet")
        rows += own
    return rows


def stages(folder: Path, wide: str = "4h", **options: Any) -> tuple[Pipeline, Pipeline]:
    source = sources.files(str(folder / "{start:%H}.parquet"), event_time="at")
    same = {"schedule": "1h", "start": START, "keys": ["k"]}
    up = Pipeline(
        name="up", source=source, windows={"u": windows.tumbling("30m")}, aggregates=MERGED, retain=Retain(states_in_windows=True), **same
    )
    pieces = {"fine": windows.tumbling("1m"), "wide": windows.sliding(wide, step="1h")}
    merged = {name: agg.merge(name) for name in MERGED}
    return up, Pipeline(
        name="down", source=sources.windows(up, "u", event_time="window_start"), windows=pieces, aggregates=merged, **same, **options
    )


def values(table: pa.Table) -> list[dict[str, Any]]:
    return [{name: row[name] for name in ("k", "window_start", "window_end", *MERGED)} for row in table.to_pylist()]


def expected(rows: list[dict[str, Any]], start: datetime, end: datetime, key: str) -> dict[str, Any]:
    own = [row for row in rows if row["k"] == key and start <= row["at"] < end]
    n, x = [row["n"] for row in own], [row["x"] for row in own]
    found = {"max": max(n), "min": min(x), "count": len(n), "sum": sum(n), "mean": sum(n) / len(n), "range": max(n) - min(n)}
    return {**found, "any": any(each > 3 for each in n), "most": n.count(max(n)), "text": key}


def judged(folder: Path, seed: int, wide: str) -> None:
    rows, root = written(folder, seed), folder / "state"
    up, down = stages(folder, wide)
    run(up, root=root, start=START, end=START + 6 * HOUR, spark=HERE)
    for hour in range(6):
        run(down, root=root, start=START + hour * HOUR, end=START + (hour + 1) * HOUR, spark=HERE)
    assert bind(down, root).store.snapshot("tiers/1m_by_16").files, "there are tiles"
    found = values(read(down, "wide", root=root))
    assert found
    for row in found:
        assert {name: row[name] for name in MERGED} == expected(rows, row["window_start"], row["window_end"], row["k"])
    assert make_history_tiers(bind(down, root))
    for row in values(over(down, START, START + 5 * HOUR, root=root)):
        assert {name: row[name] for name in MERGED} == expected(rows, START, START + 5 * HOUR, row["k"])


def test_merged_states_have_tiles(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    judged(tmp_path, 1, "4h")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@at_length
@pytest.mark.parametrize("seed", range(cases(200)))
def test_random_merged_states_have_tiles(seed: int, tmp_path: Path) -> None:
    judged(tmp_path, seed, random.Random(seed).choice(["2h", "3h", "4h", "5h"]))


@pytest.mark.parametrize("wrong", [KeyError("muntin_place"), ValueError("no"), MemoryError(), pa.ArrowNotImplementedError("no")])
def test_a_run_whose_windows_are_published_never_fails_for_tiles(
    wrong: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> bool:
        raise wrong

    written(tmp_path, 1)
    up, down = stages(tmp_path)
    run(up, root=tmp_path / "state", start=START, end=START + 6 * HOUR, spark=HERE)
    with monkeypatch.context() as patched:
        patched.setattr(tiers, "advanced", broken)
        report = run(down, root=tmp_path / "state", start=START, end=START + 6 * HOUR, spark=HERE)
    assert report.published
    assert f"not made ({type(wrong).__name__}" in caplog.text
    before = read(down, "wide", root=tmp_path / "state")
    run(down, root=tmp_path / "state", start=START + 5 * HOUR, end=START + 6 * HOUR, spark=HERE)  # goes on
    assert read(down, "wide", root=tmp_path / "state").equals(before)
