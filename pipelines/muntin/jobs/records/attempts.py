"""Attempts: runs that have begun and not published, at work or failed, in a small file each beside the state.

begin               step accumulate    finalize     publish
attempts/<run>.json   written            again        removed: the tables tell the rest
                                         failed: it stays, with its reason, until a run of the same batches
                                             begins
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Literal
from uuid import uuid4

from muntin.definition.schedule import Interval
from muntin.errors import MuntinError
from muntin.files.paths import AnyPath
from muntin.jobs.records.costs import NOTHING, Cost
from muntin.jobs.records.processes import KILLED, is_gone, out_of_memory, said, this_process
from muntin.jobs.records.reports_table import now_us
from muntin.store.disk import write_whole

FOLDER = "attempts"
Phase = Literal["queued", "running", "failed", "killed"]
_USER = re.compile(r"(\w://)[^\s/@]+@")
_NAMED = re.compile(r"(?i)((?:token|password|passwd|secret|api_?key)[\"']?\s*[=:]\s*)[^\s;&,]+")
log = logging.getLogger("muntin")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run of some batches that has begun and not published; instants in microseconds.

    Attributes:
        run: its name.
        spans: the stretches of its batches, (start, end) each.
        phase: queued, running, failed, or killed: its process is gone without a word.
        step: the step that it is at, or failed at.
        began_us, at_us: when it began; when its step began or failed.
        reason: why it failed, in a line.
        link: where its log is.
        process: host, number and age of the process, by which a reader tells whether it lives.
        cost: what the steps before this step cost.
    """

    run: str
    spans: tuple[tuple[int, int], ...]
    phase: Phase
    step: str
    began_us: int
    at_us: int
    reason: str | None = None
    link: str | None = None
    process: tuple[str, int, str] | None = None
    cost: Cost = NOTHING

    def covers(self, start_us: int, end_us: int) -> bool:
        """Whether it is about all of a stretch."""
        return any(first <= start_us and end_us <= end for first, end in self.spans)


@dataclass(slots=True)
class RunNote:
    """The note of a run in this process.

    `state`: the folder of the state; it may be taken over under another name meanwhile.
    """

    state: AnyPath
    attempt: Attempt | None

    def reads(self, intervals: Sequence[Interval]) -> None:
        if self.attempt or intervals:
            attempt = self.attempt or begun(uuid4().hex, intervals, "accumulate")
            self.attempt = replace(attempt, spans=_joined(intervals))
            self.step(attempt.step)

    def step(self, name: str) -> None:
        self._note(lambda attempt: replace(attempt, step=name, at_us=now_us()))

    def fail(self, wrong: BaseException) -> None:
        self._note(lambda attempt: failed(attempt, wrong))

    def _note(self, changed: Callable[[Attempt], Attempt]) -> None:
        there = False
        with suppress(OSError, MuntinError):  # the error of the run is what its reader needs
            there = self.state.is_dir()  # a run that was asked for in a wrong place makes no folder
        if self.attempt and there:
            self.attempt = changed(self.attempt)
            note(self.state, self.attempt)


@contextmanager
def attempted(state: AnyPath, intervals: Sequence[Interval]) -> Iterator[RunNote]:
    """Keep the note of a run in this process while it works; yields the note, to say which step begins.

    If a step has no memory left, OutOfMemoryError names the step and the batches.
    """
    noted = RunNote(state, begun(uuid4().hex, intervals, "check") if intervals else None)
    noted.step("check")
    try:
        yield noted
    except BaseException as wrong:
        memory_error = out_of_memory(wrong, noted.attempt) if noted.attempt else None
        noted.fail(wrong)
        if memory_error:
            raise memory_error from wrong
        raise
    if noted.attempt:
        forget(noted.state, noted.attempt)


def begun(run: str, intervals: Sequence[Interval], step: str, link: str | None = None) -> Attempt:
    """An attempt that begins now, in this process."""
    at_us = now_us()
    return Attempt(run, _joined(intervals), "running", step, at_us, at_us, link=link, process=this_process())


