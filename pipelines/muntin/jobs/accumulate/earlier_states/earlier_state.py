"""New fields: batches that an earlier state has, but for some fields, are read from the source for the new
fields alone.

earlier state   n  sum(x)           of a batch whose files are the same still
read            n          sum(y)   of the source only the columns of the new fields, keys, filter and times
new state       n  sum(x)  sum(y)   the rows that a run of the whole definition would have written
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin.aggregates.counting import ROW_COUNT
from muntin.files.paths import folders_in
from muntin.jobs.accumulate.earlier_states.adoption import of_same_rows
from muntin.jobs.inputs.inputs import difference
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.definition_note import noted_facts
from muntin.jobs.state.fingerprint import facts_text
from muntin.sources.file_source import FileSource
from muntin.sources.reading.lift_sql import facts_of
from muntin.store.batch_facts import batches_of
from muntin.store.delta import DeltaStore
from muntin.store.state import states_of
from muntin.timeline.batches import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.aggregates.aggregate import Field
    from muntin.definition.schedule import Interval
    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.sources.listing import SourceFile
    from muntin.store.store import Snapshot
    from muntin.timeline.batches import Batches


@dataclass(frozen=True, slots=True)
class Earlier:
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
        kinds = [
            field.type
            for schema in schemas
            if schema
            for field in schema
            if field.name not in bound.pipeline.keys
        ]
        return any(call in each for each in lifts for call in ("list(", "histogram(")) or any(
            pa.types.is_nested(kind) or _is_text(kind) for kind in kinds
        )


def earlier_state(bound: Bound) -> Earlier | None:
    """The earlier state that lacks the fewest fields; None if no state has anything to begin with."""
    others = [state for state in states_of(bound.home) if state.name != bound.state]
    if not others or not isinstance(bound.source, FileSource) or bound.source.format != "parquet":
        return None
    if bound.tables_of_ids:  # which rows are left out, or what they looked up, may have changed since
        return None
    wanted = json.loads(facts_text(bound.pipeline, even=bound.even))
    alike = [(other, has) for other in others if (has := noted_facts(other)) and _begins(has, wanted)]
    candidates = [Earlier(other, has["fields"], _missing(bound, has["fields"])) for other, has in alike]
    return min(
        (each for each in candidates if len(each.missing) < len(bound.fields)),
        key=lambda each: len(each.missing),
        default=None,
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _begins(has: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return of_same_rows(has, wanted) and all(frames in has["frames"] for frames in wanted["frames"])


def _missing(bound: Bound, earlier_fields: Sequence[str]) -> tuple[Field, ...]:
    return ROW_COUNT, *(field for field in bound.fields[1:] if facts_of(field) not in earlier_fields)


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
    versions = _versions(bound, earlier, theirs) if reports else []
    read = [
        interval for interval in missing_batches if _tells(reports.get(interval.start_us), interval, versions)
    ]
    return [
        interval
        for interval in read
        if difference(bound, reports[interval.start_us], files[interval]) is None
    ]


def _batches(bound: Bound, folder: AnyPath, table: str, snapshot: Snapshot) -> Batches:
    return batches_of(folder / table, snapshot.files, bound.pipeline.intervals.after)


def _versions(bound: Bound, earlier: Earlier, batches_of_tables: Mapping[str, Batches]) -> list[Batches]:
    """The batches of each table of states: a report names the version in the first of them, which may not be
    asked for any more.
    """
    tables = [f"frames/{folder.name}" for folder in folders_in(earlier.folder / "frames")]
    return [
        batches_of_tables.get(table) or _batches(bound, earlier.folder, table, earlier.store.snapshot(table))
        for table in tables
    ]


def _tells(report: Mapping[str, Any] | None, interval: Interval, tables: Sequence[Batches]) -> bool:
    """Whether a report is of the states as they are."""
    if report is None:
        return False
    at = [(batches, int(batches.position(np.array([interval.start_us]))[0])) for batches in tables]
    return any(place >= 0 and spelled(batches.version[place]) == report["version"] for batches, place in at)
