"""Checks of windows and aggregates against each other, the source and the columns of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muntin.definition.checks import INDEX, OURS, RESERVED, check_choice, check_name
from muntin.definition.expressions import steady
from muntin.definition.kinds import Kind
from muntin.definition.parts import Aggregate, Source, distinct
from muntin.definition.spelling import check_whole, did_you_mean
from muntin.errors import DefinitionError


def resolved(source: Source, aggregates: Any) -> Any:  # noqa: ANN401 - whatever the user gave
    """Aggregates, with each merged aggregate replaced by the upstream's aggregate."""
    upstream, given = source.upstream, aggregates if isinstance(aggregates, dict) else {}
    merged = {name: each for name, each in given.items() if hasattr(each, "taken_from")}
    if merged and not (upstream and upstream.retention.states_in_windows):
        where = (
            f"say retain=Retain(states_in_windows=True) in {upstream.name!r}"
            if upstream
            else "give sources.windows(upstream, window) as source"
        )
        raise DefinitionError(
            f"aggregates[{next(iter(merged))!r}]: merge combines the states of upstream windows; {where}"
        )
    theirs = upstream.row_aggregates if upstream else {}
    return {
        name: each.taken_from(theirs) if name in merged else each for name, each in given.items()
    } or aggregates


def check_windows(windows: Any, source: Source, aggregates: Any) -> None:  # noqa: ANN401 - whatever the user gave
    """Windows, each with a name, that go with the source and the aggregates."""
    _check_dict("windows", windows)
    for name, window in windows.items():
        check_name("windows", name)
        if not hasattr(window, "assign"):
            raise DefinitionError(
                f'windows[{name!r}]: {window!r} is not a window; give windows.tumbling("1h"), '
                "windows.sliding(...), windows.session(...)"
            )
        if problem := window.misfit(source):
            raise DefinitionError(f"windows[{name!r}]: {problem}")
        if window.rows_out and not any(each.gives_lists for each in aggregates.values()):
            raise DefinitionError(
                f'windows[{name!r}]: output="rows" takes lists apart; add one, as '
                'aggregates.collect_sorted("x")'
            )


def carrying(windows: Mapping[str, Kind], aggregates: Mapping[str, Aggregate]) -> dict[str, Kind]:
    """The windows, in which values last as long as the aggregates ask."""
    lasting = {name: each.carry.us for name, each in aggregates.items() if each.carry}
    carrying_windows: dict[str, Kind] = {}
    for name, window in windows.items():
        kind = window.carrying(max(lasting.values(), default=None))
        if kind is None:
            raise DefinitionError(
                f"windows[{name!r}]: aggregates[{next(iter(lasting))!r}] has values from before a window "
                "(carry=), and rows or a table "
                "decide where these windows begin; take windows that are there by the clock (tumbling, "
                "sliding, cumulating, trailing), or "
                f"put {name!r} into a pipeline without carry"
            )
        carrying_windows[name] = kind
    return carrying_windows


def check_given_keys(name: str, window: Kind, keys: Sequence[str]) -> None:
    """See that the keys that decide where windows lie are keys of the windows; a rollup has fewer."""
    for key in window.by_keys:
        if key not in keys:
            there = f"keys of its windows are {', '.join(keys)}" if keys else "its windows have no keys"
            raise DefinitionError(
                f"windows[{name!r}]: the table of spans has the key {key!r}, and "
                f"{there}{did_you_mean(key, keys)}; "
                "leave the key out of keys= in windows.given(...), or give the windows without it a pipeline "
                "of their own"
            )


def check_alerts(
    alerts: Any,  # noqa: ANN401 - as above
    keys: Sequence[str],
    windows: Mapping[str, Kind],
    results: Sequence[str],
) -> None:
    """Alerts, or none, whose columns are columns of results."""
    if alerts is None:
        return
    for rule in getattr(alerts, "revised", ()):
        if rule.of is not None:
            check_choice("alerts: revised: of", rule.of, tuple(results))
    columns = {*keys, *results, *(column for window in windows.values() for column in window.columns)}
    result_columns = {column.lower() for column in columns}
    for name in sorted(alerts.mask):
        if name.lower() not in result_columns:
            raise DefinitionError(
                f"alerts: mask: no result has a column {name!r}; the columns are {', '.join(sorted(columns))}"
            )


