"""Windows given by a table, with the table: in memory for the core, and in a file for runs."""

import atexit
import random
import shutil
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import windows
from muntin.engine.given_spans import END, START, given_spans
from muntin.states.columns import INSTANT
from tests.catalogue.calls import span
from tests.catalogue.random_times import MINUTE, Drawn, grace, some
from tests.oracle.given import Given

FOLDER = Path(mkdtemp(prefix="given"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def instants(us: Sequence[int]) -> pa.Array:
    """Microseconds as a column of instants."""
    return pa.array(us, pa.int64()).view(INSTANT)


def called(asked: Given) -> Any:
    """The oracle's window as a user calls for it."""
    return with_table(windows.given("spans.csv", start="begins", end="ends", resolution="1s", grace=span(asked.grace)), asked.spans)


def with_table(window: Any, spans: Sequence[tuple[int, int]]) -> Any:
    """The same window, whose table is a file with these spans, microseconds; a kind without a table as it is."""
    if window.given_by is None:
        return window
    starts, ends = ([each[at] for each in spans] for at in (0, 1))
    path = FOLDER / f"{sha256(repr(spans).encode()).hexdigest()[:16]}.parquet"
    if not path.exists():
        pq.write_table(pa.table({"begins": instants(starts), "ends": instants(ends)}), path)
    found = given_spans(pa.table({START: instants(starts), END: instants(ends)}), ())
    return replace(window, table=replace(window.table, source=str(path))).with_spans(lambda: found)


def spans_around(dice: random.Random, base: int, unit: int = MINUTE, most: int = 12) -> tuple[tuple[int, int], ...]:
    """Spans that touch, overlap, lie in one another and leave time out, near an instant."""
    found = set[tuple[int, int]]()
    for _ in range(dice.randint(0, most)):
        start = base + dice.randint(-30, 40) * unit
        found.add((start, start + dice.choice([1, 1, 2, 3, 5, 8, 20, 70]) * unit))
    return tuple(sorted(found))


def drawn(dice: random.Random) -> Drawn:
    """Over events that are minutes apart."""
    case = some(dice, None)
    return Drawn(Given(spans_around(dice, case.base), grace(dice)), case.unit, case.base)
