"""Rules that a pipeline's definition must keep, and the error for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from muntin.definition.expressions import expression, steady
from muntin.definition.parts import distinct
from muntin.definition.spelling import check_whole, did_you_mean
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from muntin.definition.kinds import Kind
    from muntin.definition.parts import Aggregate, Source
    from muntin.definition.schedule import Schedule

RESERVED = ("window_start", "window_end", "batch", "provisional", "bucket", "frame", "rows", "first_event", "last_event", "newest_event")
_INDEX = "window_index"
"""The column of windows by arrival that says which comes first; readers know such windows by it."""
_OF_WINDOWS = {*RESERVED, _INDEX, "tie", "cut", "ended", "revision", "change"}
_OURS = "muntin_"
"""What begins with it is no column of a user's, in the source neither."""
_LONGEST = 128
_LOG = "_delta_log"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def is_taken(name: str) -> bool:
    """Whether a column that a kind of windows names may be one of Muntin's own, of states, windows or changes."""
    return name.lower() in _OF_WINDOWS or name.lower().startswith("state_")


def listed(what: str, names: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    """Names in a list, as a tuple."""
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) and name for name in names):
        raise DefinitionError(f'{what}: {names!r} is not a list of column names; write ["origin"], or [] for none')
    return tuple(names)


def check_name(what: str, name: object) -> None:
    """A name that a folder and a DAG may have, and that is not the name of a table's own folder."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(f"{what}: {name!r} cannot name a folder and a DAG; use letters, digits, '_', '-' and '.'")
    if len(name) > _LONGEST:
        raise DefinitionError(f"{what}: {name[:20]}... has {len(name)} characters; a folder and a DAG have names of {_LONGEST} at most")
    if name.lower() == _LOG:
        raise DefinitionError(f"{what}: {name!r} is the folder of each table's own log; give another name")


def check_renamed(name: str, before: str | None, windows: Mapping[str, object], windows_before: Mapping[str, str]) -> None:
    """Check that earlier names are names, and not among the names in use.

    Raises:
        DefinitionError: a pipeline or a window renamed from a name that is in use, or a window that there is not.
    """
    if before is not None:
        check_name("renamed_from", before)
        if before == name:
            raise DefinitionError(f"renamed_from: {before!r} is the name itself; leave it out")
    for window, old in windows_before.items():
        check_choice("renamed_windows", window, tuple(windows))
        check_name(f"renamed_windows[{window!r}]", old)
        if old in windows:
            raise DefinitionError(f"renamed_windows: {old!r} is a window of this definition, so {window!r} cannot have its table")


def check_choice(what: str, choice: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not among the choices."""
    if choice not in choices:
        raise DefinitionError(f"{what}: {choice!r} is not possible; choose from {', '.join(map(repr, choices))}")


def check_share(what: str, share: object) -> None:
    """A part of a whole, or None."""
    if share is None:
        return
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise DefinitionError(f"{what}: {share!r} is not a share of rows; write a number from 0 to 1, as 0.01 for one row in a hundred")


def check_source(source: object, what: str = "source") -> None:
    """Something that says where events are."""
    if not hasattr(source, "event_time"):
        raise DefinitionError(
            f'{what}: {source!r} is not a source; give sources.files("data/{{start:%Y-%m-%d}}.parquet", event_time="...")'
        )
    if source.event_time == "":
        raise DefinitionError(f'{what}: event_time is missing; name the column that says when an event happened, as event_time="at"')


def resolved(source: Source, aggregates: Any) -> Any:  # noqa: ANN401 - whatever the user gave
    """Aggregates, with each merged aggregate replaced by the upstream's aggregate.

    Raises:
        DefinitionError: there is no upstream, it keeps no states, or it has no such aggregate.
    """
    upstream, given = source.upstream, aggregates if isinstance(aggregates, dict) else {}
    merged = {name: each for name, each in given.items() if hasattr(each, "taken_from")}
    if merged and not (upstream and upstream.keep_states):
        where = f"say keep_states=True in {upstream.name!r}" if upstream else "give sources.windows(upstream, window) as source"
        raise DefinitionError(f"aggregates[{next(iter(merged))!r}]: merge combines the states of upstream windows; {where}")
    theirs = upstream.aggregates if upstream else {}
    return {name: each.taken_from(theirs) if name in merged else each for name, each in given.items()} or aggregates


