"""Earlier states of a pipeline, whose batches need not be read again.

Adoption: a state that lacks nothing but what an earlier state has takes over its files; no source is read.

earlier state   keys, where, schedule, ...   fields  n  sum(x)  max(x)   frames/1h  frames/rows
new state       the same                     fields  n  sum(x)           frames/1h                  takes over
frames/1h as it is

New fields: batches that an earlier state has, but for some fields, are read for the new fields alone.

earlier state   n  sum(x)           of a batch whose files are the same still
read            n          sum(y)   of the source only the columns of the new fields, keys, filter and times
new state       n  sum(x)  sum(y)   the rows that a run of the whole definition would have written
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import Field
from muntin.aggregates.counting import ROW_COUNT
from muntin.definition.schedule import Interval
from muntin.errors import ConflictError
from muntin.files.paths import AnyPath, folders_in
from muntin.jobs.inputs.inputs import difference
from muntin.jobs.records.reports_table import TABLE, last_accumulated, newest_read
from muntin.jobs.state import definition_note
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.definition_note import noted_facts
from muntin.jobs.state.fingerprint import facts_text
from muntin.sources.file_source import FileSource
from muntin.sources.listing import SourceFile
from muntin.sources.reading.lift_sql import facts_of
from muntin.store.batch_facts import batches_of
from muntin.store.delta import DeltaStore
from muntin.store.disk import link
from muntin.store.paths import QUARANTINE
from muntin.store.store import Change, Snapshot
from muntin.timeline.batches import Batches, spelled

_PARTS = ("fields", "frames")


def adopt(bound: Bound) -> str | None:
    """Take over the files of the earlier state that read a batch last, if it has everything that this state
    needs; its name.

    Nothing happens where this state has batches of its own. A crash in between leaves some tables taken over:
    the next run goes on.
    """
    earlier = adoptable(bound)
    if earlier is None:
        return None
    for table in (QUARANTINE, TABLE, *bound.tables_of_ids, *_tables(bound)):
        _take(bound, earlier, table)
    return earlier.name


def adoptable(bound: Bound) -> AnyPath | None:
    """The earlier state whose files suffice for a state that has no batches yet."""
    if all(bound.store.snapshot(table).version >= 0 for table in _tables(bound)):
        return None
    wanted = json.loads(facts_text(bound.pipeline, even=bound.even))
    enough = [
        other
        for other in bound.others
        if (has := definition_note.noted_facts(other)) and suffices(has, wanted) and _is_whole(bound, other)
    ]
    return newest_read(enough)


def _is_whole(bound: Bound, earlier: AnyPath) -> bool:
    """Whether all files to take over are there: else the source is read."""
    store = DeltaStore(earlier)
    tables = (QUARANTINE, TABLE, *bound.tables_of_ids, *_tables(bound))
    return all(
        (earlier / table / file.path).is_file() for table in tables for file in store.snapshot(table).files
    )


def _tables(bound: Bound) -> list[str]:
    return [frames.table for frames in bound.frame_sets]


def suffices(has: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a state holds everything that another state is to hold, and of the same rows.

    >>> suffices({"keys": ["k"], "fields": ["n", "sum"], "frames": ["1h"]}, {"keys": ["k"],
    ...     "fields": ["n"], "frames": ["1h"]})
    True
    >>> suffices({"keys": ["k"], "fields": ["n"], "frames": ["1h"]}, {"keys": [], "fields": ["n"],
    ...     "frames": ["1h"]})
    False
    """
    return of_same_rows(has, wanted) and all(each in has[part] for part in _PARTS for each in wanted[part])


