"""Files of the writers that people use: each value is in its window as Python reads it from the file, or the file is refused by name."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from muntin.errors import MuntinError
from tests.end_to_end.typed_columns import LOST
from tests.end_to_end.written_by import of_rows, table_of, wrong_by

OFTEN = ("pyarrow, as of old", "pandas of Arrow", "Polars", "DuckDB", "csv", "Polars, CSV", "json")
"""Of the writers; the others are tried by `make soak`."""


@pytest.mark.parametrize("writer", OFTEN)
def test_values_are_what_was_written(writer: str, tmp_path: Path) -> None:
    assert wrong_by(writer, tmp_path) == []


@pytest.mark.parametrize("name", LOST)
def test_what_states_do_not_have_is_refused_with_the_mend(name: str, tmp_path: Path) -> None:
    column, said = LOST[name]
    made = of_rows(tmp_path, "parquet", ["k"])
    pq.write_table(table_of({"k": column}), made.write("00.parquet", {"at": []}))
    with pytest.raises(MuntinError, match=rf"00.parquet: column 'k' is .*{said}"):
        made.run()
