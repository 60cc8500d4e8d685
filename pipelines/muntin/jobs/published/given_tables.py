"""Tables of spans as windows were published by them: readers need no table of a user's, which may be gone or
changed since.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.definition.rollups import given_windows
from muntin.errors import ConflictError
from muntin.jobs.published.window_tables import commit_segment, newest_segment
from muntin.jobs.state.given_spans import as_published, keep
from muntin.timeline.ledger import no_entries

if TYPE_CHECKING:
    from muntin.jobs.published.pending import Pending
    from muntin.jobs.state.bound import Bound


def as_readers_know(bound: Bound) -> Bound:
    """The same pipeline with the spans by which windows were published; before a publication, the spans of
    the table.
    """
    windows = given_windows(bound.pipeline.windows)
    published_windows = {
        name: as_published(bound, name, newest_segment(bound.store, name))
        for name, kind in windows.items()
        if kind.given_by
    }
    if not published_windows:
        return bound
    all_windows = {name: published_windows.get(name) or kind for name, kind in windows.items()}
    return replace(bound, pipeline=replace(bound.pipeline, windows=all_windows))


def note_table(bound: Bound, pending: Pending) -> None:
    """Note another table of spans where no window follows from it yet: readers know the spans that are open
    by the newest note.

    Where another run publishes meanwhile, the next run notes it.
    """
    kind, ledger = bound.windows[pending.window], pending.published.ledger
    if kind.given_by is None or ledger is None or pending.work:
        return
    given = keep(bound, kind)
    if given != ledger.given:
        with suppress(ConflictError):
            commit_segment(
                bound, pending.window, pending.published, replace(ledger, entries=no_entries(), given=given)
            )


def copies(bound: Bound) -> dict[str, str]:
    """Window -> the copy of the table that it was published by, which its content names; for reports."""
    newest = {
        name: newest_segment(bound.store, name) for name, kind in bound.windows.items() if kind.given_by
    }
    return {name: ledger.given for name, ledger in newest.items() if ledger}