def of_same_rows(has: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether two states hold the same of the source but for fields and frames."""
    one, other = (
        {name: fact for name, fact in facts.items() if name not in _PARTS} for facts in (has, wanted)
    )
    return one == other


def _take(bound: Bound, earlier: AnyPath, table: str) -> None:
    """Give the files of a table a second name in the new state, and commit them there."""
    now = bound.store.snapshot(table)
    theirs = DeltaStore(earlier).snapshot(table)
    if now.version >= 0 or theirs.version < 0 or theirs.schema is None:
        return
    for file in theirs.files:
        link(earlier / table / file.path, bound.folder / table / file.path)
    with suppress(ConflictError):  # another run took the table over, or began it
        bound.store.commit(table, now, Change(theirs.schema, theirs.files, [], [f"adopt {table}"]))


class Earlier(NamedTuple):
    """A state under an earlier definition that has the rows of a new one, but not all fields.

    Attributes:
        folder: of the state.
        facts: of its fields.
        missing: the fields that it lacks, the number of rows first.
    """

    folder: AnyPath
    facts: Sequence[str]
    missing: tuple[Field, ...]

    @property
    def store(self) -> DeltaStore:
        """The tables of the earlier state."""
        return DeltaStore(self.folder)

    def keeps_lists(self, bound: Bound) -> bool:
        """Whether lifts of either definition gather values of any number or length in a group."""
        lifts = [*self.facts, *map(facts_of, bound.fields)]
        schemas = [self.store.snapshot(frames.table).schema for frames in bound.frame_sets]
        of_any_length = (
            pa.types.is_nested,
            pa.types.is_string,
            pa.types.is_binary,
            pa.types.is_large_string,
            pa.types.is_large_binary,
        )
        return any(call in each for each in lifts for call in ("list(", "histogram(")) or any(
            is_such(field.type)
            for schema in schemas
            for field in schema or ()
            if field.name not in bound.pipeline.keys
            for is_such in of_any_length
        )


def earlier_state(bound: Bound) -> Earlier | None:
    """The earlier state that lacks the fewest fields; None if no state has anything to begin with."""
    others = bound.others
    if not others or not isinstance(bound.source, FileSource) or bound.source.format != "parquet":
        return None
    if bound.tables_of_ids:  # which rows are left out, or what they looked up, may have changed since
        return None
    wanted = json.loads(facts_text(bound.pipeline, even=bound.even))
    candidates = list[Earlier]()
    for other in others:
        has = noted_facts(other)
        if has and of_same_rows(has, wanted) and all(each in has["frames"] for each in wanted["frames"]):
            new = (field for field in bound.fields[1:] if facts_of(field) not in has["fields"])
            candidates.append(Earlier(other, has["fields"], (ROW_COUNT, *new)))
    return min(
        (each for each in candidates if len(each.missing) < len(bound.fields)),
        key=lambda each: len(each.missing),
        default=None,
    )


def unchanged(
    bound: Bound,
    earlier: Earlier,
    files: Mapping[Interval, Sequence[SourceFile]],
    bases: Mapping[str, Snapshot],
) -> list[Interval]:
    """The batches that an earlier state has of the same files, and this state lacks.

    `bases`: table of a frame set -> it as it is.
    """
    theirs = {table: _batches(bound, earlier.folder, table, earlier.store.snapshot(table)) for table in bases}
    ours = [_batches(bound, bound.folder, table, base).start_us for table, base in bases.items()]
    there = reduce(np.intersect1d, (batches.start_us[~batches.expired] for batches in theirs.values()))
    wanted = set(np.setdiff1d(there, np.concatenate(ours)).tolist())
    missing_batches = [
        interval for interval, listed in files.items() if listed and interval.start_us in wanted
    ]
    reports = last_accumulated(earlier.store, missing_batches)
    # a report names the version in the first table of states, which may not be asked for any more
    folders = folders_in(earlier.folder / "frames") if reports else ()
    tables = [
        theirs.get(table) or _batches(bound, earlier.folder, table, earlier.store.snapshot(table))
        for table in (f"frames/{folder.name}" for folder in folders)
    ]
    return [
        interval
        for interval in missing_batches
        if (report := reports.get(interval.start_us))
        and any(_version(batches, interval) == report["version"] for batches in tables)
        and difference(bound, report, files[interval]) is None
    ]


def _batches(bound: Bound, folder: AnyPath, table: str, snapshot: Snapshot) -> Batches:
    return batches_of(folder / table, snapshot.files, bound.pipeline.intervals.after)


def _version(batches: Batches, interval: Interval) -> str | None:
    """The version of a batch; None if it is not among these."""
    place = int(batches.position(np.array([interval.start_us]))[0])
    return spelled(batches.version[place]) if place >= 0 else None
