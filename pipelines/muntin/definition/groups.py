"""Arguments of a pipeline that belong together, as values: limits of rows and times, what is kept, earlier
names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta

from muntin.definition.checks import check_mapping, check_name, check_share
from muntin.definition.durations import Duration, not_negative, positive
from muntin.errors import DefinitionError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of the rows of a batch, and of times.

    Attributes:
        max_quarantined: the largest share of a batch's rows that may be in the quarantine, 0 to 1: 0.01 is
            one row in a hundred. If a batch has more, the run fails before anything is committed; half of
            them unless given. None: there is no limit.
        max_behind: rows further before their interval's beginning are quarantined, as "30d"; None: no row is
            too old. It keeps times in a wrong unit, as milliseconds read as seconds, and the instant 0 from
            making windows of 1970.
        max_ahead: rows further ahead of their interval's end are quarantined.
        fresh_within: how long after the end of its interval a batch is published at the latest, as "3h": the
            page, `muntin status` and metrics say whether one is later. No part of states and results. None:
            no target.
        idle_after: of several sources under watermark="events": how far the newest event of a source may be
            behind the end of a batch, as "2h". A source that is further behind does not hold the watermark
            back. None: each source does.
        settle_after: a run reads files of an earlier batch that have changed once they were not written for
            so long; before, their writer may be at work. A run of named batches does not wait.
        max_changed: so many earlier batches a run reads again by itself, as their source has changed or rows
            of dimensions that they looked up; more are left as they are, and reported with the command that
            reads them. None: all.
        ask_within: how long Airflow waits for a person to say whether what is held, by a suite or by
            `on_revision="ask"`, is published all the same, as "4h". It stays held until a person says yes,
            for ever if none does. No part of states and results. None: Airflow does not ask.

    Raises:
        DefinitionError: no share of rows, or no duration.
    """

    max_quarantined: float | None = 0.5
    max_behind: Duration | None = None
    max_ahead: Duration = "1d"
    fresh_within: Duration | None = None
    idle_after: Duration | None = None
    settle_after: Duration = "1m"
    max_changed: int | None = None
    ask_within: Duration | None = None

    def __post_init__(self) -> None:
        check_share("max_quarantined", self.max_quarantined)
        for name in ("max_ahead", "settle_after"):
            not_negative(getattr(self, name), name)
        most = self.max_changed
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
            raise DefinitionError(
                f"max_changed: {most!r} is no number of batches; write 100, or None for all"
            )
        for name in ("max_behind", "idle_after"):
            _us_of(self, name)
        _ = self.fresh_within_us, self.ask_within_us

    @property
    def max_ahead_us(self) -> int:
        return not_negative(self.max_ahead, "max_ahead")

    @property
    def fresh_within_us(self) -> int | None:
        return None if self.fresh_within is None else positive(self.fresh_within, "fresh_within")

    @property
    def ask_within_us(self) -> int | None:
        return None if self.ask_within is None else positive(self.ask_within, "ask_within")

    @property
    def settle_after_us(self) -> int:
        return not_negative(self.settle_after, "settle_after")

    @property
    def max_behind_us(self) -> int | None:
        return _us_of(self, "max_behind")

    @property
    def idle_after_us(self) -> int | None:
        return _us_of(self, "idle_after")


def _us_of(limits: Limits, name: str) -> int | None:
    given = getattr(limits, name)
    return None if given is None else not_negative(given, name)


@dataclass(frozen=True, kw_only=True)
class Retain:
    """How long what is old is kept, counted back from the end of the newest batch; None: for ever.

    A duration as everywhere, or years, as "5y": of 366 days each, so that nothing goes too early.

    Attributes:
        states: of batches. A batch without states cannot be replaced.
        windows: that are published.
        refused: rows of the quarantine.
        reports: of batches, and the records beside them.
        states_in_windows: whether published windows keep the states of their aggregates, in columns that
            begin with "state_": for a pipeline over them that combines them, by `aggregates.merge`.

    Raises:
        DefinitionError: no duration.

    >>> Retain(refused="90d").refused_us, Retain(windows="5y").windows_us
    (7776000000000, 158112000000000)
    """

    states: Duration | None = None
    windows: Duration | None = None
    refused: Duration | None = None
    reports: Duration | None = None
    states_in_windows: bool = False

    def __post_init__(self) -> None:
        for name in TABLES:
            self.kept_us(name)

    def __bool__(self) -> bool:
        """Whether anything goes."""
        return any(getattr(self, name) is not None for name in TABLES)

    def kept_us(self, table: str) -> int | None:
        """How long rows of a kind of table stay, microseconds; None: for ever."""
        asked = getattr(self, table)
        if isinstance(asked, str) and asked.endswith("y") and asked[:-1].isdecimal():
            asked = timedelta(days=366) * int(asked[:-1])
        return None if asked is None else positive(asked, f"retain: {table}")

    @property
    def states_us(self) -> int | None:
        return self.kept_us("states")

    @property
    def windows_us(self) -> int | None:
        return self.kept_us("windows")

    @property
    def refused_us(self) -> int | None:
        return self.kept_us("refused")

    @property
    def reports_us(self) -> int | None:
        return self.kept_us("reports")


TABLES = tuple(each.name for each in fields(Retain) if each.name != "states_in_windows")


def retain_of(asked: Retain | Duration | None) -> Retain:
    """The retention that a definition asks for: a `Retain`, or a duration for all tables."""
    if asked is None:
        return Retain()
    if isinstance(asked, Retain):
        return asked
    if not isinstance(asked, str | int | timedelta):
        check_group("retain", asked, Retain, 'Retain(states="400d", windows="2000d", refused="90d")')
    positive(asked, "retain")
    return Retain(states=asked, windows=asked, refused=asked, reports=asked)


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """Names before: the first run takes over the state and the tables that have them.

    Attributes:
        pipeline: the pipeline's name before.
        windows: name of a window -> its name before, as {"day": "daily"}.

    Raises:
        DefinitionError: what cannot be a name.
    """

    pipeline: str | None = None
    windows: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_mapping("renamed: windows", self.windows, '{"day": "daily"}')
        if self.pipeline is not None:
            check_name("renamed: pipeline", self.pipeline)
        for window, old in self.windows.items():
            check_name(f"renamed: windows[{window!r}]", old)


def check_group(what: str, given: object, kind: type, example: str) -> None:
    """Refuse what is no value of a group of arguments."""
    if not isinstance(given, kind):
        raise DefinitionError(f"{what}: {given!r} is no {kind.__name__}; write {what}={example}")
