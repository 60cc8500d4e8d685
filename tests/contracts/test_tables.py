"""DuckDB and deltalake: what a new minor version may move without a word. See `tests/contracts/private-names.md`."""

import errno
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from muntin.files.object_stores import refusal
from muntin.jobs.accumulate.slot_lift import _batches
from muntin.jobs.schema_check.columns_of_files import _UNKNOWN
from muntin.sources.sessions.duckdb_session import explained, said
from muntin.store.delta import _CONFLICTS

SCHEMA = Schema.from_arrow(pa.schema([("n", pa.int64())]))


def added(path: str) -> AddAction:
    return AddAction(path, 1, {}, 0, data_change=True, stats='{"numRecords":1}')


def test_a_table_is_made_of_actions(tmp_path: Path) -> None:
    create_table_with_add_actions(str(tmp_path), SCHEMA, [added("a"), added("b")], mode="error")
    opened = DeltaTable(str(tmp_path))
    gone = RemoveAction(path="a", data_change=True, deletion_timestamp=1, partition_values={}, size=1)
    opened.create_write_transaction([gone, added("c")], "append", opened.schema())
    opened.update_incremental()
    assert sorted(pa.table(opened.get_add_actions(flatten=True))["path"].to_pylist()) == ["b", "c"]


def test_who_comes_second_is_told_so(tmp_path: Path) -> None:
    create_table_with_add_actions(str(tmp_path), SCHEMA, [added("a")], mode="error")
    with pytest.raises((CommitFailedError, DeltaError)) as caught:
        create_table_with_add_actions(str(tmp_path), SCHEMA, [added("b")], mode="error")
    assert any(word in str(caught.value) for word in _CONFLICTS)


def test_a_request_that_failed_is_told_as_one() -> None:
    options = {
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-central-1",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true", "max_retries": "0",
    }  # fmt: skip
    with pytest.raises((DeltaError, OSError)) as caught:
        DeltaTable("s3://bucket/table", storage_options=options)
    told = refusal("s3://bucket/table", str(caught.value))
    assert told is not None
    assert "does not answer" in str(told)


def test_an_error_of_the_disk_is_told_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").write_text("", encoding="utf-8")
    with pytest.raises((DeltaError, OSError)) as caught:
        DeltaTable(str(tmp_path))
    assert f"os error {errno.ENOTDIR}" in str(caught.value)


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(duckdb.BinderException) as caught:
        duckdb.sql("SELECT prise FROM (SELECT 1 AS price)")
    found = _UNKNOWN.search(str(caught.value))
    assert found
    assert found[1] == "prise"
    assert said(caught.value).startswith('there is no column "prise"')
    assert "LINE" not in said(caught.value)


def test_a_sum_that_does_not_fit_is_told_as_one() -> None:
    with pytest.raises(duckdb.Error) as caught:
        duckdb.sql("SELECT sum(n)::BIGINT FROM (VALUES (9223372036854775807), (1)) AS t(n)").fetchall()
    assert "a sum does not fit its type" in str(explained(caught.value, ["x"]))


def test_an_interrupt_behind_the_first_rows_is_told_by_arrow() -> None:
    session = duckdb.connect(config={"memory_limit": "200MB", "temp_directory": "", "threads": "1"})  # nothing goes to the disk
    with session.sql("SELECT range AS n FROM range(5000000)").to_arrow_reader(1000) as reader:
        batches = _batches(reader)
        next(batches)
        session.interrupt()
        with pytest.raises(duckdb.InterruptException):
            list(batches)
