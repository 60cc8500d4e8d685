"""The frames that a pipeline keeps. Windows share a set of frames where the width of the frames divides
theirs.

Windows of a time zone alone are made of longer frames: of pieces between the times of UTC at which its
windows may begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import gcd

from muntin.definition.durations import spell
from muntin.definition.kinds import Bounded, Cycle, RowStates
from muntin.definition.pipeline import Pipeline

FAR_APART = 10_000  # frames per window: beyond it a second, coarser set is cheaper than reading the fine one


@dataclass(frozen=True, slots=True)
class FrameSet:
    """Frames, and the windows made of them.

    Attributes:
        width_us: how wide a frame is, at most.
        windows: the names of the windows made of them.
        event_times: whether states have the times of their first and last event.
        by_arrival: whether each row is a state, and states lie in order of arrival, for windows made of rows.
        lifts: column of a state -> SQL aggregate that fills it: columns that windows read, in addition to the
            fields.
        cuts_us: where frames begin in every `width_us`, counted from 1970; one cut: all frames have this
            width.
        run_us: states of a key and batch whose events are no further apart are joined to one, a run; 0: each
            state is of one frame.
    """

    width_us: int
    windows: tuple[str, ...]
    event_times: bool
    by_arrival: bool = False
    lifts: Mapping[str, str] = field(default_factory=dict)
    cuts_us: tuple[int, ...] = (0,)
    run_us: int = 0

    @property
    def table(self) -> str:
        """The table of its states, below the pipeline's state folder."""
        if self.by_arrival:
            return "frames/rows"
        cuts = [] if self.cuts_us == (0,) else ["at", *map(spell, self.cuts_us)]
        runs = ["runs", spell(self.run_us)] if self.run_us else []
        lifts = (
            ["with", sha256(repr(sorted(self.lifts.items())).encode()).hexdigest()[:12]] if self.lifts else []
        )
        return f"frames/{'_'.join([spell(self.width_us), *cuts, *runs, *lifts])}"

    @property
    def cycle(self) -> Cycle:
        """Where frames begin."""
        return Cycle(self.width_us, self.cuts_us)

    @property
    def is_even(self) -> bool:
        """Whether each state is of one frame, all frames have one width, and one begins in 1970."""
        return self.cuts_us == (0,) and not self.run_us

    @property
    def grain_us(self) -> int:
        """The greatest duration of which all frames are a whole number."""
        return gcd(self.width_us, *(cut - self.cuts_us[0] for cut in self.cuts_us))


def frame_sets(pipeline: Pipeline, *, even: bool = False) -> list[FrameSet]:
    """The frame sets of a pipeline, finest first. A set serves windows whose natural width it divides, unless
    they are far wider.

    `even`: whether each state is of one frame, and all frames of a set have one width.
    """
    grid = [w.frame_us(0) for w in pipeline.windows.values() if isinstance(w.follows, Bounded)]
    widths = {
        name: w.frame_us(min(grid, default=0))
        for name, w in pipeline.windows.items()
        if not w.made_of.of_rows
    }
    served: dict[tuple[int, int, tuple[tuple[str, str], ...]], list[str]] = {}
    for name, width in sorted(widths.items(), key=lambda item: item[1]):
        window = pipeline.windows[name]
        begin = window.cycle.cuts_us[0] % width if window.cycle else 0  # counted from 1970
        lifts = tuple(sorted(window.made_of.lifts.items()))
        fits = (
            w
            for w, at, has in served
            if has == lifts and at == begin % w and width % w == 0 and width // w <= FAR_APART
        )
        finest = next(fits, width)
        served.setdefault((finest, begin % finest, lifts), []).append(name)
    by_time = [
        FrameSet(
            width,
            tuple(names),
            any(pipeline.windows[name].made_of.event_times for name in names),
            lifts=dict(lifts),
            cuts_us=(begin,),
        )
        for (width, begin, lifts), names in served.items()
    ]
    return [*(by_time if even else (_longer(pipeline, frames) for frames in by_time)), *_rows(pipeline)]


def _longer(pipeline: Pipeline, frames: FrameSet) -> FrameSet:
    """The set with fewer states: runs of sessions, or frames of a zone's clock; else the set itself."""
    windows = [pipeline.windows[name] for name in frames.windows]
    run_us = min(window.run_us for window in windows)
    if run_us and not any(
        field.uses_order or field.is_state
        for each in pipeline.row_aggregates.values()
        for field in each.fields
    ):
        return replace(frames, run_us=run_us)
    cycles = [window.cycle for window in windows]
    finest = next(
        (each for each in cycles if each and all(other and each.refines(other) for other in cycles)), None
    )
    if finest is None or len(finest.cuts_us) * frames.width_us >= finest.width_us:
        return frames
    return replace(frames, width_us=finest.width_us, cuts_us=finest.cuts_us)


def _rows(pipeline: Pipeline) -> list[FrameSet]:
    """The set of rows, for all windows made of rows."""
    made_of = {
        name: window.made_of
        for name, window in pipeline.windows.items()
        if isinstance(window.made_of, RowStates)
    }
    lifts = {column: lift for rows in made_of.values() for column, lift in rows.lifts.items()}
    return [FrameSet(1, tuple(made_of), event_times=False, by_arrival=True, lifts=lifts)] if made_of else []
