"""Findings of the runs of a backfill, a small file a run, until the last run makes them one message."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

from muntin.errors import StateError
from muntin.extensions.alerts.findings import Finding
from muntin.files.paths import AnyPath, ascending, remove_folder, rename
from muntin.jobs.state.notes import read_note
from muntin.store.disk import write_whole

ROWS = 10
"""Failing rows that are kept of a run."""

EXPECTED_S = 60
"""Grace between a run's last task and its callback, in seconds; after that, no run waits for it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run of a backfill that has ended.

    Attributes:
        run: its name in Airflow.
        failed: whether it published nothing because something went wrong.
        found: what was wrong.
        over: reported problems that are over.
    """

    run: str
    failed: bool
    found: tuple[Finding, ...]
    over: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Backfills:
    """The ended runs of the backfill of a state. Airflow has one backfill of a DAG at a time."""

    folder: AnyPath

    def add(self, ended: Ended) -> bool:
        """Remember a run; a second time takes the place of the first, as after a retry.

        Whether the disk took it.
        """
        facts = {
            "run": ended.run,
            "failed": ended.failed,
            "found": _plain(ended.found),
            "over": _plain(ended.over),
        }
        try:
            write_whole(self._file(ended.run), json.dumps(facts).encode())
        except StateError:
            return False
        return True

    def expect(self, run: str) -> None:
        """Note that a run is about to end: from here on Airflow may count it as ended, and it is not reported
        yet.
        """
        with suppress(StateError):
            write_whole(self._file(run), json.dumps({"expected": run}).encode())

    def expects(self) -> bool:
        """Whether a run that is about to end has not been added."""
        now = time.time()
        young = (path for path in self.folder.glob("*.json") if now - written(path) < EXPECTED_S)
        return any("expected" in _facts(path) for path in young)

    def newest(self, count: int) -> list[str]:
        """The names of the runs that ended last."""
        files = sorted(self.folder.glob("*.json"), key=written, reverse=True)[:count]
        return [ended.run for ended in map(_read, files) if ended]

    def idle_s(self) -> float | None:
        """Seconds since the last run ended; None if no run is remembered."""
        last = max(map(written, self.folder.glob("*.json")), default=None)
        return None if last is None else time.time() - last

    def take(self) -> list[Ended]:
        """Forget all runs and return them. Of runs at the same time one gets them."""
        private_folder = self.folder.with_name(f"{self.folder.name}.{uuid4().hex}")
        try:
            rename(self.folder, private_folder)
        except OSError:
            return []
        ended = [_read(path) for path in ascending(private_folder.glob("*.json"))]
        remove_folder(private_folder)
        return [one for one in ended if one]

    def _file(self, run: str) -> AnyPath:
        return self.folder / f"{sha256(run.encode()).hexdigest()[:24]}.json"


def _plain(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Findings as JSON types, with few of their rows."""
    return [facts | {"rows": facts["rows"][:ROWS]} for facts in (one.to_dict() for one in findings)]


def _facts(path: AnyPath) -> Mapping[str, Any]:
    facts = read_note(path)
    return facts if isinstance(facts, dict) else {}


def _read(path: AnyPath) -> Ended | None:
    facts = _facts(path)
    try:
        what, over = (tuple(map(Finding.of_dict, facts[name])) for name in ("found", "over"))
        return Ended(facts["run"], facts["failed"], what, over)
    except (ValueError, TypeError, KeyError):
        return None


def written(path: AnyPath) -> float:
    """When a file was last written, seconds since 1970; 0 where it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
