"""Whether published windows follow the definition, or another definition of the same states: then the next
run derives them anew.

Tables of spans as windows were published by them: readers need no table of a user's, which may be gone or
changed since.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from muntin.definition.rollups import given_windows
from muntin.errors import ConflictError, StateError
from muntin.jobs.published.pending import Pending
from muntin.jobs.published.promotion import superseded
from muntin.jobs.published.window_tables import commit_segment, current, newest_segment, published
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.definition_note import described, differences, read
from muntin.jobs.state.given_spans import as_published, keep
from muntin.store.state import WINDOWS
from muntin.timeline.ledger import no_entries


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


def other_windows(bound: Bound, windows: Iterable[str] | None = None) -> list[str]:
    """The windows, of some or of all, whose published table follows another definition of the same states."""
    ledgers = {
        name: published(bound.store, name).ledger for name in (bound.windows if windows is None else windows)
    }
    return [
        name for name, ledger in ledgers.items() if ledger and ledger.definition != bound.derivation(name)
    ]


def difference(bound: Bound) -> str:
    """How the definition differs from that of the last run, for people; "" where that is not known."""
    noted = read(bound.folder)
    changes = differences(noted, described(bound.pipeline)) if noted else []
    return f" ({'; '.join(changes)})" if changes else ""


def check_as_defined(bound: Bound, window: str) -> None:
    """Refuse to give windows of another definition under the names of this definition, or none, where their
    table waits for its name.
    """
    if window in superseded(bound):
        raise StateError(
            f"{bound.pipeline.name}: this definition of {window!r} is superseded;"
            f" {bound.home / WINDOWS / window} holds windows of a newer one: read by the newer definition, or"
            f" go back: muntin promote FILE --root {bound.root}"
        )
    before = bound.pipeline.renamed_tables.get(window)
    if before and (bound.home / WINDOWS / before).is_dir() and not (bound.home / WINDOWS / window).exists():
        raise StateError(
            f"{bound.pipeline.name}: the table of {window!r} is still named {before!r}. "
            f"Give it its name: muntin promote FILE --root {bound.root}; the next run does so, too"
        )
    if other_windows(bound, [window]):
        raise StateError(
            f"{bound.pipeline.name}: the published windows of {window!r} follow another definition than"
            f" this{difference(bound)}. Derive them anew from states: muntin promote FILE --root"
            f" {bound.root}; the next run does so, too. Or read them by the definition that they were"
            " published by"
        )


def check_live(bound: Bound, window: str) -> None:
    """Refuse to give live windows of another state under the names of this definition."""
    live = current(bound.store, window).ledger
    if live and live.state != bound.state:
        raise StateError(
            f"{bound.pipeline.name}: readers know windows of {window!r} by another definition. Put those of"
            f" this in their place: muntin promote FILE --root {bound.root}; or ask by the other definition"
        )
