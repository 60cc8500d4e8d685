"""The instants at which a local clock shows a time, and the SQL for them: two where it is set back, and none
where it is set forward.

Europe/Vienna, March           01:59  03:00         the clock before the change shows 02:30 at 01:30 UTC, the
clock after it at 00:30 UTC Europe/Vienna, October         02:00  02:59  02:00  02:59         shows 02:30 at
00:30 UTC, and again at 01:30 UTC

Both are the readings of Python's zoneinfo, by `fold=0` and `fold=1`, for every year from 1 to 9999. SQL asks
them of here, and not DuckDB's own data on zones, so that local times, windows of a zone and Python agree.

`ambiguous`      02:30 in October is the "first" showing, the "second", by "arrival", or unknown: "quarantine"
`nonexistent`    02:30 in March is moved on, as a clock that was not set forward shows it ("shift"), or it is
for the "quarantine"

By arrival: rows in the order of arrival go back once within a repeated hour, and that is where its second
showing begins. If they do not go back, or go back twice, or a row of another hour lies between, the order
does not tell, and all rows of this hour are for the quarantine.

local time    01:50   02:10   02:40   02:05   02:40   03:00
showing               first   first   second  second
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from muntin.definition.clocks import clock_changes
from muntin.sources.reading.scan import literal
from muntin.sources.source import Source
from muntin.states.frames import Ints

Fold = Literal[0, 1]
FIRST, SECOND, CHANGE = "muntin_first", "muntin_second", "muntin_change"
"""SQL functions of a session with a zone: the readings of a local time in microseconds, and how many changes
of the clock it is behind.
"""
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of a local clock
# no zone changed before; for ever after, rules repeat with the calendar
_BEGIN, _END, _CYCLE_YEARS = 1840, 2150, 400
_STRIDE = timedelta(
    days=3
)  # no clock changed twice within three days; that of Freetown did within four, in 1939


def _second(year: int) -> int:
    return (datetime(year, 1, 1) - _EPOCH) // timedelta(seconds=1)  # noqa: DTZ001 - as above


_FAR_US = _second(_END) * 1_000_000
_CYCLE_US = (_second(_END + _CYCLE_YEARS) - _second(_END)) * 1_000_000


@lru_cache
def _changes(name: str, first_year: int, last_year: int) -> tuple[tuple[Ints, Ints], Ints]:
    """For each fold the local times at which the offset of a zone changes, and the offsets before, between
    and after; microseconds.
    """
    first, last = datetime(first_year, 1, 1), datetime(last_year, 1, 1)  # noqa: DTZ001 - of UTC
    changes, offsets = map(np.array, clock_changes(ZoneInfo(name), first, last, _STRIDE))
    changes = changes.astype(np.int64)  # of a clock that never changes, too
    return (
        changes + np.maximum(offsets[:-1], offsets[1:]),
        changes + np.minimum(offsets[:-1], offsets[1:]),
    ), offsets


def instants(local: Ints, name: str, fold: Fold) -> Ints:
    """The instants at which the clock of a zone shows local times: microseconds, as if the clock were UTC's,
    to microseconds in UTC.
    """
    if len(local) and local.max() < _FAR_US:
        borders, offsets = _changes(name, _BEGIN, _END)
        first, last = np.searchsorted(borders[fold], (local.min(), local.max()), side="right")
        # of neighbours mostly one offset holds
        at = first if first == last else np.searchsorted(borders[fold], local, side="right")
        out: Ints = local - offsets[at]
        return out
    far, moved = _folded(local)
    (near, offsets), (later, rules) = (
        _changes(name, _BEGIN, _END),
        _changes(name, _END - 1, _END + _CYCLE_YEARS),
    )
    at, then = (np.searchsorted(borders[fold], moved, side="right") for borders in (near, later))
    return local - np.where(far, rules[np.where(far, then, 0)], offsets[np.where(far, 0, at)])


def changes_before(local: Ints, name: str) -> Ints:
    """Numbers that tell apart the hours that a clock shows twice: they rise where it was changed before a
    local time.
    """
    far, moved = _folded(local)
    near = _changes(name, _BEGIN, _END)[0][0]
    at = np.searchsorted(near, moved, side="right")
    if not far.any():
        return at
    later = _changes(name, _END - 1, _END + _CYCLE_YEARS)[0][0]
    return np.where(far, local - moved + np.searchsorted(later, moved, side="right") + len(near), at)


def _folded(local: Ints) -> tuple[Any, Ints]:
    """Which local times are so far off that only rules hold, and all moved to where these were looked up."""
    far = local >= _FAR_US
    return far, local - np.where(far, (local - _FAR_US) // _CYCLE_US * _CYCLE_US, 0)


def let_read(session: DuckDBPyConnection, name: str) -> None:
    """Add the functions of a zone to a session of DuckDB, for columns of local times in microseconds."""
    readings = {FIRST: partial(instants, name=name, fold=0), SECOND: partial(instants, name=name, fold=1)}
    for function, reading in {**readings, CHANGE: partial(changes_before, name=name)}.items():
        # without types: DuckDB asks for the types of a function with types
        in_arrow = partial(lambda of, column: pa.array(of(column.to_numpy())), reading)
        session.create_function(function, in_arrow, ["BIGINT"], "BIGINT", type="arrow")  # type: ignore[arg-type,list-item]


TOLD = "muntin_told"
"""The column of `by_arrival`: the instant of a local time that comes twice, microseconds; null where the
order does not tell.
"""
_LOCAL, _HOUR, _PLACE, _BACK = "muntin_local", "muntin_hour", "muntin_local_place", "muntin_back"


def at(source: Source, local: str) -> str:
    """SQL for the instant of a local time, both in microseconds; null where the definition, or the order of
    arrival, has to tell.

    `local`: as if it were of UTC.
    """
    if source.timezone is None:
        return local
    first = f"{FIRST}({local})"
    second = f"{SECOND}({local})"
    moves = source.nonexistent == "shift"  # then the first reading is the later one
    if source.ambiguous == "first":
        return first if moves else f"CASE WHEN {first} <= {second} THEN {first} END"
    if source.ambiguous == "second":
        return f"greatest({first}, {second})" if moves else f"CASE WHEN {first} <= {second} THEN {second} END"
    return f"CASE WHEN {first} {'>=' if moves else '='} {second} THEN {first} END"


def odd(local: str) -> str:
    """SQL for how often a clock shows a local time: 1 twice, -1 never, 0 once."""
    return f"sign({SECOND}({local}) - {FIRST}({local}))"


def decides(source: Source) -> bool:
    """Whether a definition says an instant for each local time."""
    return source.ambiguous in ("first", "second") and source.nonexistent == "shift"


def by_arrival(rows: str, local: str, order: str, batch: str) -> str:
    """The rows with `TOLD`. `local`: SQL for the local time in microseconds; null where a row has none.

    `order`: the ORDER BY of arrival; `batch`: the column of the batch with a comma behind it, where rows of
    several batches lie in the relation; else "".
    """
    each = f"PARTITION BY {batch}true"
    hour = f"PARTITION BY {batch}{_HOUR}"
    placed = (
        f"SELECT *, count({_LOCAL}) OVER ({each} {order}) AS {_PLACE} FROM (SELECT *, {local} AS {_LOCAL}"
        f" FROM {rows})"
    )
    hours = f"SELECT *, CASE WHEN {odd(_LOCAL)} = 1 THEN {CHANGE}({_LOCAL}) END AS {_HOUR} FROM ({placed})"
    back = (
        f"SELECT *, ({_LOCAL} < lag({_LOCAL}) OVER ({hour} ORDER BY {_PLACE}))::INTEGER AS {_BACK} FROM"
        f" ({hours})"
    )
    once = f"sum({_BACK}) OVER ({hour}) = 1"
    alone = f"max({_PLACE}) OVER ({hour}) - min({_PLACE}) OVER ({hour}) + 1 = count(*) OVER ({hour})"
    gone_back = f"coalesce(sum({_BACK}) OVER ({hour} ORDER BY {_PLACE}), 0) = 1"
    showing = f"CASE WHEN {gone_back} THEN {SECOND}({_LOCAL}) ELSE {FIRST}({_LOCAL}) END"
    instant_sql = f"CASE WHEN {_HOUR} IS NOT NULL AND {once} AND {alone} THEN {showing} END"
    return f"(SELECT * EXCLUDE ({_LOCAL}, {_PLACE}, {_HOUR}, {_BACK}), {instant_sql} AS {TOLD} FROM ({back}))"


def reason(source: Source, what: str, local: str, lacks: str) -> str:
    """SQL cases for why a local time has no instant.

    `what` names the time; `local`: SQL in microseconds; `lacks`: SQL that is true where the instant is null.
    """
    unclear = "clocks are set back"
    if source.ambiguous == "arrival":
        unclear += (
            f"; rows in the order of {source.arrival_order} do not go back in this hour exactly once, so that"
            " the order does not tell"
        )
    there, say = source.timezone, "say sources.at(..., "
    twice = f' comes twice in {there}, where {unclear}; {say}ambiguous="first") or "second"'
    never = f' never was in {there}, where clocks are set forward; {say}nonexistent="shift")'
    return " ".join(
        f"WHEN {lacks} AND {odd(local)} = {sign} THEN {literal(f'{what} ')} ||"
        f" make_timestamp({local})::VARCHAR || {literal(text)}"
        for sign, text in ((1, twice), (-1, never))
    )
