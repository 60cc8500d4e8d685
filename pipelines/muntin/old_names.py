"""Names and arguments before the first release, each with what is written now. Delete this file at will."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from muntin.errors import DefinitionError

NAMES = {
    "aggregates.Aggregate": "from muntin.aggregates.aggregate import Aggregate",
    "aggregates.AtExtreme": "from muntin.aggregates.algebra import AtExtreme",
    "aggregates.Carry": "from muntin.aggregates.aggregate import Carry",
    "aggregates.Field": "from muntin.aggregates.aggregate import Field",
    "aggregates.Fold": "from muntin.aggregates.algebra import Fold",
    "aggregates.Merge": 'agg.merge("total")',
    "aggregates.Monoid": "from muntin.aggregates.algebra import Monoid",
    "aggregates.SUM": "from muntin.aggregates.algebra import SUM",
    "aggregates.Select": "from muntin.aggregates.algebra import Select",
    "aggregates.Sum": "from muntin.aggregates.algebra import Sum",
    "aggregates.all_max_by": 'agg.max_by("x", "y", ties=True)',
    "aggregates.all_min_by": 'agg.min_by("x", "y", ties=True)',
    "aggregates.bottom_n": 'agg.min("x", n=3)',
    "aggregates.first_k": 'agg.first("x", n=3)',
    "aggregates.last_k": 'agg.last("x", n=3)',
    "aggregates.state_duration": 'agg.time_in_state("state")',
    "aggregates.top_n": 'agg.max("x", n=3)',
    "sinks.SparkSink": "sinks.spark(print)",
    "sources.FileSource": "from muntin.sources.file_source import FileSource",
    "sources.Lookup": "from muntin.sources.reading.lookup import Lookup",
    "sources.Source": "from muntin.sources.source import Source",
    "sources.SparkSource": "from muntin.sources.spark_frames import SparkSource",
    "sources.TableSource": "from muntin.sources.tables import TableSource",
    "sources.WindowSource": "from muntin.sources.upstream_windows import WindowSource",
    "windows.AllTime": "windows.all_time()",
    "windows.Arrival": "windows.arrival(evict=windows.by_count(10))",
    "windows.Assignment": "from muntin.engine.assignment import Assignment",
    "windows.Between": 'windows.between("kind = \'enter\'", "kind = \'leave\'", max_length="1d")',
    "windows.BusinessDays": 'windows.tumbling("1bd")',
    "windows.Calendar": 'windows.tumbling("1mo")',
    "windows.Cumulating": 'windows.cumulating("1d", step="1h")',
    "windows.Given": 'windows.given(sources.files("shifts.csv"), start="begins", end="ends")',
    "windows.HalfMonths": 'windows.tumbling("1sm")',
    "windows.LastPart": 'windows.sliding("10m", step="1h", gaps=True)',
    "windows.LimitedSession": 'windows.session("30m", max_length="1d")',
    "windows.OwnGapSession": 'windows.session("30m", gap_by="patience")',
    "windows.ProgressiveSort": 'windows.progressive_sort(100, by="price")',
    "windows.RightClosed": 'windows.tumbling("15m", closed="right")',
    "windows.Session": 'windows.session("30m")',
    "windows.Sliding": 'windows.sliding("6h", step="1h")',
    "windows.Trailing": 'windows.trailing(days=7, timezone="Europe/Berlin")',
    "windows.Tumbling": 'windows.tumbling("1d")',
    "windows.Unique": 'windows.unique_sliding("1h")',
    "windows.While": "windows.while_(\"state = 'on'\")",
    "windows.WhileSame": 'windows.while_same("status")',
    "windows.Window": "from muntin.windows.kind import Window",
}

COMMANDS = {
    "backfill": "run FILE",
    "rebuild": "run --rebuild FILE",
    "vacuum": "maintain",
    "repair": "doctor --mend FILE",
    "rollback": "promote --back FILE",
    "diff": "plan --diff FILE",
    "contract": "check --contract FILE",
    "metrics": "status --metrics FILE",
    "where": "status --paths FILE",
    "sinks": "status --sinks FILE",
    "late": "show --late FILE",
    "quarantine": "show --quarantine FILE",
    "changes": "show --changes --since VERSION FILE WINDOW",
    "plot": "show --plot FILE WINDOW AGGREGATE",
    "timeline": "show --timeline FILE",
}
"""A command -> the line that does the same now."""


def no_such_name(module: str, name: str, more: str = "") -> DefinitionError | AttributeError:
    """The error for a name that a module does not have; `more`: words at the end. An old name's error is no
    `AttributeError`, whose text `from module import name` would not show.
    """
    if now := NAMES.get(f"{module.removeprefix('muntin.')}.{name}"):
        return DefinitionError(f"{module}.{name} is an old name; write {now}")
    text = f"module {module!r} has no attribute {name!r}{more}"
    return AttributeError(text, name=name, obj=sys.modules.get(module))


ARGUMENTS = {
    "Pipeline": {
        "max_quarantined": "an argument of Limits: limits=Limits(max_quarantined=...)",
        "max_behind": "an argument of Limits: limits=Limits(max_behind=...)",
        "max_ahead": "an argument of Limits: limits=Limits(max_ahead=...)",
        "fresh_within": "an argument of Limits: limits=Limits(fresh_within=...)",
        "idle_after": "an argument of Limits: limits=Limits(idle_after=...)",
        "keep_states": "an argument of Retain: retain=Retain(states_in_windows=True)",
        "renamed_from": "an argument of Renamed: renamed=Renamed(pipeline=...)",
        "renamed_windows": "an argument of Renamed: renamed=Renamed(windows=...)",
        "ask_within": 'an argument of Limits: limits=Limits(ask_within="4h")',
        "on_failure": 'an argument of Limits: limits=Limits(ask_within="4h") for "ask"; leave "hold" out',
        "derive": 'a part of aggregates, as SQL: aggregates={..., "share": "late / flights"}',
        "on_gap": 'no argument any more: a missing interval is waited for; run it, with missing="empty" in '
        "sources.files(...) if it has no files",
        "auto_rebuild": "no argument any more: muntin run FILE --rebuild reads again what a changed "
        "definition lacks",
    },
}

_OF_TIMES = {
    "unit": 'a part of event_time: event_time=sources.at("seen", unit="ms")',
    "timezone": 'a part of event_time: event_time=sources.at("seen", timezone="Europe/Berlin")',
    "ambiguous": 'a part of event_time: event_time=sources.at("seen", timezone=..., ambiguous="first")',
    "nonexistent": 'a part of event_time: event_time=sources.at("seen", timezone=..., nonexistent="shift")',
    "time_format": 'a part of event_time: event_time=sources.at("seen", format="%d.%m.%Y %H:%M")',
}
_OF_ROWS = {
    "dedupe": 'a part of rows: rows=sources.events(dedupe="event_id")',
    "dedupe_within": 'a part of rows: rows=sources.events(dedupe="event_id", within="2d")',
    "id": 'a part of rows: rows=sources.events(id="order_id", operation="op", within="30d")',
    "operation": 'a part of rows: rows=sources.events(id="order_id", operation="op", within="30d")',
    "deletes": 'a part of rows: rows=sources.events(id="order_id", deletes="op = \'D\'", within="30d")',
    "changes_within": 'a part of rows: rows=sources.events(id="order_id", operation="op", within="30d")',
}
_OF_CSV = {
    name: f"a part of format: format=sources.csv({name}=...)"
    for name in ("delimiter", "quote", "null", "encoding", "decimal", "header")
}
ARGUMENTS |= dict.fromkeys(("files", "table", "iceberg", "kafka", "spark"), _OF_TIMES | _OF_ROWS)
ARGUMENTS["files"] = {
    **ARGUMENTS["files"],
    **_OF_CSV,
    "checksum": "no argument any more: a file that was changed is known by its content",
    "hidden": "no argument any more: a path reads such names that writes them, as data/_*.csv",
}
ARGUMENTS["windows"] = {"at": 'the name of a column: event_time="window_start"'}

Call = TypeVar("Call", bound=Callable[..., Any])


def old_names_refused(call: Call) -> Call:
    """The function or class, which refuses an argument's old name with the new one."""
    name: str = call.__name__
    plain = call.__init__ if isinstance(call, type) else call  # type: ignore[misc]  # of this very class

    @wraps(plain)
    def checked(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - whatever the call takes and gives
        for old in given.keys() & ARGUMENTS.get(name, {}).keys():
            raise DefinitionError(f"{name}: {old} is {ARGUMENTS[name][old]}")
        return plain(*args, **given)

    if isinstance(call, type):
        call.__init__ = checked  # type: ignore[misc]  # as above
        return call
    return checked  # type: ignore[return-value]  # with the arguments of `call`
