"""The frames that a pipeline keeps. Windows share a set of frames where the width of the frames divides theirs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.definition.durations import spell
from pipelines.definition.kinds import Bounded, RowStates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.definition.pipeline import Pipeline

FAR_APART = 10_000  # frames per window: beyond it a second, coarser set is cheaper than reading the fine one


@dataclass(frozen=True, slots=True)
class FrameSet:
    """Frames of one width, and the windows made of them.

    Attributes:
        width_us: how wide a frame is.
        windows: the names of the windows made of them.
        event_times: whether states have the times of their first and last event.
        by_arrival: whether each row is a state, for windows by arrival.
        lifts: column of a state -> SQL aggregate that fills it: columns that windows by arrival read, beside the fields.
    """

    width_us: int
    windows: tuple[str, ...]
    event_times: bool
    by_arrival: bool = False
    lifts: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The table of its states, below the pipeline's state folder."""
        return "frames/rows" if self.by_arrival else f"frames/{spell(self.width_us)}"


def frame_sets(pipeline: Pipeline) -> list[FrameSet]:
    """The frame sets of a pipeline, finest first. A set serves windows whose natural width it divides, unless they are far wider."""
    grid = [w.frame_us(0) for w in pipeline.windows.values() if isinstance(w.follows, Bounded)]
    widths = {name: w.frame_us(min(grid, default=0)) for name, w in pipeline.windows.items() if not w.made_of.by_arrival}
    served: dict[int, list[str]] = {}
    for name, width in sorted(widths.items(), key=lambda item: item[1]):
        finest = next((w for w in served if width % w == 0 and width // w <= FAR_APART), width)
        served.setdefault(finest, []).append(name)
    by_time = [
        FrameSet(width, tuple(names), any(pipeline.windows[name].made_of.event_times for name in names)) for width, names in served.items()
    ]
    return by_time + _rows(pipeline)


def _rows(pipeline: Pipeline) -> list[FrameSet]:
    """The set of rows, for all windows by arrival."""
    made_of = {name: window.made_of for name, window in pipeline.windows.items() if isinstance(window.made_of, RowStates)}
    lifts = {column: lift for rows in made_of.values() for column, lift in rows.lifts.items()}
    return [FrameSet(1, tuple(made_of), event_times=False, by_arrival=True, lifts=lifts)] if made_of else []


def frame_set_of(pipeline: Pipeline, window: str) -> FrameSet:
    """The frame set of a window."""
    return next(frames for frames in frame_sets(pipeline) if window in frames.windows)
