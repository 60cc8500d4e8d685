"""Publish: commit the staged files to the tables that readers see, one commit per window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from muntin.errors import ConflictError
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.published.changes import Changes, changed_windows
from muntin.jobs.published.ledger_segments import read_ledger, to_merge, write_segment
from muntin.jobs.published.lost_commits import table_versions
from muntin.jobs.published.promotion import check_not_superseded, describe, promote_complete, texts
from muntin.jobs.published.staged_windows import Staged, StagedWindow, entries_of, schema_of
from muntin.jobs.published.window_files import in_types, replaced_windows
from muntin.jobs.published.window_tables import Published, published
from muntin.jobs.records.approvals import Approval
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.tiered import has_long_windows
from muntin.states.derived_columns import has_types
from muntin.states.frames import is_among
from muntin.store.contents import problems_of_notes
from muntin.store.paths import batches_of_windows
from muntin.store.store import Change, File, Store
from muntin.store.tier_files import carried_on, marks
from muntin.timeline.ledger import Derivation, Entries, Ledger

_TRIES = 8


def publish(
    bound: Bound,
    staged: Staged,
    *,
    committed: Callable[[str, Sequence[int]], None] = lambda _window, _starts: None,
    validated: bool = True,
    changed: Callable[[str, Changes], None] | None = None,
    promoting: bool = True,
    again: bool = False,
    approval: Approval | None = None,
) -> list[str]:
    """Commit every staged window, and give the windows that were promoted.

    To the live table, or to the candidate while the live table holds windows of another state. Two conditions
    come first, for all windows: no other run has published a window since it was staged, and each window with
    a suite has a verdict on exactly the staged files. If a commit fails, the commits before it stay, and the
    next finalize stages the windows that are left. Then complete candidates are promoted, some small files
    are put together, some old rows removed, and some tiers made; see `promote_complete`, `compact`, `expire`,
    `make_tiers`.

    `committed` is called after each commit, with the window and the starts of the batches whose windows were
    replaced; `changed` after each commit that changed published rows (None: nothing is compared). `validated`
    is False where the user switched validation off. `promoting`: complete candidates take the place of live
    windows. `again`: a superseded definition is to be current again. `approval`: of a person, to publish
    despite a failed suite.
    """
    if not again:
        check_not_superseded(bound)
    bases = {window.window: _base(bound, window) for window in staged.windows}
    if validated and bound.pipeline.expectations:
        from muntin.jobs.records.verdicts import check_judged

        check_judged(bound, staged, approval)
    for window in staged.windows:
        if _publish(bound, staged.folder, window, bases[window.window], changed):
            committed(window.window, tuple(window.starts))
    bound.store.discard(staged.folder)
    promoted = promote_complete(bound) if promoting else []
    describe(bound)
    compact(bound)
    if bound.pipeline.retention:
        from muntin.jobs.housekeeping.expire import expire

        expire(bound)
    if any(has_long_windows(bound, frames) for frames in bound.frame_sets):
        from muntin.jobs.tiles.tiers import make_tiers

        make_tiers(bound)
    return promoted


def _base(bound: Bound, staged: StagedWindow) -> Published:
    """The published windows, which must be the windows that finalize compared with."""
    now = published(bound.store, staged.window)
    if now.head != staged.base:
        raise ConflictError(
            f"windows/{staged.window}: another run published since these windows were staged; finalize again"
        )
    return now


def _publish(
    bound: Bound,
    folder: str,
    staged: StagedWindow,
    now: Published,
    changed: Callable[[str, Changes], None] | None,
) -> bool:
    """Commit a window. False: it is published as staged already."""
    table, entries = now.table, entries_of(staged)
    new = [File(file["path"], file["size"], file["rows"]) for file in staged.files]
    starts = np.array(staged.starts, np.int64)
    if problems := problems_of_notes(bound.folder, _notes(entries.take(is_among(entries.start_us, starts)))):
        raise ConflictError(
            f"windows/{staged.window}: {'; '.join(problems)} since these windows were staged; finalize again"
        )
    bound.store.promote({f"{folder}/{staged.window}/{file.path}": file.path for file in new}, table)
    for _ in range(_TRIES):  # files may be put together meanwhile: that publishes nothing
        old, rest = replaced_windows(
            bound.table(table), now.snapshot.files, starts, now.starts, bound.keys_of(staged.window)
        )
        if _is_published(now, staged, entries, old, new):
            return False
        changes = changed_windows(bound, staged.window, now, old, new, starts) if changed else None
        old, rest = _in_types(bound, staged, now, old, rest)
        try:
            bound.store.commit(table, now.snapshot, _change(bound, staged, entries, now, old, [*new, *rest]))
        except ConflictError:
            now = _base(bound, staged)
            continue
        if changed and changes:
            changed(staged.window, changes)
        return True
    raise ConflictError(f"windows/{staged.window}: files keep being put together; publish again")


def _in_types(
    bound: Bound, staged: StagedWindow, now: Published, old: Sequence[File], rest: Sequence[File]
) -> tuple[list[File], list[File]]:
    """Files to replace and to rewrite; all, when a type widens."""
    schema = schema_of(staged.schema)
    if has_types(schema, now.snapshot.schema or schema):
        return [*old], [*rest]
    folder, keys = bound.table(now.table), bound.keys_of(staged.window)
    others = [file for file in now.snapshot.files if batches_of_windows(file.path) and file not in old]
    return [*old, *others], in_types(folder, [*rest, *others], schema, keys)


def _notes(entries: Entries) -> list[str]:
    return [path for at in entries.noted().tolist() for path in entries.note_of(at) or ()]


def _is_published(
    now: Published, staged: StagedWindow, entries: Entries, old: Sequence[File], new: Sequence[File]
) -> bool:
    """Whether the staged windows and their entries are what is published."""
    if (
        staged.anew
        or now.ledger is None
        or now.ledger.given != staged.given
        or {file.path for file in old} != {file.path for file in new}
    ):
        return False
    at = now.ledger.entries.position(entries.start_us)
    return bool((at >= 0).all()) and now.ledger.entries.take(at).to_table().equals(entries.to_table())


def _change(
    bound: Bound,
    staged: StagedWindow,
    entries: Entries,
    now: Published,
    old: Sequence[File],
    new: Sequence[File],
) -> Change:
    """The commit of a window: its files, and a segment of the ledger with its entries, which takes the place
    of some segments.
    """
    schema, folder = schema_of(staged.schema), bound.table(now.table)
    count = len(now.segments) if staged.anew else to_merge(now.segments, len(entries))
    merged = now.segments[len(now.segments) - count :]
    before = None if staged.anew else read_ledger(folder, tuple(segment.file.path for segment in merged))
    superseded = (
        now.ledger.superseded_by(Derivation(bound.state, staged.definition), now.snapshot.version)
        if now.ledger
        else ()
    )
    newest = entries
    if before:  # their segments become a single segment, with fewer notes of old batches
        newest = before.entries.newest(entries)
        # separate from all of history, which a union would sort
        more = entries.start_us[~is_among(entries.start_us, now.starts)]
        number = np.searchsorted(now.starts, newest.start_us) + np.searchsorted(more, newest.start_us)
        newest = newest.thinned(number, len(now.starts) + len(more))
    ledger = Ledger(
        staged.definition, newest, bound.state, superseded, table_versions(bound, staged.window), staged.given
    )
    segment = write_segment(folder, schema, now.number + 1, ledger)
    had, have = {file.path for file in old}, {file.path for file in new}
    marked, unmarked = list[File](), list[File]()
    if now.ledger is None or now.ledger.definition != staged.definition:
        unmarked = [*marks(now.snapshot.files)]  # all windows are derived anew, and none is gone any more
    elif staged.anew:
        marked, unmarked = carried_on(folder, schema, now.snapshot.files)
    adds = [*(file for file in new if file.path not in had), segment, *marked]
    removes = [*(file for file in old if file.path not in have), *(one.file for one in merged), *unmarked]
    return Change(
        schema,
        adds,
        removes,
        [f"{bound.pipeline.name}/{staged.window}"],
        whole=len(removes) == len(now.snapshot.files),
        texts=texts(bound, staged.window),
    )


def is_stale(store: Store, staged: Staged) -> bool:
    """Whether another run published a window since it was staged: publish would refuse it."""
    return any(published(store, window.window).head != window.base for window in staged.windows)
