"""One state at a time, as tests speak of them."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pipelines.aggregates import Aggregate
from pipelines.laws.states import Kinds, Row, combined, finished, lifted


def lift(aggregate: Aggregate, rows: Sequence[Row], kinds: Kinds) -> pa.Table:
    """The state of these rows, in order of arrival; of none, the empty state. Each row has a `time`."""
    return lifted(aggregate, [rows], kinds)


def combine(aggregate: Aggregate, *states: pa.Table, mid: int | None = None) -> pa.Table:
    """One state of several, in order; `mid`: where the window's second block begins."""
    return combined(aggregate, *states, mid=mid or 0)


def finish(aggregate: Aggregate, state: pa.Table) -> Any:
    """What a user sees of one state."""
    return finished(aggregate, state)[0].as_py()
