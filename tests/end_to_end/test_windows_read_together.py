"""Windows of an upstream that are read together make the states that each batch makes alone, to the bit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, Retain, read, run, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.jobs.accumulate import accumulate_bundle, accumulate_task, read_batches
from muntin.jobs.published.pending import accumulated
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.reports_table import last_accumulated, manifest
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.case_counts import paired

START, MINUTE = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=1)
MINUTES, ALONE, REPLACED = 60, 6, 30
UPSTREAM = {"short": windows.sliding("4m", step="2m"), "counted": windows.arrival(windows.by_count(3))}
OVER = {
    "tumbling": {"tens": windows.tumbling("10m")},
    "both": {"tens": windows.tumbling("10m"), "pairs": windows.arrival(windows.by_count(2))},
    "session": {"session": windows.session("3m")},
    "merged": {"tens": windows.tumbling("10m")},
}
AGGREGATES = {
    "n": agg.sum("n"),
    "total": agg.sum("total"),
    "mean": agg.mean("total"),
    "last": agg.last("total"),
    "spread": agg.stddev("total"),
}
MERGED = {"mean": agg.merge("mean")}
KEYS = {"tumbling": (), "both": (), "session": ("k",), "merged": ()}


def write(folder: Path, minutes: range, seed: int = 0) -> None:
    """A file for each minute, with up to six events; some minutes have none."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for minute in minutes:
        dice = np.random.default_rng((seed, minute))
        count, at = int(dice.integers(0, 7)), START + minute * MINUTE
        times = pa.array(int(at.timestamp()) * 10**6 + dice.integers(0, 59_000_000, count)).cast(pa.timestamp("us", tz="UTC"))
        rows = {"at": times, "k": dice.integers(0, 3, count), "v": dice.random(count) * 10.0 ** dice.integers(-8, 8, count)}
        pq.write_table(pa.table(rows), folder / f"data/{at:%Y%m%dT%H%M}.parquet")


def defined(source: Any, name: str, kinds: Mapping[str, Any], aggregates: Mapping[str, Any], keys: Sequence[str] = ("k",)) -> Pipeline:
    return Pipeline(name=name, source=source, schedule="1m", start=START, keys=keys, windows=kinds, aggregates=aggregates)


def both(folder: Path, window: str, over: str) -> tuple[Pipeline, Pipeline]:
    files = sources.files(str(folder / "data/{start:%Y%m%dT%H%M}.parquet"), event_time="at")
    below = defined(files, "below", UPSTREAM, {"n": agg.count(), "total": agg.sum("v"), "mean": agg.mean("v")})
    below = replace(below, retain=Retain(states_in_windows=True))
    return below, defined(sources.windows(below, window), "over", OVER[over], MERGED if over == "merged" else AGGREGATES, KEYS[over])


def go(pipeline: Pipeline, root: Path, first: int, end: int) -> None:
    run(pipeline, root=root, start=START + first * MINUTE, end=START + end * MINUTE, spark=Local(1))


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with events and an upstream's state, whose files are shared by many batches or are of one."""
    folder = tmp_path_factory.mktemp("upstream")
    below, _ = both(folder, "short", "tumbling")
    write(folder, range(MINUTES))
    go(below, folder / "state", 0, MINUTES - ALONE)
    for minute in range(MINUTES - ALONE, MINUTES):
        go(below, folder / "state", minute, minute + 1)
    write(folder, range(REPLACED, REPLACED + 1), seed=1)
    go(below, folder / "state", REPLACED, REPLACED + 1)
    return folder


def read_all(upstream: Path, root: Path, window: str, over: str) -> Pipeline:
    """All of an upstream read at once, beside a copy of its state."""
    _, above = both(upstream, window, over)
    copytree(upstream / "state", root)
    go(above, root, 0, MINUTES)
    return above


def states(pipeline: Pipeline, root: Path) -> dict[str, list[Any]]:
    """The facts of all batches, the rows of states, what was read, and the windows."""
    bound = bind(pipeline, root)
    found: dict[str, list[Any]] = {}
    for frames in bound.frame_sets:
        batches = accumulated(bound, frames.table)
        found[frames.table] = [getattr(batches, each.name).tolist() for each in fields(batches)]
        paths = [f"{bound.folder}/{frames.table}/{file.path}" for file in bound.store.snapshot(frames.table).files]
        rows = pa.concat_tables(
            [pq.read_table(path, partitioning=None).replace_schema_metadata(None) for path in paths], promote_options="permissive"
        )
        found[f"{frames.table} rows"] = sorted(map(repr, rows.to_pylist()))
    start, end = (instant_us(at, "") for at in (START, START + MINUTES * MINUTE))
    reports = last_accumulated(bound.store, pipeline.intervals.intervals(start, end))
    found["read"] = [[replace(file, path="") for file in manifest(report)] for _, report in sorted(reports.items())]
    for window in pipeline.windows:
        found[window] = sorted(map(repr, read(pipeline, window, root=root).to_pylist()))
    return found


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many batches came of each bundle, 0 of one that failed; one task gets all batches."""
    found, whole = list[int](), accumulate_bundle.accumulate_bundle

    def watched(session: Any, share: Any, bundle: Any) -> Any:
        found.append(0)
        done = whole(session, share, bundle)
        found[-1] = len(bundle.parts)
        return done

    monkeypatch.setattr(accumulate_bundle, "accumulate_bundle", watched)
    monkeypatch.setattr(read_batches, "shares", lambda sizes, _: [list(range(len(sizes)))])
    return found


@pytest.mark.parametrize(("over", "window"), paired(OVER, UPSTREAM))
def test_states_are_those_of_each_batch_alone(
    window: str, over: str, upstream: Path, tmp_path: Path, together: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    above = read_all(upstream, tmp_path / "together", window, over)
    ended, bundled = together[-1], states(above, tmp_path / "together")
    assert ended > MINUTES // 4
    together.clear()
    monkeypatch.setattr(accumulate_task, "may_bundle", lambda _: False)
    assert states(read_all(upstream, tmp_path / "alone", window, over), tmp_path / "alone") == bundled
    assert not together


Spoil = Callable[[Path], object]


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("spoil", [Path.unlink, cut_off])
def test_a_damaged_file_is_told_as_if_each_batch_were_read_alone(
    spoil: Spoil, upstream: Path, tmp_path: Path, together: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    below, above = both(upstream, "short", "tumbling")
    copytree(upstream / "state", tmp_path / "state")
    bound = bind(below, tmp_path / "state")
    now = published(bound.store, "short")
    _, path = max((file.rows, file.path) for file in now.snapshot.files)
    spoil(Path(bound.table(now.table), path))
    with pytest.raises(Exception, match="parquet") as among_others:
        go(above, tmp_path / "state", 0, MINUTES)
    monkeypatch.setattr(accumulate_task, "may_bundle", lambda _: False)
    with pytest.raises(type(among_others.value)) as alone:
        go(above, tmp_path / "state", 0, MINUTES)
    assert str(among_others.value) == str(alone.value)
