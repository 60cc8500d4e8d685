"""One task that joins states of an earlier definition with new fields of the same rows, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from muntin.errors import StateError
from muntin.files.paths import AnyPath
from muntin.files.readable import opened, readable
from muntin.jobs.accumulate.wider_states import common_schema, with_columns
from muntin.jobs.state.bound import Bound
from muntin.states.checkpoint import joined
from muntin.states.columns import BATCH
from muntin.states.derived_columns import whole, whole_schema
from muntin.states.frames import Ints
from muntin.states.sorted import by_key
from muntin.store.batch_facts import batches_of
from muntin.store.contents import whole_content
from muntin.store.shared_files import write_shared
from muntin.store.store import File


class Part(NamedTuple):
    """Some files of a table of states: its folder, the files of some batches, by batch and split, and the
    columns of all files.
    """

    folder: AnyPath
    files: Sequence[File]
    schema: pa.Schema

    def rows(self, starts: Ints) -> pa.Table:
        tables = [whole(opened(whole_content(self.folder, file)).read()) for file in self.files]
        wide_tables = [
            with_columns(table, self.schema, f"{self.folder}/{file.path}")
            for table, file in zip(tables, self.files, strict=True)
        ]
        every = pa.concat_tables(wide_tables)
        return every.filter(pc.is_in(every[BATCH].cast(pa.int64()), pa.array(starts)))


class Joining(NamedTuple):
    """The batches and tables that one task joins.

    Attributes:
        bound: the pipeline state.
        table: of a frame set.
        starts: of the batches, ascending.
        old, new: states of the earlier definition, and of the new fields.
    """

    bound: Bound
    table: str
    starts: Ints
    old: Part
    new: Part


def join(joining: Joining) -> dict[str, Any]:
    """Write states with all fields: the file (path, size, rows; None if no batch is left), and `unlike`,
    starts of the batches left out.

    A batch is left out if its states are not of the same rows, or are gone or damaged.
    """
    bound = joining.bound
    folder = joining.bound.table(joining.table)
    try:
        old = joining.old.rows(joining.starts)
    except StateError:
        return {"file": None, "unlike": joining.starts.tolist()}
    new = joining.new.rows(joining.starts)
    rows, unlike = joined(old, new, bound.pipeline.keys, columns_of(bound, joining.new.schema))
    after = bound.pipeline.intervals.after
    earlier, facts = (batches_of(part.folder, part.files, after) for part in (joining.old, joining.new))
    facts = facts.take(np.isin(facts.start_us, joining.starts) & ~np.isin(facts.start_us, unlike))
    # a version names the content of both parts
    facts = replace(facts, version=facts.version ^ earlier.version[earlier.position(facts.start_us)])
    file = (
        asdict(write_shared(by_key(rows, bound.pipeline.keys), folder, facts, bound.pipeline.keys))
        if len(facts)
        else None
    )
    return {"file": file, "unlike": unlike.tolist()}


def columns_of(bound: Bound, schema: pa.Schema) -> list[str]:
    """The columns of states in order. `schema`: of states with some of the fields."""
    every = [column for each in bound.fields for column in each.columns]
    begin = next(at for at, name in enumerate(schema.names) if name in every)
    others = [(at, name) for at, name in enumerate(schema.names) if name not in every]
    return [name for at, name in others if at < begin] + every + [name for at, name in others if at > begin]


def schema_of(folder: AnyPath, files: Sequence[File]) -> pa.Schema:
    """The columns of all files of a table of states, with types that hold the values of each."""
    return common_schema([whole_schema(pq.read_schema(readable(f"{folder}/{file.path}"))) for file in files])
