"""SQL that gives something else each time it is asked: the clock, chance, the session. A state must follow from its rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# What DuckDB's catalogue calls VOLATILE or CONSISTENT_WITHIN_QUERY, but for `error`, which gives nothing at all.
CATALOGUED = frozenset([
    "current_connection_id", "current_database", "current_date", "current_query", "current_query_id", "current_schema",
    "current_schemas", "current_setting", "current_transaction_id", "currval", "gen_random_uuid", "get_current_time",
    "get_current_timestamp", "getvariable", "in_search_path", "nextval", "now", "random", "setseed", "setval", "sleep_ms", "stats",
    "today", "transaction_timestamp", "txid_current", "uuid", "uuidv4", "uuidv7", "vector_type", "write_log",
])  # fmt: skip
# Macros that call these, and functions that the catalogue takes for steady; `age` of one instant besides.
OTHERS = frozenset([
    "ago", "current_catalog", "current_localtime", "current_localtimestamp", "get_block_size", "pg_conf_load_time",
    "pg_postmaster_start_time", "pg_sleep", "reservoir_quantile",
])  # fmt: skip
# Words that are calls without brackets.
BARE = frozenset(["current_catalog", "current_date", "current_schema", "current_time", "current_timestamp", "localtime", "localtimestamp"])


def changing(words: Sequence[str]) -> str | None:
    """The first call in an expression of something that changes, as a user would write it; None: there is none.

    >>> changing(["random", "(", ")", "<", "x"]), changing(["random", "<", "x"])
    ('random()', None)
    """
    for at, word in enumerate(words):
        name, called = word.strip('"').lower(), words[at + 1 : at + 2] == ["("]
        if called and (name in CATALOGUED | OTHERS or (name == "age" and _arguments(words[at + 1 :]) == 1)):
            return f"{name}()" if words[at + 2 : at + 3] == [")"] else f"{name}(...)"
        if word.lower() in BARE and words[max(at - 1, 0) : at] != ["."]:
            return word
    return None


def _arguments(words: Sequence[str]) -> int:
    """How many arguments stand in the brackets that begin here."""
    depth, commas = 0, 0
    for word in words:
        depth += (word in "([{") - (word in ")]}")
        commas += word == "," and depth == 1
        if depth == 0:
            break
    return commas + 1
