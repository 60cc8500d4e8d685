"""A pipeline is one value: where events come from, how they are windowed, what is computed, what must hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from pipelines.definition.durations import Duration, not_negative
from pipelines.definition.instants import instant_us
from pipelines.definition.schedule import Schedule, schedule_of
from pipelines.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime, timedelta
    from pathlib import Path

    from pipelines.aggregates import Aggregate, Field
    from pipelines.sources import Source
    from pipelines.windows import Window

Watermark = Literal["interval", "events"]
OnGap = Literal["wait", "empty"]
RESERVED = ("window_start", "window_end", "batch", "provisional", "bucket", "frame", "rows", "first_event", "last_event", "newest_event")

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A windowed aggregation, validated when built. Building one reads nothing and imports nothing heavy.

    Attributes:
        name: of the pipeline, its state folder and its DAG.
        source: where a batch's rows are, as `sources.files(...)`.
        schedule: the data interval of a batch: a cron string (UTC), "@daily" and the like, or a duration as "15m".
        start: where the first interval may begin, an aware datetime.
        keys: columns that windows are kept apart by; [] is one window for all rows.
        windows: name -> window.
        aggregates: name of the result column -> aggregate.
        where: SQL condition that rows must meet.
        derive: name of one more result column -> SQL over a finished window's row: keys, window_start, window_end, the
            columns of its kind, aggregates, and what is derived before it, as {"share_late": "late / flights"}. `/` gives
            a double, of 0 / 0 a NaN: `late / nullif(flights, 0)` gives null for the empty windows of a dense `read`.
        watermark: how far time is known after a batch: "interval", its end; "events", the largest event time so far.
        max_ahead: rows further ahead of their interval's end are quarantined.
        expectations: window name -> JSON file of a Great Expectations suite.
        on_gap: what a missing interval is: "wait" until it comes, or an "empty" batch.
        keep_states: whether published windows keep the states of their aggregates, in columns that begin with "state_", so
            that a pipeline over them can `aggregates.merge` these.

    Raises:
        DefinitionError: what was asked cannot be; the text says what can.
    """

    name: str
    source: Source
    schedule: str | timedelta | int
    start: datetime
    windows: Mapping[str, Window]
    aggregates: Mapping[str, Aggregate]
    keys: Sequence[str] = ()
    where: str | None = None
    watermark: Watermark = "interval"
    max_ahead: Duration = "1d"
    expectations: Mapping[str, str | Path] = field(default_factory=dict)
    on_gap: OnGap = "wait"
    keep_states: bool = False
    derive: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", _listed("keys", self.keys))
        _check_name("name", self.name)
        _check_choice("watermark", self.watermark, get_args(Watermark))
        _check_choice("on_gap", self.on_gap, get_args(OnGap))
        _check_source(self.source)
        _check_upstream(self)
        object.__setattr__(self, "windows", _tumbling(self.windows))
        _check_parts(self)
        _check_derive(self.derive)
        _check_columns(self)
        for window in self.expectations:
            _check_choice("expectations", window, tuple(self.windows))
        if self.where is not None and (not isinstance(self.where, str) or not self.where.strip()):
            raise DefinitionError(f'where: {self.where!r} is not a SQL condition; write one, as "dep_delay is not null", or leave it out')
        not_negative(self.max_ahead, "max_ahead")
        schedule_of(self.schedule, instant_us(self.start, "start"))

    @property
    def intervals(self) -> Schedule:
        """The data intervals of the batches."""
        return schedule_of(self.schedule, instant_us(self.start, "start"))

    @property
    def marks_by(self) -> Watermark:
        """The policy of the watermark; windows of another pipeline bring theirs."""
        return "events" if hasattr(self.source, "upstream") else self.watermark

    @property
    def max_ahead_us(self) -> int:
        return not_negative(self.max_ahead, "max_ahead")

    @property
    def fields(self) -> list[Field]:
        """Every field that the aggregates need, each once; the number of rows first."""
        from pipelines.aggregates.counting import ROWS

        seen = {ROWS.stem: ROWS}
        for aggregate in self.aggregates.values():
            for each in aggregate.fields:
                if seen.setdefault(each.stem, each).columns != each.columns:
                    raise DefinitionError(
                        f"aggregates: {aggregate} would share the columns of another field, {each.stem}; write its expression otherwise"
                    )
        return list(seen.values())


