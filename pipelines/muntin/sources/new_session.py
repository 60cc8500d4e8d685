"""A new session of DuckDB, and what it may do."""

from __future__ import annotations

import os

import duckdb

from muntin.errors import SourceError

MEMORY = "MUNTIN_SQL_MEMORY"
# No session gets code from elsewhere or reads the variables of the Python around it.
_ALONE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    # nothing is installed there, and what is installed elsewhere is not found
    "extension_directory": os.devnull,
}


# What moves expressions out of TRY or before the condition that guards them: a shared expression is computed
# once, outside of both.
_MOVES = (
    "common_subexpressions",
    "filter_pullup",
    "filter_pushdown",
    "reorder_filter",
    "projection_pullup",
    "scalar_fn_pushdown",
)


def connect(
    timezone: str | None = None, *, files: bool = False, in_place: bool = False, memory: str | None = None
) -> duckdb.DuckDBPyConnection:
    """A DuckDB session of one thread, so that the order of additions is the order of the rows. SQL cannot
    change its settings.

    `timezone`: of times that have none, UTC unless given; the session gets the functions that read local
    times of it. With `files` it may read files: SQL of a definition goes through `check_expression` first.
    With `in_place` every expression is computed where it stands, so that TRY meets its errors. `memory` holds
    where `MUNTIN_SQL_MEMORY` does not say; None: 80 % of the machine.
    """
    session = duckdb.connect(config=_ALONE)
    session.execute("SET threads = 1")
    session.execute(f"SET TimeZone = '{timezone or 'UTC'}'")
    if timezone:
        from muntin.sources.reading.local_times import let_read

        let_read(session, timezone)
    session.execute("SET enable_progress_bar = false")
    session.execute("SET enable_external_file_cache = false")
    if in_place:
        optimizers = {name for (name,) in session.execute("FROM duckdb_optimizers()").fetchall()}
        session.execute(
            f"SET disabled_optimizers = '{','.join(name for name in _MOVES if name in optimizers)}'"
        )
    _limit(session, memory)
    if not files:
        session.execute("SET enable_external_access = false")
    session.execute("SET lock_configuration = true")
    return session


def _limit(session: duckdb.DuckDBPyConnection, usual: str | None) -> None:
    memory = os.environ.get(MEMORY) or usual
    try:
        if memory:
            session.execute("SET memory_limit = '" + memory.replace("'", "''") + "'")
    except duckdb.Error as wrong:
        raise SourceError(f'{MEMORY}: {memory!r} is no amount of memory; write "4GB"') from wrong
