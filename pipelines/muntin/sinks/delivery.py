"""Deliveries: the changes for a sink, and the interface of a sink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from muntin.files.connections import Connection


@dataclass(frozen=True, slots=True)
class Position:
    """How far a sink is.

    Attributes:
        table: the identity of the window's table: another one if the table is made again.
        version: of the table.
        mark: a name of the commit that made the version: another one if the state was put back and went on otherwise. "": not known.
    """

    table: str
    version: int
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Changes of one window.

    Attributes:
        pipeline, window: their names.
        rows: the changes: identity columns, bounds, results, revision (int64), change ("new", "changed", "gone").
        identity: the columns that tell one window from another.
        since: where the sink was; None: nowhere.
        until: where it is afterwards.
        whole: whether the rows are all windows of the table, so that the sink drops other rows.
        anew: whether the user asked for it, and rows of unknown origin are dropped too.
    """

    pipeline: str
    window: str
    rows: pa.Table
    identity: tuple[str, ...]
    since: Position | None
    until: Position
    whole: bool = False
    anew: bool = False


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
        """How far it is. `noted`: what the state has noted, for a sink that keeps no note itself.

        Raises:
            SinkError: it does not answer.
        """
        ...

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> None:
        """Send changes. `alive` is called whenever some of them are through.

        Raises:
            SinkError: it refused them.
            MovedError: another run came first.
        """
        ...
