"""Stand-ins for what reads and computes rows: a lift without DuckDB, windows without kernels. The jobs decide what is read, and when."""

import base64
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from functools import cache, lru_cache
from typing import Any

import numpy as np

from muntin.definition.instants import AFTER_ALL
from muntin.definition.kinds import Carried
from muntin.errors import ExpectationsError
from muntin.jobs.accumulate.read_batches import Read
from muntin.jobs.finalize.shard import Shard
from muntin.jobs.inputs.listings.listing import Inputs
from muntin.jobs.published.staged_windows import Staged
from muntin.jobs.records.reports import Counts
from muntin.jobs.records.verdicts import record_verdicts
from muntin.jobs.state.bound import Bound
from muntin.sources.listing import SourceFile
from muntin.store.disk import write_whole
from muntin.store.paths import NOTES, QUARANTINE, StatesPath, digest_of, version_of, windows_path
from muntin.store.store import File
from muntin.timeline.closing import closing
from tests.simulation import contents
from tests.simulation.actors import pause
from tests.simulation.definitions import MINUTE_US, START_US, rule, salt
from tests.simulation.disk import at_hand
from tests.simulation.place import Place
from tests.simulation.rows import BAD, Row, Window, chained, good, handed_on, is_poisoned, sliding
from tests.simulation.source import rows_of_source


def read_batches(bound: Bound, _spark: Any, given: Inputs, schemas: Mapping[str, Any]) -> Read:
    """The rows of each file as states: readable rows to each set of frames, the others to the quarantine."""
    done = Read({interval.start_us: [] for interval in given.files})
    for interval, files in given.files.items():
        rows = [row for file in files for row in rows_of_source(file.path)]
        for table in schemas:
            done.files[table].append(_written(f"{bound.folder}/{table}", interval.start_us, good(rows)))
        if bad := [row for row in rows if row[1] == BAD]:
            done.files[QUARANTINE].append(_written(f"{bound.folder}/{QUARANTINE}", interval.start_us, bad))
        counts = {
            "counts": astuple(Counts(len(rows), len(good(rows)), len(bad))),
            "newest": None,
            "split": 0,
            "files": [],
        }
        done.splits[interval.start_us].append(counts)
        pause()
    return done


def _written(folder: str, batch_us: int, rows: Sequence[Row]) -> File:
    content, path, version = _file(batch_us, tuple(rows))
    at_hand.contents[batch_us, version] = list(rows)
    return _put(content, len(rows), folder, path)


@lru_cache(maxsize=4096)
def _file(batch_us: int, rows: tuple[Row, ...]) -> tuple[bytes, str, int]:
    """The content of a file of states, its path, and the version of a batch that has no other."""
    frames, content = [START_US + event * MINUTE_US for event, _ in rows], contents.states(batch_us, rows)
    bounds = (max(frames), min(frames), max(frames)) if frames else (None, None, None)
    path = StatesPath(batch_us, 0, *bounds).named(digest_of(content))
    return content, path, int(version_of([path]), 16)


def _put(content: bytes, rows: int, folder: str, path: str) -> File:
    """As `write_named`, without a table."""
    there = at_hand.disk.files.get(f"{folder}/{path}")
    if there and there.content == content:
        at_hand.disk.touch(f"{folder}/{path}")
    else:
        write_whole(Place(folder, path), content)  # type: ignore[arg-type]
    return File(path, len(content), rows)


def source_files(_source: Any, intervals: Sequence[Any]) -> tuple[dict[Any, list[SourceFile]], dict[Any, int]]:
    paths = {interval: f"/simulated/source/{(interval.start_us - START_US) // MINUTE_US}" for interval in intervals}
    files = {interval: [SourceFile(path, 1, 0)] if path in at_hand.disk.files else [] for interval, path in paths.items()}
    return files, dict.fromkeys(paths, 0)


