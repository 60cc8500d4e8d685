"""The picture of timelines: batches below, windows above."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.definition.instants import from_us
from muntin.definition.spelling import many
from muntin.extensions.page.html import instant, span
from muntin.extensions.page.pictures.drawing import Drawing, Mark, over_time
from muntin.extensions.page.views.timeline import Bar, Timeline
from muntin.extensions.page.views.trends import ListedBatch
from muntin.jobs.records.batch_states import spelled

Leads = Callable[[Bar], str | None]


_INCH = 11.0
_LANE, _REST = 0.2, 1.35  # inches: of a lane of windows; of batches, axis and legend
_HEIGHT = 0.72  # of a bar in its lane
_FACES = {"published": "batch", "corrected": "batch", "missing": "paper", "failed": "alarm", "held": "paper"}
_HATCHES = {"missing": "////", "held": "xxxx"}


def timelines(shown: Sequence[Timeline], leads: Leads = lambda _: None) -> Drawing:
    """The timelines of some windows, stacked.

    `leads`: the address of a window's explanation, None where it has none.
    """
    heights = [_REST + _LANE * _lanes(one) for one in shown]

    def draw(figure: Any, colours: Mapping[str, str]) -> dict[str, Mark]:  # noqa: ANN401 - matplotlib's
        places = figure.subplots(len(shown), squeeze=False, height_ratios=heights)[:, 0].tolist()
        marks = dict[str, Mark]()
        for at, (axes, one) in enumerate(zip(places, shown, strict=True)):
            marks |= _Paper(axes, colours, f"{at}-" if at else "").timeline(one, leads)
            axes.set_title(one.window if len(shown) > 1 else "", loc="left")
        return marks

    names = ", ".join(one.window for one in shown)
    return Drawing(_INCH, sum(heights), draw, f"Timeline of {names}: batches below, windows above")


def _lanes(shown: Timeline) -> int:
    return max(3, *(bar.lane + 1 for bar in shown.bars)) if shown.bars else 3


@dataclass(frozen=True, slots=True)
class _Paper:
    """The canvas of a timeline: axes of matplotlib's, colours by name, and the prefix of its parts' names."""

    axes: Any
    colours: Mapping[str, str]
    number: str

    def timeline(self, shown: Timeline, leads: Leads) -> dict[str, Mark]:
        marks = {
            f"b{self.number}{at}": self.batch(f"b{self.number}{at}", batch)
            for at, batch in enumerate(shown.batches)
        }
        marks |= {
            f"w{self.number}{at}": self.window(f"w{self.number}{at}", bar, shown, leads(bar))
            for at, bar in enumerate(shown.bars)
        }
        self.frame(shown)
        return marks

    def batch(self, gid: str, batch: ListedBatch) -> Mark:
        hatch = _HATCHES.get(batch.one.state)
        face = self.colours[_FACES.get(batch.one.state, "waiting")]
        edge = self.colours["alarm" if hatch else "paper"]
        self.bar(gid, (batch.start_us, batch.end_us, -1.6), face, edge, hatch)
        if batch.late:
            middle, edge = from_us((batch.start_us + batch.end_us) // 2), self.colours["paper"]
            self.axes.plot(
                [middle],
                [-1.6 + _HEIGHT / 2],
                marker="v",
                markersize=6,
                color=self.colours["warn"],
                markeredgecolor=edge,
            )
        return Mark(batch_reported(batch))

    def window(self, gid: str, bar: Bar, shown: Timeline, leads: str | None) -> Mark:
        hatch = "/////" if bar.closed_us is None else "...." if bar.staged else None
        face, edge = ("paper", "open") if hatch else ("window", "paper")
        inside = (
            max(bar.start_us, shown.low_us),
            min(max(bar.end_us, bar.start_us + shown.least_us), shown.high_us),
        )
        self.bar(gid, (*inside, bar.lane), self.colours[face], self.colours[edge], hatch)
        closed = "open" if bar.closed_us is None else f"closed by batch {instant(bar.closed_us)}"
        closed += ", not published" if bar.staged else ""
        return Mark(f"window {span(bar.start_us, bar.end_us)}: {closed}", leads)

    def bar(self, gid: str, place: tuple[int, int, float], face: str, edge: str, hatch: str | None) -> None:
        from matplotlib.dates import date2num
        from matplotlib.patches import Rectangle

        start, end = date2num(from_us(place[0])), date2num(from_us(place[1]))
        style: dict[str, Any] = {
            "facecolor": face,
            "edgecolor": edge,
            "linewidth": 0.9,
            "hatch": hatch,
            "gid": gid,
        }
        self.axes.add_artist(Rectangle((start, place[2]), end - start, _HEIGHT, **style))

    def frame(self, shown: Timeline) -> None:
        axes, lanes = self.axes, _lanes(shown)
        over_time(axes, 4, 11)
        axes.set_xlim(from_us(shown.low_us), from_us(shown.high_us))
        axes.set_ylim(-1.9, lanes)
        axes.set_yticks([-1.6 + _HEIGHT / 2, lanes / 2], ["batches", "windows"])
        axes.grid(visible=True, axis="x", linewidth=0.6)
        axes.set_axisbelow(True)


def batch_reported(batch: ListedBatch) -> str:
    """The report on a batch, in a line."""
    when, state = span(batch.start_us, batch.end_us), batch.one.state
    if state == "missing":
        return f"missing interval {when}"
    late = f", {many(batch.late, 'late row')}" if batch.late else ""
    late += f", {many(batch.correcting, 'row')} correcting published windows" if batch.correcting else ""
    is_seen = state in ("published", "corrected")
    outcome = f"closed {many(batch.windows, 'window')}{late}" if is_seen else spelled(batch.one)
    return f"batch {when}: {outcome}"