def check_batches(name: str, source: Source, ours: Schedule) -> None:
    """Refuse a source whose batches are not the batches of the schedule, and an upstream that has the pipeline's own name."""
    if problem := source.misfit(ours):
        raise DefinitionError(problem)
    if source.upstream is None:
        return
    if source.upstream.name.lower() == name.lower():
        raise DefinitionError(f"name: {name!r} is the name of the upstream, whose state has it; give this pipeline another")
    theirs = source.upstream.intervals
    apart = (ours.anchor_us - theirs.anchor_us) % ours.step_us if ours.step_us else 0
    if (ours.cron, ours.step_us, ours.timezone) != (theirs.cron, theirs.step_us, theirs.timezone) or apart:
        raise DefinitionError(
            f"schedule: {ours} is not that of {source.upstream.name!r}, {theirs}; "
            "a batch is what the upstream's batch closed: give both the same"
        )


def check_windows(windows: Any, source: Source, aggregates: Any) -> None:  # noqa: ANN401 - whatever the user gave
    """Windows, each with a name, that go with the source and the aggregates."""
    _check_dict("windows", windows)
    for name, window in windows.items():
        check_name("windows", name)
        if not hasattr(window, "assign"):
            raise DefinitionError(
                f'windows[{name!r}]: {window!r} is not a window; give windows.tumbling("1h"), windows.sliding(...), windows.session(...)'
            )
        if problem := window.misfit(source):
            raise DefinitionError(f"windows[{name!r}]: {problem}")
        if window.rows_out and not any(each.gives_lists for each in aggregates.values()):
            raise DefinitionError(f'windows[{name!r}]: output="rows" takes lists apart; add one, as aggregates.collect_sorted("x")')


def carrying(windows: Mapping[str, Kind], aggregates: Mapping[str, Aggregate]) -> dict[str, Kind]:
    """The windows, in which values last as long as the aggregates ask.

    Raises:
        DefinitionError: values of an aggregate last, and events decide where a window begins.
    """
    lasting = {name: each.carry.us for name, each in aggregates.items() if each.carry}
    found: dict[str, Kind] = {}
    for name, window in windows.items():
        kind = window.carrying(max(lasting.values(), default=None))
        if kind is None:
            raise DefinitionError(
                f"windows[{name!r}]: aggregates[{next(iter(lasting))!r}] has values from before a window (carry=), and rows or a table "
                "decide where these windows begin; take windows that are there by the clock (tumbling, sliding, cumulating, trailing), or "
                f"put {name!r} into a pipeline without carry"
            )
        found[name] = kind
    return found


def check_given_keys(name: str, window: Kind, keys: Sequence[str]) -> None:
    """See that the keys that decide where windows lie are keys of the windows; those of a rollup are fewer."""
    for key in window.by_keys:
        if key not in keys:
            there = f"keys of its windows are {', '.join(keys)}" if keys else "its windows have no keys"
            raise DefinitionError(
                f"windows[{name!r}]: the table of spans has the key {key!r}, and {there}{did_you_mean(key, keys)}; "
                "leave the key out of keys= in windows.given(...), or give the windows without it a pipeline of their own"
            )


def check_where(where: object, sources: Collection[str]) -> None:
    """A condition, or none; or a mapping from names of sources to conditions.

    `sources`: the names of the sources; none where there is one source.
    """
    if where is None:
        return
    if isinstance(where, Mapping) and sources:
        for name, condition in where.items():
            check_choice("where", name, tuple(sources))
            _check_condition(condition, f"where[{name!r}]")
        return
    _check_condition(where, "where")


def _check_condition(where: object, what: str) -> None:
    if not isinstance(where, str) or not where.strip():
        raise DefinitionError(f'{what}: {where!r} is not a SQL condition; write one, as "dep_delay is not null", or leave it out')
    expression(where, what)


