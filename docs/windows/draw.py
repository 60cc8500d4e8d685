"""Windows as bars over the events they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs.windows.panel import DAY, HOUR

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from docs.windows.derive import Drawn
    from docs.windows.panel import Panel

WIDTH, LANE, PANEL = 9.0, 0.26, 1.0  # inches: a picture; a row of bars; title and axis of a panel
BESIDE = 0.3  # how far the bar of a window that ends with an event reaches beyond it
CLOSED, OPEN, EVENT = "#9ecae1", "#eff3ff", "#b03a2e"
AXIS = {1: "seconds", HOUR: "hours, UTC", DAY: "days, UTC"}
STYLE = {"svg.hashsalt": "muntin", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}


def lanes(panel: Panel, windows: Sequence[Drawn]) -> list[int]:
    """For each window the lowest row of bars that is free where it lies."""
    free: list[int] = []
    found = []
    for window in windows:
        lane = next((at for at, end in enumerate(free) if end <= window.start), len(free))
        free[lane : lane + 1] = [window.end + panel.inclusive(window)]
        found.append(lane)
    return found


def draw(panels: Sequence[Panel], path: Path) -> None:
    """One picture of these panels, one below the other; the same bytes each time."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    drawn = [panel.drawn for panel in panels]
    heights = [PANEL + LANE * (1 + max(lanes(panel, windows))) for panel, windows in zip(panels, drawn, strict=True)]
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, sum(heights)), layout="constrained")
        shared = len({panel.unit for panel in panels}) == 1
        rows = figure.subplots(len(panels), 1, squeeze=False, sharex=shared, height_ratios=heights)
        for (axes,), panel, windows in zip(rows, panels, drawn, strict=True):
            _panel(axes, panel, windows)
            axes.tick_params(labelbottom=True)
        FigureCanvasSVG(figure).print_svg(path, metadata={"Date": None, "Creator": None})


def _panel(axes: Axes, panel: Panel, windows: Sequence[Drawn]) -> None:
    from matplotlib.ticker import MaxNLocator

    rows = lanes(panel, windows)
    for window, lane in zip(windows, rows, strict=True):
        _bar(axes, panel, window, lane)
    for batch, times in enumerate(panel.arrivals):
        events = [second / panel.unit for second in times]
        axes.plot(events, [0] * len(events), "o", color=EVENT, markerfacecolor="white" if batch else EVENT, markersize=4.5, clip_on=False)
    if panel.goes_back:
        for number, second in enumerate((second for times in panel.arrivals for second in times), 1):
            axes.text(second / panel.unit, 0.32, str(number), ha="center", va="center", fontsize=6, color="#777777")
    for border in range(1, len(panel.arrivals) if panel.between_events else 0):
        axes.axvline(border * panel.length / panel.unit, color="#777777", linestyle=":", linewidth=1)
    axes.set_title(panel.says, loc="left", family="monospace", fontsize=9)
    axes.set_ylim(-0.7, max(rows) + 1.8)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(AXIS[panel.unit], loc="right", labelpad=1)
    axes.spines[["left", "right", "top"]].set_visible(False)


def _bar(axes: Axes, panel: Panel, window: Drawn, lane: int) -> None:
    around = BESIDE if panel.between_events else 0
    start, length = window.start / panel.unit - around, (window.end - window.start) / panel.unit + 2 * around
    colour, edge = (CLOSED, "-") if window.closed else (OPEN, "--")
    axes.barh(lane + 1, length, left=start, height=0.8, color=colour, edgecolor="#3b6a8a", linewidth=0.8, linestyle=edge)
    label = panel.label(window) + (" (cut)" if window.cut else "")
    axes.text(start + length / 2, lane + 1, label, ha="center", va="center", fontsize=8)
