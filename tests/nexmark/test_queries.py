"""Each query of NEXMark that is windows gives what DuckDB's SQL of it gives, to the last row."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.nexmark import __main__ as race
from benchmarks.nexmark import files
from benchmarks.nexmark.queries import QUERIES

EVENTS, A_SECOND, BATCHES = 12_000, 80, 3


@pytest.fixture(scope="module", params=[1, 400], ids=["in order", "shuffled"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the events of two and a half minutes, in order and shuffled."""
    folder = tmp_path_factory.mktemp("site")
    assert len(files.write(folder / "data/nexmark", EVENTS, a_second=A_SECOND, group=request.param)) == BATCHES
    with files.beside(folder):
        yield folder


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_gives_the_rows_of_its_sql(query: str, site: Path, tmp_path: Path) -> None:
    _, found = race.ours(query, tmp_path, BATCHES)
    _, expected = race.theirs(query, site / "data/nexmark")
    assert race.rows(found.select(expected.column_names)) == race.rows(expected)
    assert len(found) > 0
