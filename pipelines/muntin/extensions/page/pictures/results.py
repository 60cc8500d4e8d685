"""The pictures of results: one aggregate over time, a line for each key."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import from_us
from muntin.extensions.page.pictures.drawing import Drawing, Mark, drawn, legend_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muntin.extensions.page.views.results import Series

_WIDE, _HIGH = 11.0, 2.3
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
        _frame(axes, named=len(lines) > 1 or bool(lines and lines[0].key))
        return {f"l{at}": Mark(label(line)) for at, line in enumerate(lines)}

    return drawn(Drawing(_WIDE, _HIGH, draw, f"{name} by window"))


def label(line: Series) -> str:
    """A key for people."""
    return legend_label(", ".join("null" if part is None else part for part in line.key) or "all rows")


def _frame(axes: Any, *, named: bool) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=4, maxticks=11)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=True))
    axes.grid(visible=True, linewidth=0.6)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    if named:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
