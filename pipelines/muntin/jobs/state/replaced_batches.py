"""Batches that are replaced in a table beside the states: ids of events, and what events looked up."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from muntin.jobs.state.bound import Bound
from muntin.states.frames import Ints
from muntin.store.shared_files import replacement
from muntin.store.store import Change, File, Texts, after_conflicts, locks

_TRIES = 5


def replace_batches(
    bound: Bound, table: str, starts: Ints, new: Sequence[File], like: tuple[pa.Schema, Texts]
) -> None:
    """Replace batches in a table. Of two runs at once the last one wins; the states of the other tell that
    they do not fit.

    Args:
        bound: the pipeline state.
        table: its name.
        starts: of the batches, ascending.
        new: their files, written.
        like: the table's schema and texts.

    Raises:
        ConflictError: other runs commit all the time.
    """
    schema, texts = like
    for attempt in after_conflicts(
        _TRIES, f"{bound.pipeline.name}: other runs keep replacing {texts.name}; run again when they are done"
    ):
        with attempt:
            base = bound.store.snapshot(table)
            adds, removes = replacement(bound.table(table), base.files, starts, new)
            if adds or removes:
                bound.store.commit(table, base, Change(schema, adds, removes, locks(starts), texts=texts))
