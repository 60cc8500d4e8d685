"""Ordered rows are cut where their bucket or batch ends, and after so many rows, however Spark cut them into record batches."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.jobs.inputs.materialised import written as module
from muntin.jobs.inputs.materialised.written import BATCH, BUCKET, in_utc, pieces, written

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def rows(*counts: tuple[int, int, int]) -> pa.Table:
    """So many rows of each batch and bucket; `x` counts them."""
    marks = [(batch, bucket) for batch, bucket, count in counts for _ in range(count)]
    columns = {"x": range(len(marks)), BATCH: [mark[0] for mark in marks], BUCKET: [mark[1] for mark in marks]}
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})


def cut(table: pa.Table, ends: list[int]) -> list[pa.RecordBatch]:
    """The rows in record batches that end at these rows."""
    borders = sorted({0, len(table), *(end for end in ends if end < len(table))})
    return [batch for a, b in pairwise(borders) for batch in table.slice(a, b - a).combine_chunks().to_batches()]


COUNTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), unique=True).flatmap(
    lambda marks: st.tuples(*(st.tuples(st.just(batch), st.just(bucket), st.integers(1, 9)) for batch, bucket in sorted(marks)))
)


@given(COUNTS, st.lists(st.integers(1, 60)))
def test_pieces_do_not_depend_on_record_batches(counts: tuple[tuple[int, int, int], ...], ends: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS", 4)
        table = rows(*counts)
        found = [(*marks, piece["x"].to_pylist()) for *marks, piece in pieces(cut(table, ends))]
    at, expected = 0, []
    for batch, bucket, count in counts:
        values = list(range(at, at + count))
        expected += [(batch, bucket, begin // 4, values[begin : begin + 4]) for begin in range(0, count, 4)]
        at += count
    assert found == expected


def test_files_have_the_name_of_their_content_and_no_word_of_a_zone(tmp_path: Path) -> None:
    def at(zone: str) -> list[dict[str, Any]]:
        table = rows((0, 3, 1)).append_column("at", pa.array([NOON], pa.timestamp("us", zone)))
        return list(written(table.to_batches(), tmp_path))

    [file] = at("Asia/Kolkata")
    assert [file] == at("UTC")
    assert pq.read_schema(tmp_path / file["path"]).field("at").type == pa.timestamp("us", "UTC")
    assert file["path"].startswith("19700101T000000Z/03-00000_")


def test_instants_inside_of_other_values_are_in_utc_too() -> None:
    inner, utc = (pa.timestamp("us", zone) for zone in ("Asia/Kolkata", "UTC"))
    assert in_utc(pa.list_(pa.struct([("t", inner)]))) == pa.list_(pa.struct([("t", utc)]))
    assert in_utc(pa.map_(pa.string(), inner)) == pa.map_(pa.string(), utc)
    assert in_utc(pa.timestamp("us")) == pa.timestamp("us")
    assert in_utc(pa.decimal128(10, 2)) == pa.decimal128(10, 2)
