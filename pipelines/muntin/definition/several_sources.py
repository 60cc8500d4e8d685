"""Several sources of one pipeline, each with a name: the rows of a window come from all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from muntin.definition.checks import check_source
from muntin.definition.parts import Aggregate, Dialect, Source
from muntin.definition.schedule import Schedule
from muntin.errors import DefinitionError

MOST = 9
"""So many sources one pipeline may have: files of states have one digit for the number of their source."""


@dataclass(frozen=True, slots=True)
class Member:
    """The place of a source among several.

    Attributes:
        name: of the source.
        number: from 0, in the order of the definition. The rows of a batch arrive source by source in this
            order.
    """

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class SeveralSources:
    """Sources by name, in the order of the definition. It answers for them where all have the same answer."""

    members: Mapping[str, Source]

    log = upstream = unit = timezone = time_format = delimiter = arrival_order = dedupe_within_us = (
        changes
    ) = member = None
    ambiguous = nonexistent = "quarantine"
    needs_spark = ""
    dedupe = section = lookups = ()

    @property
    def event_time(self) -> str:
        """The columns that say when events happened, for people."""
        return ", ".join(f"{name}: {source.event_time}" for name, source in self.members.items())

    @property
    def arrival_time(self) -> str | None:
        """The columns that say when rows arrived; None where a source has none."""
        columns = {name: source.arrival_time for name, source in self.members.items()}
        return (
            ", ".join(f"{name}: {column}" for name, column in columns.items())
            if all(columns.values())
            else None
        )

    @property
    def dialect(self) -> Dialect:
        """The CSV dialect of the first source."""
        return next(iter(self.members.values())).dialect

    @property
    def types(self) -> Mapping[str, str]:
        """Column -> SQL type, of all sources."""
        return {column: kind for source in self.members.values() for column, kind in source.types.items()}

    @property
    def hive(self) -> Mapping[str, str]:
        """Column -> SQL type, of all sources."""
        return {column: kind for source in self.members.values() for column, kind in source.hive.items()}

    def facts(self, schedule: Schedule) -> Mapping[str, Any]:  # noqa: ARG002 - each source has facts of its own
        """Nothing: each source has facts of its own."""
        return {}

    def misfit(self, schedule: Schedule) -> str | None:
        """Why a source has no batches of this schedule, and what to do; None: all have."""
        problems = ((name, source.misfit(schedule)) for name, source in self.members.items())
        return next((f"source {name!r}: {problem}" for name, problem in problems if problem), None)

    def below(self, home: str | Path) -> SeveralSources:
        """The same sources with their relative paths below a folder."""
        return SeveralSources({name: source.below(home) for name, source in self.members.items()})

    def on_clock(self, zone: str) -> SeveralSources:
        """The same sources for a schedule by the clock of a zone."""
        return SeveralSources({name: source.on_clock(zone) for name, source in self.members.items()})


def sources_of(given: Any, zone: str) -> Any:  # noqa: ANN401 - whatever the user gave
    """The source of a pipeline, on the clock of its schedule; a mapping from names becomes one source."""
    if not isinstance(given, Mapping):
        check_source(given)
        return given.on_clock(zone)
    if not 2 <= len(given) <= MOST:  # noqa: PLR2004 - several
        raise DefinitionError(
            f"source: {len(given)} sources by name; give two to {MOST}, as source={{'clicks': ..., 'orders': "
            f"...}}; "
            "one source needs no name"
        )
    members = {name: _named(name, number, each) for number, (name, each) in enumerate(given.items())}
    topics = [topic for each in members.values() if (topic := getattr(each, "topic", None))]
    if twice := sorted({topic for topic in topics if topics.count(topic) > 1}):
        raise DefinitionError(
            f"source: two sources read the topic {twice[0]!r}, whose offsets are noted once; take one "
            "source, and tell its rows apart "
            f"by where= of the aggregates"
        )
    return SeveralSources(members).on_clock(zone)


def _named(name: object, number: int, source: Any) -> Source:  # noqa: ANN401 - whatever the user gave
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise DefinitionError(
            f'source: {name!r} cannot name a source; use letters, digits and "_", as "orders"'
        )
    check_source(source, f"source[{name!r}]")
    if source.upstream is not None:
        raise DefinitionError(
            f"source[{name!r}]: windows of another pipeline cannot be one of several sources, as they bring "
            "a watermark of their own; "
            f"make a pipeline of its own over them"
        )
    if source.dedupe_within_us is not None:
        raise DefinitionError(
            f"source[{name!r}]: within= of rows is for a pipeline with one source; "
            'sources.events(dedupe="event_id") without it compares the rows of a batch'
        )
    return cast("Source", replace(source, member=Member(name, number)))


def member_of(source: Source, name: str) -> Source:
    """The source of a name among several."""
    return cast("SeveralSources", source).members[name]


def check_sources(source: Source, aggregates: Mapping[str, Aggregate]) -> None:
    """Refuse aggregates that name unknown sources, and sources of which no aggregate takes rows."""
    if source.member:  # a source among several, alone: the whole was checked
        return
    names = tuple(source.members) if isinstance(source, SeveralSources) else ()
    for name, aggregate in aggregates.items():
        if aggregate.source and aggregate.source not in names:
            there = (
                f"the sources are {', '.join(map(repr, names))}"
                if names
                else "the only source has no name; leave source= out"
            )
            raise DefinitionError(f"aggregates[{name!r}]: there is no source {aggregate.source!r}; {there}")
    for name in names:
        if not any(aggregate.source in ("", name) for aggregate in aggregates.values()):
            raise DefinitionError(
                f"source: no aggregate takes rows of {name!r}; add one, as "
                f'aggregates.count(source="{name}"), or leave the source out'
            )


def check_arrival(source: Source, windows: Mapping[str, Any]) -> None:
    """Check for windows made of rows that all sources have the arrival of rows, or no source has it."""
    if not isinstance(source, SeveralSources) or not any(
        window.made_of.of_rows for window in windows.values()
    ):
        return
    has_arrival = {name: bool(each.arrival_time) for name, each in source.members.items()}
    if len(set(has_arrival.values())) > 1:
        without = next(name for name, has in has_arrival.items() if not has)
        raise DefinitionError(
            f"source[{without!r}]: other sources have arrival_time=, and windows made of single rows need it "
            "of all sources or of none"
        )


Watermark = Literal["interval", "events"]


@dataclass(frozen=True, slots=True)
class Watermarking:
    """How the watermark follows from batches.

    Attributes:
        policy: "interval": the end of a batch's interval; "events": the largest event time so far.
        sources: how many sources there are. Of several, the least of their largest event times counts.
        idle_us: a source is idle where its largest event time is further than this behind the end of the
            batch, microseconds; an idle source does not count. None: no source is idle.
    """

    policy: Watermark
    sources: int = 1
    idle_us: int | None = None


def check_idle(idle_us: int | None, watermark: Watermark, source: Source) -> None:
    """A duration for several sources whose events make the watermark, or None."""
    if idle_us is None or source.member:
        return
    if not isinstance(source, SeveralSources):
        raise DefinitionError(
            "idle_after is for several sources: a single source holds nobody back; leave it out"
        )
    if watermark != "events":
        raise DefinitionError(
            'idle_after is for watermark="events"; under "interval" windows close on schedule, whatever a '
            "source brings; leave it out"
        )
