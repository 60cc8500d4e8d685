"""A store whose verbs are turns of actors."""

from collections.abc import Mapping

from muntin.store.store import Change, Snapshot, Store, Texts
from tests.simulation.actors import act


class Watched:
    """See `Store`: another store, at each of whose verbs other actors may come first, and a fault may strike."""

    def __init__(self, store: Store) -> None:
        self.store, self.root = store, store.root

    def snapshot(self, table: str) -> Snapshot:
        return act("snapshot", lambda: self.store.snapshot(table))

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        act("commit", lambda: self.store.commit(table, base, change))

    def describe(self, table: str, base: Snapshot, texts: Texts) -> None:
        act("describe", lambda: self.store.describe(table, base, texts))

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        act("promote", lambda: self.store.promote(staged, table))

    def discard(self, folder: str) -> None:
        act("discard", lambda: self.store.discard(folder))
