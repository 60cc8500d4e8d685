"""Modules that tasks need, imported before tasks are forked; and checks that keep a fork from running code
that has changed since.

A library that was installed anew since is refused: half of it would be the old one. Muntin's own modules,
which change in a checkout while a scheduler runs, are forgotten by the forks and imported again.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path

from muntin.errors import StateError
from muntin.registry import extension

File = tuple[int, ...]


log = logging.getLogger("muntin")
OURS = __name__.partition(".")[0]
MODULES = (
    "pyspark.sql.connect.session",
    "muntin.extensions.airflow.dag",
    "muntin.extensions.airflow.tasks",
    "muntin.jobs.run",
    "muntin.jobs.accumulate.accumulate_task",
    "muntin.jobs.accumulate.accumulate_bundle",
    "muntin.jobs.accumulate.slot_lift",
    "muntin.jobs.finalize.finalize_task",
    "muntin.jobs.publish.validate",
    "muntin.jobs.sending.send",
    "muntin.jobs.tiles.tiers",
    "muntin.quality.validation",
)
"""With what they import in turn: pandas, Arrow, DuckDB, Delta. None starts a thread that a fork would miss.
"""
_first_files: dict[str, File] = {}
"""Module -> its file when it was imported: of a library its first module, of ours each; no library that
Airflow had imported before.
"""


def _compiled_code() -> None:
    extension("spark", "load_compiled_code")()


def import_ahead() -> None:
    """Import what tasks need.

    What cannot be imported is named in the log; a task that needs it says so, too.
    """
    before = set(sys.modules)
    loads: list[Callable[[], object]] = [partial(import_module, name) for name in MODULES]
    for load in (*loads, _compiled_code, _great_expectations):
        try:
            load()
        except Exception as wrong:  # noqa: BLE001 - Airflow goes on without it
            log.warning("not imported ahead of tasks: %s: %s", type(wrong).__name__, wrong)
    libraries = {name.partition(".")[0] for name in sys.modules.keys() - before} - {OURS}
    _first_files.update(_files([*filter(_is_ours, sys.modules), *libraries]))
    gc.collect()
    gc.freeze()  # forks share these pages: a collection there neither reads nor copies them
    os.register_at_fork(after_in_child=forget_changed_modules)


def _great_expectations() -> object:
    from muntin.quality.gx import imported

    return imported()


def forget_changed_modules() -> None:
    """If a file of Muntin has changed, let the next import of any of its modules read it again."""
    if _changed(filter(_is_ours, _first_files)):
        for name in [name for name in sys.modules if _is_ours(name) and name != __name__]:
            del sys.modules[name]


def check_libraries() -> None:
    """Refuse to mix libraries that were imported ahead with libraries that were installed since."""
    if changed := _changed(name for name in _first_files if not _is_ours(name)):
        raise StateError(
            f"{', '.join(changed)}: installed anew since the scheduler imported it ahead of its tasks, which"
            " would mix both; restart the scheduler, as after every change of its packages"
        )


def _changed(names: Iterable[str]) -> list[str]:
    now = _files(names := list(names))
    return sorted(name for name in names if now.get(name) != _first_files[name])


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == OURS


def _files(names: Iterable[str]) -> dict[str, File]:
    """The number, date and size of the file of each module that has a file."""
    file_of_module = ((name, getattr(sys.modules.get(name), "__file__", None)) for name in names)
    return {name: _seen(Path(file)) for name, file in file_of_module if file}


def _seen(file: Path) -> File:
    try:
        at = file.stat()
    except OSError:
        return ()
    return at.st_ino, at.st_mtime_ns, at.st_size
