"""The SQL for instants of local times: at both showings of an hour that clocks repeat, and at hours that they
leave out.

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

from typing import TYPE_CHECKING

from muntin.sources.clock_changes import CHANGE, FIRST, SECOND
from muntin.sources.reading.scan import literal

if TYPE_CHECKING:
    from muntin.sources.source import Source

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
    first, second = f"{FIRST}({local})", f"{SECOND}({local})"
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
    each, hour = f"PARTITION BY {batch}true", f"PARTITION BY {batch}{_HOUR}"
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
    twice = f' comes twice in {source.timezone}, where {unclear}; say ambiguous="first" or "second"'
    never = f' never was in {source.timezone}, where clocks are set forward; say nonexistent="shift"'
    return " ".join(
        f"WHEN {lacks} AND {odd(local)} = {sign} THEN {literal(f'{what} ')} ||"
        f" make_timestamp({local})::VARCHAR || {literal(text)}"
        for sign, text in ((1, twice), (-1, never))
    )
