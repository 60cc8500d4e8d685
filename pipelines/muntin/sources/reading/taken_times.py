"""Which event times a batch takes: from `max_behind` before its interval to `max_ahead` after it."""

from __future__ import annotations

from typing import NamedTuple

from muntin.definition.durations import spell
from muntin.states.columns import EVENT_TIME

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
