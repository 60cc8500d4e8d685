"""Promotion: a definition's candidate windows take the place of the live windows, in one commit, once they
are complete.

A table names its earlier derivations. A run of an earlier derivation is refused: two definitions never take
turns in a table.

Texts of published tables: name, description, and a comment for each column, which any
Delta reader shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa

from muntin.aggregates.aggregate import Aggregate
from muntin.errors import ConflictError, StateError
from muntin.files.paths import folders_in
from muntin.jobs.published.ledger_segments import write_segment
from muntin.jobs.published.window_tables import Published, candidate, current, published
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.definition_note import spelled
from muntin.states.columns import BATCH
from muntin.store.disk import link
from muntin.store.state import WINDOWS
from muntin.store.store import Change, File, Snapshot, Texts, after_conflicts
from muntin.timeline.ledger import Derivation, Ledger

_OF_ALL = {
    "window_start": "start of the window, inclusive, UTC",
    "window_end": "end of the window, exclusive, UTC",
    BATCH: "start of the interval of the batch that closed the window, UTC",
}


def texts(bound: Bound, window: str) -> Texts:
    """The texts of a window's table."""
    kind = spelled(bound.windows[window])
    description = " ".join(filter(None, (bound.pipeline.description, f"Windows of Muntin: {kind}")))
    return Texts(f"{bound.pipeline.name}.{window}", description, comments(bound, window))


def comments(bound: Bound, window: str) -> Mapping[str, str]:
    """Column of a window's table -> its comment."""
    keys = dict.fromkeys(bound.keys_of(window), "key: windows are kept apart by it")
    aggregates = {name: _of(aggregate) for name, aggregate in bound.aggregates.items()}
    derived = {name: f"derived: {expression}" for name, expression in bound.pipeline.derived.items()}
    return keys | _OF_ALL | aggregates | derived


def _of(aggregate: Aggregate) -> str:
    unit = f" [{aggregate.unit}]" if aggregate.unit else ""
    return f"{aggregate}{unit}" + (f": {aggregate.comment}" if aggregate.comment else "")


def describe(bound: Bound) -> None:
    """Bring the texts of the tables of windows up to date; nothing is written where they are."""
    for window in bound.windows:
        now = published(bound.store, window)
        if now.ledger:
            # another run writes to the table: a later run brings its texts up to date
            with suppress(ConflictError):
                bound.store.describe(now.table, now.snapshot, texts(bound, window))


_TRIES = 8


def superseded(bound: Bound) -> dict[str, int]:
    """The windows that a newer definition has taken over, each with the last version of its table under this
    definition.
    """
    last_versions = {}
    for window in bound.windows:
        ledger = current(bound.store, window).ledger
        version = ledger.version_before(Derivation(bound.state, bound.derivation(window))) if ledger else None
        if version is not None:
            last_versions[window] = version
    return last_versions


def check_not_superseded(bound: Bound) -> None:
    """Refuse to publish under a definition whose place a newer one has taken: a live table had its windows,
    and has other windows now.
    """
    if last_versions := superseded(bound):
        names = ", ".join(last_versions)
        home = bound.table(current(bound.store, next(iter(last_versions))).table)
        raise StateError(
            f"{bound.pipeline.name}: this definition of {names} is superseded: {home} holds windows of a"
            " newer one. Deploy the newer definition everywhere, or make this one current again: muntin"
            " promote FILE"
        )


def lacking(bound: Bound) -> dict[str, int]:
    """The candidate windows, each with the number of batches it lacks until it can be promoted."""
    return {window: _lacks(readers, own) for window, readers, own in _candidates(bound)}


def promote_complete(bound: Bound, *, incomplete: bool = False) -> list[str]:
    """Promote the candidate windows, if all of them are complete, or `incomplete`; the names of the promoted
    windows.

    Complete: derived from each batch that the live windows are derived from; windows that lack batches are
    gone after promotion. A crash in between leaves some windows promoted; the next run promotes the remaining
    windows.
    """
    given_up = f"{bound.pipeline.name}: other runs keep publishing; promote again"
    return after_conflicts(_TRIES, given_up)(lambda: _promote_all(bound, incomplete=incomplete))


def _promote_all(bound: Bound, *, incomplete: bool) -> list[str]:
    waiting = _candidates(bound)
    if not incomplete and any(_lacks(readers, own) for _, readers, own in waiting):
        return []
    promoted = [window for window, readers, own in waiting if _promote(bound, window, readers, own)]
    for table in folders_in(bound.folder / WINDOWS):
        ledger = current(bound.store, table.name).ledger
        if ledger and ledger.state == bound.state:
            bound.store.discard(f"{WINDOWS}/{table.name}")
    return promoted


def _lacks(readers: Published, own: Published) -> int:
    """Batches in the live table but not yet in the candidate."""
    return len(np.setdiff1d(readers.starts, own.starts))


def _candidates(bound: Bound) -> list[tuple[str, Published, Published]]:
    """The windows whose live table has another state's windows: name, live windows, candidate windows."""
    candidates = []
    for window in bound.windows:
        readers = current(bound.store, window)
        if readers.ledger and readers.ledger.state == bound.state:
            continue
        own = candidate(bound.store, window)
        if own.ledger or readers.ledger:
            candidates.append((window, readers, own))
    return candidates


def _promote(bound: Bound, window: str, readers: Published, own: Published) -> bool:
    """Replace the live windows of a name by its candidate. False: there is no candidate."""
    if own.ledger is None or own.snapshot.schema is None:
        return False
    files = [file for file in own.snapshot.files if file not in {segment.file for segment in own.segments}]
    source, target = bound.table(own.table), bound.table(readers.table)
    for file in files:
        link(source / file.path, target / file.path)
    derivation = Derivation(bound.state, own.ledger.definition)
    superseded = readers.ledger.superseded_by(derivation, readers.snapshot.version) if readers.ledger else ()
    ledger = Ledger(
        own.ledger.definition,
        own.ledger.entries,
        bound.state,
        superseded,
        own.ledger.tables,
        own.ledger.given,
    )
    segment = write_segment(target, own.snapshot.schema, max(own.number, readers.number) + 1, ledger)
    change = replacing(
        readers.snapshot, own.snapshot.schema, [*files, segment], f"{bound.pipeline.name}/{window}"
    )
    bound.store.commit(readers.table, readers.snapshot, replace(change, texts=texts(bound, window)))
    return True


def replacing(now: Snapshot, schema: pa.Schema, files: Sequence[File], name: str) -> Change:
    """The commit after which a table has the given files alone. `name`: the lock."""
    had, have = {file.path for file in now.files}, {file.path for file in files}
    adds = [file for file in files if file.path not in had]
    removes = [file for file in now.files if file.path not in have]
    return Change(schema, adds, removes, [name], whole=len(removes) == len(now.files))
