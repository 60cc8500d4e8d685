"""One window explained: what it is made of, what came too late, which batch and which run closed it; or why
there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from muntin.definition.instants import instant_us
from muntin.extensions.page.views.commands import Again, again
from muntin.extensions.page.views.seen import Key, Seen
from muntin.extensions.page.views.trends import published_at
from muntin.jobs.inspect.explain import Explained, Part, explain
from muntin.jobs.inspect.one_key import value_of

PARTS = 200
"""So many states are shown."""


@dataclass(frozen=True, slots=True)
class Run:
    """A task of Airflow's that published: ids of the run and the task, the state of the task."""

    run_id: str
    task_id: str
    state: str | None


class Runs(Protocol):
    """The known runs that published batches."""

    def __call__(self, pipeline: str, window: str, batch_us: int, published: datetime) -> Sequence[Run]:
        """The tasks that published the windows of a batch, whose report was written at an instant."""
        ...


def no_runs(pipeline: str, window: str, batch_us: int, published: datetime) -> Sequence[Run]:  # noqa: ARG001 - nothing is known
    """No runs, as there is no Airflow."""
    return ()


@dataclass(frozen=True, slots=True)
class ReportedWindow:
    """A window; instants in microseconds.

    Attributes:
        values: its row.
        start_us, end_us: its bounds.
        closed_us: start of the batch that closed it; None: it is open.
        published: when the windows of that batch were last published.
        runs: the tasks that did.
        parts, missed: the first of its states, and of states that came too late.
        part_count, missed_count: how many they are.
        again: how the batches run again that it is made of.
        hidden: the `having` that does not hold for it; None: readers see it.
    """

    values: Mapping[str, Any]
    start_us: int
    end_us: int
    closed_us: int | None
    published: datetime | None
    runs: tuple[Run, ...]
    parts: tuple[Part, ...]
    missed: tuple[Part, ...]
    part_count: int
    missed_count: int
    again: Again | None
    hidden: str | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """The windows of a key that hold an instant; or why there is none."""

    window: str
    key: Key
    at: datetime
    windows: tuple[ReportedWindow, ...]
    why_none: str | None


def reported(
    at: Seen, window: str, key: Key, moment: datetime, runs: Runs, *, ends: datetime | None = None
) -> Reported:
    """Explain the windows of a key that hold an instant; `ends`: only the window that starts then and ends at
    this instant.
    """
    schema = at.bound.store.snapshot(at.bound.frames_of(window).table).schema
    names = () if schema is None else at.pipeline.keys_of(window)
    values = [
        value_of(name, text, schema.field(name).type).as_py()
        for name, text in zip(names, key, strict=False)
        if schema
    ]
    explanation = explain(at.pipeline, window, root=at.place.root, key=values or key, at=moment)
    this = [
        one
        for one in explanation.windows
        if ends and one.window["window_start"] == moment and one.window["window_end"] == ends
    ]
    windows = tuple(_reported(at, window, one, runs) for one in this or explanation.windows)
    return Reported(window, key, moment, windows, explanation.why_none)


def _reported(at: Seen, window: str, one: Explained, runs: Runs) -> ReportedWindow:
    starts = [_us(part.batch) for part in (*one.parts, *one.missed)]
    closed = None if one.closed_by is None else _us(one.closed_by)
    published = None if closed is None else published_at(at.bound.store, closed)
    return ReportedWindow(
        {name: value for name, value in one.window.items() if name not in ("window_start", "window_end")},
        _us(one.window["window_start"]),
        _us(one.window["window_end"]),
        closed,
        published,
        tuple(runs(at.name, window, closed, published)) if published and closed is not None else (),
        one.parts[:PARTS],
        one.missed[:PARTS],
        len(one.parts),
        len(one.missed),
        again(at.place, min(starts), at.pipeline.intervals.after(max(starts)), max(starts))
        if starts
        else None,
        one.hidden,
    )


def _us(moment: datetime) -> int:
    return instant_us(moment, "time")