def check_alerts(alerts: Any, keys: Sequence[str], windows: Mapping[str, Kind], results: Sequence[str]) -> None:  # noqa: ANN401 - as above
    """Alerts, or none, whose masked columns are columns of results."""
    if alerts is None:
        return
    if not hasattr(alerts, "channels"):
        raise DefinitionError(f'alerts: {alerts!r} are no alerts; give alerts.to("alerts"), with the name of an Airflow connection')
    columns = {*keys, *results, *(column for window in windows.values() for column in window.columns)}
    known = {column.lower() for column in columns}
    for name in sorted(alerts.mask):
        if name.lower() not in known:
            raise DefinitionError(f"alerts: mask: no result has a column {name!r}; the columns are {', '.join(sorted(columns))}")


def check_aggregates(aggregates: Any) -> None:  # noqa: ANN401 - whatever the user gave
    """Aggregates, each with a name, whose states follow from the rows alone."""
    _check_dict("aggregates", aggregates)
    for name, aggregate in aggregates.items():
        if not hasattr(aggregate, "fields") or not hasattr(aggregate, "finish"):
            raise DefinitionError(
                f'aggregates[{name!r}]: {aggregate!r} is not an aggregate; give aggregates.count(), aggregates.sum("x"), ...'
            )
        for lift in (lift for field in aggregate.fields for _, lift in field.parts if isinstance(lift, str)):
            if problem := steady(lift):
                raise DefinitionError(f"aggregates[{name!r}]: {lift!r} {problem}")


def _check_dict(what: str, parts: object) -> None:
    if not isinstance(parts, dict) or not parts:
        given = repr(parts) if not parts else f"a {type(parts).__name__}"
        example = 'aggregates.sum("x")' if what == "aggregates" else 'windows.tumbling("1h")'
        raise DefinitionError(f'{what}: {given} is not a dict of at least one name -> {what[:-1]}; write {{"name": {example}}}')


def check_mapping(what: str, parts: object, example: str) -> None:
    """A mapping, whatever it holds. `example`: of one, as Python."""
    if not isinstance(parts, Mapping):
        raise DefinitionError(f"{what}: {parts!r} is not a mapping; write {example}")


def check_derive(derive: object) -> None:
    """Names, each with SQL over a window's row."""
    if not isinstance(derive, dict) or not all(isinstance(sql, str) and sql.strip() for sql in derive.values()):
        raise DefinitionError(f'derive: {derive!r} is not a dict of name -> SQL over a row; write {{"share_late": "late / flights"}}')
    for name, sql in derive.items():
        expression(sql, f"derive[{name!r}]")


def check_columns(keys: Sequence[str], windows: Mapping[str, Kind], aggregates: Mapping[str, Aggregate], derive: Mapping[str, str]) -> None:
    """Columns of results and states that do not get into each other's way."""
    fields = distinct((aggregate, aggregate.fields) for aggregate in aggregates.values())
    states = {column.lower() for each in fields for column in each.columns} - set(RESERVED)
    for key in states.intersection(key.lower() for key in keys):
        raise DefinitionError(f"keys: {key!r} is the name of a column of the states; rename the key in the source")
    of_windows = {column.lower(): name for name, window in windows.items() for column in window.columns}
    seen: dict[str, str] = {}
    check_whole("windows", (column for window in windows.values() for column in window.columns))
    for what, names in (("keys", keys), ("aggregates", tuple(aggregates)), ("derive", tuple(derive))):
        check_whole(what, names)
        for name in names:
            if not isinstance(name, str) or not name or name.lower() in RESERVED:
                raise DefinitionError(
                    f"{what}: {name!r} is reserved or no name; results have columns of their own: {', '.join(sorted(RESERVED))}"
                )
            if window := of_windows.get(name.lower()):
                raise DefinitionError(f"{what}: windows[{window!r}] has a column {name!r} already; give one of them another name")
            if name.lower() == _INDEX or name.lower().startswith(_OURS):
                raise DefinitionError(f"{what}: {name!r}: {_INDEX!r} and names that begin with {_OURS!r} are Muntin's own; give it another")
            if name.lower() in seen:
                raise DefinitionError(
                    f"{what}: {name!r} stands twice (in {seen[name.lower()]}); columns need names of their own, upper and lower case alike"
                )
            seen[name.lower()] = what
