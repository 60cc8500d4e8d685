"""The pictures of trends: bars over a week, a bar for each batch; what is not there has no bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from muntin.definition.instants import from_us
from muntin.extensions.page.pictures.drawing import Drawing, Mark, drawn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.extensions.page.views.batches import Trend

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
    from matplotlib.dates import date2num

    starts = date2num([from_us(us) for us in trend.start_us.tolist()])
    wide = (date2num([from_us(us) for us in trend.end_us.tolist()]) - starts) / len(trend.values)
    axes.bar(
        starts + at * wide, values, wide * (1 - _GAP), align="edge", color=colour, linewidth=0, label=name
    )


def _frame(axes: Any, low: Any, high: Any, *, named: bool, whole: bool) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import MaxNLocator

    locator = AutoDateLocator(minticks=2, maxticks=5)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=whole))
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, axis="y", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    if named:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, ncols=2, borderpad=0)
