"""What must hold of a pipeline's definition, and what to say where it does not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pipelines.definition.instants import instant_us
from pipelines.definition.schedule import schedule_of
from pipelines.errors import DefinitionError

if TYPE_CHECKING:
    from pipelines.definition.pipeline import Pipeline

RESERVED = ("window_start", "window_end", "batch", "provisional", "bucket", "frame", "rows", "first_event", "last_event", "newest_event")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def listed(what: str, names: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    """Names in a list, as a tuple."""
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise DefinitionError(f'{what}: {names!r} is not a list of column names; write ["origin"], or [] for none')
    return tuple(names)


def check_name(what: str, name: object) -> None:
    """A name that a folder and a DAG may have."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(f"{what}: {name!r} cannot name a folder and a DAG; use letters, digits, '_', '-' and '.'")


def check_choice(what: str, choice: object, choices: tuple[str, ...]) -> None:
    """One of these."""
    if choice not in choices:
        raise DefinitionError(f"{what}: {choice!r} is not possible; choose from {', '.join(map(repr, choices))}")


def check_source(source: object) -> None:
    """Something that says where events are."""
    if not hasattr(source, "event_time"):
        raise DefinitionError(
            f'source: {source!r} is not a source; give sources.files("data/{{start:%Y-%m-%d}}.parquet", event_time="...")'
        )


def tumbling(windows: Any) -> Any:  # noqa: ANN401 - whatever the user gave
    """A policy alone, as `by_count(100)`, is the arrival window that tumbles by it."""
    from pipelines.windows.arrival import arrival
    from pipelines.windows.policies import Policy

    if not isinstance(windows, dict):
        return windows
    return {name: arrival(window) if isinstance(window, Policy) else window for name, window in windows.items()}


def check_upstream(pipeline: Pipeline) -> None:
    """Windows over windows: one schedule, and states where they are merged."""
    from pipelines.aggregates import Merge

    upstream = getattr(pipeline.source, "upstream", None)
    given = pipeline.aggregates if isinstance(pipeline.aggregates, dict) else {}
    merged = {name: each for name, each in given.items() if isinstance(each, Merge)}
    if merged and not (upstream and upstream.keep_states):
        where = f"say keep_states=True in {upstream.name!r}" if upstream else "give sources.windows(upstream, window) as source"
        raise DefinitionError(f"aggregates[{next(iter(merged))!r}]: merge combines the states of upstream windows; {where}")
    if upstream is None:
        return
    resolved = {name: each.of(upstream.aggregates) for name, each in merged.items()}
    object.__setattr__(pipeline, "aggregates", {name: resolved.get(name, each) for name, each in given.items()} or pipeline.aggregates)
    ours, theirs = schedule_of(pipeline.schedule, instant_us(pipeline.start, "start")), upstream.intervals
    apart = (ours.anchor_us - theirs.anchor_us) % ours.step_us if ours.step_us else 0
    if (ours.cron, ours.step_us) != (theirs.cron, theirs.step_us) or apart:
        raise DefinitionError(
            f"schedule: {ours} is not that of {upstream.name!r}, {theirs}; a batch is what the upstream's batch closed: give both the same"
        )


def check_parts(pipeline: Pipeline) -> None:
    """Windows and aggregates, each with a name, that go with the source."""
    from pipelines.aggregates import Aggregate

    for what, parts in (("windows", pipeline.windows), ("aggregates", pipeline.aggregates)):
        if not isinstance(parts, dict) or not parts:
            raise DefinitionError(f"{what}: {parts!r} is not a dict of at least one name -> {what[:-1]}")
    for name, window in pipeline.windows.items():
        check_name("windows", name)
        if not hasattr(window, "assign"):
            raise DefinitionError(
                f'windows[{name!r}]: {window!r} is not a window; give windows.tumbling("1h"), windows.sliding(...), windows.session(...)'
            )
        if problem := getattr(window, "misfit", lambda _: None)(pipeline.source):
            raise DefinitionError(f"windows[{name!r}]: {problem}")
        if "position" in window.columns and not any(str(each).startswith("collect") for each in pipeline.aggregates.values()):
            raise DefinitionError(f'windows[{name!r}]: output="rows" takes lists apart; add one, as aggregates.collect_sorted("x")')
    for name, aggregate in pipeline.aggregates.items():
        if not isinstance(aggregate, Aggregate):
            raise DefinitionError(
                f'aggregates[{name!r}]: {aggregate!r} is not an aggregate; give aggregates.count(), aggregates.sum("x"), ...'
            )


def check_derive(derive: object) -> None:
    """Names, each with SQL over a window's row."""
    if not isinstance(derive, dict) or not all(isinstance(sql, str) and sql.strip() for sql in derive.values()):
        raise DefinitionError(f'derive: {derive!r} is not a dict of name -> SQL over a row; write {{"share_late": "late / flights"}}')


def check_columns(pipeline: Pipeline) -> None:
    """Columns of results and states that do not get into each other's way."""
    seen = {column.lower(): "the states' own columns" for each in pipeline.fields for column in each.columns}
    for key in set(seen).intersection(key.lower() for key in pipeline.keys):
        raise DefinitionError(f"keys: {key!r} is the name of a column of the states; rename the key in the source")
    reserved = {*RESERVED, *(column.lower() for window in pipeline.windows.values() for column in window.columns)}
    seen = {}
    for what, names in (("keys", pipeline.keys), ("aggregates", tuple(pipeline.aggregates)), ("derive", tuple(pipeline.derive))):
        for name in names:
            if not isinstance(name, str) or not name or name.lower() in reserved:
                raise DefinitionError(
                    f"{what}: {name!r} is reserved or no name; results have columns of their own: {', '.join(sorted(reserved))}"
                )
            if name.lower() in seen:
                raise DefinitionError(
                    f"{what}: {name!r} stands twice (in {seen[name.lower()]}); columns need names of their own, upper and lower case alike"
                )
            seen[name.lower()] = what
