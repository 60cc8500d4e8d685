"""pyiceberg: what a new minor version may move without a word. See `tests/contracts/private-names.md`."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.conversions import from_bytes
from pyiceberg.io.pyarrow import (
    PyArrowFileIO,
    _pyarrow_to_schema_without_ids,
    parquet_file_to_data_file,
    schema_to_pyarrow,
)
from pyiceberg.types import LongType, StringType

SCHEMA = pa.schema([("n", pa.int64()), ("k", pa.string())])


def test_columns_of_arrow_become_fields_without_numbers() -> None:
    fields = _pyarrow_to_schema_without_ids(SCHEMA).fields
    assert [(field.name, field.field_id, str(field.field_type)) for field in fields] == [("n", -1, "long"), ("k", -1, "string")]
    assert schema_to_pyarrow(_pyarrow_to_schema_without_ids(SCHEMA), include_field_ids=False).names == ["n", "k"]


def test_a_footer_becomes_a_file_of_a_manifest(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1, 2], "k": ["a", None]}, SCHEMA), tmp_path / "a.parquet")
    with load_catalog("lake", uri="sqlite://", warehouse=str(tmp_path)) as catalog:
        catalog.create_namespace("shop")
        table = catalog.create_table("shop.day", SCHEMA)
    file = parquet_file_to_data_file(PyArrowFileIO(), table.metadata, str(tmp_path / "a.parquet"))
    assert (file.file_path, file.record_count, file.null_value_counts) == (str(tmp_path / "a.parquet"), 2, {1: 0, 2: 1})


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=str(tmp_path / "a.json")):
        PyArrowFileIO().new_input(str(tmp_path / "a.json")).open()


def test_bounds_are_values_and_texts_are_cut_to_sixteen_characters(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1, 2], "k": ["a-very-long-name-of-ann", None]}, SCHEMA), tmp_path / "a.parquet")
    with load_catalog("lake", uri="sqlite://", warehouse=str(tmp_path)) as catalog:
        catalog.create_namespace("shop")
        table = catalog.create_table("shop.day", SCHEMA)
    file = parquet_file_to_data_file(PyArrowFileIO(), table.metadata, str(tmp_path / "a.parquet"))
    bounds = [(from_bytes(LongType(), each[1]), from_bytes(StringType(), each[2])) for each in (file.lower_bounds, file.upper_bounds)]
    assert bounds == [(1, "a-very-long-name"), (2, "a-very-long-namf")]
