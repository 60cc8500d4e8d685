"""Windows and aggregates of a definition in the words of the oracle; None for what it does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any, NamedTuple
from zlib import crc32
from zoneinfo import ZoneInfo

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.definition.pipeline import Pipeline
from muntin.errors import DefinitionError
from muntin.testing import oracle
from muntin.testing.oracle import DAY, Agg
from muntin.windows.carrying import Carrying
from muntin.windows.clock import Zone
from muntin.windows.kinds.business_days import BusinessDays
from muntin.windows.kinds.calendar import Calendar, HalfMonths
from muntin.windows.kinds.cumulating import Cumulating
from muntin.windows.kinds.last_part import LastPart
from muntin.windows.kinds.right_closed import RightClosed
from muntin.windows.kinds.session import LimitedSession, Session
from muntin.windows.kinds.sliding import Sliding
from muntin.windows.kinds.trailing import Trailing
from muntin.windows.kinds.tumbling import Tumbling


class Call(NamedTuple):
    """A call of an aggregate that the oracle knows.

    Attributes:
        oracle: the name that the oracle has for it.
        make: from the SQL that it is about to the aggregate.
        population: whether it is of a population.
        more: what the aggregate says behind that SQL.
    """

    oracle: str
    make: Callable[[str], Aggregate]
    population: bool = False
    more: str = ""


CALLS = (
    Call("count", lambda of: agg.count(of or None)),
    Call("count_distinct", lambda of: agg.count(of, distinct=True)),
    Call("count_if", agg.count_if),
    Call("sum", agg.sum),
    Call("mean", agg.mean),
    Call("min", agg.min),
    Call("max", agg.max),
    Call("all_of", agg.all_of),
    Call("any_of", agg.any_of),
    Call("variance", agg.variance),
    Call("variance", lambda of: agg.variance(of, population=True), population=True),
    Call("stddev", agg.stddev),
    Call("stddev", lambda of: agg.stddev(of, population=True), population=True),
    Call("first", agg.first),
    Call("last", agg.last),
    Call("any_value", agg.any_value),
    Call("any_value", lambda of: agg.first(of, ignore_nulls=True), more=", ignore_nulls"),
    Call("last_value", lambda of: agg.last(of, ignore_nulls=True), more=", ignore_nulls"),
)
_YEAR = 12


def same_kind(kind: Any) -> Any | None:  # noqa: ANN401, C901, PLR0911, PLR0912 - kinds, case by case
    """The kind as the oracle has it."""
    match kind:
        case RightClosed():
            return (inner := same_kind(kind.kind)) and oracle.RightClosed(inner)
        case Carrying():
            return None if kind.dense else same_kind(kind.window)
        case Sliding():
            return oracle.Sliding(kind.size_us, kind.step_us, kind.grace_us, kind.align_us)
        case BusinessDays():
            days = kind.stretch
            return oracle.BusinessDays(days.grace_us, days.align_us, _name(days.zone))
        case Cumulating():
            whole, step = same_kind(kind.whole), same_kind(kind.step)
            return whole and step and oracle.Cumulating(whole, step, kind.grace_us)
        case Trailing():
            return (stretch := same_kind(kind.stretch)) and oracle.Trailing(kind.count, stretch)
        case LastPart():
            stretch = same_kind(kind.stretch)
            if isinstance(stretch, oracle.Tumbling):  # whose ends the oracle counts from 1970, of weeks too
                stretch = replace(stretch, align_to=kind.stretch.anchor[1])
            return stretch and oracle.LastPart(kind.part_us, stretch)
        case HalfMonths():
            of_months = kind.months == 1 and kind.phase == 0
            where = _name(kind.zone)
            return oracle.HalfMonths(kind.grace_us, _first(kind), where) if of_months else None
        case Calendar():
            return oracle.Calendar(kind.months, kind.grace_us, _first(kind), _name(kind.zone))
        case Tumbling():
            where = _name(kind.zone)
            monday = 4 * DAY if where != "UTC" and kind.size_us % (7 * DAY) == 0 else 0
            return oracle.Tumbling(kind.size_us, kind.grace_us, kind.align_us - monday, where)
        case LimitedSession():
            until = itemgetter(ends_in(kind.until)) if kind.until else None
            longest = kind.max_length_us or None
            return oracle.Session(kind.gap_us, kind.grace_us, kind.touching, longest, until)
        case Session() if type(kind) is Session:
            return oracle.Session(kind.gap_us, kind.grace_us, kind.touching)
    return None


def ends_in(until: str) -> str:
    """The column of rows that says whether they end a session."""
    return f"until_{crc32(until.encode()):08x}"


def _name(zone: Zone | None) -> str:
    return zone.name if zone else "UTC"


def _first(kind: Calendar) -> datetime:
    """A day on which a window begins, on the clock of its zone."""
    year, month = (0, 0) if isinstance(kind, HalfMonths) else divmod(kind.phase, _YEAR)
    first = datetime(1970 + year, 1 + month, 1, tzinfo=ZoneInfo(_name(kind.zone)))
    return first + timedelta(microseconds=kind.clock_us)


@dataclass(frozen=True)
class Question:
    """An aggregate as the oracle has it.

    Attributes:
        name, population: of the oracle's aggregate.
        value, condition: SQL over a row: its value, and whether it counts.
        column: its number; of rows, `v<number>` has the value and `w<number>` whether it counts.
    """

    name: str
    population: bool
    value: str
    condition: str
    column: int

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - results of any type
        """The oracle's result."""
        whole = Agg(self.name, lambda row: row[f"v{self.column}"], self.population)
        return whole([row for row in rows if row[f"w{self.column}"]])


def questions(pipeline: Pipeline) -> dict[str, Question]:
    """Result -> what the oracle is asked, of the aggregates that it knows."""
    same = {name: same_aggregate(each, at) for at, (name, each) in enumerate(pipeline.row_aggregates.items())}
    return {name: question for name, question in same.items() if question}


def same_aggregate(aggregate: Any, column: int = 0) -> Question | None:  # noqa: ANN401 - of a definition
    """The aggregate as the oracle has it: where the call of this name gives the same, field by field."""
    plain, where = replace(aggregate, unit="", comment=""), aggregate.fields[0].where
    condition = f"coalesce(({where}), false)" if where else "true"
    for call in CALLS:
        with suppress(DefinitionError):  # as of `DISTINCT x`
            of = aggregate.of.removesuffix(call.more)
            if call.make(of).only(where or None) == plain:
                return Question(call.oracle, call.population, of or "1", condition, column)
    return None
