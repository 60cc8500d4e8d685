"""Deliveries: the changes for a sink, and the interface of a sink."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from muntin.sinks.errors import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from muntin.files.connections import Connection

_KEY = 200


@dataclass(frozen=True, slots=True)
class Misfit:
    """A window whose values do not fit a sink.

    Attributes:
        key: the columns that tell the window from others, as JSON; shortened, with a digest, where they are
            long.
        column: the column whose value does not fit.
        why: what the sink said.
        replaced: whether the window arrived with another value in that column; else the sink does not have
            the window.
    """

    key: str
    column: str
    why: str
    replaced: bool = False

    @property
    def line(self) -> str:
        column = f" column {self.column}:" if self.column else ""
        return f"{self.key}{', arrived with another value' if self.replaced else ''}:{column} {self.why}"


@dataclass(frozen=True, slots=True)
class Position:
    """How far a sink is.

    Attributes:
        table: the identity of the window's table: another one if the table is made again.
        version: of the table.
        mark: a name of the commit that made the version: another one if the state was put back and went on
            otherwise. "": not known.
        target: what tells the target from another one of the same name, in the words of the sink. "": not
            known.
        misfits: windows that the target does not have as they are published.
        lost: why the target does not hold any more what it held at this position; "": it does.
    """

    table: str
    version: int
    mark: str = ""
    target: str = ""
    misfits: tuple[Misfit, ...] = ()
    lost: str = field(default="", compare=False)

    def to_json(self) -> str:
        """The position as text, without `lost`."""
        misfits = [[one.key, one.column, one.why, one.replaced] for one in self.misfits]
        return json.dumps([self.table, self.version, self.mark, self.target, misfits])

    @staticmethod
    def of_json(text: str) -> Position:
        """The position that `to_json` made a text of.

        Raises:
            ValueError, TypeError: it is none.
        """
        table, version, mark, target, misfits = json.loads(text)
        return Position(
            str(table), int(version), str(mark), str(target), tuple(Misfit(*one) for one in misfits)
        )


@dataclass(frozen=True, slots=True)
class Delivery:
    """Changes of one window.

    Attributes:
        pipeline, window: their names.
        rows: the changes: identity columns, bounds, results, revision (int64), change ("new", "changed",
            "gone").
        identity: the columns that tell one window from another.
        since: where the sink was; None: nowhere.
        until: where it is afterwards.
        whole: whether the rows are all windows of the table, so that the sink drops other rows.
        anew: whether the user asked for it, and rows of unknown origin are dropped too.
        latest: whether the sink keeps one row for each key, and `identity` is the keys: an older window never
            takes a newer one's place.
        may_alter: whether the sink may give columns of its target the types of these rows, which are whole
            then.
    """

    pipeline: str
    window: str
    rows: pa.Table
    identity: tuple[str, ...]
    since: Position | None
    until: Position
    whole: bool = False
    anew: bool = False
    may_alter: bool = False
    latest: bool = False

    def key(self, row: Mapping[str, Any]) -> str:
        """The name of a window in `Misfit`s."""
        text = as_json({name: row[name] for name in self.identity})
        return text if len(text) <= _KEY else f"{text[:_KEY]}... ({sha256(text.encode()).hexdigest()[:12]})"

    def gone_and_there(self) -> tuple[pa.Table, pa.Table]:
        """The rows of windows that are gone, which go first, and the other rows."""
        import pyarrow.compute as pc

        gone = pc.equal(self.rows["change"], "gone")
        return self.rows.filter(gone), self.rows.filter(pc.invert(gone))

    def known_misfits(self) -> tuple[Misfit, ...]:
        """The misfits before these changes."""
        return () if self.whole or self.since is None else self.since.misfits

    def reached(self, target: str, misfits: Sequence[Misfit] = ()) -> Position:
        """The position after these changes, with the misfits that stay and the new ones."""
        known_misfits = self.known_misfits()
        again = (
            {self.key(row) for row in self.rows.select(list(self.identity)).to_pylist()}
            if known_misfits
            else set()
        )
        return replace(
            self.until,
            target=target,
            misfits=(*(one for one in known_misfits if one.key not in again), *misfits),
        )


def sliced(rows: pa.Table, size: int) -> Iterator[pa.Table]:
    """Rows, `size` of them at most at a time."""
    return (rows.slice(first, size) for first in range(0, len(rows), size))


@dataclass(frozen=True, slots=True)
class Reach:
    """How this process reaches sinks.

    Attributes:
        connection: name of a connection -> its facts.
        session: opens a session of Spark; None: there is none here.
    """

    connection: Callable[[str], Connection]
    session: Callable[[], AbstractContextManager[Any]] | None = None


class Opened(Protocol):
    """A sink that is reached."""

    def position(self, noted: Position | None) -> Position | None:
        """How far it is, and whether the target is still the one that was filled: see `Position.lost`.

        Args:
            noted: what the state has noted, for a sink that keeps no note itself.

        Raises:
            SinkError: it does not answer.
        """

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> Position:
        """Send changes; where the sink is then. `alive` is called whenever some of them are through.

        Raises:
            SinkError: it does not answer; a `BlockedError`: it refused them.
            MovedError: another run came first.
            AllNeededError: these changes do not do, all windows have to be sent.
        """
