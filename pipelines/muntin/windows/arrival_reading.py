"""Columns that windows by arrival read, their rules for the engine, policies that do not go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from muntin.definition.expressions import Plain, stem
from muntin.engine.arrival.rules import Measure, Rules
from muntin.windows.arrival_policies import BORDERS, Count, Delta, Keep, Policy, Punctuation, Time


class Parameters(Protocol):
    """The parameters of `arrival`. `policies`: evict, and trigger if there is a trigger."""

    @property
    def evict(self) -> Policy: ...
    @property
    def trigger(self) -> Policy | None: ...
    @property
    def policies(self) -> Sequence[Policy]: ...
    @property
    def incomplete(self) -> bool: ...
    @property
    def flush(self) -> bool: ...
    @property
    def dense(self) -> bool: ...
    @property
    def partitions(self) -> Keep | None: ...
    @property
    def group_by(self) -> tuple[str, ...]: ...


def lifts(window: Parameters) -> Mapping[str, str]:
    """Column of a state -> the SQL aggregate that fills it from a row."""
    columns = {}
    for policy in window.policies:
        if isinstance(policy, Delta):
            value = f"epoch_us(({policy.of})::TIMESTAMPTZ)" if policy.in_time else policy.of
            columns[_value(policy)] = Plain(f"any_value({value})", "value", value)
        elif isinstance(policy, Punctuation) and policy.at not in BORDERS:
            columns[_marker(policy)] = Plain(
                f"coalesce(bool_or({policy.at}), false)", "value", f"coalesce({policy.at}, false)"
            )
    return columns | {
        _group(name): Plain(f'any_value("{name}")', "value", f'"{name}"') for name in window.group_by
    }


def needs(window: Parameters) -> list[tuple[str, str]]:
    """The SQL expressions of the policies, with what each must be."""
    expressions = [
        (policy.of, "instant" if policy.in_time else "number")
        for policy in window.policies
        if isinstance(policy, Delta)
    ]
    expressions += [(f'"{name}"', "order") for name in window.group_by]
    return expressions + [
        (each.at, "condition")
        for each in window.policies
        if isinstance(each, Punctuation) and each.at not in BORDERS
    ]


def of_results(window: Parameters) -> list[str]:
    """The SQL expressions over a window's results that say when the next window is full."""
    return [policy.following for policy in window.policies if isinstance(policy, Delta) and policy.following]


def rules(window: Parameters) -> Rules:
    """The definition in numbers and names of columns."""
    evict, keep = window.evict, window.partitions or Keep()
    at = evict.at if isinstance(evict, Punctuation) else ""
    return Rules(
        evict=_measure(evict),
        trigger=None if window.trigger is None else _measure(window.trigger),
        following=evict.following if isinstance(evict, Delta) else "",
        marker=_marker(evict) if isinstance(evict, Punctuation) and at not in BORDERS else "",
        ends_with="batch"
        if at == "batch"
        else "file"
        if at in BORDERS
        else "",  # windows upstream are a file each
        incomplete=window.incomplete,
        flush=window.flush,
        dense=window.dense,
        age_us=keep.age_us,
        emit=keep.emit,
        most_partitions=keep.count,
        most_rows=keep.rows,
        groups=tuple((name, _group(name)) for name in window.group_by),
    )


def _measure(policy: Policy) -> Measure:
    match policy:
        case Count(rows, or_time_us):
            return Measure(rows=rows, time_us=or_time_us)
        case Time(size_us):
            return Measure(time_us=size_us)
        case Delta():
            return Measure(difference=policy.size, column=_value(policy), absolute=policy.absolute)
        case Punctuation():
            return Measure()


def _value(policy: Delta) -> str:
    return stem("delta", f"{policy.of} in time" if policy.in_time else policy.of)


def _marker(policy: Punctuation) -> str:
    return stem("marker", policy.at)


def _group(name: str) -> str:
    return stem("group", name)


def _by_clock(policy: Policy) -> bool:
    return isinstance(policy, Time) or (isinstance(policy, Count) and policy.or_time_us > 0)


def mixtures(window: Parameters, *, slides: bool) -> list[tuple[bool, str]]:
    """Combinations of policies that SPL does not have either, and the remedy for each."""
    adapts = any(isinstance(policy, Delta) and policy.following for policy in window.policies)
    return [
        (
            slides and any(isinstance(policy, Punctuation) for policy in window.policies),
            "punctuation only ends tumbling windows; leave out the trigger, or take count, time or delta",
        ),
        (
            slides and any(isinstance(policy, Count) and policy.or_time_us > 0 for policy in window.policies),
            "or_time= is for tumbling windows; leave out the trigger, or or_time=",
        ),
        (
            slides and adapts,
            "a difference that each window sets for the next is for tumbling windows; leave out the trigger",
        ),
        (
            not slides and window.incomplete,
            "incomplete=True is for sliding windows; tumbling windows are full; flush=True gives the rest",
        ),
        (
            window.dense and (slides or not isinstance(window.evict, Time)),
            "dense=True is for tumbling windows by_time: other windows are never empty",
        ),
        (
            window.partitions is not None and isinstance(window.evict, Punctuation),
            "keep(...) is for count, time or delta: punctuation ends all, and nothing is kept for long",
        ),
        (
            window.partitions is not None
            and window.partitions.together
            and any(_by_clock(policy) for policy in window.policies),
            "keep(count=, rows=) is for windows by count and delta; for windows by time give keep(age=...)",
        ),
        (
            window.partitions is not None
            and window.partitions.rows >= 0
            and slides
            and isinstance(window.evict, Delta),
            "keep(rows=) does not go with a sliding window by delta; give keep(count=...) or keep(age=...)",
        ),
        (
            window.partitions is not None and adapts,
            "keep(...) does not go with a difference that each window sets for the next",
        ),
        (
            window.partitions is not None and window.partitions.emit and slides,
            "keep(emit=True) is for tumbling windows; a sliding one has given its results already",
        ),
    ]