def results(_spark: Any, tasks: list[list[Shard]]) -> Mapping[str, list[dict[str, Any]]]:
    """Window -> the results of its shards."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for shard in (shard for task in tasks for shard in task):
        found[shard.window].append(_result(shard))
        pause()
    return found


@cache
def _schema() -> str:
    return base64.b64encode(contents.WINDOWS.serialize()).decode()


def _result(shard: Shard) -> dict[str, Any]:
    carried = isinstance(shard.bound.windows[shard.window].follows, Carried)
    states = _states(shard)
    windows, notes = _carried(shard, states) if carried else (_sliding(shard, states), {})
    counts = np.bincount(np.array([window[4] for window in windows], np.int64), minlength=len(shard.watermarks_us) + 1)
    zeros = [0] * len(shard.wanted)
    starts = (shard.starts - START_US) // MINUTE_US
    rows = [(*window[:4], int(starts[window[4]])) for window in windows]
    return {
        "window": shard.window,
        "schema": _schema(),
        "files": [_staged(shard, rows)] if rows else [],
        "notes": notes,
        "tallies": {
            "windows": counts[shard.wanted].tolist(),
            "late": zeros,
            "missed": zeros,
            "late_any": zeros,
            "correcting": zeros,
            "hidden": zeros,
            "open": [AFTER_ALL] * len(zeros) if carried else None,
        },
    }


def _states(shard: Shard) -> list[tuple[int, int, int]]:
    """(position of the batch, minute of the event, amount) of the states that the work admits, in order."""
    folder, found = f"{shard.bound.folder}/{shard.bound.frames_of(shard.window).table}", []
    position = {start: at for at, start in enumerate(shard.starts[:-1].tolist())}
    for path in shard.files:
        content = at_hand.disk.read(f"{folder}/{path}")
        found += [(position[batch], frame, amount) for batch, frame, amount in contents.rows_of_states(content) if batch in position]
    admitted = [
        (at, (frame - START_US) // MINUTE_US, amount)
        for at, frame, amount in found
        if at <= shard.last and frame < shard.high_us and (frame >= shard.low_us or at >= shard.since)
    ]
    return sorted(admitted, key=lambda state: state[0])


def _sliding(shard: Shard, states: Sequence[tuple[int, int, int]]) -> list[Window]:
    """The windows that the wanted batches close; the last value is the position of the batch."""
    found, window = list[Window](), shard.bound.windows[shard.window]
    when, how = closing(window, shard.watermarks_us), rule(shard.window, "plain")
    for at in shard.wanted.tolist():
        low, last = (int((us - START_US) // MINUTE_US) for us in (when.floor[at], when.floor[at + 1]))
        counting = [state for state in states if state[0] <= at or when.lateness_us]
        for end in range(max(low, min([event for _, event, _ in counting], default=last)) + 1, last + 1):
            known = [state[1:] for state in counting if state[0] <= at or START_US + end * MINUTE_US > when.final[state[0]]]
            found += [(*each, at) for each in sliding(how, known, end)]
    return found


def _carried(shard: Shard, states: Sequence[tuple[int, int, int]]) -> tuple[list[Window], dict[str, str]]:
    """Windows, and the notes after some batches: a number that is handed on."""
    before = handed_on(salt(shard.bound, shard.window))
    for path in shard.note:
        before = contents.noted(f"{shard.bound.folder}/{NOTES}/{path}")
    wanted, windows, notes = set(shard.wanted.tolist()), list[Window](), {}
    for at in range(shard.since, len(shard.watermarks_us)):
        rows = [(event, amount) for place, event, amount in states if place == at]
        value, minute = chained(before, rows), int((shard.starts[at] - START_US) // MINUTE_US)
        before = handed_on(value)
        if rows and at in wanted:
            windows.append((minute, minute + 1, len(rows), value, at))
        if at in shard.notes_after:
            notes[str(at)] = _noted(shard, int(shard.starts[at]), before)
    return windows, notes


def _noted(shard: Shard, start_us: int, before: int) -> str:
    folder = f"{shard.bound.folder}/{NOTES}/{shard.window}"
    content = contents.note(before)
    return f"{shard.window}/{_put(content, 1, folder, windows_path(start_us, start_us, shard.number, digest_of(content))).path}"


def _staged(shard: Shard, rows: Sequence[Window]) -> dict[str, Any]:
    first, last = int(shard.starts[shard.wanted[0]]), int(shard.starts[shard.wanted[-1]])
    folder = f"{shard.bound.folder}/{shard.staging}/{shard.window}"
    content = contents.windows(rows)
    file = _put(content, len(rows), folder, windows_path(first, last, shard.number, digest_of(content)))
    return {"path": file.path, "size": file.size, "rows": file.rows, "first": first, "last": last}


def validate_staged(bound: Bound, _spark: Any, staged: Staged, _approval: None = None) -> list[dict[str, Any]]:
    """The verdict of a suite that refuses poison, written down by the jobs' own code."""
    reports = {}
    for window in staged.windows:
        if window.window in bound.pipeline.expectations:
            paths = [f"{bound.folder}/{staged.folder}/{window.window}/{file['path']}" for file in window.files]
            rows = [row for path in paths for row in contents.rows_of_windows(at_hand.disk.read(path))]
            reports[window.window] = {"status": "failed" if any(map(is_poisoned, rows)) else "passed"}
        pause()
    record_verdicts(bound, staged, reports)
    if {"status": "failed"} in reports.values():
        raise ExpectationsError("a window is poisoned; nothing was published")
    return []
