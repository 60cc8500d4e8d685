"""What `over` reads: states of batches that are gone, tiles that are damaged, shares of keys; and the bits of sums of doubles."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Pipeline, Retain, over, run, sources, windows
from muntin import aggregates as agg
from muntin.engine import ranges
from muntin.errors import StateError
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.housekeeping.expire import expire
from muntin.jobs.lookups import range_states
from muntin.jobs.state import tiered
from muntin.jobs.state.bound import bind
from muntin.jobs.tiles.tiers import make_history_tiers
from tests.properties.equal_values import bitwise
from tests.storage.three_batches import HERE

START, HOUR, HOURS = datetime(2024, 1, 1, tzinfo=UTC), timedelta(hours=1), 40
SCHEMA = pa.schema({"t": pa.timestamp("us", tz="UTC"), "k": pa.int64(), "c": pa.string(), "n": pa.int64(), "x": pa.float64()})
EXACT = {"n": agg.count(), "total": agg.sum("n"), "most": agg.max("x")}
FLOATS = {"n": agg.count(), "total": agg.sum("x"), "spread": agg.variance("x"), "first": agg.first("x")}


def pipeline(folder: Path, **more: Any) -> Pipeline:
    source = sources.files(str(folder / "{start:%d%H}.parquet"), event_time="t", missing="empty")
    given: dict[str, Any] = {"windows": {"hour": windows.tumbling("1h")}, "aggregates": EXACT} | more
    return Pipeline(name="p", source=source, schedule="1h", start=START, keys=["k", "c"], **given)


def ran(flow: Pipeline, folder: Path, first: int = 0, end: int = HOURS) -> Pipeline:
    """Bring a row of some keys in each hour, now and then late, and run the hours."""
    for hour in range(first, end):
        dice, at = random.Random(hour), START + hour * HOUR
        late = HOUR * dice.choice([0, 0, 0, dice.randint(1, 9)])
        rows = [
            {"t": at - late + timedelta(minutes=minute), "k": k, "c": dice.choice("xyz"), "n": dice.randint(-9, 9), "x": dice.gauss(0, 1e3)}
            for k, minute in enumerate(dice.choices([1, 7, 59], k=6))
        ]
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), folder / f"{at:%d%H}.parquet")
    run(flow, root=folder / "state", start=START + first * HOUR, end=START + end * HOUR, spark=HERE)
    return flow


def asked(flow: Pipeline, folder: Path, by: list[str] | None, low: int = 3, high: int = 35, **more: Any) -> pa.Table:
    return over(flow, START + low * HOUR, START + high * HOUR, by=by, root=folder / "state", **more)


BY: tuple[list[str] | None, ...] = (None, [], ["k"], ["c"])


def test_sums_of_doubles_do_not_depend_on_what_was_put_together_or_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = ran(pipeline(tmp_path, aggregates=FLOATS), tmp_path)
    before = [asked(flow, tmp_path, by) for by in BY]
    monkeypatch.setattr(compaction, "MANY", 2)
    while compact(bind(flow, tmp_path / "state")):
        pass
    assert not make_history_tiers(bind(flow, tmp_path / "state"))
    pairs = [(3, 35), (0, 40), (3, 35), (4, 5), (34, 36), (50, 60)]
    table = pa.table({name: pa.array([START + pair[at] * HOUR for pair in pairs]) for at, name in enumerate(("start", "end"))})
    for at_once, rows in ((ranges.AT_ONCE, range_states.SHARD_ROWS), (1, 30)):
        monkeypatch.setattr(ranges.assigned, "__kwdefaults__", {"at_once": at_once})
        monkeypatch.setattr(range_states, "SHARD_ROWS", rows)
        for by, wanted in zip(BY, before, strict=True):
            assert bitwise(asked(flow, tmp_path, by), wanted)
            many = over(flow, table, by=by, root=tmp_path / "state")
            assert bitwise(many.slice(0, len(wanted)), wanted)
            at = many["window_start"].to_pylist().index(START + 4 * HOUR)
            assert bitwise(many.slice(at - len(wanted), len(wanted)).combine_chunks(), wanted)


def test_of_one_key_other_row_groups_are_skipped(tmp_path: Path) -> None:
    flow = ran(pipeline(tmp_path), tmp_path)
    for keys in ({"k": 3}, {"k": [3, 5]}, {"k": 3, "c": "x"}, {"k": [1, 2], "c": ["x", "y", None]}):
        some = {name: each if isinstance(each, list) else [each] for name, each in keys.items()}
        rows = asked(flow, tmp_path, None, keys=keys).to_pylist()
        assert rows
        assert rows == [row for row in asked(flow, tmp_path, None).to_pylist() if all(row[name] in some[name] for name in some)]


def test_states_that_are_gone_are_told(tmp_path: Path) -> None:
    flow = ran(pipeline(tmp_path, retain=Retain(states="21h")), tmp_path)
    assert expire(bind(flow, tmp_path / "state"), at_once=True)
    with pytest.raises(
        StateError, match=r"p: states of batches before .* are gone \(retain says 21h\).*All states are there of ranges that start"
    ) as told:
        asked(flow, tmp_path, None)
    hour = datetime.fromisoformat(str(told.value).rsplit(" ", 1)[1]).replace(tzinfo=UTC)
    after = (hour - START) // HOUR + 1
    again = pipeline(tmp_path)
    run(again, root=tmp_path / "other", start=START, end=START + HOURS * HOUR, spark=HERE)
    assert bitwise(asked(flow, tmp_path, [], after), over(again, START + after * HOUR, START + 35 * HOUR, by=[], root=tmp_path / "other"))


@pytest.mark.parametrize("harm", ["damaged", "gone"])
def test_tiles_that_cannot_be_used_are_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str) -> None:
    monkeypatch.setattr(tiered, "BASE", 2)
    flow = ran(pipeline(tmp_path), tmp_path, 0, 30)
    bound = bind(flow, tmp_path / "state")
    while make_history_tiers(bound):
        pass
    ran(flow, tmp_path, 30)
    chosen, read = range_states.tiles_of_ranges, []
    monkeypatch.setattr(range_states, "tiles_of_ranges", lambda *given: read.append(chosen(*given)) or read[-1])
    with_tiles = [asked(flow, tmp_path, by) for by in BY]
    assert all(found.files for found in read)
    some = [row for row in with_tiles[0].to_pylist() if row["k"] == 3]
    assert asked(flow, tmp_path, None, keys={"k": 3}).to_pylist() == some
    with monkeypatch.context() as shares:
        shares.setattr(range_states, "SHARD_ROWS", 30)
        assert bitwise(asked(flow, tmp_path, None), with_tiles[0])
    for path in bound.folder.glob("tiers/*/0*/*.parquet"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.unlink() if harm == "gone" else path.write_bytes(content)
    for by, wanted in zip(BY, with_tiles, strict=True):
        assert bitwise(asked(flow, tmp_path, by), wanted)


def test_nothing_was_read_yet(tmp_path: Path) -> None:
    flow = pipeline(tmp_path)
    with pytest.raises(StateError, match="there is no state of 'p' under this definition"):
        asked(flow, tmp_path, None)
    run(flow, root=tmp_path / "state", start=START, end=START + HOUR, spark=HERE)
    with pytest.raises(StateError, match="no row was read under this definition yet"):
        asked(flow, tmp_path, None)


def test_states_of_a_definition_that_is_superseded(tmp_path: Path) -> None:
    """They get no batches any more, so that an answer would lack rows."""
    flow = ran(pipeline(tmp_path), tmp_path, 0, 4)
    newer = ran(pipeline(tmp_path, aggregates=EXACT | {"least": agg.min("n")}), tmp_path, 0, 4)
    assert asked(newer, tmp_path, [], -10, 4)["n"].to_pylist() == [24]
    with pytest.raises(StateError, match=r"superseded, and its states get no batches any more.*muntin promote FILE"):
        asked(flow, tmp_path, [], 0, 4)


def test_a_range_without_rows(tmp_path: Path) -> None:
    flow = ran(pipeline(tmp_path, aggregates={**EXACT, "mean": "total / n", "who": "k"}), tmp_path, 0, 3)
    assert asked(flow, tmp_path, ["k"], 20, 30).column_names == ["k", "window_start", "window_end", "n", "total", "most", "mean", "who"]
    assert len(asked(flow, tmp_path, ["k"], 20, 30)) == 0
    [row] = asked(flow, tmp_path, [], 20, 30).to_pylist()
    assert (row["n"], row["total"], row["most"], "who" in row) == (0, None, None, False)


# two rows at one instant in one batch, of two keys: the key that sorts first comes first
def test_of_keys_at_one_instant_the_first_comes_first(tmp_path: Path) -> None:
    flow = pipeline(tmp_path, aggregates={"first": agg.first("n"), "last": agg.last("n"), "all": agg.collect("n")})
    rows = [{"t": START, "k": k, "c": "x", "n": 10 * k, "x": 0.0} for k in (2, 1, 3)]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), tmp_path / f"{START:%d%H}.parquet")
    run(flow, root=tmp_path / "state", start=START, end=START + HOUR, spark=HERE)
    [row] = asked(flow, tmp_path, [], 0, 1).to_pylist()
    assert (row["first"], row["last"], row["all"]) == (10, 30, [10, 20, 30])
