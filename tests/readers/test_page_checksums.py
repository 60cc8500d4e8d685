"""Checksums of pages of Parquet hold, where a file has them: a value that was changed on the way is no value."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import sources
from muntin.errors import SourceError
from muntin.files.paths import path_of
from muntin.jobs.inspect.late import quarantined
from muntin.sources.reading.bad_files import check_pages
from tests.end_to_end.hourly import Hourly, hour
from tests.source_options import grouped

ROWS = 1000
WRITERS: dict[str, dict[str, Any]] = {
    "plain": {"use_dictionary": False, "compression": "none"},
    "many pages": {"use_dictionary": False, "compression": "none", "data_page_size": 256, "write_batch_size": 16},
    "many row groups": {"use_dictionary": False, "compression": "none", "row_group_size": 300},
    "second version": {"use_dictionary": False, "compression": "none", "data_page_version": "2.0"},
    "dictionaries": {"compression": "none"},
    "statistics and names": {"use_dictionary": False, "compression": "none", "write_page_index": True},
}


def content(spoiled: bool = True, *, checksums: bool = True, **how: Any) -> bytes:
    """A file with numbers, one of which may be another than what was written."""
    rows = {"at": [hour(at / ROWS) for at in range(ROWS)], "x": np.arange(ROWS) * 1_000_003, "y": [f"unused {at}" for at in range(ROWS)]}
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(rows), out, write_page_checksum=checksums, **how)
    data = bytearray(out.getvalue())
    data[data.rindex((500 * 1_000_003).to_bytes(8, "little"))] ^= spoiled
    return bytes(data)


def case(root: str, tmp_path: Path, data: bytes, used: str = "x", **source: Any) -> tuple[Hourly, str]:
    path = path_of(root, "data", "00.parquet")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    found = sources.files(f"{root}/data/{{start:%H}}*.parquet", **grouped(event_time="at", **source))
    return Hourly(tmp_path, other={"source": found, "aggregates": {"most": agg.max(used)}}), str(path)


@pytest.mark.parametrize("how", WRITERS)
def test_a_changed_value_is_refused_by_name(roots: str, tmp_path: Path, how: str) -> None:
    hours, path = case(roots, tmp_path, content(**WRITERS[how]))
    with pytest.raises(SourceError) as wrong:
        hours.run()
    group = 1 if how == "many row groups" else 0
    told = f"{path} is cut off or damaged (a page of column 'x', row group {group}, has another checksum than its header says)"
    assert told in str(wrong.value)


@pytest.mark.parametrize("how", WRITERS)
def test_or_goes_to_the_quarantine(tmp_path: Path, how: str) -> None:
    hours, path = case(str(tmp_path), tmp_path, content(**WRITERS[how]), on_bad_file="quarantine")
    assert hours.run().batches[0].rows_quarantined == 1
    assert [row["file"] for row in quarantined(hours.pipeline, root=hours.root).to_pylist()] == [path]


@pytest.mark.parametrize("how", WRITERS)
def test_what_is_as_it_was_written_is_read(roots: str, tmp_path: Path, how: str) -> None:
    hours, _ = case(roots, tmp_path, content(spoiled=False, **WRITERS[how]))
    assert hours.run().batches[0].rows_accepted == ROWS


@pytest.mark.parametrize(
    "more", [{}, {"compression": "zstd"}, {"compression": "snappy", "data_page_version": "2.0"}, {"bloom_filter_options": {"x": True}}]
)
def test_every_page_of_a_whole_file_holds(tmp_path: Path, more: dict[str, Any]) -> None:
    """Pages of nested values, of dictionaries and of nulls, with all that a header may hold."""
    rows = {
        "x": [1, None, 3] * 500,
        "s": [{"a": at, "b": [str(at)] * (at % 3)} for at in range(1500)],
        "t": [None, "text" * 20, ""] * 500,
        "d": np.linspace(0, 1, 1500),
        "b": [True, False, None] * 500,
    }
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(rows), path, write_page_checksum=True, data_page_size=500, write_page_index=True, **more)
    check_pages([str(path)], lambda _: True)
    clean, columns = path.read_bytes(), pq.read_metadata(path).row_group(0)
    for at in range(columns.num_columns):
        data, column = bytearray(clean), columns.column(at)
        data[min(filter(None, (column.dictionary_page_offset, column.data_page_offset))) + column.total_compressed_size - 1] ^= 1
        path.write_bytes(data)
        with pytest.raises(SourceError, match="has another checksum"):
            check_pages([str(path)], lambda _: True)


def test_columns_that_nobody_uses_are_not_looked_at(tmp_path: Path) -> None:
    hours, _ = case(str(tmp_path), tmp_path, content(use_dictionary=False, compression="none"), used="y")
    assert hours.run().batches[0].rows_accepted == ROWS


def test_only_the_row_groups_of_a_part(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content(**WRITERS["many row groups"]))
    check_pages([str(path)], lambda _: True, range(300))
    check_pages([str(path)], lambda _: True, range(600, 1000))
    with pytest.raises(SourceError, match="row group 1"):
        check_pages([str(path)], lambda _: True, range(300, 600))


def test_files_that_are_read_together(tmp_path: Path) -> None:
    hours, path = case(str(tmp_path), tmp_path, content(**WRITERS["plain"]))
    for number in (1, 2, 3):
        path_of(str(tmp_path), "data", f"0{number}.parquet").write_bytes(content(spoiled=False, **WRITERS["plain"]))
    with pytest.raises(SourceError, match=f"{path} is cut off or damaged"):
        hours.run(0, 3)


def test_a_file_without_checksums_has_none_to_hold(tmp_path: Path) -> None:
    hours, _ = case(str(tmp_path), tmp_path, content(checksums=False, **WRITERS["plain"]))
    assert hours.run().batches[0].rows_accepted == ROWS


def test_a_file_of_spark_has_some(spark: Any, tmp_path: Path) -> None:
    spark.range(ROWS).selectExpr("id * 1000003 AS x").coalesce(1).write.option("parquet.enable.dictionary", "false").option(
        "compression", "none"
    ).parquet(f"{tmp_path}/spark")
    (path,) = (tmp_path / "spark").glob("*.parquet")
    check_pages([str(path)], lambda _: True)
    data = bytearray(path.read_bytes())
    data[data.index((500 * 1_000_003).to_bytes(8, "little"))] ^= 1
    path.write_bytes(data)
    with pytest.raises(SourceError, match="has another checksum"):
        check_pages([str(path)], lambda _: True)
