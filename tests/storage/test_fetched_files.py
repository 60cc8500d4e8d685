"""Files of an object store are asked for once, and only for what is needed of them."""

import io
from collections import Counter
from datetime import timedelta
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from muntin import run, sources
from muntin.files.object_path import ObjectPath
from muntin.files.paths import path_of
from muntin.jobs.accumulate.accumulate_task import steady
from muntin.sources.sessions.listed_files import let_read
from muntin.store.reading import dataset_of
from tests.storage.test_object_store import HOURLY, ROWS, clicks, put
from tests.storage.three_batches import HERE, START

SCHEMA = pa.schema([("bucket", pa.int16()), ("n", pa.int64()), ("x", pa.float64())])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each verb of a path in an object store was used, of files of events."""
    counts: Counter[str] = Counter()
    for verb in ("head", "content", "end", "part", "parts"):

        def counted(self: ObjectPath, *given: object, verb: str = verb, does: object = getattr(ObjectPath, verb)) -> object:
            counts[verb] += "/2024/" in str(self)
            return does(self, *given)  # type: ignore[operator]

        monkeypatch.setattr(ObjectPath, verb, counted)
    return counts


def groups(rows: int, seed: int) -> pa.Table:
    """Rows in the order of their buckets, of which a row group holds few."""
    dice = np.random.default_rng(seed)
    return pa.table({"bucket": np.sort(dice.integers(0, 100, rows)), "n": dice.integers(0, 9, rows), "x": dice.random(rows)}).cast(SCHEMA)


# bucket  0      20      40      60      80      100
#         | group | group |  ...                  | footer
@pytest.mark.parametrize(("low", "high"), [(0, 100), (0, 10), (35, 60), (99, 100), (40, 40), (-5, 0)])
def test_row_groups_that_can_meet_a_condition_are_read_as_from_a_disk(bucket: str, tmp_path: Path, low: int, high: int) -> None:
    places = []
    for number, rows in enumerate((50_000, 30, 20_000)):
        pq.write_table(groups(rows, number), tmp_path / f"{number}.parquet", row_group_size=2_000)
        path_of(bucket, f"{number}.parquet").write_bytes((tmp_path / f"{number}.parquet").read_bytes())
        places.append(f"{number}.parquet")
    condition = (ds.field("bucket") >= low) & (ds.field("bucket") < high) & (ds.field("n") != 3)
    ours, theirs = (
        dataset_of([f"{folder}/{place}" for place in places], SCHEMA, condition).to_table(filter=condition) for folder in (bucket, tmp_path)
    )
    assert ours.equals(theirs)
    assert len(ours) == sum(
        low <= row["bucket"] < high and row["n"] != 3
        for number, rows in enumerate((50_000, 30, 20_000))
        for row in groups(rows, number).to_pylist()
    )


def test_row_groups_that_cannot_meet_a_condition_are_not_fetched(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out, fetched = io.BytesIO(), list[int]()
    pq.write_table(groups(200_000, 1), out, row_group_size=2_000)
    path_of(bucket, "one.parquet").write_bytes(out.getvalue())
    parts = ObjectPath.parts

    def counted(self: ObjectPath, ranges: list[tuple[int, int]]) -> list[memoryview]:
        fetched.extend(stop - start for start, stop in ranges)
        return parts(self, ranges)

    monkeypatch.setattr(ObjectPath, "parts", counted)
    condition = ds.field("bucket") < 10
    found = dataset_of([f"{bucket}/one.parquet"], SCHEMA, condition).to_table(filter=condition)
    assert found.equals(groups(200_000, 1).filter(ds.field("bucket") < 10))
    assert len(fetched) == 1, "neighbours are one range"
    assert 0 < sum(fetched) < len(out.getvalue()) / 5


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_a_file_of_events_is_asked_for_a_few_times(bucket: str, tmp_path: Path, asked: Counter[str], form: str) -> None:
    many = pa.concat_tables([ROWS.slice(0, 1)] * 30)
    put(bucket, form, many)
    run(clicks(f"{bucket}/{HOURLY}/*.{form}"), root=tmp_path, start=START, end=START + timedelta(hours=1), spark=HERE)
    # facts: for the columns, before, while and after it is read; content: once; ends: for the number of rows, for columns, and for
    # what their writers declared, before it is read and again while it is
    assert asked["content"] == 30
    assert asked["head"] < 30 * 5  # a first run remarks on one file of text, which is a few questions however many files there are
    assert asked["end"] <= 30 * 4


def test_a_file_that_is_written_while_it_is_read_is_read_again(bucket: str) -> None:
    put(bucket, "csv", ROWS.slice(0, 1))
    path, rivals = path_of(bucket, "2024/01/01/00/0.csv"), [b"t,k,x\n2024-01-01T00:20:00Z,z,7\n"]
    session = duckdb.connect()
    let_read(session, sources.files(str(path), event_time="t", all_files=True), [str(path)])
    asked = list[list[tuple[str]]]()

    def read() -> list[tuple[str]]:
        columns = session.execute(f"SELECT k FROM read_csv('{path}')").fetchall()
        if rivals:
            path.write_bytes(rivals.pop())
        asked.append(columns + session.execute(f"SELECT k FROM read_csv('{path}')").fetchall())
        return asked[-1]

    found, [file] = steady(sources.files(str(path), event_time="t", all_files=True), [str(path)], read)
    assert asked == [[("a",), ("a",)], [("z",), ("z",)]], "a reading sees one content"
    assert (found, file.checksum) == (asked[-1], path.stat().st_ino)
    path.write_bytes(b"t,k,x\n2024-01-01T00:20:00Z,y,7\n")
    assert session.execute(f"SELECT k FROM read_csv('{path}')").fetchall() == [("y",)], "nothing is remembered of a reading that is over"


def test_a_file_that_is_gone_is_told(bucket: str) -> None:
    put(bucket, "csv", ROWS.slice(0, 1))
    path = path_of(bucket, "2024/01/01/00/0.csv")
    session = duckdb.connect()
    let_read(session, sources.files(str(path), event_time="t", all_files=True), [str(path)])
    path.unlink()
    with pytest.raises((duckdb.Error, FileNotFoundError), match=r"no such file|No files found"):
        session.execute(f"SELECT k FROM read_csv('{path}')").fetchall()


def test_a_file_is_written_by_one_request_that_leaves_nothing_behind(s3_bucket: str) -> None:
    content = np.random.default_rng(1).bytes(20 * 2**20)
    path = path_of(s3_bucket, "large")
    path.write_bytes(memoryview(pa.py_buffer(content)))
    assert path.read_bytes() == content
    assert "-" not in path.stat().st_ino, "S3 tells by a dash of the ETag that a file came in parts"
