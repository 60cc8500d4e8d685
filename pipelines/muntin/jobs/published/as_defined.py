"""Whether published windows follow the definition, or another definition of the same states: then the next
run derives them anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import StateError
from muntin.jobs.published.promotion import superseded
from muntin.jobs.published.window_tables import current, published
from muntin.jobs.state.definition_note import described, differences, read
from muntin.store.state import WINDOWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.jobs.state.bound import Bound


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
