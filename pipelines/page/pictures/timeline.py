"""The picture of a timeline: batches below, windows above."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipelines.definition.amounts import many
from pipelines.definition.instants import from_us, spell_instant
from pipelines.page.pictures.svg import COLOURS, Mark, drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.jobs.look.batch_list import ListedBatch
    from pipelines.page.views.timeline import Bar, Timeline

_INCH = 11.0
_LANE, _REST = 0.2, 1.35  # inches: of a lane of windows; of batches, axis and legend
_HEIGHT = 0.72  # of a bar in its lane
_FACES = {"published": "batch", "read": "waiting", "waiting": "waiting", "missing": "paper"}


def timeline_picture(shown: Timeline, leads: Callable[[Bar], str]) -> str:
    """The timeline as SVG. `leads`: the address of a window's explanation."""
    lanes = max((bar.lane for bar in shown.bars), default=0) + 1

    def draw(figure: Any) -> dict[str, Mark]:  # noqa: ANN401 - matplotlib's
        axes = figure.add_subplot()
        marks = {f"b{at}": _batch(axes, at, batch) for at, batch in enumerate(shown.batches)}
        marks |= {f"w{at}": _window(axes, at, bar, shown, leads(bar)) for at, bar in enumerate(shown.bars)}
        _frame(axes, shown, lanes)
        return marks

    return drawn(_INCH, _REST + _LANE * max(lanes, 3), draw, f"Timeline of {shown.window}: batches below, windows above")


def _batch(axes: Any, at: int, batch: ListedBatch) -> Mark:  # noqa: ANN401 - matplotlib's
    missing = batch.standing == "missing"
    edge = COLOURS["alarm"] if missing else COLOURS["paper"]
    _bar(axes, f"b{at}", (batch.start_us, batch.end_us, -1.6), COLOURS[_FACES[batch.standing]], edge, "////" if missing else None)
    if batch.late:
        middle = from_us((batch.start_us + batch.end_us) // 2)
        axes.plot([middle], [-1.6 + _HEIGHT / 2], marker="v", markersize=6, color=COLOURS["warn"], markeredgecolor=COLOURS["paper"])
    span = f"[{spell_instant(batch.start_us)}, {spell_instant(batch.end_us)})"
    if missing:
        return Mark(f"missing interval {span}")
    late = f", {many(batch.late, 'late row')}" if batch.late else ""
    told = f"closed {many(batch.windows, 'window')}{late}" if batch.standing == "published" else batch.standing
    return Mark(f"batch {span}: {told}")


def _window(axes: Any, at: int, bar: Bar, shown: Timeline, leads: str) -> Mark:  # noqa: ANN401 - matplotlib's
    opened = bar.closed_us is None
    face, edge = (COLOURS["paper"], COLOURS["open"]) if opened else (COLOURS["window"], COLOURS["paper"])
    inside = max(bar.start_us, shown.low_us), min(max(bar.end_us, bar.start_us + shown.least_us), shown.high_us)
    _bar(axes, f"w{at}", (*inside, bar.lane), face, edge, "/////" if opened else None)
    closed = "open" if bar.closed_us is None else f"closed by batch {spell_instant(bar.closed_us)}"
    return Mark(f"window [{spell_instant(bar.start_us)}, {spell_instant(bar.end_us)}): {closed}", leads)


def _bar(axes: Any, gid: str, place: tuple[int, int, float], face: str, edge: str, hatch: str | None) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.dates import date2num
    from matplotlib.patches import Rectangle

    start, end = date2num(from_us(place[0])), date2num(from_us(place[1]))
    look: dict[str, Any] = {"facecolor": face, "edgecolor": edge, "linewidth": 0.9, "hatch": hatch, "gid": gid}
    axes.add_artist(Rectangle((start, place[2]), end - start, _HEIGHT, **look))


def _frame(axes: Any, shown: Timeline, lanes: int) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=4, maxticks=11)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=True))
    axes.set_xlim(from_us(shown.low_us), from_us(shown.high_us))
    axes.set_ylim(-1.9, max(lanes, 3))
    axes.set_yticks([-1.6 + _HEIGHT / 2, max(lanes, 3) / 2], ["batches", "windows"])
    axes.tick_params(length=0)
    axes.grid(visible=True, axis="x", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
