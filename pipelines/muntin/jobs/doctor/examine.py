"""Examine a state: logs, files, states against ledgers and reports, notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from muntin.definition.instants import BEFORE_ALL, instant_us
from muntin.files.paths import AnyPath
from muntin.jobs.doctor.finding import Bad, Damage, bad_files, logs_of, without
from muntin.jobs.published.lost_commits import lost_commits
from muntin.jobs.published.pending import accumulated
from muntin.jobs.published.window_tables import published
from muntin.jobs.records.lost_publications import lost_publications
from muntin.jobs.records.reports_table import TABLE, last_accumulated
from muntin.jobs.state.bound import Bound
from muntin.states.frames import Ints
from muntin.store.contents import problem_of
from muntin.store.log_append import committed_ms
from muntin.store.log_check import problems_of_log
from muntin.store.paths import NOTES, QUARANTINE, batches_of_windows, parse_states_path
from muntin.store.store import File
from muntin.store.tier_files import expired_before

_MARGIN_US = 60_000_000  # the clocks of two machines may differ


def damaged_logs(bound: Bound) -> dict[AnyPath, dict[AnyPath, str]]:
    """Table -> the files of its log that are missing or not whole, of all tables of the state and of the live
    tables.
    """
    return {log.parent: problems for log in logs_of(bound) if (problems := problems_of_log(log.parent))}


def examine(bound: Bound, *, deep: bool) -> Damage:
    """Lost or damaged files of a state, once all logs can be read.

    Args:
        bound: the pipeline state.
        deep: whether files are read and compared with the digest in their names; else only whether they are
            there, and how large.
    """
    bad = bad_files(bound, deep=deep)
    whole = without(bound, bad)
    in_files = [file for table in batch_tables(bound) for file in bad.get(table, ())]
    states = _disagreeing(whole) | {start for file in in_files for start in _starts_of(whole, file)}
    windows, notes = dict[str, tuple[int, ...]](), dict[str, tuple[tuple[str, ...], ...]]()
    for name in bound.windows:
        states |= _without_states(whole, name)
        if starts := _of_windows(whole, bad, name):
            windows[name] = tuple(sorted(starts))
        if lost_notes := _of_notes(whole, name, deep=deep):
            notes[name] = lost_notes
    behind = tuple({each.table: each for each in lost_commits(whole, [*bound.windows])}.values())
    states |= gone_back(whole, {bound.table(each.table) for each in behind})
    sound = [name for name in bound.windows if published(whole.store, name).table not in bad]
    unpublished = {name: lost for name in sound if (lost := lost_publications(whole, name))}
    return Damage(tuple(sorted(states)), windows, bad, notes, behind, unpublished)


def batch_tables(bound: Bound) -> tuple[str, ...]:
    """The tables whose files hold batches: states, refused rows, ids."""
    return (*(frames.table for frames in bound.frame_sets), QUARANTINE, *bound.tables_of_ids)


def gone_back(bound: Bound, tables: Collection[AnyPath]) -> set[int]:
    """The batches that tables whose last commits are lost have as they were before these commits.

    States differ from the states that windows were published from; refused rows are more or fewer than was
    reported. Equally many rows may be other rows, and no other table has versions of ids: what was reported
    after the last commit that is left may have been in a lost one.
    """
    batches = set[int]()
    for name in bound.windows:
        frames, ledger = bound.frames_of(name).table, published(bound.store, name).ledger
        if ledger and bound.folder / frames in tables:
            there, entries = accumulated(bound, frames), ledger.entries
            entries = entries.take(there.position(entries.start_us) >= 0)
            other = there.version[there.position(entries.start_us)] != entries.version
            batches |= {*entries.start_us[other].tolist()}
    if bound.folder / QUARANTINE in tables:
        refused_rows = accumulated(bound, QUARANTINE)
        rows = dict(zip(refused_rows.start_us.tolist(), refused_rows.rows.tolist(), strict=True))
        batches |= {
            start
            for start, report in _reported(bound).items()
            if rows.get(start, 0) not in (0, report["rows_quarantined"])
        }
    for table in (table for table in (QUARANTINE, *bound.tables_of_ids) if bound.table(table) in tables):
        since_us = committed_ms(bound.table(table), bound.store.snapshot(table).version) * 1000 - _MARGIN_US
        batches |= {
            start
            for start, report in _reported(bound).items()
            if instant_us(report["recorded_at"], "report") >= since_us
        }
    return batches


def _starts_of(bound: Bound, file: File) -> set[int]:
    """The batches of a file: all batches known between the first and the last of its path.

    Its footer may be lost with it.
    """
    facts = parse_states_path(file.path)
    known_starts = {
        *_reported(bound),
        *(start for name in bound.windows for start in published(bound.store, name).starts.tolist()),
    }
    return {
        facts.first_us,
        facts.last_us,
        *(start for start in known_starts if facts.first_us <= start <= facts.last_us),
    }


def _of_windows(bound: Bound, bad: Bad, name: str) -> set[int]:
    """The starts of the batches that closed windows in the bad files of a table."""
    now, starts = published(bound.store, name), set[int]()
    for file in bad.get(now.table, ()):
        first, last = batches_of_windows(file.path) or (0, -1)
        starts |= {*now.starts[(now.starts >= first) & (now.starts <= last)].tolist()}
    return starts


def _without_states(bound: Bound, name: str) -> set[int]:
    """The batches that windows were published from and that have no states any more."""
    table = bound.frames_of(name).table
    there = accumulated(bound, table).start_us
    return set(_but(published(bound.store, name).starts, there))


def _disagreeing(bound: Bound) -> set[int]:
    """The batches of which reports, states and refused rows do not agree: one of the tables has lost a
    commit.
    """
    reports = _reported(bound)
    read = np.array(sorted(reports), np.int64)
    tables = (*(frames.table for frames in bound.frame_sets), *bound.tables_of_ids)
    held = [accumulated(bound, table).start_us for table in tables]
    refused = np.array([start for start, report in reports.items() if report["rows_quarantined"]], np.int64)
    refused_starts = accumulated(bound, QUARANTINE).start_us
    reported_from = expired_before(bound.store.snapshot(TABLE).files) or BEFORE_ALL
    unreported = [_but(there[there >= reported_from], read) for there in held]
    missing_starts = [_but(read, there) for there in held] + unreported + [_but(refused, refused_starts)]
    return {start for starts in missing_starts for start in starts}


def _reported(bound: Bound) -> Mapping[int, Mapping[str, Any]]:
    return last_accumulated(bound.store)


def _but(starts: Ints, others: Ints) -> Iterable[int]:
    return np.setdiff1d(starts, others).tolist()


def _of_notes(bound: Bound, name: str, *, deep: bool) -> tuple[tuple[str, ...], ...]:
    """The notes that a ledger names and that are lost or damaged."""
    ledger = published(bound.store, name).ledger
    if ledger is None:
        return ()
    notes = (ledger.entries.note_of(at) or () for at in ledger.entries.noted().tolist())
    return tuple(note for note in notes if any(_note_problem(bound, path, deep=deep) for path in note))


def _note_problem(bound: Bound, path: str, *, deep: bool) -> str | None:
    place = bound.folder / NOTES / path
    return problem_of(place) if deep else None if place.exists() else "is gone"
