"""Notes: files with what was open of windows after a batch. A note exists if a ledger names its files."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from muntin.definition.kinds import Chained
from muntin.engine.arrival.notes import note_after
from muntin.engine.windows import still_open
from muntin.jobs.finalize.states import own_buckets
from muntin.states.columns import BUCKET
from muntin.states.keys import buckets, contiguous
from muntin.states.stored_types import wider
from muntin.store.parquet import read_parquet, write_named
from muntin.store.paths import NOTES, windows_path
from muntin.timeline.chained import settled_us
from muntin.timeline.closing import closing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.engine.windows import Combined
    from muntin.jobs.finalize.shard import Shard
    from muntin.states.sorted import Arranged


def read_note(shard: Shard) -> pa.Table | None:
    """The shard's part of the note that its work goes on from; None if it goes on from states alone."""
    if not shard.note:
        return None
    note = pa.concat_tables(read_parquet(f"{shard.bound.folder}/{NOTES}/{path}") for path in shard.note)
    note = _in_types(note, shard.schema, shard.keys)
    note = note if shard.only is None else note.filter(shard.only)
    return note.filter(own_buckets(shard)) if shard.count > 1 else note


def _in_types(note: pa.Table, schema: pa.Schema, keys: Sequence[str]) -> pa.Table:
    """A note with the types of the states, which may be wider than when it was made."""
    names = [each.name for each in note.schema if each.name in schema.names and each.type != schema.field(each.name).type]
    for name in names:
        note = note.set_column(note.column_names.index(name), name, wider(note[name], schema.field(name).type))
    if {*names} & {*keys}:
        own = buckets([contiguous(note[key]) for key in keys], len(note))
        note = note.set_column(note.column_names.index(BUCKET), BUCKET, pa.array(own))
    return note


def write_notes(shard: Shard, arranged: Arranged, combined: Combined) -> dict[str, str]:
    """Position of a batch -> path of the file with what is open after it, for the batches after which a note is made."""
    window = shard.bound.windows[shard.window]
    when = closing(window, shard.watermarks_us)
    held, paths = combined.found.held, {}
    for at in shard.notes_after:
        until = settled_us(window.follows.margin_us, when, at + 1) if isinstance(window.follows, Chained) else None
        table = note_after(arranged, held, at) if held else still_open(combined, at, until, shard.bound.fields)
        columns = [contiguous(table[key]) for key in shard.keys]
        table = table.set_column(table.column_names.index(BUCKET), BUCKET, pa.array(buckets(columns, len(table))))
        table = table.replace_schema_metadata().combine_chunks()  # equal rows give equal bytes, and so an equal name
        name = partial(windows_path, int(shard.starts[at]), int(shard.starts[at]), shard.number)
        paths[str(at)] = f"{shard.window}/{write_named(table, shard.bound.folder / NOTES / shard.window, name)['path']}"
    return paths
