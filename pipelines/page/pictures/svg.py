"""From a figure of matplotlib to SVG inside of a page: colours are names of the stylesheet, and marks tell more under the pointer.

matplotlib gets a colour of its own for each name, which is no colour of any picture, and the SVG gets the name in its place.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAMES = ("ink", "muted", "line", "paper", "window", "open", "batch", "waiting", "alarm", "warn", "s0", "s1", "s2", "s3", "s4")
COLOURS = {name: f"#{0x0BAD00 + number:06x}" for number, name in enumerate(NAMES)}
"""Name in the stylesheet -> the colour that stands for it."""

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_LETTERS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "muntin",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": COLOURS["ink"],
    "axes.labelcolor": COLOURS["muted"],
    "axes.edgecolor": COLOURS["line"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "grid.color": COLOURS["line"],
    "hatch.linewidth": 0.8,
    "timezone": "UTC",
}
_ONE = Lock()  # matplotlib's settings are the process's


@dataclass(frozen=True, slots=True)
class Mark:
    """What a part of a picture says under the pointer, and where a click leads."""

    says: str
    leads: str | None = None


def drawn(width: float, height: float, draw: Callable[[Any], Mapping[str, Mark]], title: str) -> str:
    """A picture as the element `svg`.

    Args:
        width, height: in inches; the page makes it as wide as it is itself.
        draw: draws on a figure; returns `gid` of a part -> its mark.
        title: what the picture shows, for those who do not see it.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with _ONE, mpl.rc_context(_LETTERS):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        marks = draw(figure)
        figure.savefig(out, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return _for_page(out.getvalue(), marks, title)


def _for_page(text: bytes, marks: Mapping[str, Mark], title: str) -> str:
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _LINK)
    root = ET.fromstring(text)  # noqa: S314 - as above
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", title)
    for parent in root.iter():
        for child in [each for each in parent if each.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style")]:
            parent.remove(child)
    for part in root.iter(f"{{{_SVG}}}g"):
        if mark := marks.get(part.get("id", "")):
            _tell(part, mark)
    return _named(ET.tostring(root, encoding="unicode"))


def _tell(part: ET.Element, mark: Mark) -> None:
    """A title, which browsers show under the pointer; and a link around all of the part."""
    inner = [*part]
    holder = part
    if mark.leads:
        for child in inner:
            part.remove(child)
        holder = ET.SubElement(part, f"{{{_SVG}}}a", {"href": mark.leads})
        holder.extend(inner)
    title = ET.Element(f"{{{_SVG}}}title")
    title.text = mark.says
    holder.insert(0, title)


def _named(text: str) -> str:
    """Colours by their names in the stylesheet."""
    names = {colour: name for name, colour in COLOURS.items()}
    return re.sub(r"#0bad[0-9a-f]{2}", lambda found: f"var(--{names[found[0]]})", text)
