"""Mixtures of eviction, trigger and options that windows by arrival cannot have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.windows.arrival.policies import Count, Delta, Policy, Punctuation, Time

if TYPE_CHECKING:
    from muntin.windows.arrival.parameters import Parameters


def _by_clock(policy: Policy) -> bool:
    return isinstance(policy, Time) or (isinstance(policy, Count) and policy.or_time_us > 0)


def mixtures(window: Parameters, *, slides: bool) -> list[tuple[bool, str]]:
    """Combinations of policies that SPL does not have either, and the remedy for each."""
    adapts = any(isinstance(policy, Delta) and policy.following for policy in window.policies)
    return [
        (
            slides and any(isinstance(policy, Punctuation) for policy in window.policies),
            "punctuation only ends tumbling windows; leave out the trigger, or evict and trigger by count, time or delta",
        ),
        (
            slides and any(isinstance(policy, Count) and policy.or_time_us > 0 for policy in window.policies),
            "or_time= is for tumbling windows; leave out the trigger, or or_time=",
        ),
        (slides and adapts, "a difference that each window sets for the next is for tumbling windows; leave out the trigger"),
        (
            not slides and window.incomplete,
            "incomplete=True is for sliding windows, which have a trigger; tumbling ones come out full; flush=True gives the rest",
        ),
        (
            window.dense and (slides or not isinstance(window.evict, Time)),
            "dense=True is for tumbling windows by_time: other windows are never empty",
        ),
        (
            window.partitions is not None and isinstance(window.evict, Punctuation),
            "keep(...) is for windows by count, time or delta: punctuation ends those of all partitions, and nothing is kept for long",
        ),
        (
            window.partitions is not None and window.partitions.together and any(_by_clock(policy) for policy in window.policies),
            "keep(count=, rows=) is for windows by count and delta; for windows by time give keep(age=...)",
        ),
        (
            window.partitions is not None and window.partitions.rows >= 0 and slides and isinstance(window.evict, Delta),
            "keep(rows=) does not go with a sliding window by delta; give keep(count=...) or keep(age=...)",
        ),
        (window.partitions is not None and adapts, "keep(...) does not go with a difference that each window sets for the next"),
        (
            window.partitions is not None and window.partitions.emit and slides,
            "keep(emit=True) is for tumbling windows; a sliding one has given its results already",
        ),
    ]
