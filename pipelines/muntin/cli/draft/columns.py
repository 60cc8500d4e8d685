"""Columns of a sample: times, numbers, keys; and the columns that a definition takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from muntin.cli.draft.numbers import COUNTED, LEVEL, MONEY, NULLS, Marks, Number, finite, number_of
from muntin.cli.draft.table import Column
from muntin.cli.draft.times import NAMED, PAST, Times, times_of
from muntin.errors import DefinitionError

_ID = re.compile(
    r"(?i)(^|[_ ])(id|code|no|nr|number|zone|zip|plz|type|fips|lat|lon)$|(?-i:I[dD]$)|(lat|long)itude"
)
_PART = re.compile(
    "(?i)(year|month|week|day|weekday|hour|minute|second|quarter|jahr|monat|woche|tag|stunde"
    "|année|mois|jour|rownames?|index)"
)
_ZONE = re.compile(r"(?i)zone|zeitzone")
_FEW, _SOME, _REPEATED = 50, 1000, 3


@dataclass(frozen=True)
class Looked:
    """A column and what its values look like.

    Attributes:
        cells: its values without nulls, text stripped.
        rows: the number of the row of each.
        nulls: texts that stand for null.
    """

    column: Column
    cells: list[object]
    rows: list[int]
    nulls: frozenset[str]
    times: Times | None
    number: Number | None

    @cached_property
    def distinct(self) -> list[object]:
        """Its values, each once, in the order of the file."""
        return [*dict.fromkeys(self.cells)]

    @property
    def name(self) -> str:
        return self.column.name

    def line(self, row: int = 0) -> str:
        """A cell and where it stands, for a comment."""
        cell = " ".join(str(self.cells[row]).split())[:40]
        return f"{cell} in {self.column.place} {self.column.lines[self.rows[row]]}"


def looked_at(column: Column, marks: Marks, *, is_text: bool, is_split_by_comma: bool) -> Looked:
    """A column with what its values look like; `is_text`: whether numbers are written as text in it."""
    cells = [each.strip() if isinstance(each, str) else each for each in column.values]
    rows = [at for at, each in enumerate(cells) if each is not None and each != ""]
    plain = [at for at in rows if not (is_text and cells[at] in NULLS)]
    seen = _look(column.name, [cells[at] for at in plain], marks, is_text, is_split_by_comma)
    if not any(seen):
        return Looked(column, [cells[at] for at in rows], rows, frozenset(), None, None)
    nulls = frozenset(str(cells[at]) for at in {*rows} - {*plain})
    return Looked(column, [cells[at] for at in plain], plain, nulls, *seen)


def _look(
    name: str,
    cells: Sequence[object],
    marks: Marks,
    is_text: bool,
    is_split_by_comma: bool,
) -> tuple[Times | None, Number | None]:
    kinds = {*map(type, cells)}
    if kinds == {str}:
        texts = [str(each) for each in cells]
        times = times_of(name, texts)
        number = number_of(name, texts, marks, is_split_by_comma=is_split_by_comma) if is_text else None
        return times, None if times else number
    if kinds == {datetime}:
        zoned = all(each.tzinfo for each in cells if isinstance(each, datetime))
        values = tuple(_utc(each) for each in cells if isinstance(each, datetime))
        return Times(values, {}, zoned, True, "a timestamp" + " with a zone" * zoned), None
    if kinds == {date}:
        days = tuple(datetime(e.year, e.month, e.day, tzinfo=UTC) for e in cells if isinstance(e, date))
        return Times(days, {}, False, False, "a date"), None
    if kinds and kinds <= {int, float, Decimal}:
        times = times_of(name, [str(each) for each in cells]) if kinds == {int} else None
        if times and "unit" in times.arguments:
            return times, None
        sql = "BIGINT" if kinds == {int} else "DECIMAL" if kinds == {Decimal} else "DOUBLE"
        return None, Number(sql, "numbers as they are", finite(map(str, cells)))
    return None, None


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def event_time(columns: Sequence[Looked]) -> Looked:
    """The column that says when events happened: with a time of day, by its name, the first."""
    choices = [each for each in columns if each.times and not each.times.doubt]
    if not choices:
        doubts = "; ".join(each.times.doubt for each in columns if each.times)
        raise DefinitionError(
            f"--from: no column says without doubt when an event happened{': ' * bool(doubts)}{doubts} "
            f"(there are {', '.join(each.name for each in columns)[:300]}); "
            'give a file that decides it, or write a definition by hand, with event_time=sources.at("at", '
            'format="%d/%m/%Y %H:%M") (muntin new FOLDER has one)'
        )
    return max(
        choices,
        key=lambda each: (
            len(each.cells) * 10 >= len(each.column.values) * 9,
            bool(each.times and each.times.is_clock),
            not PAST.search(each.name),
            bool(NAMED.search(each.name)),
            -columns.index(each),
        ),
    )


def keys(columns: Sequence[Looked], nulls: Sequence[str]) -> list[Looked]:
    """The columns that could be a key, the best first: texts and ids of few values that come again, and that
    `nulls` takes no value from.
    """
    fit = [
        each
        for each in columns
        if each.name.isidentifier()
        and not each.times
        and not _PART.fullmatch(each.name)
        and len(each.cells) * 2 >= len(each.column.values)
        and {type(cell) for cell in each.cells} <= {str, int}
        and (not each.number or each.number.sql == "VARCHAR" or _ID.search(each.name))
        and 1 < len(each.distinct) <= min(_SOME, len(each.cells) / _REPEATED)
    ]
    return sorted(
        fit,
        key=lambda each: (
            not {*nulls}.isdisjoint(map(str, each.distinct)),
            len(each.distinct) > _FEW,
            _ZONE.search(each.name) is not None,
        ),
    )


def measures(columns: Sequence[Looked]) -> list[Looked]:
    """The columns that are added up or averaged, the first of them first; three at most."""
    fit = [
        each
        for each in columns
        if each.number
        and each.number.values
        and '"' not in each.name
        and not (_ID.search(each.name) or _PART.fullmatch(each.name) or _is_counter(each) or _is_clock(each))
    ]
    return sorted(fit, key=lambda each: not is_added_up(each))[:3]


def _is_clock(column: Looked) -> bool:
    """Whether whole numbers are times of day, as 517 is 5:17."""
    values = column.number.values if column.number and column.number.sql == "BIGINT" else ()
    are_clocks = all(0 <= value <= 2400 and value % 100 < 60 for value in values)  # noqa: PLR2004 - hours, minutes
    return column.name.lower().endswith("time") and are_clocks and any(value >= 100 for value in values)  # noqa: PLR2004


def _is_counter(column: Looked) -> bool:
    """Whether values number the rows of three files, and their name says nothing else."""
    values = column.number.values if column.number else ()
    jumps = sum(after - before != 1 for before, after in pairwise(values))
    return len(values) > _REPEATED and jumps < _REPEATED and not is_added_up(column)


def is_added_up(column: Looked) -> bool:
    """Whether sums of a column say something, by its name: of money and counts, not of temperatures, ages
    or balances.
    """
    counts = MONEY.search(column.name) or COUNTED.search(column.name)
    return counts is not None and not LEVEL.search(column.name)
