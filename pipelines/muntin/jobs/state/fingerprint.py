"""Names of what determines states and windows: another name, and they are derived anew."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from muntin.aggregates.counting import shared_fields
from muntin.definition import parts
from muntin.definition.clocks import UTC_NAME
from muntin.definition.frame_sets import frame_sets
from muntin.definition.function_marks import mark
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Schedule
from muntin.files.paths import AnyPath
from muntin.jobs.state.definition_note import noted_facts
from muntin.sources.reading.lift_sql import facts_of
from muntin.store.state import states_of
from muntin.windows.clock import zone

_NAMING = 1  # of states and definitions: another number, and each state begins anew


def fingerprint(pipeline: Pipeline, *, even: bool = False) -> str:
    """A name of everything that determines the states: another name, and a new state folder begins.

    `even`: as for `frame_sets`.
    """
    return sha256(facts_text(pipeline, even=even).encode()).hexdigest()[:12]


def facts_text(pipeline: Pipeline, *, even: bool = False) -> str:
    """Everything that determines the states, as JSON. `even`: as for `frame_sets`."""
    schedule = pipeline.intervals
    facts = {
        "format": _NAMING,
        "keys": pipeline.keys,
        "where": pipeline.where,
        "schedule": [schedule.cron, schedule.step_us, schedule.anchor_us],
        "max_ahead": pipeline.limits.max_ahead_us,
        "fields": sorted(facts_of(each) for each in shared_fields(pipeline.row_aggregates)),
        "frames": [
            [frames.table, frames.event_times, sorted(frames.lifts.items())]
            for frames in frame_sets(pipeline, even=even)
        ],
    }
    if pipeline.sources:  # in order: the rows of a batch arrive source by source
        facts["sources"] = [
            [name, _facts_of_source(source, schedule)] for name, source in pipeline.sources.items()
        ]
    else:
        facts |= _facts_of_source(pipeline.origin, schedule)
    if pipeline.lookups:
        facts["lookups"] = {
            name: {**each.facts, **_facts_of_source(each.source, schedule)}
            for name, each in pipeline.lookups.items()
        }
    if pipeline.timezone != UTC_NAME:
        facts["timezone"] = zone(pipeline.timezone).rules
    if pipeline.limits.max_behind is not None:
        facts["max_behind"] = pipeline.limits.max_behind_us
    return json.dumps(facts, sort_keys=True, default=str)


def _facts_of_source(source: parts.Source, schedule: Schedule) -> dict[str, Any]:
    """Everything of a source that determines the states."""
    facts: dict[str, Any] = {
        "time": [source.event_time, source.unit, source.timezone, source.arrival_order, source.arrival_time]
    }
    if source.timezone:
        facts["local_time"] = [source.ambiguous, source.nonexistent, zone(source.timezone).rules]
    if source.dedupe:
        facts["dedupe"] = list(source.dedupe)
    if source.dedupe_within_us is not None:
        facts["dedupe_within"] = source.dedupe_within_us
    if source.changes is not None:
        facts["changes"] = [source.changes.operation, source.changes.deletes, source.changes.brings]
        facts["changes"] += [source.changes.newest_by] if source.changes.newest_by else []
    if source.types:
        facts["types"] = sorted(source.types.items())
    if source.hive:
        facts["hive"] = sorted(source.hive)
    if source.time_format or source.delimiter:
        facts["text"] = [source.time_format, source.delimiter]
    if source.dialect.facts:
        facts["csv"] = sorted(source.dialect.facts.items())
    return {**facts, **source.facts(schedule)}


def derivation(pipeline: Pipeline, window: str) -> str:
    """A name of everything that, apart from the states, determines a window's results."""
    results = {
        name: [str(each), each.finish.__qualname__, mark(each.finish, ours_by_name=True)]
        for name, each in pipeline.row_aggregates.items()
    }
    facts = [
        _NAMING,
        pipeline.windows[window].identity,
        pipeline.watermark_policy,
        results,
        pipeline.retention.states_in_windows,
    ]
    # in order: a column may read those before it
    facts += [list(pipeline.derived.items())] if pipeline.derived else []
    facts += [{"idle_after": pipeline.watermarking.idle_us}] if pipeline.limits.idle_after is not None else []
    facts += [{"having": having}] if (having := pipeline.windows[window].having) else []
    facts += [{"lateness": late}] if (late := pipeline.windows[window].lateness_us) else []
    facts += [{"keys": pipeline.keys_of(window)}] if pipeline.keys_of(window) != tuple(pipeline.keys) else []
    return sha256(json.dumps(facts).encode()).hexdigest()[:12]


def keeps_even_frames(pipeline: Pipeline, home: AnyPath) -> bool:
    """Whether frames of a pipeline that lost its other windows keep one width, though they could be longer:
    a state of it has such frames, and no state has the longer frames.

    Else the whole source would be read again, which may be gone.

    Args:
        pipeline: the definition.
        home: the folder of its states.
    """
    even = {frames.table for frames in frame_sets(pipeline, even=True)}
    longer = {frames.table for frames in frame_sets(pipeline)} - even
    if not longer or (home / fingerprint(pipeline)).is_dir():
        return False
    tables_of_states = {
        state.name: {table for table, *_ in (noted_facts(state) or {}).get("frames", ())}
        for state in states_of(home)
    }
    before = fingerprint(pipeline, even=True) in tables_of_states or any(
        even <= tables for tables in tables_of_states.values()
    )
    return before and not any(longer & tables for tables in tables_of_states.values())
