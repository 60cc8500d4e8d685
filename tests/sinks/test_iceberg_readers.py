"""Windows of every type, read through a mirror by other readers: row by row what `read` gives."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog import load_catalog

from muntin import read, sinks
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import bind
from tests.end_to_end.exact_values import exact
from tests.end_to_end.written_by import EVERY, of_rows, table_of

NULLS_OF_STRUCTS = {
    f"v{at}" for at, column in enumerate(EVERY.values()) if "struct" in str(column.type) and not pa.types.is_struct(column.type)
}
"""pyiceberg 0.12 reads a null as an empty list or map, where its values are structs; Spark and DuckDB read the same files rightly."""


@pytest.mark.filterwarnings("ignore:.*polars_iceberg.*")  # Polars plans by pyiceberg, where its own package is not there
def test_values_come_out_as_they_went_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", uri := f"sqlite:///{tmp_path}/lake.db")
    made = of_rows(tmp_path, "parquet", [*EVERY])
    made = replace(made, other={**made.other, "to": sinks.iceberg("lake", "shop.hour")})
    pq.write_table(table_of(EVERY), made.write("00.parquet", {"at": []}))
    made.run()
    (sent,) = send(bind(made.pipeline, made.root))
    assert not sent.failed
    published = read(made.pipeline, "hour", root=made.root).sort_by("row")
    with load_catalog("lake", uri=uri) as catalog:
        table = catalog.load_table("shop.hour")
    ours = table.scan().to_arrow().sort_by("row")
    assert len(ours) == len(published) > 5
    for name in published.column_names:
        if name not in NULLS_OF_STRUCTS:
            assert exact(ours[name]) == exact(published[name]), name
    names = [name for name in published.column_names if not pa.types.is_map(published[name].type)]
    polars = pl.scan_iceberg(table).select(names).collect().to_arrow().sort_by("row")
    for name in names:
        assert exact(polars[name]) == exact(published[name]), name
