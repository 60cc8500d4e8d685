"""Rules that a pipeline's definition must keep, and the error for each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from muntin.definition.expressions import expression
from muntin.definition.parts import Source
from muntin.definition.schedule import Schedule
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

RESERVED = (
    "window_start",
    "window_end",
    "batch",
    "provisional",
    "bucket",
    "frame",
    "rows",
    "first_event",
    "last_event",
    "newest_event",
)
INDEX = "window_index"
"""The column of windows by arrival that says which comes first; readers know such windows by it."""
_OF_WINDOWS = {*RESERVED, INDEX, "tie", "cut", "ended", "revision", "change"}
OURS = "muntin_"
"""What begins with it is no column of a user's, in the source neither."""
_LONGEST = 128
_LOG = "_delta_log"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def is_reserved(name: str) -> bool:
    """Whether a column of a kind of windows has a name of Muntin's own in states, windows or changes."""
    return name.lower() in _OF_WINDOWS or name.lower().startswith("state_")


def listed(what: str, names: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    """Names in a list, as a tuple."""
    if (
        isinstance(names, str)
        or not isinstance(names, Iterable)
        or not all(isinstance(name, str) and name for name in names)
    ):
        raise DefinitionError(
            f'{what}: {names!r} is not a list of column names; write ["origin"], or [] for none'
        )
    return tuple(names)


def check_name(what: str, name: object) -> None:
    """A name that a folder and a DAG may have, and that is not the name of a table's own folder."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(
            f"{what}: {name!r} cannot name a folder and a DAG; use letters, digits, '_', '-' and '.'"
        )
    if len(name) > _LONGEST:
        raise DefinitionError(
            f"{what}: {name[:20]}... has {len(name)} characters; a folder and a DAG have names of {_LONGEST} "
            "at most"
        )
    if name.lower() == _LOG:
        raise DefinitionError(f"{what}: {name!r} is the folder of each table's own log; give another name")


def check_renamed(
    name: str, before: str | None, windows: Mapping[str, object], windows_before: Mapping[str, str]
) -> None:
    """Check that earlier names are not among the names in use."""
    if before == name:
        raise DefinitionError(f"renamed: pipeline: {before!r} is the name itself; leave it out")
    for window, old in windows_before.items():
        check_choice("renamed: windows", window, tuple(windows))
        if old in windows:
            raise DefinitionError(
                f"renamed: windows: {old!r} is a window of this definition, so {window!r} cannot have its "
                "table"
            )


def check_choice(what: str, choice: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is not among the choices."""
    if choice not in choices:
        raise DefinitionError(
            f"{what}: {choice!r} is not possible; choose from {', '.join(map(repr, choices))}"
            + (did_you_mean(choice, choices) if isinstance(choice, str) else "")
        )


def check_share(what: str, share: object) -> None:
    """A part of a whole, or None."""
    if share is None:
        return
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise DefinitionError(
            f"{what}: {share!r} is not a share of rows; write a number from 0 to 1, as 0.01 for one row in a "
            "hundred"
        )


def check_source(source: object, what: str = "source") -> None:
    """Something that says where events are."""
    if not hasattr(source, "event_time"):
        raise DefinitionError(
            f'{what}: {source!r} is not a source; give sources.files("data/{{start:%Y-%m-%d}}.parquet", '
            'event_time="...")'
        )
    if source.event_time == "":
        raise DefinitionError(
            f"{what}: event_time is missing; name the column that says when an event happened, as "
            'event_time="at"'
        )


def check_batches(name: str, source: Source, ours: Schedule) -> None:
    """Refuse a source with other batches than the schedule's, and an upstream of the pipeline's own name."""
    if problem := source.misfit(ours):
        raise DefinitionError(problem)
    if source.upstream is None:
        return
    if source.upstream.name.lower() == name.lower():
        raise DefinitionError(
            f"name: {name!r} is the name of the upstream, whose state has it; give this pipeline another"
        )
    theirs = source.upstream.intervals
    apart = (ours.anchor_us - theirs.anchor_us) % ours.step_us if ours.step_us else 0
    if (ours.cron, ours.step_us, ours.timezone) != (theirs.cron, theirs.step_us, theirs.timezone) or apart:
        raise DefinitionError(
            f"schedule: {ours} is not that of {source.upstream.name!r}, {theirs}; "
            "a batch is what the upstream's batch closed: give both the same"
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
        raise DefinitionError(
            f'{what}: {where!r} is not a SQL condition; write one, as "dep_delay is not null", or leave it '
            "out"
        )
    expression(where, what)


def check_asking(within: object, guarded: Collection[str]) -> None:
    """Refuse a question that nothing leads to. `guarded`: the windows that may be held."""
    if within is not None and not guarded:
        raise DefinitionError(
            'limits: ask_within: there are no expectations, and on_revision is "publish", so nothing is ever '
            "held; give one of them, or leave it out"
        )


def check_mapping(what: str, parts: object, example: str) -> None:
    """Check that a value is a mapping. `example`: such a mapping, as Python."""
    if not isinstance(parts, Mapping):
        raise DefinitionError(f"{what}: {parts!r} is not a mapping; write {example}")


def check_derived(derived: Mapping[str, str]) -> None:
    """Check SQL over a window's row; name -> SQL."""
    for name, sql in derived.items():
        if not sql.strip():
            raise DefinitionError(
                f"aggregates[{name!r}]: {sql!r} is no SQL; write one over a window's row, "
                'as "late / flights"'
            )
        expression(sql, f"aggregates[{name!r}]")
