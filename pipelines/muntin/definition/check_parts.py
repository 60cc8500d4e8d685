"""Checks of a pipeline's sinks, each of a window of its own, and of its look-ups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from muntin.definition.kinds import Kind
from muntin.definition.parts import Sink, Source
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

_BOUNDS = ("window_start", "window_end")
_OWN = ("revision", "change")  # columns that changes have in addition to the columns of windows


def sinks_of(
    to: Any,  # noqa: ANN401 - whatever the user gave
    windows: Mapping[str, Kind],
    columns: Sequence[str],
    keys_of: Callable[[str], Sequence[str]],
) -> tuple[Sink, ...]:
    """The sinks, each with its window.

    `to`: what the user gave. `windows`: of the pipeline. `columns`: names of keys and results. `keys_of`:
    window -> its keys.
    """
    given = [to] if hasattr(to, "opened") else to
    if isinstance(given, str) or not all(hasattr(sink, "opened") for sink in given):
        raise DefinitionError(
            f'to: {to!r} is not a list of sinks; write [sinks.postgres("warehouse", table="flights_day", '
            'window="day")]'
        )
    named_sinks = tuple(one for sink in given for one in _with_windows(sink, windows))
    for sink in named_sinks:
        sink.check_keys(keys_of(str(sink.window)))
        sink.check_columns(
            [*dict.fromkeys([*columns, *_BOUNDS, *windows[str(sink.window)].columns, "revision"])]
        )
    for name, count in Counter(sink.name for sink in named_sinks).items():
        if count > 1:
            raise DefinitionError(
                f"to: the {name} stands {count} times; each window needs a place of its own"
            )
    for name in _OWN if named_sinks else ():
        if name in columns:
            raise DefinitionError(
                f"to: changes have a column {name!r} of their own; give the key or result of this name "
                "another"
            )
    return named_sinks


def _with_windows(sink: Sink, windows: Mapping[str, Kind]) -> list[Sink]:
    """The sink of its window; of each window, where its name says so."""
    if sink.window is None and sink.of_each:
        return [sink.of(window) for window in windows]
    return [_with_window(sink, windows)]


def _with_window(sink: Sink, windows: Mapping[str, Kind]) -> Sink:
    there = ", ".join(windows)
    if sink.window is None:
        if len(windows) != 1:
            raise DefinitionError(
                f"to: the {sink.name}: say which window goes there, as window=...; there are {there}"
            )
        return sink.of(next(iter(windows)))
    if sink.window not in windows:
        near = did_you_mean(sink.window, windows)
        raise DefinitionError(
            f"to: the {sink.name}: there is no window {sink.window!r}; there are {there}{near}"
        )
    return sink


def check_lookups(given: object, source: Source, sources: Collection[str]) -> None:
    """Look-ups by name, which go with the source."""
    if not isinstance(given, Mapping):
        raise DefinitionError(
            f'lookups: {given!r} is not a mapping; write {{"rates": '
            f'sources.lookup(sources.files("rates/*.csv"), ...)}}'
        )
    for name, each in given.items():
        _check_one(name, each)
        _check_of(name, each.of, source, sources)


def _check_one(name: Any, each: Any) -> None:  # noqa: ANN401 - whatever the user gave
    if (
        not isinstance(name, str)
        or not name.isidentifier()
        or not name.isascii()
        or name.lower().startswith("muntin")
    ):
        raise DefinitionError(
            f'lookups: {name!r} cannot name a look-up; use letters, digits and "_", as "rates"'
        )
    if not hasattr(each, "since") or not hasattr(each, "required"):
        raise DefinitionError(
            f'lookups[{name!r}]: {each!r} is no look-up; give sources.lookup(sources.files("rates/*.csv"), '
            "keys=[...], ...)"
        )


def _check_of(name: str, of: Collection[str], source: Source, sources: Collection[str]) -> None:
    for wanted in (
        of if source.member is None else ()
    ):  # of a source among several, alone: the whole was checked
        if wanted not in sources:
            there = (
                f"the sources are {', '.join(map(repr, sources))}"
                if sources
                else "the only source has no name; leave of= out"
            )
            raise DefinitionError(f"lookups[{name!r}]: of: there is no source {wanted!r}; {there}")
