"""What the disk below a root promises: files can be written, of two writers of a version one wins, and its clock is ours."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from muntin.errors import ConflictError
from muntin.files.paths import path_of, remove_folder
from muntin.jobs.doctor.finding import Finding
from muntin.store.delta import DeltaStore
from muntin.store.parquet import write_named
from muntin.store.store import Change, File

if TYPE_CHECKING:
    from datetime import datetime

    from muntin.files.paths import AnyPath

_ROUNDS = 8
_APART_S = 30


def examine_disk(root: AnyPath, now: datetime) -> list[Finding]:
    """What is wrong with the disk below a root, found by writing to a folder of its own, which is removed again."""
    trial = root / f".doctor-{uuid4().hex}"
    try:
        trial.mkdir(parents=True)
    except OSError as wrong:
        return [Finding(str(root), f"nothing can be written ({wrong.strerror})", "give the state a root that can be written")]
    try:
        return [*_clock(trial, now), *_races(trial)]
    finally:
        remove_folder(trial)


def _clock(trial: AnyPath, now: datetime) -> list[Finding]:
    """The time of a file that is written now."""
    path = trial / "now"
    path.write_bytes(b"")
    apart = path.stat().st_mtime - now.timestamp()
    if abs(apart) <= _APART_S:
        return []
    return [Finding(str(trial.parent), f"its clock is {apart:+.0f} s from this machine's", "let both follow a time server")]


def _races(trial: AnyPath) -> list[Finding]:
    """Two writers of the same version, a few times: one must win, and what it wrote must be there."""
    for number in range(_ROUNDS):
        with ThreadPoolExecutor(2) as both:
            won = sum(both.map(lambda writer, number=number: _wins(trial, number, writer), range(2)))
        there = len(DeltaStore(str(trial)).snapshot(f"race{number}").files)
        if (won, there) != (1, 1):
            problem = f"of two writers of one version {won} won, and {there} of their files are there"
            return [Finding(str(trial.parent), problem, "use a disk on which creating a file is atomic; some network file systems are not")]
    return []


def _wins(trial: AnyPath, number: int, writer: int) -> bool:
    store, table = DeltaStore(str(trial)), f"race{number}"
    written = write_named(pa.table({"writer": [writer]}), str(trial / table), lambda digest: f"{writer}_{digest}.parquet")
    base = store.snapshot("none")
    try:
        store.commit(table, base, Change(pa.schema([("writer", pa.int64())]), [File(written["path"], written["size"], 1)], [], ["race"]))
    except ConflictError:
        return False
    return path_of(trial, table, written["path"]).exists()
