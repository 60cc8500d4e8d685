"""A store that stops the world before or after one of its verbs."""

from collections.abc import Mapping
from typing import Any

from muntin.store.delta import DeltaStore
from muntin.store.store import Change, Snapshot, Texts


class Crash(BaseException):
    """The process is gone: nobody catches it who catches an `Exception`."""


class Crashing:
    """Counts verbs; the one with number `at` does not begin, or is done but nobody hears of it."""

    def __init__(self, store: DeltaStore, at: int = -1, *, after: bool = False) -> None:
        self.root, self.store, self.at, self.after = store.root, store, at, after
        self.said: list[str] = []

    def _do(self, verb: str, *given: Any) -> Any:
        here = len(self.said) == self.at
        self.said.append(f"{verb} {given[0] if isinstance(given[0], str) else given[1]}")
        if here and not self.after:
            raise Crash(self.said[-1])
        done = getattr(self.store, verb)(*given)
        if here:
            raise Crash(self.said[-1])
        return done

    def snapshot(self, table: str) -> Snapshot:
        return self._do("snapshot", table)

    def commit(self, table: str, base: Snapshot, change: Change) -> None:
        self._do("commit", table, base, change)

    def describe(self, table: str, base: Snapshot, texts: Texts) -> None:
        self._do("describe", table, base, texts)

    def promote(self, staged: Mapping[str, str], table: str) -> None:
        self._do("promote", staged, table)

    def discard(self, folder: str) -> None:
        self._do("discard", folder)