def _listed(what: str, names: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise DefinitionError(f'{what}: {names!r} is not a list of column names; write ["origin"], or [] for none')
    return tuple(names)


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(f"{what}: {name!r} cannot name a folder and a DAG; use letters, digits, '_', '-' and '.'")


def _check_choice(what: str, choice: object, choices: tuple[str, ...]) -> None:
    if choice not in choices:
        raise DefinitionError(f"{what}: {choice!r} is not possible; choose from {', '.join(map(repr, choices))}")


def _check_source(source: object) -> None:
    if not hasattr(source, "event_time"):
        raise DefinitionError(
            f'source: {source!r} is not a source; give sources.files("data/{{start:%Y-%m-%d}}.parquet", event_time="...")'
        )


def _tumbling(windows: Any) -> Any:  # noqa: ANN401 - whatever the user gave
    """A policy alone, as `by_count(100)`, is the arrival window that tumbles by it."""
    from pipelines.windows.arrival import arrival
    from pipelines.windows.policies import Policy

    if not isinstance(windows, dict):
        return windows
    return {name: arrival(window) if isinstance(window, Policy) else window for name, window in windows.items()}


def _check_upstream(pipeline: Pipeline) -> None:
    """Windows over windows: one schedule, and states where they are merged."""
    from pipelines.aggregates import Merge

    upstream = getattr(pipeline.source, "upstream", None)
    given = pipeline.aggregates if isinstance(pipeline.aggregates, dict) else {}
    merged = {name: each for name, each in given.items() if isinstance(each, Merge)}
    if merged and not (upstream and upstream.keep_states):
        where = f"say keep_states=True in {upstream.name!r}" if upstream else "give sources.windows(upstream, window) as source"
        raise DefinitionError(f"aggregates[{next(iter(merged))!r}]: merge combines the states of upstream windows; {where}")
    if upstream is None:
        return
    resolved = {name: each.of(upstream.aggregates) for name, each in merged.items()}
    object.__setattr__(pipeline, "aggregates", {name: resolved.get(name, each) for name, each in given.items()} or pipeline.aggregates)
    ours, theirs = schedule_of(pipeline.schedule, instant_us(pipeline.start, "start")), upstream.intervals
    apart = (ours.anchor_us - theirs.anchor_us) % ours.step_us if ours.step_us else 0
    if (ours.cron, ours.step_us) != (theirs.cron, theirs.step_us) or apart:
        raise DefinitionError(
            f"schedule: {ours} is not that of {upstream.name!r}, {theirs}; a batch is what the upstream's batch closed: give both the same"
        )


def _check_parts(pipeline: Pipeline) -> None:
    from pipelines.aggregates import Aggregate

    for what, parts in (("windows", pipeline.windows), ("aggregates", pipeline.aggregates)):
        if not isinstance(parts, dict) or not parts:
            raise DefinitionError(f"{what}: {parts!r} is not a dict of at least one name -> {what[:-1]}")
    for name, window in pipeline.windows.items():
        _check_name("windows", name)
        if not hasattr(window, "assign"):
            raise DefinitionError(
                f'windows[{name!r}]: {window!r} is not a window; give windows.tumbling("1h"), windows.sliding(...), windows.session(...)'
            )
        if problem := getattr(window, "misfit", lambda _: None)(pipeline.source):
            raise DefinitionError(f"windows[{name!r}]: {problem}")
        if "position" in window.columns and not any(str(each).startswith("collect") for each in pipeline.aggregates.values()):
            raise DefinitionError(f'windows[{name!r}]: output="rows" takes lists apart; add one, as aggregates.collect_sorted("x")')
    for name, aggregate in pipeline.aggregates.items():
        if not isinstance(aggregate, Aggregate):
            raise DefinitionError(
                f'aggregates[{name!r}]: {aggregate!r} is not an aggregate; give aggregates.count(), aggregates.sum("x"), ...'
            )


def _check_derive(derive: object) -> None:
    if not isinstance(derive, dict) or not all(isinstance(sql, str) and sql.strip() for sql in derive.values()):
        raise DefinitionError(f'derive: {derive!r} is not a dict of name -> SQL over a row; write {{"share_late": "late / flights"}}')


def _check_columns(pipeline: Pipeline) -> None:
    seen = {column.lower(): "the states' own columns" for each in pipeline.fields for column in each.columns}
    for key in set(seen).intersection(key.lower() for key in pipeline.keys):
        raise DefinitionError(f"keys: {key!r} is the name of a column of the states; rename the key in the source")
    reserved = {*RESERVED, *(column.lower() for window in pipeline.windows.values() for column in window.columns)}
    seen = {}
    for what, names in (("keys", pipeline.keys), ("aggregates", tuple(pipeline.aggregates)), ("derive", tuple(pipeline.derive))):
        for name in names:
            if not isinstance(name, str) or not name or name.lower() in reserved:
                raise DefinitionError(
                    f"{what}: {name!r} is reserved or no name; results have columns of their own: {', '.join(sorted(reserved))}"
                )
            if name.lower() in seen:
                raise DefinitionError(
                    f"{what}: {name!r} stands twice (in {seen[name.lower()]}); columns need names of their own, upper and lower case alike"
                )
            seen[name.lower()] = what
