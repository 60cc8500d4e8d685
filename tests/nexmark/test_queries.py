"""Queries of NEXMark give the rows of DuckDB's SQL, to the last, and so does Polars; other engines are compared when they race."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.nexmark import files
from benchmarks.nexmark.engines import ENGINES, over, read_muntin, run_muntin
from benchmarks.nexmark.queries import QUERIES, ROWS, for_duckdb
from benchmarks.nexmark.rows import as_others, columns, digest
from muntin.tasks import Local
from tests.case_counts import long

EVENTS, A_SECOND, BATCHES = 12_000, 80, 3


@pytest.fixture(scope="module", params=[1, 400] if long() else [400], ids=lambda group: "in order" if group == 1 else "shuffled")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the events of two and a half minutes, in order and shuffled."""
    folder = tmp_path_factory.mktemp("site") / "data/nexmark"
    assert len(files.write(folder, EVENTS, a_second=A_SECOND, group=request.param)) == BATCHES
    return folder


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows of a table, sorted, to be compared."""
    return sorted(tuple(tuple(value) if isinstance(value, list) else value for value in row.values()) for row in table.to_pylist())


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_gives_the_rows_of_its_sql(query: str, site: Path, tmp_path: Path) -> None:
    run_muntin(query, site, tmp_path, Local(1))
    found = read_muntin(query, tmp_path)
    with over(site) as session:
        expected = session.sql(for_duckdb(query)).to_arrow_table()
    assert rows(as_others(found).select(expected.column_names)) == rows(expected)
    assert len(found) > 0


def test_each_query_gives_the_same_rows_in_polars(site: Path, tmp_path: Path) -> None:
    for query in QUERIES:
        wanted, found = tmp_path / query / "duckdb", tmp_path / query / "polars"
        for out in (wanted, found):
            out.mkdir(parents=True)
            ENGINES[out.name].job(query, site, out)
        assert digest(found, columns(wanted)) == digest(wanted, columns(wanted)), query


def test_rows_that_differ_in_a_value_differ(tmp_path: Path) -> None:
    digests = []
    for number, values in enumerate([[1, 2, 3], [1, 2, 4], [1, 2]]):
        out = tmp_path / str(number)
        out.mkdir()
        pq.write_table(pa.table({"a": values, "b": [[value] for value in values]}), out / ROWS)
        digests.append(digest(out, columns(tmp_path / "0")))
    assert len({*digests}) == len(digests)
