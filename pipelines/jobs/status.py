"""Status: what a state holds, told from its tables alone, and more of it where the definition is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable

from pipelines.definition.frame_sets import frame_set_of
from pipelines.definition.instants import from_us
from pipelines.errors import StateError
from pipelines.jobs.finalize import published, to_do
from pipelines.jobs.reports import TABLE
from pipelines.store.delta import DeltaStore
from pipelines.store.paths import parse_states_path, version_of
from pipelines.store.state import NOTE, state_folder
from pipelines.timeline.closing import NEVER, closing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.definition.pipeline import Pipeline
    from pipelines.jobs.finalize import Todo
    from pipelines.store.store import Store

_INSTANT = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class WindowStatus:
    """One window of a pipeline, as published.

    Attributes:
        window: its name.
        first, last, batches: starts of the first and last batch that windows were made of, and how many there are.
        windows: how many are published.
        published_to: the latest end of a published window.
        watermark: how far time is known after the last batch.
        open_since: the earliest start of a window that is open still, as far as the tables alone tell.
        rows_late, windows_missed: rows too late for at least one window; windows missed, summed over rows.
        unpublished: batches read or read again since: their windows wait for a finalize, or for missing intervals.
    """

    window: str
    first: datetime | None
    last: datetime | None
    batches: int
    windows: int
    published_to: datetime | None
    watermark: datetime | None
    open_since: datetime | None
    rows_late: int
    windows_missed: int
    unpublished: int


@dataclass(frozen=True, slots=True)
class StagedFolder:
    """Windows that were staged and never published: a failed suite's, or a killed run's."""

    folder: str
    written_at: datetime
    bytes: int


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """The state of a pipeline under one fingerprint.

    `waiting` (starts of batches beyond a hole) and `missing` are None where the definition is not known.
    """

    pipeline: str
    fingerprint: str
    batches: int
    rows_quarantined: int
    windows: tuple[WindowStatus, ...]
    waiting: tuple[datetime, ...] | None
    missing: tuple[tuple[datetime, datetime], ...] | None
    staged: tuple[StagedFolder, ...]
    last_run: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """As plain dicts; instants are datetimes."""
        return asdict(self)


def state_folders(root: str | Path) -> list[Path]:
    """Every state below a root: `<root>/<pipeline>/<fingerprint>`.

    Raises:
        StateError: there is no such root.
    """
    if not Path(root).is_dir():
        raise StateError(f"there is no folder {root}; give the root that runs wrote to, as --root state")
    homes = sorted(note.parent for note in Path(root).glob(f"*/{NOTE}"))
    return [folder for home in homes for folder in sorted(home.iterdir()) if folder.is_dir()]


def existing_folder(pipeline: Pipeline, root: str | Path) -> Path:
    """The state of a pipeline under its present definition.

    Raises:
        StateError: nothing was ever run under it.
    """
    folder = Path(state_folder(pipeline, root))
    if folder.is_dir():
        return folder
    others = [each.name for each in folder.parent.iterdir() if each.is_dir()] if folder.parent.is_dir() else []
    text = f"there is no state of {pipeline.name!r} under this definition at {folder}"
    known = f"; under other definitions there is {', '.join(sorted(others))}" if others else ""
    raise StateError(f"{text}{known}; run it first, or give the root that runs wrote to")


def states_below(root: str | Path) -> list[PipelineStatus]:
    """The status of every state below a root, told without definitions."""
    return [_told(folder, {}) for folder in state_folders(root)]


def status(pipeline: Pipeline, *, root: str | Path) -> PipelineStatus:
    """The status of a pipeline under its present definition.

    Raises:
        StateError: there is no state of it, or it cannot be used.
    """
    folder = existing_folder(pipeline, root)
    todo = {one.window: one for one in to_do(pipeline, DeltaStore(str(folder)), [])}
    told = _told(folder, {name: _open_since(pipeline, str(folder), one) for name, one in todo.items()})
    waiting = sorted({batch.interval.start_us for one in todo.values() for batch in one.history.waiting})
    holes = sorted({(hole.start_us, hole.end_us) for one in todo.values() for hole in one.history.missing})
    facts = {name: getattr(told, name) for name in told.__slots__}
    facts["waiting"] = tuple(map(from_us, waiting))
    facts["missing"] = tuple((from_us(a), from_us(b)) for a, b in holes)
    return PipelineStatus(**facts)


def _told(folder: Path, opened: dict[str, int | None]) -> PipelineStatus:
    """What the tables tell; `opened`: window -> the earliest start of an open one, where it is known better."""
    store = DeltaStore(str(folder))
    versions = _versions(store, folder)
    names = [*opened] or sorted(table.name for table in folder.glob("windows/*") if (table / "_delta_log").is_dir())
    return PipelineStatus(
        folder.parent.name,
        folder.name,
        len(versions),
        sum(file.rows for file in store.snapshot("quarantine").files),
        tuple(_window(store, name, versions, opened) for name in names),
        None,
        None,
        tuple(_staged(folder)),
        _last_run(store),
    )


def _versions(store: Store, folder: Path) -> dict[int, set[str]]:
    """Start of a batch -> the versions of its states, one a frame set."""
    found: dict[int, set[str]] = {}
    for table in sorted(folder.glob("frames/*")):
        paths: dict[int, list[str]] = {}
        for file in store.snapshot(f"frames/{table.name}").files:
            paths.setdefault(parse_states_path(file.path).batch_us, []).append(file.path)
        for start, batch in paths.items():
            found.setdefault(start, set()).add(version_of(batch))
    return found


def _window(store: Store, name: str, versions: dict[int, set[str]], opened: dict[str, int | None]) -> WindowStatus:
    was = published(store, name)
    entries = was.ledger.entries if was.ledger else ()
    known = {entry.start_us: entry.version for entry in entries}
    last = entries[-1] if entries else None
    mark = last.mark_us if last and last.mark_us > NEVER // 2 else None
    since = opened.get(name, last.open_us if last else None)
    return WindowStatus(
        name,
        _moment(entries[0].start_us) if entries else None,
        _moment(last.start_us) if last else None,
        len(entries),
        sum(entry.windows for entry in entries),
        _latest_end(store, name),
        _moment(mark),
        _moment(since),
        sum(entry.late for entry in entries),
        sum(entry.missed for entry in entries),
        sum(known.get(start) not in found for start, found in versions.items()),
    )


def _moment(us: int | None) -> datetime | None:
    return None if us is None else from_us(us)


def _latest_end(store: Store, name: str) -> datetime | None:
    """From the statistics in the log; no file is opened."""
    if store.snapshot(f"windows/{name}").version < 0:
        return None
    rows = pa.table(DeltaTable(f"{store.root}/windows/{name}").get_add_actions(flatten=True)).to_pylist()
    ends = [row["max.window_end"].astimezone(UTC) for row in rows if row.get("max.window_end")]
    return max(ends, default=None)


def _open_since(pipeline: Pipeline, root: str, todo: Todo) -> int | None:
    """The earliest start of an open window; for windows on a grid, by the first frame that one of them holds."""
    window, ledger = pipeline.windows[todo.window], todo.published.ledger
    if not ledger or not ledger.entries:
        return None
    if window.reach_us is None:
        return ledger.entries[-1].open_us
    import numpy as np

    floor = int(closing(window, np.array([entry.mark_us for entry in ledger.entries], np.int64)).floor[-1])
    table = frame_set_of(pipeline, todo.window).table
    paths = [f"{root}/{table}/{file.path}" for file in todo.states.files if file.rows and (file.high_us is None or file.high_us + window.reach_us >= floor)]
    if not paths:
        return None
    bound = pa.scalar(max(floor - window.reach_us, NEVER), pa.int64()).cast(_INSTANT)
    frames = ds.dataset(paths, format="parquet").to_table(columns=["frame"], filter=ds.field("frame") >= bound)["frame"].cast(pa.int64())
    starts = (start for frame in np.unique(frames.to_numpy()).tolist() for start, end in window.windows_for(frame) if end > floor)
    return next(starts, None)


def _staged(folder: Path) -> Iterator[StagedFolder]:
    for staged in sorted(folder.glob("staging/*")):
        files = [file.stat() for file in staged.rglob("*") if file.is_file()]
        written = max((file.st_mtime for file in files), default=staged.stat().st_mtime)
        yield StagedFolder(f"staging/{staged.name}", datetime.fromtimestamp(written, UTC), sum(file.st_size for file in files))


def _last_run(store: Store) -> datetime | None:
    if store.snapshot(TABLE).version < 0:
        return None
    return max(DeltaTable(f"{store.root}/{TABLE}").to_pyarrow_table(columns=["recorded_at"])["recorded_at"].to_pylist(), default=None)
