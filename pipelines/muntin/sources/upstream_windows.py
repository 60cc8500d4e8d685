"""A pipeline's published windows as the events of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from muntin.definition.checks import check_choice
from muntin.definition.kinds import Bounded
from muntin.errors import DefinitionError
from muntin.old_names import old_names_refused
from muntin.sources.row_source import LastingFiles

if TYPE_CHECKING:
    from pathlib import Path

    from muntin.definition.pipeline import Pipeline
    from muntin.definition.schedule import Schedule


@dataclass(frozen=True, slots=True)
class WindowSource(LastingFiles):
    """The windows of `upstream` named `window`; a batch is what the upstream's batch of the same interval
    closed.
    """

    upstream: Pipeline = field()  # type: ignore[assignment]
    window: str

    call = "sources.windows(...)"
    listing = "muntin.jobs.inputs.listings.of_windows"
    batch_column = "batch"  # type: ignore[assignment]

    def below(self, home: str | Path) -> WindowSource:  # noqa: ARG002 - the upstream's state is found by the root
        return self

    def facts(self, schedule: Schedule) -> dict[str, Any]:  # noqa: ARG002 - as for any source
        return {}

    @property
    def order(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns that order windows of a batch, whatever files they lie in; rows of the same window are
        together.
        """
        kind = self.upstream.windows[self.window]
        return tuple(
            dict.fromkeys(
                (
                    *self.section,
                    "window_end",
                    "window_start",
                    *self.upstream.keys_of(self.window),
                    *kind.columns,
                )
            )
        )

    @property
    def section(self) -> tuple[str, ...]:  # type: ignore[override]
        """The columns that tell one window of the upstream from another, all its keys or groups together."""
        kind = self.upstream.windows[self.window]
        return (
            (*self.upstream.keys, "window_index")
            if kind.made_of.by_arrival
            else ("window_end", "window_start")
        )

    @property
    def behind_us(self) -> int:
        """How far behind the upstream's watermark the times of windows still to come may be.

        A window whose end belongs to it is open while an event may come at its end: its time is then the
            watermark, not before it.
        """
        kind = self.upstream.windows[self.window]
        by_start = self.event_time == "window_start"
        reach = kind.follows.longest_us if by_start and isinstance(kind.follows, Bounded) else 0
        return kind.grace_us + max(0, kind.inside_us - 1) + reach


@old_names_refused
def windows(
    upstream: Pipeline, window: str, *, event_time: Literal["window_start", "window_end"] = "window_end"
) -> WindowSource:
    """Windows over windows: each published window of another pipeline is an event.

    Its columns are the columns of `read`; its time is the window's end, or its start. A batch holds the
    windows that the upstream's batch of the same interval closed, so both have one schedule; a batch that the
    upstream publishes anew is read again by the next run. Time is known as far as the upstream can publish no
    more windows before it. Windows come in the order in which they end; windows that end together in the
    order of their starts, and then of their keys.

    Args:
        upstream: the other pipeline; its state is below the same root.
        window: the name of one of its windows.
        event_time: the column that says when an event happened. An hour that ends at midnight counts by its
            "window_end" in the next day; for hours by the day say "window_start".

    Raises:
        DefinitionError: no such window; or "window_start" of windows that may be of any length.
    """
    if not hasattr(upstream, "windows") or not hasattr(upstream, "intervals"):
        raise DefinitionError(
            f"sources.windows: {upstream!r} is not a pipeline; give the Pipeline whose windows are the events"
        )
    if window not in upstream.windows:
        raise DefinitionError(
            f"sources.windows: no window {window!r} in pipeline {upstream.name!r}; there are"
            f" {', '.join(upstream.windows)}"
        )
    check_choice("event_time", event_time, ("window_start", "window_end"))
    kind = upstream.windows[window]
    if event_time == "window_start" and (kind.given_by is not None or not isinstance(kind.follows, Bounded)):
        raise DefinitionError(
            f"event_time: windows of {window!r} may be of any length, so the start of the next one is never "
            'known to be past; say "window_end"'
        )
    return WindowSource(upstream, window, event_time=event_time, arrival_order="window_end")
