"""When something does not work: say what, where the logs are, and show their end."""

import json
from collections.abc import Iterable
from pathlib import Path

LINES = 15


class DemoError(Exception):
    """The demo cannot go on; `log` is the file to look at first, `end` its last lines before anything else was stopped."""

    def __init__(self, message: str, log: Path | None = None) -> None:
        super().__init__(message)
        self.log = log
        self.end = tail(log) if log and log.exists() else []


def report(wrong: DemoError, folder: Path) -> str:
    """The message, the end of the log, and where the other logs are."""
    lines = [f"\n{wrong}"]
    if wrong.end:
        lines += [f"the end of {wrong.log}:", *(f"  {line}" for line in wrong.end)]
    return "\n".join([*lines, f"all logs are below {folder}"])


def tail(log: Path) -> list[str]:
    """The last lines, each of Airflow's JSON lines as a person would write it."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [text for line in lines for text in _readable(line)][-LINES:]


def _readable(line: str) -> Iterable[str]:
    try:
        entry = json.loads(line)
        shown = [f"{entry['level']}: {entry['event']}"]
    except (ValueError, KeyError, TypeError):
        return [line]
    errors = [f"  {error['exc_type']}: {error['exc_value']}" for error in entry.get("error_detail") or ()]
    return [part for text in (*shown, *errors) for part in text.splitlines()]


def task_log(airflow_home: Path, dag_id: str, run_id: str, task_id: str) -> Path | None:
    """The newest log of a task."""
    folder = airflow_home / "logs" / f"dag_id={dag_id}" / f"run_id={run_id}" / f"task_id={task_id}"
    return max(folder.glob("attempt=*.log"), key=lambda file: file.stat().st_mtime, default=None)
