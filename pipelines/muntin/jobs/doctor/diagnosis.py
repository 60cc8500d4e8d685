"""The diagnosis: all findings about a state, each with the command that mends it.

What the disk below a root promises: files can be written, of two writers of a version one wins, and its clock
is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from uuid import uuid4

import pyarrow as pa

from muntin.definition.instants import instant_us, label, spell_instant
from muntin.definition.pipeline import Pipeline
from muntin.definition.spelling import many
from muntin.definition.time_limits import PUBLISH_DESPITE
from muntin.errors import ConflictError, StateError
from muntin.files.paths import AnyPath, path_of, remove_folder
from muntin.jobs.doctor.examine import damaged_logs, examine
from muntin.jobs.doctor.finding import Damage, Finding, without
from muntin.jobs.doctor.set_aside import unmarked
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.batch_states import CORRECT, NEED_A_PERSON, spelled, stretches
from muntin.jobs.records.batch_status import batch_states
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.schema_check.same_versions import differing, versions
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.forgotten import forgotten, hashed
from muntin.jobs.state.forgotten_log import lost_copies
from muntin.jobs.state.needed_packages import missing_packages
from muntin.jobs.state.state_folders import bind_existing, stagings
from muntin.store.delta import DeltaStore
from muntin.store.parquet import write_named
from muntin.store.state import FORGOTTEN, OWNER_FILE, problem_of_mark
from muntin.store.store import Change, File
from muntin.tasks import Runner

_ROUNDS = 8
_APART_S = 30
_REPAIR = "muntin doctor --mend FILE"


def diagnose(
    pipeline: Pipeline, *, root: str | AnyPath, deep: bool = False, now: datetime | None = None
) -> list[Finding]:
    """Everything that is wrong with the state of a pipeline, and with the disk below it. Nothing is changed.

    Args:
        pipeline: the definition.
        root: the folder above the states.
        deep: whether every file is read and compared with its digest.
        now: the present; None: the clock tells.

    Raises:
        StateError: there is no state.
    """
    if home := unmarked(pipeline, root):
        return [Finding(str(home / OWNER_FILE), problem_of_mark(home) or "", f"{_REPAIR}: writes it anew")]
    bound = bind_existing(pipeline, root)
    packages = [
        Finding(pipeline.name, f"{part}, which is not installed", mend)
        for part, mend in missing_packages(pipeline).items()
    ]
    diagnosis = [*packages, *examine_disk(path_of(root), now or utc_now()), *_of_memory(bound)]
    logs = [
        Finding(str(path), problem, f"{_REPAIR}: derives again what the table lost with it")
        for problems in damaged_logs(bound).values()
        for path, problem in problems.items()
    ]
    if logs:
        return [*diagnosis, *logs]
    damage = examine(bound, deep=deep)
    sound = without(bound, damage.bad)
    of_sinks = [each for sink in sound.sinks for each in sink.examine(sound, deep=deep)]
    return [*diagnosis, *_of_state(sound, damage), *of_sinks, *_of_batches(sound, now or utc_now())]


def _of_memory(bound: Bound) -> Iterator[Finding]:
    """The damage of what is remembered of forgotten keys, and keys of which something may be left."""
    try:
        left, _ = len(forgotten(bound.home).open), hashed(bound)
    except StateError as wrong:
        yield Finding(
            str(bound.home / FORGOTTEN), f"{wrong}", "put it back from a backup: nothing else knows the keys"
        )
        return
    if lost := lost_copies(bound.home, deep=True):
        path, whole = next(iter(lost.items()))
        problem = (
            f"the memory of forgotten keys lacks {many(len(lost), 'file')} here, or they are damaged; whole"
            f" is {whole}"
        )
        yield Finding(str(path), problem, f"{_REPAIR}: puts them back")
    if left:
        yield Finding(
            str(bound.home),
            f"something may be left of {many(left, 'key')} to be forgotten",
            "muntin forget FILE with these keys",
        )


def _of_batches(bound: Bound, now: datetime) -> Iterator[Finding]:
    """The batches that a suite holds back, the batches whose run failed, and the batches that a person
    published despite a failed suite.
    """
    states, intervals = batch_states(bound, instant_us(now, "now")), bound.pipeline.intervals
    for each in stretches(states.of(*NEED_A_PERSON)):
        checks = "".join(f"; {check}" for check in each.one.checks)
        start, end = (spell_instant(us) for us in (each.start_us, each.end_us))
        first = CORRECT if each.one.state == "held" else "mend that"
        begin, last = each.rows_of
        mend = f"{first}; then muntin run FILE {intervals.options(begin, intervals.after(last))}"
        mend += (
            f"; or publish it all the same: {PUBLISH_DESPITE.format(each.one.verdict)}"
            if each.one.verdict
            else ""
        )
        yield Finding(f"{bound.folder}: [{start}, {end})", f"{spelled(each.one)}{checks}", mend)
    for each in stretches(states.despite):
        start, end = (spell_instant(us) for us in (each.start_us, each.end_us))
        mend = f"none needed; to replace it: {CORRECT}; then muntin run FILE with these batches"
        yield Finding(f"{bound.folder}: [{start}, {end})", spelled(each.one), mend)


def _of_state(bound: Bound, damage: Damage) -> Iterator[Finding]:
    """The damage of files and tables. `bound`: without the damaged files."""
    for table, files in damage.bad.items():
        for file, problem in files.items():
            yield Finding(str(bound.table(table) / file.path), problem, f"{_REPAIR}: derives it again")
    for lost in damage.behind:
        yield Finding(str(bound.table(lost.table)), lost.problem, f"{_REPAIR}: reads again what it lost")
    for window, starts in damage.unpublished.items():
        folder = bound.table(published(bound.store, window).table)
        problem = (
            f"has lost commits, or is an older copy: reports say that windows of {many(len(starts), 'batch')}"
            " were published"
        )
        yield Finding(str(folder), problem, f"{_REPAIR}: derives them from states")
    if damage.states:
        batches = f"{many(len(damage.states), 'batch')}, the first of {label(damage.states[0])}"
        yield Finding(
            str(bound.folder),
            f"states are lost or not reported: {batches}",
            f"{_REPAIR}: reads the source of these again",
        )
    for window, starts in damage.windows.items():
        folder = bound.table(published(bound.store, window).table)
        yield Finding(
            str(folder),
            f"windows of {many(len(starts), 'batch')} are lost",
            f"{_REPAIR}: derives them from states",
        )
    for window, notes in damage.notes.items():
        paths = f"{many(len(notes), 'note')} of {window}, {notes[0][0]} first"
        yield Finding(
            f"{bound.folder}/carry",
            f"lost or damaged: {paths}",
            f"none needed: made again from states; {_REPAIR} forgets them",
        )
    if left := stagings(bound.folder):
        problem = f"{many(len(left), 'staged folder')} of runs at work, of failed suites, or of killed runs"
        yield Finding(f"{bound.folder}/staging", problem, "none needed; muntin maintain removes old ones")


def examine_disk(root: AnyPath, now: datetime) -> list[Finding]:
    """Problems of the disk below a root, found by writing to a folder of its own, which is removed again."""
    trial = root / f".doctor-{uuid4().hex}"
    try:
        trial.mkdir(parents=True)
    except OSError as wrong:
        return [
            Finding(
                str(root),
                f"nothing can be written ({wrong.strerror})",
                "give the state a root that can be written",
            )
        ]
    try:
        return [*_clock(trial, now), *_races(trial)]
    except StateError as wrong:
        return [Finding(str(root), str(wrong), "give the state another root")]
    finally:
        remove_folder(trial)


def _clock(trial: AnyPath, now: datetime) -> list[Finding]:
    """The time of a file that is written now."""
    path = trial / "now"
    path.write_bytes(b"")
    apart = path.stat().st_mtime - now.timestamp()
    if abs(apart) <= _APART_S:
        return []
    return [
        Finding(
            str(trial.parent),
            f"its clock is {apart:+.0f} s from this machine's",
            "let both follow a time server",
        )
    ]


def _races(trial: AnyPath) -> list[Finding]:
    """Two writers of the same version, a few times: one must win, and what it wrote must be there."""
    for number in range(_ROUNDS):
        with ThreadPoolExecutor(2) as both:
            won = sum(both.map(lambda writer, number=number: _wins(trial, number, writer), range(2)))
        there = len(DeltaStore(trial).snapshot(f"race{number}").files)
        if (won, there) != (1, 1):
            problem = f"of two writers of one version {won} won, and {there} of their files are there"
            return [
                Finding(
                    str(trial.parent),
                    problem,
                    "use a disk on which creating a file is atomic; some network file systems are not",
                )
            ]
    return []


def _wins(trial: AnyPath, number: int, writer: int) -> bool:
    store, table = DeltaStore(trial), f"race{number}"
    written = write_named(
        pa.table({"writer": [writer]}), trial / table, lambda digest: f"{writer}_{digest}.parquet"
    )
    base = store.snapshot("none")
    try:
        store.commit(
            table,
            base,
            Change(
                pa.schema([("writer", pa.int64())]), [File(written["path"], written["size"], 1)], [], ["race"]
            ),
        )
    except ConflictError:
        return False
    return (trial / table / written["path"]).exists()


def examine_versions(runner: Runner) -> list[Finding]:
    """The packages of which a worker of Spark has another version than this process."""
    [there] = runner.run(versions, [None])
    return [Finding("Spark's workers", each.problem, each.mend) for each in differing(versions(), there)]
