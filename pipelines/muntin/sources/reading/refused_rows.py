"""Which event times a batch takes: from `max_behind` before its interval to `max_ahead` after it; and the SQL
that finds the rows that are not accepted, for the quarantine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muntin.definition.durations import spell
from muntin.sources.casts import names_zone
from muntin.sources.reading.row_times import event_time, local_time, undecided_arrival
from muntin.sources.reading.scan import UNTOLD, ReadAs, literal, quoted, scan
from muntin.states.columns import EVENT_TIME, FAULT, FILE_PATH, ROW_BATCH, ROW_IN_SPLIT, WRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muntin.sources.source import Columns, Source


EARLIEST, BEYOND = -62_135_596_800_000_000, 253_402_300_800_000_000  # the years 1 to 9999


class Taken(NamedTuple):
    """The times that are taken; no row without a time is.

    Attributes:
        latest: the last time, microseconds: a number, or SQL over columns of the rows.
        ahead_us: `max_ahead` of the definition, for people.
        earliest: as `latest`, the first time; None: any time is late enough.
        behind_us: `max_behind` of the definition.
        whenever: SQL that is true for rows that are taken whatever their time; "": no row is.
        needs: what else a row needs: SQL that is true for it, and SQL for the reason why it is refused if
            not.
        forgotten: SQL that is true for rows that are taken and left out of states, as their keys are
            forgotten; "": no row is.
    """

    latest: int | str
    ahead_us: int = 0
    earliest: int | str | None = None
    behind_us: int = 0
    needs: tuple[tuple[str, str], ...] = ()
    whenever: str = ""
    forgotten: str = ""

    @property
    def condition(self) -> str:
        """SQL that is true for rows with such a time, and with what else they need."""
        in_time = f"({self.whenever} OR {self.in_time})" if self.whenever else self.in_time
        return " AND ".join([in_time, *(condition for condition, _ in self.needs)])

    @property
    def in_time(self) -> str:
        """SQL that is true for rows with such a time."""
        first = EARLIEST if self.earliest is None else f"greatest({self.earliest}, {EARLIEST})"
        return f"({EVENT_TIME} BETWEEN {first} AND least({self.latest}, {BEYOND - 1}))"

    @property
    def reason(self) -> str:
        """SQL cases for why a row with a time that can be read is not taken."""
        behind = (
            f" WHEN {EVENT_TIME} < {self.earliest} THEN "
            f"'event time is more than {spell(self.behind_us)} before the beginning of its interval'"
        )
        return (
            f"WHEN {EVENT_TIME} NOT BETWEEN {EARLIEST} AND {BEYOND - 1} THEN 'event time is outside the years"
            f" 1 to 9999' WHEN {EVENT_TIME} > {self.latest} THEN 'event time is more than"
            f" {spell(self.ahead_us)} ahead of the end of its"
            f" interval'{'' if self.earliest is None else behind} {self.lacking}"
        )

    @property
    def lacking(self) -> str:
        """SQL cases for what else a row needs, and does not have."""
        return " ".join(f"WHEN NOT ({condition}) THEN {why}" for condition, why in self.needs)


_POSITION = "muntin_position"


def reason(source: Source, columns: Columns, times: Taken) -> str:
    """SQL for why a row that is not accepted was refused."""
    column, local, arrival = (
        quoted(source.event_time),
        local_time(source, source.event_time, columns),
        undecided_arrival(source, columns),
    )
    if local or arrival:
        from muntin.sources.reading import local_times
    unclear = local_times.reason(source, "event time", local, f"{EVENT_TIME} IS NULL") if local else ""
    if columns.get(source.event_time) == "VARCHAR" and not source.time_format:
        word = (
            "'event time names its zone by a word, of which there may be several; let it be written with its"
            " offset, as +01:00'"
        )
        unclear += f" WHEN {EVENT_TIME} IS NULL AND {names_zone(column)} THEN {word}"
    if arrival:
        unclear += f" {local_times.reason(source, 'arrival time', *arrival)}"
    words = source.changes.says_what_it_is if source.changes else ()
    timeless = "".join(f"WHEN NOT ({says}) THEN {why} " for says, why in words)
    timeless += f"WHEN {times.whenever} THEN CASE {times.lacking} END " if times.whenever else ""
    return (
        f"CASE {timeless}WHEN {column} IS NULL THEN 'event time is null' {unclear} "
        f"WHEN {EVENT_TIME} IS NULL THEN 'event time cannot be read' "
        f"{times.reason} END"
    )


def refused(
    source: Source,
    paths: Sequence[str],
    columns: Columns,
    times: Taken,
    *,
    read_as: ReadAs = UNTOLD,
    only: str | None = None,
    rows: range | None = None,
) -> str:
    """The rows that are not accepted: reason, file, position in the file, event time and the whole row as
    text, line and column.

    `read_as`, `rows`: as for `scan`. `only`: a condition on the rows of the files; None: all rows count.
    """
    names = ", ".join(map(quoted, columns))
    time = event_time(source, columns)
    first = rows.start if rows else 0
    also = f" AND ({only})" if only else ""
    return " UNION ALL ".join(
        _not_accepted(
            source,
            columns,
            times,
            f"{literal(path)} AS file, {_POSITION} AS position",
            f"(SELECT *, {time} AS {EVENT_TIME} FROM (SELECT {names}, row_number() OVER () - 1 + {first} AS"
            f" {_POSITION} FROM {scan(source, [path], read_as, rows=rows)}))",
        )
        + also
        for path in paths
    )


def _not_accepted(source: Source, columns: Columns, times: Taken, places: str, rows: str) -> str:
    """The rows that are not accepted: their places, the reason, and what `_as_text` adds."""
    why = reason(source, columns, times)
    return (
        f"SELECT {places}, {why} AS reason, {_as_text(source, columns)} FROM {rows} WHERE NOT"
        f" coalesce({times.condition}, false)"
    )


def refused_of_kept(source: Source, table: str, columns: Columns, times: Taken) -> str:
    """The rows of a table that are not accepted, as `refused` gives them.

    The table has all rows of its files, with `FILE_PATH`.
    """
    position = f"{ROW_IN_SPLIT} - min({ROW_IN_SPLIT}) OVER (PARTITION BY {FILE_PATH}) AS {_POSITION}"
    places = f"{FILE_PATH} AS file, {_POSITION} AS position"
    query = _not_accepted(source, columns, times, places, f"(SELECT *, {position} FROM {table})")
    return f"{query} ORDER BY {ROW_IN_SPLIT}"


def refused_of_batches(source: Source, rows: str, columns: Columns, times: Taken) -> str:
    """The rows of several splits that are not accepted:

    `ROW_BATCH`, `ROW_IN_SPLIT`, and what `refused` gives without file and position.
    """
    places = f"{ROW_BATCH}, {ROW_IN_SPLIT}"
    return f"{_not_accepted(source, columns, times, places, rows)} ORDER BY {places}"


def faulty(source: Source, columns: Columns, *, good: str, bad: str, times: Taken) -> str:
    """The rows of a split that are not accepted or were left out: `FAULT`, `FILE_PATH`, `ROW_IN_SPLIT`, and
    what `refused` gives.

    `good`: the table of the rows that can be computed, where rows that are not accepted have no `FAULT`;
    `bad`: of the other rows.
    """
    places = f"{FAULT}, {FILE_PATH}, {ROW_IN_SPLIT}"
    whole = f"coalesce({WRITTEN}, {whole_row(columns)})"
    return (
        f"{_not_accepted(source, columns, times, places, good)} UNION ALL SELECT {places}, NULL,"
        f" {_as_text(source, columns, whole)} FROM {bad} ORDER BY {ROW_IN_SPLIT}"
    )


def whole_row(columns: Iterable[str]) -> str:
    """SQL for a row as JSON."""
    return (
        "to_json(struct_pack("
        + ", ".join(f"{quoted(name)} := {quoted(name)}" for name in columns)
        + "))::VARCHAR"
    )


def _as_text(source: Source, columns: Columns, whole: str | None = None) -> str:
    """The event time and the whole row; and that the event time is wrong with it.

    Which line it is, the file's text tells.
    """
    time = quoted(source.event_time)
    return (
        f"{time}::VARCHAR AS event_time, {whole or whole_row(columns)} AS row, NULL::BIGINT AS line, "
        f'{literal(source.event_time)} AS "column"'
    )
