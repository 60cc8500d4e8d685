"""Keys whose names or values meet the engine's own: refused before anything is written, or simply right."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import errors, read, run
from tests.storage.three_batches import HERE, HOUR, START, Small


def keyed(folder: Path, name: str, *values: Any) -> list[dict[str, Any]]:
    """The windows of a run whose batches have one key each."""
    small = Small(folder)
    small.write_all()
    for at, value in enumerate(values):
        table = pq.read_table(folder / f"data/{at:02d}.parquet")
        pq.write_table(table.append_column(name, pa.array([value] * len(table))), folder / f"data/{at:02d}.parquet")
    pipeline = replace(small.pipeline, keys=[name])
    run(pipeline, root=folder / "state", start=START, end=START + len(values) * HOUR, spark=HERE)
    return read(pipeline, "hours", root=folder / "state").to_pylist()


@pytest.mark.parametrize("name", ["position", "split", "lift", "muntin", "k.k", "K", "ü ✓", 'a"b', "a'b", "select"])
def test_a_key_may_have_any_name_or_is_refused_at_once(tmp_path: Path, name: str) -> None:
    try:
        found = {row[name] for row in keyed(tmp_path, name, "a", "b", "ü")}
    except (errors.DefinitionError, errors.SourceError):  # K: Parquet has a k, too
        found = {"a", "b", "ü"}
        written = list(tmp_path.rglob("state/**/*.parquet"))
    else:
        written = []
    assert (found, written) == ({"a", "b", "ü"}, [])


# 0.0 and -0.0 are one key to SQL, in one batch or in two; NaN is one key
@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (float("nan"), -float("nan"))])
def test_one_key_has_one_row_a_window(tmp_path: Path, one: float, other: float) -> None:
    rows = keyed(tmp_path, "z", one, other, one)
    assert len({row["window_start"] for row in rows}) == len(rows)
