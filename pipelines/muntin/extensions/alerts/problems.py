"""The reported problems that are not over, a small file each, so that runs at the same time need no lock."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.errors import StateError
from muntin.extensions.alerts.findings import Finding
from muntin.files.paths import ascending
from muntin.jobs.state.notes import change_note, read_note
from muntin.store.disk import write_new

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muntin.files.paths import AnyPath

_MOST = 200


@dataclass(frozen=True, slots=True)
class Problems:
    """The reported problems of a state; without a folder, before the first run, nothing is remembered."""

    folder: AnyPath | None

    def all(self) -> list[Finding]:
        """The problems that are not over."""
        problems = [_of(read_note(path)) for path in self._files()]
        return [one for one in problems if one]

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
        self._forget_oldest()
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

    def _forget_oldest(self) -> None:
        files = list(self._files())
        for path in sorted(files, key=_written)[: max(0, len(files) - _MOST)]:
            with suppress(OSError):
                path.unlink()


def _written(path: AnyPath) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _of(note: Any) -> Finding | None:  # noqa: ANN401 - JSON
    try:
        return Finding.of_dict(note)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
