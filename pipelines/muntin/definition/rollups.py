"""Rollups: the windows of a pipeline once more for fewer of its keys, as `day.by_city` beside `day`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from muntin.definition.checks import check_mapping, listed
from muntin.definition.kinds import Kind
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

_EXAMPLE = '{"by_city": ["city"], "all": []}'
_NAME = re.compile(r"[A-Za-z0-9_-]+")


class WithRollups(dict[str, "Kind"]):
    """Windows by name, each followed by its rollups, which are of the same kind.

    Attributes:
        given: the windows alone, as the user named them.
    """

    given: Mapping[str, Kind]


def rollups_of(asked: Any, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:  # noqa: ANN401 - whatever the user gave
    """The rollups that a definition asks for: name -> key columns, fewer than all."""
    check_mapping("rollups", asked, _EXAMPLE)
    return {name: _keys(name, columns, keys) for name, columns in asked.items()}


def _keys(name: object, columns: object, keys: Sequence[str]) -> tuple[str, ...]:
    what = f"rollups[{name!r}]"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(
            f"rollups: {name!r} cannot end the name of a table, as in 'day.by_city'; use letters, digits, "
            "'_' and '-'"
        )
    fewer = listed(what, columns)
    for column in fewer:
        if column not in keys:
            there = f"the keys are {', '.join(keys)}" if keys else "the pipeline has no keys"
            raise DefinitionError(f"{what}: {column!r} is no key; {there}{did_you_mean(column, keys)}")
    if len({*fewer}) < len(fewer):
        raise DefinitionError(f"{what}: {', '.join(fewer)}: a column stands twice; name each once")
    if len(fewer) == len(keys):
        mend = (
            "leave at least one of them out"
            if keys
            else "without keys a window has all events already; leave rollups out"
        )
        raise DefinitionError(
            f"{what}: {', '.join(fewer) or 'no column'}: a rollup has fewer keys than the pipeline; {mend}"
        )
    return fewer


def with_rollups(windows: Mapping[str, Kind], rollups: Mapping[str, Sequence[str]]) -> Mapping[str, Kind]:
    """The windows and their rollups."""
    if not rollups:
        return windows
    for name, window in windows.items():
        if window.made_of.of_rows:
            raise DefinitionError(
                f"rollups: windows[{name!r}] goes by single rows: which rows make a window is told by the "
                "rows of each key before them, "
                f"so that the windows of fewer keys are made of other rows. Put {name!r} into a pipeline "
                "without rollups; for fewer keys, "
                "into one with these keys"
            )
    all_windows = WithRollups()
    all_windows.given = windows
    for name, window in windows.items():
        all_windows[name] = window
        for rolled in (rollup_name(name, rollup) for rollup in rollups):
            if rolled in windows:
                raise DefinitionError(
                    f"rollups: {rolled!r} is a window of its own already; give it or the rollup another "
                    "name, or leave it out of windows: "
                    "a rollup makes its windows itself"
                )
            all_windows[rolled] = window
    return all_windows


def given_windows(windows: Any) -> Any:  # noqa: ANN401 - whatever the user gave
    """The windows without rollups: a definition made of another definition has rollups already."""
    return windows.given if isinstance(windows, WithRollups) else windows


def rollup_name(window: str, rollup: str) -> str:
    """The name of a rollup of a window.

    >>> rollup_name("day", "by_city")
    'day.by_city'
    """
    return f"{window}.{rollup}"
