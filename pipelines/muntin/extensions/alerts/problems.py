"""The reported problems that are not over, a small file each, so that runs at the same time need no lock.

Recovery: reported problems that are over. Pure, from the problems and a run that came after them.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.errors import StateError
from muntin.extensions.alerts.backfills import written
from muntin.extensions.alerts.findings import Finding, expected
from muntin.files.paths import ascending
from muntin.jobs.state.notes import change_note, read_note
from muntin.store.disk import write_new

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muntin.definition.schedule import Interval
    from muntin.extensions.alerts.facts import Run
    from muntin.files.paths import AnyPath


def recovered(
    reported_problems: Iterable[Finding], run: Run, run_findings: Sequence[Finding]
) -> tuple[Finding, ...]:
    """The reported problems that are over, as this run shows; `run_findings` says where it is well."""
    now = {finding.key for finding in run_findings}
    well = str(run.interval)
    over = [
        replace(problem, observed=well)
        for problem in reported_problems
        if problem.key not in now and _is_over(problem, run)
    ]
    return tuple(sorted(over, key=lambda one: one.interval))


def approved(reported_problems: Iterable[Finding], run: Run) -> tuple[Finding, ...]:
    """The reported problems that a person has ended by an approval: their windows are published, and the data
    is as it was.
    """
    windows = [f"window {window}: " for each in run.approved for window in each["windows"]]
    held = [
        problem
        for problem in reported_problems
        if problem.kind == "check" and problem.is_held and problem.what.startswith((*windows, "\0"))
    ]
    return tuple(
        problem
        for problem in held
        if problem.what not in _passed(run) and (_is_own(problem, run) or _is_published(problem, run))
    )


def _is_over(problem: Finding, run: Run) -> bool:
    """Whether windows that were held are published; or, of a problem that held nothing, whether a later
    interval is well.
    """
    at = problem.interval.start_us
    if problem.kind == "hole":
        return run.missing is not None and not any(_covers(hole.interval, at) for hole in run.missing)
    if problem.is_held:
        return not run.failed and (
            _is_own(problem, run)
            # what waits is checked together: a run of another interval may have published it
            or (problem.kind == "check" and problem.what in _passed(run) and _is_published(problem, run))
        )
    if problem.kind == "check":
        return problem.what in _passed(run) and run.interval.start_us >= at
    since = [batch for batch in run.batches if batch.read and batch.interval.start_us >= at]
    return any(batch.late is not None for batch in since) if problem.kind == "late" else bool(since)


def _is_published(problem: Finding, run: Run) -> bool:
    own = [
        starts
        for window, starts in (run.published or {}).items()
        if problem.what.startswith(f"window {window}: ")
    ]
    return any(_covers(problem.interval, start) for starts in own for start in starts)


def _is_own(problem: Finding, run: Run) -> bool:
    return (
        run.interval.start_us <= problem.interval.start_us and problem.interval.end_us <= run.interval.end_us
    )


def _covers(interval: Interval, instant_us: int) -> bool:
    return interval.start_us <= instant_us < interval.end_us


def _passed(run: Run) -> set[str]:
    return {
        expected(report["window"], check)
        for report in run.quality
        for check in report["checks"]
        if check["success"]
    }


_MOST = 200


@dataclass(frozen=True, slots=True)
class Problems:
    """The reported problems of a state; without a folder, before the first run, nothing is remembered."""

    folder: AnyPath | None

    def all(self) -> list[Finding]:
        """The problems that are not over."""
        return [one for path in self._files() if (one := _of(read_note(path)))]

    def add(self, finding: Finding) -> bool:
        """Remember a problem, and the newest interval that has it; whether it is new.

        Of runs at the same time it is new for one; where the disk refuses, it is new.
        """
        if self.folder is None:
            return True
        target = self._path(finding)
        facts = {**finding.to_dict(), "rows": [], "observed": ""}
        try:
            write_new(target, json.dumps(facts).encode())
        except FileExistsError:
            with suppress(StateError):
                change_note(
                    target,
                    lambda note: (
                        facts
                        if (noted_problem := _of(note)) and noted_problem.interval < finding.interval
                        else None
                    ),
                )
            return False
        except (StateError, OSError):
            return True
        files = list(self._files())
        for path in sorted(files, key=written)[: max(0, len(files) - _MOST)]:
            with suppress(OSError):
                path.unlink()
        return True

    def take(self, finding: Finding) -> bool:
        """Forget a problem that is over; whether it was still remembered.

        Of runs at the same time one takes it.
        """
        try:
            self._path(finding).unlink()
        except OSError:
            return False
        return True

    def _path(self, finding: Finding) -> AnyPath:
        return (self.folder or Path()) / f"{sha256(finding.key.encode()).hexdigest()[:24]}.json"

    def _files(self) -> Iterable[AnyPath]:
        return ascending(self.folder.glob("*.json")) if self.folder else ()


def _of(note: Any) -> Finding | None:  # noqa: ANN401 - JSON
    try:
        return Finding.of_dict(note)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
