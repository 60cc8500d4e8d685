"""The pictures of trends: bars over a week, a bar for each batch; what is not there has no bar.

The pictures of results: one aggregate over time, a line for each key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from muntin.definition.instants import from_us
from muntin.extensions.page.pictures.drawing import Drawing, Mark, drawn, legend_label, over_time
from muntin.extensions.page.views.batches import Trend
from muntin.extensions.page.views.results import Series

_DOTS = 40  # windows up to which each has a dot


def results_picture(name: str, lines: Sequence[Series]) -> str:
    """The values of an aggregate over the ends of windows, as SVG."""

    def draw(figure: Any, colours: Mapping[str, str]) -> dict[str, Mark]:  # noqa: ANN401 - matplotlib's
        axes = figure.add_subplot()
        for at, line in enumerate(lines):
            values = [nan if value is None else value for value in line.values]
            marker = "o" if len(values) <= _DOTS else None
            where = [from_us(us) for us in line.end_us]
            axes.plot(
                where,
                values,
                color=colours[f"s{at}"],
                linewidth=1.4,
                marker=marker,
                markersize=3,
                label=label(line),
                gid=f"l{at}",
            )
        over_time(axes, 4, 11)
        axes.grid(visible=True, linewidth=0.6)
        if len(lines) > 1 or (lines and lines[0].key):
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return {f"l{at}": Mark(label(line)) for at, line in enumerate(lines)}

    return drawn(Drawing(11.0, 2.3, draw, f"{name} by window"))


def label(line: Series) -> str:
    """A key for people."""
    return legend_label(", ".join("null" if part is None else part for part in line.key) or "all rows")


_WIDE, _HIGH = 4.6, 1.5
_COLOURS = ("s0", "s1")
_GAP = 0.12  # of a bar


def trend_pictures(trends: Sequence[Trend]) -> dict[str, str]:
    """Name with unit -> SVG."""
    return {
        f"{each.name} [{each.unit}]" if each.unit else each.name: drawn(_picture(each)) for each in trends
    }


def _picture(trend: Trend) -> Drawing:
    def draw(figure: Any, colours: Mapping[str, str]) -> dict[str, Mark]:  # noqa: ANN401 - matplotlib's
        axes = figure.add_subplot()
        low, high = int(trend.start_us[0]), int(trend.end_us[-1])
        for at, (name, values) in enumerate(trend.values.items()):
            _bars(axes, trend, np.nan_to_num(values), colours[_COLOURS[at]], at, name)
        _frame(axes, from_us(low), from_us(high), named=len(trend.values) > 1, whole=not trend.unit)
        if not any(np.nan_to_num(values).any() for values in trend.values.values()):
            axes.set_ylim(0, 1)
            axes.set_yticks([0])
        return {}

    return Drawing(_WIDE, _HIGH, draw, f"{trend.name} of the batches of a week")


def _bars(axes: Any, trend: Trend, values: np.ndarray, colour: str, at: int, name: str) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.collections import PolyCollection
    from matplotlib.dates import date2num

    starts = date2num([from_us(us) for us in trend.start_us.tolist()])
    wide = (date2num([from_us(us) for us in trend.end_us.tolist()]) - starts) / len(trend.values)
    left = starts + at * wide
    right, floor = left + wide * (1 - _GAP), np.zeros(len(left))
    corners = np.array([[left, floor], [left, values], [right, values], [right, floor]])
    # a rectangle of matplotlib's for each bar takes seconds
    bars = PolyCollection([*corners.transpose(2, 0, 1)], facecolors=colour, linewidths=0, label=name)
    axes.add_collection(bars)
    axes.autoscale_view()


def _frame(axes: Any, low: Any, high: Any, *, named: bool, whole: bool) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.ticker import MaxNLocator

    over_time(axes, 2, 5, offset=False)
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=whole))
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    if named:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, ncols=2, borderpad=0)
