"""A drawing: what matplotlib draws, in colours that have names."""

from __future__ import annotations

import io
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from muntin.extensions.page.zone import zone_name
from muntin.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIGHT = {
    "ink": "#1c2430",
    "muted": "#667085",
    "line": "#e2e5ea",
    "paper": "#ffffff",
    "window": "#4c78c8",
    "open": "#4c78c8",
    "batch": "#93a3b8",
    "waiting": "#d9dee6",
    "alarm": "#c4321c",
    "warn": "#b26a00",
    "s0": "#3465a8",
    "s1": "#c2571a",
    "s2": "#2d8659",
    "s3": "#8e4ea8",
    "s4": "#9a7b10",
}
"""Name in the stylesheet -> its colour there by day."""

_ONE = Lock()  # matplotlib's settings are the process's


@dataclass(frozen=True, slots=True)
class Mark:
    """The text of a picture's part under the pointer, and the target of a click."""

    says: str
    leads: str | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing and its texts.

    Attributes:
        width, height: in inches.
        draw: draws on a figure of matplotlib's, with colours by name; returns `gid` of a part -> its mark.
        title: what the picture shows, for people who do not see it.
    """

    width: float
    height: float
    draw: Callable[[Any, Mapping[str, str]], Mapping[str, Mark]]
    title: str


def legend_label(text: str) -> str:
    """A label that has its line in a legend of matplotlib's: one that begins with `_` has none."""
    return f"\N{ZERO WIDTH NON-JOINER}{text}" if text.startswith("_") else text


def saved(
    drawing: Drawing,
    kind: str,
    colours: Mapping[str, str],
    **how: Any,  # noqa: ANN401 - matplotlib's
) -> tuple[bytes, Mapping[str, Mark]]:
    """The drawing as a file of this kind ("svg", "png", "pdf"), and the marks of its parts.

    `how`: further arguments of `savefig`.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    out = io.BytesIO()
    with _ONE, mpl.rc_context(_letters(colours)):
        figure = Figure(figsize=(drawing.width, drawing.height), layout="constrained")
        FigureCanvasAgg(figure)
        marks = drawing.draw(figure, colours)
        for text in figure.findobj(Text):
            text.set_text(printable(text.get_text()))
        figure.savefig(out, format=kind, **how)
    return out.getvalue(), marks


def _letters(colours: Mapping[str, str]) -> dict[str, Any]:
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "muntin",
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": colours["ink"],
        "axes.labelcolor": colours["muted"],
        "axes.edgecolor": colours["line"],
        "xtick.color": colours["muted"],
        "ytick.color": colours["muted"],
        "grid.color": colours["line"],
        "hatch.linewidth": 0.8,
        "timezone": zone_name(),
    }
