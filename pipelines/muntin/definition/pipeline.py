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
    carrying,
    check_aggregates,
    check_alerts,
    check_columns,
    check_given_keys,
    check_windows,
    resolved,
)
from muntin.definition.checks import (
    check_batches,
    check_choice,
    check_derive,
    check_mapping,
    check_name,
    check_renamed,
    check_share,
    check_where,
    listed,
)
from muntin.definition.clocks import UTC_NAME
from muntin.definition.durations import Duration, not_negative
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
from muntin.definition.spelling import size_of
from muntin.definition.time_limits import (
    OnFailure,
    Retain,
    Retention,
    ask_within_us,
    check_retention,
    retention_of,
    within_us,
)

OnGap = Literal["wait", "empty"]


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A windowed aggregation, validated when built. Building one reads nothing and imports nothing heavy.

    Attributes:
        name: of the pipeline, its state folder and its DAG.
        source: where a batch's rows are, as `sources.files(...)`; or several sources by name, as {"clicks":
            sources.files(...), "orders": sources.kafka(...)}: a window has rows of all of them.
        schedule: the data interval of a batch: a cron string, "@daily" and the like, or a duration as "15m".
        start: where the first interval may begin, an aware datetime.
        keys: columns that windows are kept apart by; [] is one window for all rows.
        windows: name -> window.
        rollups: name -> some of the keys, or none: each window once more for these keys, as {"by_city":
            ["city"], "all": []}: tables `day.by_city` and `day.all` beside `day`, of the same states and
            published in the same run. Windows by event time alone.
        aggregates: name of the result column -> aggregate.
        where: SQL condition that rows must meet; of several sources all rows, or a mapping from sources to
            conditions.
        derive: name of one more result column -> SQL over a finished window's row: keys, window_start,
            window_end, the columns of its kind, aggregates, and what is derived before it, as {"share_late":
            "late / flights"}. `/` gives a double, of 0 / 0 a NaN: `late / nullif(flights, 0)` gives null for
            the empty windows of a dense `read`.
        watermark: how far time is known after a batch: "interval", its end; "events", the largest event time
            so far, of several sources the least of theirs.
        max_ahead: rows further ahead of their interval's end are quarantined.
        max_behind: rows further before their interval's beginning are quarantined, as "30d"; None: no row is
            too old. It keeps times in a wrong unit, as milliseconds read as seconds, and the instant 0 from
            making windows of 1970.
        max_quarantined: the largest share of a batch's rows that may be in the quarantine, 0 to 1: 0.01 is
            one row in a hundred. If a batch has more, the run fails before anything is committed; half of
            them unless given. None: there is no limit.
        expectations: window name -> JSON file of a Great Expectations suite; a rollup has its own, as
            {"day.by_city": "city.json"}.
        on_gap: what a missing interval is: "wait" until it comes, or an "empty" batch.
        keep_states: whether published windows keep the states of their aggregates, in columns that begin with
            "state_", so that a pipeline over them can `aggregates.merge` the states.
        auto_rebuild: bytes of files, as "2GB": after a definition's change a run reads again automatically
            what the state lacks, if it is not more; else `muntin run --rebuild` does. With `lookups`, a run
            reads batches again automatically that met rows of a dimension which have changed since: all of
            them; if this says bytes, none where they have more.
        renamed_from: the pipeline's name before; its state is taken over by the first run.
        renamed_windows: name of a window -> its name before, as {"day": "daily"}; its table is taken over by
            the first run.
        description: a sentence for people; published tables carry it.
        retain: how long what is old is kept, counted back from the end of the newest batch: a duration for
            all tables, or one for some, as {"states": "400d", "windows": "2000d", "quarantine": "90d",
            "reports": "400d"}. A batch without states cannot be replaced. None: for ever.
        alerts: messages when a run fails or its data seems wrong, as `alerts.to("alerts")`; no part of states
            and results.
        to: where changed windows are sent after publishing, as [sinks.postgres("warehouse", table="day",
            window="day")]; no part of states and results. A sink that is down stops no run: a later run
            catches up.
        idle_after: of several sources under watermark="events": how far the newest event of a source may be
            behind the end of a batch, as "2h". A source that is further behind does not hold the watermark
            back. None: each source does.
        fresh_within: how far published windows may be behind the clock, as "2h": the page, `muntin status`
            and metrics say whether they are further behind. No part of states and results. None: no target.
        lookups: name -> look-up, as {"rates": sources.lookup(sources.files("rates/*.csv"), keys=["currency"],
            since="valid_from")}: SQL over an event's row says `rates.rate`, and keys may be "rates.zone": of
            the row that was valid at the event's time.
        timezone: the IANA name of the zone whose clock the cron string of `schedule` is of, as
            "Europe/Berlin": its days may have 23 or 25 hours. `{start}` and `{end}` of files are by this
            clock, `{start_utc}` and `{end_utc}` in UTC.
        on_failure: what becomes of windows that fail a critical expectation: "hold" them back, or "ask" in
            Airflow whether to publish them all the same. They are held until a person says yes, for ever if
            none does. No part of states and results.
        ask_within: how long Airflow waits for the answer, as "4h"; None: a day.

    Raises:
        DefinitionError: what was asked cannot be; the text says what can.
    """

    name: str
    source: Source | Mapping[str, Source]
    schedule: str | timedelta | int
    start: datetime
    windows: Mapping[str, Kind]
    aggregates: Mapping[str, Aggregate]
    keys: Sequence[str] = ()
    where: str | Mapping[str, str] | None = None
    watermark: Watermark = "interval"
    max_ahead: Duration = "1d"
    expectations: Mapping[str, str | Path] = field(default_factory=dict)
    on_gap: OnGap = "wait"
    keep_states: bool = False
    derive: Mapping[str, str] = field(default_factory=dict)
    auto_rebuild: str | int = 0
    renamed_from: str | None = None
    renamed_windows: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    alerts: Alerts | None = None
    max_quarantined: float | None = 0.5
    max_behind: Duration | None = None
    retain: Retain = None
    to: Sequence[Sink] = ()
    idle_after: Duration | None = None
    rollups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    fresh_within: Duration | None = None
    lookups: Mapping[str, Lookup] = field(default_factory=dict)
    timezone: str = UTC_NAME
    on_failure: OnFailure = "hold"
    ask_within: Duration | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", listed("keys", self.keys))
        check_name("name", self.name)
        check_choice("watermark", self.watermark, get_args(Watermark))
        check_choice("on_gap", self.on_gap, get_args(OnGap))
        object.__setattr__(self, "source", sources_of(self.source, self.timezone))
        object.__setattr__(self, "aggregates", resolved(self.origin, self.aggregates))
        check_batches(self.name, self.origin, self.intervals)
        object.__setattr__(self, "windows", given_windows(self.windows))
        if isinstance(self.windows, dict):
            object.__setattr__(
                self, "windows", {name: as_window(part) for name, part in self.windows.items()}
            )
        check_aggregates(self.aggregates)
        check_sources(self.origin, self.aggregates)
        check_lookups(self.lookups, self.origin, self.sources)
        check_windows(self.windows, self.origin, self.aggregates)
        object.__setattr__(self, "windows", carrying(self.windows, self.aggregates))
        check_arrival(self.origin, self.windows)
        check_idle(self.idle_after, self.watermark, self.origin)
        check_derive(self.derive)
        check_columns(self.keys, self.windows, self.aggregates, self.derive)
        object.__setattr__(self, "rollups", rollups_of(self.rollups, self.keys))
        object.__setattr__(self, "windows", with_rollups(self.windows, self.rollups))
        for name, kind in self.windows.items():
            check_given_keys(name, kind, self.keys_of(name))
        check_mapping(
            "expectations", self.expectations, '{"day": "expectations/day.json"}, with the name of a window'
        )
        check_mapping("renamed_windows", self.renamed_windows, '{"day": "daily"}')
        for window in self.expectations:
            check_choice("expectations", window, tuple(self.windows))
        check_where(self.where, self.sources)
        check_alerts(self.alerts, self.keys, self.windows, (*self.aggregates, *self.derive))
        not_negative(self.max_ahead, "max_ahead")
        not_negative(self.max_behind or 0, "max_behind")
        size_of(self.auto_rebuild, "auto_rebuild")
        check_renamed(self.name, self.renamed_from, self.windows, self.renamed_windows)
        check_share("max_quarantined", self.max_quarantined)
        check_retention(
            self.retain,
            self.windows,
            self.intervals,
            self.origin.changes.within_us if self.origin.changes else 0,
        )
        within_us(self.fresh_within, self.intervals)
        ask_within_us(self.on_failure, self.ask_within, self.expectations)
        object.__setattr__(
            self,
            "to",
            sinks_of(self.to, self.windows, (*self.keys, *self.aggregates, *self.derive), self.keys_of),
        )

    @property
    def origin(self) -> Source:
        """The source; several sources count as one source."""
        return cast("Source", self.source)

    @property
    def sources(self) -> Mapping[str, Source]:
        """Name -> source, where there are several; else nothing."""
        return self.source.members if isinstance(self.source, SeveralSources) else {}

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
            name: old for name, old in self.renamed_windows.items() if name in given_windows(self.windows)
        }
        rolled = {
            rollup_name(name, rollup): rollup_name(old, rollup)
            for name, old in given.items()
            for rollup in self.rollups
        }
        return {**rolled, **self.renamed_windows}

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
        idle_us = None if self.idle_after is None else not_negative(self.idle_after, "idle_after")
        return Watermarking(self.watermark_policy, max(1, len(self.sources)), idle_us)

    @property
    def retention(self) -> Retention:
        """How long each kind of table keeps what is old."""
        return retention_of(self.retain)

    @property
    def fresh_within_us(self) -> int | None:
        return within_us(self.fresh_within, self.intervals)

    @property
    def ask_within_us(self) -> int | None:
        """How long Airflow waits for a person's answer; None: it does not ask."""
        return ask_within_us(self.on_failure, self.ask_within, self.expectations)

    @property
    def max_ahead_us(self) -> int:
        return not_negative(self.max_ahead, "max_ahead")

    @property
    def max_behind_us(self) -> int | None:
        return None if self.max_behind is None else not_negative(self.max_behind, "max_behind")


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