def _joined(intervals: Sequence[Interval]) -> tuple[tuple[int, int], ...]:
    """The intervals, neighbours joined."""
    spans: list[tuple[int, int]] = []
    for each in sorted(intervals):
        if spans and spans[-1][1] == each.start_us:
            spans[-1] = (spans[-1][0], each.end_us)
        else:
            spans.append((each.start_us, each.end_us))
    return tuple(spans)


def failed(attempt: Attempt, wrong: BaseException) -> Attempt:
    """The attempt, failed now."""
    return replace(attempt, phase="failed", at_us=now_us(), reason=first_line(said(wrong)))


def note(state: AnyPath, attempt: Attempt) -> None:
    """Write an attempt down; notes of earlier attempts at its batches go.

    Whatever goes wrong is a line of the log: no run fails by it.
    """
    path, content = _file(state, attempt.run), json.dumps(asdict(attempt)).encode()
    try:
        write_whole(path, content)
        _forget_covered(state, attempt)
    except Exception as wrong:  # noqa: BLE001 - windows go before notes about them
        log.warning("not noted that a run is at its step %s: %s", attempt.step, wrong)
        with suppress(OSError, MuntinError):
            if (
                path.is_file()
            ):  # a disk without room takes no new file; a note left would say that the run was killed
                try:
                    path.write_bytes(content)
                except OSError:
                    path.unlink()


def forget(state: AnyPath, attempt: Attempt) -> None:
    """Remove the note of an attempt that has ended well, and notes of earlier attempts at its batches."""
    _forget_covered(state, attempt)
    with suppress(OSError, MuntinError):
        _file(state, attempt.run).unlink()


def _forget_covered(state: AnyPath, attempt: Attempt) -> None:
    """Remove the notes of ended attempts whose batches the attempt covers."""
    for each in attempts(state):
        if (
            each.run != attempt.run
            and each.phase != "running"
            and all(attempt.covers(*span) for span in each.spans)
        ):
            if each.phase == "killed":
                log.warning("the run before failed at %s: %s", each.step, KILLED)
            with suppress(OSError, MuntinError):
                _file(state, each.run).unlink()


def attempts(state: AnyPath) -> list[Attempt]:
    """The attempts that are noted, in the order of their last words; a damaged note is none."""
    noted_attempts = [each for path in _notes(state) if (each := _read(path))]
    return sorted(noted_attempts, key=lambda each: each.at_us)


def _notes(state: AnyPath) -> list[AnyPath]:
    folder = state / FOLDER
    with suppress(OSError, MuntinError):
        return (
            [path for path in folder.glob("*.json") if not path.name.startswith(".")]
            if folder.is_dir()
            else []
        )
    return []


def _read(path: AnyPath) -> Attempt | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        spans, process = tuple((int(first), int(end)) for first, end in content["spans"]), content["process"]
        parts = {
            "spans": spans,
            "process": tuple(process) if process else None,
            "cost": Cost(**content["cost"]),
        }
        each = Attempt(**{**content, **parts})
        return replace(each, phase="killed") if each.phase == "running" and is_gone(each.process) else each
    except (OSError, ValueError, KeyError, TypeError, MuntinError):
        return None


def _file(state: AnyPath, run: str) -> AnyPath:
    return state / FOLDER / f"{sha256(run.encode()).hexdigest()[:16]}.json"


def first_line(wrong: BaseException) -> str:
    """The name of an error, and the first line of its text, without passwords of addresses.

    >>> first_line(ValueError("no answer of sc://me:secret@host/;token=abc"))
    'ValueError: no answer of sc://***@host/;token=***'
    """
    text = next((line for line in str(wrong).splitlines() if line.strip()), "no message")
    text = _USER.sub(r"\1***@", _NAMED.sub(r"\1***", text.strip()))
    text = "".join(each if each.isprintable() else " " for each in text)
    return f"{type(wrong).__name__}: {text}"
