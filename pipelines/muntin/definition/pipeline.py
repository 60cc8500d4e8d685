"""A pipeline is one value: where events come from, how they are windowed, what is computed, what
must hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal, cast, get_args

from muntin.definition.check_parts import check_lookups, sinks_of
from muntin.definition.check_windows import (
    alerts_of,
    carrying,
    check_aggregates,
    check_alerts,
    check_columns,
    check_given_keys,
    check_windows,
    resolved,
)
from muntin.definition.checks import (
    check_asking,
    check_batches,
    check_choice,
    check_derived,
    check_mapping,
    check_name,
    check_renamed,
    check_where,
    listed,
)
from muntin.definition.clocks import UTC_NAME
from muntin.definition.durations import Duration
from muntin.definition.groups import Limits, Renamed, Retain, check_group, retain_of
from muntin.definition.instants import instant_us
from muntin.definition.kinds import Kind, as_window
from muntin.definition.parts import Aggregate, Alerts, Lookup, Sink, Source
from muntin.definition.rollups import given_windows, rollup_name, rollups_of, with_rollups
from muntin.definition.schedule import Schedule, schedule_of
from muntin.definition.several_sources import (
    SeveralSources,
    Watermark,
    Watermarking,
    check_arrival,
    check_idle,
    check_sources,
    member_of,
    sources_of,
)
from muntin.definition.time_limits import check_retention
from muntin.old_names import old_names_refused

OnRevision = Literal["publish", "ask"]


@old_names_refused
@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A windowed aggregation, validated when built. Building one reads nothing and imports nothing heavy.

    Attributes:
        name: of the pipeline, its state folder and its DAG.
        source: where a batch's rows are, as `sources.files(...)`; or several sources by name, as {"clicks":
            sources.files(...), "orders": sources.kafka(...)}: a window has rows of all of them.
        schedule: the data interval of a batch: a cron string, "@daily" and the like, or a duration as "15m".
        start: where the first interval may begin, an aware datetime.
        windows: name -> window.
        aggregates: name of the result column -> aggregate; or SQL over the finished row of a window, as
            {"late": ..., "flights": ..., "share_late": "late / flights"}: over keys, window_start,
            window_end, the columns of its kind, aggregates, and the SQL before it; these columns come last.
            `/` gives a double, of 0 / 0 a NaN: `late / nullif(flights, 0)` gives null for the empty windows
            of a dense `read`.
        keys: columns that windows are kept apart by; [] is one window for all rows.
        where: SQL condition that rows must meet; of several sources all rows, or a mapping from sources to
            conditions.
        timezone: the IANA name of the zone whose clock the cron string of `schedule` is of, as
            "Europe/Berlin": its days may have 23 or 25 hours. `{start}` and `{end}` of files are by this
            clock, `{start_utc}` and `{end_utc}` in UTC.
        watermark: how far time is known after a batch: "interval", its end; "events", the largest event time
            so far, of several sources the least of theirs.
        limits: what is too much, too old, too early or too late, as Limits(max_behind="30d").
        retain: how long what is old is kept, as Retain(states="400d", windows="2000d"); a duration for all
            tables. None: for ever.
        expectations: window name -> JSON file of a Great Expectations suite; a rollup has its own, as
            {"day.by_city": "city.json"}.
        on_revision: what becomes of a run that would change published windows: "publish", or "ask": nothing
            of it is published until a person says so, as after a failed suite. No part of states and results.
        rollups: name -> some of the keys, or none: each window once more for these keys, as {"by_city":
            ["city"], "all": []}: tables `day.by_city` and `day.all` beside `day`, of the same states and
            published in the same run. Windows by event time alone.
        lookups: name -> look-up, as {"rates": sources.lookup(sources.files("rates/*.csv"), keys=["currency"],
            since="valid_from")}: SQL over an event's row says `rates.rate`, and keys may be "rates.zone": of
            the row that was valid at the event's time.
        to: where changed windows are sent after publishing, as [sinks.postgres("warehouse", table="day",
            window="day")]; no part of states and results. A sink that is down stops no run: a later run
            catches up.
        alerts: messages when a run fails or its data seems wrong, as `alerts.to("alerts")`; or a list, as
            [alerts.to("alerts"), alerts.revised(by="5%", of="revenue")]; no part of states and results.
        renamed: names before, as Renamed(pipeline="flights_old", windows={"day": "daily"}); the first run
            takes over what has them.
        description: a sentence for people; published tables carry it.

    Raises:
        DefinitionError: what was asked cannot be; the text says what can.
    """

    name: str
    source: Source | Mapping[str, Source]
    schedule: str | timedelta | int
    start: datetime
    windows: Mapping[str, Kind]
    aggregates: Mapping[str, Aggregate | str]
    keys: Sequence[str] = ()
    where: str | Mapping[str, str] | None = None
    timezone: str = UTC_NAME
    watermark: Watermark = "interval"
    limits: Limits = field(default_factory=Limits)
    retain: Retain | Duration | None = None
    expectations: Mapping[str, str | Path] = field(default_factory=dict)
    on_revision: OnRevision = "publish"
    rollups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    to: Sequence[Sink] = ()
    alerts: Alerts | Sequence[Alerts] | None = None
    renamed: Renamed = field(default_factory=Renamed)
    description: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", listed("keys", self.keys))
        check_name("name", self.name)
        check_choice("watermark", self.watermark, get_args(Watermark))
        check_group("limits", self.limits, Limits, 'Limits(max_behind="30d")')
        check_group("renamed", self.renamed, Renamed, 'Renamed(pipeline="flights_old")')
        object.__setattr__(self, "retain", retain_of(self.retain))
        object.__setattr__(self, "source", sources_of(self.source, self.timezone))
        object.__setattr__(self, "aggregates", resolved(self.origin, self.aggregates))
        check_batches(self.name, self.origin, self.intervals)
        object.__setattr__(self, "windows", given_windows(self.windows))
        if isinstance(self.windows, dict):
            object.__setattr__(
                self, "windows", {name: as_window(part) for name, part in self.windows.items()}
            )
        check_aggregates(self.aggregates)
        check_sources(self.origin, self.row_aggregates)
        check_lookups(self.lookups, self.origin, self.sources)
        check_windows(self.windows, self.origin, self.row_aggregates)
        object.__setattr__(self, "windows", carrying(self.windows, self.row_aggregates))
        check_arrival(self.origin, self.windows)
        check_idle(self.limits.idle_after_us, self.watermark, self.origin)
        check_derived(self.derived)
        check_columns(self.keys, self.windows, self.row_aggregates, self.derived)
        object.__setattr__(self, "rollups", rollups_of(self.rollups, self.keys))
        object.__setattr__(self, "windows", with_rollups(self.windows, self.rollups))
        for name, kind in self.windows.items():
            check_given_keys(name, kind, self.keys_of(name))
        check_mapping(
            "expectations", self.expectations, '{"day": "expectations/day.json"}, with the name of a window'
        )
        for window in self.expectations:
            check_choice("expectations", window, tuple(self.windows))
        check_where(self.where, self.sources)
        object.__setattr__(self, "alerts", alerts_of(self.alerts))
        check_alerts(self.alerts, self.keys, self.windows, self.results)
        check_renamed(self.name, self.renamed.pipeline, self.windows, self.renamed.windows)
        check_retention(
            self.retention,
            self.windows,
            self.intervals,
            self.origin.changes.within_us if self.origin.changes else 0,
        )
        check_choice("on_revision", self.on_revision, get_args(OnRevision))
        check_asking(self.limits.ask_within, self.guarded)
        object.__setattr__(
            self,
            "to",
            sinks_of(self.to, self.windows, (*self.keys, *self.results), self.keys_of),
        )

    @property
    def origin(self) -> Source:
        """The source; several sources count as one source."""
        return cast("Source", self.source)

    @property
    def sources(self) -> Mapping[str, Source]:
        """Name -> source, where there are several; else nothing."""
        return self.source.members if isinstance(self.source, SeveralSources) else {}

    @cached_property
    def row_aggregates(self) -> Mapping[str, Aggregate]:
        """The aggregates of rows, without SQL over what they give."""
        return {name: each for name, each in self.aggregates.items() if not isinstance(each, str)}

    @cached_property
    def derived(self) -> Mapping[str, str]:
        """Result column -> SQL over the finished row of a window."""
        return {name: each for name, each in self.aggregates.items() if isinstance(each, str)}

    @property
    def results(self) -> tuple[str, ...]:
        """The result columns in their order in tables: aggregates of rows, then SQL over them."""
        return (*self.row_aggregates, *self.derived)

    def only(self, name: str) -> Pipeline:
        """The definition over one of its sources; aggregates of other sources stay and take no row."""
        where = self.where if self.where is None or isinstance(self.where, str) else self.where.get(name)
        return replace(self, source=member_of(self.origin, name), where=where)

    @property
    def filter(self) -> str | None:
        """The condition that rows of the only source must meet."""
        return cast("str | None", self.where)

    def keys_of(self, window: str) -> tuple[str, ...]:
        """The key columns of a window: all keys, or the keys of its rollup."""
        return self._rolled_up.get(window, tuple(self.keys))

    @property
    def renamed_tables(self) -> dict[str, str]:
        """The windows with other names than before, and their rollups, which are renamed with them."""
        given = {
            name: old for name, old in self.renamed.windows.items() if name in given_windows(self.windows)
        }
        rolled = {
            rollup_name(name, rollup): rollup_name(old, rollup)
            for name, old in given.items()
            for rollup in self.rollups
        }
        return {**rolled, **self.renamed.windows}

    @cached_property
    def _rolled_up(self) -> dict[str, tuple[str, ...]]:
        """Rollup of a window -> its key columns."""
        return {
            rollup_name(window, name): tuple(keys)
            for window in given_windows(self.windows)
            for name, keys in self.rollups.items()
        }

    @property
    def intervals(self) -> Schedule:
        """The data intervals of the batches."""
        return schedule_of(self.schedule, instant_us(self.start, "start"), self.timezone)

    @property
    def watermark_policy(self) -> Watermark:
        """The policy of the watermark; windows of another pipeline bring theirs."""
        return self.watermark if self.origin.upstream is None else "events"

    @property
    def watermarking(self) -> Watermarking:
        """How the watermark follows from batches."""
        return Watermarking(self.watermark_policy, max(1, len(self.sources)), self.limits.idle_after_us)

    @property
    def retention(self) -> Retain:
        """How long each kind of table keeps what is old."""
        return cast("Retain", self.retain)

    @property
    def listener(self) -> Alerts | None:
        """The alerts; of a list one value."""
        return cast("Alerts | None", self.alerts)

    @property
    def fresh_within_us(self) -> int | None:
        return self.limits.fresh_within_us

    @property
    def ask_within_us(self) -> int | None:
        """How long Airflow waits for a person's answer; None: it does not ask."""
        return self.limits.ask_within_us

    @property
    def guarded(self) -> tuple[str, ...]:
        """The windows that are published after a verdict: of their suite, and on revisions if a person is
        asked.
        """
        return tuple(self.windows if self.on_revision == "ask" else self.expectations)


def at_home(pipeline: Pipeline, home: str | Path) -> Pipeline:
    """The same pipeline with the relative paths of its source, its windows' tables and its suites below
    `home`.

    Absolute paths stay as they are. Paths are no part of a state's fingerprint.
    """
    suites = {name: Path(home, path) for name, path in pipeline.expectations.items()}
    windows = {name: kind.below(home) for name, kind in given_windows(pipeline.windows).items()}
    looked_up = {name: each.below(home) for name, each in pipeline.lookups.items()}
    return replace(
        pipeline, source=pipeline.origin.below(home), windows=windows, expectations=suites, lookups=looked_up
    )
