"""Whether a process still runs. Its number alone does not say so: numbers are given again."""

from __future__ import annotations

import os
from pathlib import Path


def started_at(pid: int) -> str:
    """When a process started, in the kernel's ticks, as text; "" if it has ended, or where the system does
    not tell (macOS).
    """
    try:
        state, *fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
    except (OSError, ValueError):
        return ""
    return fields[18] if state != "Z" else ""


def is_running(pid: int, started: str) -> bool:
    """Whether the process that started then still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started_at(pid) == started


def has_children(pid: int) -> bool:
    """Whether a process has children; True where the system does not tell."""
    try:
        return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8"))
    except OSError:
        return True
