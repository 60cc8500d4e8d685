"""Notes on the sinks of a state: how far each is, and its last error.

A note is a small file beside the log of the window's table. No sink is asked.

How long a run waits for a sink: as long as it gives signs of life.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from muntin.files.paths import AnyPath
from muntin.jobs.published.window_tables import current
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.notes import change_note
from muntin.jobs.state.notes import read_note as read_json
from muntin.sinks.declaration import Declared as Sink
from muntin.sinks.delivery import Misfit, Position
from muntin.sinks.errors import SinkError
from muntin.store.log_check import commit_path

_FOR_EVER = float("inf")


@dataclass(slots=True)
class Patience:
    """The time until which a sink has to give a sign of life. Work of this process does not count."""

    seconds: float
    until: float = field(default=_FOR_EVER, init=False)
    over: bool = field(default=False, init=False)

    def alive(self) -> None:
        """The sink answered, or is spoken to from now on; SinkError if the run has given it up meanwhile."""
        if self.over:
            raise SinkError("given up")
        self.until = time.monotonic() + self.seconds

    def own_work(self) -> None:
        """The sink waits for this process."""
        self.until = _FOR_EVER

    def is_over(self) -> bool:
        """Whether the sink gave no sign of life for too long; then it is given up for good."""
        self.over = self.over or time.monotonic() > self.until
        return self.over


FOLDER = "_sinks"  # readers of Delta pass folders by that begin with a low line


@dataclass(frozen=True, slots=True)
class Note:
    """The note on a sink.

    Attributes:
        position: how far it is.
        tried: how far the first attempt since then would have brought it; None: none was made. The sink may
            have a part of its changes.
        failed: why the last attempt failed; "": it did not.
        at: when that was, ISO text in UTC.
    """

    position: Position | None = None
    tried: Position | None = None
    failed: str = ""
    at: str = ""


def read_note(bound: Bound, sink: Sink) -> Note:
    """The note of a sink; empty where it is missing or damaged: then all windows are sent."""
    return _note(read_json(_path(bound, sink)))


def _note(content: Any) -> Note:  # noqa: ANN401 - JSON
    try:
        position, tried = (
            Position.of_json(json.dumps(content[name])) if content[name] else None
            for name in ("position", "tried")
        )
        return Note(position, tried, str(content["failed"]), str(content["at"]))
    except (ValueError, KeyError, TypeError):
        return Note()


def write_note(bound: Bound, sink: Sink, note: Note, since: Position | None = None) -> None:
    """Note how far a sink is. Where another run has noted something since, the position that is further
    stays, as does what it tried.

    Without a position in `note`, the noted position stays, and the noted attempt unless there is another.
    `since`: the position that was noted when the sink was spoken to.
    """

    def noted(content: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        note_before = _note(content)
        before = note_before.position
        rival = (
            before is not None
            and before != since
            and note.position is not None
            and before.table == note.position.table
            and note.position.version < before.version
        )
        stays = note.position is None or rival
        positions = {
            "position": before if stays else note.position,
            "tried": note.tried or (note_before.tried if stays else None),
        }
        return {
            "sink": sink.name,
            "window": sink.window,
            **{name: json.loads(each.to_json()) if each else None for name, each in positions.items()},
            "failed": note.failed,
            "at": note.at,
        }

    change_note(_path(bound, sink), noted)


def note_position(bound: Bound, sink: Sink, before: Note, position: Position | None) -> None:
    """Note how far a sink is, if anything changed. `before`: what was noted when the sink was spoken to."""
    if before.failed or before.tried or before.position != position:
        write_note(bound, sink, Note(position, at=utc_now().isoformat()), before.position)


def mark_of(table: AnyPath, version: int) -> str:
    """A name of the commit that made a version; "" where the log does not hold it any more."""
    try:
        return sha256(commit_path(table, version).read_bytes()).hexdigest()[:16]
    except FileNotFoundError:
        return ""


def _path(bound: Bound, sink: Sink) -> AnyPath:
    window: Any = sink.window
    digest = sha256(sink.name.encode()).hexdigest()[:12]
    return bound.table(current(bound.store, window).table) / FOLDER / f"{digest}.json"


@dataclass(frozen=True, slots=True)
class SinkStanding:
    """A sink.

    Attributes:
        sink, window: its name, and the window that goes there.
        version: of the window's table, which it has; None: it has nothing.
        behind: how many versions of the table it lacks.
        at: the last attempt that changed anything or failed; None: there was none.
        failed: why that attempt failed; "": it did not.
        misfits: windows that the sink does not have as they are published, since their values do not fit.
    """

    sink: str
    window: str
    version: int | None
    behind: int
    at: datetime | None
    failed: str
    misfits: tuple[Misfit, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def standings(bound: Bound) -> list[SinkStanding]:
    """The sinks of a definition, in its order."""
    standing_of_sinks = []
    for sink in bound.sinks:
        window = str(sink.window)
        note, version = read_note(bound, sink), current(bound.store, window).snapshot.version
        has = note.position.version if note.position else None
        behind = max(version - (-1 if has is None else has), 0)
        at = datetime.fromisoformat(note.at) if note.at else None
        misfits = note.position.misfits if note.position else ()
        standing_of_sinks.append(SinkStanding(sink.name, window, has, behind, at, note.failed, misfits))
    return standing_of_sinks