def alerts_of(asked: Any) -> Any:  # noqa: ANN401 - as above
    """The alerts of a definition; of a list one value."""
    if isinstance(asked, list | tuple) and not asked:
        return None
    first, *others = asked if isinstance(asked, list | tuple) else (asked,)
    for each in (first, *others) if first is not None else ():
        if not hasattr(each, "channels"):
            raise DefinitionError(
                f'alerts: {each!r} are no alerts; give alerts.to("alerts"), with the name of an Airflow '
                "connection"
            )
    if hasattr(first, "joined"):
        return first.joined(others)
    if others:
        raise DefinitionError(f"alerts: {first!r} cannot be joined with others; give it alone")
    return first


def check_aggregates(aggregates: Any) -> None:  # noqa: ANN401 - whatever the user gave
    """Aggregates, each with a name, whose states follow from the rows alone; and SQL over their results."""
    _check_dict("aggregates", aggregates)
    if all(isinstance(each, str) for each in aggregates.values()):
        name, sql = next(iter(aggregates.items()))
        raise DefinitionError(
            f"aggregates[{name!r}]: {sql!r} is SQL over results of aggregates, and no aggregate gives any; "
            "add one, as aggregates.count()"
        )
    for name, aggregate in aggregates.items():
        if isinstance(aggregate, str):
            continue
        if not hasattr(aggregate, "fields") or not hasattr(aggregate, "finish"):
            raise DefinitionError(
                f"aggregates[{name!r}]: {aggregate!r} is not an aggregate; give aggregates.count(), "
                'aggregates.sum("x"), ...'
            )
        for lift in (lift for field in aggregate.fields for _, lift in field.parts if isinstance(lift, str)):
            if problem := steady(lift):
                raise DefinitionError(f"aggregates[{name!r}]: {lift!r} {problem}")


def _check_dict(what: str, parts: object) -> None:
    if not isinstance(parts, dict) or not parts:
        given = repr(parts) if not parts else f"a {type(parts).__name__}"
        example = 'aggregates.sum("x")' if what == "aggregates" else 'windows.tumbling("1h")'
        raise DefinitionError(
            f'{what}: {given} is not a dict of at least one name -> {what[:-1]}; write {{"name": {example}}}'
        )


def check_columns(
    keys: Sequence[str],
    windows: Mapping[str, Kind],
    aggregates: Mapping[str, Aggregate],
    derived: Mapping[str, str],
) -> None:
    """Columns of results and states that do not get into each other's way."""
    fields = distinct((aggregate, aggregate.fields) for aggregate in aggregates.values())
    states = {column.lower() for each in fields for column in each.columns} - set(RESERVED)
    for key in states.intersection(key.lower() for key in keys):
        raise DefinitionError(
            f"keys: {key!r} is the name of a column of the states; rename the key in the source"
        )
    of_windows = {column.lower(): name for name, window in windows.items() for column in window.columns}
    seen: dict[str, str] = {}
    check_whole("windows", (column for window in windows.values() for column in window.columns))
    for what, names in (("keys", keys), ("aggregates", (*aggregates, *derived))):
        check_whole(what, names)
        for name in names:
            if not isinstance(name, str) or not name or name.lower() in RESERVED:
                raise DefinitionError(
                    f"{what}: {name!r} is reserved or no name; results have columns of their own: "
                    f"{', '.join(sorted(RESERVED))}"
                )
            if window := of_windows.get(name.lower()):
                raise DefinitionError(
                    f"{what}: windows[{window!r}] has a column {name!r} already; give one of them another "
                    "name"
                )
            if name.lower() == INDEX or name.lower().startswith(OURS):
                raise DefinitionError(
                    f"{what}: {name!r}: {INDEX!r} and names that begin with {OURS!r} are Muntin's own; give "
                    "it another"
                )
            if name.lower() in seen:
                raise DefinitionError(
                    f"{what}: {name!r} stands twice (in {seen[name.lower()]}); columns need names of their "
                    "own, upper and lower case alike"
                )
            seen[name.lower()] = what
