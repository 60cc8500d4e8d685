"""The sinks of a pipeline: each of one of its windows, each once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muntin.definition.kinds import Kind
    from muntin.definition.parts import Sink


_BOUNDS = ("window_start", "window_end")
_OWN = ("revision", "change")  # columns that changes have in addition to the columns of windows


def sinks_of(
    to: Any,  # noqa: ANN401 - whatever the user gave
    windows: Mapping[str, Kind],
    columns: Sequence[str],
    keys_of: Callable[[str], Sequence[str]],
) -> tuple[Sink, ...]:
    """The sinks, each with its window.

    Args:
        to: what the user gave.
        windows: of the pipeline.
        columns: names of keys and results.
        keys_of: window -> its keys.

    Raises:
        DefinitionError: something is no sink, names no window, or stands twice; or a key or result has a name that
            changes need, or that the sink cannot have.
    """
    given = [to] if hasattr(to, "opened") else to
    if isinstance(given, str) or not all(hasattr(sink, "opened") for sink in given):
        raise DefinitionError(f'to: {to!r} is not a list of sinks; write [sinks.postgres("warehouse", table="flights_day", window="day")]')
    found = tuple(_with_window(sink, windows) for sink in given)
    for sink in found:
        sink.check_keys(keys_of(str(sink.window)))
        sink.check_columns([*dict.fromkeys([*columns, *_BOUNDS, *windows[str(sink.window)].columns, "revision"])])
    for name, count in Counter(sink.name for sink in found).items():
        if count > 1:
            raise DefinitionError(f"to: the {name} stands {count} times; each window needs a place of its own")
    for name in _OWN if found else ():
        if name in columns:
            raise DefinitionError(f"to: changes have a column {name!r} of their own; give the key or result of this name another")
    return found


def _with_window(sink: Sink, windows: Mapping[str, Kind]) -> Sink:
    there = ", ".join(windows)
    if sink.window is None:
        if len(windows) != 1:
            raise DefinitionError(f"to: the {sink.name}: say which window goes there, as window=...; there are {there}")
        return sink.of(next(iter(windows)))
    if sink.window not in windows:
        near = did_you_mean(sink.window, windows)
        raise DefinitionError(f"to: the {sink.name}: there is no window {sink.window!r}; there are {there}{near}")
    return sink
