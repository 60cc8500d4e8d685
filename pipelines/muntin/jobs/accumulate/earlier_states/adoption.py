"""Adoption: a state that lacks nothing but what an earlier state has takes over its files, and no source is
read.

earlier state   keys, where, schedule, ...   fields  n  sum(x)  max(x)   frames/1h  frames/rows
new state       the same                     fields  n  sum(x)           frames/1h                  takes over
frames/1h as it is
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from muntin.errors import ConflictError
from muntin.jobs.records.reports_table import TABLE, last_read_at
from muntin.jobs.state import definition_note
from muntin.jobs.state.fingerprint import facts_text
from muntin.store.delta import DeltaStore
from muntin.store.disk import link
from muntin.store.paths import QUARANTINE
from muntin.store.state import states_of
from muntin.store.store import Change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound

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
    others = (other for other in states_of(bound.home) if other.name != bound.state)
    enough = [
        other
        for other in others
        if (has := definition_note.noted_facts(other)) and suffices(has, wanted) and _is_whole(bound, other)
    ]
    ages = [(read_at, other) for other in enough if (read_at := last_read_at(DeltaStore(other)))]
    return max(ages)[1] if ages else None


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
    now, theirs = bound.store.snapshot(table), DeltaStore(earlier).snapshot(table)
    if now.version >= 0 or theirs.version < 0 or theirs.schema is None:
        return
    for file in theirs.files:
        link(earlier / table / file.path, bound.folder / table / file.path)
    with suppress(ConflictError):  # another run took the table over, or began it
        bound.store.commit(table, now, Change(theirs.schema, theirs.files, [], [f"adopt {table}"]))
