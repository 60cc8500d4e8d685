"""Keys that are whole numbers are numbered by a table: as the join would number them, which takes keys of any types."""

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.engine.versions import NEVER
from muntin.sources.reading.answers import KEY, TIME, UNKNOWN, keys_of_rows
from muntin.sources.reading.dimension import Dimension
from muntin.states.columns import EVENT_TIME
from tests.case_counts import cases

VALUES = st.integers(-3, 5) | st.integers(-(2**63), 2**63 - 1)
ROWS = st.lists(st.tuples(st.none() | VALUES, st.none() | st.integers(0, 9)), max_size=12)


@settings(max_examples=cases(900), database=None, deadline=None)
@given(keys=st.sets(VALUES, max_size=5), rows=ROWS)
def test_a_table_numbers_as_a_join_does(keys: set[int], rows: list[tuple[int | None, int | None]]) -> None:
    numbers = {key: number for number, key in enumerate(sorted(keys))}
    known = pa.table({"k0": pa.array(numbers.keys(), pa.int64()), "id": pa.array(numbers.values(), pa.int64())})
    wanted = [numbers.get(key, -1) for key, time in rows if None not in (key, time)]
    hashes = [_numbered(known, kind, rows, wanted) for kind in ("BIGINT", "HUGEINT")]
    assert hashes[0] == hashes[1]


def _numbered(known: pa.Table, kind: str, rows: list[tuple[int | None, int | None]], wanted: list[int]) -> list[int | None]:
    """See that rows with a key and a time are numbered so; the hashes of keys, which unknown keys alone have."""
    key, time = pa.array([row[0] for row in rows], pa.int64()), pa.array([row[1] for row in rows], pa.int64())
    dimension = Dimension("rates", (("id", kind),), (("rate", "DOUBLE"),))  # a key of 128 bits is joined
    with duckdb.connect(config={"threads": 1}) as session:
        session.register("muntin_rows", pa.table({"id": key, EVENT_TIME: time}))
        found = keys_of_rows(session, dimension, known, "muntin_rows", f"{EVENT_TIME} IS NOT NULL", [])
    looks_up = [each != NEVER for each in found[TIME].to_pylist()]
    assert looks_up == [None not in row for row in rows]
    assert [each for each, asks in zip(found[KEY].to_pylist(), looks_up, strict=True) if asks] == wanted
    unknown = [each for each, asks in zip(found[UNKNOWN].to_pylist(), looks_up, strict=True) if asks]
    assert [each is None for each in unknown] == [number >= 0 for number in wanted]
    return found[UNKNOWN].to_pylist()  # type: ignore[no-any-return]
