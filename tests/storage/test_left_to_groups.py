"""Rows that are left to DuckDB's GROUP BY: slots give the files of groups, or say what is wrong as groups do."""

import dataclasses
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import run, windows
from muntin.aggregates.aggregate import Aggregate
from muntin.errors import SourceError
from muntin.jobs.accumulate import accumulate_split, accumulate_task, slot_lift, split_rows
from muntin.jobs.inspect.late import quarantined
from muntin.states import keys as key_dictionary
from muntin.states import slot_tables
from muntin.tasks import Local
from tests.storage.lifted_rows import AGGREGATES, START, definition, slots_made, write_rows, written

# rows of an odd seed come in no order of time
BEYOND: dict[str, tuple[int, tuple[str, ...], Any, str, int]] = {
    "rows go far back": (3, ("texts",), slot_tables, "_LINKS_PER_ROW", 4),
    "many states": (0, ("far apart",), slot_tables, "MOST_STATES", 1_000),
    "many keys": (0, ("far apart",), key_dictionary, "MOST_LOOKED_UP", 4),
    "many keys of two columns": (0, ("texts", "far apart"), key_dictionary, "MOST_LOOKED_UP", 4),
}


@pytest.mark.parametrize("what", BEYOND)
def test_what_is_beyond_a_limit_is_left_to_groups(tmp_path: Path, what: str) -> None:
    seed, keys, module, limit, value = BEYOND[what]
    write_rows(tmp_path / "data", seed, keys)
    pipeline = definition(tmp_path / "data", len(keys), {"short": windows.tumbling("1s")}, AGGREGATES)
    expected = written(tmp_path, "groups", pipeline)
    with slots_made("linked") as made, mock.patch.object(module, limit, value):
        assert written(tmp_path, "slots", pipeline) == expected
    assert made == [None]


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
        (batch,) = run(pipeline, root=tmp_path, start=START, end=START + timedelta(hours=1), spark=Local(1)).batches
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
    asked = mock.patch.object(split_rows, "MANY_ROWS", 1), mock.patch.object(accumulate_task, "may_bundle", return_value=False)
    with slots_made("dense"), asked[0], asked[1], pytest.raises(SourceError, match=r"rows\.parquet"):
        run(pipeline, root=tmp_path, start=START, end=START + timedelta(hours=1), spark=Local(1))


def test_an_interrupt_behind_the_first_rows_is_an_interrupt() -> None:
    session = duckdb.connect()
    batches = slot_lift._batches(session.sql("SELECT range AS x FROM range(100_000_000)").to_arrow_reader(2_048))
    assert len(next(batches)) == 2_048
    session.interrupt()
    with pytest.raises(duckdb.InterruptException):
        list(batches)


def test_a_text_that_speaks_of_an_interrupt_is_none() -> None:
    rows = duckdb.sql("SELECT (CASE WHEN range = 50_000 THEN 'INTERRUPT Error' ELSE '1' END)::BIGINT AS x FROM range(100_000)")
    with pytest.raises(slot_lift._CutShortError):
        list(slot_lift._batches(rows.to_arrow_reader(2_048)))


@pytest.mark.parametrize("values", [[2**62, 2**62 - 1], [2**61] * 8])
def test_a_sum_that_may_not_fit_is_left_to_groups(tmp_path: Path, values: list[int]) -> None:
    """Groups have 128 bits, and say what does not fit."""
    (tmp_path / "data").mkdir()
    times = pa.array([START] * len(values), pa.timestamp("us", tz="UTC"))
    signs = [value * (-1) ** at for at, value in enumerate(values)]
    pq.write_table(pa.table({"t": times, "i": signs}), tmp_path / "data/rows.parquet")
    pipeline = definition(tmp_path / "data", 0, {"wide": windows.tumbling("10m")}, {"whole": agg.sum("i")})
    expected = written(tmp_path, "groups", pipeline)
    with mock.patch.object(accumulate_split, "MANY_ROWS", 1):
        assert written(tmp_path, "slots", pipeline) == expected


@pytest.mark.parametrize("aggregate", [agg.median("f"), agg.first("i", where="f > 1"), agg.last("f", where="i > 0"), agg.first("k0")])
def test_a_state_that_is_not_told_of_one_value_is_grouped(tmp_path: Path, aggregate: Aggregate) -> None:
    """A list of values; a null of the row that counts, which is no row that does not count; a text."""
    write_rows(tmp_path / "data", 0, ("texts",))
    pipeline = definition(tmp_path / "data", 1, {"wide": windows.tumbling("10m")}, {"it": aggregate})
    with mock.patch.object(accumulate_split, "MANY_ROWS", 1), mock.patch.object(slot_lift, "rows_in_slots") as slots:
        assert written(tmp_path, "slots", dataclasses.replace(pipeline))
    assert not slots.called
