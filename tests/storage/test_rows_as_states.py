"""By arrival rows are states: none is grouped, and a file holds each value once."""

from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from muntin import aggregates as agg
from muntin import read, windows
from muntin.definition.frame_sets import frame_sets
from muntin.jobs.accumulate import accumulate_split, bundle_states
from muntin.states.derived_columns import whole, whole_schema
from muntin.store.parquet import encoded
from tests.case_counts import paired
from tests.storage.lifted_rows import AGGREGATES, ARRIVED, OF_SEVERAL_ROWS, definition, write_rows, written

OF_A_ROW = {name: one for name, one in AGGREGATES.items() if name not in OF_SEVERAL_ROWS} | {
    "first": agg.first("f"),
    "last": agg.last("i", where="f > 1"),
    "some": agg.any_value("s"),
    "all": agg.all_of("i > 0"),
    "early": agg.first("f", ignore_nulls=True),
}


@pytest.mark.parametrize(("seed", "keys"), paired(range(2), [(), ("integers",), ("texts", "far apart")]))
def test_rows_are_states_without_groups(tmp_path: Path, seed: int, keys: tuple[str, ...]) -> None:
    write_rows(tmp_path / "data", seed, keys)
    pipeline = definition(tmp_path / "data", len(keys), ARRIVED, OF_A_ROW)
    (once,) = written(tmp_path, "rows", pipeline)
    with mock.patch.object(accumulate_split, "rows_as_states", return_value=None) as grouped:
        (all_columns,) = written(tmp_path, "groups", pipeline)
    assert grouped.called
    of_rows, of_groups = (pq.read_table(tmp_path / path, partitioning=None) for path in (f"rows/{once}", f"groups/{all_columns}"))
    how = bundle_states.encoding(frame_sets(pipeline)[0], pipeline.keys)
    assert encoded(whole(of_rows), how).equals(encoded(of_groups, how))  # both as read: a file names what lists hold otherwise
    for name in pipeline.windows:
        one, other = (read(pipeline, name, root=tmp_path / root) for root in ("rows", "groups"))
        assert encoded(one).equals(encoded(other)), name


def test_a_file_holds_each_value_once(tmp_path: Path) -> None:
    # of f, of whole numbers, of the values for which a condition holds; 1 of each row is not held at all
    write_rows(tmp_path / "data", 0, ("texts",))
    aggregates = {
        "n": agg.count(),
        "known": agg.count("f"),
        "low": agg.min("f"),
        "high": agg.max("f"),
        "sum": agg.sum("f"),
        "mean": agg.mean("f"),
    }
    aggregates |= {"whole": agg.mean("i"), "greatest": agg.max("s"), "total": agg.sum("s"), "some": agg.mean("f", where="i > 0")}
    pipeline = definition(tmp_path / "data", 1, {"counted": windows.arrival(windows.by_count(7))}, aggregates)
    (file,) = written(tmp_path, "rows", pipeline)
    schema = pq.read_schema(tmp_path / "rows" / file)
    held = [name.rpartition("_")[0] if "_f_" in name else name for name in schema.names]
    assert held == ["k0", "batch", "frame", "min_f", "sum_i", "max_s", "sum_f", "muntin_file", "muntin_place", "bucket"]
    (frames,) = (tmp_path / "rows").rglob("frames/rows")
    told = {field.name: field.type for field in whole_schema(schema)}
    assert told == {field.name: field.type for field in pa.schema(DeltaTable(frames).schema().to_arrow())}
