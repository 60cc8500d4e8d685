"""One task of finalize: read the states of a shard, combine them to windows, stage the files."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate
from muntin.definition.instants import instant_us
from muntin.definition.kinds import Carried, Chained, RowStates
from muntin.engine.assignment import Assignment
from muntin.engine.merged_states import tallies
from muntin.engine.windows import Combined, combine_arranged, results, still_open
from muntin.errors import DefinitionError
from muntin.jobs.finalize.shard import Shard
from muntin.jobs.finalize.states import in_order, own_buckets, read_states
from muntin.jobs.published.window_files import stretches, write_windows
from muntin.sources.sessions.duckdb_session import closed_session, said
from muntin.sources.sessions.single_expressions import check_expression
from muntin.states.columns import BUCKET, FILE_NUMBER, INSTANT, ROW_IN_BATCH
from muntin.states.derived_columns import wider
from muntin.states.frames import Ints
from muntin.states.keys import buckets, contiguous
from muntin.states.order import MANY, take_rows
from muntin.states.sorted import Arranged, Batches, arrange, arrange_rows, some_of
from muntin.store.parquet import read_parquet, write_named
from muntin.store.paths import NOTES, windows_path
from muntin.timeline.closing import closing
from muntin.timeline.reconcile import settled_us
from muntin.windows.kind import Window


def finalize_shards(shards: Sequence[Shard]) -> list[dict[str, Any]]:
    """Stage the windows of shards that read the same states.

    For each shard, JSON-able: window; schema of its files (base64); files; notes: position of a batch ->
    path; tallies.
    """
    places = [name for shard in shards for name in _places(_window(shard))]
    arranged = _arranged(shards[0], places, noting=any(shard.notes_after for shard in shards))
    rows = [_rows_of(shard, arranged) for shard in shards]
    files_of_shards: list[dict[str, Any]] = []
    windows: list[Combined] = []
    for shard, own in zip(shards, rows, strict=True):
        combined = _combined(shard, some_of(arranged, own))
        files_of_shards.append(_written(shard, arranged, combined))
        windows.append(replace(combined, windows=combined.windows.schema.empty_table()))  # they are written
        del combined
    late_any = np.zeros(len(arranged.frames), np.bool_)
    for shard, own, combined in zip(shards, rows, windows, strict=True):
        if not _may_stay_open(_window(shard)):
            late_any[own] |= combined.candidates.missed > 0
    return [
        {**files_of_shard, "tallies": _tallies(shard, each, late_any[own])}
        for files_of_shard, shard, own, each in zip(files_of_shards, shards, rows, windows, strict=True)
    ]


def _tallies(shard: Shard, combined: Combined, late_any: np.ndarray) -> dict[str, Any]:
    """Windows that may stay open for long count late rows separately, other windows do not: behind a note
    each is derived alone.
    """
    alone = _may_stay_open(_window(shard))
    return tallies(
        combined, len(shard.watermarks_us), shard.wanted, opened=alone, late_any=None if alone else late_any
    )


def _written(shard: Shard, arranged: Arranged, combined: Combined) -> dict[str, Any]:
    """The files written of a shard: the result of `finalize_shards` without the tallies."""
    return {
        "window": shard.window,
        "schema": base64.b64encode(
            _labelled(combined.windows, shard.starts[combined.closed]).schema.serialize()
        ).decode(),
        "files": _stage(shard, combined),
        "notes": _write_notes(shard, arranged, combined),
    }


def _rows_of(shard: Shard, arranged: Arranged) -> Ints:
    """The rows that a shard's windows are made of: all, but of windows that tiers do not fit the states that
    they need.
    """
    frames, need = arranged.frames, shard.tiers.unfit.get(shard.window) if shard.tiers else None
    if need is None:
        return np.arange(len(frames))
    inside = (frames.start >= need.low_us) & (frames.start < need.high_us)
    return np.flatnonzero(inside | (frames.batch >= need.since))


def _may_stay_open(window: Window) -> bool:
    """Whether the data decide how long a window is open, so that the ledger says since when."""
    return isinstance(window.follows, Chained | Carried)


def combined_shard(shard: Shard) -> Combined:
    """The wanted windows of a shard."""
    return _combined(shard, _arranged(shard, _places(_window(shard)), noting=bool(shard.notes_after)))


def _window(shard: Shard) -> Window:
    return shard.bound.windows[shard.window]


def _places(window: Window) -> Sequence[str]:
    """The columns of a row's place that a window reads."""
    return window.made_of.places if isinstance(window.made_of, RowStates) else ()


def _arranged(shard: Shard, places: Sequence[str], *, noting: bool) -> Arranged:
    """The shard's states behind its note, sorted; with the columns `places`, or where `noting`, the columns
    that a note of them needs.
    """
    frames, keys = shard.bound.frames_of(shard.window), shard.keys
    keep = (BUCKET, FILE_NUMBER, ROW_IN_BATCH) if noting or shard.note else places
    states = read_states(shard, shard.bound.table(frames.table), keep)
    if len(states) >= MANY:
        import numba  # noqa: F401 - windows need it anyway, and own loops sort faster
    before = _read_note(shard)
    if not frames.by_arrival:
        states = pa.concat_tables([before.select(states.column_names), states]) if before else states
        return arrange(states, keys, frames.grain_us, shard.bound.pipeline.keys if shard.is_rollup else ())
    states, starts = in_order(states), shard.starts
    batches = Batches(
        starts[:-1],
        starts[1:],
        instant_us(shard.bound.pipeline.start, "start"),
        np.array(shard.notes_after, np.int64),
    )
    of_notes = [name for name in keep if name in states.column_names and name not in places]
    evaluate, by_arrival = partial(evaluated, shard.bound.aggregates), _window(shard).made_of.by_arrival
    return arrange_rows(states, before, keys, batches, evaluate, of_notes, by_arrival=by_arrival)


