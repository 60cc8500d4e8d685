"""A look-up as its user defines it: a source of versioned rows that events look up by key and time.

Nothing is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from muntin.errors import DefinitionError
from muntin.sources.file_source import FileSource
from muntin.sources.functions import FunctionSource
from muntin.sources.spark_frames import SparkSource
from muntin.sources.tables import TableSource
from muntin.sources.time_arguments import At, as_at, check_local_times

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from muntin.sources.source import Source


@dataclass(frozen=True, slots=True)
class Lookup:
    """A look-up.

    See `lookup`. `keys`: column of the events -> column of the dimension; `columns`: None for all other
    columns.
    """

    source: Any
    keys: Mapping[str, str]
    since: str
    until: str | None
    columns: tuple[str, ...] | None
    required: bool
    of: tuple[str, ...]

    @property
    def facts(self) -> dict[str, Any]:
        """Facts that determine states, apart from the dimension's rows and how its files are written."""
        columns = None if self.columns is None else list(self.columns)
        return {
            "keys": list(self.keys.items()),
            "since": [self.since, self.until],
            "columns": columns,
            "required": self.required,
            "of": list(self.of),
        }

    def below(self, home: str | Path) -> Lookup:
        return replace(self, source=self.source.below(home))

    @property
    def place(self) -> str:
        """Where its rows lie, for people."""
        source = self.source
        if isinstance(source, FileSource | TableSource):
            return source.path
        return str(source.named if isinstance(source, FunctionSource) else source.address)

    @property
    def named(self) -> tuple[str, ...]:
        """The columns of the dimension that the definition names."""
        return (*self.keys.values(), self.since, *([self.until] if self.until else []), *(self.columns or ()))


def lookup(
    source: Source,
    *,
    keys: Sequence[str] | Mapping[str, str],
    since: str | At,
    until: str | None = None,
    columns: Sequence[str] | None = None,
    required: bool = False,
    of: Sequence[str] = (),
) -> Lookup:
    """A dimension whose rows hold for a time: of each event the row of its key that was valid at the event's
    own time.

    In `Pipeline(lookups={"rates": ...})` the SQL of aggregates, of `where` and of windows says `rates.rate`.
    When the dimension changes, the batches whose events met what changed are read again by the next run, and
    no other.

    Args:
        source: the rows of the dimension: `sources.files("rates/*.csv")`, `sources.table("rates")`,
            `sources.iceberg("lake", "shop.rates")`, `sources.sql("env:SHOP", "SELECT * FROM rates")`,
            `sources.function(rates)` or `sources.kafka(...)`, without an event time. All its rows are read,
            whatever the batch; of a topic the last message of each message key counts.
        keys: the columns that events and dimension have in common; or column of the events -> column of the
            dimension.
        since: the column with the first instant at which a row holds; `at("valid_from", timezone=...)` says
            how it is read.
        until: the column with the first instant at which it holds no more, read in the same way, null where
            that is open; None: until the next row of the key.
        columns: the columns that expressions may use; all columns but keys, `since` and `until` unless given.
        required: whether an event without a row is refused, into the quarantine; else `rates` is null for it.
        of: where a pipeline has several sources, the names of the sources whose rows look up; all unless
            given.

    Raises:
        DefinitionError: the source is of another kind, no key, or `since=None`: "the latest value" at the
            time of a run cannot be replayed.
    """
    if isinstance(source, SparkSource):
        raise DefinitionError(
            "lookup: sources.spark(...) cannot be looked up: every command that asks what has changed reads"
            " the dimension, and each would have to start Spark. Let a task before the run write it, as"
            " frame.write.format('delta').mode('overwrite').save('rates'), and look up sources.table('rates')"
        )
    if not (isinstance(source, FileSource | TableSource) or hasattr(source, "all_now")):
        named = getattr(source, "call", repr(source))
        raise DefinitionError(
            f"lookup: {named} cannot be looked up; give files, a table of Delta or Iceberg, a query, a"
            " function, or a topic, as sources.lookup(sources.files('rates/*.csv'), ...)"
        )
    if isinstance(source, FunctionSource) and source.event_time:
        raise DefinitionError(
            f"lookup: a dimension is no batch: leave event_time= out of {source.call}, and whatever depends"
            " on a batch"
        )
    if source.changes is not None:
        raise DefinitionError(
            "lookup: a dimension is its rows as they are now, so changes= and rows=events(id=...) have no "
            "place in its source; leave them out"
        )
    if isinstance(source, FileSource) and not source.all_files:
        raise DefinitionError(
            f"lookup: {source.path!r} is a path of batches, and a dimension has none; name all its files, as "
            "sources.files('rates/*.csv'), without event_time="
        )
    if not since:
        raise DefinitionError(
            f"lookup: since={since!r}: name the column that says from when on a row holds, as"
            " since='valid_from'. Without versions an event would get the latest row at the time of the run,"
            " and no run could repeat that"
        )
    pairs = dict(keys) if isinstance(keys, Mapping) else {each: each for each in _names("keys", keys)}
    keys_of_events = {_name("keys", ours): _name("keys", theirs) for ours, theirs in pairs.items()}
    if not pairs:
        raise DefinitionError(
            "lookup: keys: none; name the columns that events and dimension have in common, as"
            " keys=['currency']"
        )
    begin = cast("At", as_at(since, "since"))
    timed: Any = source
    if isinstance(since, At):
        timed = replace(timed, **begin.reading)
        check_local_times(
            begin, None, {name: timed.types.get(name) for name in (begin.column, until) if name}
        )
    return Lookup(
        timed,
        keys_of_events,
        begin.column,
        _name("until", until) if until is not None else None,
        None if columns is None else tuple(_names("columns", columns)),
        bool(required),
        tuple(of),
    )


def _names(what: str, given: Any) -> list[str]:  # noqa: ANN401 - whatever the user gave
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DefinitionError(f"lookup: {what}: {given!r} is no list of columns; write {what}=['rate']")
    return [_name(what, each) for each in given]


def _name(what: str, given: object) -> str:
    if not isinstance(given, str) or not given:
        raise DefinitionError(f"lookup: {what}: {given!r} is not the name of a column")
    return given
