"""`muntin as-of`: from Parquet files to Parquet files, in this process and on Spark."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.conftest import Muntin, Project

# quarter   [00, 06)   [06, 12) of 2020-01-01: each known when the day has ended
AT = [datetime(2020, 1, 2, hour, tzinfo=UTC) for hour in (0, 5)] + [datetime(2020, 1, 1, 23, tzinfo=UTC)]
ROWS = pa.table({"sensor": ["ö", "ä", "ö"], "asked": pa.array(AT, pa.timestamp("us", "UTC")), "id": [1, 2, 3]})


def test_a_file_with_the_windows_of_its_rows(muntin: Muntin, done: Project, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.parquet", tmp_path / "there/set.parquet"
    pq.write_table(ROWS, rows)
    told = muntin(*done.arguments("as-of", "quarter", str(rows), "--at", "asked", "--out", str(out), "--prefix", "q_"))
    assert f"{out}: 3 rows" in told.err + told.out
    found = pq.read_table(out)
    assert found.column_names[:5] == ["sensor", "asked", "id", "q_window_start", "q_window_end"]
    assert found["q_window_end"].to_pylist() == [datetime(2020, 1, 2, tzinfo=UTC)] * 2 + [None]
    assert found["q_readings"].to_pylist() == [0, 0, None]
    ended = muntin(*done.arguments("as-of", "quarter", str(rows), "--at", "asked", "--out", str(out), "--known", "ended", "--json"))
    assert json.loads(ended.out)["rows"] == 3
    assert pq.read_table(out)["window_start"].to_pylist()[2] == datetime(2020, 1, 1, 12, tzinfo=UTC)


def test_columns_of_two_windows(muntin: Muntin, done: Project, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.parquet", tmp_path / "set.parquet"
    pq.write_table(ROWS, rows)
    assert muntin(*done.arguments("as-of", "quarter,visit", str(rows), "--at", "asked", "--out", str(out))).status == 0
    found = pq.read_table(out)
    assert found["quarter_readings"].to_pylist() == [0, 0, None]
    assert "visit_readings" in found.column_names


def test_a_folder_becomes_a_folder(muntin: Muntin, done: Project, tmp_path: Path) -> None:
    becomes(muntin, done, tmp_path)


def test_so_it_does_on_spark(muntin: Muntin, done: Project, tmp_path: Path, spark: object) -> None:
    """The session of the fixture is active: tasks run there."""
    assert spark is not None
    becomes(muntin, done, tmp_path)


def becomes(muntin: Muntin, done: Project, tmp_path: Path) -> None:
    """Two files, one in a folder of its own."""
    for name, part in (("a.parquet", ROWS.slice(0, 1)), ("x=1/b.parquet", ROWS.slice(1))):
        (tmp_path / "rows" / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(part, tmp_path / "rows" / name)
    asked = done.arguments("as-of", "quarter", str(tmp_path / "rows"), "--at", "asked", "--out", str(tmp_path / "out"), "--json")
    assert json.loads(muntin(*asked).out)["rows"] == 3
    assert pq.ParquetFile(tmp_path / "out/x=1/b.parquet").read()["id"].to_pylist() == [2, 3]
    assert sorted(path.name for path in (tmp_path / "out").rglob("*") if path.is_file()) == ["a.parquet", "b.parquet"]


def test_rows_are_never_written_over(muntin: Muntin, done: Project, tmp_path: Path) -> None:
    rows = tmp_path / "in/rows.parquet"
    rows.parent.mkdir()
    pq.write_table(ROWS, rows)
    for given, out in ((rows, rows), (rows.parent, rows.parent / "out")):
        told = muntin(*done.arguments("as-of", "quarter", str(given), "--at", "asked", "--out", str(out)))
        assert (told.status, pq.read_table(rows)) == (2, ROWS)
        assert "is where the rows lie" in told.err


def test_what_cannot_be_written_leaves_nothing_behind(muntin: Muntin, done: Project, tmp_path: Path) -> None:
    rows, out = tmp_path / "rows.parquet", tmp_path / "out"
    pq.write_table(ROWS.rename_columns(["sensor", "asked", "total"]), rows)
    told = muntin(*done.arguments("as-of", "quarter", str(rows), "--at", "asked", "--out", str(out / "set.parquet")))
    assert (told.status, out.exists()) == (2, False)
    told = muntin(*done.arguments("as-of", "quarter", str(rows), "--at", "asked", "--out", "s3://bucket/set.parquet"))
    assert (told.status, "lies in an object store" in told.err) == (2, True)
