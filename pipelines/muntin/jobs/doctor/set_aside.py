"""Damaged files out of the way: each stays in its folder, under a name that ends with `.damaged`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from muntin.definition.pipeline import Pipeline
from muntin.definition.relative_paths import readable
from muntin.files.paths import AnyPath, path_of, rename
from muntin.jobs.doctor.finding import Bad
from muntin.jobs.published.ledger_segments import is_segment
from muntin.jobs.records.reports_table import TABLE as REPORTS
from muntin.jobs.records.verdicts import TABLE as VERDICTS
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.fingerprint import fingerprint, keeps_even_frames
from muntin.jobs.state.forgotten_log import newest_number
from muntin.store.log_check import HINT, problems_of_log
from muntin.store.paths import TIERS
from muntin.store.state import OWNER_FILE, claim_anew, problem_of_mark
from muntin.store.store import Change

_ASIDE = ".damaged"


def reclaim(pipeline: Pipeline, root: str | AnyPath) -> Sequence[AnyPath]:
    """Mark the folder of a pipeline as its own again, where the mark is gone or damaged and a state of this
    definition lies in it.

    Returns:
        the mark, if it was written anew.

    Raises:
        StateError: the disk refuses.
    """
    home = unmarked(pipeline, root)
    if home is None:
        return ()
    claim_anew(home, pipeline.name, newest_number(home))
    return (home / OWNER_FILE,)


def unmarked(pipeline: Pipeline, root: str | AnyPath) -> AnyPath | None:
    """The folder of a pipeline that has a state of this definition, and no mark that can be read; None: it
    has both, or neither.
    """
    home = path_of(readable(str(root), "root")).absolute() / pipeline.name
    there = (home / fingerprint(pipeline, even=keeps_even_frames(pipeline, home))).is_dir()
    return home if there and problem_of_mark(home) else None


def mended_log(table: AnyPath) -> Sequence[AnyPath]:
    """Set aside of a damaged log its end, or a checkpoint that it can do without, else all of it; returns
    what was moved.
    """
    log, problems = table / "_delta_log", problems_of_log(table)
    # the commits before may be there still
    if extra := [path for path in problems if path.suffix != ".json"]:
        moved = [_set_aside(path) for path in {*extra, log / HINT} if path.exists()]
        return [*moved, *mended_log(table)]
    commits = sorted(path for path in log.iterdir() if path.suffix == ".json" and path.name[0].isdigit())
    tail = commits[len(commits) - len(problems) :]
    if not problems or (tail == sorted(problems) and len(tail) < len(commits)):
        return [_set_aside(path) for path in tail if problems]
    return [_set_aside(log)]


def taken_out(bound: Bound, bad: Bad) -> None:
    """Take bad files out of the way, and files that nothing is derived into out of their tables.

    Reports, verdicts and segments of ledgers are removed from their tables: without them, batches are read
    again and windows derived. A table of tiers, which is a cache, loses all files. Files of states and
    windows leave their tables when what was in them is back.
    """
    for table, files in bad.items():
        now = bound.store.snapshot(table)
        gone = (
            [*now.files]
            if table.startswith(f"{TIERS}/")
            else [file for file in files if table in (REPORTS, VERDICTS) or is_segment(file.path)]
        )
        if gone and now.schema is not None:
            bound.store.commit(
                table,
                now,
                Change(now.schema, [], gone, [f"{bound.pipeline.name}/{table.rpartition('/')[2]}"]),
            )
        for file in files:
            with suppress(FileNotFoundError):
                _set_aside(bound.table(table) / file.path)


def _set_aside(path: AnyPath) -> AnyPath:
    """Give a file or folder the name of something damaged; returns the name that it had."""
    names = (f"{path.name}{_ASIDE}{at or ''}" for at in range(1000))
    rename(path, next(place for name in names if not (place := path.with_name(name)).exists()))
    return path
