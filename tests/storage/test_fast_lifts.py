"""Each fast way from rows to states writes the very files that DuckDB's GROUP BY leads to: their names tell their content."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from pipelines import Pipeline, read, run, sources, windows
from pipelines import aggregates as agg
from pipelines.definition.frame_sets import frame_sets
from pipelines.errors import SourceError
from pipelines.jobs.look.quarantine import quarantined
from pipelines.jobs.run import accumulate_split, accumulate_task, bundle_states, finalize, slot_lift, split_rows
from pipelines.jobs.shards import shard
from pipelines.states import linked, met_keys
from pipelines.states.dense import fits
from pipelines.states.held_once import whole, whole_schema
from pipelines.states.rows_in_slots import LiftedStates, rows_in_slots
from pipelines.store.parquet import encoded
from pipelines.store.paths import digest_of
from pipelines.testing.in_process import Context, InProcess

START = datetime(2024, 1, 1, tzinfo=UTC)
SIGNED_ZEROS = (0.0, -0.0)
ODD_FLOATS = (*SIGNED_ZEROS, float("nan"), float("inf"), float("-inf"), 0.1, 1e300)
KEYS: dict[str, Callable[[np.random.Generator, int], pa.Array]] = {
    "integers": lambda dice, rows: pa.array(dice.integers(-3, 12, rows), pa.int32(), mask=dice.random(rows) < 0.1),
    "texts": lambda dice, rows: pa.array([None if one == "x0" else one for one in (f"x{n}" for n in dice.integers(0, 9, rows))]),
    "small": lambda dice, rows: pa.array(dice.integers(-128, 128, rows), pa.int8()),
    "ever more": lambda dice, rows: pa.array(dice.integers(0, np.arange(rows) // 200 + 1), mask=dice.random(rows) < 0.01),
    "far apart": lambda dice, rows: pa.array(dice.choice(dice.integers(-(2**62), 2**62, 5), rows)),
}
AGGREGATES = {
    "n": agg.count(),
    "positive": agg.count(where="i > 0"),
    "known": agg.count("f"),
    "whole": agg.sum("i"),
    "float": agg.sum("f"),
    "half": agg.sum("f / 2", where="i % 2 = 0"),
    "low": agg.min("f"),
    "high": agg.max("f"),
    "nearly": agg.max("f", where="abs(f) < 0.001"),
    "least": agg.min("i"),
    "narrow": agg.max("s"),
    "late": agg.max("i", where="f > 0"),
    "opening": agg.first("f"),
    "closing": agg.last("i"),
    "early": agg.first("s", where="i > 0", ignore_nulls=True),
    "latest": agg.last("g", ignore_nulls=True),
    "final": agg.last("g"),
    "some": agg.any_value("f", where="i > 3"),
    "spread": agg.stddev("f"),
    "narrower": agg.variance("g", where="i > 0"),
    "skewed": agg.skewness("i"),
    "together": agg.correlation("f", "s", where="i < 500"),
}
LAYOUTS = ("dense", "linked")
OF_SEVERAL_ROWS = ("spread", "narrower", "skewed", "together")


def written(tmp_path: Path, name: str, pipeline: Pipeline) -> list[str]:
    """The files of states, which are named by their content."""
    root = tmp_path / name
    run(pipeline, root=root, start=START, end=START + timedelta(hours=1), spark=InProcess())
    return sorted(str(path.relative_to(root)) for path in root.rglob("frames/**/*.parquet"))


@contextmanager
def slots_made(layout: str) -> Iterator[list[LiftedStates | None]]:
    """Few rows at once, slots for however few rows, linked wherever that is asked; what they gave, None where they did not."""
    made = list[LiftedStates | None]()

    def kept(*args: Any, **named: Any) -> LiftedStates | None:
        made.append(None)
        made[-1] = rows_in_slots(*args, **named)
        return made[-1]

    with (
        mock.patch.object(slot_lift, "MANY_ROWS", 1),
        mock.patch.object(slot_lift, "_AT_ONCE", 700),
        mock.patch.object(slot_lift, "rows_in_slots", kept),
        mock.patch.object(slot_lift, "fits", lambda *sizes: layout == "dense" and fits(*sizes)),
        mock.patch.object(linked, "_LINKS_PER_ROW", 100),
    ):
        yield made


def write_rows(folder: Path, seed: int, keys: tuple[str, ...], rows: int = 8_000) -> None:
    dice = np.random.default_rng(seed)
    seconds = dice.integers(-50, 3_600, rows) if seed % 2 else np.sort(dice.integers(0, 3_600, rows))
    odd = ODD_FLOATS if seed % 3 else SIGNED_ZEROS
    floats = np.where(dice.random(rows) < 0.05, dice.choice(odd, rows), dice.random(rows) * 100 - 9)
    columns = {f"k{at}": KEYS[kind](dice, rows) for at, kind in enumerate(keys)}
    columns |= {
        "t": pa.array(int(START.timestamp()) * 1_000_000 + seconds * 1_000_000).cast(pa.timestamp("us", tz="UTC")),
        "i": pa.array(dice.integers(-1000, 1000, rows), mask=dice.random(rows) < 0.2),
        "s": pa.array(dice.integers(0, 9, rows), pa.int16()),
        "f": pa.array(floats, mask=dice.random(rows) < 0.2),
        "g": pa.array(floats, mask=dice.random(rows) < 0.2).cast(pa.float32()),
    }
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=1_000)


def definition(folder: Path, keys: int, kinds: dict[str, windows.Window], aggregates: dict[str, agg.Aggregate]) -> Pipeline:
    return Pipeline(
        name="fast",
        source=sources.files(f"{folder}/*.parquet", event_time="t", all_files=True),
        schedule="1h",
        start=START,
        keys=[f"k{at}" for at in range(keys)],
        windows=kinds,
        aggregates=aggregates,
    )


@pytest.mark.parametrize(
    "keys",
    [
        (),
        ("integers",),
        ("small",),
        ("ever more",),
        ("texts",),
        ("far apart",),
        ("integers", "texts"),
        ("ever more", "texts"),
        ("texts", "integers", "far apart"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_slots_give_what_groups_give(tmp_path: Path, seed: int, keys: tuple[str, ...]) -> None:
    write_rows(tmp_path / "data", seed, keys)
    pipeline = definition(tmp_path / "data", len(keys), {"wide": windows.tumbling("30m"), "gaps": windows.session("30m")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    for layout in LAYOUTS:
        with slots_made(layout) as made:
            assert written(tmp_path, layout, pipeline) == expected
        assert any(made) or seed % 3


# seconds of a gap      1: nearly each row is a state      60: some rows are
@pytest.mark.parametrize("seconds", [1, 60])
@pytest.mark.parametrize("seed", range(4))
def test_linked_states_of_many_frames(tmp_path: Path, seed: int, seconds: int) -> None:
    """Rows of odd seeds come in no order of time."""
    write_rows(tmp_path / "data", 3 * seed, ("ever more",))
    kinds = {"gaps": windows.session(f"{seconds}s"), "short": windows.tumbling(f"{seconds}s")}
    pipeline = definition(tmp_path / "data", 1, kinds, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made, mock.patch.object(linked, "_LINKS_PER_ROW", 10_000):
        assert written(tmp_path, "linked", pipeline) == expected
    assert made
    assert all(made)


EXACT = ("n", "positive", "known", "whole", "least", "narrow")


# seconds of a gap      1: hardly two events are near each other      60: many are; rows of odd seeds, in no order, join runs
@pytest.mark.parametrize("seconds", [1, 4, 60])
@pytest.mark.parametrize("seed", range(4))
def test_runs_of_rows_are_those_of_frames(tmp_path: Path, seed: int, seconds: int) -> None:
    write_rows(tmp_path / "data", 3 * seed, ("ever more",))
    kinds = {"gaps": windows.session(f"{seconds}s"), "splits": windows.session(f"{seconds}s", touching="split")}
    pipeline = definition(tmp_path / "data", 1, kinds, {name: AGGREGATES[name] for name in EXACT})
    expected = written(tmp_path, "groups", pipeline)
    assert "runs" in expected[0]
    with slots_made("linked") as made, mock.patch.object(linked, "_LINKS_PER_ROW", 10_000):
        assert written(tmp_path, "linked", pipeline) == expected
    assert made
    assert all(made)


def test_floats_of_runs_differ_in_the_last_bits_only(tmp_path: Path) -> None:
    """And in which of 0.0 and -0.0 is the least."""
    write_rows(tmp_path / "data", 6, ("integers",))
    names = ("n", "float", "half", "low", "high", "nearly", "spread", "skewed", "together")
    pipeline = definition(tmp_path / "data", 1, {"gaps": windows.session("40s")}, {name: AGGREGATES[name] for name in names})
    written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made:
        written(tmp_path, "linked", pipeline)
    assert all(made)
    frames, rows = (read(pipeline, "gaps", root=tmp_path / name) for name in ("groups", "linked"))
    for name in rows.column_names:
        if name in names:
            assert np.allclose(*(table[name].to_numpy().astype(float) for table in (frames, rows)), rtol=1e-9, equal_nan=True), name
        else:
            assert rows[name].equals(frames[name]), name


def test_rows_that_go_far_back_are_left_to_groups(tmp_path: Path) -> None:
    write_rows(tmp_path / "data", 3, ("texts",))
    pipeline = definition(tmp_path / "data", 1, {"short": windows.tumbling("1s")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made, mock.patch.object(linked, "_LINKS_PER_ROW", 4):
        assert written(tmp_path, "linked", pipeline) == expected
    assert made == [None]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(4))
def test_moments_of_any_floats(tmp_path: Path, seed: int, layout: str) -> None:
    """No sum is among the aggregates: it would leave NaN and infinities to groups."""
    write_rows(tmp_path / "data", seed, ("ever more",))
    pipeline = definition(tmp_path / "data", 1, {"wide": windows.tumbling("30m")}, {name: AGGREGATES[name] for name in OF_SEVERAL_ROWS})
    expected = written(tmp_path, "groups", pipeline)
    with slots_made(layout) as made:
        assert written(tmp_path, "slots", pipeline) == expected
    assert made
    assert all(made), "none was left to groups"


@pytest.mark.parametrize("seed", range(2))
def test_slots_of_frames_of_several_lengths(tmp_path: Path, seed: int) -> None:
    """Nepal's clocks, once 5:30 and now 5:45 ahead: frames of 20 minutes begin at :10, :15, :30, :35, :50 and :55."""
    write_rows(tmp_path / "data", seed, ("texts",))
    pipeline = definition(tmp_path / "data", 1, {"local": windows.tumbling("20m", timezone="Asia/Kathmandu")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    assert all(path.split("/")[3] == "20m_at_10m_15m" for path in expected)
    with (
        mock.patch.object(slot_lift, "MANY_ROWS", 1),
        mock.patch.object(slot_lift, "rows_in_slots", wraps=rows_in_slots) as slots,
    ):
        assert written(tmp_path, "slots", pipeline) == expected
    assert slots.called


@pytest.mark.parametrize("key", ["v0", "0", "n"])
def test_a_key_may_have_any_name(tmp_path: Path, key: str) -> None:
    write_rows(tmp_path / "data", 0, ("texts",))
    (file,) = (tmp_path / "data").iterdir()
    pq.write_table(pq.read_table(file).rename_columns({"k0": key}), file)
    pipeline = dataclasses.replace(
        definition(tmp_path / "data", 1, {"wide": windows.tumbling("30m")}, {"whole": agg.sum("i"), "high": agg.max("f")}), keys=(key,)
    )
    expected = written(tmp_path, "groups", pipeline)
    with (
        mock.patch.object(slot_lift, "MANY_ROWS", 1),
        mock.patch.object(slot_lift, "rows_in_slots", wraps=rows_in_slots) as slots,
    ):
        assert written(tmp_path, "slots", pipeline) == expected
    assert slots.called


@pytest.mark.parametrize(("layout", "width"), [("dense", "30m"), ("linked", "1s")])
def test_a_row_behind_the_first_ones_that_cannot_be_computed_is_refused(tmp_path: Path, layout: str, width: str) -> None:
    """Arrow says of it that the disk has failed."""
    write_rows(tmp_path / "data", 0, ("texts",))
    (file,) = (tmp_path / "data").iterdir()
    table = pq.read_table(file)
    pq.write_table(
        table.append_column("x", pa.array(["bad" if row == 7_500 else "1" for row in range(len(table))])), file, row_group_size=1_000
    )
    pipeline = definition(tmp_path / "data", 1, {"short": windows.tumbling(width)}, {"n": agg.count(), "total": agg.sum("x::BIGINT")})
    with slots_made(layout), mock.patch.object(slot_lift, "_AT_ONCE", 2_048):
        (batch,) = run(pipeline, root=tmp_path, start=START, end=START + timedelta(hours=1), spark=InProcess()).batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (8_000, 7_999, 1)
    (refused,) = quarantined(pipeline, root=tmp_path).to_pylist()
    assert refused["position"] == 7_500


def test_a_damaged_page_of_times_is_told_of_its_file(tmp_path: Path) -> None:
    write_rows(tmp_path / "data", 0, ("texts",))
    (file,) = (tmp_path / "data").iterdir()
    page = pq.read_metadata(file).row_group(6).column(1)
    content = bytearray(file.read_bytes())
    begin = page.dictionary_page_offset or page.data_page_offset
    content[begin + 30 : begin + page.total_compressed_size] = b"x" * (page.total_compressed_size - 30)
    file.write_bytes(content)
    pipeline = definition(tmp_path / "data", 1, {"wide": windows.tumbling("30m")}, {"n": agg.count()})
    asked = mock.patch.object(split_rows, "WORTH_A_LOOK", 1), mock.patch.object(accumulate_task, "may_bundle", return_value=False)
    with slots_made("dense"), asked[0], asked[1], pytest.raises(SourceError, match=r"rows\.parquet"):
        run(pipeline, root=tmp_path, start=START, end=START + timedelta(hours=1), spark=InProcess())


def test_an_interrupt_behind_the_first_rows_is_an_interrupt() -> None:
    def interrupted() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x": [1]})
        raise OSError("INTERRUPT Error: Interrupted!")

    with pytest.raises(duckdb.InterruptException):
        list(slot_lift._batches(interrupted()))


@pytest.mark.parametrize("values", [[2**62, 2**62 - 1], [2**61] * 8])
def test_a_sum_that_may_not_fit_is_left_to_groups(tmp_path: Path, values: list[int]) -> None:
    """Groups have 128 bits, and say what does not fit."""
    (tmp_path / "data").mkdir()
    times = pa.array([START] * len(values), pa.timestamp("us", tz="UTC"))
    signs = [value * (-1) ** at for at, value in enumerate(values)]
    pq.write_table(pa.table({"t": times, "i": signs}), tmp_path / "data/rows.parquet")
    pipeline = definition(tmp_path / "data", 0, {"wide": windows.tumbling("10m")}, {"whole": agg.sum("i")})
    expected = written(tmp_path, "groups", pipeline)
    with mock.patch.object(slot_lift, "MANY_ROWS", 1):
        assert written(tmp_path, "slots", pipeline) == expected


# 3,600 frames of five keys, which all come with the first rows; 360 frames of ever more keys, of which few do
@pytest.mark.parametrize(("keys", "width", "made_of"), [("far apart", "1s", [True]), ("ever more", "10s", [False, True])])
def test_slots_are_linked_where_there_would_be_too_many(tmp_path: Path, keys: str, width: str, made_of: list[bool]) -> None:
    write_rows(tmp_path / "data", 0, (keys,))
    pipeline = definition(tmp_path / "data", 1, {"short": windows.tumbling(width)}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("dense") as made:
        assert written(tmp_path, "slots", pipeline) == expected
    assert [each is not None for each in made] == made_of


def test_too_many_states_are_left_to_groups(tmp_path: Path) -> None:
    write_rows(tmp_path / "data", 0, ("far apart",))
    pipeline = definition(tmp_path / "data", 1, {"short": windows.tumbling("1s")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made, mock.patch.object(linked, "MOST_STATES", 1_000):
        assert written(tmp_path, "slots", pipeline) == expected
    assert made == [None]


@pytest.mark.parametrize("keys", [("far apart",), ("texts", "far apart")])
def test_too_many_keys_are_left_to_groups(tmp_path: Path, keys: tuple[str, ...]) -> None:
    write_rows(tmp_path / "data", 0, keys)
    pipeline = definition(tmp_path / "data", len(keys), {"short": windows.tumbling("1s")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made, mock.patch.object(met_keys, "MOST_LOOKED_UP", 4):
        assert written(tmp_path, "slots", pipeline) == expected
    assert made == [None]


ARRIVED = {
    "counted": windows.arrival(windows.by_count(7)),
    "grown": windows.arrival(windows.by_delta("i", 100)),
    "marked": windows.arrival(windows.by_punctuation("i > 900")),
}
OF_A_ROW = {name: one for name, one in AGGREGATES.items() if name not in OF_SEVERAL_ROWS} | {
    "first": agg.first("f"),
    "last": agg.last("i", where="f > 1"),
    "some": agg.any_value("s"),
    "all": agg.all_of("i > 0"),
    "early": agg.first("f", ignore_nulls=True),
}


@pytest.mark.parametrize("keys", [(), ("integers",), ("texts", "far apart")])
@pytest.mark.parametrize("seed", range(2))
def test_rows_are_states_without_groups(tmp_path: Path, seed: int, keys: tuple[str, ...]) -> None:
    write_rows(tmp_path / "data", seed, keys)
    pipeline = definition(tmp_path / "data", len(keys), ARRIVED, OF_A_ROW)
    (once,) = written(tmp_path, "rows", pipeline)
    with mock.patch.object(accumulate_split, "rows_as_states", return_value=None) as grouped:
        (all_columns,) = written(tmp_path, "groups", pipeline)
    assert grouped.called
    states = whole(pq.read_table(tmp_path / "rows" / once, partitioning=None))
    how = bundle_states.encoding(frame_sets(pipeline)[0], pipeline.keys)
    assert digest_of(memoryview(encoded(states, **how))) in all_columns
    for name in pipeline.windows:
        one, other = (read(pipeline, name, root=tmp_path / root) for root in ("rows", "groups"))
        assert encoded(one).equals(encoded(other)), name


def test_a_file_holds_each_value_once(tmp_path: Path) -> None:
    # of f, of whole numbers, of the values for which a condition holds; 1 of each row is not held at all
    write_rows(tmp_path / "data", 0, ("texts",))
    aggregates = {
        "n": agg.count(),
        "known": agg.count("f"),
        "low": agg.min("f"),
        "high": agg.max("f"),
        "sum": agg.sum("f"),
        "mean": agg.mean("f"),
    }
    aggregates |= {"whole": agg.mean("i"), "greatest": agg.max("s"), "total": agg.sum("s"), "some": agg.mean("f", where="i > 0")}
    pipeline = definition(tmp_path / "data", 1, {"counted": windows.arrival(windows.by_count(7))}, aggregates)
    (file,) = written(tmp_path, "rows", pipeline)
    schema = pq.read_schema(tmp_path / "rows" / file)
    held = [name.rpartition("_")[0] if "_f_" in name else name for name in schema.names]
    assert held == ["k0", "batch", "frame", "min_f", "sum_i", "max_s", "sum_f", "muntin_file", "muntin_place", "bucket"]
    (frames,) = (tmp_path / "rows").rglob("frames/rows")
    told = {field.name: field.type for field in whole_schema(schema)}
    assert told == {field.name: field.type for field in pa.schema(DeltaTable(frames).schema().to_arrow())}


@pytest.mark.parametrize("aggregate", [agg.median("f"), agg.first("i", where="f > 1"), agg.last("f", where="i > 0"), agg.first("k0")])
def test_a_state_that_is_not_told_of_one_value_is_grouped(tmp_path: Path, aggregate: agg.Aggregate) -> None:
    """A list of values; a null of the row that counts, which is no row that does not count; a text."""
    write_rows(tmp_path / "data", 0, ("texts",))
    pipeline = definition(tmp_path / "data", 1, {"wide": windows.tumbling("10m")}, {"it": aggregate})
    with mock.patch.object(slot_lift, "MANY_ROWS", 1), mock.patch.object(slot_lift, "rows_in_slots") as slots:
        assert written(tmp_path, "slots", dataclasses.replace(pipeline))
    assert not slots.called


class OfThree(Context):
    defaultParallelism = 3  # noqa: N815 - Spark's name


class ThreeCores(InProcess):
    sparkContext = OfThree  # noqa: N815 - Spark's name


def test_windows_do_not_depend_on_the_number_of_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "WORTH_A_TASK", 10)
    write_rows(tmp_path / "data", 3, ("texts",))  # without NaN, which equals nothing
    kinds = {"wide": windows.tumbling("30m"), "gaps": windows.session("1m"), **ARRIVED}
    pipeline = definition(tmp_path / "data", 1, kinds, AGGREGATES)
    with mock.patch.object(finalize, "run_tasks", wraps=finalize.run_tasks) as asked:
        found = [_windows(tmp_path / name, pipeline, spark) for name, spark in (("one", InProcess()), ("three", ThreeCores()))]
    one, three = (len(call.args[2]) for call in asked.call_args_list)
    assert three == one + 2  # of rows with a marker, which ends the windows of all keys, one task takes all
    for alone, shared in zip(*found, strict=True):
        assert alone.equals(shared)


def _windows(root: Path, pipeline: Pipeline, spark: Any) -> list[pa.Table]:
    run(pipeline, root=root, start=START, end=START + timedelta(hours=1), spark=spark)
    return [read(pipeline, name, root=root).sort_by([("k0", "ascending"), ("window_start", "ascending")]) for name in pipeline.windows]