def _combined(shard: Shard, arranged: Arranged) -> Combined:
    combined = combine_arranged(
        arranged,
        window=_window(shard),
        when=closing(_window(shard), shard.watermarks_us),
        keys=shard.keys,
        aggregates=shard.bound.aggregates,
        wanted=shard.wanted,
        keep_states=shard.bound.pipeline.retention.states_in_windows,
    )
    if not shard.bound.pipeline.derived and _window(shard).having is None:
        return combined
    from muntin.jobs.schema_check.derive_expressions import derived, shown

    windows = derived(shard.bound, shard.window, combined.windows)
    return replace(combined, windows=windows, shown=shown(shard.bound, shard.window, windows))


def evaluated(
    aggregates: Mapping[str, Aggregate], states: pa.Table, windows: Assignment, expression: str
) -> np.ndarray:
    """A SQL expression over the results of windows, as doubles; NaN for null."""
    check_expression(expression, "by_delta")
    session = closed_session()
    session.register("muntin_windows", pa.table(results(states, windows, aggregates)))
    try:
        values = session.sql(f"SELECT ({expression})::DOUBLE AS value FROM muntin_windows").to_arrow_table()[
            "value"
        ]
    except duckdb.Error as wrong:
        names = ", ".join(aggregates)
        raise DefinitionError(
            f"by_delta: {expression!r} does not fit the results of a window: {said(wrong)}. There are {names}"
        ) from wrong
    return values.combine_chunks().fill_null(float("nan")).to_numpy(zero_copy_only=False)


def _stage(shard: Shard, combined: Combined) -> list[dict[str, Any]]:
    """Write the windows of the wanted batches; neighbouring batches with few windows share a file, sorted by
    key and start.

    Of each file path, size and rows, and `first` and `last`, the starts of its batches.
    """
    folder, keys = shard.bound.folder / shard.staging / shard.window, shard.keys
    published, closed = combined.published()
    windows, place = _labelled(published, shard.starts[closed]), np.searchsorted(shard.wanted, closed)
    batch_stretches = stretches(np.bincount(place, minlength=len(shard.wanted)))
    number = np.searchsorted(np.array([first for first, _ in batch_stretches]), place, side="right") - 1
    order, files = np.argsort(number, kind="stable"), []
    bounds = np.searchsorted(number[order], np.arange(len(batch_stretches) + 1))
    for at, (first, end) in enumerate(batch_stretches):
        rows = order[bounds[at] : bounds[at + 1]]
        if len(rows):
            first_us = int(shard.starts[shard.wanted[first]])
            last_us = int(shard.starts[shard.wanted[end - 1]])
            chosen = windows if len(rows) == len(windows) else take_rows(windows, rows)
            files.append(
                {
                    **asdict(write_windows(chosen, folder, first_us, last_us, shard.number, keys)),
                    "first": first_us,
                    "last": last_us,
                }
            )
    return files


def _labelled(windows: pa.Table, batches: Ints) -> pa.Table:
    """The windows with the column `batch`: the start of the batch that closed each."""
    return windows.append_column("batch", pa.array(batches).view(INSTANT))


def _read_note(shard: Shard) -> pa.Table | None:
    """The shard's part of the note that its work goes on from; None if it goes on from states alone."""
    if not shard.note:
        return None
    note = pa.concat_tables(read_parquet(f"{shard.bound.folder}/{NOTES}/{path}") for path in shard.note)
    note = _in_types(note, shard.schema, shard.keys)
    note = note if shard.only is None else note.filter(shard.only)
    return note.filter(own_buckets(shard)) if shard.count > 1 else note


def _in_types(note: pa.Table, schema: pa.Schema, keys: Sequence[str]) -> pa.Table:
    """A note with the types of the states, which may be wider than when it was made."""
    names = [
        each.name
        for each in note.schema
        if each.name in schema.names and each.type != schema.field(each.name).type
    ]
    for name in names:
        note = note.set_column(
            note.column_names.index(name), name, wider(note[name], schema.field(name).type)
        )
    if {*names} & {*keys}:
        own = buckets([contiguous(note[key]) for key in keys], len(note))
        note = note.set_column(note.column_names.index(BUCKET), BUCKET, pa.array(own))
    return note


def _write_notes(shard: Shard, arranged: Arranged, combined: Combined) -> dict[str, str]:
    """Position of a batch -> path of the file with what is open after it, for the batches after which a note
    is made.
    """
    window = shard.bound.windows[shard.window]
    when = closing(window, shard.watermarks_us)
    held, paths = combined.candidates.held, {}
    for at in shard.notes_after:
        until = (
            settled_us(window.follows.margin_us, when, at + 1)
            if isinstance(window.follows, Chained)
            else None
        )
        if held:
            from muntin.engine.arrival.reading import note_after

            table = note_after(arranged, held, at)
        else:
            table = still_open(combined, at, until, shard.bound.fields)
        columns = [contiguous(table[key]) for key in shard.keys]
        table = table.set_column(
            table.column_names.index(BUCKET), BUCKET, pa.array(buckets(columns, len(table)))
        )
        # equal rows give equal bytes, and so an equal name
        table = table.replace_schema_metadata().combine_chunks()
        name = partial(windows_path, int(shard.starts[at]), int(shard.starts[at]), shard.number)
        paths[str(at)] = (
            f"{shard.window}/{write_named(table, shard.bound.folder / NOTES / shard.window, name)['path']}"
        )
    return paths
