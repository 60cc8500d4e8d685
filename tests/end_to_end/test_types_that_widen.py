"""A type that is wider than in earlier batches: the states before are taken along, and results are those of files that all have it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import SourceError
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.outdated import outdated
from muntin.store.delta import DeltaStore
from muntin.store.reading import read_files
from muntin.store.store import Change, Snapshot
from muntin.tasks import Local
from tests.case_counts import some
from tests.catalogue.aggregates import NO_STATES, ROWS
from tests.catalogue.columns import COLUMNS, fixed
from tests.properties.equal_values import bitwise

START, DAY, HERE = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=1), Local(2)
WIDENINGS = {
    "int": (pa.int32(), pa.int64(), int),
    "short": (pa.int16(), pa.int32(), int),
    "float": (pa.float32(), pa.float64(), lambda at: at / 8),
    "digits": (pa.decimal128(10, 2), pa.decimal128(12, 2), lambda at: Decimal(at) / 4),
}


HASHED = ("approx_count_distinct", "theta", "approx_top_k")


def flow(folder: Path, root: Path, **options: Any) -> tuple[Pipeline, Path]:
    pipeline = Pipeline(
        name="flow",
        source=sources.files(str(folder / "{start:%Y-%m-%d}.*"), event_time="at", format="parquet"),
        schedule="@daily",
        start=START,
        windows={"day": windows.tumbling("1d"), "pair": windows.sliding("2d", step="1d"), "visits": windows.session("3h")},
        aggregates={"n": agg.count(), "total": agg.sum("x"), "most": agg.max("x")},
    )
    return replace(pipeline, **options), root


def write(folder: Path, day: int, kind: pa.DataType, values: Sequence[Any], name: str = "x", part: str = "a") -> None:
    folder.mkdir(exist_ok=True, parents=True)
    times = pa.array([START + day * DAY + timedelta(hours=hour * 2) for hour in range(len(values))], pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"at": times, name: pa.array(values, kind)}), folder / f"{START + day * DAY:%Y-%m-%d}.{part}")


def ran(given: tuple[Pipeline, Path], first: int, last: int) -> Any:
    return run(given[0], root=given[1], start=START + first * DAY, end=START + (last + 1) * DAY, spark=HERE)


def results(given: tuple[Pipeline, Path]) -> list[pa.Table]:
    return [read(given[0], name, root=given[1], provisional=True) for name in given[0].windows]


@pytest.mark.parametrize(("how", "order"), some(product(WIDENINGS, [(0, 1, 2), (2, 1, 0), (1, 0, 2)])))
def test_states_before_are_taken_along(tmp_path: Path, how: str, order: Sequence[int]) -> None:
    narrow, wide, value = WIDENINGS[how]
    for day in range(3):
        values = [value(at + day) for at in range(4)]
        write(tmp_path / "mixed", day, wide if day == 1 else narrow, values)
        write(tmp_path / "wide", day, wide, values)
    mixed, clean = flow(tmp_path / "mixed", tmp_path / "one_by_one"), flow(tmp_path / "wide", tmp_path / "clean")
    for day in order:
        ran(mixed, day, day)
    ran(clean, 0, 2)
    assert [bitwise(ours, theirs) for ours, theirs in zip(results(mixed), results(clean), strict=True)] == [True] * 3
    bulk = flow(tmp_path / "mixed", tmp_path / "bulk")
    ran(bulk, 0, 2)
    for given in (mixed, bulk):
        assert outdated(given[0], root=given[1], start=START, end=START + 3 * DAY) == []
        assert [found for found in diagnose(given[0], root=given[1]) if not found.mend.startswith("none needed")] == []
        assert not ran(given, 0, 2).changed
    assert [bitwise(ours, theirs) for ours, theirs in zip(results(bulk), results(clean), strict=True)] == [True] * 3
    for window in mixed[0].windows:
        kinds = [DeltaTable(str(root / "flow/windows" / window)).schema().to_arrow() for root in (mixed[1], clean[1])]
        assert pa.schema(kinds[0]).field("most").type == pa.schema(kinds[1]).field("most").type == wide


@pytest.mark.parametrize(
    ("column", "narrow", "wide", "of"),
    some(
        [
            ("n", pa.int32(), pa.int64(), int),
            ("x", pa.float32(), pa.float64(), lambda at: float(np.float32(at * 1.1))),
            ("n", pa.decimal128(10, 2), pa.decimal128(12, 2), lambda at: Decimal(at) / 4),
            ("n", pa.decimal128(10, 2), pa.decimal128(14, 4), lambda at: Decimal(at) / 4),
            ("n", pa.int32(), pa.float64(), int),
            ("n", pa.int32(), pa.decimal128(14, 2), int),
        ]
    ),
)
def test_every_aggregate(tmp_path: Path, column: str, narrow: pa.DataType, wide: pa.DataType, of: Any) -> None:
    """Columns as the catalogue of aggregates has them, one of which is narrower on the first day."""
    written_alike = narrow.id == wide.id or pa.types.is_floating(narrow) or wide.id == pa.int64().id
    written_alike &= not (pa.types.is_decimal(wide) and wide.scale == 4)
    rows = [row for row in ROWS if row.name not in NO_STATES and (written_alike or (row.name not in HASHED and column in row.of))]
    aggregates = {f"a{at}": row.made() for at, row in enumerate(rows)}
    for folder, first in (("mixed", narrow), ("wide", wide)):
        for day, kind in enumerate((first, wide)):
            types = COLUMNS | {column: kind}
            rows = [fixed(at) | {column: of(at % 7), "at": START + day * DAY + timedelta(hours=at)} for at in range(3 * day, 3 * day + 12)]
            (tmp_path / folder).mkdir(exist_ok=True)
            schema = pa.schema([("at", pa.timestamp("us", tz="UTC")), *types.items()])
            pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / folder / f"{START + day * DAY:%Y-%m-%d}.a")
    kinds = {"pair": windows.sliding("2d", step="1d"), "all": windows.all_time()}
    mixed, clean = (flow(tmp_path / name, tmp_path / f"{name}_root", windows=kinds, aggregates=aggregates) for name in ("mixed", "wide"))
    for day in (0, 1):
        ran(mixed, day, day)
    ran(clean, 0, 1)
    for ours, theirs in zip(results(mixed), results(clean), strict=True):
        differ = [str(aggregates[name]) for name in aggregates if not bitwise(ours.select([name]), theirs.select([name]))]
        assert differ == [], ours.schema


@pytest.mark.parametrize(("narrow", "wide"), [(pa.int32(), pa.int64()), (pa.decimal128(10, 2), pa.decimal128(14, 4))])
def test_a_key_that_widens_is_the_same_key(tmp_path: Path, narrow: pa.DataType, wide: pa.DataType) -> None:
    for day in range(3):
        write(tmp_path / "mixed", day, wide if day == 2 else narrow, [1, 2, 3, 1])
        write(tmp_path / "wide", day, wide, [1, 2, 3, 1])
    options = {"keys": ["x"], "aggregates": {"n": agg.count()}}
    mixed, clean = (flow(tmp_path / name, tmp_path / f"{name}_root", **options) for name in ("mixed", "wide"))
    ran(mixed, 0, 1)
    ran(mixed, 2, 2)
    ran(clean, 0, 2)
    assert [bitwise(ours, theirs) for ours, theirs in zip(results(mixed), results(clean), strict=True)] == [True] * 3
    [buckets] = {tuple(_states(given).column("bucket").to_pylist()) for given in (mixed, clean)}
    assert len(buckets) == len(_states(mixed))


def _states(given: tuple[Pipeline, Path]) -> pa.Table:
    """The states of the days, by batch and key."""
    bound = bind(given[0], given[1])
    table = bound.store.snapshot(bound.frame_sets[-1].table)
    rows = read_files(bound.table(bound.frame_sets[-1].table), table)
    return rows.sort_by([("batch", "ascending"), ("x", "ascending"), ("frame", "ascending")])


def test_a_long_that_no_double_holds_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, pa.int64(), [2**53 + 1])
    write(tmp_path / "data", 1, pa.float64(), [0.5])
    given = flow(tmp_path / "data", tmp_path / "root")
    ran(given, 0, 0)
    with pytest.raises(SourceError, match=r"sum_x is int64 in earlier batches .* does not go into the wider type as it is.*types="):
        ran(given, 1, 1)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_integers_beside_short_floats_lose_no_digit(order: Sequence[int], tmp_path: Path) -> None:
    """A FLOAT holds integers up to 16,777,216 alone."""
    for day, kind, value in ((0, pa.float32(), 0.5), (1, pa.int32(), 16_777_217)):
        write(tmp_path / "data", day, kind, [value])
    given = flow(tmp_path / "data", tmp_path / "root")
    for day in order:
        ran(given, day, day)
    assert read(given[0], "day", root=given[1], provisional=True)["most"].to_pylist() == [0.5, 16_777_217.0]


def test_a_long_that_no_double_holds_is_refused_beside_doubles_of_before(tmp_path: Path) -> None:
    write(tmp_path / "data", 0, pa.float64(), [0.5])
    write(tmp_path / "data", 1, pa.int64(), [2**53 + 1])
    given = flow(tmp_path / "data", tmp_path / "root")
    ran(given, 0, 0)
    with pytest.raises(SourceError, match="9007199254740993"):
        ran(given, 1, 1)


@pytest.mark.parametrize(("kind", "number"), [(pa.float64(), 2**53 + 1), (pa.float32(), 2**24 + 1)])
def test_a_number_that_another_file_of_its_batch_would_round_is_refused(kind: pa.DataType, number: int, tmp_path: Path) -> None:
    """As pandas writes ids: whole numbers on most days, doubles where one is missing."""
    write(tmp_path / "data", 0, pa.int64(), [number], part="a")
    write(tmp_path / "data", 0, kind, [None, 7], part="b")
    given = flow(tmp_path / "data", tmp_path / "root")
    with pytest.raises(SourceError, match=rf"\.a: 'x' holds {number}, and other files of its batch make it a (FLOAT|DOUBLE)"):
        ran(given, 0, 0)
    for exact in (number - 1, 2**60):
        write(tmp_path / "data", 0, pa.int64(), [exact], part="a")
        ran(given, 0, 0)
        assert read(given[0], "day", root=given[1], provisional=True)["most"].to_pylist() == [exact]
    write(tmp_path / "data", 0, pa.int64(), [number], part="c")
    with pytest.raises(SourceError, match=rf"\.c: 'x' holds {number}"):  # a file of the same columns as another
        ran(given, 0, 0)
    ran(flow(tmp_path / "data", tmp_path / "other", aggregates={"n": agg.count()}), 0, 0)
    as_double = replace(given[0].source, types={"x": "DOUBLE"})
    ran(flow(tmp_path / "data", tmp_path / "doubles", source=as_double), 0, 0)


def test_a_sketch_of_integers_is_none_of_doubles(tmp_path: Path) -> None:
    """Their values have other hashes: each would count twice."""
    write(tmp_path / "data", 0, pa.int64(), [1, 2])
    write(tmp_path / "data", 1, pa.float64(), [1, 2])
    given = flow(tmp_path / "data", tmp_path / "root", aggregates={"d": agg.approx_count_distinct("x")})
    for first, second in ((0, 1), (1, 0)):
        given = (given[0], tmp_path / f"root_{first}")
        ran(given, first, first)
        with pytest.raises(SourceError, match=r"min_x is (DOUBLE|BIGINT) here and (BIGINT|DOUBLE) in earlier batches"):
            ran(given, second, second)


class _Before:
    """A store in which another run commits states just before the first commit of this one."""

    def __init__(self, store: DeltaStore, other: Callable[[], object]) -> None:
        self.root, self.store, self.other = store.root, store, [other]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def __hash__(self) -> int:
        return id(self)

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        if table.startswith("frames") and self.other:
            self.other.pop()()
        self.store.commit(table, base, change)


@pytest.mark.parametrize(("ours", "theirs"), [(1, 2), (2, 1)])
def test_a_run_beside_one_that_widens(tmp_path: Path, ours: int, theirs: int) -> None:
    for day in range(3):
        write(tmp_path / "mixed", day, pa.int64() if day == 2 else pa.int32(), [1, 2, day])
        write(tmp_path / "wide", day, pa.int64(), [1, 2, day])
    mixed, clean = flow(tmp_path / "mixed", tmp_path / "root"), flow(tmp_path / "wide", tmp_path / "clean")
    ran(mixed, 0, 0)
    store = _Before(DeltaStore(bind(*mixed).folder), lambda: ran(mixed, theirs, theirs))
    run(mixed[0], root=mixed[1], start=START + ours * DAY, end=START + (ours + 1) * DAY, spark=HERE, store=store)
    ran(clean, 0, 2)
    assert not store.other
    assert [bitwise(own, other) for own, other in zip(results(mixed), results(clean), strict=True)] == [True] * 3
    bound = bind(*mixed)
    for frames in bound.frame_sets:
        now = bound.store.snapshot(frames.table)
        assert {pq.read_schema(f"{bound.folder}/{frames.table}/{file.path}").field("max_x").type for file in now.files} == {pa.int64()}
