"""A note beside a state: the definition as it was at the last run, in words, so that a plan can say what
changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from muntin.definition.durations import spell
from muntin.definition.parts import Source
from muntin.definition.pipeline import Pipeline
from muntin.files.paths import AnyPath
from muntin.jobs.state.notes import change_note, read_note
from muntin.store.disk import write_whole

NAME = "definition.json"
FACTS = "facts.json"


def described(pipeline: Pipeline) -> dict[str, Any]:
    """The description of a definition: name of the part -> its text, or name -> text."""
    idle_us = pipeline.watermarking.idle_us
    return {
        "keys": ", ".join(pipeline.keys),
        "where": pipeline.where if isinstance(pipeline.where, str) else dict(pipeline.where or {}) or "",
        "event_time": _of_sources(pipeline, _event_time),
        "arrival": _of_sources(
            pipeline, lambda source: " ".join(filter(None, (source.arrival_order, source.arrival_time)))
        ),
        "dedupe": _of_sources(pipeline, _dedupe),
        "schedule": str(pipeline.intervals),
        "max_ahead": spell(pipeline.limits.max_ahead_us),
        "max_behind": "" if pipeline.limits.max_behind_us is None else spell(pipeline.limits.max_behind_us),
        "watermark": (
            pipeline.watermark_policy + ("" if idle_us is None else f", idle after {spell(idle_us)}")
        ),
        "states_in_windows": str(pipeline.retention.states_in_windows),
        "windows": {name: _window(pipeline, name) for name in pipeline.windows},
        "aggregates": {name: str(aggregate) for name, aggregate in pipeline.aggregates.items()},
    }


def _window(pipeline: Pipeline, window: str) -> str:
    """The kind of a window; and the keys of a rollup."""
    keys, kind = pipeline.keys_of(window), pipeline.windows[window]
    having = "" if kind.having is None else f" having {kind.having}"
    return (
        spelled(kind)
        + having
        + (f" allowed_lateness {spell(kind.lateness_us)}" if kind.lateness_us else "")
        + ("" if keys == tuple(pipeline.keys) else f" by {', '.join(keys) or 'no key'}")
    )


def _of_sources(pipeline: Pipeline, text_of: Callable[[Source], str]) -> str | dict[str, str]:
    """The description of the source; name -> description, where there are several sources."""
    return {name: text_of(source) for name, source in pipeline.sources.items()} or text_of(pipeline.origin)


def _event_time(source: Source) -> str:
    """The column of event times, and how its values are read."""
    local = [
        f"{what}={said}"
        for what in ("ambiguous", "nonexistent")
        if (said := getattr(source, what)) != "quarantine"
    ]
    return " ".join(filter(None, (source.event_time, source.unit, source.timezone, *local)))


def _dedupe(source: Source) -> str:
    """The columns by which rows of a source are compared, and how far."""
    if changes := source.changes:
        which = f"the newest row by {changes.newest_by}" if changes.newest_by else "the last row"
        return (
            f"{', '.join(source.dedupe)}, {which}, back if {changes.deletes}, within"
            f" {spell(changes.within_us)}"
        )
    within = "" if source.dedupe_within_us is None else f" within {spell(source.dedupe_within_us)}"
    return ", ".join(source.dedupe) + within


def spelled(window: object) -> str:
    """A kind of windows with durations as people write them."""
    return re.sub(r"(\w+)_us=(\d+)", lambda match: f"{match[1]}={spell(int(match[2]))}", repr(window))


def write(state: AnyPath, pipeline: Pipeline) -> None:
    """Note the definition in the folder of its state, unless it is noted already.

    Raises:
        StateError: the disk refuses.
    """
    now = described(pipeline)
    change_note(state / NAME, lambda before: None if before == now else now)


def note_facts(state: AnyPath, facts: str) -> None:
    """Note in the folder of a state everything that determines it, for a state that may take it over.

    Raises:
        StateError: the disk refuses.
    """
    path = state / FACTS
    if not path.is_file():
        write_whole(path, facts.encode())


def noted_facts(state: AnyPath) -> Mapping[str, Any] | None:
    """The noted facts that determine a state; None where no note is there."""
    return read_note(state / FACTS)  # type: ignore[no-any-return]


def read(state: AnyPath) -> Mapping[str, Any] | None:
    """The definition of a state's last run; None where no note has it."""
    return read_note(state / NAME)  # type: ignore[no-any-return]


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The differences between two definitions, a sentence each.

    >>> differences({"keys": "a", "windows": {"day": "x"}}, {"keys": "a, b", "windows": {"day": "x",
    ...     "week": "y"}})
    ["keys: 'a' is now 'a, b'", "windows: 'week' is new: y"]
    """
    sentences = []
    for part in dict.fromkeys((*before, *now)):
        old, new = before.get(part, ""), now.get(part, "")
        if isinstance(old, dict) and isinstance(new, dict):
            sentences += [
                line
                for name in dict.fromkeys((*old, *new))
                for line in _of_name(part, name, old.get(name), new.get(name))
            ]
        elif old != new:
            sentences.append(f"{part}: {old!r} is now {new!r}")
    return sentences


def _of_name(part: str, name: str, old: str | None, new: str | None) -> list[str]:
    if old == new:
        return []
    if old is None:
        return [f"{part}: {name!r} is new: {new}"]
    return [f"{part}: {name!r} is gone" if new is None else f"{part}: {name!r} was {old}, is now {new}"]
