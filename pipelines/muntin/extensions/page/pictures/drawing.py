"""A drawing: what matplotlib draws, in colours that have names.

The SVG of a drawing inside of a page: colours are names of the stylesheet, and marks say more under the
pointer.

matplotlib gets a colour of its own for each name, which is no colour of any picture, and the SVG gets the
name in its place.

Drawings as files that stand alone: PNG, SVG, PDF, HTML. Nothing in them is fetched from elsewhere.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any
from xml.etree import ElementTree as ET

from muntin.errors import DefinitionError
from muntin.extensions.page.html import zone_name
from muntin.printable import printable

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


def over_time(axes: Any, least: int, most: int, *, offset: bool = True) -> None:  # noqa: ANN401 - matplotlib's
    """Instants on the x axis with so many ticks, and no frame but the lower edge."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=least, maxticks=most)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=offset))
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


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


# name in the stylesheet -> what stands for it
_COLOURS = {name: f"#{0x0BAD00 + number:06x}" for number, name in enumerate(LIGHT)}
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def drawn(drawing: Drawing) -> str:
    """A picture as the element `svg`. The page makes it as wide as it is itself."""
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    return _for_page(*saved(drawing, "svg", _COLOURS, transparent=True, metadata=nothing), drawing.title)


def _for_page(text: bytes, marks: Mapping[str, Mark], title: str) -> str:
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _LINK)
    root = ET.fromstring(text)  # noqa: S314 - matplotlib wrote it
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", printable(title))
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
    title.text = printable(mark.says)
    holder.insert(0, title)


def _named(text: str) -> str:
    names = {colour: name for name, colour in _COLOURS.items()}
    return re.sub(r"#0bad[0-9a-f]{2}", lambda match: f"var(--{names[match[0]]})", text)


ENDINGS = (".png", ".svg", ".pdf", ".html")
_DOTS = 144  # an inch


def write_picture(drawing: Drawing, path: Path) -> None:
    """Write a drawing in the format that the path ends in."""
    check_ending(path)
    try:
        path.write_bytes(_content(drawing, path.suffix))
    except OSError as wrong:
        raise DefinitionError(f"--out {path}: {wrong.strerror or wrong}") from wrong


def check_ending(path: Path) -> None:
    """Refuse a path that does not end as pictures do."""
    if path.suffix not in ENDINGS:
        raise DefinitionError(f"--out {path}: end it in {', '.join(ENDINGS)}")


def _content(drawing: Drawing, ending: str) -> bytes:
    if ending == ".html":
        return _html(drawing).encode()
    if ending == ".svg":
        text = re.sub(r"var\(--(\w+)\)", lambda match: LIGHT[match[1]], drawn(drawing))
        return text.replace("<svg ", f'<svg style="background: {LIGHT["paper"]}" ', 1).encode()
    return saved(drawing, ending[1:], LIGHT, dpi=_DOTS, facecolor=LIGHT["paper"])[0]


def _html(drawing: Drawing) -> str:
    """A page with the picture, light and dark as the reader's machine is."""
    style = files("muntin.extensions.page").joinpath("static", "page.css").read_text(encoding="utf-8")
    title = escape(drawing.title)
    head = f'<head><meta charset="utf-8"><title>{title}</title><style>\n{style}</style></head>'
    return (
        "<!doctype html>\n<html"
        f' lang="en">{head}\n<body><h1>{title}</h1>\n<figure>{drawn(drawing)}</figure></body></html>\n'
    )
